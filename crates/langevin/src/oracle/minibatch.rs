//! Minibatches, drawn anew for each step and chain (section 2.4 of the paper).

use super::{Batches, Call, Oracle, distinct};
use crate::batch::Gradient;
use crate::check;
use crate::real::Lanes;
use crate::target::{Gaussian, Subsampled};
use crate::{Failure, RunError};

/// An unbiased estimate of the score from some rows of the data; log π is not known.
///
/// With `D` above 0 the compiler knows the number of coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Minibatch<'a, T, const D: usize = 0> {
    target: &'a T,
    batches: Batches,
}

impl<'a, T: Subsampled, const D: usize> Minibatch<'a, T, D> {
    /// For a target of `D` coordinates, or of any number if that is 0.
    ///
    /// ```
    /// use langevin::batch::Gradient;
    /// use langevin::models::NormalParameters;
    /// use langevin::oracle::{Minibatch, Oracle};
    /// let target = NormalParameters::new(vec![1.0, 2.0, 4.0])?;
    /// let oracle = Minibatch::<_>::new(&target, Gradient::minibatch(2))?;
    /// assert!(!oracle.has_log_density());
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn new(target: &'a T, gradient: Gradient) -> crate::Result<Self> {
        let n_data = target.n_data();
        gradient.check(n_data)?;
        check::at_least(
            "the number of rows in a minibatch",
            gradient.batch_size(),
            1,
        )?;
        if D > 0 {
            check::size("the target", target.dim(), D)?;
        }
        let batches = Batches { gradient, n_data };
        Ok(Minibatch { target, batches })
    }
}

impl<T: Subsampled, const D: usize> Oracle for Minibatch<'_, T, D> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn has_log_density(&self) -> bool {
        false
    }

    fn positive_coordinates(&self) -> &[usize] {
        self.target.positive_coordinates()
    }

    fn batches(&self) -> Option<Batches> {
        Some(self.batches)
    }

    fn check_starts(&self, _first: u64, starts: &[Vec<f64>]) -> Result<(), RunError> {
        for theta in distinct(starts) {
            self.target.check_state(theta)?;
        }
        Ok(())
    }

    fn gaussian(&self) -> Option<Gaussian> {
        self.target.gaussian()
    }

    fn scratch_len(&self) -> usize {
        self.target.scratch_len()
    }

    #[inline(always)]
    fn evaluate<L: Lanes>(&self, mut call: Call<'_, L>) -> Result<(), Failure> {
        while let Some(query) = call.next() {
            let d = if D > 0 { D } else { query.theta.len() };
            let (theta, score) = (&query.theta[..d], &mut query.score[..d]);
            self.target
                .minibatch_score(theta, query.rows, query.scratch, score);
        }
        Ok(())
    }
}
