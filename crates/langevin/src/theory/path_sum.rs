//! Conditional mean and variance of `Σ φ(z_k)` along a linear chain, given its start.

use nalgebra::{DMatrix, DVector};

use super::matrix::trace_of_product;
use super::noise::GradientNoise;
use super::observable::Quadratic;

/// One step of a linear chain, `z' = Fz + e` with `E e = 0` and `Cov e = Q`.
#[derive(Debug, Clone)]
pub(super) struct LinearStep {
    pub f: DMatrix<f64>,
    pub q: DMatrix<f64>,
    /// The part of e that is not Gaussian, if any.
    pub noise: Option<GradientNoise>,
    /// After this many steps `F^k` is negligible.
    pub memory: usize,
}

/// Mean and variance of a sum over a path, as functions of the path's first point.
///
/// Both are quadratic if the summand is, whatever the law of the noise.
#[derive(Debug, Clone)]
pub(super) struct PathSum {
    pub mean: Quadratic,
    pub variance: Quadratic,
}

/// Third cumulant of a vector against a symmetric matrix, and fourth against it twice.
pub(super) type HigherCumulants = (DVector<f64>, f64);

impl LinearStep {
    /// Law of `Σ_{k<n} φ(z_k)` given `z_0`, by the law of total variance over the first step.
    ///
    /// With `u_n(z)` the mean and `w_n(z)` the variance,
    ///
    /// ```text
    /// u_{n+1}(z) = φ(z) + E u_n(Fz + e),
    /// w_{n+1}(z) = E w_n(Fz + e) + Var u_n(Fz + e).
    /// ```
    ///
    /// For `u = a·z + zᵀAz` the last term is the variance of `(a + 2AFz)·e + eᵀAe`. Once the
    /// memory of the chain is exhausted only the constants grow, each step by the same amount.
    pub fn path_sum(&self, phi: &Quadratic, n_steps: usize) -> PathSum {
        let d = self.f.nrows();
        let ft = self.f.transpose();
        let mut mean = Quadratic::zero(d);
        let mut variance = Quadratic::zero(d);
        let mut growth = (0.0, 0.0);
        let mut af = DMatrix::zeros(d, d);
        let mut buffer = DMatrix::zeros(d, d);
        let mut product = DMatrix::zeros(d, d);

        let recursive = n_steps.min(self.memory);
        for _ in 0..recursive {
            let (third, fourth) = self.noise_cumulants(&mean.matrix);
            let mut push = &self.q * &mean.linear;
            mean.matrix.mul_to(&self.q, &mut product);
            growth = (
                phi.constant + product.trace(),
                trace_of_product(&variance.matrix, &self.q)
                    + push.dot(&mean.linear)
                    + 2.0 * trace_of_square(&product)
                    + 2.0 * third.dot(&mean.linear)
                    + fourth,
            );
            mean.constant += growth.0;
            variance.constant += growth.1;

            // Linear and quadratic parts of w, with AF = A·F of the current u.
            mean.matrix.mul_to(&self.f, &mut af);
            push += third;
            variance.linear = &ft * &variance.linear + af.tr_mul(&push) * 4.0;
            variance.matrix.mul_to(&self.f, &mut buffer);
            ft.mul_to(&buffer, &mut variance.matrix);
            self.q.mul_to(&af, &mut buffer);
            variance.matrix.gemm_tr(4.0, &af, &buffer, 1.0);

            mean.linear = &phi.linear + &ft * &mean.linear;
            mean.matrix.copy_from(&phi.matrix);
            mean.matrix.gemm(1.0, &ft, &af, 1.0);
        }
        let rest = (n_steps - recursive) as f64;
        mean.constant += rest * growth.0;
        variance.constant += rest * growth.1;
        PathSum { mean, variance }
    }

    /// Cumulants of the noise e against A.
    pub fn noise_cumulants(&self, a: &DMatrix<f64>) -> HigherCumulants {
        match &self.noise {
            Some(noise) => noise.higher_cumulants(a),
            None => (DVector::zeros(self.f.nrows()), 0.0),
        }
    }

    /// Cumulants against A of the state after each of the given numbers of steps (ascending),
    /// from a fixed start: those of `Σ_{j<k} F^j e_j`.
    pub fn state_cumulants(&self, a: &DMatrix<f64>, steps: &[usize]) -> Vec<HigherCumulants> {
        let d = self.f.nrows();
        let mut sum = (DVector::zeros(d), 0.0);
        if self.noise.is_none() {
            return vec![sum; steps.len()];
        }
        let mut power = DMatrix::identity(d, d);
        let mut pulled = a.clone();
        let mut done = 0;
        let mut result = Vec::with_capacity(steps.len());
        for &k in steps {
            while done < k.min(self.memory) {
                let (third, fourth) = self.noise_cumulants(&pulled);
                sum.0 += &power * third;
                sum.1 += fourth;
                power = &self.f * power;
                pulled = self.f.tr_mul(&(pulled * &self.f));
                done += 1;
            }
            result.push(sum.clone());
        }
        result
    }
}

/// `tr(X²)`.
pub(super) fn trace_of_square(x: &DMatrix<f64>) -> f64 {
    let d = x.nrows();
    (0..d)
        .map(|i| (0..d).map(|j| x[(i, j)] * x[(j, i)]).sum::<f64>())
        .sum()
}
