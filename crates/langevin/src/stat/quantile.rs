//! Quantiles of all draws taken together.

use super::draws::Draws;
use super::ranks::Order;
use crate::error::{Error, Result};

/// Quantile at `0 < prob < 1` of the draws of all chains, interpolated linearly between the two
/// nearest order statistics (type 7 of Hyndman and Fan 1996); NaN if a draw is NaN.
///
/// ```
/// use langevin::stat::{Draws, quantile};
/// let draws = Draws::new(&[4.0, 1.0, 2.0, 3.0], 2, 2)?;
/// assert_eq!(quantile(draws, 0.5)?, 2.5);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn quantile(draws: Draws, prob: f64) -> Result<f64> {
    check_prob(prob)?;
    if draws.values().iter().any(|v| v.is_nan()) {
        return Ok(f64::NAN);
    }
    Ok(quantile_of(&mut draws.values().to_vec(), prob))
}

pub(super) fn check_prob(prob: f64) -> Result<()> {
    if prob > 0.0 && prob < 1.0 {
        return Ok(());
    }
    Err(Error::OutOfRange {
        name: "probability",
        value: prob,
        low: 0.0,
        high: 1.0,
    })
}

/// The quantile of at least one value, none of them NaN, which are put into another order.
pub(super) fn quantile_of(values: &mut [f64], prob: f64) -> f64 {
    interpolated(values.len(), prob, |index| neighbours(values, index))
}

/// The quantile of values whose order is known.
pub(super) fn quantile_in(order: &Order, prob: f64) -> f64 {
    let sorted = order.sorted();
    interpolated(sorted.len(), prob, |index| {
        let next = sorted.get(index + 1).unwrap_or(&sorted[index]);
        (sorted[index].0, next.0)
    })
}

/// The quantile of n values, given the order statistics `index` and `index + 1`.
fn interpolated(n: usize, prob: f64, neighbours: impl FnOnce(usize) -> (f64, f64)) -> f64 {
    let position = n as f64 * prob + (1.0 - prob);
    let rank = position.clamp(1.0, (n as f64 - 1.0).max(1.0)).floor();
    let weight = (position - rank).clamp(0.0, 1.0);
    let (low, high) = neighbours(rank as usize - 1);
    if low == high || weight == 0.0 {
        // The weighted sum could be off by one ulp, which would move all ties across it.
        low
    } else {
        (1.0 - weight) * low + weight * high
    }
}

/// The order statistics `index` and `index + 1` (the last one twice at the end).
fn neighbours(values: &mut [f64], index: usize) -> (f64, f64) {
    let (_, &mut low, above) = values.select_nth_unstable_by(index, f64::total_cmp);
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_order_statistics() {
        let mut x = [5.0, 1.0, 3.0, 2.0, 4.0];
        assert_eq!(quantile_of(&mut x, 0.25), 2.0);
        assert!((quantile_of(&mut x, 0.9) - 4.6).abs() < 1e-15);
        assert!((quantile_of(&mut x, 0.01) - 1.04).abs() < 1e-15);
        assert_eq!(quantile_of(&mut [7.0], 0.3), 7.0);
        for prob in [0.01, 0.25, 0.3, 0.5, 0.9, 0.999] {
            let order = Order::new(&x);
            assert_eq!(quantile_in(&order, prob), quantile_of(&mut x, prob));
        }
    }

    #[test]
    fn a_quantile_among_ties_is_their_value_exactly() {
        for n in 2..200 {
            let mut x = vec![0.1; n];
            assert_eq!(quantile_of(&mut x, 0.05), 0.1);
            assert_eq!(quantile_of(&mut x, 0.95), 0.1);
        }
    }

    #[test]
    fn probabilities_outside_the_open_interval_are_refused() {
        let draws = Draws::new(&[1.0, 2.0], 1, 2).unwrap();
        for prob in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(quantile(draws, prob).is_err());
        }
        let holed = Draws::new(&[1.0, f64::NAN], 1, 2).unwrap();
        assert!(quantile(holed, 0.5).unwrap().is_nan());
    }
}
