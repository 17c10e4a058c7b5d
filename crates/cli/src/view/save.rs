//! A comparison as files: tables, figures, report and numbers.

use serde_json::Value;

use super::view;
use crate::files::{FilesError, write_report};
use langevin_page::report::Report;
use langevin_run::compare::{Comparison, json};
use langevin_run::forecast::words;
use langevin_run::output::Folder;
use langevin_run::starts::Total;

/// Writes all files; returns results and times.
pub fn save(
    comparison: &Comparison,
    folder: &Folder,
    total: Total,
) -> Result<(Value, Value), FilesError> {
    let run = &comparison.run;
    let shown = view(comparison, "");
    let wall_time = match total.starts {
        1 => words(total.this),
        n => format!("{} in {n} starts", words(total.seconds)),
    };
    let report = Report::new(run.title.clone())
        .subtitle("A comparison of Langevin dynamics")
        .fact("Program", format!("langevin {}", env!("CARGO_PKG_VERSION")))
        .fact("Run file", run.path().display().to_string())
        .fact("Seed", run.seed.to_string())
        .fact(
            "Chains × steps",
            format!("{} × {}", run.n_chains, run.n_steps),
        )
        .fact("Machine", langevin_run::machine::words())
        .fact("Wall time", wall_time)
        .section(shown.section);
    write_report(folder, &report, &shown.figures, &shown.long_tables)?;
    Ok(json::save(comparison, folder, total)?)
}
