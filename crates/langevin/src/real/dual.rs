//! Dual numbers: a value and its derivative along one direction, over any number type.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use super::Real;

/// `value + tangent·ε` with `ε² = 0`: forward-mode differentiation of generic formulas.
///
/// Works over lanes too, which is why the numbers are not those of an `f64`-only crate.
///
/// ```
/// use langevin::real::{Dual, Real};
/// let y = Dual::variable(2.0).ln();
/// assert!((y.tangent - 0.5_f64).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<R> {
    /// The number itself.
    pub value: R,
    /// Its derivative along the chosen direction.
    pub tangent: R,
}

impl<R: Real> Dual<R> {
    /// A number that does not depend on the variables.
    #[inline(always)]
    pub fn constant(value: R) -> Self {
        Dual {
            value,
            tangent: R::zero(),
        }
    }

    /// The variable along which to differentiate.
    #[inline(always)]
    pub fn variable(value: R) -> Self {
        Dual {
            value,
            tangent: R::one(),
        }
    }

    /// Chain rule: a function value with its derivative at `self.value`.
    #[inline(always)]
    fn chain(self, value: R, derivative: R) -> Self {
        Dual {
            value,
            tangent: derivative * self.tangent,
        }
    }
}

impl<R: Real> Add for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Dual {
            value: self.value + b.value,
            tangent: self.tangent + b.tangent,
        }
    }
}

impl<R: Real> Sub for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Dual {
            value: self.value - b.value,
            tangent: self.tangent - b.tangent,
        }
    }
}

impl<R: Real> Mul for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Dual {
            value: self.value * b.value,
            tangent: self.tangent.mul_add(b.value, self.value * b.tangent),
        }
    }
}

impl<R: Real> Div for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn div(self, b: Self) -> Self {
        let value = self.value / b.value;
        Dual {
            value,
            tangent: (self.tangent - value * b.tangent) / b.value,
        }
    }
}

impl<R: Real> Neg for Dual<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Dual {
            value: -self.value,
            tangent: -self.tangent,
        }
    }
}

macro_rules! assign_operators {
    ($($trait:ident $method:ident $op:tt),+) => {
        $(impl<R: Real> $trait for Dual<R> {
            #[inline(always)]
            fn $method(&mut self, b: Self) {
                *self = *self $op b;
            }
        })+
    };
}
assign_operators!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *);

macro_rules! scalar_operators {
    ($($trait:ident $method:ident),+) => {
        $(impl<R: Real> $trait<f64> for Dual<R> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: f64) -> Self {
                $trait::$method(self, Dual::of(b))
            }
        })+
    };
}
scalar_operators!(Add add, Sub sub, Mul mul, Div div);

impl<R: Real> Real for Dual<R> {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Dual::constant(R::of(x))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Dual {
            value: self.value.mul_add(a.value, b.value),
            tangent: self
                .tangent
                .mul_add(a.value, self.value.mul_add(a.tangent, b.tangent)),
        }
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, R::of(0.5) / root)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // |x| / x is the sign away from 0.
        let size = self.value.abs();
        self.chain(size, size / self.value)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        let e = self.value.exp();
        self.chain(e, e)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), self.value.recip())
    }
    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.chain(self.value.ln_1p(), (self.value + 1.0).recip())
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        let t = self.value.tanh();
        self.chain(t, R::one() - t * t)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        self.chain(self.value.sin(), self.value.cos())
    }
    #[inline(always)]
    fn cos(self) -> Self {
        self.chain(self.value.cos(), -self.value.sin())
    }
    #[inline(always)]
    fn logistic(self) -> Self {
        let p = self.value.logistic();
        self.chain(p, p * (R::one() - p))
    }
    #[inline(always)]
    fn softplus(self) -> Self {
        self.chain(self.value.softplus(), self.value.logistic())
    }
    #[inline(always)]
    fn at_least(self, low: f64) -> Self {
        Dual {
            value: self.value.at_least(low),
            tangent: self.tangent,
        }
    }
    #[inline(always)]
    fn at_most(self, high: f64) -> Self {
        Dual {
            value: self.value.at_most(high),
            tangent: self.tangent,
        }
    }
}

/// Variables up to this many live on the stack while differentiating; more are put on the heap.
const ON_STACK: usize = 32;

/// A formula in dual numbers. Closures are formulas; inside kernels a type with an
/// `#[inline(always)]` method is better, because closures cannot be marked to be inlined.
pub trait Formula<R> {
    /// What the formula gives.
    type Output;
    /// Its value and derivative.
    fn eval(&mut self, x: &[Dual<R>]) -> Self::Output;
}

impl<R, T, F: FnMut(&[Dual<R>]) -> T> Formula<R> for F {
    type Output = T;
    #[inline(always)]
    fn eval(&mut self, x: &[Dual<R>]) -> T {
        self(x)
    }
}

/// Evaluates a formula at `x` with the derivative along coordinate `axis`.
#[inline(always)]
pub fn along_axis<R: Real, F: Formula<R>>(x: &[R], axis: usize, f: &mut F) -> F::Output {
    if x.len() <= ON_STACK {
        let mut buffer = [Dual::constant(R::zero()); ON_STACK];
        let buffer = &mut buffer[..x.len()];
        lift(x, axis, buffer);
        f.eval(buffer)
    } else {
        let mut buffer = vec![Dual::constant(R::zero()); x.len()];
        lift(x, axis, &mut buffer);
        f.eval(&buffer)
    }
}

#[inline(always)]
fn lift<R: Real>(x: &[R], axis: usize, out: &mut [Dual<R>]) {
    for i in 0..x.len() {
        out[i] = Dual::constant(x[i]);
    }
    out[axis] = Dual::variable(x[axis]);
}

/// The gradient of `f` at `x`, one pass of dual numbers per coordinate.
///
/// ```
/// use langevin::real::{Dual, Real, gradient};
/// let mut g = [0.0; 2];
/// gradient(&[1.0, 2.0], &mut g, |x: &[Dual<f64>]| x[0] * x[1] * x[1]);
/// assert_eq!(g, [4.0, 4.0]);
/// ```
#[inline(always)]
pub fn gradient<R: Real>(x: &[R], out: &mut [R], mut f: impl Formula<R, Output = Dual<R>>) {
    for i in 0..x.len() {
        out[i] = along_axis(x, i, &mut f).tangent;
    }
}
