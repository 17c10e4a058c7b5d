//! Euler–Maruyama with a metric that the oracle gives.

use super::Given;
use crate::Result;
use crate::dynamics::Dynamics;
use crate::metric::Metric;
use crate::real::Lanes;
use crate::transition::{EulerMaruyama, Needs, Next, Sizes, State, StepKey, StepSize, Transition};

/// The Euler–Maruyama scheme for dynamics whose metric is foreign.
#[derive(Clone, Debug)]
pub struct GivenEuler<'a>(EulerMaruyama<'a, Given>);

impl<'a> GivenEuler<'a> {
    /// The scheme for the given dynamics.
    pub fn new(dynamics: &'a Dynamics<Given>, step_size: StepSize) -> Result<Self> {
        Ok(GivenEuler(EulerMaruyama::new(dynamics, step_size)?))
    }
}

impl Transition for GivenEuler<'_> {
    type Shared = f64;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// The metric works where it is given.
    fn sizes(&self) -> Sizes {
        Sizes {
            normals: self.0.dynamics().metric().n_noise(),
            scratch: self.0.own_scratch(),
            ..Sizes::default()
        }
    }

    fn needs(&self) -> Needs {
        Needs::Score
    }

    fn shared(&self, key: StepKey) -> f64 {
        self.0.shared(key)
    }

    fn weight(&self, h: &f64) -> Option<f64> {
        self.0.weight(h)
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, _h: &f64, _z: &mut State<'_, L>) -> Next {
        Next::Evaluate
    }

    #[inline(always)]
    fn resume<L: Lanes>(&self, _stage: usize, h: &f64, z: &mut State<'_, L>) -> Next {
        self.0
            .step(z.theta, z.score, *h, z.normals, z.scratch, z.given);
        Next::Done
    }
}
