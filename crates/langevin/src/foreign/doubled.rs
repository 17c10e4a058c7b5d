//! Two copies of a foreign target, for the bias of Euler–Maruyama.

use super::{Failure, ForeignRows, ForeignTarget};
use crate::Error;
use crate::bias::doubled;

/// Two independent copies of a foreign target side by side, as [`Doubled`](crate::bias::Doubled) is for
/// a target of the library. States one after the other are those of both copies in turn, so that the
/// foreign function is called as it is.
pub struct DoubledTarget<'a> {
    target: Box<dyn ForeignTarget + Send + 'a>,
    positive: Vec<usize>,
    n_data: usize,
    rows: Vec<i64>,
}

impl<'a> DoubledTarget<'a> {
    /// The copies.
    pub fn new(mut target: Box<dyn ForeignTarget + Send + 'a>) -> Self {
        DoubledTarget {
            positive: doubled(target.positive_coordinates(), target.dim()),
            n_data: target.rows().map_or(0, |rows| rows.n_data()),
            target,
            rows: vec![],
        }
    }
}

impl ForeignTarget for DoubledTarget<'_> {
    fn dim(&self) -> usize {
        2 * self.target.dim()
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> std::result::Result<(), Failure> {
        self.target.score(thetas, out)
    }

    fn rows(&mut self) -> Option<&mut dyn ForeignRows> {
        self.target.rows().is_some().then_some(())?;
        Some(self)
    }

    fn positive_coordinates(&self) -> &[usize] {
        &self.positive
    }
}

impl ForeignRows for DoubledTarget<'_> {
    fn n_data(&self) -> usize {
        self.n_data
    }

    /// Both copies see the same rows.
    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> std::result::Result<(), Failure> {
        let n_pairs = thetas.len() / (2 * self.target.dim());
        self.rows.clear();
        for rows in rows.chunks_exact(rows.len() / n_pairs.max(1)) {
            self.rows.extend_from_slice(rows);
            self.rows.extend_from_slice(rows);
        }
        let data = self.target.rows().ok_or(Error::NoData)?;
        data.minibatch_score(thetas, &self.rows, out)
    }
}
