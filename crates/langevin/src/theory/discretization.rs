//! Closed forms of the paper's appendix: an isotropic Gaussian in the plane, discretised.

use super::euler::Moments;
use crate::check;
use crate::{Error, Result};

/// The chain `θ' = (I − hA)(θ − μ) + μ + √h ξ` in the plane, with `A = a(I + δ[[0, 1], [−1, 0]])`.
///
/// It is the Euler–Maruyama chain of `N(μ, I/(2a))` for β = ½, and its target has
/// `E‖θ − μ‖² = 1/a`. All averages are over `θ_0, …, θ_{K−1}`. Notation of the appendix:
/// `w = 1 − ah(1 + iδ)` and `s = |w|²`.
///
/// ```
/// use langevin::theory::PlanarChain;
/// let still = PlanarChain::new(1.0, 0.001, 0.0)?;
/// let turning = PlanarChain::new(1.0, 0.001, 10.0)?;
/// // Turning helps the linear observables and hurts the quadratic one.
/// let k = 200_000;
/// assert!(turning.running_mean_variance(k)? < 0.02 * still.running_mean_variance(k)?);
/// assert!(turning.squared_norm(k)?.variance > 1.1 * still.squared_norm(k)?.variance);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanarChain {
    a: f64,
    step_size: f64,
    delta: f64,
}

/// `1 − w^K` and `1 − s^K`, both without cancellation for small K(1 − w).
struct Decay {
    re: f64,
    im: f64,
    square: f64,
}

impl PlanarChain {
    /// The chain with rate a, step size h and irreversibility δ, which must be stable:
    /// `h < 2/(a(1 + δ²))`.
    pub fn new(a: f64, step_size: f64, delta: f64) -> Result<Self> {
        check::positive("a", a)?;
        check::positive("step_size", step_size)?;
        check::finite("delta", delta)?;
        let largest = 2.0 / (a * (1.0 + delta * delta));
        if step_size >= largest {
            return Err(Error::UnstableStep { step_size, largest });
        }
        Ok(Self {
            a,
            step_size,
            delta,
        })
    }

    /// Trace of the stationary covariance, `2/(2a − ha²(1 + δ²))`.
    pub fn stationary_variance(&self) -> f64 {
        2.0 / (self.a * (2.0 - self.stiffness()))
    }

    /// `‖E θ̄_K − μ‖²` for a start at distance `distance` from μ:
    /// `distance² |1 − w^K|² / (K² |1 − w|²)`.
    ///
    /// The appendix starts at the origin, so its distance is `‖μ‖`.
    pub fn running_mean_squared_bias(&self, n_steps: usize, distance: f64) -> Result<f64> {
        check::at_least("n_steps", n_steps, 1)?;
        check::finite("distance", distance)?;
        let decay = self.decay(n_steps);
        let k = n_steps as f64;
        let numerator = distance * distance * (decay.re.powi(2) + decay.im.powi(2));
        Ok(numerator / (k * k * self.rate_squared()))
    }

    /// `Tr Var θ̄_K`, the same for every fixed start:
    /// `2/(K² h a² (1+δ²)) · [K − 2 Re((1−w^K)/(1−w)) + (1−s^K)/(1−s)]`.
    pub fn running_mean_variance(&self, n_steps: usize) -> Result<f64> {
        check::at_least("n_steps", n_steps, 1)?;
        let decay = self.decay(n_steps);
        let k = n_steps as f64;
        let ah = self.a * self.step_size;
        // (1 − w^K)/(1 − w) with 1 − w = ah(1 + iδ).
        let turning = ah * (decay.re + self.delta * decay.im) / self.rate_squared();
        let bracket = k - 2.0 * turning + decay.square / self.contraction();
        Ok(2.0 * self.step_size * bracket / (k * k * self.rate_squared()))
    }

    /// Bias and variance of the running average of `‖θ − μ‖²` for a start at μ.
    ///
    /// The expectation is `2h [1/(1−s) − (1−s^K)/(K(1−s)²)]`, the target's is `1/a`. For the
    /// variance: `‖θ_k − μ‖²` has variance `4v²(1 − s^k)²` with `v = h/(1−s)`, and covariance
    /// `s^{l−k}` times that with its value at step l; the double sum is geometric.
    pub fn squared_norm(&self, n_steps: usize) -> Result<Moments> {
        check::at_least("n_steps", n_steps, 1)?;
        let k = n_steps as f64;
        let gap = self.contraction();
        let s = 1.0 - gap;
        let decay = self.decay(n_steps);
        let last = 1.0 - decay.square;
        let geometric = decay.square / gap;
        let bias = (self.stiffness() - 2.0 * geometric / k) / (self.a * (2.0 - self.stiffness()));

        // Σ (1 − s^k)² and Σ s^{K−k} (1 − s^k)² over k < K.
        let squares = k - 2.0 * geometric + geometric * (1.0 + last) / (1.0 + s);
        let late = (s + last) * geometric - 2.0 * k * last;
        let v = self.step_size / gap;
        let variance = 4.0 * v * v * ((1.0 + s) * squares - 2.0 * late) / (k * k * gap);
        Ok(Moments { bias, variance })
    }

    /// Expectation of the running average of `‖θ − μ‖²` for a start at μ.
    pub fn squared_norm_expectation(&self, n_steps: usize) -> Result<f64> {
        Ok(1.0 / self.a + self.squared_norm(n_steps)?.bias)
    }

    /// Asymptotic variance of `‖θ − μ‖²` per step: `4v²(1 + s)/(1 − s)` with `v = h/(1−s)`.
    pub fn squared_norm_asymptotic_variance(&self) -> f64 {
        let gap = self.contraction();
        let v = self.step_size / gap;
        4.0 * v * v * (2.0 - gap) / gap
    }

    /// `ah(1 + δ²)`: 2 at the limit of stability.
    fn stiffness(&self) -> f64 {
        self.a * self.step_size * (1.0 + self.delta * self.delta)
    }

    /// `1 − s`.
    fn contraction(&self) -> f64 {
        self.a * self.step_size * (2.0 - self.stiffness())
    }

    /// `|1 − w|²`.
    fn rate_squared(&self) -> f64 {
        self.a * self.step_size * self.stiffness()
    }

    fn decay(&self, n_steps: usize) -> Decay {
        let k = n_steps as f64;
        let ah = self.a * self.step_size;
        // Rounding must not push s below zero.
        let log_s = (-self.contraction().min(1.0)).ln_1p();
        let angle = k * (-ah * self.delta).atan2(1.0 - ah);
        let log_modulus = 0.5 * k * log_s;
        // 1 − r cos φ = −(r − 1) + r(1 − cos φ) = −expm1(log r) + 2 r sin²(φ/2).
        let modulus = log_modulus.exp();
        Decay {
            re: -log_modulus.exp_m1() + 2.0 * modulus * (0.5 * angle).sin().powi(2),
            im: -modulus * angle.sin(),
            square: -(k * log_s).exp_m1(),
        }
    }
}
