//! Many chains over lanes and threads.
//!
//! A chain's states depend on the seed, the run and the chain's number only: not on how chains are
//! grouped into lanes, on the number of threads or on the instruction set.

mod job;
mod plan;
mod watch;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nalgebra::DMatrix;
use rayon::prelude::*;

pub(crate) use job::pack_states;
pub use plan::{Plan, Start};
pub(crate) use plan::{check_plan, initial_states};
pub(crate) use watch::Watch;

use crate::check;
use crate::dynamics::Dynamics;
use crate::integrator::EulerMaruyama;
use crate::metric::{Metric, dense};
use crate::real::Isa;
use crate::record::Record;
use crate::target::Target;
use crate::{Error, Result};
use job::Job;

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
