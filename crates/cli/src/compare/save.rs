//! A comparison as files: tables, figures, report and numbers.

use std::time::Instant;

use serde_json::{Value, json as value};

use super::{Comparison, json, view};
use crate::forecast::words;
use crate::output::{Folder, OutputError};
use crate::report::Report;
use crate::starts::Total;

/// Writes all files; returns results and times.
pub fn save(
    comparison: &Comparison,
    folder: &Folder,
    began: Instant,
    total: Total,
) -> Result<(Value, Value), OutputError> {
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
    let (results, mut timing) = (json::results(comparison), json::timing(comparison));
    timing["wall_seconds"] = value!(wall_seconds);
    timing["starts"] = value!(total.starts);
    timing["wall_seconds_of_all_starts"] = value!(total.seconds);
    folder.write_report(&report, &shown.figures, &shown.long_tables)?;
    folder.write_json("timing.json", &timing)?;
    // Last, so that its presence says that all the rest is there.
    folder.write_json("results.json", &results)?;
    Ok((results, timing))
}
