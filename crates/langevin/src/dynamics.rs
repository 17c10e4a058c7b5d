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
}
