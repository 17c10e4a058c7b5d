//! The summary of a table of draws.

use std::path::Path;

use langevin::stat;
use serde_json::{Value, json};
use thiserror::Error;

use crate::store::{Draws, StoreError, each_number};

/// Above this R-hat, chains have not mixed (Vehtari and others, 2021).
pub const LARGEST_R_HAT: f64 = 1.01;

/// Most draws of a parameter that a summary looks at: it sorts them all.
pub const MOST_DRAWS: usize = 1 << 21;

/// Why a store has no summary.
#[derive(Debug, Error)]
pub enum SummaryError {
    /// It cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its draws are too few.
    #[error(transparent)]
    Draws(#[from] langevin::Error),
}

/// Summaries of all parameters over the chains that did not escape.
pub struct Summaries {
    /// Name and summary of every number of the layout.
    pub rows: Vec<(String, stat::Summary)>,
    /// Number of chains that escaped, or hold something that is not a number.
    pub n_escaped: usize,
    /// Number of all chains.
    pub n_chains: usize,
    /// Every so many of the draws was looked at.
    pub every: usize,
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
            every: 1,
        })
    }

    /// Summarises a store, a few numbers of its layout at a time; `escaped` are the chains to leave
    /// out. Of very many draws it takes every k-th.
    pub fn of_store(path: &Path, escaped: &[usize]) -> Result<Self, SummaryError> {
        let (mut rows, mut n_chains, mut every) = (vec![], 0, 1);
        each_number(path, MOST_DRAWS, |column| {
            (n_chains, every) = (column.n_chains, column.every);
            let chains = column.values.chunks_exact(column.n_draws).enumerate();
            let healthy: Vec<&[f64]> = chains
                .filter(|(chain, _)| !escaped.contains(chain))
                .map(|(_, draws)| draws)
                .collect();
            if !healthy.is_empty() {
                let values = healthy.concat();
                let view = stat::Draws::new(&values, healthy.len(), column.n_draws)?;
                rows.push((column.label, stat::Summary::new(view)));
            }
            Ok::<(), SummaryError>(())
        })?;
        Ok(Summaries {
            rows,
            n_escaped: escaped.len(),
            n_chains,
            every,
        })
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
        let some = match self.every {
            1 => String::new(),
            k => format!(" The summary is of every {k}th draw."),
        };
        format!("{lost} {mixing}{some}")
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
            "every": self.every,
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
