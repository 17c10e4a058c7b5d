//! From a target to a chain: one step, told in stages between evaluations of log π and its score.
//!
//! A transition is one file. It says what it needs of each step ([`Sizes`]), begins, and is resumed
//! after each evaluation until it is [done](Next::Done). It never asks for an evaluation itself:
//! whoever drives it does, for one pack of chains or for thousands of chains with one call of foreign
//! code, and the stages are the same.
//!
//! A transition's value is its tuning (step size, metric, momentum kept): another value takes over
//! between two calls of [`Chains::advance`](crate::chain::Chains::advance), never in between.

mod coupled_euler;
mod euler;
mod hamiltonian;
mod leap;
mod leimkuhler_matthews;
mod mala;
mod step_size;

pub use coupled_euler::CoupledEuler;
pub use euler::EulerMaruyama;
pub use hamiltonian::Hamiltonian;
pub use leap::{Course, Integrator};
pub use leimkuhler_matthews::LeimkuhlerMatthews;
pub use mala::Mala;
pub use step_size::StepSize;

use crate::real::{Lanes, Real};
use crate::rng::{Rng, Stream};

/// What a transition takes of every step, for each chain. It never changes while a chain runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Sizes {
    /// Standard normal numbers; as many are there when it [starts](Transition::start).
    pub normals: usize,
    /// Uniform numbers in (0, 1).
    pub uniforms: usize,
    /// Numbers that it finds again at the next step.
    pub carried: usize,
    /// Numbers that it finds again at the next stage of the same step; of any value when it begins.
    pub scratch: usize,
}

/// What a transition asks of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// ∇ log π, which may be estimated from a minibatch. A chain that leaves the finite numbers or
    /// the support ends there.
    Score,
    /// log π and ∇ log π, exact. Outside of the support log π is −∞ and the score 0; a state from
    /// which no chain could go on is never left where it was reached, it is rejected.
    Density,
}

/// Where the score of the state that a step begins from is found, for those who record scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateScore {
    /// It is what the first evaluation of the step gives.
    FirstEvaluation,
    /// It is carried, from this entry on.
    Carried(usize),
}

/// What comes after a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// log π and score at [`State::theta`] are wanted.
    Evaluate,
    /// The step is over, and `theta` is the new state.
    Done,
}

/// What a transition tells about the state that it has reached, and about the step that led there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report<L> {
    /// log π of the state; NaN where the transition does not know it.
    pub log_density: L,
    /// Probability with which the proposal was accepted.
    pub acceptance: L,
    /// Error of the energy, −log of the Metropolis ratio.
    pub energy_error: L,
}

impl<L: Lanes> Report<L> {
    /// Of a state with the given log π, after a proposal with the given log of its Metropolis ratio.
    #[inline(always)]
    pub fn adjusted(log_density: L, log_ratio: L) -> Self {
        // min(1, e^x), and 0 where x is −∞ or not a number.
        let at_most_one = log_ratio.smaller(L::zero());
        let probability = Real::exp(at_most_one);
        Report {
            log_density,
            acceptance: L::if_less(L::of(-700.0), at_most_one, probability, L::zero()),
            energy_error: -log_ratio,
        }
    }
}

impl<L: Lanes> Default for Report<L> {
    fn default() -> Self {
        Report {
            log_density: L::of(f64::NAN),
            acceptance: L::one(),
            energy_error: L::zero(),
        }
    }
}

/// What is the same at every step of a transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves {
    pub name: &'static str,
    pub dim: usize,
    pub sizes: Sizes,
    pub needs: Needs,
    pub reports: bool,
}

impl Moves {
    pub fn of<X: Transition>(transition: &X) -> Self {
        Moves {
            name: transition.name(),
            dim: transition.dim(),
            sizes: transition.sizes(),
            needs: transition.needs(),
            reports: transition.reports(),
        }
    }
}

/// The number of a step, and random numbers that all chains share there.
#[derive(Clone, Copy, Debug)]
pub struct StepKey {
    /// Number of the step.
    pub step: u64,
    pub(crate) seed: u64,
}

impl StepKey {
    /// The key of a step, for those who take steps by hand.
    pub fn new(seed: u64, step: u64) -> Self {
        StepKey { step, seed }
    }

    /// A generator that depends on the seed and the step alone.
    pub fn rng(&self) -> Rng<f64> {
        Rng::new(self.seed, self.step, Stream::Shared)
    }
}

/// The chains of a pack in the middle of a step.
pub struct State<'a, L> {
    /// The state; after [`Next::Evaluate`] the point at which log π and score are wanted.
    pub theta: &'a mut [L],
    /// log π at `theta`, as the last evaluation of this step gave it.
    pub log_density: L,
    /// ∇ log π at `theta`, as the last evaluation of this step gave it.
    pub score: &'a mut [L],
    /// What the transition found worth keeping at the last step.
    pub carried: &'a mut [L],
    /// Standard normal numbers of this step.
    pub normals: &'a [L],
    /// Uniform numbers of this step.
    pub uniforms: &'a [L],
    /// Space to work in.
    pub scratch: &'a mut [L],
    /// What the oracle gave beyond log π and score, such as the metric of a foreign target.
    pub given: &'a mut [L],
    /// What is told about the state.
    pub report: &'a mut Report<L>,
}

/// One step of a Markov chain.
///
/// ```
/// use langevin::real::{Lanes, Real};
/// use langevin::transition::{Needs, Next, Sizes, State, StepKey, Transition};
///
/// /// θ ← θ + h ∇log π + sqrt(2h) ξ.
/// struct Plain {
///     dim: usize,
///     h: f64,
/// }
/// impl Transition for Plain {
///     type Shared = ();
///     fn name(&self) -> &'static str {
///         "plain"
///     }
///     fn dim(&self) -> usize {
///         self.dim
///     }
///     fn sizes(&self) -> Sizes {
///         Sizes { normals: self.dim, ..Sizes::default() }
///     }
///     fn needs(&self) -> Needs {
///         Needs::Score
///     }
///     fn shared(&self, _: StepKey) {}
///     #[inline(always)]
///     fn begin<L: Lanes>(&self, _: &(), _: &mut State<'_, L>) -> Next {
///         Next::Evaluate
///     }
///     #[inline(always)]
///     fn resume<L: Lanes>(&self, _stage: usize, _: &(), z: &mut State<'_, L>) -> Next {
///         let spread = L::of((2.0 * self.h).sqrt());
///         for i in 0..self.dim {
///             let noise = z.normals[i].mul_add(spread, z.theta[i]);
///             z.theta[i] = z.score[i].mul_add(L::of(self.h), noise);
///         }
///         Next::Done
///     }
/// }
/// # let _ = Plain { dim: 1, h: 0.1 };
/// ```
pub trait Transition: Sync {
    /// What all chains of a step have in common: its step size, a jittered angle, a number of leaps.
    type Shared: Copy + Send + Sync;

    /// Its name: chains that go on with a transition of another name start it anew.
    fn name(&self) -> &'static str;

    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// What it takes of every step.
    fn sizes(&self) -> Sizes;

    /// What it asks of evaluations.
    fn needs(&self) -> Needs;

    /// What the chains of a step share.
    fn shared(&self, key: StepKey) -> Self::Shared;

    /// Where the score of a state is found.
    fn state_score(&self) -> StateScore {
        StateScore::FirstEvaluation
    }

    /// Whether it tells log π, acceptance and energy error of its states: as a rule if it knows log π.
    fn reports(&self) -> bool {
        self.needs() == Needs::Density
    }

    /// Whether [`start`](Self::start) needs an evaluation at the initial state: as a rule if it
    /// compares densities.
    fn starts_with_evaluation(&self) -> bool {
        self.needs() == Needs::Density
    }

    /// Fills in what is carried (0 until then), before the first step of a chain.
    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        let _ = z;
    }

    /// The weight of a state in averages over time, where weights differ.
    fn weight(&self, shared: &Self::Shared) -> Option<f64> {
        let _ = shared;
        None
    }

    /// The first stage of a step. What comes next is the same for all chains: it may depend on what
    /// they share, not on their states.
    fn begin<L: Lanes>(&self, shared: &Self::Shared, z: &mut State<'_, L>) -> Next;

    /// The stage after evaluation number `stage` (from 0) of the step.
    fn resume<L: Lanes>(&self, stage: usize, shared: &Self::Shared, z: &mut State<'_, L>) -> Next;
}
