//! All data.

use super::{Call, Oracle, distinct};
use crate::check;
use crate::real::Lanes;
use crate::target::{Gaussian, Target};
use crate::{Failure, RunError};

/// Exact evaluations of a target of this library, or of one written with it.
///
/// With `D` above 0 the compiler knows the number of coordinates.
#[derive(Clone, Copy, Debug)]
pub struct Exact<'a, T, const D: usize = 0>(&'a T);

impl<'a, T: Target> Exact<'a, T> {
    /// For a target of any dimension.
    pub fn new(target: &'a T) -> Self {
        Exact(target)
    }
}

impl<'a, T: Target, const D: usize> Exact<'a, T, D> {
    /// For a target of `D` coordinates, or of any number if that is 0.
    pub fn of_known_dim(target: &'a T) -> crate::Result<Self> {
        if D > 0 {
            check::size("the target", target.dim(), D)?;
        }
        Ok(Exact(target))
    }
}

impl<T: Target, const D: usize> Oracle for Exact<'_, T, D> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn has_log_density(&self) -> bool {
        true
    }

    fn positive_coordinates(&self) -> &[usize] {
        self.0.positive_coordinates()
    }

    fn check_starts(&self, _first: u64, starts: &[Vec<f64>]) -> Result<(), RunError> {
        for theta in distinct(starts) {
            self.0.check_state(theta)?;
        }
        Ok(())
    }

    fn gaussian(&self) -> Option<Gaussian> {
        self.0.gaussian()
    }

    fn scratch_len(&self) -> usize {
        self.0.scratch_len()
    }

    #[inline(always)]
    fn evaluate<L: Lanes>(&self, mut call: Call<'_, L>) -> Result<(), Failure> {
        let with_density = call.log_density;
        while let Some(query) = call.next() {
            let d = if D > 0 { D } else { query.theta.len() };
            let (theta, score) = (&query.theta[..d], &mut query.score[..d]);
            if with_density {
                let value = self.0.log_density_and_score(theta, query.scratch, score);
                *query.log_density = value;
            } else {
                self.0.score(theta, query.scratch, score);
            }
        }
        Ok(())
    }
}
