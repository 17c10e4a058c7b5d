//! The sizes of steps.

use crate::check;
use crate::real::Real;
use crate::{Error, Result};

/// The sizes of the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepSize {
    /// The same size h throughout.
    Constant(f64),
    /// h_k = a (b + k)^(−γ), the decreasing schedule of stochastic gradient Langevin dynamics.
    Decreasing {
        /// Scale.
        a: f64,
        /// Offset, above 0.
        b: f64,
        /// Decay, in (0, 1].
        gamma: f64,
    },
}

impl StepSize {
    /// Refuses sizes that are not positive.
    pub fn check(&self) -> Result<()> {
        match *self {
            StepSize::Constant(h) => check::positive("the step size", h),
            StepSize::Decreasing { a, b, gamma } => {
                check::positive("a of the step sizes a(b+k)^(-gamma)", a)?;
                check::positive("b of the step sizes a(b+k)^(-gamma)", b)?;
                if gamma > 0.0 && gamma <= 1.0 {
                    Ok(())
                } else {
                    Err(Error::Decay { gamma })
                }
            }
        }
    }

    /// The size of step k.
    pub fn at(&self, k: u64) -> f64 {
        match *self {
            StepSize::Constant(h) => h,
            StepSize::Decreasing { a, b, gamma } => a * Real::exp(-gamma * Real::ln(b + k as f64)),
        }
    }

    /// The largest step.
    pub fn largest(&self) -> f64 {
        self.at(0)
    }
}
