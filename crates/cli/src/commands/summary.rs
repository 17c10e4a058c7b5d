//! The summary of a table of draws, shared by `sample` and `diagnose`.

use langevin::stat;
use serde_json::{Value, json};

use crate::report::{Cell, Column, Row, Table};
use crate::store::Draws;

/// Above this R-hat, chains have not mixed (Vehtari and others, 2021).
pub const LARGEST_R_HAT: f64 = 1.01;

/// Summaries of all parameters over the chains that did not escape.
pub struct Summaries {
    /// Name and summary of every number of the layout.
    pub rows: Vec<(String, stat::Summary)>,
    /// Number of chains that escaped, or hold something that is not a number.
    pub n_escaped: usize,
    /// Number of all chains.
    pub n_chains: usize,
}

impl Summaries {
    /// Summarises draws; there are no rows where no chain is left.
    pub fn new(draws: &Draws) -> langevin::Result<Self> {
        let healthy = healthy_chains(draws);
        let n_chains = draws.n_chains();
        let mut rows = vec![];
        for (i, label) in draws.layout().labels().into_iter().enumerate() {
            if healthy.is_empty() {
                break;
            }
            let values = coordinate(draws, &healthy, i);
            let view = stat::Draws::new(&values, healthy.len(), draws.n_draws())?;
            rows.push((label, stat::Summary::new(view)));
        }
        Ok(Summaries {
            rows,
            n_escaped: n_chains - healthy.len(),
            n_chains,
        })
    }

    /// As a table.
    pub fn table(&self) -> Table {
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
        for (name, s) in &self.rows {
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
        table.note(self.sentence())
    }

    /// Escapes and convergence in words.
    pub fn sentence(&self) -> String {
        let worst = self
            .rows
            .iter()
            .max_by(|a, b| a.1.r_hat.total_cmp(&b.1.r_hat));
        let mixing = match worst {
            Some((name, s)) if s.r_hat > LARGEST_R_HAT => format!(
                "R-hat is {:.3} for {name}: the chains have not mixed.",
                s.r_hat
            ),
            Some((_, s)) if s.r_hat.is_finite() => {
                format!("No R-hat is above {LARGEST_R_HAT}.")
            }
            _ => "R-hat needs two chains of four draws.".into(),
        };
        let lost = match self.n_escaped {
            0 => "No chain escaped.".into(),
            n => format!("{n} of {} chains escaped and are left out.", self.n_chains),
        };
        format!("{lost} {mixing}")
    }

    /// As JSON.
    pub fn json(&self) -> Value {
        let row = |(name, s): &(String, stat::Summary)| {
            json!({
                "parameter": name,
                "mean": s.mean,
                "mcse_mean": s.mcse_mean,
                "sd": s.sd,
                "mcse_sd": s.mcse_sd,
                "q5": s.q5,
                "q95": s.q95,
                "ess_bulk": s.ess_bulk,
                "ess_tail": s.ess_tail,
                "r_hat": s.r_hat,
            })
        };
        json!({
            "parameters": self.rows.iter().map(row).collect::<Vec<_>>(),
            "n_chains": self.n_chains,
            "n_escaped": self.n_escaped,
        })
    }
}

/// Numbers of the chains whose draws are all finite.
pub fn healthy_chains(draws: &Draws) -> Vec<usize> {
    let bad = draws.not_finite();
    (0..bad.len()).filter(|chain| bad[*chain] == 0).collect()
}

/// Draws of one number of the layout, chain after chain.
pub fn coordinate(draws: &Draws, chains: &[usize], i: usize) -> Vec<f64> {
    let (dim, n) = (draws.layout().dim(), draws.n_draws());
    let chain = |c: &usize| {
        let start = c * n * dim;
        draws.values()[start..start + n * dim]
            .iter()
            .skip(i)
            .step_by(dim)
            .copied()
    };
    chains.iter().flat_map(chain).collect()
}
