//! Mean and standard deviation of normal data under a flat prior (section 3.3 of the paper).

use crate::check;
use crate::metric::{Metric, Solve};
use crate::real::{Lanes, Real};
use crate::rng::Rng;
use crate::scale::Constrained;
use crate::skew::SkewMatrix;
use crate::target::{Parameter, Rows, Subsampled, Sums, Target};
use crate::{Error, Result};

/// Data xᵢ ~ N(μ, σ²) with a flat prior on θ = (μ, σ), σ > 0.
///
/// ```
/// use langevin::models::NormalParameters;
/// let model = NormalParameters::new(vec![-1.0, 0.0, 1.0, 2.0])?;
/// assert_eq!(model.sample_mean(), 0.5);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NormalParameters {
    rows: Rows,
    /// Data minus their mean: sums of squares then lose no digits.
    centred: Rows,
    mean: f64,
    sum_of_squares: f64,
}

impl NormalParameters {
    /// The observations; at least three, not all equal (else the posterior is improper).
    pub fn new(data: Vec<f64>) -> Result<Self> {
        check::at_least("the number of observations", data.len(), 3)?;
        check::all_finite("the data", &data)?;
        let n = data.len() as f64;
        let mean = data.iter().sum::<f64>() / n;
        let centred: Vec<f64> = data.iter().map(|x| x - mean).collect();
        let sum_of_squares = centred.iter().map(|x| x * x).sum::<f64>();
        if data.iter().all(|x| *x == data[0]) {
            return Err(Error::NoSpread {
                n_data: data.len(),
                value: data[0],
            });
        }
        Ok(NormalParameters {
            rows: Rows::new(data, 1)?,
            centred: Rows::new(centred, 1)?,
            mean,
            sum_of_squares,
        })
    }

    /// The data.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Sample mean m.
    pub fn sample_mean(&self) -> f64 {
        self.mean
    }

    /// Sample standard deviation s, with divisor N.
    pub fn sample_sd(&self) -> f64 {
        (self.sum_of_squares / self.rows.len() as f64).sqrt()
    }

    /// The natural metric B = (σ²/N) diag(1, ½), the inverse of the expected Fisher information.
    pub fn natural(&self) -> NormalNatural {
        let n = self.rows.len() as f64;
        NormalNatural {
            inverse_n: 1.0 / n,
            inverse_root_n: 1.0 / n.sqrt(),
        }
    }

    /// The same posterior in the coordinates (μ, log σ), in which nothing is bounded.
    ///
    /// ```
    /// use langevin::models::NormalParameters;
    /// use langevin::target::score_at;
    /// let free = NormalParameters::new(vec![-1.0, 0.0, 1.0, 2.0])?.free()?;
    /// // At the sample mean and σ = 1 the score by log σ is Σ(x − μ)² − N + 1.
    /// assert_eq!(score_at(&free, &[0.5, 0.0]), [0.0, 5.0 - 4.0 + 1.0]);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn free(self) -> Result<Constrained<Self>> {
        Constrained::by_itself(self)
    }

    /// An exact draw from the posterior: 1/σ² is Gamma((N−2)/2, rate N s²/2), and given σ the mean
    /// μ is N(m, σ²/N).
    pub fn exact_draw(&self, rng: &mut Rng<f64>) -> [f64; 2] {
        let n = self.rows.len() as f64;
        let precision = rng.gamma((n - 2.0) / 2.0) / (self.sum_of_squares / 2.0);
        let sigma = precision.sqrt().recip();
        [self.mean + sigma / n.sqrt() * rng.normal(), sigma]
    }

    /// The score given N/n times the sums over the batch of x − m and (x − m)².
    #[inline(always)]
    fn score_from_moments<R: Real>(&self, theta: &[R], first: R, second: R, out: &mut [R]) {
        let n = self.rows.len() as f64;
        let shift = theta[0] - self.mean;
        let inverse = theta[1].recip();
        // Σ(x−μ) = first − N·shift and Σ(x−μ)² = second − shift·(first + Σ(x−μ)).
        let m1 = shift.mul_add(R::of(-n), first);
        let m2 = second - shift * (first + m1);
        let precision = inverse * inverse;
        out[0] = m1 * precision;
        out[1] = (m2.mul_add(precision, R::of(-n))) * inverse;
    }
}

impl Target for NormalParameters {
    fn dim(&self) -> usize {
        2
    }

    /// −N log σ − Σ(x−μ)²/2σ² − ½N log 2π, with Σ(x−μ)² = Σ(x−m)² + N(μ−m)².
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let half_log_2_pi = 0.918_938_533_204_672_8;
        let n = self.rows.len() as f64;
        let shift = theta[0] - self.mean;
        let inverse = theta[1].recip();
        let squares = (shift * n).mul_add(shift, R::of(self.sum_of_squares));
        -(theta[1].ln() * n) - squares * (inverse * inverse) * 0.5 - n * half_log_2_pi
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], _scratch: &mut [R], out: &mut [R]) {
        self.score_from_moments(theta, R::zero(), R::of(self.sum_of_squares), out);
    }

    fn positive_coordinates(&self) -> &[usize] {
        &[1]
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::scalar("mu"), Parameter::scalar("sigma")]
    }

    /// The sums of a minibatch.
    fn scratch_len(&self) -> usize {
        2
    }
}

impl Subsampled for NormalParameters {
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
        let sums = &mut scratch[..2];
        self.batch_sums(rows, &mut [], sums);
        self.score_from_sums(theta, sums, out);
    }
}

impl Sums for NormalParameters {
    /// N/n times the sums of x − m and (x − m)².
    fn n_sums(&self) -> usize {
        2
    }

    #[inline(always)]
    fn batch_sums<L: Lanes>(&self, rows: &[L::Bits], _scratch: &mut [L], out: &mut [L]) {
        let weight = self.rows.len() as f64 / rows.len() as f64;
        out.copy_from_slice(&self.centred.weighted_moments(weight, rows));
    }

    #[inline(always)]
    fn score_from_sums<L: Lanes>(&self, theta: &[L], sums: &[L], out: &mut [L]) {
        self.score_from_moments(theta, sums[0], sums[1], out);
    }
}

/// B(θ) = (σ²/N) diag(1, ½).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalNatural {
    inverse_n: f64,
    inverse_root_n: f64,
}

impl Metric for NormalNatural {
    fn dim(&self) -> usize {
        2
    }

    #[inline(always)]
    fn apply<R: Real>(&self, theta: &[R], _scratch: &mut [R], v: &[R], out: &mut [R]) {
        let scale = theta[1] * theta[1] * self.inverse_n;
        out[0] = scale * v[0];
        // (Half the scale first: the same number, and v may come late.)
        out[1] = scale * 0.5 * v[1];
    }

    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, theta: &[R], _scratch: &mut [R], xi: &[R], out: &mut [R]) {
        let scale = theta[1] * self.inverse_root_n;
        out[0] = scale * xi[0];
        out[1] = scale * xi[1] * std::f64::consts::FRAC_1_SQRT_2;
    }

    #[inline(always)]
    fn div<R: Real>(
        &self,
        theta: &[R],
        _scratch: &mut [R],
        j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        let slope = theta[1] * self.inverse_n;
        div_b[0] = R::zero();
        div_b[1] = slope;
        // Only ∂_σ B = (2σ/N) diag(1, ½) is not 0.
        if let Some(j) = j {
            div_bj[0] = slope * (2.0 * j.get(0, 1));
            div_bj[1] = slope * j.get(1, 1);
        }
    }
}

impl Solve for NormalNatural {
    #[inline(always)]
    fn solve<R: Real>(&self, theta: &[R], _scratch: &mut [R], v: &[R], out: &mut [R]) {
        let scale = (theta[1] * theta[1] * self.inverse_n).recip();
        out[0] = scale * v[0];
        out[1] = scale * 2.0 * v[1];
    }

    /// det B = σ⁴/2N².
    #[inline(always)]
    fn log_det<R: Real>(&self, theta: &[R], _scratch: &mut [R]) -> R {
        theta[1].ln() * 4.0 + (0.5 * self.inverse_n * self.inverse_n).ln()
    }
}
