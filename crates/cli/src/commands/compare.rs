//! `langevin compare`: several dynamics on one target side by side.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;

use super::patience::Patience;
use super::{Done, Global, out_for, seed_line};
use crate::compare::{self, Comparison, view};
use crate::output::Folder;
use crate::run_file::Run;
use crate::terminal;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  langevin compare experiments/normal-minibatch.toml --out out/normal\n\n\
                  The output folder gets tables/*.csv, figures/*.svg and *.png, results.json, \
                  timing.json, report.html and the same as report.md."
)]
pub(super) struct Arguments {
    /// The run file (see docs/run-file.md).
    #[arg(value_name = "RUN.toml")]
    run: PathBuf,
    #[command(flatten)]
    patience: Patience,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let out = global.out(out_for(&arguments.run));
    let run = Arc::new(Run::load(&arguments.run, global.seeds(&out))?);
    let needs = &run.needs.to_compare;
    needs.check_memory()?;
    let tasks = compare::tasks(&run);
    arguments.patience.check(&tasks, needs, &out, global)?;
    // What all starts took is counted from here on, too.
    let began = Instant::now();
    let folder = Folder::prepare(out, needs.disk())?;
    folder.keep_seed(&run)?;
    let cache = global.units(&folder)?;
    let comparisons = compare::compare(&[run], global.settings(&cache))?;
    // One run was given, so there is one comparison.
    let comparison = &comparisons[0];
    let (results, timing) = compare::save(comparison, &folder, began, cache.total_time())?;
    cache.note_time(true)?;
    let mut all = results;
    all["timing"] = timing;
    Ok(Done {
        text: text(comparison, &folder) + &seed_line(&comparison.run, &folder),
        json: all,
        good: !comparison.some_arm_is_lost(),
    })
}

fn text(comparison: &Comparison, folder: &Folder) -> String {
    format!(
        "{}\n{}\nReport: {}\n",
        terminal::text(&view::tables::variances(comparison, "variances")),
        terminal::text(&view::tables::cost(comparison, "cost")),
        folder.path().join("report.html").display()
    )
}
