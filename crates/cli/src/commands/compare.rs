//! `langevin compare`: several dynamics on one target side by side.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::{Done, Global, out_for};
use crate::compare::{self, Comparison, json as compare_json, view};
use crate::output::Folder;
use crate::report::Report;
use crate::reproduce::forecast::words;
use crate::run_file::Run;
use crate::starts::Total;
use crate::terminal;

/// Room for units, tables and figures of an ordinary comparison, in bytes.
const ROOM: u64 = 20_000_000;

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
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let began = Instant::now();
    let run = Arc::new(Run::load(&arguments.run, global.seed)?);
    let folder = global.folder(out_for(&arguments.run), ROOM)?;
    let cache = folder.units(global.fresh)?;
    let comparisons = compare::compare(&[run], global.settings(&cache))?;
    // One run was given, so there is one comparison.
    let comparison = &comparisons[0];
    let (results, timing) = save(comparison, &folder, began, cache.total_time())?;
    cache.note_time(true)?;
    let mut all = results;
    all["timing"] = timing;
    Ok(Done {
        text: text(comparison, &folder),
        json: all,
        good: !comparison.some_arm_is_lost(),
    })
}

/// Writes all files; returns results and times.
fn save(
    comparison: &Comparison,
    folder: &Folder,
    began: Instant,
    total: Total,
) -> anyhow::Result<(Value, Value)> {
    let run = &comparison.run;
    let shown = view::view(comparison, "");
    let wall_seconds = began.elapsed().as_secs_f64();
    let wall_time = match total.starts {
        1 => words(wall_seconds),
        n => format!("{} in {n} starts", words(total.seconds)),
    };
    let report = Report::new(run.title.clone())
        .subtitle("A comparison of Langevin dynamics")
        .fact("Program", format!("langevin {}", env!("CARGO_PKG_VERSION")))
        .fact("Run file", run.source.path().display().to_string())
        .fact("Seed", run.seed.to_string())
        .fact(
            "Chains × steps",
            format!("{} × {}", run.n_chains, run.n_steps),
        )
        .fact("Machine", crate::machine::words())
        .fact("Wall time", wall_time)
        .section(shown.section);
    let (results, mut timing) = (
        compare_json::results(comparison),
        compare_json::timing(comparison),
    );
    timing["wall_seconds"] = json!(wall_seconds);
    timing["starts"] = json!(total.starts);
    timing["wall_seconds_of_all_starts"] = json!(total.seconds);
    folder.write_report(&report, &shown.figures, &shown.long_tables)?;
    folder.write_json("timing.json", &timing)?;
    // Last, so that its presence says that all the rest is there.
    folder.write_json("results.json", &results)?;
    Ok((results, timing))
}

fn text(comparison: &Comparison, folder: &Folder) -> String {
    format!(
        "{}\n{}\nReport: {}\n",
        terminal::text(&view::tables::variances(comparison, "variances")),
        terminal::text(&view::tables::cost(comparison, "cost")),
        folder.path().join("report.html").display()
    )
}
