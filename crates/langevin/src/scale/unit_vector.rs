//! Unit vectors: x = u/|u| for u ∈ ℝᴷ.
//!
//! A sphere has no single chart, so there is one coordinate more than needed, and the radius r = |u| is
//! sampled along: the density of u is π(u/|u|) exp(−½|u|²). In polar coordinates du = rᴷ⁻¹ dr dx, hence
//! it is π(x) · rᴷ⁻¹ exp(−½r²): direction and radius are independent, and the direction has density π
//! with respect to the surface. −½|u|² takes the place of log |J|.

use super::{Map, Outside};
use crate::real::Real;

pub(super) struct UnitVector;

/// How far from 1 a length may be by rounding.
const ROUNDING: f64 = 1e-8;

#[inline(always)]
fn square<R: Real>(u: &[R]) -> R {
    let mut sum = R::zero();
    for u in u {
        sum = u.mul_add(*u, sum);
    }
    sum
}

impl Map for UnitVector {
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R {
        let square = square(u);
        slope[0] = square.sqrt().recip();
        for i in 0..u.len() {
            x[i] = u[i] * slope[0];
        }
        square * -0.5
    }

    /// ∂x/∂u = (I − xxᵀ)/|u|.
    #[inline(always)]
    fn pull_back<R: Real>(&self, u: &[R], slope: &[R], x: &[R], g: &[R], out: &mut [R]) {
        let mut along = R::zero();
        for i in 0..x.len() {
            along = x[i].mul_add(g[i], along);
        }
        for i in 0..x.len() {
            out[i] = (g[i] - along * x[i]) * slope[0] - u[i];
        }
    }

    /// The most likely of the points of that direction: |u| = √(K − 1).
    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        let length = square(x).sqrt();
        if (length - 1.0).abs() > ROUNDING {
            return Err(Outside::whole("length", length, "1".into()));
        }
        let radius = ((x.len() - 1) as f64).sqrt() / length;
        for (u, x) in u.iter_mut().zip(x) {
            *u = radius * x;
        }
        Ok(())
    }
}
