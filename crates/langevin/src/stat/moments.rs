//! Means and variances, exact for constant values, and their standard errors.
//!
//! The functions square what they are given: values of any size are measured in their own [`Unit`]
//! first.

use super::scale::Unit;
use crate::error::{Error, Result};

/// Mean. Deviations from the first value are summed, so that a constant gives itself exactly.
pub(super) fn mean(values: &[f64]) -> f64 {
    let Some(&origin) = values.first() else {
        return f64::NAN;
    };
    if origin.is_infinite() {
        // Wherever the infinities stand, their sum is what it is.
        return sum(values, |v| v);
    }
    origin + sum(values, |v| v - origin) / values.len() as f64
}

/// Sum of `term` over `values`; in blocks, so that the rounding error grows slowly, and in eight parts
/// of a block, so that an addition does not wait for the one before.
pub(super) fn sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let block = |block: &[f64]| {
        let (eights, rest) = block.as_chunks::<8>();
        let mut s = [0.0; 8];
        for eight in eights {
            for (s, v) in s.iter_mut().zip(eight) {
                *s += term(*v);
            }
        }
        let rest = rest.iter().map(|&v| term(v)).sum::<f64>();
        ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])) + rest
    };
    values.chunks(1024).map(block).sum()
}

/// Mean and variance with divisor `n - 1`.
pub(super) fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let mean = mean(values);
    let squares = sum(values, |v| (v - mean) * (v - mean));
    (mean, squares / (values.len() as f64 - 1.0))
}

/// Mean and standard deviation of independent replications, each with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Mean over the replications.
    pub mean: f64,
    /// Standard error of the mean, `sd / sqrt(n)`.
    pub mean_se: f64,
    /// Standard deviation over the replications (divisor `n - 1`).
    pub sd: f64,
    /// Standard error of `sd`, that of the variance divided by `2 sd` (delta method).
    pub sd_se: f64,
}

impl Spread {
    /// Spread of at least two independent values.
    pub fn new(values: &[f64]) -> Result<Self> {
        if values.len() < 2 {
            return Err(Error::TooFew {
                name: "number of replications",
                value: values.len(),
                min: 2,
            });
        }
        let unit = Unit::of(values);
        let values = unit.measure(values);
        let (mean, variance) = mean_and_variance(&values);
        let sd = variance.sqrt();
        Ok(Self {
            mean: unit.length(mean),
            mean_se: unit.length(sd / (values.len() as f64).sqrt()),
            sd: unit.length(sd),
            sd_se: unit.length(variance_se(&values, mean, variance) / (2.0 * sd)),
        })
    }
}

/// Standard error of the variance with divisor `n - 1` of independent values.
///
/// `Var s² = (μ₄ − σ⁴ (n − 3)/(n − 1)) / n` for any distribution, with the empirical fourth moment
/// in place of `μ₄` and `s²` in place of `σ²`. It cannot be negative, as `m₄ ≥ m₂²`.
pub(super) fn variance_se(values: &[f64], mean: f64, variance: f64) -> f64 {
    let n = values.len() as f64;
    let fourth = sum(values, |v| (v - mean).powi(4)) / n;
    ((fourth - variance * variance * (n - 3.0) / (n - 1.0)) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::{TestRng, z_score};

    #[test]
    fn constants_have_no_variance() {
        assert_eq!(mean_and_variance(&[0.1; 1003]), (0.1, 0.0));
    }

    #[test]
    fn small_case_by_hand() {
        let s = Spread::new(&[1.0, 2.0, 6.0]).unwrap();
        assert_eq!((s.mean, s.sd), (3.0, 7f64.sqrt()));
        assert_eq!(s.mean_se, 7f64.sqrt() / 3f64.sqrt());
        // m₄ = (16 + 1 + 81)/3, and n = 3 removes the other term.
        let want = (98.0 / 9.0_f64).sqrt() / (2.0 * 7f64.sqrt());
        assert!((s.sd_se - want).abs() < 1e-15);
        assert!(Spread::new(&[1.0]).is_err());
    }

    /// False-alarm rate: one test at |z| < 4.5, 7e-6. The distribution is far from normal, so
    /// that the normal formula `2σ⁴/(n−1)` would be wrong: that is the negative control.
    #[test]
    fn variance_se_squared_estimates_the_variance_of_the_variance() {
        let n = 200;
        let mut rng = TestRng::new(11);
        let mut excess = Vec::new();
        let mut normal_excess = Vec::new();
        for _ in 0..4000 {
            // Uniform on (0, 1]: σ² = 1/12, μ₄ = 1/80.
            let x: Vec<f64> = (0..n).map(|_| rng.uniform()).collect();
            let (mean, variance) = mean_and_variance(&x);
            let deviation = (variance - 1.0 / 12.0).powi(2);
            excess.push(deviation - variance_se(&x, mean, variance).powi(2));
            normal_excess.push(deviation - 2.0 * variance * variance / (n - 1) as f64);
        }
        // The plug-in has a bias of relative order 1/n, far below the standard error of 2 %.
        assert!(
            z_score(&excess, 0.0).abs() < 4.5,
            "{}",
            z_score(&excess, 0.0)
        );
        assert!(z_score(&normal_excess, 0.0).abs() > 10.0);
    }
}
