//! Law of the error of a stochastic gradient, as far as quadratic observables can see it.

use nalgebra::{DMatrix, DVector};

use crate::Result;
use crate::check;

/// How the rows of a minibatch are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Every row afresh from all rows.
    WithReplacement,
    /// Distinct rows.
    WithoutReplacement,
}

/// The law of the gradient error g (mean zero): its covariance, and for minibatches also its third
/// and fourth cumulants, which enter the variance of quadratic observables.
#[derive(Debug, Clone)]
pub struct GradientNoise {
    covariance: DMatrix<f64>,
    minibatch: Option<Minibatch>,
}

/// `g = Σ_{i in batch} y_i` with rows y_i that sum to zero.
#[derive(Debug, Clone)]
struct Minibatch {
    rows: DMatrix<f64>,
    /// `Σ y_i y_iᵀ`.
    scatter: DMatrix<f64>,
    weights: Weights,
}

/// Moments of g in terms of power sums of the rows:
/// `E g⊗g = second · Σ y⊗y`, `E g⊗g⊗g = third · Σ y⊗y⊗y`, and
/// `E g⊗g⊗g⊗g = fourth · Σ y⊗y⊗y⊗y + pairs · (the three pairings of Σ y⊗y with itself)`.
#[derive(Debug, Clone, Copy)]
struct Weights {
    second: f64,
    third: f64,
    fourth: f64,
    pairs: f64,
}

impl Weights {
    fn new(n_rows: usize, batch_size: usize, sampling: Sampling) -> Self {
        let (rows, batch) = (n_rows as f64, batch_size as f64);
        match sampling {
            Sampling::WithReplacement => Self {
                second: batch / rows,
                third: batch / rows,
                fourth: batch / rows,
                pairs: batch * (batch - 1.0) / (rows * rows),
            },
            Sampling::WithoutReplacement => {
                // p[k−1]: the chance that k given rows are all in the batch. Sums over distinct
                // rows reduce to power sums because the rows sum to zero.
                let mut p = [0.0; 4];
                let mut chance = 1.0;
                for k in 0..4.min(batch_size) {
                    chance *= (batch - k as f64) / (rows - k as f64);
                    p[k] = chance;
                }
                Self {
                    second: p[0] - p[1],
                    third: p[0] - 3.0 * p[1] + 2.0 * p[2],
                    fourth: p[0] - 7.0 * p[1] + 12.0 * p[2] - 6.0 * p[3],
                    pairs: p[1] - 2.0 * p[2] + p[3],
                }
            }
        }
    }
}

impl GradientNoise {
    /// Gaussian noise with this covariance.
    pub fn gaussian(covariance: DMatrix<f64>) -> Result<Self> {
        let d = covariance.nrows();
        check::at_least("the dimension of the gradient noise", d, 1)?;
        check::covariance("gradient noise", &covariance, d)?;
        Ok(Self {
            covariance,
            minibatch: None,
        })
    }

    /// Noise of the minibatch gradient `(N/n) Γ_X Σ_{i in batch} (x_i − θ)` for data x (one row
    /// per datum) with noise precision Γ_X:
    /// `g = (N/n) Γ_X Σ_{i in batch} (x_i − x̄)`.
    ///
    /// Its covariance is `(N²/n) Γ_X S_X Γ_X` with replacement (S_X with divisor N), and
    /// `(N − n)/(N − 1)` times that without.
    ///
    /// ```
    /// use langevin::theory::{GradientNoise, Sampling};
    /// use nalgebra::DMatrix;
    /// let data = DMatrix::from_column_slice(4, 1, &[-3.0, -1.0, 1.0, 3.0]);
    /// let precision = DMatrix::identity(1, 1);
    /// let noise = GradientNoise::minibatch(&data, &precision, 2, Sampling::WithReplacement)?;
    /// assert_eq!(noise.covariance()[(0, 0)], 16.0 / 2.0 * 5.0);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn minibatch(
        data: &DMatrix<f64>,
        noise_precision: &DMatrix<f64>,
        batch_size: usize,
        sampling: Sampling,
    ) -> Result<Self> {
        let (n_rows, d) = data.shape();
        check::at_least("the number of data columns", d, 1)?;
        check::at_least("the number of data rows", n_rows, 1)?;
        check::finite_matrix("data", data, n_rows, d)?;
        check::positive_definite("noise_precision", noise_precision, d)?;
        check::at_least("batch_size", batch_size, 1)?;
        if sampling == Sampling::WithoutReplacement {
            check::at_most("batch_size", batch_size, n_rows)?;
        }
        let mean = data.row_mean();
        let centred = DMatrix::from_fn(n_rows, d, |i, j| data[(i, j)] - mean[j]);
        let scale = n_rows as f64 / batch_size as f64;
        let weights = Weights::new(n_rows, batch_size, sampling);
        Ok(Self::from_rows(centred * noise_precision * scale, weights))
    }

    fn from_rows(rows: DMatrix<f64>, weights: Weights) -> Self {
        let scatter = rows.tr_mul(&rows);
        Self {
            covariance: &scatter * weights.second,
            minibatch: Some(Minibatch {
                rows,
                scatter,
                weights,
            }),
        }
    }

    /// The covariance of g.
    pub fn covariance(&self) -> &DMatrix<f64> {
        &self.covariance
    }

    /// The dimension of g.
    pub fn dim(&self) -> usize {
        self.covariance.nrows()
    }

    /// Whether the cumulants beyond the covariance are all zero.
    pub(super) fn is_gaussian(&self) -> bool {
        self.minibatch.is_none()
    }

    /// The law of `map · g`.
    pub(super) fn mapped(&self, map: &DMatrix<f64>) -> Self {
        match &self.minibatch {
            Some(m) => Self::from_rows(&m.rows * map.transpose(), m.weights),
            None => Self {
                covariance: map * &self.covariance * map.transpose(),
                minibatch: None,
            },
        }
    }

    /// The third cumulant against a symmetric matrix, `E[g (gᵀAg)]`, and the fourth cumulant
    /// against it twice, `Var(gᵀAg) − 2 tr(A Cov A Cov)`.
    pub(super) fn higher_cumulants(&self, a: &DMatrix<f64>) -> (DVector<f64>, f64) {
        let Some(m) = &self.minibatch else {
            return (DVector::zeros(self.dim()), 0.0);
        };
        let image = &m.rows * a;
        let n_rows = m.rows.nrows();
        let forms = DVector::from_fn(n_rows, |i, _| image.row(i).dot(&m.rows.row(i)));
        let product = a * &m.scatter;
        let pairings = forms.sum().powi(2) + 2.0 * product.dot(&product.transpose());
        let w = m.weights;
        let third = m.rows.tr_mul(&forms) * w.third;
        let fourth = w.fourth * forms.norm_squared() + (w.pairs - w.second.powi(2)) * pairings;
        (third, fourth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ordered draws of four out of six rows, with or without repetition.
    fn batches(sampling: Sampling) -> Vec<[usize; 4]> {
        (0..6usize.pow(4))
            .map(|c| [c % 6, c / 6 % 6, c / 36 % 6, c / 216])
            .filter(|b| {
                let distinct = (0..4).all(|i| (0..i).all(|j| b[i] != b[j]));
                sampling == Sampling::WithReplacement || distinct
            })
            .collect()
    }

    #[test]
    fn cumulants_are_those_of_all_batches() {
        let data = DMatrix::from_row_slice(
            6,
            2,
            &[
                1.0, 0.2, -2.0, 1.1, 0.4, 3.0, 2.5, -1.0, 0.0, 7.0, -0.3, 0.9,
            ],
        );
        let precision = DMatrix::from_row_slice(2, 2, &[0.5, 0.1, 0.1, 0.3]);
        let a = DMatrix::from_row_slice(2, 2, &[0.7, -0.4, -0.4, 1.2]);
        let centre = data.row_mean();
        for sampling in [Sampling::WithReplacement, Sampling::WithoutReplacement] {
            let batches = batches(sampling);
            let share = 1.0 / batches.len() as f64;
            let mut covariance = DMatrix::zeros(2, 2);
            let mut third = DVector::zeros(2);
            let (mut mean_form, mut mean_square) = (0.0, 0.0);
            for batch in &batches {
                let sum = batch.iter().fold(DVector::zeros(2), |s, &i| {
                    s + (data.row(i) - &centre).transpose()
                });
                let g = &precision * sum * (6.0 / 4.0);
                let form = (&a * &g).dot(&g);
                covariance += &g * g.transpose() * share;
                third += &g * (form * share);
                mean_form += form * share;
                mean_square += form * form * share;
            }
            let gaussian = 2.0 * (&a * &covariance * &a * &covariance).trace();
            let fourth = mean_square - mean_form * mean_form - gaussian;

            // Sums of some thousand terms of size mean_square: rounding is far below 1e-12 of it.
            let tolerance = 1e-12 * mean_square;
            let noise = GradientNoise::minibatch(&data, &precision, 4, sampling).unwrap();
            let cumulants = noise.higher_cumulants(&a);
            assert!((noise.covariance() - covariance).amax() < tolerance);
            assert!((cumulants.0 - third).amax() < tolerance, "{sampling:?}");
            assert!((cumulants.1 - fourth).abs() < tolerance, "{sampling:?}");
        }
    }
}
