//! Euler–Maruyama chains of two step sizes that share their noise.

use std::f64::consts::FRAC_1_SQRT_2;

use super::{EulerMaruyama, Needs, Next, Sizes, State, StepKey, StepSize, Transition};
use crate::Result;
use crate::dynamics::Dynamics;
use crate::metric::Metric;
use crate::real::Lanes;

/// A chain with step size ½h and one with h, in a state of twice the coordinates: fine, coarse.
///
/// A step is one of the fine chain, with noise ξ. The coarse chain moves at every second one, from the
/// score that it saw at the first, with noise (ξ₁ + ξ₂)/√2: each of the two chains has the law of
/// Euler–Maruyama by itself, with minibatches too, and they stay close to each other. At even numbers
/// of steps both have come equally far.
///
/// ```
/// use langevin::contract;
/// use langevin::dynamics::Dynamics;
/// use langevin::transition::{CoupledEuler, Transition};
/// let ld = Dynamics::ld(3);
/// let pair = CoupledEuler::new(&ld, 0.2)?;
/// assert_eq!(pair.dim(), 6);
/// contract::check(&pair).unwrap();
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CoupledEuler<'a, M> {
    euler: EulerMaruyama<'a, M>,
    /// h.
    step_size: f64,
}

impl<'a, M: Metric> CoupledEuler<'a, M> {
    /// The chains of the given dynamics with step sizes ½h and h.
    pub fn new(dynamics: &'a Dynamics<M>, step_size: f64) -> Result<Self> {
        Ok(CoupledEuler {
            euler: EulerMaruyama::new(dynamics, StepSize::Constant(step_size))?,
            step_size,
        })
    }
}

impl<M: Metric> Transition for CoupledEuler<'_, M> {
    /// Whether the coarse chain moves.
    type Shared = bool;

    fn name(&self) -> &'static str {
        "coupled-euler-maruyama"
    }

    fn dim(&self) -> usize {
        2 * self.euler.dim()
    }

    /// The coarse chain's score and noise are carried to the step at which it moves.
    fn sizes(&self) -> Sizes {
        let one = self.euler.sizes();
        Sizes {
            carried: self.euler.dim() + one.normals,
            ..one
        }
    }

    fn needs(&self) -> Needs {
        Needs::Score
    }

    fn shared(&self, key: StepKey) -> bool {
        key.step % 2 == 1
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, _moves: &bool, _z: &mut State<'_, L>) -> Next {
        Next::Evaluate
    }

    #[inline(always)]
    fn resume<L: Lanes>(&self, _stage: usize, moves: &bool, z: &mut State<'_, L>) -> Next {
        let d = self.euler.dim();
        let (own, shared) = z.scratch.split_at_mut(self.euler.own_scratch());
        let (score, of_coarse) = z.score.split_at_mut(d);
        let (kept, noise) = z.carried.split_at_mut(d);
        if !*moves {
            kept.copy_from_slice(of_coarse);
            noise.copy_from_slice(z.normals);
        } else {
            for i in 0..noise.len() {
                noise[i] = (noise[i] + z.normals[i]) * FRAC_1_SQRT_2;
            }
        }
        // (A loop, so that the step is compiled once.)
        for coarse in 0..1 + usize::from(*moves) {
            let theta = &mut z.theta[coarse * d..][..d];
            let (score, noise, h) = match coarse {
                0 => (&mut *score, z.normals, 0.5 * self.step_size),
                _ => (&mut *kept, &*noise, self.step_size),
            };
            self.euler.step(theta, score, h, noise, own, shared);
        }
        Next::Done
    }
}
