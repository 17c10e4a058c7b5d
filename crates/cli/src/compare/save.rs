//! A comparison as files: tables, figures, report and numbers.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Comparison, json, view};
use crate::output::{Folder, OutputError};
use crate::report::Report;

/// Room for units, tables and figures of an ordinary comparison, in bytes.
pub const ROOM: u64 = 20_000_000;

/// Writes all files; returns results and times.
pub fn save(
    comparison: &Comparison,
    folder: &Folder,
    began: Instant,
) -> Result<(Value, Value), OutputError> {
    let run = &comparison.run;
    let shown = view::view(comparison, "");
    let seconds = began.elapsed().as_secs_f64().ceil() as u64;
    let elapsed = humantime::format_duration(Duration::from_secs(seconds));
    let report = Report::new(run.title.clone())
        .subtitle("A comparison of Langevin dynamics")
        .fact("Program", format!("langevin {}", env!("CARGO_PKG_VERSION")))
        .fact("Run file", run.source.path().display().to_string())
        .fact("Seed", run.seed.to_string())
        .fact(
            "Chains × steps",
            format!("{} × {}", run.n_chains, run.n_steps),
        )
        .fact("Wall time", elapsed.to_string())
        .section(shown.section);
    let (results, timing) = (json::results(comparison), json::timing(comparison));
    folder.write_report(&report, &shown.figures, &shown.long_tables)?;
    folder.write_json("timing.json", &timing)?;
    // Last, so that its presence says that all the rest is there.
    folder.write_json("results.json", &results)?;
    Ok((results, timing))
}
