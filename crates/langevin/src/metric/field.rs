//! Any matrix-valued function as a metric; its divergences are derived by dual numbers.

use super::{Metric, Solve};
use crate::linalg::{cholesky, factor_vec, log_det, solve_lower, solve_transposed};
use crate::real::{Dual, Formula, Real, along_axis};
use crate::skew::SkewMatrix;

/// A symmetric positive definite matrix as a formula in θ.
///
/// ```
/// use langevin::metric::{Field, MatrixField, Metric};
/// use langevin::real::Real;
///
/// /// B(θ) = (1 + |θ|²) I.
/// struct Growing;
/// impl MatrixField for Growing {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
///         let size = theta[0] * theta[0] + theta[1] * theta[1] + 1.0;
///         out.copy_from_slice(&[size, R::zero(), R::zero(), size]);
///     }
/// }
/// let metric = Field::new(Growing);
/// let mut scratch = vec![0.0; metric.scratch_len()];
/// let (mut div_b, mut div_bj) = ([0.0; 2], [0.0; 2]);
/// metric.div(&[1.0, 3.0], &mut scratch, None, &mut div_b, &mut div_bj);
/// assert_eq!(div_b, [2.0, 6.0]);
/// ```
pub trait MatrixField: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;
    /// Writes B(θ), row by row, both triangles.
    fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]);
}

/// A [`MatrixField`] as a [`Metric`].
#[derive(Clone, Debug)]
pub struct Field<F>(F);

impl<F: MatrixField> Field<F> {
    /// Wraps the formula.
    pub fn new(field: F) -> Self {
        Field(field)
    }
}

impl<F: MatrixField> Metric for Field<F> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    /// B, then its factor.
    fn scratch_len(&self) -> usize {
        2 * self.dim() * self.dim()
    }

    #[inline(always)]
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        let n = self.dim();
        let (b, factor) = scratch.split_at_mut(n * n);
        self.0.matrix(theta, b);
        factor.copy_from_slice(b);
        cholesky(factor, n);
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let n = self.dim();
        for i in 0..n {
            let mut sum = R::zero();
            for j in 0..n {
                sum = scratch[i * n + j].mul_add(v[j], sum);
            }
            out[i] = sum;
        }
    }

    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]) {
        let n = self.dim();
        factor_vec(&scratch[n * n..], n, xi, out);
    }

    #[inline(always)]
    fn div<R: Real>(
        &self,
        theta: &[R],
        _scratch: &mut [R],
        j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        div_b.fill(R::zero());
        div_bj.fill(R::zero());
        // Matrices up to 8 × 8 stay on the stack; larger ones are dear enough for an allocation.
        let size = self.dim() * self.dim();
        let mut on_stack = [Dual::constant(R::zero()); 64];
        let mut on_heap = vec![];
        let slope = if size <= on_stack.len() {
            &mut on_stack[..size]
        } else {
            on_heap.resize(size, Dual::constant(R::zero()));
            &mut on_heap[..]
        };
        let mut sums = Divergences {
            field: &self.0,
            slope,
            axis: 0,
            j,
            div_b,
            div_bj,
        };
        for axis in 0..theta.len() {
            sums.axis = axis;
            along_axis(theta, axis, &mut sums);
        }
    }
}

impl<F: MatrixField> Solve for Field<F> {
    #[inline(always)]
    fn solve<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let n = self.dim();
        let factor = &scratch[n * n..];
        out.copy_from_slice(v);
        solve_lower(factor, n, out);
        solve_transposed(factor, n, out);
    }

    #[inline(always)]
    fn log_det<R: Real>(&self, _theta: &[R], scratch: &mut [R]) -> R {
        let n = self.dim();
        log_det(&scratch[n * n..], n)
    }
}

/// Adds the terms with ∂/∂θ_axis to the divergences.
struct Divergences<'a, F, R> {
    field: &'a F,
    slope: &'a mut [Dual<R>],
    axis: usize,
    j: Option<&'a SkewMatrix>,
    div_b: &'a mut [R],
    div_bj: &'a mut [R],
}

impl<F: MatrixField, R: Real> Formula<R> for Divergences<'_, F, R> {
    type Output = ();

    #[inline(always)]
    fn eval(&mut self, theta: &[Dual<R>]) {
        let n = theta.len();
        self.field.matrix(theta, self.slope);
        for i in 0..n {
            self.div_b[i] += self.slope[i * n + self.axis].tangent;
            if let Some(j) = self.j {
                for k in 0..n {
                    self.div_bj[i] += self.slope[i * n + k].tangent * j.get(k, self.axis);
                }
            }
        }
    }
}
