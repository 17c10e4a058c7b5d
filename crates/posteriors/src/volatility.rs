//! Stochastic volatility.

use langevin::real::Real;
use langevin::target::Target;

use crate::data::Source;
use crate::series::ln_logistic;

/// yₜ ~ N(0, e^hₜ), hₜ₊₁ = μ + φ(hₜ − μ) + σ εₜ, stationary; μ ~ Cauchy(0, 10), φ uniform in (−1, 1),
/// σ ~ half-Cauchy(5).
///
/// Coordinates are μ, the inverse tanh of φ, log σ and the zₜ of h₁ = μ + σ z₁/√(1 − φ²),
/// hₜ₊₁ = μ + φ(hₜ − μ) + σ zₜ₊₁.
///
/// ```
/// use langevin::target::Target;
/// use langevin_posteriors::volatility::StochasticVolatility;
/// assert_eq!(StochasticVolatility::simulated(100).dim(), 103);
/// ```
#[derive(Clone, Debug)]
pub struct StochasticVolatility {
    y: Vec<f64>,
}

impl StochasticVolatility {
    /// A series of the given length.
    pub fn simulated(len: usize) -> Self {
        let mut source = Source::new(61);
        let mut x = 0.0;
        let mut step = || {
            x = 0.95 * x + 0.25 * source.normal();
            ((x - 1.0) * 0.5).exp() * source.normal()
        };
        StochasticVolatility {
            y: (0..len).map(|_| step()).collect(),
        }
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], x: &mut [R], out: &mut [R]) -> R {
        let n = self.y.len();
        let (mu, log_sigma) = (theta[0], theta[2]);
        let (phi, sigma) = (theta[1].tanh(), log_sigma.exp());
        // 1/√(1 − φ²) is cosh u.
        let widening = (R::one() - phi * phi).sqrt().recip();
        let (mut sum, q) = self.prior(theta, sigma);
        let z = &theta[3..];
        // Forward: x = h − μ, and what hₜ itself gives to log π, kept where its score will be.
        x[0] = sigma * widening * z[0];
        for t in 0..n {
            if t > 0 {
                x[t] = phi * x[t - 1] + sigma * z[t];
            }
            let h = mu + x[t];
            let excess = (-h).exp() * (self.y[t] * self.y[t]);
            sum -= (h + excess + z[t] * z[t]) * 0.5;
            out[3 + t] = (excess - 1.0) * 0.5;
        }
        // Backward: pull is the derivative along xₜ, with all that follows from it.
        let (mut pull, mut by_phi) = (R::zero(), R::zero());
        let mut by_log_sigma = R::one() - q * 2.0 / (q + 1.0);
        let mut by_mu = mu * -2.0 / (mu * mu + 100.0);
        for t in (0..n).rev() {
            by_mu += out[3 + t];
            pull = out[3 + t] + phi * pull;
            let reach = if t == 0 { sigma * widening } else { sigma };
            by_log_sigma += pull * reach * z[t];
            by_phi += match t {
                // d(1 − φ²)^(−½) = φ(1 − φ²)^(−3/2) dφ.
                0 => pull * x[0] * phi * widening * widening,
                _ => pull * x[t - 1],
            };
            out[3 + t] = pull * reach - z[t];
        }
        out[0] = by_mu;
        out[1] = by_phi * (R::one() - phi * phi) - phi * 2.0;
        out[2] = by_log_sigma;
        sum
    }

    /// The prior of μ, φ and σ with its Jacobian, and (σ/5)².
    #[inline(always)]
    fn prior<R: Real>(&self, theta: &[R], sigma: R) -> (R, R) {
        let q = sigma * sigma * 0.04;
        let mut sum = theta[2] - q.ln_1p() - (theta[0] * theta[0] * 0.01).ln_1p();
        // 1 − φ² = 4 logistic(2u) logistic(−2u).
        sum += ln_logistic(theta[1] * 2.0) + ln_logistic(theta[1] * -2.0);
        (sum, q)
    }
}

impl Target for StochasticVolatility {
    fn dim(&self) -> usize {
        3 + self.y.len()
    }

    fn scratch_len(&self) -> usize {
        self.y.len()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mu, phi, sigma) = (theta[0], theta[1].tanh(), theta[2].exp());
        let (mut sum, _) = self.prior(theta, sigma);
        let mut x = R::zero();
        for (t, y) in self.y.iter().enumerate() {
            let z = theta[3 + t];
            x = match t {
                0 => sigma * z / (R::one() - phi * phi).sqrt(),
                _ => phi * x + sigma * z,
            };
            let h = mu + x;
            sum -= (h + (-h).exp() * (y * y) + z * z) * 0.5;
        }
        sum
    }

    in_one_pass!();
}
