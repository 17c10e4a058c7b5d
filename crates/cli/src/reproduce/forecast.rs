//! How long the work will take: every system is timed for a moment before it starts.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use langevin::catalog::{self, Measure};
use langevin::chain::Control;
use langevin::rng::{Rng, Stream};
use langevin::stat::ksd::ksd_curve;

use crate::execute::{Recording, Task};
use crate::units::UnitCache;

/// Chains of a trial: as many as the widest processors run side by side.
const CHAINS: usize = 16;
/// A trial goes on until it has taken this long.
const ENOUGH: Duration = Duration::from_millis(4);
/// Longest trial in steps.
const MOST_STEPS: u64 = 1 << 16;
/// Points of a trial of discrepancies.
const POINTS: usize = 400;

/// Seconds of one thread that the unfinished units of the tasks will take.
pub fn seconds(tasks: &[Task], cache: &UnitCache) -> langevin::Result<f64> {
    let mut per_step: HashMap<(String, String), f64> = HashMap::new();
    let mut total = 0.0;
    for (number, task) in tasks.iter().enumerate() {
        let missing = |unit: &crate::execute::Unit| !cache.path(&task.key(unit)).exists();
        // Fewer chains than lanes take about as long as all lanes.
        let lanes = |unit: crate::execute::Unit| unit.n.next_multiple_of(CHAINS / 2);
        let chains: usize = task.units(number).filter(missing).map(lanes).sum();
        if chains == 0 {
            continue;
        }
        let key = (task.run.title.clone(), format!("{:?}", task.arm));
        let cost = match per_step.get(&key) {
            Some(cost) => *cost,
            None => {
                let cost = step_cost(task)?;
                per_step.insert(key, cost);
                cost
            }
        };
        total += chains as f64 * (cost * task.n_steps as f64 + pair_seconds(task)?);
    }
    Ok(total)
}

/// Seconds per step of one chain.
fn step_cost(task: &Task) -> langevin::Result<f64> {
    let mut n_steps = 32;
    loop {
        let n = n_steps.min(task.n_steps.max(2));
        let plan = task.run.plan(&task.arm, n, 0, CHAINS);
        let began = Instant::now();
        let model = &task.run.target.model;
        catalog::run(
            model,
            &task.arm.system,
            &plan,
            &Measure::default(),
            Control::default(),
        )?;
        let elapsed = began.elapsed();
        if elapsed > ENOUGH || n < n_steps || n_steps >= MOST_STEPS {
            return Ok(elapsed.as_secs_f64() / (n as f64 * CHAINS as f64));
        }
        n_steps *= 8;
    }
}

/// Seconds that the pairs of points of one chain take.
fn pair_seconds(task: &Task) -> langevin::Result<f64> {
    let Recording::Ksd {
        checkpoints,
        kernel,
        ..
    } = &task.recording
    else {
        return Ok(0.0);
    };
    let dim = task.run.target.model.dim();
    let mut rng = Rng::<f64>::new(0, 0, Stream::Setup);
    let points: Vec<f64> = (0..POINTS * dim).map(|_| rng.normal()).collect();
    let began = Instant::now();
    ksd_curve(&points, &points, dim, *kernel)?;
    let n = checkpoints.last().copied().unwrap_or(0) as f64;
    Ok(began.elapsed().as_secs_f64() * (n / POINTS as f64).powi(2))
}

/// `2 h 10 min`, `about` as exact as a forecast can be.
pub fn words(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    match seconds {
        s if s < 60.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 600.0 => format!("{:.0} min {:02.0} s", minutes.floor(), s % 60.0),
        s if s < 7200.0 => format!("{minutes:.0} min"),
        s => format!("{:.0} h {:02.0} min", (s / 3600.0).floor(), minutes % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn forecasts_are_written_for_people() {
        assert_eq!(words(0.2), "1 s");
        assert_eq!(words(75.4), "1 min 15 s");
        assert_eq!(words(3000.0), "50 min");
        assert_eq!(words(9000.0), "2 h 30 min");
    }
}
