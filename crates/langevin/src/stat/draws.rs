//! A view of the draws of one scalar quantity from several chains.

use crate::error::{Error, Result};
use std::borrow::Cow;

/// Draws of one scalar quantity, chain after chain.
///
/// ```
/// use langevin::stat::Draws;
/// let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let draws = Draws::new(&values, 2, 3)?;
/// assert_eq!(draws.chain(1), [4.0, 5.0, 6.0]);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draws<'a> {
    values: &'a [f64],
    n_draws: usize,
}

impl<'a> Draws<'a> {
    /// A view of `n_chains` chains of `n_draws` draws each, all draws of a chain side by side.
    pub fn new(values: &'a [f64], n_chains: usize, n_draws: usize) -> Result<Self> {
        for (name, value) in [("number of chains", n_chains), ("number of draws", n_draws)] {
            if value == 0 {
                return Err(Error::TooFew {
                    name,
                    value,
                    min: 1,
                });
            }
        }
        let expected = n_chains.saturating_mul(n_draws);
        if values.len() != expected {
            return Err(Error::WrongSize {
                name: "values (chains times draws)",
                actual: values.len(),
                expected,
            });
        }
        Ok(Self { values, n_draws })
    }

    /// All draws, chain after chain.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Number of chains.
    pub fn n_chains(&self) -> usize {
        self.values.len() / self.n_draws
    }

    /// Number of draws in each chain.
    pub fn n_draws(&self) -> usize {
        self.n_draws
    }

    /// The draws of one chain; empty if there is no such chain.
    pub fn chain(&self, chain: usize) -> &'a [f64] {
        self.values
            .chunks_exact(self.n_draws)
            .nth(chain)
            .unwrap_or(&[])
    }

    /// The chains, in order.
    pub fn chains(&self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.values.chunks_exact(self.n_draws)
    }

    /// Too short to be split, or with a draw that is not finite: every diagnostic is NaN.
    pub(super) fn is_unusable(&self) -> bool {
        self.n_draws < 4 || self.values.iter().any(|v| !v.is_finite())
    }
}

/// Chains cut into halves, which makes a drift within a chain visible as a difference between two.
pub(super) struct Halves<'a> {
    values: Cow<'a, [f64]>,
    n_draws: usize,
}

impl<'a> Halves<'a> {
    /// The first and the last `n_draws / 2` values of each chain; the middle one of an odd number
    /// of draws belongs to neither.
    pub fn new(values: impl Into<Cow<'a, [f64]>>, n_draws: usize) -> Self {
        let values = values.into();
        let half = n_draws / 2;
        let values = if n_draws.is_multiple_of(2) {
            // The two halves of each chain already lie one after the other.
            values
        } else {
            let halves = |chain: &[f64]| [&chain[..half], &chain[half + 1..]].concat();
            Cow::Owned(values.chunks_exact(n_draws).flat_map(halves).collect())
        };
        Self {
            values,
            n_draws: half,
        }
    }

    /// The same shape with other values.
    pub fn with(&self, values: Vec<f64>) -> Halves<'static> {
        Halves {
            values: Cow::Owned(values),
            n_draws: self.n_draws,
        }
    }

    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub fn n_draws(&self) -> usize {
        self.n_draws
    }

    pub fn chains(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.n_draws)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_leave_out_the_middle_draw_only() {
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        let odd = Halves::new(&values[..], 5);
        assert_eq!(odd.values(), [1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 9.0, 10.0]);
        assert_eq!((odd.chains().len(), odd.n_draws()), (4, 2));
        let even = Halves::new(&values[..], 10);
        assert_eq!(even.values(), values);
        assert_eq!((even.chains().len(), even.n_draws()), (2, 5));
    }

    #[test]
    fn wrong_shapes_are_refused() {
        let text = |r: Result<Draws>| r.unwrap_err().to_string();
        assert!(text(Draws::new(&[], 0, 3)).contains("number of chains must be at least 1"));
        assert!(text(Draws::new(&[], 3, 0)).contains("number of draws must be at least 1"));
        assert!(text(Draws::new(&[0.0; 5], 2, 3)).contains("has size 5, but 6"));
        assert!(Draws::new(&[0.0; 4], usize::MAX, 4).is_err());
    }
}
