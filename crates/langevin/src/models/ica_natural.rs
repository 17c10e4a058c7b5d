//! The metric of the natural gradient for independent component analysis (section 3.5 of the paper).

use super::ica::side;
use crate::linalg::{cholesky, log_det, solve_lower, solve_transposed};
use crate::metric::{Metric, Solve};
use crate::real::Real;
use crate::skew::SkewMatrix;

/// B(W) = P ⊗ I with P = WᵀW or P = I + WᵀW, acting on column-major `vec`: B vec F = vec(F P).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IcaNatural {
    /// Number of signals.
    pub(super) m: usize,
    pub(super) plus_identity: bool,
}

impl Metric for IcaNatural {
    fn dim(&self) -> usize {
        self.m * self.m
    }

    /// P, then its Cholesky factor where it is needed.
    fn scratch_len(&self) -> usize {
        2 * self.m * self.m
    }

    #[inline(always)]
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        let m = side(theta.len(), self.m);
        let (p, factor) = scratch.split_at_mut(m * m);
        for i in 0..m {
            for j in 0..=i {
                let mut sum = R::of(if self.plus_identity && i == j {
                    1.0
                } else {
                    0.0
                });
                for k in 0..m {
                    sum = theta[i * m + k].mul_add(theta[j * m + k], sum);
                }
                p[i * m + j] = sum;
                p[j * m + i] = sum;
            }
        }
        if self.plus_identity {
            factor.copy_from_slice(p);
            cholesky(factor, m);
        }
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let m = side(v.len(), self.m);
        for col in 0..m {
            for row in 0..m {
                let mut sum = v[row] * scratch[col];
                for k in 1..m {
                    sum = v[k * m + row].mul_add(scratch[k * m + col], sum);
                }
                out[col * m + row] = sum;
            }
        }
    }

    /// vec(Z Lᵀ) with P = LLᵀ; for P = WᵀW simply vec(Z W).
    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]) {
        let m = side(theta.len(), self.m);
        let factor = &scratch[m * m..];
        for col in 0..m {
            if self.plus_identity {
                // The factor's diagonal is stored as reciprocals.
                let diagonal = factor[col * m + col].recip();
                for row in 0..m {
                    let mut sum = xi[col * m + row] * diagonal;
                    for k in 0..col {
                        sum = xi[k * m + row].mul_add(factor[col * m + k], sum);
                    }
                    out[col * m + row] = sum;
                }
            } else {
                for row in 0..m {
                    let mut sum = R::zero();
                    for k in 0..m {
                        sum = xi[k * m + row].mul_add(theta[col * m + k], sum);
                    }
                    out[col * m + row] = sum;
                }
            }
        }
    }

    /// div B = (m+1) vec W, and with ∂P_cc'/∂W_rs = δ_sc W_rc' + δ_sc' W_rc:
    /// div(BJ)_(r,c) = Σ_s,k [ W_sk J_(r,k),(s,c) + W_sc J_(r,k),(s,k) ].
    #[inline(always)]
    fn div<R: Real>(
        &self,
        theta: &[R],
        _scratch: &mut [R],
        j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        let m = side(theta.len(), self.m);
        for i in 0..m * m {
            div_b[i] = theta[i] * (m as f64 + 1.0);
        }
        let Some(j) = j else { return };
        for row in 0..m {
            for col in 0..m {
                div_bj[col * m + row] = R::zero();
            }
            for s in 0..m {
                let mut trace = 0.0;
                for k in 0..m {
                    trace += j.get(k * m + row, k * m + s);
                }
                for col in 0..m {
                    let mut sum = div_bj[col * m + row];
                    for k in 0..m {
                        let own = if k == col { trace } else { 0.0 };
                        let entry = j.get(k * m + row, col * m + s) + own;
                        sum = theta[k * m + s].mul_add(R::of(entry), sum);
                    }
                    div_bj[col * m + row] = sum;
                }
            }
        }
    }
}

impl IcaNatural {
    /// The Cholesky factor of P, in the scratch space.
    #[inline(always)]
    fn factor<'a, R: Real>(&self, m: usize, scratch: &'a mut [R]) -> &'a [R] {
        let (p, factor) = scratch.split_at_mut(m * m);
        if !self.plus_identity {
            factor.copy_from_slice(p);
            cholesky(factor, m);
        }
        factor
    }
}

/// B⁻¹ vec F = vec(F P⁻¹), and det B = (det P)^m.
impl Solve for IcaNatural {
    #[inline(always)]
    fn solve<R: Real>(&self, theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let m = side(theta.len(), self.m);
        let factor = self.factor(m, scratch);
        // Row by row of F, gathered where its column will be: P is symmetric.
        for row in 0..m {
            let x = &mut out[row * m..(row + 1) * m];
            for col in 0..m {
                x[col] = v[col * m + row];
            }
            solve_lower(factor, m, x);
            solve_transposed(factor, m, x);
        }
        for row in 0..m {
            for col in 0..row {
                out.swap(row * m + col, col * m + row);
            }
        }
    }

    #[inline(always)]
    fn log_det<R: Real>(&self, theta: &[R], scratch: &mut [R]) -> R {
        let m = side(theta.len(), self.m);
        log_det(self.factor(m, scratch), m) * m as f64
    }
}
