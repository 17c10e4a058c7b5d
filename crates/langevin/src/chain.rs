//! Many chains over lanes and threads.
//!
//! A chain's states depend on the seed, the run and the chain's number only: not on how chains are
//! grouped into lanes, on the number of threads or on the instruction set.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nalgebra::DMatrix;
use rayon::prelude::*;

use crate::batch::{BatchSampler, Gradient};
use crate::check;
use crate::dynamics::Dynamics;
use crate::integrator::{EulerMaruyama, Integrator, Score, StepSize};
use crate::metric::{Metric, dense};
use crate::real::{BitLanes, Isa, Kernel, Lanes};
use crate::record::{Block, Record};
use crate::rng::{Rng, Stream};
use crate::target::Target;
use crate::{Error, Result};

/// Where chains start.
#[derive(Clone)]
pub enum Start {
    /// All chains at the same state.
    Fixed(Vec<f64>),
    /// Chain i of the run at row i.
    PerChain(Vec<Vec<f64>>),
    /// Independent normal coordinates around a state.
    Normal {
        /// Centre.
        mean: Vec<f64>,
        /// Standard deviation of every coordinate.
        sd: f64,
    },
    /// Any function of the seed and the chain's number.
    Function(Arc<dyn Fn(u64, u64) -> Vec<f64> + Send + Sync>),
}

impl std::fmt::Debug for Start {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Start::Fixed(_) => "Fixed",
            Start::PerChain(_) => "PerChain",
            Start::Normal { .. } => "Normal",
            Start::Function(_) => "Function",
        })
    }
}

impl Start {
    /// The initial state of a chain.
    fn state(&self, seed: u64, chain: u64) -> Vec<f64> {
        match self {
            Start::Fixed(theta) => theta.clone(),
            Start::PerChain(rows) => rows[chain as usize].clone(),
            Start::Normal { mean, sd } => {
                let mut rng = Rng::new(seed, chain, Stream::Start);
                mean.iter().map(|m| m + sd * rng.normal()).collect()
            }
            Start::Function(f) => f(seed, chain),
        }
    }
}

/// What to run.
///
/// ```
/// use langevin::chain::{Plan, Start};
/// let plan = Plan::new(1000, 0.01).chains(8).start(Start::Fixed(vec![0.0, 0.0])).seed(7);
/// assert_eq!(plan.n_chains, 8);
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of states of each chain, the initial one included.
    pub n_steps: u64,
    /// Step sizes.
    pub step_size: StepSize,
    /// Number of chains.
    pub n_chains: usize,
    /// Number of the first chain, for runs that are cut into groups of chains.
    pub first_chain: u64,
    /// Score estimator.
    pub gradient: Gradient,
    /// Initial states; the origin if not set.
    pub start: Option<Start>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of threads; all cores if not set.
    pub threads: Option<usize>,
    /// Instruction set; the best there is if not set. Results do not depend on it.
    pub isa: Option<Isa>,
}

impl Plan {
    /// One chain of `n_steps` states at a constant step size, exact gradients, from the origin.
    pub fn new(n_steps: u64, step_size: f64) -> Self {
        Plan {
            n_steps,
            step_size: StepSize::Constant(step_size),
            n_chains: 1,
            first_chain: 0,
            gradient: Gradient::Exact,
            start: None,
            seed: 0,
            threads: None,
            isa: None,
        }
    }

    /// Sets the number of chains.
    pub fn chains(mut self, n: usize) -> Self {
        self.n_chains = n;
        self
    }

    /// Sets the number of the first chain.
    pub fn first_chain(mut self, first: u64) -> Self {
        self.first_chain = first;
        self
    }

    /// Sets the step sizes.
    pub fn step_sizes(mut self, step_size: StepSize) -> Self {
        self.step_size = step_size;
        self
    }

    /// Sets the score estimator.
    pub fn gradient(mut self, gradient: Gradient) -> Self {
        self.gradient = gradient;
        self
    }

    /// Sets the initial states.
    pub fn start(mut self, start: Start) -> Self {
        self.start = Some(start);
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of threads.
    pub fn threads(mut self, n: usize) -> Self {
        self.threads = Some(n);
        self
    }

    /// Sets the instruction set.
    pub fn isa(mut self, isa: Isa) -> Self {
        self.isa = Some(isa);
        self
    }
}

/// How a run is watched and stopped from outside.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Set to stop the run soon.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then with the number of chain-steps done since the last call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Counts the chains that have diverged so far; brought up to date before each call of
    /// `progress`.
    pub divergences: Option<&'a AtomicU64>,
}

impl Control<'_> {
    /// Whether the run is to stop.
    #[inline(always)]
    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|c| c.load(Ordering::Relaxed))
    }
}

/// A chain that left the finite numbers or the support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Number of the chain.
    pub chain: u64,
    /// Number of its first bad state.
    pub step: u64,
}

/// What one group of chains recorded.
#[derive(Clone, Debug)]
pub struct Group<R> {
    /// Number of the chain in lane 0.
    pub first_chain: u64,
    /// Number of lanes in use.
    pub n_chains: usize,
    /// The record.
    pub record: R,
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Outcome<R> {
    /// Groups in the order of their chains.
    pub groups: Vec<Group<R>>,
    /// Chains that diverged, in the order of their numbers.
    pub divergences: Vec<Divergence>,
    /// Whether the run was stopped before its end; records then hold what was done.
    pub cancelled: bool,
}

impl<R> Outcome<R> {
    /// (chain, record, lane) of every chain that did not diverge, in order.
    pub fn healthy(&self) -> impl Iterator<Item = (u64, &R, usize)> {
        self.chains()
            .filter(|(chain, _, _)| self.divergences.iter().all(|d| d.chain != *chain))
    }

    /// (chain, record, lane) of every chain, in order.
    pub fn chains(&self) -> impl Iterator<Item = (u64, &R, usize)> {
        self.groups.iter().flat_map(|group| {
            (0..group.n_chains)
                .map(move |lane| (group.first_chain + lane as u64, &group.record, lane))
        })
    }
}

/// Runs the chains of a plan with the Euler–Maruyama scheme; `record` makes the sink of one group
/// of chains.
///
/// All input is checked before any work starts.
///
/// ```
/// use langevin::chain::{Control, Plan, run};
/// use langevin::dynamics::Dynamics;
/// use langevin::models::NormalParameters;
/// use langevin::chain::Start;
/// use langevin::record::Moments;
///
/// let target = NormalParameters::new((0..30).map(|i| i as f64).collect())?;
/// let plan = Plan::new(2000, 0.1).chains(4).start(Start::Fixed(vec![10.0, 9.0]));
/// let outcome = run(&target, &Dynamics::rm(target.metric()), &plan, || Moments::new(500), Control::default())?;
/// let (_, moments, lane) = outcome.healthy().next().unwrap();
/// assert!((moments.mean(0, lane) - 14.5).abs() < 5.0);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn run<T: Target, M: Metric, R: Record>(
    target: &T,
    dynamics: &Dynamics<M>,
    plan: &Plan,
    record: impl Fn() -> R + Sync,
    control: Control<'_>,
) -> Result<Outcome<R>> {
    let starts = check(target, dynamics, plan)?;
    let integrator = EulerMaruyama::new(dynamics);
    let isa = plan.isa.unwrap_or_else(Isa::detect).min(Isa::detect());
    let work = || {
        groups(plan.n_chains, isa)
            .into_par_iter()
            .map(|(offset, n, width)| {
                let job = Job {
                    target,
                    integrator: &integrator,
                    plan,
                    control,
                    first_chain: plan.first_chain + offset as u64,
                    starts: &starts[offset..offset + n],
                    record: record(),
                };
                isa.run(width, job)
            })
            .collect::<Vec<_>>()
    };
    let done = match plan.threads {
        None => work(),
        Some(n) => rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build()
            .map_err(|e| Error::Threads {
                threads: n,
                reason: e.to_string(),
            })?
            .install(work),
    };
    let mut outcome = Outcome {
        groups: vec![],
        divergences: vec![],
        cancelled: false,
    };
    for (group, divergences, cancelled) in done {
        outcome.groups.push(group);
        outcome.divergences.extend(divergences);
        outcome.cancelled |= cancelled;
    }
    Ok(outcome)
}

/// Cuts chains into groups: (first, number of chains, lanes).
fn groups(n_chains: usize, isa: Isa) -> Vec<(usize, usize, usize)> {
    let mut groups = vec![];
    let mut first = 0;
    while first < n_chains {
        let width = isa.fitting_width(n_chains - first);
        let n = width.min(n_chains - first);
        groups.push((first, n, width));
        first += n;
    }
    groups
}

/// Refuses bad input; returns the initial state of every chain.
fn check<T: Target, M: Metric>(
    target: &T,
    dynamics: &Dynamics<M>,
    plan: &Plan,
) -> Result<Vec<Vec<f64>>> {
    let d = target.dim();
    check_plan(plan, target.n_data())?;
    check::size("the metric", dynamics.dim(), d)?;
    if let Some(gaussian) = target.gaussian()
        && let Some(largest) = dynamics.largest_stable_step(&gaussian.precision)
        && plan.step_size.largest() >= largest
    {
        return Err(Error::UnstableStep {
            step_size: plan.step_size.largest(),
            largest,
        });
    }
    let starts = initial_states(plan, d)?;
    let mut checked: Option<&Vec<f64>> = None;
    for theta in &starts {
        // A start that all chains share is checked once.
        if checked == Some(theta) {
            continue;
        }
        target.check_state(theta)?;
        let b = DMatrix::from_row_slice(d, d, &dense(dynamics.metric(), theta));
        check::positive_definite("the metric at the initial state", &b, d)?;
        checked = Some(theta);
    }
    Ok(starts)
}

/// Refuses a plan that no target with this many data could run.
pub(crate) fn check_plan(plan: &Plan, n_data: usize) -> Result<()> {
    check::at_least("the number of steps", plan.n_steps.min(1) as usize, 1)?;
    check::at_least("the number of chains", plan.n_chains, 1)?;
    check::at_least("the number of threads", plan.threads.unwrap_or(1), 1)?;
    plan.gradient.check(n_data)?;
    plan.step_size.check()
}

/// The initial state of every chain, not yet checked.
pub(crate) fn initial_states(plan: &Plan, dim: usize) -> Result<Vec<Vec<f64>>> {
    if let Some(Start::PerChain(rows)) = &plan.start {
        let needed = plan.first_chain as usize + plan.n_chains;
        check::at_least("the number of initial states", rows.len(), needed)?;
    }
    let origin = Start::Fixed(vec![0.0; dim]);
    let start = plan.start.as_ref().unwrap_or(&origin);
    Ok((0..plan.n_chains as u64)
        .map(|i| start.state(plan.seed, plan.first_chain + i))
        .collect())
}

/// The chains of one pack.
struct Job<'a, T, I, R> {
    target: &'a T,
    integrator: &'a I,
    plan: &'a Plan,
    control: Control<'a>,
    first_chain: u64,
    starts: &'a [Vec<f64>],
    record: R,
}

/// Bytes of states that a block holds: they stay in the first-level cache until recorded.
const BLOCK_BYTES: usize = 12 * 1024;
/// Chain-steps between two calls of the progress function.
const PROGRESS_STEPS: u64 = 1 << 16;

impl<T: Target, I: Integrator, R: Record> Kernel for Job<'_, T, I, R> {
    type Output = (Group<R>, Vec<Divergence>, bool);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        // The same code twice: once the compiler knows the dimension, once it does not.
        if self.target.dim() == T::COMMON_DIM {
            self.run_chains::<L>(T::COMMON_DIM)
        } else {
            let dim = self.target.dim();
            self.run_chains::<L>(dim)
        }
    }
}

impl<T: Target, I: Integrator, R: Record> Job<'_, T, I, R> {
    #[inline(always)]
    fn run_chains<L: Lanes>(mut self, d: usize) -> (Group<R>, Vec<Divergence>, bool) {
        let plan = self.plan;
        let n_noise = self.integrator.n_noise();
        let mut batches = BatchSampler::new(plan.gradient, self.target.n_data());
        let batch_size = batches.as_ref().map_or(0, |b| b.batch_size());
        // An even number of steps, so that blocks take normal numbers in whole pairs.
        let block_len = (BLOCK_BYTES / (d.max(n_noise) * size_of::<L>())).clamp(4, 128) & !1;

        let mut theta = pack_states::<L>(self.starts);
        let theta = &mut theta[..d];
        let mut noise_rng = Rng::<L>::for_chains(plan.seed, self.first_chain, Stream::Noise);
        let mut batch_rng = Rng::<L>::for_chains(plan.seed, self.first_chain, Stream::Batch);
        let mut states = vec![L::zero(); block_len * d];
        let mut noise = vec![L::zero(); block_len * n_noise];
        let mut rows = vec![L::Bits::of(0); block_len * batch_size];
        let mut sizes = vec![0.0; block_len];
        let mut scratch = vec![L::zero(); self.integrator.scratch_len()];
        let mut target_scratch = vec![L::zero(); self.target.scratch_len()];
        let mut watch = Watch::new(self.starts.len());

        let varying = matches!(plan.step_size, StepSize::Decreasing { .. });
        let mut step = 0;
        let mut cancelled = false;
        while step < plan.n_steps && !watch.all_stopped() {
            if self.control.cancelled() {
                cancelled = true;
                break;
            }
            let n = (plan.n_steps - step).min(block_len as u64) as usize;
            noise_rng.fill_normals(&mut noise);
            if let Some(batches) = &mut batches {
                batches.fill::<L>(&mut batch_rng, &mut rows);
            }
            if varying || step == 0 {
                for (i, h) in sizes.iter_mut().enumerate() {
                    *h = plan.step_size.at(step + i as u64);
                }
            }
            for i in 0..n {
                for c in 0..d {
                    states[i * d + c] = theta[c];
                }
                let mut score = TargetScore {
                    target: self.target,
                    rows: &rows[i * batch_size..(i + 1) * batch_size],
                    scratch: &mut target_scratch,
                };
                let xi = &noise[i * n_noise..(i + 1) * n_noise];
                self.integrator
                    .step(theta, &mut score, sizes[i], xi, &mut scratch);
            }
            let positive = self.target.positive_coordinates();
            watch.inspect(&mut states[..n * d], d, positive, step, theta);
            self.record.push(&Block {
                first_step: step,
                dim: d,
                states: &states[..n * d],
                step_sizes: varying.then_some(&sizes[..n]),
            });
            step += n as u64;
            watch.report(&self.control, n as u64 * self.starts.len() as u64, false);
        }
        watch.report(&self.control, 0, true);
        let divergences = watch.divergences(self.first_chain);
        let group = Group {
            first_chain: self.first_chain,
            n_chains: self.starts.len(),
            record: self.record,
        };
        (group, divergences, cancelled)
    }
}

/// The score of a target: from the given rows, or from all data where there are none. (A struct
/// and not a closure, because only functions can be marked to be inlined.)
struct TargetScore<'a, T, L: Lanes> {
    target: &'a T,
    rows: &'a [L::Bits],
    scratch: &'a mut [L],
}

impl<T: Target, L: Lanes> Score<L> for TargetScore<'_, T, L> {
    #[inline(always)]
    fn score(&mut self, theta: &[L], out: &mut [L]) {
        if self.rows.is_empty() {
            self.target.score(theta, self.scratch, out);
        } else {
            self.target
                .minibatch_score(theta, self.rows, self.scratch, out);
        }
    }
}

/// States of chains in lanes; spare lanes repeat the last chain.
pub(crate) fn pack_states<L: Lanes>(states: &[Vec<f64>]) -> Vec<L> {
    let mut lanes = [0.0; 16];
    (0..states[0].len())
        .map(|i| {
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = states[lane.min(states.len() - 1)][i];
            }
            L::load(&lanes)
        })
        .collect()
}

/// Keeps an eye on divergences and on progress.
pub(crate) struct Watch {
    /// First bad state of each chain.
    stopped: Vec<Option<u64>>,
    unreported: u64,
    counted: u64,
}

impl Watch {
    pub(crate) fn new(n_chains: usize) -> Self {
        Watch {
            stopped: vec![None; n_chains],
            unreported: 0,
            counted: 0,
        }
    }

    pub(crate) fn all_stopped(&self) -> bool {
        self.stopped.iter().all(Option::is_some)
    }

    pub(crate) fn divergences(&self, first_chain: u64) -> Vec<Divergence> {
        let step = self.stopped.iter().enumerate();
        step.filter_map(|(lane, step)| {
            step.map(|step| Divergence {
                chain: first_chain + lane as u64,
                step,
            })
        })
        .collect()
    }

    pub(crate) fn report(&mut self, control: &Control<'_>, steps: u64, last: bool) {
        self.unreported += steps;
        if let Some(divergences) = control.divergences {
            let stopped = self.stopped.iter().flatten().count() as u64;
            divergences.fetch_add(stopped - self.counted, Ordering::Relaxed);
            self.counted = stopped;
        }
        if let Some(progress) = control.progress
            && (last || self.unreported >= PROGRESS_STEPS)
        {
            progress(self.unreported);
            self.unreported = 0;
        }
    }

    /// Looks for states that are not finite or not in the support. A quick look at the whole
    /// block settles the usual case.
    #[inline(always)]
    pub(crate) fn inspect<L: Lanes>(
        &mut self,
        states: &mut [L],
        d: usize,
        positive: &[usize],
        first_step: u64,
        theta: &mut [L],
    ) {
        // x·0 is NaN for every x that is not finite, and NaN stays in the sum.
        let mut zeros = [L::zero(); 4];
        for chunk in states.chunks(4) {
            for (x, zero) in chunk.iter().zip(&mut zeros) {
                *zero = x.mul_add(L::zero(), *zero);
            }
        }
        let zero = (zeros[0] + zeros[1]) + (zeros[2] + zeros[3]);
        let mut good = zero.all_finite() || self.only_stopped_are_bad(zero);
        for &i in positive {
            let mut smallest = L::of(f64::INFINITY);
            for state in states.chunks_exact(d) {
                smallest = L::if_less(state[i], smallest, state[i], smallest);
            }
            good &= smallest.all_positive();
        }
        if !good {
            self.stop_bad_chains(states, d, positive, first_step, theta);
        }
    }

    /// A stopped chain is NaN for ever, and spare lanes do not matter.
    fn only_stopped_are_bad<L: Lanes>(&self, zero: L) -> bool {
        let mut lanes = [0.0; 16];
        zero.store(&mut lanes);
        let mut chains = self.stopped.iter().zip(lanes);
        chains.all(|(stopped, zero)| stopped.is_some() || zero == 0.0)
    }

    /// Finds the first bad state of each chain and makes everything from there on NaN.
    fn stop_bad_chains<L: Lanes>(
        &mut self,
        states: &mut [L],
        d: usize,
        positive: &[usize],
        first_step: u64,
        theta: &mut [L],
    ) {
        let mut lanes = vec![0.0; d * 16];
        let mut poison = [false; 16];
        for (lane, stopped) in self.stopped.iter().enumerate() {
            poison[lane] = stopped.is_some();
        }
        for (i, state) in states.chunks_exact_mut(d).enumerate() {
            for (pack, lanes) in state.iter().zip(lanes.chunks_exact_mut(16)) {
                pack.store(lanes);
            }
            for (lane, stopped) in self.stopped.iter_mut().enumerate() {
                let value = |c: usize| lanes[c * 16 + lane];
                let bad = (0..d).any(|c| !value(c).is_finite())
                    || positive.iter().any(|c| value(*c) <= 0.0);
                if bad && stopped.is_none() {
                    *stopped = Some(first_step + i as u64);
                    poison[lane] = true;
                }
            }
            poison_lanes(state, &poison);
        }
        poison_lanes(theta, &poison);
    }
}

/// Overwrites the given lanes by NaN.
fn poison_lanes<L: Lanes>(packs: &mut [L], poison: &[bool; 16]) {
    let mut lanes = [0.0; 16];
    for pack in packs {
        pack.store(&mut lanes);
        for (value, poison) in lanes.iter_mut().zip(poison) {
            if *poison {
                *value = f64::NAN;
            }
        }
        *pack = L::load(&lanes);
    }
}
