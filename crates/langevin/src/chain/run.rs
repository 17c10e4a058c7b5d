//! A whole run of Euler–Maruyama by one call.

use nalgebra::DMatrix;

use super::advance::{Advanced, How};
use super::plan::{Plan, check_plan, initial_states};
use super::records::{Group, Records, chains_of};
use super::{Chains, Control, Escape};
use crate::dynamics::Dynamics;
use crate::metric::{Metric, dense};
use crate::oracle::{Oracle, distinct};
use crate::record::Record;
use crate::transition::EulerMaruyama;
use crate::{Error, Result, RunError, check};

/// What came out of a run.
#[derive(Debug)]
pub struct Outcome<R> {
    /// One record per group, in the order of the chains.
    pub groups: Vec<Group<R>>,
    /// Chains that left the finite numbers or the support.
    pub escapes: Vec<Escape>,
    /// Whether the run was stopped before its end; records then hold what was done.
    pub cancelled: bool,
}

impl<R> Outcome<R> {
    /// What records hold after their chains have advanced.
    pub(crate) fn new(records: Records<R>, chains: &Chains, done: Advanced) -> Self {
        let groups = records.into_groups();
        match done {
            Advanced::Done => Outcome {
                groups,
                escapes: chains.escapes().collect(),
                cancelled: false,
            },
            Advanced::Cancelled(escapes) => Outcome {
                groups,
                escapes,
                cancelled: true,
            },
        }
    }

    /// (chain, record, lane) of every chain that did not escape, in order.
    pub fn healthy(&self) -> impl Iterator<Item = (u64, &R, usize)> {
        self.chains()
            .filter(|(chain, _, _)| self.escapes.iter().all(|e| e.chain != *chain))
    }

    /// (chain, record, lane) of every chain, in order.
    pub fn chains(&self) -> impl Iterator<Item = (u64, &R, usize)> {
        chains_of(&self.groups)
    }
}

/// Runs the chains of a plan with the Euler–Maruyama scheme; `record` makes the record of one group
/// of chains.
///
/// All input is checked before any work starts.
///
/// ```
/// use langevin::batch::Gradient;
/// use langevin::chain::{Control, Plan, Start, run};
/// use langevin::dynamics::Dynamics;
/// use langevin::models::NormalParameters;
/// use langevin::oracle::Minibatch;
/// use langevin::record::Moments;
///
/// let target = NormalParameters::new((0..30).map(f64::from).collect())?;
/// let oracle = Minibatch::<_>::new(&target, Gradient::minibatch(6))?;
/// let dynamics = Dynamics::rm(target.natural());
/// let plan = Plan::new(2000, 0.1).chains(4).start(Start::Fixed(vec![10.0, 9.0]));
/// let outcome = run(&oracle, &dynamics, &plan, || Moments::new(500), Control::default())?;
/// let (_, moments, lane) = outcome.healthy().next().unwrap();
/// assert!((moments.mean(0, lane) - 14.5).abs() < 5.0);
/// # Ok::<(), langevin::chain::RunError>(())
/// ```
pub fn run<O: Oracle, M: Metric, R: Record>(
    oracle: &O,
    dynamics: &Dynamics<M>,
    plan: &Plan,
    record: impl Fn() -> R,
    control: Control<'_>,
) -> std::result::Result<Outcome<R>, RunError> {
    let euler = EulerMaruyama::<M>::new(dynamics, plan.step_size)?;
    let starts = euler_starts(oracle, dynamics, plan)?;
    let mut chains = Chains::new(plan.seed, plan.first_chain, starts)?;
    let mut records = Records::new(&chains, oracle, record);
    let how = How {
        threads: plan.threads,
        isa: plan.isa,
        control,
    };
    let done = chains.advance(oracle, &euler, plan.n_steps, &mut records, &how)?;
    Ok(Outcome::new(records, &chains, done))
}

/// The initial states of Euler–Maruyama chains, after all input has been checked.
pub(crate) fn euler_starts<M: Metric>(
    oracle: &dyn Oracle,
    dynamics: &Dynamics<M>,
    plan: &Plan,
) -> std::result::Result<Vec<Vec<f64>>, RunError> {
    let stable = |precision: &DMatrix<f64>| dynamics.largest_stable_step(precision);
    let starts = check_euler(oracle, dynamics.dim(), &stable, plan)?;
    check_metric(dynamics.metric(), &starts)?;
    Ok(starts)
}

/// Refuses bad input, metrics aside; returns the initial state of every chain. On a Gaussian target
/// of a given precision there may be a largest stable step.
pub(crate) fn check_euler(
    oracle: &dyn Oracle,
    dim: usize,
    largest_stable_step: &dyn Fn(&DMatrix<f64>) -> Option<f64>,
    plan: &Plan,
) -> std::result::Result<Vec<Vec<f64>>, RunError> {
    let d = oracle.dim();
    check_plan(plan)?;
    check::at_least("the number of coordinates", d, 1)?;
    check::size("the metric", dim, d)?;
    if let Some(gaussian) = oracle.gaussian()
        && let Some(largest) = largest_stable_step(&gaussian.precision)
        && plan.step_size.largest() >= largest
    {
        let step_size = plan.step_size.largest();
        return Err(Error::UnstableStep { step_size, largest }.into());
    }
    let starts = initial_states(plan, d)?;
    oracle.check_starts(plan.first_chain, &starts)?;
    Ok(starts)
}

/// The initial states of a plan, none of them checked by the target; refuses a plan that no target
/// could run, and a metric that is not symmetric positive definite at one of the states.
pub(crate) fn plan_starts<M: Metric>(plan: &Plan, metric: &M) -> Result<Vec<Vec<f64>>> {
    check_plan(plan)?;
    let starts = initial_states(plan, metric.dim())?;
    for theta in distinct(&starts) {
        check::size("the initial state", theta.len(), metric.dim())?;
    }
    check_metric(metric, &starts)?;
    Ok(starts)
}

/// Refuses a metric that is not symmetric positive definite at one of the initial states.
fn check_metric<M: Metric>(metric: &M, starts: &[Vec<f64>]) -> Result<()> {
    let d = metric.dim();
    for theta in distinct(starts) {
        let b = DMatrix::from_row_slice(d, d, &dense(metric, theta));
        check::positive_definite("the metric at the initial state", &b, d)?;
    }
    Ok(())
}
