//! Small dense linear algebra over any number type.
//!
//! Matrices are row-major slices of `dim × dim` entries. `nalgebra` serves where numbers are plain
//! `f64` and speed does not matter; these loops are for packs of chains.

use nalgebra::DMatrix;

use crate::real::Real;

/// `out = A v` for a constant matrix.
#[inline(always)]
pub fn mat_vec<R: Real>(a: &[f64], v: &[R], out: &mut [R]) {
    let n = v.len();
    for (i, out) in out.iter_mut().enumerate() {
        let row = &a[i * n..(i + 1) * n];
        let mut sum = v[0] * row[0];
        for j in 1..n {
            sum = v[j].mul_add(R::of(row[j]), sum);
        }
        *out = sum;
    }
}

/// `out −= A v` for a constant matrix.
#[inline(always)]
pub fn subtract_mat_vec<R: Real>(a: &[f64], v: &[R], out: &mut [R]) {
    let n = v.len();
    for (i, out) in out.iter_mut().enumerate() {
        let row = &a[i * n..(i + 1) * n];
        for j in 0..n {
            *out = v[j].mul_add(R::of(-row[j]), *out);
        }
    }
}

/// `out = L v` for a constant lower triangular matrix.
#[inline(always)]
pub fn lower_vec<R: Real>(a: &[f64], v: &[R], out: &mut [R]) {
    let n = v.len();
    for (i, out) in out.iter_mut().enumerate() {
        let row = &a[i * n..i * n + i + 1];
        let mut sum = v[0] * row[0];
        for j in 1..=i {
            sum = v[j].mul_add(R::of(row[j]), sum);
        }
        *out = sum;
    }
}

/// `out = Lᵀ v` for a constant lower triangular matrix.
#[inline(always)]
pub fn lower_transposed_vec<R: Real>(a: &[f64], v: &[R], out: &mut [R]) {
    let n = v.len();
    out.fill(R::zero());
    for i in 0..n {
        let row = &a[i * n..i * n + i + 1];
        for j in 0..=i {
            out[j] = v[i].mul_add(R::of(row[j]), out[j]);
        }
    }
}

/// Replaces the lower triangle of `a` by its Cholesky factor, `A = L Lᵀ`, and the diagonal by the
/// *reciprocals* of the factor's diagonal (divisions are dear; each is done once).
///
/// A matrix that is not positive definite gives NaN, which the engine reports as a divergence.
#[inline(always)]
pub fn cholesky<R: Real>(a: &mut [R], n: usize) {
    for j in 0..n {
        let mut pivot = a[j * n + j];
        for k in 0..j {
            pivot = (-a[j * n + k]).mul_add(a[j * n + k], pivot);
        }
        let inverse = R::one() / pivot.sqrt();
        a[j * n + j] = inverse;
        for i in j + 1..n {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum = (-a[i * n + k]).mul_add(a[j * n + k], sum);
            }
            a[i * n + j] = sum * inverse;
        }
    }
}

/// `x ← L v` for the factor made by [`cholesky`].
#[inline(always)]
pub fn factor_vec<R: Real>(factor: &[R], n: usize, v: &[R], out: &mut [R]) {
    for i in 0..n {
        let mut sum = v[i] / factor[i * n + i];
        for k in 0..i {
            sum = factor[i * n + k].mul_add(v[k], sum);
        }
        out[i] = sum;
    }
}

/// `x ← L⁻ᵀ x` for the factor made by [`cholesky`].
#[inline(always)]
pub fn solve_transposed<R: Real>(factor: &[R], n: usize, x: &mut [R]) {
    for i in (0..n).rev() {
        let mut sum = x[i];
        for k in i + 1..n {
            sum = (-factor[k * n + i]).mul_add(x[k], sum);
        }
        x[i] = sum * factor[i * n + i];
    }
}

/// `x ← L⁻¹ x` for the factor made by [`cholesky`].
#[inline(always)]
pub fn solve_lower<R: Real>(factor: &[R], n: usize, x: &mut [R]) {
    for i in 0..n {
        let mut sum = x[i];
        for k in 0..i {
            sum = (-factor[i * n + k]).mul_add(x[k], sum);
        }
        x[i] = sum * factor[i * n + i];
    }
}

/// log det A, given the factor made by [`cholesky`].
#[inline(always)]
pub fn log_det<R: Real>(factor: &[R], n: usize) -> R {
    let mut sum = R::zero();
    for i in 0..n {
        sum += factor[i * n + i].ln();
    }
    sum * -2.0
}

/// Writes `A⁻¹ = L⁻ᵀ L⁻¹` (both triangles) to `inverse`, given the factor made by [`cholesky`].
/// `work` holds `n × n` entries.
#[inline(always)]
pub fn inverse_from_factor<R: Real>(factor: &[R], n: usize, work: &mut [R], inverse: &mut [R]) {
    // work = L⁻¹, lower triangular, column by column.
    for j in 0..n {
        work[j * n + j] = factor[j * n + j];
        for i in j + 1..n {
            let mut sum = R::zero();
            for k in j..i {
                sum = factor[i * n + k].mul_add(work[k * n + j], sum);
            }
            work[i * n + j] = -sum * factor[i * n + i];
        }
    }
    for i in 0..n {
        for j in 0..=i {
            let mut sum = R::zero();
            for k in i..n {
                sum = work[k * n + i].mul_add(work[k * n + j], sum);
            }
            inverse[i * n + j] = sum;
            inverse[j * n + i] = sum;
        }
    }
}

/// The entries of a matrix, row by row.
pub(crate) fn row_major(a: &DMatrix<f64>) -> Vec<f64> {
    a.transpose().as_slice().to_vec()
}
