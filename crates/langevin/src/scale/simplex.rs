//! Probabilities p₁ … p_K that sum to 1, by isometric log ratios.
//!
//! p = softmax(a) with a = Vu, where the K − 1 columns of V are an orthonormal basis of the vectors
//! that sum to 0 (Egozcue et al., 2003): with wₙ = uₙ / √(n(n + 1)),
//!
//! ```text
//! aᵢ = Σₙ₌ᵢ wₙ − (i − 1) wᵢ₋₁ .
//! ```
//!
//! No element is treated otherwise than the rest but for a rotation, and u = 0 is the centre.
//!
//! The volume is that of (p₁ … p_{K−1}). With y = (aᵢ − a_K) for i < K, det ∂p/∂y = Π pₖ. And y = DVu
//! with D = (I | −1), so that det(DV)² = det(D VVᵀ Dᵀ) = det(DDᵀ) = det(I + 11ᵀ) = K, because
//! VVᵀ = I − 11ᵀ/K and D1 = 0. Hence log |J| = ½ log K + Σ log pₖ.

use super::elementwise::SMALLEST;
use super::{Map, Outside};
use crate::real::Real;

pub(super) struct Simplex;

/// How far from 1 a sum may be by rounding.
const ROUNDING: f64 = 1e-8;

/// 1 / √(n(n + 1)).
#[inline(always)]
fn weight(n: usize) -> f64 {
    1.0 / ((n * (n + 1)) as f64).sqrt()
}

impl Map for Simplex {
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], _slope: &mut [R], x: &mut [R]) -> R {
        let k = x.len();
        let mut sum = R::zero();
        for n in (1..k).rev() {
            let w = u[n - 1] * weight(n);
            x[n] = w.mul_add(R::of(-(n as f64)), sum);
            sum += w;
        }
        x[0] = sum;
        // log Σ exp aᵢ, one after the other, without overflow.
        let mut log_sum = x[0];
        for a in &x[1..] {
            log_sum += (*a - log_sum).softplus();
        }
        let mut log_jacobian = R::of(0.5 * Real::ln(k as f64));
        for x in x {
            let log_p = *x - log_sum;
            log_jacobian += log_p;
            *x = log_p.exp().at_least(SMALLEST);
        }
        log_jacobian
    }

    /// ∂pᵢ/∂aₖ = pᵢ(δᵢₖ − pₖ), so that ∇ₐ = p(g − pᵀg) + 1 − Kp; then Vᵀ of it.
    #[inline(always)]
    fn pull_back<R: Real>(&self, _u: &[R], _slope: &[R], p: &[R], g: &[R], out: &mut [R]) {
        let k = p.len();
        let mut mean = R::zero();
        for i in 0..k {
            mean = p[i].mul_add(g[i], mean);
        }
        let along = |i: usize| p[i].mul_add(g[i] - mean - k as f64, R::one());
        let mut sum = along(0);
        for n in 1..k {
            let next = along(n);
            out[n - 1] = next.mul_add(R::of(-(n as f64)), sum) * weight(n);
            sum += next;
        }
    }

    /// u = Vᵀ log p.
    fn free(&self, p: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        if let Some(i) = p.iter().position(|p| *p <= 0.0) {
            return Err(Outside::element(i, p[i], "greater than 0".into()));
        }
        let total: f64 = p.iter().sum();
        if (total - 1.0).abs() > ROUNDING {
            return Err(Outside::whole("sum", total, "1".into()));
        }
        let mut sum = Real::ln(p[0]);
        for n in 1..p.len() {
            let next = Real::ln(p[n]);
            u[n - 1] = (sum - n as f64 * next) * weight(n);
            sum += next;
        }
        Ok(())
    }
}
