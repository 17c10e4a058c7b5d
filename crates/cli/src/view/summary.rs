//! Summaries of draws.

use langevin_page::report::{Cell, Column, Row, Table};
use langevin_run::summary::Summaries;

/// The summary of draws as a table.
pub fn summary(summaries: &Summaries) -> Table {
    let labels = [
        "parameter",
        "mean",
        "sd",
        "MCSE",
        "5 %",
        "95 %",
        "bulk ESS",
        "tail ESS",
        "R-hat",
    ];
    let mut table = Table::new("summary", "Summary of draws");
    for label in labels {
        table = table.column(Column::new(label));
    }
    for (name, s) in &summaries.rows {
        table = table.row(Row::new([
            Cell::text(name),
            Cell::estimate(s.mean, s.mcse_mean),
            Cell::estimate(s.sd, s.mcse_sd),
            Cell::number(s.mcse_mean),
            Cell::number(s.q5),
            Cell::number(s.q95),
            Cell::number(s.ess_bulk.round()),
            Cell::number(s.ess_tail.round()),
            Cell::number((s.r_hat * 1e4).round() / 1e4),
        ]));
    }
    table.note(summaries.sentence())
}
