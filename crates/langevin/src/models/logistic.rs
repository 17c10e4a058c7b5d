//! Logistic regression with a Gaussian prior (section 3.4 of the paper).

use super::LogisticNatural;
use crate::check;
use crate::kernels::row_tiles;
use crate::kernels::rows_of_chains::{self, Weight};
use crate::real::{Lanes, Real};
use crate::target::{Parameter, Rows, Subsampled, Target, lift};
use crate::{Error, Result};

/// Labels tₙ ∈ {0, 1} with P(tₙ = 1) = logistic(xₙ·w) and prior w ~ N(0, α⁻¹ I).
///
/// ```
/// use langevin::models::LogisticRegression;
/// use langevin::target::{Target, score_at};
/// let model = LogisticRegression::new(vec![1.0, -1.0], 1, &[1.0, 0.0], 0.5)?;
/// assert_eq!(score_at(&model, &[0.0]), [1.0]);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogisticRegression {
    /// (2tₙ − 1) xₙ: with the sign of the label in the features, log p = −log(1 + e^(−x·w)) and
    /// its gradient is logistic(−x·w) x for either label.
    rows: Rows,
    prior_precision: f64,
}

impl LogisticRegression {
    /// Features row by row (`dim` in each row), one label per row, and the prior precision α.
    pub fn new(
        features: Vec<f64>,
        dim: usize,
        labels: &[f64],
        prior_precision: f64,
    ) -> Result<Self> {
        check::positive("the prior precision", prior_precision)?;
        let features = Rows::new(features, dim)?;
        check::size("the list of labels", labels.len(), features.len())?;
        if let Some(row) = labels.iter().position(|t| *t != 0.0 && *t != 1.0) {
            return Err(Error::NotALabel {
                row,
                value: labels[row],
            });
        }
        let signed = features.iter().zip(labels).flat_map(|(x, t)| {
            let sign = 2.0 * t - 1.0;
            x.iter().map(move |x| sign * x)
        });
        Ok(LogisticRegression {
            rows: Rows::new(signed.collect(), dim)?,
            prior_precision,
        })
    }

    /// The data: features with the signs of their labels.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    #[inline(always)]
    fn log_prior<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for w in theta {
            sum = w.mul_add(*w, sum);
        }
        sum * (-0.5 * self.prior_precision)
    }

    #[inline(always)]
    fn prior_score<R: Real>(&self, theta: &[R], out: &mut [R]) {
        for (out, w) in out.iter_mut().zip(theta) {
            *out = *w * -self.prior_precision;
        }
    }

    /// The metric G(w)⁻¹ with G = αI + Σ λₙ xₙ xₙᵀ, the expected Fisher information plus the
    /// prior precision.
    pub fn natural(&self) -> LogisticNatural {
        LogisticNatural::new(&self.rows, self.prior_precision, false)
    }

    /// The metric I + G(w)⁻¹ of the paper, which is never smaller than the identity.
    pub fn natural_plus_identity(&self) -> LogisticNatural {
        LogisticNatural::new(&self.rows, self.prior_precision, true)
    }
}

impl Target for LogisticRegression {
    fn dim(&self) -> usize {
        self.rows.width()
    }

    /// −½α|w|² − Σ log(1 + e^(−x·w)).
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = self.log_prior(theta);
        for row in self.rows.iter() {
            sum -= (-plain_dot(row, theta)).softplus();
        }
        sum
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        self.prior_score(theta, out);
        let row = &mut scratch[..theta.len()];
        for data in self.rows.iter() {
            lift(data, row);
            add_score(theta, row, out);
        }
    }

    #[inline(always)]
    fn log_density_and_score<R: Real>(&self, theta: &[R], _scratch: &mut [R], out: &mut [R]) -> R {
        self.prior_score(theta, out);
        self.log_prior(theta) - row_tiles::logistic_loss_and_pull(&self.rows, theta, out)
    }

    fn scratch_len(&self) -> usize {
        rows_of_chains::scratch_len(self.rows.width())
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::array("w", &[self.rows.width()])]
    }
}

impl Subsampled for LogisticRegression {
    fn n_data(&self) -> usize {
        self.rows.len()
    }

    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        let weight = L::of(self.rows.len() as f64 / rows.len() as f64);
        if (5..=rows_of_chains::MOST_FEATURES).contains(&theta.len()) {
            rows_of_chains::weighted_rows::<L, Pull>(&self.rows, rows, theta, scratch, out);
        } else {
            let row = &mut scratch[..theta.len()];
            out.fill(L::zero());
            for index in rows {
                self.rows.gather(index, row);
                add_score(theta, row, out);
            }
        }
        for (out, w) in out.iter_mut().zip(theta) {
            *out = out.mul_add(weight, *w * -self.prior_precision);
        }
    }
}

/// Adds ∇ log p(row | w) = logistic(−x·w) x.
#[inline(always)]
fn add_score<R: Real>(theta: &[R], row: &[R], out: &mut [R]) {
    let weight = (-dot(row, theta)).logistic();
    for (out, x) in out.iter_mut().zip(row) {
        *out = x.mul_add(weight, *out);
    }
}

/// The weight logistic(−x·w) of a row in the score.
struct Pull;

impl Weight for Pull {
    #[inline(always)]
    fn weight<R: Real>(product: R) -> R {
        (-product).logistic()
    }
}

#[inline(always)]
fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    let mut sum = a[0] * b[0];
    for i in 1..b.len() {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}

/// The product with a row of plain numbers.
#[inline(always)]
fn plain_dot<R: Real>(row: &[f64], theta: &[R]) -> R {
    let mut sum = theta[0] * row[0];
    for i in 1..theta.len() {
        sum = theta[i].mul_add(R::of(row[i]), sum);
    }
    sum
}
