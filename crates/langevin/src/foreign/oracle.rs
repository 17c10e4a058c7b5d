//! Foreign functions as an oracle.

use std::sync::{Mutex, MutexGuard};

use super::given::{self, Divergences};
use super::{Failure, Given, Worker};
use crate::batch::Gradient;
use crate::chain::RunError;
use crate::metric::Metric;
use crate::oracle::{Batches, Call, Oracle, Query};
use crate::real::{BitLanes, Lanes, MAX_WIDTH};
use crate::skew::{Skew, SkewMatrix};
use crate::target::check_state;
use crate::{Error, Result, check};

/// Foreign functions, one worker for each thread: all chains of a worker are evaluated by one call.
///
/// ```
/// use langevin::batch::Gradient;
/// use langevin::chain::{Control, Plan, run};
/// use langevin::dynamics::Dynamics;
/// use langevin::foreign::{Failure, Foreign, ForeignTarget, Worker};
/// use langevin::record::Moments;
/// use langevin::skew::Skew;
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
/// let oracle = Foreign::new(vec![worker], Gradient::Exact, &Skew::None)?;
/// let plan = Plan::new(5000, 0.1).chains(10);
/// let dynamics = Dynamics::ld(2);
/// let outcome = run(&oracle, &dynamics, &plan, || Moments::new(100), Control::default())?;
/// assert_eq!(outcome.healthy().count(), 10);
/// # Ok::<(), langevin::chain::RunError>(())
/// ```
pub struct Foreign<'a> {
    desks: Vec<Mutex<Desk<'a>>>,
    dim: usize,
    positive: Vec<usize>,
    has_log_density: bool,
    batches: Option<Batches>,
    given: usize,
    /// J, where the divergence of BJ is wanted.
    j: Option<SkewMatrix>,
}

impl<'a> Foreign<'a> {
    /// At least one worker, all with the same functions. A foreign metric gives div(BJ) for the J of
    /// a geometric field.
    pub fn new(mut workers: Vec<Worker<'a>>, gradient: Gradient, skew: &Skew) -> Result<Self> {
        check::at_least("the number of threads", workers.len(), 1)?;
        let worker = &mut workers[0];
        let dim = worker.target.dim();
        check::at_least("the number of coordinates", dim, 1)?;
        let n_data = worker.target.rows().map_or(0, |rows| rows.n_data());
        gradient.check(n_data)?;
        let positive = worker.target.positive_coordinates().to_vec();
        if let Some(c) = positive.iter().find(|c| **c >= dim) {
            check::at_most("a positive coordinate", *c, dim - 1)?;
        }
        Ok(Foreign {
            dim,
            positive,
            has_log_density: worker.target.density().is_some(),
            batches: match gradient {
                Gradient::Exact => None,
                Gradient::Minibatch { .. } => Some(Batches { gradient, n_data }),
            },
            given: match worker.metric {
                Some(_) => Given::new(dim).scratch_len(),
                None => 0,
            },
            j: match skew {
                Skew::Geometric(j) => Some(j.clone()),
                _ => None,
            },
            desks: workers.into_iter().map(Desk::new).map(Mutex::new).collect(),
        })
    }

    /// Whether the workers have a metric.
    pub fn has_metric(&self) -> bool {
        self.given > 0
    }

    fn desk(&self, worker: usize) -> MutexGuard<'_, Desk<'a>> {
        // A panic ends the run; nothing behind the lock is used after it.
        self.desks[worker]
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Oracle for Foreign<'_> {
    fn dim(&self) -> usize {
        self.dim
    }

    fn has_log_density(&self) -> bool {
        self.has_log_density
    }

    fn positive_coordinates(&self) -> &[usize] {
        &self.positive
    }

    fn check_starts(&self, first: u64, starts: &[Vec<f64>]) -> std::result::Result<(), RunError> {
        let d = self.dim;
        for theta in starts {
            check_state(theta, d, &self.positive)?;
        }
        let mut desk = self.desk(0);
        let worker = &mut desk.worker;
        let thetas = starts.concat();
        let mut scores = vec![0.0; thetas.len()];
        let call = worker.target.score(&thetas, &mut scores);
        call.map_err(RunError::Call)?;
        if let Some(at) = scores.iter().position(|s| !s.is_finite()) {
            return Err(RunError::Start {
                chain: first + (at / d) as u64,
                coordinate: at % d,
                value: scores[at],
            });
        }
        if let Some(metric) = &mut worker.metric {
            given::check_matrices(metric.as_mut(), &thetas, d)?;
        }
        Ok(())
    }

    fn batches(&self) -> Option<Batches> {
        self.batches
    }

    fn given_len(&self) -> usize {
        self.given
    }

    fn workers(&self) -> Option<usize> {
        Some(self.desks.len())
    }

    #[inline(always)]
    fn evaluate<L: Lanes>(&self, mut call: Call<'_, L>) -> std::result::Result<(), Failure> {
        let mut desk = self.desk(call.worker);
        desk.thetas.clear();
        desk.rows.clear();
        while let Some(query) = call.next() {
            desk.take(&query);
        }
        desk.ask(self, call.log_density)?;
        call.rewind();
        let mut first = 0;
        while let Some(query) = call.next() {
            let n = query.n_chains;
            desk.give(query, first);
            first += n;
        }
        Ok(())
    }
}

/// A worker with its papers: arguments and results, one row for each chain.
struct Desk<'a> {
    worker: Worker<'a>,
    thetas: Vec<f64>,
    rows: Vec<i64>,
    values: Vec<f64>,
    scores: Vec<f64>,
    matrices: Vec<f64>,
    divergences: Divergences,
    /// Chains whose state foreign functions do not get to see.
    bad: Vec<usize>,
}

impl<'a> Desk<'a> {
    fn new(worker: Worker<'a>) -> Self {
        Desk {
            worker,
            thetas: vec![],
            rows: vec![],
            values: vec![],
            scores: vec![],
            matrices: vec![],
            divergences: Divergences::new(0),
            bad: vec![],
        }
    }

    /// Appends the states of a pack, and the rows of its minibatches.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, query: &Query<'_, L>) {
        let (d, n) = (query.theta.len(), query.n_chains);
        let at = self.thetas.len();
        self.thetas.resize(at + n * d, 0.0);
        let mut lanes = [0.0; MAX_WIDTH];
        for (i, pack) in query.theta.iter().enumerate() {
            pack.store(&mut lanes);
            for (theta, value) in self.thetas[at..].chunks_exact_mut(d).zip(lanes) {
                theta[i] = value;
            }
        }
        let (size, at) = (query.rows.len(), self.rows.len());
        self.rows.resize(at + n * size, 0);
        let mut lanes = [0; MAX_WIDTH];
        for (k, pack) in query.rows.iter().enumerate() {
            pack.store(&mut lanes);
            for (rows, row) in self.rows[at..].chunks_exact_mut(size).zip(lanes) {
                rows[k] = row as i64;
            }
        }
    }

    /// Calls the foreign functions for all states that were taken.
    fn ask(&mut self, oracle: &Foreign<'_>, log_density: bool) -> std::result::Result<(), Failure> {
        let d = oracle.dim;
        let n = self.thetas.len() / d;
        self.values.resize(n, f64::NAN);
        self.scores.resize(n * d, f64::NAN);
        if !self.hide_bad_states(d, &oracle.positive) {
            self.values.fill(f64::NAN);
            self.scores.fill(f64::NAN);
            return Ok(());
        }
        let target = &mut self.worker.target;
        if log_density {
            let transition = "this transition";
            let density = target.density().ok_or(Error::NoDensity { transition })?;
            density.log_density_and_score(&self.thetas, &mut self.values, &mut self.scores)?;
        } else if oracle.batches.is_some() {
            let rows = target.rows().ok_or(Error::NoData)?;
            rows.minibatch_score(&self.thetas, &self.rows, &mut self.scores)?;
        } else {
            target.score(&self.thetas, &mut self.scores)?;
        }
        if let Some(metric) = &mut self.worker.metric {
            self.matrices.resize(n * d * d, 0.0);
            metric.matrix(&self.thetas, &mut self.matrices)?;
            self.divergences
                .compute(metric.as_mut(), &self.thetas, d, oracle.j.as_ref())?;
        }
        for &chain in &self.bad {
            self.values[chain] = f64::NAN;
            self.scores[chain * d..][..d].fill(f64::NAN);
        }
        Ok(())
    }

    /// Foreign functions never see a state that is not finite or not in the support: another chain's
    /// stands for it. False if there is none to show.
    fn hide_bad_states(&mut self, d: usize, positive: &[usize]) -> bool {
        let bad = |theta: &[f64]| {
            theta.iter().any(|x| !x.is_finite()) || positive.iter().any(|&c| theta[c] <= 0.0)
        };
        let states = self.thetas.chunks_exact(d).enumerate();
        let (bad, good): (Vec<_>, Vec<_>) =
            states.map(|(i, theta)| (i, bad(theta))).partition(|x| x.1);
        self.bad = bad.into_iter().map(|(i, _)| i).collect();
        let Some((good, _)) = good.first() else {
            return false;
        };
        for &chain in &self.bad {
            self.thetas.copy_within(good * d..(good + 1) * d, chain * d);
        }
        true
    }

    /// Puts the results for the chains of a pack into lanes.
    #[inline(always)]
    fn give<L: Lanes>(&self, query: Query<'_, L>, first: usize) {
        let (d, n) = (query.theta.len(), query.n_chains);
        let value = std::slice::from_mut(query.log_density);
        read_lanes(&self.values, 1, first, n, value);
        read_lanes(&self.scores, d, first, n, query.score);
        if self.worker.metric.is_some() {
            let (b, rest) = query.given.split_at_mut(d * d);
            let (div_b, div_bj) = rest[d * d..].split_at_mut(d);
            read_lanes(&self.matrices, d * d, first, n, b);
            read_lanes(&self.divergences.div_b, d, first, n, div_b);
            read_lanes(&self.divergences.div_bj, d, first, n, &mut div_bj[..d]);
        }
    }
}

/// Puts rows `first..first + n` into lanes; spare lanes are 0.
#[inline(always)]
fn read_lanes<L: Lanes>(table: &[f64], width: usize, first: usize, n: usize, out: &mut [L]) {
    let rows = &table[first * width..(first + n) * width];
    let mut lanes = [0.0; MAX_WIDTH];
    for (i, out) in out.iter_mut().enumerate() {
        for (lane, row) in lanes.iter_mut().zip(rows.chunks_exact(width)) {
            *lane = row[i];
        }
        *out = L::load(&lanes);
    }
}
