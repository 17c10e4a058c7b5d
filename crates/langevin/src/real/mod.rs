//! The number types that a formula can be written for once: `f64`, lanes of chains, dual numbers.

mod dispatch;
mod dual;
mod lanes;
pub mod math;
mod pair;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

pub use dispatch::{Isa, Kernel, Work};
pub use dual::{Dual, Formula, along_axis, gradient};
pub(crate) use lanes::OCTET;
pub use lanes::{BitLanes, Lanes, MAX_WIDTH, Word, WordsToNumbers};
use pair::Pair;
#[cfg(target_arch = "x86_64")]
use x86::{F64x4, F64x8};

/// A real number, or several at once.
///
/// A model's formula is written once for every `R: Real`. With `f64` it is the reference, with a
/// pack of [`Lanes`] it runs several chains at once, with [`Dual`] it differentiates. All number
/// types use the same elementary functions, so that a lane equals the scalar bit for bit.
///
/// ```
/// use langevin::real::{Dual, Real};
/// fn log_density<R: Real>(x: R) -> R {
///     -(x * x) * 0.5
/// }
/// assert_eq!(log_density(3.0), -4.5);
/// assert_eq!(log_density(Dual::variable(3.0)).tangent, -3.0);
/// ```
pub trait Real:
    Copy
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The constant `x`.
    fn of(x: f64) -> Self;
    /// `self · a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Exponential function; results below 2⁻¹⁰²¹ are flushed to 0.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// `ln(1 + self)`, accurate near 0.
    fn ln_1p(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Sine, for arguments up to about 10⁵ in size.
    fn sin(self) -> Self;
    /// Cosine, for arguments up to about 10⁵ in size.
    fn cos(self) -> Self;
    /// The logistic function `1 / (1 + exp(-self))`.
    fn logistic(self) -> Self;
    /// `ln(1 + exp(self))` without overflow.
    fn softplus(self) -> Self;
    /// The number, or `low` where it is below that; NaN stays NaN. A dual number keeps its tangent.
    fn at_least(self, low: f64) -> Self;
    /// The number, or `high` where it is above that; NaN stays NaN. A dual number keeps its tangent.
    fn at_most(self, high: f64) -> Self;

    /// Replaces each number x by tanh ½x, accurate to 2·10⁻¹⁵ (not to as much of itself), at less
    /// than the price of one by one. Where one of them is NaN, others may become so.
    #[inline(always)]
    fn tanh_half_all(values: &mut [Self]) {
        for x in values {
            *x = (*x * Self::of(0.5)).tanh();
        }
    }

    /// Replaces each of eight numbers z by its logistic function and returns the sum of their
    /// `ln(1 + exp(z))`, accurate to some roundings of 1 each, at less than the price of one by one.
    /// Where one of them is NaN, all become so.
    #[inline(always)]
    fn logistics_of_eight(z: &mut [Self; 8]) -> Self {
        let mut sum = Self::zero();
        for z in z {
            sum += z.softplus();
            *z = z.logistic();
        }
        sum
    }

    /// The same slice, if these are the numbers of a single chain: its data can then be in lanes.
    #[inline(always)]
    fn single(_values: &[Self]) -> Option<&[f64]> {
        None
    }

    /// The same slice to be changed, if these are the numbers of a single chain.
    #[inline(always)]
    fn single_mut(_values: &mut [Self]) -> Option<&mut [f64]> {
        None
    }

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::of(0.0)
    }

    /// One.
    #[inline(always)]
    fn one() -> Self {
        Self::of(1.0)
    }

    /// `1 / self`.
    #[inline(always)]
    fn recip(self) -> Self {
        Self::one() / self
    }

    /// Whole power by repeated squaring.
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        let mut base = if n < 0 { self.recip() } else { self };
        let mut left = n.unsigned_abs();
        let mut out = Self::one();
        while left > 0 {
            if left & 1 == 1 {
                out *= base;
            }
            base *= base;
            left >>= 1;
        }
        out
    }
}

/// Implements the elementary functions of [`Real`] by the shared algorithms of [`math`].
macro_rules! elementary_functions {
    () => {
        #[inline(always)]
        fn exp(self) -> Self {
            $crate::real::math::exp(self)
        }
        #[inline(always)]
        fn ln(self) -> Self {
            $crate::real::math::ln(self)
        }
        #[inline(always)]
        fn ln_1p(self) -> Self {
            $crate::real::math::ln_1p(self)
        }
        #[inline(always)]
        fn tanh(self) -> Self {
            $crate::real::math::tanh(self)
        }
        #[inline(always)]
        fn tanh_half_all(values: &mut [Self]) {
            $crate::real::math::tanh_half_all(values)
        }
        #[inline(always)]
        fn logistics_of_eight(z: &mut [Self; 8]) -> Self {
            $crate::real::math::logistics_of_eight(z)
        }
        #[inline(always)]
        fn sin(self) -> Self {
            $crate::real::math::sin_cos(self).0
        }
        #[inline(always)]
        fn cos(self) -> Self {
            $crate::real::math::sin_cos(self).1
        }
        #[inline(always)]
        fn logistic(self) -> Self {
            $crate::real::math::logistic(self)
        }
        #[inline(always)]
        fn softplus(self) -> Self {
            $crate::real::math::softplus(self)
        }
        // (The constant is the first operand, so that NaN passes.)
        #[inline(always)]
        fn at_least(self, low: f64) -> Self {
            $crate::real::Lanes::larger(Self::of(low), self)
        }
        #[inline(always)]
        fn at_most(self, high: f64) -> Self {
            $crate::real::Lanes::smaller(Self::of(high), self)
        }
    };
}
pub(crate) use elementary_functions;

impl Real for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        f64::mul_add(self, a, b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline(always)]
    fn single(values: &[f64]) -> Option<&[f64]> {
        Some(values)
    }
    #[inline(always)]
    fn single_mut(values: &mut [f64]) -> Option<&mut [f64]> {
        Some(values)
    }
    elementary_functions!();
}
