//! The usual summary of one parameter in one call.

use super::draws::{Draws, Halves};
use super::ess::{ess_below, ess_of_halves};
use super::mcse::{mcse_mean, mcse_sd};
use super::moments::mean_and_variance;
use super::quantile::quantile_of;
use super::ranks::rank_normalised;
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
    /// Monte-Carlo standard error of the mean, as [`mcse_mean`].
    pub mcse_mean: f64,
    /// Monte-Carlo standard error of the standard deviation, as [`mcse_sd`].
    pub mcse_sd: f64,
    /// Effective sample size of the bulk, as [`ess_bulk`](super::ess_bulk).
    pub ess_bulk: f64,
    /// Effective sample size of `q5` or `q95`, the smaller, as [`ess_tail`](super::ess_tail).
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
        let unit = Unit::of(draws.values());
        let (mean, variance) = mean_and_variance(&unit.measure(draws.values()));
        let mut summary = Self {
            mean: unit.length(mean),
            sd: unit.length(variance.sqrt()),
            mcse_mean: mcse_mean(draws),
            mcse_sd: mcse_sd(draws),
            ..Self::NOTHING
        };
        if draws.values().iter().any(|v| v.is_nan()) {
            return summary;
        }
        let mut scratch = draws.values().to_vec();
        summary.q5 = quantile_of(&mut scratch, 0.05);
        summary.q95 = quantile_of(&mut scratch, 0.95);
        if draws.is_unusable() {
            return summary;
        }
        summary.ess_tail = ess_below(draws, summary.q5).min(ess_below(draws, summary.q95));
        // Ranking is the expensive part, so both diagnostics share it.
        let halves = Halves::new(draws.values(), draws.n_draws());
        let bulk = halves.with(rank_normalised(halves.values()));
        summary.ess_bulk = ess_of_halves(&bulk);
        if draws.n_chains() > 1 {
            summary.r_hat = rhat_of_halves(&halves, &bulk);
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;
    use crate::stat::{ess_bulk, ess_tail, rhat};

    #[test]
    fn agrees_with_the_separate_functions() {
        let x = TestRng::new(51).ar1(3, 101, 0.5);
        let draws = Draws::new(&x, 3, 101).unwrap();
        let s = Summary::new(draws);
        assert_eq!(s.ess_bulk, ess_bulk(draws));
        assert_eq!(s.ess_tail, ess_tail(draws));
        assert_eq!(s.r_hat, rhat(draws));
        assert_eq!(s.mcse_mean, mcse_mean(draws));
        assert_eq!(s.mcse_sd, mcse_sd(draws));
        assert!(s.q5 < s.mean && s.mean < s.q95);
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
