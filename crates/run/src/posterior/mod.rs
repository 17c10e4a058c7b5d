//! Draws of a posterior without choices: warm-up, draws until they are precise enough, and an honest
//! word about them.
//!
//! After a warm-up nothing is tuned any more. Draws come in looks, each of which makes the run longer
//! by a factor, so that the rule does not select lucky moments; a look and the warm-up are units of
//! work like others, found again where they were saved.

mod check;
mod kept;
mod look;
mod run;
mod save;

use std::time::Duration;

use langevin::adapt::Report;
use langevin::chain::Control;
use langevin::transition::Hamiltonian;

use crate::units::UnitCache;

pub use kept::Kept;
pub use look::Judged;
pub use run::draw;
pub use save::SaveError;

/// What is asked for; nothing has to be.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Number of chains; as the target suggests if not given.
    pub n_chains: Option<usize>,
    /// Initial states as θ, one for each chain.
    pub starts: Option<Vec<Vec<f64>>>,
    /// Seed.
    pub seed: u64,
    /// Effective draws for means, quantiles and standard deviations of all parameters.
    pub min_ess: Option<f64>,
    /// Exactly so many draws of each chain, however precise they are.
    pub n_draws: Option<u64>,
    /// Most iterations of the warm-up.
    pub tune: Option<u64>,
    /// Mean acceptance.
    pub target_accept: Option<f64>,
    /// Most time for everything.
    pub max_time: Duration,
    /// Most gradients of all chains together.
    pub max_gradients: u64,
    /// Whether density and score of own code are compared at a few points first.
    pub check: bool,
    /// Names of the numbers that people see, where the target does not know them.
    pub names: Option<Vec<String>>,
}

impl Wanted {
    /// Everything by itself, with a patient budget: ten minutes and 10¹⁰ gradients.
    pub fn new(seed: u64) -> Self {
        Wanted {
            n_chains: None,
            starts: None,
            seed,
            min_ess: None,
            n_draws: None,
            tune: None,
            target_accept: None,
            max_time: Duration::from_secs(600),
            max_gradients: 10_000_000_000,
            check: true,
            names: None,
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Whether it is still being tuned.
    pub warming_up: bool,
    /// Gradients of all chains so far.
    pub gradients: u64,
    /// Draws of each chain so far.
    pub n_draws: u64,
    /// Effective draws at the last look, where there is such a thing.
    pub ess: Option<f64>,
    /// Effective draws that are wanted; none where a number of draws is.
    pub wanted: Option<f64>,
    /// Largest nested R-hat at the last look.
    pub rhat: Option<f64>,
    /// Time since the beginning.
    pub seconds: f64,
    /// Time that is left, as far as is known.
    pub left: Option<f64>,
}

/// How it is run; draws do not depend on it, but a budget of time may end them sooner.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Where finished work is kept, if it is.
    pub cache: Option<&'a UnitCache>,
    /// Number of threads.
    pub threads: usize,
    /// How it is stopped, and told of chain-steps.
    pub control: Control<'a>,
    /// Told now and then how far it is.
    pub tell: Option<&'a (dyn Fn(&Status) + Sync)>,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The draws are as precise as was wanted.
    Precise,
    /// As many draws as were wanted.
    Draws,
    /// Means and quantiles are precise, and standard deviations will not be: a tail is too heavy.
    HeavyTails,
    /// Its time was over.
    Time,
    /// So many gradients were evaluated.
    Gradients,
    /// It was asked to stop.
    Interrupted,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Gradients of all chains in the warm-up.
    pub warm_up_gradients: u64,
    /// Gradients of all chains in the draws.
    pub gradients: u64,
    /// Seconds of the warm-up.
    pub warm_up_seconds: f64,
    /// Seconds of the draws.
    pub seconds: f64,
    /// Seconds of looking at them.
    pub looking_seconds: f64,
}

/// Draws of a posterior, and what they are worth.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The draws.
    pub kept: Kept,
    /// What they are worth, and what speaks against them.
    pub judged: Judged,
    /// Why there are not more.
    pub why: Why,
    /// Effective draws that were wanted, where they were.
    pub wanted: Option<f64>,
    /// What the warm-up went through.
    pub warm_up: Report,
    /// The transition.
    pub tuned: Hamiltonian,
    /// What it cost.
    pub costs: Costs,
}
