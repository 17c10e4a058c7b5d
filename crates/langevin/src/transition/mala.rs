//! The Metropolis-adjusted Langevin algorithm with a constant metric.

use super::{Needs, Next, Report, Sizes, State, StateScore, StepKey, Transition};
use crate::dynamics::Dynamics;
use crate::metric::Constant;
use crate::real::Lanes;
use crate::skew::Skew;
use crate::{Error, Result, check};

/// A step of Euler–Maruyama as a proposal, accepted or rejected so that the chain leaves π itself
/// invariant (Roberts and Tweedie, 1996).
///
/// With B = S Sᵀ, ε² = 2βh and the whitened score g = Sᵀ∇log π, the proposal is
/// y = x + S(½ε² g(x) + ε ξ), the noise that leads back from y to x is −(ξ + ½ε (g(x) + g(y))), and
///
/// ```text
/// log ratio = log π(y) − log π(x) + ½|ξ|² − ½|ξ + ½ε (g(x) + g(y))|².
/// ```
///
/// ```
/// use langevin::dynamics::Dynamics;
/// use langevin::transition::Mala;
/// let ld = Dynamics::ld(3);
/// assert!(Mala::new(&ld, -0.1).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Mala<'a> {
    metric: &'a Constant,
    /// ε.
    spread: f64,
}

impl<'a> Mala<'a> {
    /// The algorithm for reversible dynamics with a constant metric: with a skew field proposals are
    /// accepted rarely, and the plain ratio would make the chain reversible again.
    pub fn new(dynamics: &'a Dynamics<Constant>, step_size: f64) -> Result<Self> {
        check::positive("the step size", step_size)?;
        if *dynamics.skew() != Skew::None {
            return Err(Error::NotReversible { scheme: "MALA" });
        }
        Ok(Mala {
            metric: dynamics.metric(),
            spread: (2.0 * dynamics.beta() * step_size).sqrt(),
        })
    }
}

impl Transition for Mala<'_> {
    type Shared = ();

    fn name(&self) -> &'static str {
        "mala"
    }

    fn dim(&self) -> usize {
        use crate::metric::Metric;
        self.metric.dim()
    }

    /// log π and the score of the state are carried: each step takes one evaluation. The score is
    /// carried as it is, so that another metric can take over.
    fn sizes(&self) -> Sizes {
        let d = self.dim();
        Sizes {
            normals: d,
            uniforms: 1,
            carried: 1 + d,
            scratch: 3 * d,
        }
    }

    fn needs(&self) -> Needs {
        Needs::Density
    }

    fn shared(&self, _key: StepKey) {}

    fn state_score(&self) -> StateScore {
        StateScore::Carried(1)
    }

    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        z.carried[0] = z.log_density;
        z.carried[1..].copy_from_slice(z.score);
        z.report.log_density = z.log_density;
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, _shared: &(), z: &mut State<'_, L>) -> Next {
        let d = z.theta.len();
        let (old, rest) = z.scratch.split_at_mut(d);
        let (g, move_by) = rest.split_at_mut(d);
        old.copy_from_slice(z.theta);
        self.metric.sqrt_transposed(&z.carried[1..], g);
        // The score's place takes the whitened move until the evaluation.
        let (half, spread) = (L::of(0.5 * self.spread * self.spread), L::of(self.spread));
        for i in 0..d {
            z.score[i] = g[i].mul_add(half, z.normals[i] * spread);
        }
        self.metric.sqrt(z.score, move_by);
        for i in 0..d {
            z.theta[i] += move_by[i];
        }
        Next::Evaluate
    }

    #[inline(always)]
    fn resume<L: Lanes>(&self, _stage: usize, _shared: &(), z: &mut State<'_, L>) -> Next {
        let d = z.theta.len();
        let (old, rest) = z.scratch.split_at_mut(d);
        let (g, g_new) = rest.split_at_mut(d);
        self.metric.sqrt_transposed(z.score, g_new);
        let mut log_ratio = z.log_density - z.carried[0];
        for i in 0..d {
            // ½ξ² − ½(ξ + c)² = −c (ξ + ½c).
            let c = (g[i] + g_new[i]) * (0.5 * self.spread);
            log_ratio -= c * c.mul_add(L::of(0.5), z.normals[i]);
        }
        // (A ratio that is not a number is below no number: it rejects.)
        let log_u = z.uniforms[0].ln();
        for i in 0..d {
            z.theta[i] = L::if_less(log_u, log_ratio, z.theta[i], old[i]);
            let score = &mut z.carried[1 + i];
            *score = L::if_less(log_u, log_ratio, z.score[i], *score);
        }
        z.carried[0] = L::if_less(log_u, log_ratio, z.log_density, z.carried[0]);
        *z.report = Report::adjusted(z.carried[0], log_ratio);
        Next::Done
    }
}
