//! Monte-Carlo standard errors of estimates from correlated draws.
//!
//! They are NaN where the effective sample size is.

use super::draws::Draws;
use super::ess::{ess_of_values, ess_quantile, squared_deviations};
use super::moments::{mean, mean_and_variance};
use super::scale::Unit;
use super::special::beta_quantile;
use crate::error::Result;

/// Standard error of the mean, `sd / sqrt(ESS)`.
///
/// ```
/// use langevin::stat::{Draws, mcse_mean};
/// let draws = [1.0, 3.0, 2.0, 4.0, 3.0, 1.0, 4.0, 2.0];
/// assert!(mcse_mean(Draws::new(&draws, 1, 8)?) < 1.0);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn mcse_mean(draws: Draws) -> f64 {
    if draws.is_unusable() {
        return f64::NAN;
    }
    let unit = Unit::of(draws.values());
    let measured = unit.measure(draws.values());
    let (_, variance) = mean_and_variance(&measured);
    let ess = ess_of_values(measured, draws.n_draws());
    unit.length(mean_error(variance, ess))
}

/// Standard error of a mean.
pub(super) fn mean_error(variance: f64, ess: f64) -> f64 {
    (variance / ess).sqrt()
}

/// Standard error of the standard deviation, by the delta method from that of the variance:
/// `Var(sd) ≈ (E d⁴ − (E d²)²) / (4 ESS E d²)` with `d` the distance to the mean and the effective
/// sample size of `d²`.
pub fn mcse_sd(draws: Draws) -> f64 {
    if draws.is_unusable() {
        return f64::NAN;
    }
    let unit = Unit::of(draws.values());
    let squares = squared_deviations(&unit.measure(draws.values()));
    let ess = ess_of_values(squares.clone(), draws.n_draws());
    unit.length(sd_error(&squares, ess))
}

/// Standard error of a standard deviation, from squared deviations and their effective sample size.
pub(super) fn sd_error(squares: &[f64], ess: f64) -> f64 {
    let second = mean(squares);
    let fourth = mean(&squares.iter().map(|d| d * d).collect::<Vec<_>>());
    ((fourth - second * second) / (4.0 * ess * second)).sqrt()
}

/// Standard error of the quantile at `0 < prob < 1`.
///
/// The frequency of draws below the quantile is treated as that of as many independent draws as
/// the effective sample size says. Half the distance between the quantiles at the two ends of its
/// 68 % interval (a beta distribution) is the error (Vehtari et al. 2021, section 4.4).
pub fn mcse_quantile(draws: Draws, prob: f64) -> Result<f64> {
    let ess = ess_quantile(draws, prob)?;
    if ess.is_nan() {
        return Ok(f64::NAN);
    }
    let last = draws.values().len() - 1;
    let position = |tail: f64| {
        let level = beta_quantile(tail, ess * prob + 1.0, ess * (1.0 - prob) + 1.0);
        (level * (last + 1) as f64 - 1.0).clamp(0.0, last as f64)
    };
    let mut scratch = draws.values().to_vec();
    // Φ(−1) and Φ(1), to the seven digits that other implementations use.
    let low = order_statistic(&mut scratch, position(0.1586553).floor());
    let high = order_statistic(&mut scratch, position(0.8413447).ceil());
    // Halved last, so that no digit of a small number is lost, but where the distance overflows.
    let distance = high - low;
    Ok(match distance.is_finite() {
        true => distance / 2.0,
        false => high / 2.0 - low / 2.0,
    })
}

fn order_statistic(values: &mut [f64], index: f64) -> f64 {
    *values
        .select_nth_unstable_by(index as usize, f64::total_cmp)
        .1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;

    /// The unit is a power of two, so that the plain formulas give the same bits.
    #[test]
    fn measuring_in_a_unit_changes_no_bit() {
        let mut rng = TestRng::new(42);
        for (n_chains, n_draws, scale) in [(1, 40, 0.3), (4, 101, 1e6), (3, 256, 7e-9)] {
            let x = rng.ar1(n_chains, n_draws, 0.4);
            let x: Vec<f64> = x.iter().map(|v| 0.1 + scale * v).collect();
            let draws = Draws::new(&x, n_chains, n_draws).unwrap();
            let (_, variance) = mean_and_variance(&x);
            let plain = (variance / ess_of_values(x.clone(), n_draws)).sqrt();
            assert_eq!(mcse_mean(draws), plain);
            let squares = squared_deviations(&x);
            let second = mean(&squares);
            let fourth = mean(&squares.iter().map(|d| d * d).collect::<Vec<_>>());
            let ess = ess_of_values(squares, n_draws);
            let plain = ((fourth - second * second) / (4.0 * ess * second)).sqrt();
            assert_eq!(mcse_sd(draws), plain);
        }
    }

    /// False-alarm rate: three ratios, each within 5 standard errors, below 2e-6 in all. The
    /// spread over 400 replications has a relative error of 3.5 %, the mean error far less.
    #[test]
    fn errors_are_the_spread_over_replications() {
        let (n_chains, n_draws) = (4, 1000);
        let mut rng = TestRng::new(41);
        let mut estimates = [const { Vec::new() }; 3];
        let mut errors = [0.0; 4];
        for _ in 0..400 {
            let x = rng.ar1(n_chains, n_draws, 0.6);
            let draws = Draws::new(&x, n_chains, n_draws).unwrap();
            let (mean, variance) = mean_and_variance(&x);
            estimates[0].push(mean);
            estimates[1].push(variance.sqrt());
            estimates[2].push(crate::stat::quantile(draws, 0.9).unwrap());
            let all = [
                mcse_mean(draws),
                mcse_sd(draws),
                mcse_quantile(draws, 0.9).unwrap(),
                (variance / x.len() as f64).sqrt(),
            ];
            for (sum, e) in errors.iter_mut().zip(all) {
                *sum += e * e / 400.0;
            }
        }
        let spread = |which: usize| mean_and_variance(&estimates[which]).1;
        for which in 0..3 {
            let ratio = (spread(which) / errors[which]).sqrt();
            assert!(
                (ratio - 1.0).abs() < 5.0 * 0.035,
                "estimate {which}: {ratio}"
            );
        }
        // Negative control: taken as independent, the draws give the mean half its error.
        assert!((spread(0) / errors[3]).sqrt() > 1.0 + 10.0 * 0.035);
    }
}
