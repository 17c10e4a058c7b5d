//! Reduction of a large linear system to the few slow modes that an observable excites.

use nalgebra::{DMatrix, DVector, Dyn, LU};

use crate::{Error, Result};

/// The autocovariance `b·e^{−tA}b` of a large matrix A, reduced to a small one: `‖b‖² e₁·e^{−tH⁻¹}e₁`.
///
/// H is `A⁻¹` seen from the Krylov space of b under `A⁻¹` (shift-and-invert Arnoldi), in which
/// slow modes come first. If the symmetric part of A is positive definite then so is that of H,
/// hence the reduced semigroup decays too.
pub(super) struct Reduced {
    norm_squared: f64,
    inverse: DMatrix<f64>,
}

/// A new direction smaller than this, relative to what it was made of, is rounding.
const BREAKDOWN: f64 = 1e-13;

impl Reduced {
    /// At most `size` Arnoldi steps, fewer if the Krylov space is exhausted.
    pub fn new(a: &LU<f64, Dyn, Dyn>, b: &DVector<f64>, size: usize) -> Result<Self> {
        let norm = b.norm();
        let mut inverse = DMatrix::zeros(size, size);
        if norm == 0.0 {
            return Ok(Self {
                norm_squared: 0.0,
                inverse: DMatrix::identity(1, 1),
            });
        }
        let mut basis = vec![b / norm];
        for j in 0..size {
            let mut next = a.solve(&basis[j]).ok_or(Error::Breakdown {
                name: "the solution of the Poisson equation",
            })?;
            let before = next.norm();
            // Twice is enough: the second pass removes what rounding left of the first.
            for _ in 0..2 {
                for (i, v) in basis.iter().enumerate() {
                    let overlap = v.dot(&next);
                    inverse[(i, j)] += overlap;
                    next.axpy(-overlap, v, 1.0);
                }
            }
            let left = next.norm();
            if j + 1 == size || left < BREAKDOWN * before {
                inverse = inverse.view((0, 0), (j + 1, j + 1)).into_owned();
                break;
            }
            inverse[(j + 1, j)] = left;
            basis.push(next / left);
        }
        Ok(Self {
            norm_squared: norm * norm,
            inverse,
        })
    }

    /// Twice the integral of the autocovariance, `2 b·A⁻¹b`.
    pub fn asymptotic_variance(&self) -> f64 {
        2.0 * self.norm_squared * self.inverse[(0, 0)]
    }

    /// Variance of the average over a time t, `(2/t²) b·[tA⁻¹ − A⁻²(1 − e^{−tA})]b`.
    pub fn variance_of_average(&self, t: f64) -> Result<f64> {
        let rate = self.inverse.clone().try_inverse().ok_or(Error::Breakdown {
            name: "the reduced generator",
        })?;
        let decay = (rate * -t).exp();
        let twice = &self.inverse * &self.inverse;
        let corner = t * self.inverse[(0, 0)] - twice[(0, 0)] + (twice * decay)[(0, 0)];
        Ok(2.0 * self.norm_squared * corner / (t * t))
    }
}
