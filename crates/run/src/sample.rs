//! One dynamics of a run: its draws in memory, or streamed into a store.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use langevin::RunError;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::compare::json::{arm_settings, settings};
use crate::execute::{
    Draws, ExecuteError, Part, Recorded, Recording, Settings, Task, Unit, Values, stream,
};
use crate::output::{Folder, OutputError};
use crate::run_file::{Arm, Run};
use crate::store::{ChainDraws, Existing, Shape, Stat, Writer};
use crate::summary::{Summaries, SummaryError};
use crate::target::Target;

/// Name of the store in the output folder.
pub const STORE: &str = "draws.zarr";

/// What has to be run for draws alone.
pub fn task(run: &Arc<Run>, arm: &Arm) -> Task {
    run.task(arm, run.n_chains, run.n_steps, Recording::draws(draws(run)))
}

/// The draws that a run keeps.
pub fn draws(run: &Run) -> Draws {
    Draws {
        start: run.burn_in,
        // Beyond the last state all are alike, and sums stay far from overflow.
        thin: run.thin.min(run.n_steps),
        count: (run.n_steps - run.burn_in).div_ceil(run.thin) as usize,
    }
}

/// What sampling a dynamics into a store gave.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Where the store is.
    pub path: PathBuf,
    /// Chains that escaped, and their first bad states.
    pub escapes: Vec<(u64, u64)>,
    /// Time of one thread that the steps took.
    pub seconds: f64,
}

impl Stored {
    /// Numbers of the chains that escaped.
    pub fn escaped(&self) -> Vec<usize> {
        self.escapes
            .iter()
            .map(|(chain, _)| *chain as usize)
            .collect()
    }
}

/// Samples one dynamics of a run into the store `draws.zarr` of a folder, draw by draw: what is in
/// memory does not grow with their number.
pub fn into_store(
    run: &Arc<Run>,
    arm: &Arm,
    how: Settings<'_>,
    folder: &Path,
) -> Result<Stored, ExecuteError> {
    let task = task(run, arm);
    let target = &run.target;
    let shape = Shape {
        layout: target.layout.clone(),
        n_chains: run.n_chains,
        n_draws: draws(run).count,
        diverging: true,
        stats: match target.model() {
            Some(_) => vec![("lp".into(), Stat::Real(vec![]))],
            None => vec![],
        },
    };
    let together = task.groups().next().map(|(_, n)| n);
    let path = folder.join(STORE);
    let writer = Writer::new(&path, shape, together, Existing::Replace)?;
    let mut without_states = task.clone();
    without_states.recording = Recording::default();
    let totals = Mutex::new(Recorded::new(&without_states));
    stream(std::slice::from_ref(&task), how, &|unit: &Unit, part| {
        // A store has no place for draws of a unit that was stopped.
        let Part::Whole(mut result) = part else {
            return Ok(());
        };
        let chains = std::mem::take(&mut result.chains).into_iter();
        let chains: Result<Vec<ChainDraws>, RunError> =
            chains.map(|values| shown(target, values)).collect();
        writer.push(unit.first as usize, chains?)?;
        let mut totals = totals.lock().unwrap_or_else(|e| e.into_inner());
        totals.add(unit, result);
        Ok(())
    })?;
    let totals = totals.into_inner().unwrap_or_else(|e| e.into_inner());
    let escapes = totals.escapes();
    writer.finish(attributes(run, arm, &escapes))?;
    Ok(Stored {
        path,
        escapes,
        seconds: totals.seconds,
    })
}

/// Draws of a chain as people see them, with log densities and marks of escape.
fn shown(target: &Target, values: Values) -> Result<ChainDraws, RunError> {
    let states = values.states;
    let is_bad = |theta: &[f64]| theta.iter().any(|x| !x.is_finite());
    let diverging: Vec<bool> = states.chunks_exact(target.dim()).map(is_bad).collect();
    let stats = match target.model() {
        Some(model) => {
            let mut lp = model.log_densities(&states);
            for (lp, bad) in lp.iter_mut().zip(&diverging) {
                *lp = if *bad { f64::NAN } else { *lp };
            }
            vec![Stat::Real(lp)]
        }
        None => vec![],
    };
    Ok(ChainDraws {
        values: target.show(&states)?,
        diverging,
        stats,
    })
}

/// The settings of a run, for the store.
fn attributes(run: &Run, arm: &Arm, escapes: &[(u64, u64)]) -> Map<String, Value> {
    let mut all = json!({
        "title": run.title,
        "model": run.target.name(),
        "dynamics": arm.name,
        "settings": arm_settings(arm).to_string(),
        "seed": run.seed,
        "n_steps": run.n_steps,
        "burn_in": run.burn_in,
        "thin": run.thin,
    });
    if let Some(source) = &run.source {
        all["run_file"] = json!(source.text());
    }
    if !escapes.is_empty() {
        let (chains, steps): (Vec<u64>, Vec<u64>) = escapes.iter().copied().unzip();
        all["escaped_chains"] = json!(chains);
        all["escaped_at"] = json!(steps);
    }
    all.as_object().cloned().unwrap_or_default()
}

/// Summarises a store and writes `results.json`, the last of the files of `sample`.
pub fn save(
    run: &Run,
    arm: &Arm,
    stored: &Stored,
    folder: &Folder,
) -> Result<(Summaries, Value), SampleError> {
    let summaries = Summaries::of_store(&stored.path, &stored.escaped())?;
    let mut all = settings(run);
    all["dynamics"] = arm_settings(arm);
    all["thin"] = json!(run.thin);
    let results = json!({ "settings": all, "summary": summaries.json() });
    folder.write_json("results.json", &results)?;
    Ok((summaries, results))
}

/// Why draws could not be summarised.
#[derive(Debug, Error)]
pub enum SampleError {
    /// The output folder did not take a file.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The store has no summary.
    #[error(transparent)]
    Summary(#[from] SummaryError),
}

/// Runs a task in memory. What was done before an interruption is returned, with whether there was
/// one: chains may then have got differently far, and sums that they did not reach are NaN.
pub fn in_memory(task: &Task, how: Settings<'_>) -> Result<(Recorded, bool), ExecuteError> {
    let recorded = Mutex::new(Recorded::new(task));
    let done = stream(std::slice::from_ref(task), how, &|unit: &Unit, part| {
        let (Part::Whole(result) | Part::Stopped(result)) = part;
        let mut recorded = recorded.lock().unwrap_or_else(|e| e.into_inner());
        recorded.add(unit, result);
        Ok(())
    });
    let mut recorded = recorded.into_inner().unwrap_or_else(|e| e.into_inner());
    match done {
        Ok(()) => Ok((recorded, false)),
        Err(ExecuteError::Interrupted) => {
            let marks = task
                .recording
                .averages
                .as_ref()
                .map_or(0, |a| a.marks.len());
            recorded.fill_up(marks);
            Ok((recorded, true))
        }
        Err(error) => Err(error),
    }
}
