//! Metrics that do not depend on θ: identity, diagonal, dense.

use nalgebra::DMatrix;

use super::{Metric, Solve};
use crate::Result;
use crate::check;
use crate::linalg::{lower_transposed_vec, lower_vec, mat_vec, row_major};
use crate::real::Real;
use crate::skew::SkewMatrix;

/// A constant metric; with the identity, plain Langevin dynamics.
///
/// ```
/// use langevin::metric::Constant;
/// assert!(Constant::diagonal(vec![1.0, -2.0]).is_err());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    dim: usize,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Identity,
    Diagonal { entries: Vec<f64>, roots: Vec<f64> },
    Dense { matrix: Vec<f64>, factor: Vec<f64> },
}

impl Constant {
    /// B = I.
    pub fn identity(dim: usize) -> Self {
        Constant {
            dim,
            kind: Kind::Identity,
        }
    }

    /// B = diag(entries), all of which must be positive.
    pub fn diagonal(entries: Vec<f64>) -> Result<Self> {
        check::at_least("the number of diagonal entries", entries.len(), 1)?;
        for &entry in &entries {
            check::positive("every diagonal entry of the metric", entry)?;
        }
        Ok(Constant {
            dim: entries.len(),
            kind: Kind::Diagonal {
                roots: entries.iter().map(|x| x.sqrt()).collect(),
                entries,
            },
        })
    }

    /// B = the given matrix, which must be symmetric positive definite.
    pub fn dense(matrix: &DMatrix<f64>) -> Result<Self> {
        check::positive_definite("the metric", matrix, matrix.nrows())?;
        let factor =
            matrix
                .clone()
                .cholesky()
                .map(|c| c.l())
                .ok_or(crate::Error::NotPositiveDefinite {
                    name: "the metric",
                    smallest: matrix.symmetric_eigenvalues().min(),
                })?;
        Ok(Constant {
            dim: matrix.nrows(),
            kind: Kind::Dense {
                matrix: row_major(matrix),
                factor: row_major(&factor),
            },
        })
    }

    /// Whether this is the identity.
    pub fn is_identity(&self) -> bool {
        self.kind == Kind::Identity
    }

    /// B as a matrix.
    pub fn matrix(&self) -> DMatrix<f64> {
        match &self.kind {
            Kind::Identity => DMatrix::identity(self.dim, self.dim),
            Kind::Diagonal { entries, .. } => DMatrix::from_diagonal(&entries.clone().into()),
            Kind::Dense { matrix, .. } => DMatrix::from_row_slice(self.dim, self.dim, matrix),
        }
    }

    /// `out = S ξ` with `S Sᵀ = B`; S is lower triangular.
    #[inline(always)]
    pub fn sqrt<R: Real>(&self, xi: &[R], out: &mut [R]) {
        match &self.kind {
            Kind::Identity => out.copy_from_slice(xi),
            Kind::Diagonal { roots, .. } => {
                for i in 0..self.dim {
                    out[i] = xi[i] * roots[i];
                }
            }
            Kind::Dense { factor, .. } => lower_vec(factor, xi, out),
        }
    }

    /// `out = Sᵀ v`, with the S of [`sqrt`](Self::sqrt).
    #[inline(always)]
    pub fn sqrt_transposed<R: Real>(&self, v: &[R], out: &mut [R]) {
        match &self.kind {
            Kind::Identity => out.copy_from_slice(v),
            Kind::Diagonal { roots, .. } => {
                for i in 0..self.dim {
                    out[i] = v[i] * roots[i];
                }
            }
            Kind::Dense { factor, .. } => lower_transposed_vec(factor, v, out),
        }
    }
}

impl Metric for Constant {
    fn dim(&self) -> usize {
        self.dim
    }

    fn constant(&self) -> Option<&Constant> {
        Some(self)
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], _scratch: &mut [R], v: &[R], out: &mut [R]) {
        match &self.kind {
            Kind::Identity => out.copy_from_slice(v),
            Kind::Diagonal { entries, .. } => {
                for i in 0..self.dim {
                    out[i] = v[i] * entries[i];
                }
            }
            Kind::Dense { matrix, .. } => mat_vec(matrix, v, out),
        }
    }

    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, _theta: &[R], _scratch: &mut [R], xi: &[R], out: &mut [R]) {
        self.sqrt(xi, out);
    }

    #[inline(always)]
    fn div<R: Real>(
        &self,
        _theta: &[R],
        _scratch: &mut [R],
        _j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        div_b.fill(R::zero());
        div_bj.fill(R::zero());
    }
}

impl Solve for Constant {
    #[inline(always)]
    fn solve<R: Real>(&self, _theta: &[R], _scratch: &mut [R], v: &[R], out: &mut [R]) {
        out.copy_from_slice(v);
        match &self.kind {
            Kind::Identity => {}
            Kind::Diagonal { entries, .. } => {
                for i in 0..self.dim {
                    out[i] = out[i] / entries[i];
                }
            }
            Kind::Dense { factor, .. } => {
                let n = self.dim;
                for i in 0..n {
                    let mut sum = out[i];
                    for k in 0..i {
                        sum = out[k].mul_add(R::of(-factor[i * n + k]), sum);
                    }
                    out[i] = sum / factor[i * n + i];
                }
                for i in (0..n).rev() {
                    let mut sum = out[i];
                    for k in i + 1..n {
                        sum = out[k].mul_add(R::of(-factor[k * n + i]), sum);
                    }
                    out[i] = sum / factor[i * n + i];
                }
            }
        }
    }

    #[inline(always)]
    fn log_det<R: Real>(&self, _theta: &[R], _scratch: &mut [R]) -> R {
        R::of(match &self.kind {
            Kind::Identity => 0.0,
            Kind::Diagonal { entries, .. } => entries.iter().map(|x| x.ln()).sum(),
            Kind::Dense { factor, .. } => {
                let diagonal = factor.iter().step_by(self.dim + 1);
                2.0 * diagonal.map(|x| x.ln()).sum::<f64>()
            }
        })
    }
}
