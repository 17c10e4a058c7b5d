//! Draws of a posterior as files.

use std::path::PathBuf;

use serde_json::{Value, json};
use thiserror::Error;

use super::{Drawn, Why};
use crate::output::{Folder, OutputError};
use crate::run_file::Posterior;
use crate::sample::STORE;
use crate::store::{Draws, Existing, Stat, StoreError, write};
use crate::summary::Summaries;

/// Why draws could not be saved.
#[derive(Debug, Error)]
pub enum SaveError {
    /// The output folder did not take a file.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There are too few draws.
    #[error(transparent)]
    Draws(#[from] langevin::Error),
}

impl Why {
    /// In a word or two.
    pub fn in_words(self) -> &'static str {
        match self {
            Why::Precise => "precise",
            Why::Draws => "draws",
            Why::HeavyTails => "heavy tails",
            Why::Time => "time",
            Why::Gradients => "gradients",
            Why::Interrupted => "interrupted",
        }
    }
}

impl Drawn {
    /// What the run did and cost, as JSON; times apart.
    pub fn report(&self) -> Value {
        let Drawn {
            kept,
            judged,
            warm_up,
            tuned,
            costs,
            ..
        } = self;
        json!({
            "why": self.why.in_words(),
            "ess": judged.ess,
            "wanted": self.wanted,
            "warnings": judged.warnings,
            "nested_rhat": judged.rhat(),
            "nested_rhat_threshold": judged.verdict.nested_rhat_threshold,
            "n_chains": kept.n_chains(),
            "n_draws": kept.n_draws(),
            "n_steps": kept.n_steps(),
            "thin": kept.thin(),
            "angle": tuned.angle(),
            "persistence": tuned.persistence(),
            "gradients_per_step": tuned.gradients(),
            "superchain_size": warm_up.superchain_size,
            "gradients": costs.gradients,
            "warm_up": {
                "converged": warm_up.converged,
                "iterations": warm_up.windows.iter().map(|w| w.iterations).sum::<u64>(),
                "relocated": warm_up.relocated(),
                "non_finite": warm_up.non_finite(),
                "gradients": costs.warm_up_gradients,
            },
        })
    }

    /// Times, as JSON.
    pub fn timing(&self) -> Value {
        json!({
            "warm_up_seconds": self.costs.warm_up_seconds,
            "seconds": self.costs.seconds,
            "looking_seconds": self.costs.looking_seconds,
        })
    }

    /// As a table of draws with what is known of each.
    pub fn table(&self, run: &Posterior) -> Result<Draws, StoreError> {
        let kept = &self.kept;
        let errors = kept.energy_error();
        let large = errors
            .iter()
            .map(|e| e.is_nan() || e.abs() >= 1000.0)
            .collect();
        let layout = run.target.layout.clone();
        let shown = self.judged.shown.clone();
        let mut draws = Draws::new(layout, kept.n_chains(), kept.n_draws(), shown)?
            .with_diverging(large)?
            .with_stat("lp", Stat::Real(kept.log_density()))?
            .with_stat("acceptance_rate", Stat::Real(kept.acceptance()))?
            .with_stat("energy_error", Stat::Real(errors))?
            .with_attribute("title", run.title.clone())?
            .with_attribute("model", run.target.name())?
            .with_attribute("seed", run.wanted.seed)?
            .with_attribute("n_steps", kept.n_steps())?
            .with_attribute("thin", kept.thin())?
            .with_attribute("run_file", run.source.text())?;
        if !self.judged.warnings.is_empty() {
            draws = draws.with_attribute("warnings", json!(self.judged.warnings))?;
        }
        Ok(draws)
    }

    /// Writes `draws.zarr`, `timing.json` and, last, `results.json`; returns where the draws are, their
    /// summary and what is in `results.json`.
    pub fn save(
        &self,
        run: &Posterior,
        folder: &Folder,
    ) -> Result<(PathBuf, Summaries, Value), SaveError> {
        let draws = self.table(run)?;
        let path = folder.path().join(STORE);
        write(&path, &draws, Existing::Replace)?;
        let summaries = Summaries::new(&draws)?;
        let results = json!({
            "settings": { "title": run.title, "model": run.target.name(), "seed": run.wanted.seed },
            "run": self.report(),
            "summary": summaries.json(),
        });
        folder.write_json("timing.json", &self.timing())?;
        folder.write_json("results.json", &results)?;
        Ok((path, summaries, results))
    }
}
