//! One unit: some chains over a segment of their steps, from snapshot to snapshot.

use std::time::Instant;

use langevin::RunError;
use langevin::catalog::{Job, Measurement};
use langevin::chain::{Advanced, Chains, Escape, Group, How, Records, Snapshot};
use langevin::record::OpenSums;
use langevin::stat::ksd::ksd_curve;
use serde::{Deserialize, Serialize};

use super::task::{Draws, Ksd, Task, Unit};

/// What a unit leaves on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitResult {
    /// Its chains, in order.
    pub chains: Vec<Values>,
    /// Chains that have escaped so far, and their first bad states.
    pub escapes: Vec<(u64, u64)>,
    /// Time of one thread that the steps took.
    pub seconds: f64,
    /// Time of one thread that the whole unit took.
    pub unit_seconds: f64,
    /// Where the next unit of these chains goes on.
    pub end: End,
}

/// What one chain recorded in a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// Sums `[segment][observable]` of the segments between marks that ended in this unit; NaN from
    /// an escape on.
    pub sums: Vec<f64>,
    /// The draws of this unit, one after the other; NaN from an escape on.
    pub states: Vec<f64>,
    /// Discrepancies at their checkpoints.
    pub ksd: Vec<f64>,
}

/// Chains between two units, and what goes on being recorded of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    chains: Snapshot,
    /// Of each group of chains.
    open: Vec<Option<OpenSums>>,
}

/// What came of a unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// All of it.
    Whole(UnitResult),
    /// It was asked to stop; what it had recorded until then, which is no result to keep.
    Stopped(UnitResult),
}

/// Does the work of a unit, which goes on from the end of the one before.
pub fn run_unit(
    task: &Task,
    job: &dyn Job,
    unit: &Unit,
    before: Option<End>,
    how: &How<'_>,
) -> Result<Part, RunError> {
    let began = Instant::now();
    let (mut chains, open) = match before {
        Some(end) => (Chains::restore(end.chains)?, end.open),
        None => (job.start(&task.plan(unit))?, vec![]),
    };
    let mut records = job.records(&chains, &task.recording.measure())?;
    for (group, open) in records.groups_mut().iter_mut().zip(open) {
        if let (Some(averages), Some(open)) = (&mut group.record.averages, open) {
            averages.go_on_from(open)?;
        }
    }
    if let Some(draws) = &task.recording.draws {
        for group in records.groups_mut() {
            let kept = group.record.draws.take();
            group.record.draws = kept.map(|d| d.after(draws.before(unit.from)));
        }
    }
    let steps = Instant::now();
    let done = job.advance(&mut chains, unit.to - unit.from, &mut records, how)?;
    let seconds = steps.elapsed().as_secs_f64();
    let mut values = values(unit, &records);
    let mut whole = done == Advanced::Done;
    if let (true, Some(draws)) = (whole, &task.recording.draws) {
        fill_up(&mut values, draws, unit, task.target.dim());
    }
    if let (true, Some(ksd)) = (whole, &task.recording.ksd) {
        whole = measure_discrepancies(task, &mut values, ksd, how)?;
    }
    let open = |group: &Group<Measurement>| {
        let averages = group.record.averages.as_ref();
        averages.map(|averages| averages.open_sums())
    };
    let escapes: Vec<Escape> = match &done {
        Advanced::Done => chains.escapes().collect(),
        Advanced::Cancelled(escapes) => escapes.clone(),
    };
    let result = UnitResult {
        chains: values,
        escapes: escapes.iter().map(|e| (e.chain, e.step)).collect(),
        seconds,
        unit_seconds: began.elapsed().as_secs_f64(),
        end: End {
            open: records.groups().iter().map(open).collect(),
            chains: chains.snapshot(),
        },
    };
    Ok(match whole {
        true => Part::Whole(result),
        false => Part::Stopped(result),
    })
}

/// What every chain recorded.
fn values(unit: &Unit, records: &Records<Measurement>) -> Vec<Values> {
    let values = |(_, record, lane): (u64, &Measurement, usize)| Values {
        sums: record
            .averages
            .as_ref()
            .map_or(vec![], |averages| sums(averages, lane, unit)),
        states: record.draws.as_ref().map_or(vec![], |d| d.chain(lane)),
        ksd: vec![],
    };
    records.chains().map(values).collect()
}

/// Sums of the segments that end in this unit; those that escaped chains did not reach are NaN.
fn sums(averages: &langevin::record::Averages, lane: usize, unit: &Unit) -> Vec<f64> {
    let marks = averages.marks();
    let ended = |step: u64| marks.partition_point(|mark| *mark <= step);
    let n = averages.observables().len();
    let mut sums = vec![];
    for segment in ended(unit.from)..ended(unit.to) {
        for observable in 0..n {
            sums.push(match segment < averages.n_closed() {
                true => averages.sum(segment, observable, lane),
                false => f64::NAN,
            });
        }
    }
    sums
}

/// Fills up the draws of a unit with NaN where an escaped chain has none.
fn fill_up(chains: &mut [Values], draws: &Draws, unit: &Unit, dim: usize) {
    let n = draws.before(unit.to) - draws.before(unit.from);
    for chain in chains {
        chain.states.resize(n * dim, f64::NAN);
    }
}

/// Puts discrepancies in the place of draws; returns whether it got through before it was asked to
/// stop.
fn measure_discrepancies(
    task: &Task,
    chains: &mut [Values],
    ksd: &Ksd,
    how: &How<'_>,
) -> Result<bool, RunError> {
    for chain in chains {
        if how.control.cancelled() {
            return Ok(false);
        }
        let points = std::mem::take(&mut chain.states);
        chain.ksd = discrepancies(task, &points, ksd)?;
        if let Some(progress) = how.control.progress {
            progress(task.pair_work());
        }
    }
    Ok(true)
}

fn discrepancies(task: &Task, points: &[f64], ksd: &Ksd) -> Result<Vec<f64>, RunError> {
    if points.iter().any(|x| !x.is_finite()) {
        return Ok(vec![f64::NAN; ksd.checkpoints.len()]);
    }
    let target = &task.target;
    let scores = target.scores(points)?;
    let curve = ksd_curve(points, &scores, target.dim(), ksd.kernel)?;
    Ok(ksd.checkpoints.iter().map(|k| curve[k - 1]).collect())
}
