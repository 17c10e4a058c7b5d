//! Effective sample size: how many independent draws the draws of some chains are worth.
//!
//! All estimators split the chains into halves and share the estimate of the autocorrelation time
//! of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), section 3.2, with the initial
//! monotone positive sequence of Geyer (1992). They are NaN with fewer than four draws per chain
//! or if a draw is not finite, and the number of draws (those in the halves) if all draws are
//! equal. Draws of any size are welcome: scaled by a power of two, they give the same bits.

use super::autocov::Autocovariance;
use super::draws::{Draws, Halves};
use super::moments::{mean, mean_and_variance};
use super::quantile::{check_prob, quantile_of};
use super::ranks::{NormalScores, Order};
use super::scale::Unit;
use crate::error::Result;

/// Effective sample size of the rank-normalised draws: of the bulk of the distribution.
///
/// ```
/// use langevin::stat::{Draws, ess_bulk};
/// // A chain that lingers is worth less than its number of draws.
/// let slow: Vec<f64> = (0..400).map(|i| f64::from(i / 20 * 7 % 13)).collect();
/// assert!(ess_bulk(Draws::new(&slow, 1, 400)?) < 100.0);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn ess_bulk(draws: Draws) -> f64 {
    if draws.is_unusable() {
        return f64::NAN;
    }
    let halves = Halves::new(draws.values(), draws.n_draws());
    let scores = NormalScores::new(halves.values().len());
    ess_of_halves(&halves.with(Order::new(halves.values()).scores(&scores)))
}

/// The smaller of the effective sample sizes of the 5 % and 95 % quantiles.
pub fn ess_tail(draws: Draws) -> f64 {
    if draws.is_unusable() {
        return f64::NAN;
    }
    let mut scratch = draws.values().to_vec();
    let [low, high] = [0.05, 0.95].map(|prob| quantile_of(&mut scratch, prob));
    ess_below(draws, low).min(ess_below(draws, high))
}

/// Effective sample size of the mean.
pub fn ess_mean(draws: Draws) -> f64 {
    if draws.is_unusable() {
        return f64::NAN;
    }
    let measured = Unit::of(draws.values()).measure(draws.values());
    ess_of_values(measured, draws.n_draws())
}

/// Effective sample size of the standard deviation: of the squared distance to the mean.
pub fn ess_sd(draws: Draws) -> f64 {
    if draws.is_unusable() {
        return f64::NAN;
    }
    let measured = Unit::of(draws.values()).measure(draws.values());
    ess_of_values(squared_deviations(&measured), draws.n_draws())
}

/// Effective sample size of the quantile at `0 < prob < 1`.
pub fn ess_quantile(draws: Draws, prob: f64) -> Result<f64> {
    check_prob(prob)?;
    if draws.is_unusable() {
        return Ok(f64::NAN);
    }
    let at = quantile_of(&mut draws.values().to_vec(), prob);
    Ok(ess_below(draws, at))
}

/// Effective sample size of the frequency of draws that are at most `threshold`.
pub(super) fn ess_below(draws: Draws, threshold: f64) -> f64 {
    let below = |&v: &f64| f64::from(v <= threshold);
    let below: Vec<f64> = draws.values().iter().map(below).collect();
    ess_of_values(below, draws.n_draws())
}

/// Squared distances to the mean, of values that are measured in their own unit.
pub(super) fn squared_deviations(values: &[f64]) -> Vec<f64> {
    squared_distances(values, mean(values))
}

/// The same, where the mean is known.
pub(super) fn squared_distances(values: &[f64], mean: f64) -> Vec<f64> {
    values.iter().map(|v| (v - mean) * (v - mean)).collect()
}

/// Effective sample size of the mean of whole chains, in a unit in which squares exist.
pub(super) fn ess_of_values(values: Vec<f64>, n_draws: usize) -> f64 {
    ess_of_halves(&Halves::new(values, n_draws))
}

/// Effective sample size of the mean of chains that have been split and transformed.
pub(super) fn ess_of_halves(chains: &Halves) -> f64 {
    let size = chains.values().len() as f64;
    if is_constant(chains.values()) {
        return size;
    }
    let n = chains.n_draws() as f64;
    let mut covariance = Autocovariance::new(chains);
    let variance = covariance.at(0);
    let within = variance * n / (n - 1.0);
    // Halves of a chain are at least two chains, so the variance between them exists.
    let total = variance + mean_and_variance(covariance.means()).1;
    let correlation = |lag: usize| 1.0 - (within - covariance.at(lag)) / total;
    // Antithetic chains may be worth more than their size, but not without bound.
    let time = autocorrelation_time(chains.n_draws(), correlation);
    if time.is_nan() {
        return f64::NAN;
    }
    size / time.max(1.0 / size.log10())
}

/// All values equal, but for rounding.
fn is_constant(values: &[f64]) -> bool {
    let Some(&first) = values.first() else {
        return true;
    };
    // Eight pairs of bounds, so that a comparison does not wait for the one before.
    let (mut low, mut high) = ([first; 8], [first; 8]);
    for eight in values.chunks(8) {
        for (v, (low, high)) in eight.iter().zip(low.iter_mut().zip(&mut high)) {
            *low = if *v < *low { *v } else { *low };
            *high = if *v > *high { *v } else { *high };
        }
    }
    let low = low.into_iter().fold(first, f64::min);
    let high = high.into_iter().fold(first, f64::max);
    high - low <= 1e-15 * low.abs().max(high.abs())
}

/// `1 + 2 Σ ρ(t)`, the sum cut off where pairs of neighbours become negative and made monotone.
///
/// The lag after the last pair still counts once if its correlation is positive, which makes the
/// estimate better for antithetic chains.
fn autocorrelation_time(n: usize, mut correlation: impl FnMut(usize) -> f64) -> f64 {
    let mut rho = vec![0.0; n];
    let (mut even, mut odd) = (1.0, correlation(1));
    (rho[0], rho[1]) = (even, odd);
    // Initial positive sequence; a pair is (ρ(t + 1), ρ(t + 2)) with t odd.
    let mut t = 1;
    while t + 3 < n && even + odd > 0.0 {
        (even, odd) = (correlation(t + 1), correlation(t + 2));
        if even + odd >= 0.0 {
            (rho[t + 1], rho[t + 2]) = (even, odd);
        }
        t += 2;
    }
    let last = t - 1;
    if even > 0.0 {
        rho[last] = even;
    }
    // Initial monotone sequence.
    for t in (1..last.saturating_sub(2)).step_by(2) {
        let before = rho[t - 1] + rho[t];
        if rho[t + 1] + rho[t + 2] > before {
            rho[t + 1] = before / 2.0;
            rho[t + 2] = before / 2.0;
        }
    }
    if even.is_nan() || odd.is_nan() {
        return f64::NAN;
    }
    -1.0 + 2.0 * rho[..last].iter().sum::<f64>() + rho[last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::{TestRng, z_score};

    /// Autocorrelation times `size / ESS` of replications of four AR(1) chains.
    fn times(phi: f64) -> Vec<f64> {
        let (n_chains, n_draws) = (4, 10_000);
        let mut rng = TestRng::new(31);
        let mut one = || {
            let x = rng.ar1(n_chains, n_draws, phi);
            x.len() as f64 / ess_mean(Draws::new(&x, n_chains, n_draws).unwrap())
        };
        (0..60).map(|_| one()).collect()
    }

    /// The autocorrelation time of AR(1) is `(1 + φ)/(1 − φ)`. False-alarm rate: three tests at
    /// |z| < 4.5 with 59 degrees of freedom, 1e-4 in all (the bias of the truncated sum is below
    /// the standard error of 0.3 to 0.9 %).
    #[test]
    fn autoregressive_chains_have_the_known_time() {
        for phi in [0.9, 0.5, -0.5] {
            let (times, known) = (times(phi), (1.0 + phi) / (1.0 - phi));
            let z = z_score(&times, known);
            assert!(z.abs() < 4.5, "φ = {phi}: z = {z}");
            // Negative control: a time 10 % away is refused.
            assert!(z_score(&times, 0.9 * known) > 6.0, "φ = {phi}");
            assert!(z_score(&times, 1.1 * known) < -6.0, "φ = {phi}");
        }
    }

    #[test]
    fn constant_draws_count_in_full_at_any_scale() {
        let of = |x: &[f64]| ess_mean(Draws::new(x, 2, x.len() / 2).unwrap());
        assert_eq!(of(&[0.1; 40]), 40.0);
        assert_eq!(of(&[0.0; 42]), 40.0);
        // Tiny draws are not constant draws.
        let x = TestRng::new(32).ar1(2, 500, 0.9);
        let tiny: Vec<f64> = x.iter().map(|v| v * 2f64.powi(-80)).collect();
        assert_eq!(of(&x), of(&tiny));
    }

    #[test]
    fn draws_that_cannot_be_used_give_nan() {
        let short = Draws::new(&[1.0, 2.0, 4.0], 1, 3).unwrap();
        let holed = [1.0, f64::NAN, 2.0, 5.0];
        let holed = Draws::new(&holed, 1, 4).unwrap();
        for draws in [short, holed] {
            for ess in [ess_bulk, ess_tail, ess_mean, ess_sd] {
                assert!(ess(draws).is_nan());
            }
            assert!(ess_quantile(draws, 0.5).unwrap().is_nan());
        }
        assert!(ess_quantile(short, 1.5).is_err());
    }
}
