//! Scales on which every element stands for itself: x = f(u) with f increasing or decreasing, and
//! log |J| = Σ log |f′(u)|.

use super::{Map, Outside};
use crate::real::Real;

/// The smallest distance from a bound at 0. Its reciprocal can be multiplied without overflow.
pub(super) const SMALLEST: f64 = 1e-300;

/// The smallest number that counts as above a bound. A chain far out may come nearer than numbers can
/// tell; it then stays inside, where densities are finite.
pub(super) fn just_above(low: f64) -> f64 {
    if low == 0.0 { SMALLEST } else { low.next_up() }
}

/// The largest number that counts as below a bound.
pub(super) fn just_below(high: f64) -> f64 {
    -just_above(-high)
}

/// x = a + eᵘ, f′ = eᵘ.
pub(super) struct Above(pub f64);

/// x = b − eᵘ, f′ = −eᵘ.
pub(super) struct Below(pub f64);

/// x = a + (b − a)/(1 + e⁻ᵘ), f′ = (b − a)/((1 + e⁻ᵘ)(1 + eᵘ)).
pub(super) struct Between(pub f64, pub f64);

impl Map for Above {
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R {
        let least = just_above(self.0);
        let mut log_jacobian = R::zero();
        for i in 0..u.len() {
            slope[i] = u[i].exp();
            x[i] = (slope[i] + self.0).at_least(least);
            log_jacobian += u[i];
        }
        log_jacobian
    }

    #[inline(always)]
    fn pull_back<R: Real>(&self, _u: &[R], slope: &[R], _x: &[R], g: &[R], out: &mut [R]) {
        for i in 0..g.len() {
            out[i] = g[i].mul_add(slope[i], R::one());
        }
    }

    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        each(x, u, |x| (x > self.0).then(|| Real::ln(x - self.0)))
            .map_err(|i| Outside::element(i, x[i], format!("greater than {}", self.0)))
    }
}

impl Map for Below {
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R {
        let most = just_below(self.0);
        let mut log_jacobian = R::zero();
        for i in 0..u.len() {
            slope[i] = -u[i].exp();
            x[i] = (slope[i] + self.0).at_most(most);
            log_jacobian += u[i];
        }
        log_jacobian
    }

    #[inline(always)]
    fn pull_back<R: Real>(&self, _u: &[R], slope: &[R], _x: &[R], g: &[R], out: &mut [R]) {
        for i in 0..g.len() {
            out[i] = g[i].mul_add(slope[i], R::one());
        }
    }

    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        each(x, u, |x| (x < self.0).then(|| Real::ln(self.0 - x)))
            .map_err(|i| Outside::element(i, x[i], format!("less than {}", self.0)))
    }
}

impl Map for Between {
    /// With p = 1/(1 + e⁻ᵘ) and q = 1/(1 + eᵘ), x = aq + bp keeps all digits near a bound at 0, and
    /// log f′ = log (b − a) + u − 2 log (1 + eᵘ) those far out.
    #[inline(always)]
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R {
        let Between(low, high) = *self;
        let (least, most, width) = (just_above(low), just_below(high), high - low);
        let mut log_jacobian = R::of(u.len() as f64 * Real::ln(width));
        for i in 0..u.len() {
            let (p, q) = (u[i].logistic(), (-u[i]).logistic());
            slope[i] = p * q * width;
            let inside = q.mul_add(R::of(low), p * high);
            x[i] = inside.at_least(least).at_most(most);
            log_jacobian += u[i].softplus().mul_add(R::of(-2.0), u[i]);
        }
        log_jacobian
    }

    /// (log f′)′ = q − p = −tanh ½u.
    #[inline(always)]
    fn pull_back<R: Real>(&self, u: &[R], slope: &[R], _x: &[R], g: &[R], out: &mut [R]) {
        for i in 0..g.len() {
            out[i] = g[i].mul_add(slope[i], -(u[i] * 0.5).tanh());
        }
    }

    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside> {
        let Between(low, high) = *self;
        let inside = |x| low < x && x < high;
        each(x, u, |x| {
            inside(x).then(|| Real::ln(x - low) - Real::ln(high - x))
        })
        .map_err(|i| {
            let condition = format!("greater than {low} and less than {high}");
            Outside::element(i, x[i], condition)
        })
    }
}

/// Writes f(x) of each x; if there is none for one of them, its place.
fn each(x: &[f64], u: &mut [f64], f: impl Fn(f64) -> Option<f64>) -> Result<(), usize> {
    for i in 0..x.len() {
        u[i] = f(x[i]).ok_or(i)?;
    }
    Ok(())
}
