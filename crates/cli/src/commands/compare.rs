//! `langevin compare`: several dynamics on one target side by side.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use super::patience::Patience;
use super::{Done, Global, out_for, seed_line};
use crate::terminal;
use crate::view::save::save;
use crate::view::tables;
use langevin_run::compare::{self, Comparison};
use langevin_run::output::Folder;
use langevin_run::run_file::Run;

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
    let run = Arc::new(Run::load(&arguments.run, global.asked(&out))?);
    let needs = &run.needs.to_compare;
    needs.check_memory()?;
    let tasks = compare::tasks(&run);
    arguments.patience.check(&tasks, needs, &out, global)?;
    // What all starts took is counted from here on, too.
    let folder = Folder::prepare(out, needs.disk())?;
    folder.keep_seed(&run)?;
    let cache = global.units(&folder)?;
    let comparisons = global.watch(&tasks, &cache, |how| compare::compare(&[run], how))?;
    // One run was given, so there is one comparison.
    let comparison = &comparisons[0];
    let (results, timing) = save(comparison, &folder, cache.total_time())?;
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
        terminal::text(&tables::variances(comparison, "variances")),
        terminal::text(&tables::cost(comparison, "cost")),
        folder.path().join("report.html").display()
    )
}
