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
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Root", into = "Root")
)]
pub struct Constant {
    dim: usize,
    kind: Kind,
}

/// S alone, which says everything: what a metric is saved as.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg(feature = "serde")]
enum Root {
    Identity(usize),
    Diagonal(Vec<f64>),
    Lower { dim: usize, rows: Vec<f64> },
}

#[cfg(feature = "serde")]
impl TryFrom<Root> for Constant {
    type Error = crate::Error;

    fn try_from(root: Root) -> Result<Self> {
        match root {
            Root::Identity(dim) => Ok(Constant::identity(dim)),
            Root::Diagonal(roots) => Constant::from_roots(roots),
            Root::Lower { dim, rows } => Constant::from_factor(dim, rows),
        }
    }
}

#[cfg(feature = "serde")]
impl From<Constant> for Root {
    fn from(metric: Constant) -> Root {
        let dim = metric.dim;
        match metric.kind {
            Kind::Identity => Root::Identity(dim),
            Kind::Diagonal { roots, .. } => Root::Diagonal(roots),
            Kind::Dense { factor, .. } => Root::Lower { dim, rows: factor },
        }
    }
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

    /// B = diag(roots²), all of which must be positive.
    pub fn from_roots(roots: Vec<f64>) -> Result<Self> {
        check::at_least("the number of diagonal entries", roots.len(), 1)?;
        for &root in &roots {
            check::positive("every diagonal entry of the metric's root", root)?;
        }
        Ok(Constant {
            dim: roots.len(),
            kind: Kind::Diagonal {
                entries: roots.iter().map(|x| x * x).collect(),
                roots,
            },
        })
    }

    /// B = S Sᵀ for a lower triangular S with a positive diagonal, given row by row; what is above
    /// the diagonal must be 0.
    ///
    /// ```
    /// use langevin::metric::Constant;
    /// let metric = Constant::from_factor(2, vec![2.0, 0.0, 1.0, 3.0])?;
    /// assert_eq!(metric.matrix()[(1, 1)], 10.0);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn from_factor(dim: usize, factor: Vec<f64>) -> Result<Self> {
        check::at_least("the dimension of the metric", dim, 1)?;
        check::size("the metric's factor", factor.len(), dim * dim)?;
        check::all_finite("the metric's factor", &factor)?;
        for i in 0..dim {
            check::positive("the diagonal of the metric's factor", factor[i * dim + i])?;
            if let Some(j) = (i + 1..dim).find(|j| factor[i * dim + j] != 0.0) {
                let name = "the metric's factor";
                let reason = format!("entry ({i}, {j}) above its diagonal is not 0");
                return Err(crate::Error::Mismatch { name, reason });
            }
        }
        let mut matrix = vec![0.0; dim * dim];
        for i in 0..dim {
            for j in 0..=i {
                let (a, b) = (&factor[i * dim..], &factor[j * dim..]);
                let entry = (0..=j).map(|k| a[k] * b[k]).sum();
                matrix[i * dim + j] = entry;
                matrix[j * dim + i] = entry;
            }
        }
        Ok(Constant {
            dim,
            kind: Kind::Dense { matrix, factor },
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

    /// `x ← S⁻¹ x`, with the S of [`sqrt`](Self::sqrt).
    #[inline(always)]
    pub fn sqrt_solve<R: Real>(&self, x: &mut [R]) {
        match &self.kind {
            Kind::Identity => {}
            Kind::Diagonal { roots, .. } => {
                for i in 0..self.dim {
                    x[i] = x[i] / roots[i];
                }
            }
            Kind::Dense { factor, .. } => {
                let n = self.dim;
                for i in 0..n {
                    let mut sum = x[i];
                    for k in 0..i {
                        sum = x[k].mul_add(R::of(-factor[i * n + k]), sum);
                    }
                    x[i] = sum / factor[i * n + i];
                }
            }
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
                self.sqrt_solve(out);
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
