//! Kernel Stein discrepancy with the inverse multiquadric kernel, also for every prefix of a chain.
//!
//! With `D = x - y`, `ρ = c² + |D|²`, kernel `k = ρ^e` and score `b = ∇log π`, the Stein kernel is
//!
//! ```text
//! k₀(x, y) = ∇ₓ·∇ᵧ k + b(x)·∇ᵧ k + b(y)·∇ₓ k + b(x)·b(y) k
//!          = b(x)·b(y) ρ^e − 2e [(b(x) − b(y))·D + d] ρ^(e−1) − 4e(e−1) |D|² ρ^(e−2)
//! ```
//!
//! because `∇ₓ k = 2e ρ^(e−1) D = −∇ᵧ k`, and `KSD = sqrt(Σᵢⱼ k₀(xᵢ, xⱼ)) / n` (Gorham and Mackey
//! 2017, "Measuring sample quality with kernels").
//!
//! The cost is `n²/2` evaluations of `k₀`, shared among rayon's threads. The result has the same
//! bits for any number of threads and on any processor. Each `k₀` is right to about `256 d ε` if all
//! points lie within 16 lengths `c` of their mean, and to a few `ε` otherwise, by a slower way.

mod pairs;
mod rows;

use crate::error::{Error, Result};
use crate::real::Isa;
use rows::row_sums;

/// Inverse multiquadric kernel `(c² + |x − y|²)^e` with `−1 < e < 0`.
///
/// In this range the discrepancy detects every way of not converging to a target with
/// distantly dissipative score (Gorham and Mackey 2017, Theorem 8).
///
/// The default, `c = 1` and `e = −1/2`, has a fast path; any other exponent needs a logarithm and
/// an exponential for each pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kernel {
    c_squared: f64,
    exponent: f64,
}

impl Default for Kernel {
    fn default() -> Self {
        Self {
            c_squared: 1.0,
            exponent: -0.5,
        }
    }
}

impl Kernel {
    /// A kernel with length `c > 0` and exponent `−1 < e < 0`.
    ///
    /// ```
    /// use langevin::stat::ksd::Kernel;
    /// assert!(Kernel::new(1.0, -0.5).is_ok());
    /// assert!(Kernel::new(1.0, 0.5).is_err());
    /// ```
    pub fn new(c: f64, exponent: f64) -> Result<Self> {
        let c_squared = c * c;
        // The square is what is used: it must not underflow, nor its inverse overflow.
        if !(c > 0.0 && c_squared.is_normal() && c_squared.recip().is_normal()) {
            return Err(Error::NotPositive {
                name: "kernel length c (with c² and 1/c²)",
                value: c,
            });
        }
        if !(exponent > -1.0 && exponent < 0.0) {
            return Err(Error::OutOfRange {
                name: "kernel exponent",
                value: exponent,
                low: -1.0,
                high: 0.0,
            });
        }
        Ok(Self {
            c_squared,
            exponent,
        })
    }

    /// The length `c`.
    pub fn c(&self) -> f64 {
        self.c_squared.sqrt()
    }

    /// The exponent `e`.
    pub fn exponent(&self) -> f64 {
        self.exponent
    }
}

/// Kernel Stein discrepancy of `n` points.
///
/// `points` and `scores` hold one row of `dim` numbers per point; `scores` is `∇log π` of the
/// target at each point.
///
/// ```
/// use langevin::stat::ksd::{Kernel, ksd};
/// // One point x under N(0, 1): k₀(x, x) = x² + 1 for the default kernel.
/// let d = ksd(&[2.0], &[-2.0], 1, Kernel::default())?;
/// assert!((d - 5f64.sqrt()).abs() < 1e-15);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn ksd(points: &[f64], scores: &[f64], dim: usize, kernel: Kernel) -> Result<f64> {
    let curve = ksd_curve(points, scores, dim, kernel)?;
    // There is at least one point, so the curve has a last value.
    Ok(curve.last().copied().unwrap_or(f64::NAN))
}

/// Kernel Stein discrepancies of the first 1, 2, …, `n` points, for the price of the last one.
///
/// ```
/// use langevin::stat::ksd::{Kernel, ksd_curve};
/// let x = [0.4, -1.2, 2.5];
/// let score = x.map(|x| -x);
/// let curve = ksd_curve(&x, &score, 1, Kernel::default())?;
/// assert_eq!(curve.len(), 3);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn ksd_curve(points: &[f64], scores: &[f64], dim: usize, kernel: Kernel) -> Result<Vec<f64>> {
    check(points, scores, dim)?;
    let isa = Isa::detect();
    let rows = row_sums(points, scores, dim, kernel, (isa, isa.width()));
    curve_of_rows(&rows)
}

/// From `Σ_{j<i} k₀(xᵢ, xⱼ)` and `k₀(xᵢ, xᵢ)` for each `i` to the discrepancy of every prefix.
fn curve_of_rows(rows: &[rows::Row]) -> Result<Vec<f64>> {
    let mut sum = Compensated::default();
    let mut curve = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        sum.add(row.diagonal);
        sum.add(2.0 * row.below);
        let total = sum.value();
        if !total.is_finite() {
            return Err(Error::NotFinite {
                name: "the sum of the Stein kernel (points or scores too large)",
                index: i,
                value: total,
            });
        }
        // The kernel is positive definite: only rounding can push the sum below zero.
        curve.push(total.max(0.0).sqrt() / (i + 1) as f64);
    }
    Ok(curve)
}

/// Sum with Neumaier's correction: the terms cancel to a fraction of their size.
#[derive(Default)]
struct Compensated {
    sum: f64,
    lost: f64,
}

impl Compensated {
    fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - sum) + term
        } else {
            (term - sum) + self.sum
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

fn check(points: &[f64], scores: &[f64], dim: usize) -> Result<()> {
    if dim == 0 {
        return Err(Error::TooFew {
            name: "dimension of the points",
            value: 0,
            min: 1,
        });
    }
    if points.is_empty() {
        return Err(Error::TooFew {
            name: "number of points",
            value: 0,
            min: 1,
        });
    }
    if !points.len().is_multiple_of(dim) {
        return Err(Error::WrongSize {
            name: "points (a whole number of rows)",
            actual: points.len(),
            expected: points.len().next_multiple_of(dim),
        });
    }
    if scores.len() != points.len() {
        return Err(Error::WrongSize {
            name: "scores",
            actual: scores.len(),
            expected: points.len(),
        });
    }
    all_finite("points", points)?;
    all_finite("scores", scores)
}

fn all_finite(name: &'static str, values: &[f64]) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite {
            name,
            index,
            value: values[index],
        }),
    }
}

#[cfg(test)]
mod tests;
