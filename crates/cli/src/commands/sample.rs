//! `langevin sample`: draws of one dynamics to a store, and their summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use langevin::catalog::Model;
use rayon::prelude::*;
use serde_json::json;

use super::summary::Summaries;
use super::{Done, Global, out_for};
use crate::compare::json::{arm_settings, settings};
use crate::execute::{Recorded, Recording, Task, execute};
use crate::run_file::{Arm, Run};
use crate::store::{self, Draws, Existing, Stat};
use crate::terminal;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  langevin sample experiments/normal-minibatch.toml --dynamics GiIrr --out out/draws\n\n\
                  The output folder gets draws.zarr, which ArviZ and xarray open, \
                  tables/summary.csv and results.json."
)]
pub(super) struct Arguments {
    /// The run file (see docs/run-file.md).
    #[arg(value_name = "RUN.toml")]
    run: PathBuf,
    /// Name of the dynamics, where the run file has several.
    #[arg(long, value_name = "NAME")]
    dynamics: Option<String>,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let run = Arc::new(Run::load(&arguments.run, global.seed)?);
    let arm = choose(&run, arguments)?;
    let n_draws = (run.n_steps - run.burn_in).div_ceil(run.thin);
    let numbers = run.n_chains as u64 * n_draws * run.target.model.dim() as u64;
    // Once in the units and once in the store.
    let folder = global.folder(out_for(&arguments.run), 2 * 8 * numbers + 1_000_000)?;
    let cache = folder.units(global.fresh)?;
    let task = Task {
        run: run.clone(),
        arm: arm.clone(),
        n_chains: run.n_chains,
        n_steps: run.n_steps,
        recording: Recording::Draws {
            start: run.burn_in,
            thin: run.thin,
            count: n_draws as usize,
        },
    };
    let recorded = execute(&[task], global.settings(&cache))?;
    let draws = to_store(&run, arm, &recorded[0], n_draws as usize)?;
    let path = folder.path().join("draws.zarr");
    store::write(&path, &draws, Existing::Replace)?;
    let summaries = Summaries::new(&draws)?;
    let table = summaries.table();
    folder.write("tables/summary.csv", table.to_csv().as_bytes())?;
    let mut all_settings = settings(&run);
    all_settings["dynamics"] = arm_settings(arm);
    all_settings["thin"] = json!(run.thin);
    let results = json!({ "settings": all_settings, "summary": summaries.json() });
    folder.write_json("results.json", &results)?;
    let mut with_path = results;
    with_path["store"] = json!(path);
    Ok(Done {
        text: text(&summaries, &path),
        json: with_path,
        good: summaries.n_diverged < summaries.n_chains,
    })
}

fn text(summaries: &Summaries, path: &Path) -> String {
    format!(
        "{}{}\nDraws: {}\n",
        terminal::text(&summaries.table()),
        summaries.sentence(),
        path.display()
    )
}

fn choose<'a>(run: &'a Run, arguments: &Arguments) -> anyhow::Result<&'a Arm> {
    let names: Vec<&str> = run.arms.iter().map(|arm| arm.name.as_str()).collect();
    let file = arguments.run.display();
    match (&arguments.dynamics, run.arms.as_slice()) {
        (None, [arm]) => Ok(arm),
        (None, _) => bail!(
            "{file}: there are {} dynamics; choose one of {} with --dynamics",
            names.len(),
            names.join(", ")
        ),
        (Some(name), arms) => match arms.iter().find(|arm| arm.name == *name) {
            Some(arm) => Ok(arm),
            None => bail!(
                "{file}: there are no dynamics {name:?}; expected one of {}",
                names.join(", ")
            ),
        },
    }
}

/// Draws in the order of the layout, with log densities and marks of divergence.
fn to_store(run: &Run, arm: &Arm, recorded: &Recorded, n_draws: usize) -> anyhow::Result<Draws> {
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
    let draws = Draws::new(target.layout.clone(), n_chains, n_draws, values)?
        .with_diverging(diverging)?
        .with_stat("lp", Stat::Real(lp))?
        .with_attribute("title", run.title.clone())?
        .with_attribute("model", target.model.name())?
        .with_attribute("dynamics", arm.name.clone())?
        .with_attribute("settings", arm_settings(arm).to_string())?
        .with_attribute("seed", run.seed)?
        .with_attribute("burn_in", run.burn_in)?
        .with_attribute("thin", run.thin)?
        .with_attribute("run_file", run.source.text())?;
    Ok(draws)
}

fn log_density(model: &Model, theta: &[f64]) -> f64 {
    match theta.iter().all(|x| x.is_finite()) {
        true => model.log_density(theta),
        false => f64::NAN,
    }
}
