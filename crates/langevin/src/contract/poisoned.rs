//! A transition whose scratch space holds no numbers.

use crate::real::Lanes;
use crate::transition::{Needs, Next, Sizes, State, StateScore, StepKey, Transition};

/// A transition that finds no numbers in its scratch space when it begins.
pub(super) struct Poisoned<'a, X>(pub &'a X);

impl<X: Transition> Transition for Poisoned<'_, X> {
    type Shared = X::Shared;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn sizes(&self) -> Sizes {
        self.0.sizes()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn shared(&self, key: StepKey) -> X::Shared {
        self.0.shared(key)
    }

    fn state_score(&self) -> StateScore {
        self.0.state_score()
    }

    fn reports(&self) -> bool {
        self.0.reports()
    }

    fn starts_with_evaluation(&self) -> bool {
        self.0.starts_with_evaluation()
    }

    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        z.scratch.fill(L::of(f64::NAN));
        self.0.start(z);
    }

    fn weight(&self, shared: &X::Shared) -> Option<f64> {
        self.0.weight(shared)
    }

    fn begin<L: Lanes>(&self, shared: &X::Shared, z: &mut State<'_, L>) -> Next {
        z.scratch.fill(L::of(f64::NAN));
        z.score.fill(L::of(f64::NAN));
        z.log_density = L::of(f64::NAN);
        self.0.begin(shared, z)
    }

    fn resume<L: Lanes>(&self, stage: usize, shared: &X::Shared, z: &mut State<'_, L>) -> Next {
        self.0.resume(stage, shared, z)
    }
}
