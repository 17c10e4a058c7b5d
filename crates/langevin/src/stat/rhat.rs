//! Rank-normalised split R-hat: do all halves of all chains have one distribution?

use super::draws::{Draws, Halves};
use super::moments::{mean, mean_and_variance};
use super::ranks::{NormalScores, Order};

/// Rank-normalised split R-hat, the larger of the one for the location (bulk) and the one for the
/// scale (folded) of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), section 4. Values
/// above 1.01 say that the chains have not mixed.
///
/// NaN with a single chain, with fewer than four draws, if a draw is not finite, or if all draws
/// are equal. Infinite if every half chain is constant but not all are equal.
///
/// ```
/// use langevin::stat::{Draws, rhat};
/// // Two chains that never meet.
/// let apart = [0.1, 0.3, 0.2, 0.4, 9.3, 9.1, 9.4, 9.2];
/// assert!(rhat(Draws::new(&apart, 2, 4)?) > 1.5);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn rhat(draws: Draws) -> f64 {
    if draws.n_chains() < 2 || draws.is_unusable() {
        return f64::NAN;
    }
    let halves = Halves::new(draws.values(), draws.n_draws());
    let order = Order::new(halves.values());
    let scores = NormalScores::new(halves.values().len());
    let ranked = |order: &Order| halves.with(order.scores(&scores));
    rhat_of_halves(&ranked(&order), &ranked(&order.folded()))
}

/// The same, when the rank-normalised halves, and their distances to the median, are already known.
pub(super) fn rhat_of_halves(bulk: &Halves, tail: &Halves) -> f64 {
    // `max` ignores a NaN: draws of two values only have no folded R-hat.
    plain_rhat(bulk).max(plain_rhat(tail))
}

/// `sqrt((B/W + n − 1) / n)` with the variances `B` between and `W` within chains.
fn plain_rhat(chains: &Halves) -> f64 {
    let n = chains.n_draws() as f64;
    let (means, variances): (Vec<f64>, Vec<f64>) = chains.chains().map(mean_and_variance).unzip();
    let between = n * mean_and_variance(&means).1;
    ((between / mean(&variances) + n - 1.0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_chains() {
        let at = |values: &[f64]| rhat(Draws::new(values, 2, values.len() / 2).unwrap());
        assert!(at(&[0.3; 20]).is_nan());
        let stuck: Vec<f64> = [[0.1; 10], [0.2; 10]].concat();
        assert_eq!(at(&stuck), f64::INFINITY);
    }
}
