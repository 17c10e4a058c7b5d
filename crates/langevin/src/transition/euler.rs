//! The Euler–Maruyama scheme, for every dynamics.

use super::{Needs, Next, Sizes, State, StepKey, StepSize, Transition};
use crate::dynamics::Dynamics;
use crate::linalg::{mat_vec, row_major};
use crate::metric::Metric;
use crate::real::Lanes;
use crate::skew::Skew;
use crate::{Result, check};

/// The Euler–Maruyama scheme: θ ← θ + h·drift(θ) + sqrt(2βh)·S(θ) ξ, with S Sᵀ = B.
///
/// With `D` above 0 the compiler knows the number of coordinates.
#[derive(Clone, Debug)]
pub struct EulerMaruyama<'a, M, const D: usize = 0> {
    dynamics: &'a Dynamics<M>,
    step_size: StepSize,
    drift: Drift,
}

/// The vectors between score and drift are variables for states of no more coordinates, which the
/// compiler can keep in registers.
const IN_REGISTERS: usize = 4;

/// How the drift is computed, decided once.
#[derive(Clone, Debug)]
enum Drift {
    /// β ∇log π: plain Langevin dynamics.
    Plain,
    /// R ∇log π with the constant matrix R = βB + C.
    Matrix(Vec<f64>),
    /// State-dependent B, with C = 0, J or ½(JB + BJ).
    Fields,
}

impl<'a, M: Metric, const D: usize> EulerMaruyama<'a, M, D> {
    /// The scheme for the given dynamics, which have `D` coordinates if that is not 0.
    pub fn new(dynamics: &'a Dynamics<M>, step_size: StepSize) -> Result<Self> {
        step_size.check()?;
        if D > 0 {
            check::size("the dynamics", dynamics.dim(), D)?;
        }
        let plain = *dynamics.skew() == Skew::None
            && dynamics
                .metric()
                .constant()
                .is_some_and(|b| b.is_identity());
        let drift = match dynamics.constant_fields() {
            Some(_) if plain => Drift::Plain,
            Some((b, c)) => Drift::Matrix(row_major(&(b * dynamics.beta() + c))),
            None => Drift::Fields,
        };
        Ok(EulerMaruyama {
            dynamics,
            step_size,
            drift,
        })
    }

    /// The dynamics.
    pub fn dynamics(&self) -> &'a Dynamics<M> {
        self.dynamics
    }

    /// Scratch entries beside those of the metric.
    pub(crate) fn own_scratch(&self) -> usize {
        self.dynamics.dim() + self.dynamics.scratch_len()
    }

    /// Moves `theta` by a step of size h, given the score there. `own` has
    /// [`own_scratch`](Self::own_scratch) entries, `shared` belongs to the metric.
    #[inline(always)]
    pub(crate) fn step<L: Lanes>(
        &self,
        theta: &mut [L],
        s: &mut [L],
        h: f64,
        xi: &[L],
        own: &mut [L],
        shared: &mut [L],
    ) {
        let d = theta.len();
        let beta = self.dynamics.beta();
        let metric = self.dynamics.metric();
        let spread = L::of((2.0 * beta * h).sqrt());
        if let Drift::Plain = self.drift {
            let rate = L::of(h * beta);
            // What waits for the score comes last.
            for i in 0..d {
                theta[i] = s[i].mul_add(rate, xi[i].mul_add(spread, theta[i]));
            }
            return;
        }
        let mut variables = [L::zero(); 5 * IN_REGISTERS];
        let own = if d <= IN_REGISTERS {
            &mut variables
        } else {
            own
        };
        let (drift, own) = own.split_at_mut(d);
        match &self.drift {
            Drift::Matrix(r) => mat_vec(r, s, drift),
            _ => {
                let mut point = self.dynamics.at(theta, s, shared, own);
                self.dynamics.reversible(&point, drift);
                self.dynamics.add_skew(&mut point, drift);
            }
        }
        // The score is no longer needed: its space takes the noise.
        metric.sqrt_apply(theta, shared, xi, s);
        let rate = L::of(h);
        for i in 0..d {
            theta[i] = drift[i].mul_add(rate, s[i].mul_add(spread, theta[i]));
        }
    }
}

impl<M: Metric, const D: usize> Transition for EulerMaruyama<'_, M, D> {
    /// The step size h.
    type Shared = f64;

    fn name(&self) -> &'static str {
        "euler-maruyama"
    }

    fn dim(&self) -> usize {
        self.dynamics.dim()
    }

    fn sizes(&self) -> Sizes {
        let metric = self.dynamics.metric();
        Sizes {
            normals: metric.n_noise(),
            scratch: self.own_scratch() + metric.scratch_len(),
            ..Sizes::default()
        }
    }

    fn needs(&self) -> Needs {
        Needs::Score
    }

    #[inline(always)]
    fn shared(&self, key: StepKey) -> f64 {
        self.step_size.at(key.step)
    }

    fn weight(&self, h: &f64) -> Option<f64> {
        match self.step_size {
            StepSize::Constant(_) => None,
            StepSize::Decreasing { .. } => Some(*h),
        }
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, _h: &f64, _z: &mut State<'_, L>) -> Next {
        Next::Evaluate
    }

    #[inline(always)]
    fn resume<L: Lanes>(&self, _stage: usize, h: &f64, z: &mut State<'_, L>) -> Next {
        let d = if D > 0 { D } else { z.theta.len() };
        let (own, shared) = z.scratch.split_at_mut(self.own_scratch());
        let (theta, score) = (&mut z.theta[..d], &mut z.score[..d]);
        self.step(theta, score, *h, z.normals, own, shared);
        Next::Done
    }
}
