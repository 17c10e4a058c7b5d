//! Time series with few parameters, differentiated by dual numbers.

use langevin::real::Real;
use langevin::target::Target;

use crate::data::Source;

/// log of the logistic function.
#[inline(always)]
pub(crate) fn ln_logistic<R: Real>(x: R) -> R {
    -(-x).softplus()
}

/// yₜ = α + Σ φₖ yₜ₋ₖ + σ εₜ of order P = 1 or 2, given its first values; φ uniform where the series
/// is stationary, α ~ N(0, 10²), σ ~ half-Cauchy(2.5).
///
/// Coordinates are α, the inverse tanh of the partial autocorrelations rₖ, and log σ. For P = 2,
/// φ₁ = r₁(1 − r₂) and φ₂ = r₂, so that dφ = (1 − r₂) dr.
#[derive(Clone, Debug)]
pub struct Autoregression<const P: usize> {
    y: Vec<f64>,
}

impl<const P: usize> Autoregression<P> {
    /// A hundred values of a series that oscillates slowly (P = 2) or returns slowly (P = 1).
    pub fn simulated() -> Self {
        let mut source = Source::new(50 + P as u64);
        let phi = if P == 1 { [0.85, 0.0] } else { [1.1, -0.4] };
        let mut y = vec![1.0, 1.0];
        for t in 2..100 {
            y.push(0.3 + phi[0] * y[t - 1] + phi[1] * y[t - 2] + 0.7 * source.normal());
        }
        Autoregression { y }
    }
}

impl<const P: usize> Target for Autoregression<P> {
    fn dim(&self) -> usize {
        P + 2
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (alpha, log_sigma) = (theta[0], theta[P + 1]);
        let precision = (log_sigma * -2.0).exp();
        let mut sum = log_sigma - alpha * alpha * 0.005;
        sum -= (precision * 6.25).recip().ln_1p();
        let mut phi = [R::zero(); P];
        for k in 0..P {
            phi[k] = theta[1 + k].tanh();
            // 1 − r² = 4 logistic(2u) logistic(−2u).
            sum += ln_logistic(theta[1 + k] * 2.0) + ln_logistic(theta[1 + k] * -2.0);
        }
        if P == 2 {
            phi[0] *= R::one() - phi[1];
            // 1 − r = 2 logistic(−2u).
            sum += ln_logistic(theta[2] * -2.0);
        }
        let mut squares = R::zero();
        for t in P..self.y.len() {
            let mut residual = -alpha + self.y[t];
            for k in 0..P {
                residual -= phi[k] * self.y[t - 1 - k];
            }
            squares += residual * residual;
        }
        sum - squares * precision * 0.5 - log_sigma * (self.y.len() - P) as f64
    }
}

/// yₜ ~ N(μ, vₜ), vₜ = α₀ + α₁(yₜ₋₁ − μ)² + β vₜ₋₁; α₀ ~ Exp(1), (α₁, β) uniform where α₁ + β < 1,
/// μ ~ N(0, 10²).
///
/// Coordinates are μ, log α₀, logit α₁ and logit β/(1 − α₁).
#[derive(Clone, Debug)]
pub struct Garch {
    y: Vec<f64>,
    first_variance: f64,
}

impl Garch {
    /// Two hundred values.
    pub fn simulated() -> Self {
        let mut source = Source::new(53);
        let (mut y, mut variance): (Vec<f64>, f64) = (vec![], 1.0);
        for _ in 0..200 {
            let residual = variance.sqrt() * source.normal();
            y.push(0.5 + residual);
            variance = 0.3 + 0.3 * residual * residual + 0.4 * variance;
        }
        Garch {
            y,
            first_variance: 1.0,
        }
    }
}

impl Target for Garch {
    fn dim(&self) -> usize {
        4
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mu, log_alpha0) = (theta[0], theta[1]);
        let (alpha0, alpha1) = (log_alpha0.exp(), theta[2].logistic());
        let beta = (R::one() - alpha1) * theta[3].logistic();
        let mut sum = log_alpha0 - alpha0 - mu * mu * 0.005;
        sum += ln_logistic(theta[2]) + ln_logistic(-theta[2]) * 2.0;
        sum += ln_logistic(theta[3]) + ln_logistic(-theta[3]);
        let mut variance = R::of(self.first_variance);
        for y in &self.y {
            let square = (-mu + *y) * (-mu + *y);
            sum -= (variance.ln() + square / variance) * 0.5;
            variance = alpha0 + alpha1 * square + beta * variance;
        }
        sum
    }
}
