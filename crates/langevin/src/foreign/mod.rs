//! Targets and metrics that live outside the library: Python, compiled functions, Stan.
//!
//! All chains of a worker advance in lockstep, with one call per step for all of them. Random
//! numbers, step sizes, divergences and records are those of [`chain`](crate::chain), so that a
//! foreign copy of a model of the library gives the same chains, to rounding.

mod drive;
mod given;

use thiserror::Error as ThisError;

pub use given::{Given, divergence_check};

use crate::check;
use crate::dynamics::Dynamics;
use crate::metric::Metric;
use crate::record::Record;
use crate::skew::SkewMatrix;
use crate::target::{Target, check_state};
use crate::{
    chain::{Control, Outcome, Plan, check_plan, initial_states},
    real::Isa,
};
use drive::Lockstep;

/// What a foreign function reports when it fails.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Why a run with foreign functions gave nothing.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ForeignError {
    /// The input was refused.
    #[error(transparent)]
    Input(#[from] crate::Error),
    /// A foreign function failed.
    #[error("{0}")]
    Call(#[source] Failure),
    /// The score is not finite where a chain starts.
    #[error(
        "the score at the initial state of chain {chain} is {value} in coordinate {coordinate}"
    )]
    Start {
        /// Number of the chain.
        chain: u64,
        /// The coordinate.
        coordinate: usize,
        /// The value found there.
        value: f64,
    },
}

/// A score for many chains at once. States and scores are rows of [`dim`](Self::dim) numbers, one
/// row for each chain.
pub trait ForeignTarget {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Writes ∇ log π of every state. A score that is not finite ends its chain as a divergence.
    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure>;

    /// Number of data that minibatches can be drawn from; 0 without data.
    fn n_data(&self) -> usize {
        0
    }

    /// Writes an unbiased estimate of every score from rows of the data, the same number of rows
    /// for each chain.
    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> Result<(), Failure> {
        let _ = rows;
        self.score(thetas, out)
    }

    /// Coordinates that must stay above 0.
    fn positive_coordinates(&self) -> &[usize] {
        &[]
    }
}

/// A metric B(θ) for many chains at once.
pub trait ForeignMetric {
    /// Writes B of every state, row by row, both triangles.
    fn matrix(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure>;

    /// Writes div B of every state, and div(BJ) where J is given, as
    /// [`Metric::div`]; false where it is not known, and central differences take its place.
    fn divergence(
        &mut self,
        thetas: &[f64],
        j: Option<&SkewMatrix>,
        div_b: &mut [f64],
        div_bj: &mut [f64],
    ) -> Result<bool, Failure> {
        let _ = (thetas, j, div_b, div_bj);
        Ok(false)
    }
}

/// The foreign functions of one thread.
pub struct Worker<'a> {
    /// The target.
    pub target: Box<dyn ForeignTarget + Send + 'a>,
    /// The metric, where it is foreign too; the dynamics then have the metric [`Given`].
    pub metric: Option<Box<dyn ForeignMetric + Send + 'a>>,
}

/// A target of the library as a foreign one, to go with a foreign metric.
pub struct Native<'a, T> {
    target: &'a T,
    scratch: Vec<f64>,
}

impl<'a, T: Target> Native<'a, T> {
    /// Wraps the target.
    pub fn new(target: &'a T) -> Self {
        Native {
            target,
            scratch: vec![0.0; target.scratch_len()],
        }
    }
}

impl<T: Target> ForeignTarget for Native<'_, T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let d = self.target.dim();
        for (theta, out) in thetas.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            self.target.score(theta, &mut self.scratch, out);
        }
        Ok(())
    }

    fn n_data(&self) -> usize {
        self.target.n_data()
    }

    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> Result<(), Failure> {
        let d = self.target.dim();
        let size = rows.len() / (thetas.len() / d);
        let mut words = vec![crate::real::Word(0); size];
        for (i, rows) in rows.chunks_exact(size).enumerate() {
            for (word, row) in words.iter_mut().zip(rows) {
                word.0 = *row as u64;
            }
            let at = i * d..(i + 1) * d;
            let (theta, out) = (&thetas[at.clone()], &mut out[at]);
            self.target
                .minibatch_score(theta, &words, &mut self.scratch, out);
        }
        Ok(())
    }

    fn positive_coordinates(&self) -> &[usize] {
        self.target.positive_coordinates()
    }
}

/// Runs the chains of a plan, cut into as many parts as there are workers, each in a thread of
/// its own; a single worker stays in the calling thread. The plan's number of threads is not
/// used.
///
/// After [`Control::cancel`] was set, a failure of a foreign function counts as the end of the
/// run.
///
/// ```
/// use langevin::chain::{Control, Plan};
/// use langevin::dynamics::Dynamics;
/// use langevin::foreign::{Failure, ForeignTarget, Worker, run};
/// use langevin::record::Moments;
///
/// /// N(0, I) in the plane.
/// struct Normal;
/// impl ForeignTarget for Normal {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
///         for (out, theta) in out.iter_mut().zip(thetas) {
///             *out = -theta;
///         }
///         Ok(())
///     }
/// }
/// let worker = Worker { target: Box::new(Normal), metric: None };
/// let plan = Plan::new(5000, 0.1).chains(10);
/// let dynamics = Dynamics::ld(2);
/// let outcome = run(vec![worker], &dynamics, &plan, || Moments::new(100), Control::default())?;
/// assert_eq!(outcome.healthy().count(), 10);
/// # Ok::<(), langevin::foreign::ForeignError>(())
/// ```
pub fn run<M: Metric, R: Record>(
    mut workers: Vec<Worker<'_>>,
    dynamics: &Dynamics<M>,
    plan: &Plan,
    record: impl Fn() -> R + Sync,
    control: Control<'_>,
) -> Result<Outcome<R>, ForeignError> {
    check::at_least("the number of threads", workers.len(), 1)?;
    let starts = check(&mut workers[0], dynamics, plan)?;
    let isa = plan.isa.unwrap_or_else(Isa::detect).min(Isa::detect());
    let lockstep = Lockstep {
        dynamics,
        plan,
        control,
        record: &record,
        failed: Default::default(),
    };
    let width = isa.fitting_width(starts.len());
    let share = starts.len().div_ceil(workers.len()).next_multiple_of(width);
    let parts = workers.into_iter().zip(starts.chunks(share)).enumerate();
    let run_part = |i: usize, worker: Worker<'_>, starts: &[Vec<f64>]| {
        let first_chain = plan.first_chain + (i * share) as u64;
        isa.run(width, lockstep.part(worker, first_chain, starts))
    };
    let done: Vec<_> = if starts.len() <= share {
        parts.map(|(i, (w, s))| run_part(i, w, s)).collect()
    } else {
        let run_part = &run_part;
        std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .map(|(i, (w, s))| scope.spawn(move || run_part(i, w, s)))
                .collect();
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
                .collect()
        })
    };
    let mut outcome = Outcome {
        groups: vec![],
        divergences: vec![],
        cancelled: false,
    };
    for part in done {
        let part = part.map_err(ForeignError::Call)?;
        outcome.groups.extend(part.groups);
        outcome.divergences.extend(part.divergences);
        outcome.cancelled |= part.cancelled;
    }
    Ok(outcome)
}

/// Refuses bad input; returns the initial state of every chain.
fn check<M: Metric>(
    worker: &mut Worker<'_>,
    dynamics: &Dynamics<M>,
    plan: &Plan,
) -> Result<Vec<Vec<f64>>, ForeignError> {
    let d = worker.target.dim();
    check::at_least("the number of coordinates", d, 1)?;
    check_plan(plan, worker.target.n_data())?;
    check::size("the metric", dynamics.dim(), d)?;
    let starts = initial_states(plan, d)?;
    for theta in &starts {
        check_state(theta, d, worker.target.positive_coordinates())?;
    }
    let thetas = starts.concat();
    let mut scores = vec![0.0; thetas.len()];
    let call = worker.target.score(&thetas, &mut scores);
    call.map_err(ForeignError::Call)?;
    if let Some(at) = scores.iter().position(|s| !s.is_finite()) {
        return Err(ForeignError::Start {
            chain: plan.first_chain + (at / d) as u64,
            coordinate: at % d,
            value: scores[at],
        });
    }
    if let Some(metric) = &mut worker.metric {
        given::check_matrices(metric.as_mut(), &thetas, d)?;
    }
    Ok(starts)
}
