//! Nested R-hat: do chains that started apart agree?

use super::draws::Draws;
use super::moments::{mean, mean_and_variance};
use super::ranks::{NormalScores, Order};
use super::special::beta_quantile;
use crate::error::{Error, Result};

/// Nested R-hat of Margossian, Hoffman, Sountsov, Riou-Durand, Vehtari and Gelman (2022), the larger
/// of the one of rank-normalised draws (location) and the one of rank-normalised distances to the
/// median (scale).
///
/// The chains are `n_superchains` groups of equal size, one after the other; those of a group
/// started at one point. With the variance B between the means of groups, and W the mean over groups
/// of the variance between the means of their chains plus that within chains,
///
/// ```text
/// R = √(1 + B/W).
/// ```
///
/// Many short chains are enough for it. Its threshold is [`nested_rhat_threshold`]. NaN with one
/// group, with fewer than four draws, if a draw is not finite, or if all draws are equal; infinite if
/// no chain moves and they are not all at one place.
///
/// ```
/// use langevin::stat::{Draws, nested_rhat};
/// // Two groups of two chains each that never meet.
/// let apart = [
///     0.1, 0.3, 0.2, 0.4, 0.2, 0.1, 0.4, 0.3, //
///     9.3, 9.1, 9.4, 9.2, 9.4, 9.3, 9.1, 9.2,
/// ];
/// assert!(nested_rhat(Draws::new(&apart, 4, 4)?, 2)? > 1.5);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn nested_rhat(draws: Draws, n_superchains: usize) -> Result<f64> {
    check_groups(draws.n_chains(), n_superchains)?;
    if n_superchains < 2 || draws.is_unusable() {
        return Ok(f64::NAN);
    }
    let order = Order::new(draws.values());
    let scores = NormalScores::new(draws.values().len());
    let (location, scale) = (order.scores(&scores), order.folded().scores(&scores));
    let per_group = draws.n_chains() / n_superchains;
    Ok(nested_rhat_of_ranks(
        &location,
        &scale,
        draws.n_draws(),
        per_group,
    ))
}

/// The same, when the rank-normalised draws, and their distances to the median, are already known.
pub(super) fn nested_rhat_of_ranks(
    location: &[f64],
    scale: &[f64],
    n_draws: usize,
    per_group: usize,
) -> f64 {
    let of = |values: &[f64]| plain(values, n_draws, per_group);
    // `max` ignores a NaN: draws of two values only have no distances that differ.
    of(location).max(of(scale))
}

/// Refuses groups of different sizes.
pub(super) fn check_groups(n_chains: usize, n_superchains: usize) -> Result<()> {
    if n_superchains > 0 && n_chains.is_multiple_of(n_superchains) {
        return Ok(());
    }
    Err(Error::Mismatch {
        name: "the number of superchains",
        reason: format!("{n_chains} chains are not {n_superchains} groups of equal size"),
    })
}

fn plain(values: &[f64], n_draws: usize, per_group: usize) -> f64 {
    let (mut means, mut within) = (vec![], vec![]);
    for group in values.chunks_exact(n_draws * per_group) {
        let chains = group.chunks_exact(n_draws).map(mean_and_variance);
        let (of_chains, variances): (Vec<f64>, Vec<f64>) = chains.unzip();
        let between = if per_group > 1 {
            mean_and_variance(&of_chains).1
        } else {
            0.0
        };
        means.push(mean(&of_chains));
        within.push(between + mean(&variances));
    }
    (1.0 + mean_and_variance(&means).1 / mean(&within)).sqrt()
}

/// Effective draws per chain below which no effective sample size is believed.
pub(super) const FEWEST_PER_CHAIN: f64 = 5.0;

/// Probability with which chains of five effective draws each exceed the threshold.
const FALSE_ALARM: f64 = 1e-4;

/// What [`nested_rhat`] stays below, with probability 1 − 10⁻⁴, where all `n_superchains` (K) groups
/// of `per_superchain` (M) chains are stationary and the draws of each chain are worth e = five
/// independent ones, or as many as there are if that is less:
///
/// ```text
/// √(1 + F(K − 1, K(Me − 1)) / (Me)),
/// ```
///
/// with the quantile of Fisher's F, as the mean of a group then has variance σ²/(Me). One draw and
/// many groups give the known √(1 + 1/M). Chains that are worth more stay far below.
///
/// ```
/// use langevin::stat::nested_rhat_threshold;
/// let threshold = nested_rhat_threshold(4, 16, 1000);
/// assert!(threshold > 1.03 && threshold < 1.06);
/// ```
pub fn nested_rhat_threshold(n_superchains: usize, per_superchain: usize, n_draws: usize) -> f64 {
    let worth = FEWEST_PER_CHAIN.min(n_draws as f64);
    threshold_for(n_superchains, per_superchain, worth)
}

/// The same where the draws of each chain are worth so many.
pub(super) fn threshold_for(n_superchains: usize, per_superchain: usize, worth: f64) -> f64 {
    let groups = n_superchains.max(2) as f64;
    let worth = worth * per_superchain as f64;
    let (a, b) = (groups - 1.0, (groups * (worth - 1.0)).max(1.0));
    (1.0 + f_quantile(1.0 - FALSE_ALARM, a, b) / worth).sqrt()
}

/// Quantile of F with a and b degrees of freedom: aF/(aF + b) is Beta(a/2, b/2).
fn f_quantile(p: f64, a: f64, b: f64) -> f64 {
    let x = beta_quantile(p, 0.5 * a, 0.5 * b);
    b * x / (a * (1.0 - x))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;

    #[test]
    fn quantiles_of_f() {
        // With two degrees of freedom above: (b/2)((1 − p)^(−2/b) − 1).
        for b in [4.0, 30.0, 200.0] {
            let known = 0.5 * b * (1e-4f64.powf(-2.0 / b) - 1.0);
            assert!((f_quantile(0.9999, 2.0, b) / known - 1.0).abs() < 1e-9);
        }
        // With one, the square of Student's t; of Cauchy's, tan²(π(p/2)).
        let known = (std::f64::consts::FRAC_PI_2 * 0.99).tan().powi(2);
        assert!((f_quantile(0.99, 1.0, 1.0) / known - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_small_case_by_hand() {
        // Groups (1, 3 | 2, 4) and (5, 7 | 6, 8): group means 2.5, 6.5, so B = 8; chain means apart
        // by 1 (variance ½), chains with variance 2.
        let values = [1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0];
        assert_eq!(plain(&values, 2, 2), (1.0f64 + 8.0 / 2.5).sqrt());
        assert_eq!(plain(&values, 2, 1), {
            let between = mean_and_variance(&[2.0, 3.0, 6.0, 7.0]).1;
            (1.0 + between / 2.0).sqrt()
        });
    }

    /// The threshold is exceeded at most as often as it says by chains of five draws each, and one
    /// that is made for twice the worth is exceeded. 2000 runs, expected at most 0.4 in two looks
    /// each; more than 5 have probability 1e-6.
    #[test]
    fn the_threshold_holds_where_chains_are_worth_five_draws() {
        let mut rng = TestRng::new(61);
        for (groups, per_group) in [(4, 4), (8, 1), (16, 4)] {
            let (n, limit) = (
                groups * per_group,
                nested_rhat_threshold(groups, per_group, 5),
            );
            let mut over = [0; 2];
            for _ in 0..2000 {
                let values = rng.normals(n * 5);
                let draws = Draws::new(&values, n, 5).unwrap();
                let figure = nested_rhat(draws, groups).unwrap();
                over[0] += usize::from(figure > limit);
                let half = (1.0 + (limit * limit - 1.0) / 3.0).sqrt();
                over[1] += usize::from(figure > half);
            }
            assert!(over[0] <= 5, "{groups} {per_group}: {over:?}");
            assert!(over[1] > 10, "{groups} {per_group}: {over:?}");
        }
    }

    #[test]
    fn groups_must_be_equal_and_more_than_one() {
        let values = TestRng::new(62).normals(24);
        let draws = Draws::new(&values, 4, 6).unwrap();
        assert!(nested_rhat(draws, 3).is_err() && nested_rhat(draws, 0).is_err());
        assert!(nested_rhat(draws, 1).unwrap().is_nan());
        let still = Draws::new(&[1.0; 24], 4, 6).unwrap();
        assert!(nested_rhat(still, 2).unwrap().is_nan());
        let apart: Vec<f64> = (0..24).map(|i| f64::from(i / 12)).collect();
        let apart = Draws::new(&apart, 4, 6).unwrap();
        assert_eq!(nested_rhat(apart, 2).unwrap(), f64::INFINITY);
    }
}
