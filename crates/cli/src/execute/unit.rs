//! Runs one unit and keeps what its recording asks for.

use std::time::Instant;

use langevin::catalog::{self, Measure, Measurement};
use langevin::chain::{Control, Outcome, RunError};
use langevin::stat::ksd::ksd_curve;
use serde::{Deserialize, Serialize};

use super::task::{Recording, Task, Unit};

/// What a unit leaves on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitResult {
    /// One list per chain, of the same length for all: sums `[observable][segment]`, states one
    /// after the other, or discrepancies. NaN from an escape on.
    pub chains: Vec<Vec<f64>>,
    /// Chains that escaped, and their first bad states.
    pub escapes: Vec<(u64, u64)>,
    /// Time of one thread that the steps took.
    pub seconds: f64,
    /// Time of one thread that the whole unit took.
    pub unit_seconds: f64,
}

/// Does the work of a unit; `None` if it was cancelled.
pub fn run_unit(
    task: &Task,
    unit: &Unit,
    control: Control<'_>,
) -> Result<Option<UnitResult>, RunError> {
    let plan = task.run.plan(&task.arm, task.n_steps, unit.first, unit.n);
    let measure = match &task.recording {
        Recording::Averages { observables, marks } => Measure {
            observables: observables.clone(),
            marks: marks.clone(),
            ..Measure::default()
        },
        Recording::Draws { start, thin, count } => Measure {
            draws: Some((*start, *thin, *count)),
            ..Measure::default()
        },
        Recording::Ksd {
            start,
            thin,
            checkpoints,
            ..
        } => Measure {
            draws: Some((*start, *thin, last(checkpoints))),
            ..Measure::default()
        },
    };
    let began = Instant::now();
    let model = &task.run.target.model;
    let outcome = catalog::run(
        model,
        &task.arm.system,
        task.arm.gradient,
        &plan,
        &measure,
        control,
    )?;
    let seconds = began.elapsed().as_secs_f64();
    if outcome.cancelled {
        return Ok(None);
    }
    let Some(chains) = chains(task, &outcome, control)? else {
        return Ok(None);
    };
    let escapes = outcome.escapes.iter().map(|d| (d.chain, d.step));
    Ok(Some(UnitResult {
        chains,
        escapes: escapes.collect(),
        seconds,
        unit_seconds: began.elapsed().as_secs_f64(),
    }))
}

fn last(checkpoints: &[usize]) -> usize {
    checkpoints.last().copied().unwrap_or(0)
}

fn chains(
    task: &Task,
    outcome: &Outcome<Measurement>,
    control: Control<'_>,
) -> langevin::Result<Option<Vec<Vec<f64>>>> {
    let dim = task.run.target.model.dim();
    let mut chains = vec![];
    for (_, record, lane) in outcome.chains() {
        if control
            .cancel
            .is_some_and(|c| c.load(std::sync::atomic::Ordering::Relaxed))
        {
            return Ok(None);
        }
        chains.push(match &task.recording {
            Recording::Averages { observables, marks } => {
                sums(record, observables.len(), marks.len(), lane)
            }
            Recording::Draws { count, .. } => states(record, lane, *count * dim),
            Recording::Ksd {
                checkpoints,
                kernel,
                ..
            } => {
                let points = states(record, lane, last(checkpoints) * dim);
                let curve = discrepancies(task, &points, checkpoints, *kernel)?;
                if let Some(progress) = control.progress {
                    progress(task.pair_work());
                }
                curve
            }
        });
    }
    Ok(Some(chains))
}

/// Sums `[observable][segment]`; segments that a escaped chain did not reach are NaN.
fn sums(record: &Measurement, n_observables: usize, n_marks: usize, lane: usize) -> Vec<f64> {
    let Some(averages) = &record.averages else {
        return vec![f64::NAN; n_observables * n_marks];
    };
    let sum = |observable, segment| match segment < averages.n_closed() {
        true => averages.sum(segment, observable, lane),
        false => f64::NAN,
    };
    (0..n_observables)
        .flat_map(|observable| (0..n_marks).map(move |segment| sum(observable, segment)))
        .collect()
}

/// The kept states, filled up with NaN where a escaped chain has none.
fn states(record: &Measurement, lane: usize, len: usize) -> Vec<f64> {
    let draws = record.draws.as_ref().map(|draws| draws.chain(lane));
    let mut states = draws.unwrap_or_default();
    states.resize(len, f64::NAN);
    states
}

fn discrepancies(
    task: &Task,
    points: &[f64],
    checkpoints: &[usize],
    kernel: langevin::stat::ksd::Kernel,
) -> langevin::Result<Vec<f64>> {
    if points.iter().any(|x| !x.is_finite()) {
        return Ok(vec![f64::NAN; checkpoints.len()]);
    }
    let model = &task.run.target.model;
    let dim = model.dim();
    let curve = ksd_curve(points, &model.scores(points), dim, kernel)?;
    Ok(checkpoints.iter().map(|k| curve[k - 1]).collect())
}
