//! From a diffusion to a chain: discretisations in time.

use crate::check;
use crate::dynamics::Dynamics;
use crate::linalg::row_major;
use crate::metric::Metric;
use crate::real::{Lanes, Real};
use crate::skew::{Skew, SkewMatrix};
use crate::{Error, Result};

/// The sizes of the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// The same size h throughout.
    Constant(f64),
    /// h_k = a (b + k)^(−γ), the decreasing schedule of stochastic gradient Langevin dynamics.
    Decreasing {
        /// Scale.
        a: f64,
        /// Offset, above 0.
        b: f64,
        /// Decay, in (0, 1].
        gamma: f64,
    },
}

impl StepSize {
    /// Refuses sizes that are not positive.
    pub fn check(&self) -> Result<()> {
        match *self {
            StepSize::Constant(h) => check::positive("the step size", h),
            StepSize::Decreasing { a, b, gamma } => {
                check::positive("a of the step sizes a(b+k)^(-gamma)", a)?;
                check::positive("b of the step sizes a(b+k)^(-gamma)", b)?;
                if gamma > 0.0 && gamma <= 1.0 {
                    Ok(())
                } else {
                    Err(Error::Decay { gamma })
                }
            }
        }
    }

    /// The size of step k.
    pub fn at(&self, k: u64) -> f64 {
        match *self {
            StepSize::Constant(h) => h,
            StepSize::Decreasing { a, b, gamma } => a * Real::exp(-gamma * Real::ln(b + k as f64)),
        }
    }

    /// The largest step.
    pub fn largest(&self) -> f64 {
        self.at(0)
    }
}

/// Where an integrator gets the score from: all data, a minibatch, or foreign code.
pub trait Score<L> {
    /// Writes (an estimate of) the score at `theta`.
    fn score(&mut self, theta: &[L], out: &mut [L]);
}

/// One step of a chain, for as many chains as there are lanes.
pub trait Integrator: Send + Sync {
    /// Standard normal numbers per step.
    fn n_noise(&self) -> usize;

    /// Number of scratch entries.
    fn scratch_len(&self) -> usize;

    /// Moves `theta` by a step of size `h`; `xi` are independent standard normal numbers.
    fn step<L: Lanes>(
        &self,
        theta: &mut [L],
        score: &mut impl Score<L>,
        h: f64,
        xi: &[L],
        scratch: &mut [L],
    );
}

/// The Euler–Maruyama scheme: θ ← θ + h·drift(θ) + sqrt(2βh)·S(θ) ξ, with S Sᵀ = B.
#[derive(Clone, Debug)]
pub struct EulerMaruyama<'a, M> {
    dynamics: &'a Dynamics<M>,
    drift: Drift<'a>,
}

/// The vectors between score and drift are variables for states of no more coordinates, which the
/// compiler can keep in registers.
const FEW: usize = 4;

/// How the drift is computed, decided once.
#[derive(Clone, Debug)]
enum Drift<'a> {
    /// β ∇log π: plain Langevin dynamics.
    Plain,
    /// R ∇log π with the constant matrix R = βB + C.
    Matrix(Vec<f64>),
    /// State-dependent B, with C = 0, J or ½(JB + BJ).
    Metric(&'a Skew),
}

impl<'a, M: Metric> EulerMaruyama<'a, M> {
    /// The scheme for the given dynamics.
    pub fn new(dynamics: &'a Dynamics<M>) -> Self {
        let plain = *dynamics.skew() == Skew::None
            && dynamics
                .metric()
                .constant()
                .is_some_and(|b| b.is_identity());
        let drift = match dynamics.constant_fields() {
            Some(_) if plain => Drift::Plain,
            Some((b, c)) => Drift::Matrix(row_major(&(b * dynamics.beta() + c))),
            None => Drift::Metric(dynamics.skew()),
        };
        EulerMaruyama { dynamics, drift }
    }

    /// drift = (βB + C) s + div(βB + C).
    ///
    /// With v = B s + div B: β v for C = 0, β v + J s for C = J, and for the geometric field
    /// β v + ½ J v + ½ (B J s + div(BJ)).
    #[inline(always)]
    fn state_dependent_drift<L: Lanes>(
        &self,
        skew: &Skew,
        theta: &[L],
        s: &[L],
        drift: &mut [L],
        shared: &mut [L],
        own: &mut [L],
    ) {
        let d = theta.len();
        let (metric, beta) = (self.dynamics.metric(), self.dynamics.beta());
        let mut few = [L::zero(); 4 * FEW];
        let own = if d <= FEW { &mut few } else { own };
        let (v, own) = own.split_at_mut(d);
        let (div_b, own) = own.split_at_mut(d);
        let (work, own) = own.split_at_mut(d);
        let div_bj = &mut own[..d];
        let j: Option<&SkewMatrix> = match skew {
            Skew::Geometric(j) => Some(j),
            _ => None,
        };
        metric.div(theta, shared, j, div_b, div_bj);
        metric.apply(theta, shared, s, v);
        for i in 0..d {
            v[i] += div_b[i];
            drift[i] = v[i] * beta;
        }
        match skew {
            Skew::None => {}
            Skew::Constant(j) => {
                j.apply(s, work);
                for i in 0..d {
                    drift[i] += work[i];
                }
            }
            Skew::Geometric(j) => {
                let half = L::of(0.5);
                j.apply(v, work);
                for i in 0..d {
                    drift[i] = (work[i] + div_bj[i]).mul_add(half, drift[i]);
                }
                j.apply(s, work);
                metric.apply(theta, shared, work, v);
                for i in 0..d {
                    drift[i] = v[i].mul_add(half, drift[i]);
                }
            }
        }
    }

    /// The part of the scratch space that belongs to the metric.
    #[inline(always)]
    pub(crate) fn metric_scratch<'s, L>(&self, scratch: &'s mut [L]) -> &'s mut [L] {
        &mut scratch[6 * self.dynamics.dim()..]
    }
}

impl<M: Metric> Integrator for EulerMaruyama<'_, M> {
    fn n_noise(&self) -> usize {
        self.dynamics.metric().n_noise()
    }

    fn scratch_len(&self) -> usize {
        self.dynamics.metric().scratch_len() + 6 * self.dynamics.dim()
    }

    #[inline(always)]
    fn step<L: Lanes>(
        &self,
        theta: &mut [L],
        score: &mut impl Score<L>,
        h: f64,
        xi: &[L],
        scratch: &mut [L],
    ) {
        let d = theta.len();
        let beta = self.dynamics.beta();
        let metric = self.dynamics.metric();
        let spread = L::of((2.0 * beta * h).sqrt());
        let (own, shared) = scratch.split_at_mut(6 * d);
        let (s, own) = own.split_at_mut(d);
        let (drift, own) = own.split_at_mut(d);
        score.score(theta, s);
        let rate = match &self.drift {
            Drift::Plain => {
                let rate = L::of(h * beta);
                // What waits for the score comes last.
                for i in 0..d {
                    theta[i] = s[i].mul_add(rate, xi[i].mul_add(spread, theta[i]));
                }
                return;
            }
            Drift::Matrix(r) => {
                crate::linalg::mat_vec(r, s, drift);
                L::of(h)
            }
            Drift::Metric(skew) => {
                metric.prepare(theta, shared);
                self.state_dependent_drift(skew, theta, s, drift, shared, own);
                L::of(h)
            }
        };
        // The score is no longer needed: its space takes the noise.
        metric.sqrt_apply(theta, shared, xi, s);
        for i in 0..d {
            theta[i] = drift[i].mul_add(rate, s[i].mul_add(spread, theta[i]));
        }
    }
}
