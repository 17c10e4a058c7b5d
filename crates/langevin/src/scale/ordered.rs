//! Increasing vectors: x₁ = u₁, xₖ = xₖ₋₁ + exp uₖ. The Jacobian is triangular, log |J| = Σₖ₌₂ uₖ.

use super::{Map, Outside};
use crate::real::Real;

pub(super) struct Ordered;

impl Map for Ordered {
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R {
        let mut log_jacobian = R::zero();
        x[0] = u[0];
        slope[0] = R::one();
        for k in 1..u.len() {
            slope[k] = u[k].exp();
            x[k] = x[k - 1] + slope[k];
            log_jacobian += u[k];
        }
        log_jacobian
    }

    /// uₖ moves xₖ and all after it alike.
    #[inline(always)]
    fn pull_back<R: Real>(&self, _u: &[R], slope: &[R], _x: &[R], g: &[R], out: &mut [R]) {
        let mut sum = R::zero();
        for k in (1..g.len()).rev() {
            sum += g[k];
            out[k] = sum.mul_add(slope[k], R::one());
        }
        out[0] = sum + g[0];
    }

    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        u[0] = x[0];
        for k in 1..x.len() {
            if x[k] <= x[k - 1] {
                let condition = format!("greater than {}, the element before it", x[k - 1]);
                return Err(Outside::element(k, x[k], condition));
            }
            u[k] = Real::ln(x[k] - x[k - 1]);
        }
        Ok(())
    }
}
