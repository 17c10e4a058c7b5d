//! What is no distribution, or not what it says: to be refused or warned of.

use langevin::real::Real;
use langevin::target::Target;

/// A constant density: improper.
#[derive(Clone, Copy, Debug)]
pub struct Flat;

impl Target for Flat {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        theta[0] * 0.0
    }
}

/// NaN everywhere.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysNan;

impl Target for AlwaysNan {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        theta[0] * f64::NAN
    }
}

/// Standard normal in two coordinates; the third has no part in the density.
#[derive(Clone, Copy, Debug)]
pub struct ConstantCoordinate;

impl Target for ConstantCoordinate {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        (theta[0] * theta[0] + theta[1] * theta[1]) * -0.5
    }
}

/// Standard normal, but log π is +∞ wherever the first coordinate is above 1.
#[derive(Clone, Copy, Debug)]
pub struct SomewhereInfinite;

impl Target for SomewhereInfinite {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let above = theta[0] - 1.0;
        let mut sum = (above + above.abs()) * 1e300 * 1e300;
        for x in theta {
            sum -= *x * *x * 0.5;
        }
        sum
    }
    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) {
        for (out, x) in out.iter_mut().zip(theta) {
            *out = -*x;
        }
    }
}

/// Standard normal with a score that is a tenth too large.
#[derive(Clone, Copy, Debug)]
pub struct WrongScore;

impl Target for WrongScore {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for x in theta {
            sum -= *x * *x * 0.5;
        }
        sum
    }
    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) {
        for (out, x) in out.iter_mut().zip(theta) {
            *out = *x * -1.1;
        }
    }
}

/// Cauchy coordinates: no mean, so no precision for one either.
#[derive(Clone, Copy, Debug)]
pub struct Cauchy;

impl Target for Cauchy {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for x in theta {
            sum -= (*x * *x).ln_1p();
        }
        sum
    }
}
