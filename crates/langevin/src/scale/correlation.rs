//! Cholesky factors L of correlation matrices LLᵀ, row by row from canonical partial correlations
//! (Lewandowski, Kurowicka and Joe, 2009).
//!
//! With zᵢⱼ = tanh uᵢⱼ for j < i and rᵢ₀ = 1, numbers counted from 0,
//!
//! ```text
//! Lᵢⱼ = rᵢⱼ zᵢⱼ,   rᵢ,ⱼ₊₁ = rᵢⱼ √(1 − zᵢⱼ²),   Lᵢᵢ = rᵢᵢ ,
//! ```
//!
//! so that every row has length 1. The volume is that of the entries below the diagonal. Within a row
//! Lᵢⱼ depends on uᵢ₀ … uᵢⱼ alone and ∂Lᵢⱼ/∂uᵢⱼ = rᵢⱼ (1 − zᵢⱼ²), and rᵢⱼ is the product of the
//! √(1 − zᵢₖ²) with k < j. Hence log |J| = Σ (1 + ½(i − 1 − j)) log(1 − zᵢⱼ²) over j < i.

use super::elementwise::SMALLEST;
use super::{Map, Outside};
use crate::real::Real;

/// Of k × k matrices.
pub(super) struct CorrelationCholesky(pub usize);

/// How far from 1 a length may be by rounding.
const ROUNDING: f64 = 1e-8;

/// The place of the first number of row i.
#[inline(always)]
fn row(i: usize) -> usize {
    i * (i - 1) / 2
}

/// arsinh of a number that is not negative.
fn arsinh(x: f64) -> f64 {
    Real::ln_1p(x + x * x / (1.0 + (1.0 + x * x).sqrt()))
}

impl Map for CorrelationCholesky {
    /// log √(1 − tanh² u) = log 2 + u − log(1 + e²ᵘ) loses nothing far out; its exponential is what is
    /// kept as `slope`.
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R {
        let n = self.0;
        let mut log_jacobian = R::zero();
        // 0, but NaN for a chain that has escaped: nothing of it is a number.
        let zero = u[0] * 0.0 + 0.0;
        x.fill(zero);
        x[0] = zero + 1.0;
        for i in 1..n {
            let mut left = R::one();
            for j in 0..i {
                let at = row(i) + j;
                let log_root = u[at] - (u[at] + u[at]).softplus() + std::f64::consts::LN_2;
                slope[at] = log_root.exp();
                x[i * n + j] = left * u[at].tanh();
                left *= slope[at];
                log_jacobian = log_root.mul_add(R::of((i + 1 - j) as f64), log_jacobian);
            }
            x[i * n + i] = left.at_least(SMALLEST);
        }
        log_jacobian
    }

    /// Each row backwards: from the derivative by rᵢ,ⱼ₊₁ those by uᵢⱼ and rᵢⱼ, with z′ = 1 − z² and
    /// (√(1 − z²))′ = −z √(1 − z²).
    #[inline(always)]
    fn pull_back<R: Real>(&self, u: &[R], slope: &[R], _x: &[R], g: &[R], out: &mut [R]) {
        let n = self.0;
        for i in 1..n {
            let mut left = R::one();
            for j in 0..i {
                out[row(i) + j] = left;
                left *= slope[row(i) + j];
            }
            let mut by_left = g[i * n + i];
            for j in (0..i).rev() {
                let at = row(i) + j;
                let (left, root, z, g) = (out[at], slope[at], u[at].tanh(), g[i * n + j]);
                let by_x = left * root * (g * root - by_left * z);
                out[at] = z.mul_add(R::of(-((i + 1 - j) as f64)), by_x);
                by_left = by_left.mul_add(root, g * z);
            }
        }
    }

    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        let n = self.0;
        for i in 0..n {
            let entries = &x[i * n..(i + 1) * n];
            if let Some(j) = (i + 1..n).find(|j| entries[*j] != 0.0) {
                let condition = "0 above the diagonal".into();
                return Err(Outside::element(i * n + j, entries[j], condition));
            }
            if entries[i] <= 0.0 {
                let condition = "greater than 0 on the diagonal".into();
                return Err(Outside::element(i * n + i, entries[i], condition));
            }
            let square: f64 = entries.iter().map(|x| x * x).sum();
            if (square - 1.0).abs() > 2.0 * ROUNDING {
                let what = format!("length of row {i}");
                return Err(Outside::whole(&what, square.sqrt(), "1".into()));
            }
            // r² from the right: nothing cancels.
            let mut left = entries[i] * entries[i];
            for j in (0..i).rev() {
                // tanh u = x / √(x² + r²), with r² what is left after x: sinh u = x/r.
                let ratio = entries[j].abs() / left.sqrt();
                let size = arsinh(ratio);
                u[row(i) + j] = size.copysign(entries[j]);
                left += entries[j] * entries[j];
            }
        }
        Ok(())
    }
}
