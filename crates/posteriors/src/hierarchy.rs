//! Normal observations with normal means: eight schools, and a thousand.

use langevin::real::Real;
use langevin::target::Target;

use crate::Moments;
use crate::data::Source;

/// yⱼ ~ N(θⱼ, sⱼ²), θⱼ ~ N(μ, τ²), μ ~ N(0, m²), τ ~ half-Cauchy(c), all sⱼ known.
///
/// Coordinates are μ, log τ and, centred, the θⱼ; otherwise zⱼ = (θⱼ − μ)/τ.
///
/// ```
/// use langevin_posteriors::hierarchy::Hierarchy;
/// let schools = Hierarchy::<false>::eight_schools();
/// // The mean effect, as published for this prior: 4.4 with a standard deviation of 3.3.
/// let mean = schools.moments().means[0].value;
/// assert!((mean - 4.4).abs() < 0.05);
/// ```
#[derive(Clone, Debug)]
pub struct Hierarchy<const CENTRED: bool> {
    y: Vec<f64>,
    /// sⱼ⁻².
    weight: Vec<f64>,
    mu_sd: f64,
    tau_scale: f64,
}

impl<const CENTRED: bool> Hierarchy<CENTRED> {
    /// From the yⱼ and sⱼ, and the scales m of μ and c of τ.
    pub fn new(y: &[f64], s: &[f64], mu_sd: f64, tau_scale: f64) -> Self {
        Hierarchy {
            y: y.to_vec(),
            weight: s.iter().map(|s| (s * s).recip()).collect(),
            mu_sd,
            tau_scale,
        }
    }

    /// Effects of coaching in eight schools (Rubin, 1981).
    pub fn eight_schools() -> Self {
        let y = [28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0];
        let s = [15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0];
        Self::new(&y, &s, 5.0, 5.0)
    }

    /// `n` groups with errors from 0.5 to 2 and effects of standard deviation 1.5.
    pub fn simulated(n: usize, seed: u64) -> Self {
        let mut source = Source::new(seed);
        let s: Vec<f64> = (0..n)
            .map(|j| 0.5 * 4f64.powf((j % 10) as f64 / 9.0))
            .collect();
        let one = |s: &f64| 2.0 + 1.5 * source.normal() + s * source.normal();
        let y: Vec<f64> = s.iter().map(one).collect();
        Self::new(&y, &s, 10.0, 5.0)
    }

    /// Means and standard deviations: given τ everything is Gaussian, and log τ is integrated by the
    /// trapezoidal rule, whose error is far below rounding here.
    ///
    /// With vⱼ = sⱼ² + τ², given τ: μ ~ N(M, V), V⁻¹ = m⁻² + Σ vⱼ⁻¹, M = V Σ yⱼ/vⱼ; given μ too,
    /// zⱼ ~ N(τ(yⱼ − μ)/vⱼ, sⱼ²/vⱼ) and θⱼ = μ + τ zⱼ.
    pub fn moments(&self) -> Moments {
        let d = self.dim();
        let (mut mass, mut first, mut second) = (0.0, vec![0.0; d], vec![0.0; d]);
        // The left tail of log τ falls like τ, its right tail like 1/τ at the slowest.
        let nodes = (-4000..=2000).map(|k| 0.01 * f64::from(k));
        let log_weights: Vec<(f64, f64)> = nodes.map(|t| (t, self.log_marginal(t).0)).collect();
        let top = log_weights
            .iter()
            .fold(f64::NEG_INFINITY, |m, w| m.max(w.1));
        for (t, log_weight) in log_weights {
            let weight = (log_weight - top).exp();
            if weight < 1e-20 {
                continue;
            }
            let tau = t.exp();
            let (_, m, v) = self.log_marginal(t);
            mass += weight;
            let mut add = |i: usize, mean: f64, variance: f64| {
                first[i] += weight * mean;
                second[i] += weight * (mean * mean + variance);
            };
            add(0, m, v);
            add(1, t, 0.0);
            for j in 0..self.y.len() {
                let s2 = self.weight[j].recip();
                let total = s2 + tau * tau;
                let (slope, own) = (tau / total, s2 / total);
                match CENTRED {
                    // θⱼ = μ(1 − τ slope) + τ slope yⱼ + …
                    true => add(
                        2 + j,
                        own * m + (1.0 - own) * self.y[j],
                        tau * tau * own + own * own * v,
                    ),
                    false => add(2 + j, slope * (self.y[j] - m), own + slope * slope * v),
                }
            }
        }
        let means: Vec<f64> = first.iter().map(|x| x / mass).collect();
        let sd = |(x, m): (&f64, &f64)| (x / mass - m * m).sqrt();
        let sds: Vec<f64> = second.iter().zip(&means).map(sd).collect();
        Moments::exact(&means, &sds)
    }

    /// log p(log τ | y) up to a constant, and mean and variance of μ given τ and y.
    fn log_marginal(&self, t: f64) -> (f64, f64, f64) {
        let tau2 = (2.0 * t).exp();
        let (mut precision, mut weighted) = (self.mu_sd.powi(-2), 0.0);
        let mut log_density = t - (tau2 / self.tau_scale.powi(2)).ln_1p();
        for (y, w) in self.y.iter().zip(&self.weight) {
            let total = w.recip() + tau2;
            precision += total.recip();
            weighted += y / total;
            log_density -= 0.5 * (total.ln() + y * y / total);
        }
        let mean = weighted / precision;
        log_density += 0.5 * (mean * weighted - precision.ln());
        (log_density, mean, precision.recip())
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let (mu, log_tau) = (theta[0], theta[1]);
        let tau = log_tau.exp();
        let inverse = tau.recip();
        let q = tau * tau / (self.tau_scale * self.tau_scale);
        let mut sum = log_tau - q.ln_1p() - mu * mu * (0.5 / (self.mu_sd * self.mu_sd));
        let mut by_mu = mu / -(self.mu_sd * self.mu_sd);
        let mut by_log_tau = R::one() - q * 2.0 / (q + 1.0);
        for j in 0..self.y.len() {
            let u = theta[2 + j];
            if CENTRED {
                let z = (u - mu) * inverse;
                let residual = -u + self.y[j];
                let pull = residual * self.weight[j];
                out[2 + j] = pull - z * inverse;
                by_mu += z * inverse;
                by_log_tau += z * z - 1.0;
                sum -= (z * z + residual * pull) * 0.5 + log_tau;
            } else {
                let residual = -mu - tau * u + self.y[j];
                let pull = residual * self.weight[j];
                out[2 + j] = pull * tau - u;
                by_mu += pull;
                by_log_tau += pull * tau * u;
                sum -= (u * u + residual * pull) * 0.5;
            }
        }
        (out[0], out[1]) = (by_mu, by_log_tau);
        sum
    }
}

impl<const CENTRED: bool> Target for Hierarchy<CENTRED> {
    fn dim(&self) -> usize {
        2 + self.y.len()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mu, log_tau) = (theta[0], theta[1]);
        let tau = log_tau.exp();
        let q = tau * tau / (self.tau_scale * self.tau_scale);
        let mut sum = log_tau - q.ln_1p() - mu * mu * (0.5 / (self.mu_sd * self.mu_sd));
        for j in 0..self.y.len() {
            let u = theta[2 + j];
            let (z, effect) = if CENTRED {
                sum -= log_tau;
                ((u - mu) / tau, u)
            } else {
                (u, mu + tau * u)
            };
            let residual = -effect + self.y[j];
            sum -= (z * z + residual * residual * self.weight[j]) * 0.5;
        }
        sum
    }

    in_one_pass!();
}
