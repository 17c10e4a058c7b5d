//! How long work will take: every dynamics is timed for a moment before it starts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use langevin::Error;
use langevin::batch::Gradient;
use langevin::catalog::{Measure, run_job};
use langevin::chain::{Control, RunError};
use langevin::rng::{Rng, Stream};
use langevin::stat::ksd::ksd_curve;

use crate::execute::{Ksd, Task, Unit};
use crate::units::UnitKey;

type Result<T> = std::result::Result<T, RunError>;

/// Chains of a trial: as many as the widest processors run side by side.
const CHAINS: usize = 16;
/// A trial goes on until its steps have taken this long.
const ENOUGH: Duration = Duration::from_millis(4);
/// What is slow to begin with is not tried again and again; its sizes have to do.
const LONGEST: Duration = Duration::from_millis(500);
/// Longest trial in steps.
const MOST_STEPS: u64 = 1 << 16;
/// Where so many units of the same chains are missing in a row, none is there after them.
const MOST_MISSING: u64 = 64;
/// Points of a trial of discrepancies.
const POINTS: usize = 400;

/// What the unfinished units of some tasks will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Time of one thread, in seconds.
    pub thread_seconds: f64,
    /// Number of groups of chains that can go side by side.
    pub n_groups: usize,
}

impl Forecast {
    /// Times all dynamics that have units which are not `finished`.
    pub fn new(tasks: &[Task], finished: impl Fn(&UnitKey) -> bool + Sync) -> Result<Self> {
        // On one thread, as units are run.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let alone = alone.map_err(|e| Error::Threads {
            threads: 1,
            reason: e.to_string(),
        })?;
        alone.install(|| measure(tasks, &finished))
    }

    /// Seconds until everything is done.
    pub fn seconds(&self, threads: usize) -> f64 {
        // Chains that go together stay on one thread.
        self.thread_seconds / threads.min(self.n_groups).max(1) as f64
    }
}

/// The cost of a step of one dynamics.
struct Known<'a> {
    task: &'a Task,
    seconds_per_step: f64,
}

impl Known<'_> {
    /// The step size alone makes no difference.
    fn fits(&self, task: &Task) -> bool {
        let same = |gradient: Gradient| gradient == task.arm.gradient;
        Arc::ptr_eq(&self.task.target, &task.target)
            && self.task.arm.name == task.arm.name
            && same(self.task.arm.gradient)
    }
}

fn measure(tasks: &[Task], finished: &dyn Fn(&UnitKey) -> bool) -> Result<Forecast> {
    let mut known: Vec<Known> = vec![];
    let mut forecast = Forecast {
        thread_seconds: 0.0,
        n_groups: 0,
    };
    for (number, task) in tasks.iter().enumerate() {
        let done = |unit: &Unit| task.key(unit).is_some_and(|key| finished(&key));
        let (mut n_groups, mut chain_steps, mut pairs) = (0, 0.0, 0);
        for (first, n) in task.groups() {
            // Units of the same chains follow each other.
            let (mut steps, mut missing) = (0.0, 0);
            for unit in task.segments(number, first, n) {
                if missing == MOST_MISSING {
                    steps += (task.n_steps - unit.from) as f64;
                    break;
                }
                match done(&unit) {
                    true => missing = 0,
                    false => {
                        missing += 1;
                        steps += (unit.to - unit.from) as f64;
                    }
                }
            }
            if steps > 0.0 {
                n_groups += 1;
                chain_steps += steps * lanes(n) as f64;
                pairs += n;
            }
        }
        if n_groups == 0 {
            continue;
        }
        let found = known.iter().find(|k| k.fits(task));
        let seconds_per_step = match found {
            Some(known) => known.seconds_per_step,
            None => step_cost(task)?,
        };
        known.push(Known {
            task,
            seconds_per_step,
        });
        forecast.n_groups += n_groups;
        forecast.thread_seconds += seconds_per_step * chain_steps;
        forecast.thread_seconds += pair_seconds(task)? * pairs as f64;
    }
    Ok(forecast)
}

/// Fewer chains than lanes take about as long as all lanes.
fn lanes(n_chains: usize) -> usize {
    n_chains.next_multiple_of(CHAINS / 2)
}

/// Seconds per step of one chain.
fn step_cost(task: &Task) -> Result<f64> {
    let began = Instant::now();
    // What a run takes beside its steps must not count as often as there are steps.
    let setup = trial(task, 1)?;
    if setup > LONGEST {
        return Ok(task.step_nanoseconds() * 1e-9);
    }
    let mut n_steps = 8;
    loop {
        let steps = trial(task, n_steps)?.saturating_sub(setup);
        if steps > ENOUGH || began.elapsed() > LONGEST || n_steps >= MOST_STEPS {
            let n = lanes(task.n_chains.min(CHAINS));
            return Ok(steps.as_secs_f64() / ((n_steps - 1) as f64 * n as f64));
        }
        n_steps *= 8;
    }
}

/// The time that some steps of a few chains take.
fn trial(task: &Task, n_steps: u64) -> Result<Duration> {
    let n_chains = task.n_chains.min(CHAINS);
    let plan = task.plan_of(n_steps, 0, n_chains);
    let job = task.job(1)?;
    let began = Instant::now();
    run_job(job.as_ref(), &plan, &Measure::default(), Control::default())?;
    Ok(began.elapsed())
}

/// Seconds that the pairs of points of one chain take.
fn pair_seconds(task: &Task) -> Result<f64> {
    let Some(Ksd {
        checkpoints,
        kernel,
    }) = &task.recording.ksd
    else {
        return Ok(0.0);
    };
    let dim = task.target.dim();
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
    let days = seconds / 86_400.0;
    let years = days / 365.25;
    match seconds {
        s if s < 60.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 600.0 => format!("{:.0} min {:02.0} s", minutes.floor(), s % 60.0),
        s if s < 7200.0 => format!("{minutes:.0} min"),
        s if days < 2.0 => format!("{:.0} h {:02.0} min", (s / 3600.0).floor(), minutes % 60.0),
        _ if years < 2.0 => format!("{days:.0} days"),
        _ if years < 1e6 => format!("{years:.0} years"),
        _ => format!("{years:.0e} years"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_are_written_for_people() {
        assert_eq!(words(0.2), "1 s");
        assert_eq!(words(75.4), "1 min 15 s");
        assert_eq!(words(3000.0), "50 min");
        assert_eq!(words(9000.0), "2 h 30 min");
        assert_eq!(words(3e6), "35 days");
        assert_eq!(words(1e9), "32 years");
        assert_eq!(words(1e18), "3e10 years");
    }

    #[test]
    fn threads_share_units_but_do_not_cut_them() {
        let forecast = Forecast {
            thread_seconds: 12.0,
            n_groups: 3,
        };
        assert_eq!(forecast.seconds(1), 12.0);
        assert_eq!(forecast.seconds(2), 6.0);
        assert_eq!(forecast.seconds(64), 4.0);
    }
}
