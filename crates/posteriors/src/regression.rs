//! Regressions: logistic with features like those of a credit register, and Poisson.

use langevin::models::LogisticRegression;
use langevin::real::Real;
use langevin::target::Target;

use crate::data::{Source, logistic};

/// 400 applicants with 20 features and an intercept; half of the features are correlated numbers,
/// half are yes or no. Weights have prior N(0, 1).
///
/// ```
/// use langevin::target::Target;
/// assert_eq!(langevin_posteriors::regression::credit().dim(), 21);
/// ```
pub fn credit() -> LogisticRegression {
    let mut source = Source::new(21);
    let weights: Vec<f64> = (0..21).map(|_| 0.4 * source.normal()).collect();
    let (mut features, mut labels) = (vec![], vec![]);
    for _ in 0..400 {
        let common = source.normal();
        let mut row = vec![1.0];
        for i in 0..10 {
            let share = 0.09 * f64::from(i);
            row.push(share.sqrt() * common + (1.0 - share).sqrt() * source.normal());
        }
        for i in 0..10 {
            row.push(source.coin(0.1 + 0.05 * f64::from(i)));
        }
        let z: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
        labels.push(source.coin(logistic(z)));
        features.extend(row);
    }
    LogisticRegression::new(features, 21, &labels, 1.0).expect("labels are 0 and 1")
}

const FEATURES: usize = 8;

/// y ~ Poisson(e^(x·w)) with w ~ N(0, 1).
#[derive(Clone, Debug)]
pub struct Poisson {
    /// Row by row, an intercept first.
    features: Vec<f64>,
    counts: Vec<f64>,
}

impl Poisson {
    /// 200 counts.
    pub fn simulated() -> Self {
        let mut source = Source::new(22);
        let weights: Vec<f64> = (0..FEATURES)
            .map(|i| if i == 0 { 0.7 } else { 0.3 * source.normal() })
            .collect();
        let (mut features, mut counts) = (vec![], vec![]);
        for _ in 0..200 {
            let common = source.normal();
            let mut row = vec![1.0];
            row.extend((1..FEATURES).map(|_| 0.6 * common + 0.8 * source.normal()));
            let z: f64 = row.iter().zip(&weights).map(|(x, w)| x * w).sum();
            counts.push(source.poisson(z.exp()));
            features.extend(row);
        }
        Poisson { features, counts }
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let mut sum = R::zero();
        for i in 0..FEATURES {
            out[i] = -theta[i];
            sum -= theta[i] * theta[i] * 0.5;
        }
        for (row, count) in self.features.chunks_exact(FEATURES).zip(&self.counts) {
            let z = predictor(theta, row);
            let rate = z.exp();
            sum += z * *count - rate;
            for i in 0..FEATURES {
                out[i] += (-rate + *count) * row[i];
            }
        }
        sum
    }
}

/// x·w.
#[inline(always)]
fn predictor<R: Real>(theta: &[R], row: &[f64]) -> R {
    let mut z = R::zero();
    for i in 0..FEATURES {
        z = theta[i].mul_add(R::of(row[i]), z);
    }
    z
}

impl Target for Poisson {
    fn dim(&self) -> usize {
        FEATURES
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for w in theta {
            sum -= *w * *w * 0.5;
        }
        for (row, count) in self.features.chunks_exact(FEATURES).zip(&self.counts) {
            let z = predictor(theta, row);
            sum += z * *count - z.exp();
        }
        sum
    }

    in_one_pass!();
}
