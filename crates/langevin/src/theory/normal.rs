//! Posterior of the mean μ and standard deviation σ of normal data under a flat prior: exact
//! moments.

use super::observable::Observable;
use crate::Result;
use crate::check;

/// The posterior `π(μ, σ) ∝ σ^{−N} exp(−N((μ − m)² + s²)/(2σ²))` of section 3.3.
///
/// The data enter through their number N, mean m and standard deviation s (divisor N) only.
/// Under π, `z = √N(μ − m)/σ` is standard normal and independent of σ, and `1/σ²` has the law
/// Gamma((N−2)/2) with rate `Ns²/2`.
///
/// ```
/// use langevin::theory::{NormalPosterior, Observable};
/// let posterior = NormalPosterior::new(30, 0.0, 10.0)?;
/// let mean = posterior.expectation(&Observable::sum(2))?;
/// assert!((mean - 10.638957466769524).abs() < 1e-12);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalPosterior {
    n_data: usize,
    mean: f64,
    sd: f64,
}

/// Coefficients of `σ^q h_k(z)` for q, k = 0, 1, 2, with h_k the normalised Hermite polynomials
/// `1, z, (z² − 1)/√2`.
pub(super) type Expansion = [[f64; 3]; 3];

impl NormalPosterior {
    /// The posterior given N, m and s.
    pub fn new(n_data: usize, mean: f64, sd: f64) -> Result<Self> {
        check::at_least("n_data", n_data, 3)?;
        check::finite("the mean of the data", mean)?;
        check::positive("the standard deviation of the data", sd)?;
        Ok(Self { n_data, mean, sd })
    }

    /// The posterior given the data.
    pub fn from_data(data: &[f64]) -> Result<Self> {
        check::at_least("n_data", data.len(), 3)?;
        let n = data.len() as f64;
        let mean = data.iter().sum::<f64>() / n;
        let variance = data.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        Self::new(data.len(), mean, variance.sqrt())
    }

    /// The number N of data.
    pub fn n_data(&self) -> usize {
        self.n_data
    }

    /// The shape `(N − 2)/2` of the Gamma law of `1/σ²`.
    pub(super) fn shape(&self) -> f64 {
        0.5 * (self.n_data as f64 - 2.0)
    }

    /// The rate `Ns²/2` of the Gamma law of `1/σ²`.
    pub(super) fn rate(&self) -> f64 {
        0.5 * self.n_data as f64 * self.sd * self.sd
    }

    /// `E σ^p = (Ns²/2)^{p/2} Γ((N−2−p)/2) / Γ((N−2)/2)`, finite for `p < N − 2`.
    pub fn sigma_moment(&self, p: usize) -> Result<f64> {
        check::at_least("n_data", self.n_data, p + 3)?;
        let half = 0.5 * p as f64;
        let ratio = libm::lgamma(self.shape() - half) - libm::lgamma(self.shape());
        Ok(self.rate().powf(half) * ratio.exp())
    }

    /// The expectation of an observable of `θ = (μ, σ)`.
    pub fn expectation(&self, observable: &Observable) -> Result<f64> {
        let phi = self.expand(observable)?;
        (0..3)
            .filter(|&q| phi[q][0] != 0.0)
            .map(|q| Ok(phi[q][0] * self.sigma_moment(q)?))
            .sum()
    }

    /// The variance of an observable of `θ = (μ, σ)`.
    pub fn variance(&self, observable: &Observable) -> Result<f64> {
        let phi = self.expand(observable)?;
        let mut variance = 0.0;
        for q in 1..3 {
            for r in 1..3 {
                let weight: f64 = (0..3).map(|k| phi[q][k] * phi[r][k]).sum();
                let means = phi[q][0] * phi[r][0];
                if weight != 0.0 {
                    let product = self.sigma_moment(q)? * self.sigma_moment(r)?;
                    variance += weight * self.sigma_moment(q + r)? - means * product;
                }
            }
        }
        Ok(variance)
    }

    /// The observable in the independent coordinates σ and z, where `μ = m + σz/√N`.
    pub(super) fn expand(&self, observable: &Observable) -> Result<Expansion> {
        check::size("observable", observable.dim(), 2)?;
        let (v, s) = (observable.linear(), observable.quadratic());
        let (m, n) = (self.mean, self.n_data as f64);
        Ok([
            [v[0] * m + s[(0, 0)] * m * m, 0.0, 0.0],
            [
                v[1] + 2.0 * s[(0, 1)] * m,
                (v[0] + 2.0 * s[(0, 0)] * m) / n.sqrt(),
                0.0,
            ],
            [
                s[(1, 1)] + s[(0, 0)] / n,
                2.0 * s[(0, 1)] / n.sqrt(),
                s[(0, 0)] * f64::sqrt(2.0) / n,
            ],
        ])
    }
}
