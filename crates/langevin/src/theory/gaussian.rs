//! Gaussian target in continuous time: exact asymptotic variances and batch means.

use nalgebra::{DMatrix, DVector};

use super::euler::EulerChain;
use super::matrix::{largest_stable_step, lyapunov, trace_of_product};
use super::noise::GradientNoise;
use super::observable::Observable;
use crate::check;
use crate::{Error, Result};

/// The diffusion with target `N(μ, Γ⁻¹)`, constant metric B and constant skew C:
///
/// ```text
/// dθ = −M(θ − μ) dt + sqrt(2βB) dW,     M = RΓ,  R = βB + C.
/// ```
///
/// ```
/// use langevin::theory::{LinearDiffusion, Observable};
/// use nalgebra::{DMatrix, DVector};
/// // Standard normal in the plane, β = ½, J = [[0, 2], [−2, 0]].
/// let identity = DMatrix::identity(2, 2);
/// let skew = DMatrix::from_row_slice(2, 2, &[0.0, 2.0, -2.0, 0.0]);
/// let diffusion = LinearDiffusion::new(&identity, &DVector::zeros(2), &identity, &skew, 0.5)?;
/// // 2·1ᵀR⁻¹1 with R = ½I + J: the skew part divides the variance of the sum by 1 + 16.
/// let variance = diffusion.asymptotic_variance(&Observable::sum(2))?;
/// assert!((variance - 8.0 / 17.0).abs() < 1e-14);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LinearDiffusion {
    mean: DVector<f64>,
    covariance: DMatrix<f64>,
    metric: DMatrix<f64>,
    beta: f64,
    mobility: DMatrix<f64>,
    rate: DMatrix<f64>,
    largest_stable_step: f64,
}

impl LinearDiffusion {
    /// The diffusion with precision Γ and mean μ of the target, metric B, skew C and β.
    pub fn new(
        precision: &DMatrix<f64>,
        mean: &DVector<f64>,
        metric: &DMatrix<f64>,
        skew: &DMatrix<f64>,
        beta: f64,
    ) -> Result<Self> {
        let d = mean.len();
        check::at_least("the dimension of the target", d, 1)?;
        check::finite_vector("mean", mean, d)?;
        check::positive_definite("precision", precision, d)?;
        check::positive_definite("metric", metric, d)?;
        check::skew("skew", skew, d)?;
        check::positive("beta", beta)?;
        let covariance = precision.clone().try_inverse().ok_or(Error::Breakdown {
            name: "the inverse of the precision",
        })?;
        let mobility = metric * beta + skew;
        let rate = &mobility * precision;
        Ok(Self {
            mean: mean.clone(),
            covariance,
            metric: metric.clone(),
            beta,
            largest_stable_step: largest_stable_step(&rate)?,
            mobility,
            rate,
        })
    }

    /// The dimension of θ.
    pub fn dim(&self) -> usize {
        self.mean.len()
    }

    /// The mean μ of the target.
    pub fn mean(&self) -> &DVector<f64> {
        &self.mean
    }

    /// The covariance `Γ⁻¹` of the target.
    pub fn covariance(&self) -> &DMatrix<f64> {
        &self.covariance
    }

    /// `R = βB + C`.
    pub(super) fn mobility(&self) -> &DMatrix<f64> {
        &self.mobility
    }

    /// `M = RΓ`.
    pub(super) fn rate(&self) -> &DMatrix<f64> {
        &self.rate
    }

    /// Covariance of the noise per unit of time, `2βB`.
    pub(super) fn noise_rate(&self) -> DMatrix<f64> {
        &self.metric * (2.0 * self.beta)
    }

    /// The expectation of φ under the target.
    pub fn expectation(&self, observable: &Observable) -> Result<f64> {
        observable.expectation(&self.mean, &self.covariance)
    }

    /// The asymptotic variance of φ.
    ///
    /// With `c = v + 2Sμ` and Σ the covariance: solve `Mᵀq = c` and `MᵀP + PM = S`; the answer is
    /// `2 cᵀΣq + 4 tr(SΣPΣ)`.
    pub fn asymptotic_variance(&self, observable: &Observable) -> Result<f64> {
        let parts = self.autocovariance(observable)?;
        Ok(2.0 * (parts.linear_weight.dot(&parts.q1) + trace_of_product(&parts.weight, &parts.p1)))
    }

    /// The exact expectation of the batch means estimator, from a stationary start.
    ///
    /// If V(t) is the variance of an average over a time t, and b the batch time, this is
    /// `b n/(n−1) · (V(b) − V(nb))`. Rounding in V(t) grows like `(rate · t)⁻²` for batches far
    /// shorter than the relaxation time.
    pub fn batch_means_expectation(
        &self,
        observable: &Observable,
        n_batches: usize,
        batch_time: f64,
    ) -> Result<f64> {
        check::at_least("n_batches", n_batches, 2)?;
        check::positive("batch_time", batch_time)?;
        let parts = self.autocovariance(observable)?;
        let n = n_batches as f64;
        let within = parts.variance_of_average(&self.rate, batch_time);
        let overall = parts.variance_of_average(&self.rate, n * batch_time);
        Ok(batch_time * n / (n - 1.0) * (within - overall))
    }

    /// The step size at which the Euler–Maruyama chain stops being stable.
    ///
    /// The spectral radius of `I − hM` is below 1 for `h < min 2 Re λ / |λ|²` over the
    /// eigenvalues λ of M.
    pub fn largest_stable_step(&self) -> f64 {
        self.largest_stable_step
    }

    /// The Euler–Maruyama chain with this step size; `gradient_noise` is the law of the error
    /// that a stochastic gradient adds to `∇log π`.
    pub fn euler_maruyama(
        &self,
        step_size: f64,
        gradient_noise: Option<&GradientNoise>,
    ) -> Result<EulerChain> {
        EulerChain::new(self, step_size, gradient_noise)
    }

    fn autocovariance(&self, observable: &Observable) -> Result<Autocovariance> {
        check::size("observable", observable.dim(), self.dim())?;
        let phi = observable.about(&self.mean);
        let adjoint = self.rate.transpose().lu();
        let solve = |c: &DVector<f64>| {
            adjoint.solve(c).ok_or(Error::Breakdown {
                name: "the solution of the Poisson equation",
            })
        };
        let q1 = solve(&phi.linear)?;
        let p1 = lyapunov(&self.rate, &phi.matrix)?;
        Ok(Autocovariance {
            q2: solve(&q1)?,
            p2: lyapunov(&self.rate, &p1)?,
            linear_weight: &self.covariance * &phi.linear,
            weight: &self.covariance * &phi.matrix * &self.covariance * 2.0,
            q1,
            p1,
        })
    }
}

/// The stationary autocovariance `x·e^{−tMᵀ}c + tr(X e^{−tMᵀ} S e^{−tM})` of φ, in the form that
/// integrals over t need: `q1, q2` are the first two integrals of the flow of c, `p1, p2` those of
/// the flow of S.
struct Autocovariance {
    linear_weight: DVector<f64>,
    q1: DVector<f64>,
    q2: DVector<f64>,
    weight: DMatrix<f64>,
    p1: DMatrix<f64>,
    p2: DMatrix<f64>,
}

impl Autocovariance {
    /// Variance of the average over a time t: `(2/t²) ∫₀ᵗ (t − s) C(s) ds`.
    fn variance_of_average(&self, rate: &DMatrix<f64>, t: f64) -> f64 {
        let decay = (rate * -t).exp();
        let linear = &self.q1 * t - &self.q2 + decay.tr_mul(&self.q2);
        let quadratic = &self.p1 * t - &self.p2 + decay.tr_mul(&self.p2) * &decay;
        let integral = self.linear_weight.dot(&linear) + trace_of_product(&self.weight, &quadratic);
        2.0 * integral / (t * t)
    }
}
