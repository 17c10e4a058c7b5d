//! `langevin sample`: draws of one dynamics to a store, and their summary.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::patience::Patience;
use super::posterior;
use super::{Done, Global, out_for, seed_line};
use langevin_run::output::Folder;
use langevin_run::run_file::{Arm, Posterior, Run, Source};
use langevin_run::sample;
use langevin_run::summary::Summaries;

use crate::terminal;
use crate::view::summary::summary;

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  langevin sample experiments/normal-minibatch.toml --dynamics GiIrr --out out/draws\n\n\
                  A run file that names a target and nothing more gives draws of the exact posterior, \
                  tuned and as many as are needed (see docs/sampling.md).\n\n\
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
    #[command(flatten)]
    patience: Patience,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let out = global.out(out_for(&arguments.run));
    let source = Source::open(&arguments.run)?;
    if Posterior::is_in(&source) {
        if let Some(name) = &arguments.dynamics {
            bail!(
                "{}: there are no dynamics, so that none of them is called {name}",
                arguments.run.display()
            );
        }
        return posterior::run(&source, &out, global);
    }
    let run = Arc::new(Run::from_source(&source, global.asked(&out))?);
    let arm = choose(&run, arguments.dynamics.as_deref())?;
    let needs = &run.needs.to_sample;
    needs.check_memory()?;
    let tasks = [sample::task(&run, arm)];
    arguments.patience.check(&tasks, needs, &out, global)?;
    let folder = Folder::prepare(out, needs.disk())?;
    folder.keep_seed(&run)?;
    let cache = global.units(&folder)?;
    let stored = global.watch(&tasks, &cache, |how| {
        sample::into_store(&run, arm, how, folder.path())
    })?;
    let (summaries, mut results) = sample::save(&run, arm, &stored, &folder)?;
    let table = summary(&summaries);
    folder.write("tables/summary.csv", table.to_csv().as_bytes())?;
    results["store"] = json!(stored.path);
    Ok(Done {
        text: text(&summaries, &stored.path) + &seed_line(&run, &folder),
        json: results,
        good: summaries.n_escaped < summaries.n_chains,
    })
}

fn text(summaries: &Summaries, path: &Path) -> String {
    format!(
        "{}{}\nDraws: {}\n",
        terminal::text(&summary(summaries)),
        summaries.sentence(),
        path.display()
    )
}

/// The only dynamics, or the one with this name.
fn choose<'a>(run: &'a Run, name: Option<&str>) -> anyhow::Result<&'a Arm> {
    match (name, run.arms.as_slice()) {
        (Some(name), _) => Ok(run.arm(name)?),
        (None, [arm]) => Ok(arm),
        (None, arms) => bail!(
            "{}: there are {} dynamics; choose one of {} with --dynamics",
            run.path().display(),
            arms.len(),
            run.arm_names()
        ),
    }
}
