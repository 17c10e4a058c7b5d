//! The scheme of Leimkuhler and Matthews: Euler–Maruyama whose noise is shared by two steps.

use super::{Needs, Next, Sizes, State, StepKey, Transition};
use crate::dynamics::Dynamics;
use crate::metric::{Constant, Metric};
use crate::real::Lanes;
use crate::skew::Skew;
use crate::{Error, Result, check};

/// θₙ₊₁ = θₙ + hβB ∇log π(θₙ) + sqrt(2βh)·S (ξₙ + ξₙ₊₁)/2 with a constant metric B = S Sᵀ
/// (Leimkuhler and Matthews, 2013, equation 2 of "Rational construction of stochastic numerical
/// methods for molecular sampling"). Averages are biased by h² where those of Euler–Maruyama are by
/// h; on a Gaussian target the stationary law is exact.
///
/// ```
/// use langevin::dynamics::Dynamics;
/// use langevin::transition::LeimkuhlerMatthews;
/// let ld = Dynamics::ld(3);
/// assert!(LeimkuhlerMatthews::new(&ld, 0.1).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct LeimkuhlerMatthews<'a> {
    dynamics: &'a Dynamics<Constant>,
    step_size: f64,
}

impl<'a> LeimkuhlerMatthews<'a> {
    /// The scheme for reversible dynamics: with a skew field it would be of first order, as
    /// Euler–Maruyama is, so that is refused.
    pub fn new(dynamics: &'a Dynamics<Constant>, step_size: f64) -> Result<Self> {
        check::positive("the step size", step_size)?;
        if *dynamics.skew() != Skew::None {
            return Err(Error::NotReversible {
                scheme: "the scheme of Leimkuhler and Matthews",
            });
        }
        Ok(LeimkuhlerMatthews {
            dynamics,
            step_size,
        })
    }
}

impl Transition for LeimkuhlerMatthews<'_> {
    type Shared = ();

    fn name(&self) -> &'static str {
        "leimkuhler-matthews"
    }

    fn dim(&self) -> usize {
        self.dynamics.dim()
    }

    /// The normal numbers of a step are carried to the next.
    fn sizes(&self) -> Sizes {
        let d = self.dim();
        Sizes {
            normals: d,
            carried: d,
            scratch: 2 * d,
            ..Sizes::default()
        }
    }

    fn needs(&self) -> Needs {
        Needs::Score
    }

    fn shared(&self, _key: StepKey) {}

    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        z.carried.copy_from_slice(z.normals);
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, _shared: &(), _z: &mut State<'_, L>) -> Next {
        Next::Evaluate
    }

    #[inline(always)]
    fn resume<L: Lanes>(&self, _stage: usize, _shared: &(), z: &mut State<'_, L>) -> Next {
        let (metric, beta) = (self.dynamics.metric(), self.dynamics.beta());
        let rate = L::of(self.step_size * beta);
        let spread = L::of((2.0 * beta * self.step_size).sqrt() * 0.5);
        let d = z.theta.len();
        let (drift, noise) = z.scratch.split_at_mut(d);
        metric.apply(z.theta, &mut [], z.score, drift);
        for (carried, new) in z.carried.iter_mut().zip(z.normals) {
            *carried += *new;
        }
        metric.sqrt_apply(z.theta, &mut [], z.carried, noise);
        for i in 0..d {
            z.theta[i] = drift[i].mul_add(rate, noise[i].mul_add(spread, z.theta[i]));
        }
        z.carried.copy_from_slice(z.normals);
        Next::Done
    }
}
