//! Student's t: heavy tails.

use langevin::real::Real;
use langevin::target::Target;

use crate::Moments;

/// Student t coordinates with different locations and scales: independent ones, or one
/// multivariate t, whose coordinates are far out together.
///
/// ```
/// use langevin_posteriors::tails::StudentT;
/// let t = StudentT { dim: 10, nu: 4.0, joint: false };
/// assert_eq!(t.moments().sds[0].value, t.scale(0) * 2f64.sqrt());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StudentT {
    /// Number of coordinates.
    pub dim: usize,
    /// Degrees of freedom ν; moments of order ν do not exist.
    pub nu: f64,
    /// Whether the coordinates are those of one multivariate t.
    pub joint: bool,
}

impl StudentT {
    /// Location of a coordinate.
    #[inline(always)]
    pub fn location(&self, i: usize) -> f64 {
        i as f64 - 3.0
    }

    /// Scale of a coordinate.
    #[inline(always)]
    pub fn scale(&self, i: usize) -> f64 {
        0.5 + 0.3 * i as f64
    }

    /// Variance is scale² ν/(ν − 2).
    pub fn moments(&self) -> Moments {
        let factor = (self.nu / (self.nu - 2.0)).sqrt();
        let means: Vec<f64> = (0..self.dim).map(|i| self.location(i)).collect();
        let sds: Vec<f64> = (0..self.dim).map(|i| self.scale(i) * factor).collect();
        Moments::exact(&means, &sds)
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let power = (self.nu + if self.joint { self.dim as f64 } else { 1.0 }) * 0.5;
        let (mut sum, mut squares) = (R::zero(), R::zero());
        for i in 0..theta.len() {
            let z = (theta[i] - self.location(i)) / self.scale(i);
            let q = z * z / self.nu;
            // −2 power z / (ν scale), still to be divided by 1 + q, or by 1 + Σ q.
            out[i] = z * (-2.0 * power / (self.nu * self.scale(i)));
            squares += q;
            if !self.joint {
                out[i] = out[i] / (q + 1.0);
                sum += q.ln_1p();
            }
        }
        if self.joint {
            for out in out.iter_mut() {
                *out = *out / (squares + 1.0);
            }
            sum = squares.ln_1p();
        }
        sum * -power
    }
}

impl Target for StudentT {
    fn dim(&self) -> usize {
        self.dim
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mut sum, mut squares) = (R::zero(), R::zero());
        for i in 0..theta.len() {
            let z = (theta[i] - self.location(i)) / self.scale(i);
            let q = z * z / self.nu;
            squares += q;
            sum += q.ln_1p();
        }
        match self.joint {
            true => squares.ln_1p() * (-0.5 * (self.nu + self.dim as f64)),
            false => sum * (-0.5 * (self.nu + 1.0)),
        }
    }

    in_one_pass!();
}
