//! Curved targets in closed form: bananas and Neal's funnel.

use langevin::real::Real;
use langevin::target::Target;

use crate::Moments;

/// x ~ N(0, 1) and y | x ~ N(b x², s²).
///
/// ```
/// use langevin::target::Target;
/// use langevin_posteriors::curved::Banana;
/// let banana = Banana { bend: 1.0, width: 0.5 };
/// assert_eq!(banana.log_density(&[1.0, 2.0]), -2.5);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Banana {
    /// b.
    pub bend: f64,
    /// s.
    pub width: f64,
}

impl Banana {
    /// E y = b, Var y = s² + 2b².
    pub fn moments(&self) -> Moments {
        let variance = self.width * self.width + 2.0 * self.bend * self.bend;
        Moments::exact(&[0.0, self.bend], &[1.0, variance.sqrt()])
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let (x, y) = (theta[0], theta[1]);
        let z = (y - x * x * self.bend) / self.width;
        out[0] = x * z * (2.0 * self.bend / self.width) - x;
        out[1] = -z / self.width;
        (x * x + z * z) * -0.5
    }
}

impl Target for Banana {
    fn dim(&self) -> usize {
        2
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (x, y) = (theta[0], theta[1]);
        let z = (y - x * x * self.bend) / self.width;
        (x * x + z * z) * -0.5
    }

    in_one_pass!();
}

/// v ~ N(0, 3²) and xᵢ | v ~ N(0, eᵛ) (Neal, 2003).
#[derive(Clone, Copy, Debug)]
pub struct Funnel {
    /// Number of coordinates, v included.
    pub dim: usize,
}

impl Funnel {
    /// Var xᵢ = E eᵛ = e^(9/2).
    pub fn moments(&self) -> Moments {
        let mut sds = vec![2.25f64.exp(); self.dim];
        sds[0] = 3.0;
        Moments::exact(&vec![0.0; self.dim], &sds)
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let v = theta[0];
        let precision = (-v).exp();
        let mut squares = R::zero();
        for i in 1..theta.len() {
            out[i] = -theta[i] * precision;
            squares = theta[i].mul_add(-out[i], squares);
        }
        let n = (theta.len() - 1) as f64;
        out[0] = v / -9.0 + (squares - n) * 0.5;
        (v * v / 9.0 + v * n + squares) * -0.5
    }
}

impl Target for Funnel {
    fn dim(&self) -> usize {
        self.dim
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let v = theta[0];
        let mut squares = R::zero();
        for x in &theta[1..] {
            squares += *x * *x;
        }
        let n = (theta.len() - 1) as f64;
        (v * v / 9.0 + v * n + squares * (-v).exp()) * -0.5
    }

    in_one_pass!();
}
