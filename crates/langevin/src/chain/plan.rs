//! What to run: chains, steps, step sizes, gradients, initial states.

use std::sync::Arc;

use crate::real::Isa;
use crate::rng::{Rng, Stream};
use crate::transition::StepSize;
use crate::{Result, check};

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
    /// One chain of `n_steps` states at a constant step size, from the origin.
    pub fn new(n_steps: u64, step_size: f64) -> Self {
        Plan {
            n_steps,
            step_size: StepSize::Constant(step_size),
            n_chains: 1,
            first_chain: 0,
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

/// Refuses a plan that no target could run.
pub(crate) fn check_plan(plan: &Plan) -> Result<()> {
    check::at_least("the number of steps", plan.n_steps.min(1) as usize, 1)?;
    check::at_least("the number of chains", plan.n_chains, 1)?;
    check::at_least("the number of threads", plan.threads.unwrap_or(1), 1)?;
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
