//! One diffusion with two choices, a metric B(θ) and a skew field C(θ).
//!
//! ```text
//! dθ = [ (βB + C) ∇log π + div(βB + C) ] dt + sqrt(2βB) dW        (Table 1 of the paper)
//! ```
//!
//! Every choice leaves π invariant. This is the one time scale of the crate: a step of size h
//! moves by h times this drift and by sqrt(2βh) times the root of B, whatever the dynamics.
//! The five names of the paper are five pairs of choices:
//!
//! | name    | B    | C            | constructor          |
//! |---------|------|--------------|----------------------|
//! | `LD`    | I    | 0            | [`Dynamics::ld`]     |
//! | `RM`    | B(θ) | 0            | [`Dynamics::rm`]     |
//! | `Irr`   | I    | J            | [`Dynamics::irr`]    |
//! | `RMIrr` | B(θ) | J            | [`Dynamics::rm_irr`] |
//! | `GiIrr` | B(θ) | ½(JB + BJ)   | [`Dynamics::gi_irr`] |

use nalgebra::DMatrix;

use crate::Result;
use crate::check;
use crate::metric::{Constant, Metric};
use crate::real::Real;
use crate::skew::{Skew, SkewMatrix};

/// β of every experiment of the paper.
pub const DEFAULT_BETA: f64 = 0.5;

/// A metric, a skew field and the temperature β.
///
/// ```
/// use langevin::dynamics::Dynamics;
/// use langevin::skew::SkewMatrix;
/// let irr = Dynamics::irr(SkewMatrix::sign_pattern(2, 1.0)?);
/// assert_eq!(irr.dim(), 2);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dynamics<M> {
    metric: M,
    skew: Skew,
    beta: f64,
}

impl Dynamics<Constant> {
    /// Langevin dynamics.
    pub fn ld(dim: usize) -> Self {
        Self::unchecked(Constant::identity(dim), Skew::None)
    }

    /// Langevin dynamics with a constant irreversible perturbation.
    pub fn irr(j: SkewMatrix) -> Self {
        Self::unchecked(Constant::identity(j.dim()), Skew::Constant(j))
    }
}

impl<M: Metric> Dynamics<M> {
    /// Any metric with any skew field that fits it.
    pub fn new(metric: M, skew: Skew) -> Result<Self> {
        skew.check_dim(metric.dim())?;
        Ok(Self::unchecked(metric, skew))
    }

    fn unchecked(metric: M, skew: Skew) -> Self {
        Dynamics {
            metric,
            skew,
            beta: DEFAULT_BETA,
        }
    }

    /// Riemannian manifold Langevin dynamics.
    pub fn rm(metric: M) -> Self {
        Self::unchecked(metric, Skew::None)
    }

    /// Riemannian manifold Langevin dynamics with an additive irreversible perturbation.
    pub fn rm_irr(metric: M, j: SkewMatrix) -> Result<Self> {
        Self::new(metric, Skew::Constant(j))
    }

    /// Riemannian manifold Langevin dynamics with the geometry-informed perturbation.
    pub fn gi_irr(metric: M, j: SkewMatrix) -> Result<Self> {
        Self::new(metric, Skew::Geometric(j))
    }

    /// The same dynamics at another β.
    pub fn with_beta(mut self, beta: f64) -> Result<Self> {
        check::positive("beta", beta)?;
        self.beta = beta;
        Ok(self)
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.metric.dim()
    }

    /// The metric.
    pub fn metric(&self) -> &M {
        &self.metric
    }

    /// The skew field.
    pub fn skew(&self) -> &Skew {
        &self.skew
    }

    /// The temperature.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// (B, C) where both are constant.
    pub fn constant_fields(&self) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
        let b = self.metric.constant()?.matrix();
        let c = match &self.skew {
            Skew::None => DMatrix::zeros(self.dim(), self.dim()),
            Skew::Constant(j) => j.matrix(),
            Skew::Geometric(j) => (j.matrix() * &b + &b * j.matrix()) * 0.5,
        };
        Some((b, c))
    }

    /// The largest step size at which Euler–Maruyama is stable on a Gaussian target of the given
    /// precision Γ, where B and C are constant: min 2 Re λ / |λ|² over eigenvalues λ of (βB + C)Γ.
    pub fn largest_stable_step(&self, precision: &DMatrix<f64>) -> Option<f64> {
        let (b, c) = self.constant_fields()?;
        let rates = ((b * self.beta + c) * precision).complex_eigenvalues();
        Some(
            rates
                .iter()
                .map(|l| 2.0 * l.re / l.norm_sqr())
                .fold(f64::INFINITY, f64::min),
        )
    }

    /// Scratch entries of [`at`](Self::at) beside those of the metric.
    pub fn scratch_len(&self) -> usize {
        4 * self.dim()
    }

    /// Computes what both parts of the drift share at a state with the given score. `metric` has the
    /// metric's [`scratch_len`](Metric::scratch_len) entries, `scratch` has
    /// [`scratch_len`](Self::scratch_len), of any value.
    ///
    /// ```
    /// use langevin::dynamics::Dynamics;
    /// use langevin::skew::SkewMatrix;
    /// let irr = Dynamics::irr(SkewMatrix::sign_pattern(2, 3.0)?);
    /// let (mut scratch, mut drift) = ([0.0; 8], [0.0; 2]);
    /// let mut point = irr.at(&[0.0, 0.0], &[1.0, 2.0], &mut [], &mut scratch);
    /// irr.reversible(&point, &mut drift);
    /// assert_eq!(drift, [0.5, 1.0]);
    /// irr.add_skew(&mut point, &mut drift);
    /// assert_eq!(drift, [0.5 + 6.0, 1.0 - 3.0]);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    #[inline(always)]
    pub fn at<'a, R: Real>(
        &self,
        theta: &'a [R],
        score: &'a [R],
        metric: &'a mut [R],
        scratch: &'a mut [R],
    ) -> Point<'a, R> {
        let d = theta.len();
        let (v, scratch) = scratch.split_at_mut(d);
        let (div_b, scratch) = scratch.split_at_mut(d);
        let (work, scratch) = scratch.split_at_mut(d);
        let div_bj = &mut scratch[..d];
        let j = match &self.skew {
            Skew::Geometric(j) => Some(j),
            _ => None,
        };
        self.metric.prepare(theta, metric);
        self.metric.div(theta, metric, j, div_b, div_bj);
        self.metric.apply(theta, metric, score, v);
        for i in 0..d {
            v[i] += div_b[i];
        }
        Point {
            theta,
            score,
            metric,
            v,
            work,
            div_bj,
        }
    }

    /// The reversible part of the drift, β (B ∇log π + div B).
    #[inline(always)]
    pub fn reversible<R: Real>(&self, point: &Point<'_, R>, out: &mut [R]) {
        for (out, v) in out.iter_mut().zip(point.v.iter()) {
            *out = *v * self.beta;
        }
    }

    /// Adds the irreversible part, C ∇log π + div C: nothing for C = 0, J ∇log π for C = J, and with
    /// v = B ∇log π + div B for the geometric field ½ (J v + div(BJ)) + ½ B J ∇log π.
    #[inline(always)]
    pub fn add_skew<R: Real>(&self, point: &mut Point<'_, R>, out: &mut [R]) {
        let Point {
            theta,
            score,
            metric,
            v,
            work,
            div_bj,
        } = point;
        let d = theta.len();
        match &self.skew {
            Skew::None => {}
            Skew::Constant(j) => {
                j.apply(score, work);
                for i in 0..d {
                    out[i] += work[i];
                }
            }
            Skew::Geometric(j) => {
                let half = R::of(0.5);
                j.apply(v, work);
                for i in 0..d {
                    out[i] = (work[i] + div_bj[i]).mul_add(half, out[i]);
                }
                j.apply(score, work);
                self.metric.apply(theta, metric, work, v);
                for i in 0..d {
                    out[i] = v[i].mul_add(half, out[i]);
                }
            }
        }
    }
}

/// What the two parts of the drift share at one state; made by [`Dynamics::at`].
pub struct Point<'a, R> {
    theta: &'a [R],
    score: &'a [R],
    metric: &'a mut [R],
    /// B ∇log π + div B, until the irreversible part has been added.
    v: &'a mut [R],
    work: &'a mut [R],
    div_bj: &'a mut [R],
}
