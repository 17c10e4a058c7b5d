//! The usual summary of one parameter in one call.

use super::draws::{Draws, Halves};
use super::ess::{ess_below, ess_of_halves, ess_of_values, squared_distances};
use super::mcse::{mean_error, sd_error};
use super::moments::mean_and_variance;
use super::quantile::quantile_in;
use super::ranks::{NormalScores, Order};
use super::rhat::rhat_of_halves;
use super::scale::Unit;

/// Location, spread and convergence diagnostics of one parameter.
///
/// ```
/// use langevin::stat::{Draws, Summary};
/// let draws = [1.0, 3.0, 2.0, 4.0, 3.0, 1.0, 4.0, 2.0];
/// let summary = Summary::new(Draws::new(&draws, 2, 4)?);
/// assert_eq!(summary.mean, 2.5);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Mean of all draws.
    pub mean: f64,
    /// Standard deviation of all draws (divisor: their number less one).
    pub sd: f64,
    /// Quantile at 5 %, the lower end of the central 90 %.
    pub q5: f64,
    /// Quantile at 95 %, the upper end of the central 90 %.
    pub q95: f64,
    /// Monte-Carlo standard error of the mean, as [`mcse_mean`](super::mcse_mean).
    pub mcse_mean: f64,
    /// Monte-Carlo standard error of the standard deviation, as [`mcse_sd`](super::mcse_sd).
    pub mcse_sd: f64,
    /// Effective sample size of the bulk, as [`ess_bulk`](super::ess_bulk)(super::ess_bulk).
    pub ess_bulk: f64,
    /// Effective sample size of `q5` or `q95`, the smaller, as [`ess_tail`](super::ess_tail)(super::ess_tail).
    pub ess_tail: f64,
    /// Rank-normalised split R-hat, as [`rhat`](super::rhat()).
    pub r_hat: f64,
}

impl Summary {
    /// Where there is nothing to know.
    pub(super) const NOTHING: Self = Self {
        mean: f64::NAN,
        sd: f64::NAN,
        q5: f64::NAN,
        q95: f64::NAN,
        mcse_mean: f64::NAN,
        mcse_sd: f64::NAN,
        ess_bulk: f64::NAN,
        ess_tail: f64::NAN,
        r_hat: f64::NAN,
    };

    /// Summary of the draws of one parameter.
    ///
    /// Everything is NaN if a draw is NaN; the diagnostics are NaN with fewer than four draws per
    /// chain or if a draw is infinite, and `r_hat` with a single chain.
    pub fn new(draws: Draws) -> Self {
        if draws.is_unusable() {
            return Self::of_unusable(draws);
        }
        let size = 2 * (draws.n_draws() / 2) * draws.n_chains();
        Quantity::new(draws, &NormalScores::new(size)).summary
    }

    /// Where draws are too few for diagnostics, or not all finite.
    fn of_unusable(draws: Draws) -> Self {
        let unit = Unit::of(draws.values());
        let (mean, variance) = mean_and_variance(&unit.measure(draws.values()));
        let mut summary = Self {
            mean: unit.length(mean),
            sd: unit.length(variance.sqrt()),
            ..Self::NOTHING
        };
        if !draws.values().iter().any(|v| v.is_nan()) {
            let order = Order::new(draws.values());
            summary.q5 = quantile_in(&order, 0.05);
            summary.q95 = quantile_in(&order, 0.95);
        }
        summary
    }
}

/// Draws that can be used, and what several figures of theirs have in common: it is computed once.
pub(super) struct Quantity {
    pub summary: Summary,
    /// The order of all draws.
    pub order: Order,
    /// Squared distances to the mean, in a unit of the draws.
    pub squares: Vec<f64>,
    /// Effective sample size of those.
    pub ess_squares: f64,
    /// Rank-normalised halves, and rank-normalised distances to the median.
    pub bulk: Halves<'static>,
    pub tail: Halves<'static>,
}

impl Quantity {
    /// Looks at draws, given the normal scores of the ranks of their halves.
    pub fn new(draws: Draws, scores: &NormalScores) -> Self {
        let n_draws = draws.n_draws();
        let unit = Unit::of(draws.values());
        let measured = unit.measure(draws.values());
        let (mean, variance) = mean_and_variance(&measured);
        let squares = squared_distances(&measured, mean);
        let ess_mean = ess_of_values(measured, n_draws);
        let ess_squares = ess_of_values(squares.clone(), n_draws);
        let order = Order::new(draws.values());
        let [q5, q95] = [0.05, 0.95].map(|prob| quantile_in(&order, prob));
        let halves = Halves::new(draws.values(), n_draws);
        let ranked = |order: &Order| halves.with(order.scores(scores));
        let both = |order: &Order| [ranked(order), ranked(&order.folded())];
        let [bulk, tail] = match n_draws % 2 {
            0 => both(&order),
            // One draw of each chain is in neither half.
            _ => both(&Order::new(halves.values())),
        };
        let summary = Summary {
            mean: unit.length(mean),
            sd: unit.length(variance.sqrt()),
            q5,
            q95,
            mcse_mean: unit.length(mean_error(variance, ess_mean)),
            mcse_sd: unit.length(sd_error(&squares, ess_squares)),
            ess_bulk: ess_of_halves(&bulk),
            ess_tail: ess_below(draws, q5).min(ess_below(draws, q95)),
            r_hat: match draws.n_chains() {
                1 => f64::NAN,
                _ => rhat_of_halves(&bulk, &tail),
            },
        };
        Quantity {
            summary,
            order,
            squares,
            ess_squares,
            bulk,
            tail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;
    use crate::stat::{Sample, Verdict, quantile, tail_index_of_squares};
    use crate::stat::{ess_bulk, ess_sd, ess_tail, mcse_mean, mcse_sd, nested_rhat, rhat};

    #[test]
    fn agrees_with_the_separate_functions() {
        for n_draws in [100, 101] {
            let x = TestRng::new(51).ar1(3, n_draws, 0.5);
            let draws = Draws::new(&x, 3, n_draws).unwrap();
            let s = Summary::new(draws);
            assert_eq!(s.ess_bulk, ess_bulk(draws));
            assert_eq!(s.ess_tail, ess_tail(draws));
            assert_eq!(s.r_hat, rhat(draws));
            assert_eq!(s.mcse_mean, mcse_mean(draws));
            assert_eq!(s.mcse_sd, mcse_sd(draws));
            assert_eq!(s.q5, quantile(draws, 0.05).unwrap());
            assert_eq!(s.q95, quantile(draws, 0.95).unwrap());
            assert!(s.q5 < s.mean && s.mean < s.q95);
            // And a verdict with all of them.
            let sample = Sample::new(&x, 3, n_draws, 1).unwrap();
            let figures = Verdict::new(&sample).coordinates[0];
            assert_eq!(figures.summary, s);
            assert_eq!(figures.ess_squares, ess_sd(draws));
            assert_eq!(figures.nested_rhat, nested_rhat(draws, 3).unwrap());
            assert_eq!(figures.tail, tail_index_of_squares(draws));
        }
    }

    #[test]
    fn short_or_holed_draws_keep_what_can_be_known() {
        let short = Summary::new(Draws::new(&[1.0, 2.0, 6.0], 1, 3).unwrap());
        assert_eq!((short.mean, short.sd), (3.0, 7f64.sqrt()));
        assert!((short.q5 - 1.1).abs() < 1e-15 && short.ess_bulk.is_nan());
        let holed = Summary::new(Draws::new(&[1.0, f64::NAN], 1, 2).unwrap());
        assert!(holed.mean.is_nan() && holed.q5.is_nan());
    }
}
