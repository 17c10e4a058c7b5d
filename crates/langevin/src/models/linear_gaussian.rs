//! The mean of normal data with known precision (section 3.2 of the paper).

use nalgebra::{DMatrix, DVector};

use crate::Result;
use crate::check;
use crate::linalg::{cholesky, mat_vec, row_major, solve_transposed, subtract_mat_vec};
use crate::metric::Constant;
use crate::real::{Lanes, Real};
use crate::rng::Rng;
use crate::target::{Gaussian, Rows, Subsampled, Sums, Target};

/// Data Xᵢ ~ N(θ, Γ_X⁻¹) with prior θ ~ N(0, Γ_θ⁻¹).
///
/// The posterior is N(μ, Γ⁻¹) with Γ = Γ_θ + N Γ_X and Γ μ = Γ_X Σ Xᵢ.
///
/// ```
/// use langevin::models::LinearGaussian;
/// use nalgebra::DMatrix;
/// let id = DMatrix::identity(1, 1);
/// let model = LinearGaussian::new(vec![1.0, 2.0, 6.0], &id, &id)?;
/// assert!((model.mean()[0] - 9.0 / 4.0).abs() < 1e-15);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LinearGaussian {
    rows: Rows,
    /// Γ_X Xᵢ, which is all that scores need of the data.
    pulls: Rows,
    /// Γ_X Σ Xᵢ.
    pull: Vec<f64>,
    precision: Vec<f64>,
    noise_precision: DMatrix<f64>,
    mean: DVector<f64>,
    /// log π at the mean.
    peak: f64,
}

impl LinearGaussian {
    /// Data row by row, the noise precision Γ_X and the prior precision Γ_θ.
    pub fn new(
        data: Vec<f64>,
        noise_precision: &DMatrix<f64>,
        prior_precision: &DMatrix<f64>,
    ) -> Result<Self> {
        let dim = noise_precision.nrows();
        check::positive_definite("the noise precision", noise_precision, dim)?;
        check::positive_definite("the prior precision", prior_precision, dim)?;
        let rows = Rows::new(data, dim)?;
        check::size("a row of the data", rows.width(), dim)?;
        let n = rows.len() as f64;
        let gamma_x = row_major(noise_precision);
        let mut pulls = vec![0.0; rows.len() * dim];
        let mut pull = vec![0.0; dim];
        for (x, y) in rows.iter().zip(pulls.chunks_exact_mut(dim)) {
            mat_vec(&gamma_x, x, y);
            for i in 0..dim {
                pull[i] += y[i];
            }
        }
        let precision = prior_precision + noise_precision * n;
        let mean = precision
            .clone()
            .cholesky()
            .map(|c| c.solve(&DVector::from_column_slice(&pull)))
            .ok_or(crate::Error::NotPositiveDefinite {
                name: "the posterior precision",
                smallest: precision.symmetric_eigenvalues().min(),
            })?;
        Ok(LinearGaussian {
            pulls: Rows::new(pulls, dim)?,
            peak: log_density_at_mean(&rows, noise_precision, prior_precision, &mean),
            rows,
            pull,
            precision: row_major(&precision),
            noise_precision: noise_precision.clone(),
            mean,
        })
    }

    /// The data.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Posterior mean μ.
    pub fn mean(&self) -> &DVector<f64> {
        &self.mean
    }

    /// Posterior precision Γ.
    pub fn precision(&self) -> DMatrix<f64> {
        let d = self.mean.len();
        DMatrix::from_row_slice(d, d, &self.precision)
    }

    /// Noise precision Γ_X.
    pub fn noise_precision(&self) -> &DMatrix<f64> {
        &self.noise_precision
    }

    /// An exact draw from the posterior.
    pub fn exact_draw(&self, rng: &mut Rng<f64>) -> Vec<f64> {
        // With Γ = L Lᵀ, L⁻ᵀ ξ has covariance Γ⁻¹.
        let mut factor = self.precision.clone();
        let mut x: Vec<f64> = self.mean.iter().map(|_| rng.normal()).collect();
        cholesky(&mut factor, x.len());
        solve_transposed(&factor, x.len(), &mut x);
        x.iter().zip(self.mean.iter()).map(|(x, m)| x + m).collect()
    }

    /// The natural metric B = Γ⁻¹, the posterior covariance.
    pub fn natural(&self) -> Result<Constant> {
        let d = self.mean.len();
        let inverse = self
            .precision()
            .cholesky()
            .map(|c| c.inverse())
            .unwrap_or_else(|| DMatrix::from_element(d, d, f64::NAN));
        Constant::dense(&((&inverse + inverse.transpose()) * 0.5))
    }
}

impl Target for LinearGaussian {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    /// log π(μ) − ½ (θ−μ)ᵀΓ(θ−μ).
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let d = theta.len();
        let mut sum = R::zero();
        for i in 0..d {
            for j in 0..d {
                let pair = (theta[i] - self.mean[i]) * (theta[j] - self.mean[j]);
                sum = pair.mul_add(R::of(self.precision[i * d + j]), sum);
            }
        }
        sum * -0.5 + self.peak
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], _scratch: &mut [R], out: &mut [R]) {
        for (out, pull) in out.iter_mut().zip(&self.pull) {
            *out = R::of(*pull);
        }
        subtract_mat_vec(&self.precision, theta, out);
    }

    /// The score is −Γ(θ−μ).
    #[inline(always)]
    fn log_density_and_score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) -> R {
        self.score(theta, scratch, out);
        let mut sum = R::zero();
        for i in 0..theta.len() {
            sum = (theta[i] - self.mean[i]).mul_add(out[i], sum);
        }
        sum * 0.5 + self.peak
    }

    /// A row.
    fn scratch_len(&self) -> usize {
        self.mean.len()
    }

    fn gaussian(&self) -> Option<Gaussian> {
        Some(Gaussian {
            mean: self.mean.clone(),
            precision: self.precision(),
        })
    }
}

impl Subsampled for LinearGaussian {
    fn n_data(&self) -> usize {
        self.rows.len()
    }

    /// The place of the score takes the sums.
    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        self.batch_sums(rows, scratch, out);
        subtract_mat_vec(&self.precision, theta, out);
    }
}

impl Sums for LinearGaussian {
    /// (N/n) Σ Γ_X Xᵢ.
    fn n_sums(&self) -> usize {
        self.mean.len()
    }

    #[inline(always)]
    fn batch_sums<L: Lanes>(&self, rows: &[L::Bits], scratch: &mut [L], out: &mut [L]) {
        let weight = self.rows.len() as f64 / rows.len() as f64;
        let row = &mut scratch[..out.len()];
        self.pulls.weighted_sum(weight, rows, row, out);
    }

    #[inline(always)]
    fn score_from_sums<L: Lanes>(&self, theta: &[L], sums: &[L], out: &mut [L]) {
        out.copy_from_slice(sums);
        subtract_mat_vec(&self.precision, theta, out);
    }
}

/// log π(μ): the prior and the likelihood of all rows at the posterior mean.
fn log_density_at_mean(
    rows: &Rows,
    noise_precision: &DMatrix<f64>,
    prior_precision: &DMatrix<f64>,
    mean: &DVector<f64>,
) -> f64 {
    let mut sum = mean.dot(&(prior_precision * mean));
    for row in rows.iter() {
        let gap = mean - DVector::from_column_slice(row);
        sum += gap.dot(&(noise_precision * &gap));
    }
    -0.5 * sum
}
