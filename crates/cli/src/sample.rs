//! One dynamics of a run file: its draws in memory, and as files.

use std::path::PathBuf;
use std::sync::Arc;

use langevin::catalog::Model;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::commands::summary::Summaries;
use crate::compare::json::{arm_settings, settings};
use crate::execute::{Recorded, Recording, Settings, Task, execute};
use crate::output::Folder;
use crate::run_file::{Arm, Run};
use crate::store::{self, Draws, Existing, Stat};

/// Name of the store in the output folder.
const STORE: &str = "draws.zarr";

/// What sampling one dynamics gave.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The draws, with log densities and marks of escape.
    pub draws: Draws,
    /// Chains that escaped, and their first bad states.
    pub escapes: Vec<(u64, u64)>,
    /// Time of one thread that the steps took.
    pub seconds: f64,
}

/// Number of draws of each chain.
fn n_draws(run: &Run) -> u64 {
    (run.n_steps - run.burn_in).div_ceil(run.thin)
}

/// What has to be run.
pub fn task(run: &Arc<Run>, arm: &Arm) -> Task {
    Task {
        run: run.clone(),
        arm: arm.clone(),
        n_chains: run.n_chains,
        n_steps: run.n_steps,
        recording: Recording::Draws {
            start: run.burn_in,
            // Beyond the last state all are alike, and sums stay far from overflow.
            thin: run.thin.min(run.n_steps),
            count: n_draws(run) as usize,
        },
    }
}

/// Samples one dynamics of a run.
pub fn sample(run: &Arc<Run>, arm: &Arm, how: Settings<'_>) -> anyhow::Result<Sampled> {
    run.needs.to_sample.check_memory()?;
    let recorded = &execute(&[task(run, arm)], how)?[0];
    Ok(Sampled {
        draws: to_store(run, arm, recorded)?,
        escapes: recorded.escapes(),
        seconds: recorded.seconds,
    })
}

/// Writes the store, the summary and the settings; returns the path of the store, what goes to
/// `results.json`, and the summary.
pub fn save(
    run: &Run,
    arm: &Arm,
    draws: &Draws,
    folder: &Folder,
) -> anyhow::Result<(PathBuf, Value, Summaries)> {
    let path = folder.path().join(STORE);
    store::write(&path, draws, Existing::Replace)?;
    let summaries = Summaries::new(draws)?;
    let table = summaries.table();
    folder.write("tables/summary.csv", table.to_csv().as_bytes())?;
    let mut all_settings = settings(run);
    all_settings["dynamics"] = arm_settings(arm);
    all_settings["thin"] = json!(run.thin);
    let results = json!({ "settings": all_settings, "summary": summaries.json() });
    folder.write_json("results.json", &results)?;
    Ok((path, results, summaries))
}

/// Draws in the order of the layout, with log densities and marks of escape.
fn to_store(run: &Run, arm: &Arm, recorded: &Recorded) -> store::Result<Draws> {
    let target = &run.target;
    let dim = target.model.dim();
    let states: Vec<&[f64]> = recorded
        .chains
        .iter()
        .flat_map(|chain| chain.values.chunks_exact(dim))
        .collect();
    let values: Vec<f64> = states
        .iter()
        .flat_map(|theta| target.order.iter().map(|i| theta[*i]))
        .collect();
    let lp: Vec<f64> = states
        .par_iter()
        .map(|theta| log_density(&target.model, theta))
        .collect();
    let diverging = states
        .iter()
        .map(|theta| theta.iter().any(|x| !x.is_finite()))
        .collect();
    let n_chains = recorded.chains.len();
    let draws = Draws::new(
        target.layout.clone(),
        n_chains,
        n_draws(run) as usize,
        values,
    )?
    .with_diverging(diverging)?
    .with_stat("lp", Stat::Real(lp))?
    .with_attribute("title", run.title.clone())?
    .with_attribute("model", target.model.name())?
    .with_attribute("dynamics", arm.name.clone())?
    .with_attribute("settings", arm_settings(arm).to_string())?
    .with_attribute("seed", run.seed)?
    .with_attribute("n_steps", run.n_steps)?
    .with_attribute("burn_in", run.burn_in)?
    .with_attribute("thin", run.thin)?
    .with_attribute("run_file", run.source.text())?;
    let (chains, steps): (Vec<u64>, Vec<u64>) = recorded.escapes().into_iter().unzip();
    match chains.is_empty() {
        true => Ok(draws),
        false => draws
            .with_attribute("escaped_chains", chains)?
            .with_attribute("escaped_at", steps),
    }
}

fn log_density(model: &Model, theta: &[f64]) -> f64 {
    match theta.iter().all(|x| x.is_finite()) {
        true => model.log_density(theta),
        false => f64::NAN,
    }
}
