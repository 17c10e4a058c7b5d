//! `langevin reproduce`: the paper's tables and figures beside its numbers.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::Value;

use super::{Done, Global};
use crate::files::write_report;
use crate::paper::embedded::Scale;
use crate::paper::page::{self, Judged, Page};
use crate::paper::printed::Paper;
use crate::paper::{Gathered, Request, Work, json};
use langevin_page::report::{Outcome, Report};
use langevin_run::forecast::{self, Forecast};
use langevin_run::output::{Folder, OutputError};

/// Room for units, tables and figures of everything, in bytes.
const ROOM: u64 = 100_000_000;
/// Shorter work needs no forecast, in seconds.
const WORTH_SAYING: f64 = 2.0;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  langevin reproduce\n  langevin reproduce normal figure12\n  \
                  langevin reproduce --scale paper --out out/paper\n  \
                  langevin reproduce ica --scale paper --chains 32\n\n\
                  The output folder gets tables/*.csv, figures/*.svg and *.png, results.json, \
                  timing.json, report.html, the same as report.md, and the run files and data that were used."
)]
pub(super) struct Arguments {
    /// gaussian, normal, logistic, ica, discretization, single items (table2 to table6, figure1
    /// to figure16), or everything, which is the default.
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
    /// How much work goes into it: quick (two minutes on two cores) or paper (the paper's own
    /// numbers of chains and steps).
    #[arg(long, value_enum, default_value_t = Scale::Quick)]
    scale: Scale,
    /// At most so many chains in any run: less time, larger errors. A later start with more takes
    /// over the chains that are finished.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    chains: Option<u32>,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let began = Instant::now();
    let paper = Paper::embedded()?.select(&arguments.what)?;
    let scale = arguments.scale;
    let default = PathBuf::from("out").join(format!("reproduce-{}", scale.name()));
    let folder = global.folder(default, ROOM)?;
    let cache = global.units(&folder)?;
    let request = Request {
        paper,
        scale,
        most_chains: arguments.chains.map(|n| n as usize),
        seed: global.seed,
        folder: &folder,
    };
    let work = Work::prepare(&request)?;
    let threads = global.n_threads();
    let forecast = Forecast::new(&work.tasks(), |key| cache.path(key).exists())?;
    let forecast_seconds = forecast.seconds(threads);
    if forecast_seconds > WORTH_SAYING && !global.quiet {
        eprintln!(
            "{} items at scale {}: about {} on {} threads",
            request.paper.items().count(),
            scale.name(),
            forecast::words(forecast_seconds),
            threads
        );
    }
    let tasks = work.tasks();
    let gathered = global.watch(&tasks, &cache, |how| work.run(&tasks, how))?;
    let judged = page::verdicts(&request.paper, &gathered);
    let mut about = Page {
        scale,
        seed: global.seed,
        threads,
        wall_seconds: began.elapsed().as_secs_f64(),
        total: cache.total_time(),
        forecast_seconds,
    };
    let built = page::build(&about, &request.paper, &gathered, &judged)?;
    write_report(&folder, &built.report, &built.figures, &built.long_tables)?;
    about.wall_seconds = began.elapsed().as_secs_f64();
    about.total = cache.total_time();
    cache.note_time(true).map_err(OutputError::from)?;
    let results = json::results(&request.paper, scale, &gathered, &judged);
    let timing = json::timing(&about, &gathered, &judged);
    folder.write_json("timing.json", &timing)?;
    // Last, so that its presence says that all the rest is there.
    folder.write_json("results.json", &results)?;
    Ok(Done {
        text: text(&built.report, &judged, &folder, &about),
        json: with_timing(results, timing),
        good: !some_system_is_lost(&gathered),
    })
}

fn with_timing(mut results: Value, timing: Value) -> Value {
    results["timing"] = timing;
    results
}

/// Whether every chain of some system escaped.
fn some_system_is_lost(gathered: &Gathered) -> bool {
    let run = |c: &&langevin_run::compare::Comparison| c.run.n_chains > 0;
    gathered
        .comparisons
        .values()
        .filter(run)
        .any(|c| c.some_arm_is_lost())
}

/// One line for each claim, then the counts and where the report is.
fn text(report: &Report, judged: &[Judged], folder: &Folder, about: &Page) -> String {
    let mut text = String::new();
    for Judged { item, verdict, .. } in judged {
        text += &format!(
            "{:<9}  {:<9}  {}\n",
            item,
            verdict.outcome.name(),
            verdict.claim
        );
    }
    let counts: Vec<String> = Outcome::ALL
        .into_iter()
        .map(|outcome| {
            format!(
                "{} {}",
                report.count(outcome),
                outcome.name().to_lowercase()
            )
        })
        .collect();
    text + &format!(
        "\n{} claims: {}\nScale {}, {}\nReport: {}\n",
        judged.len(),
        counts.join(", "),
        about.scale.name(),
        forecast::words(about.wall_seconds),
        folder.path().join("report.html").display()
    )
}
