//! Gaussians: dense with a given condition number, and diagonal with many scales.

use langevin::real::Real;
use langevin::target::Target;
use nalgebra::DMatrix;

use crate::Moments;
use crate::data::Source;

/// N(m, Σ), where Σ has eigenvalues from 1 to κ, equidistant on the logarithmic scale, and
/// eigenvectors in random directions.
///
/// ```
/// use langevin_posteriors::gaussian::Correlated;
/// let gaussian = Correlated::new(20, 1e3, 1);
/// assert!(gaussian.moments().sds.iter().all(|sd| sd.value > 1.0));
/// ```
#[derive(Clone, Debug)]
pub struct Correlated {
    mean: Vec<f64>,
    sds: Vec<f64>,
    /// Σ⁻¹, row by row.
    precision: Vec<f64>,
}

impl Correlated {
    /// In `dim` dimensions, with condition number `kappa`.
    pub fn new(dim: usize, kappa: f64, seed: u64) -> Self {
        let mut source = Source::new(seed);
        let directions = DMatrix::from_vec(dim, dim, source.normals(dim * dim));
        let q = directions.qr().q();
        let eigenvalue = |k: usize| kappa.powf(k as f64 / (dim - 1) as f64);
        let entry = |i: usize, j: usize, power: i32| -> f64 {
            let term = |k: usize| q[(i, k)] * q[(j, k)] * eigenvalue(k).powi(power);
            (0..dim).map(term).sum()
        };
        let places = (0..dim).flat_map(|i| (0..dim).map(move |j| (i, j)));
        Correlated {
            mean: source.normals(dim),
            sds: (0..dim).map(|i| entry(i, i, 1).sqrt()).collect(),
            precision: places.map(|(i, j)| entry(i, j, -1)).collect(),
        }
    }

    /// Means and standard deviations.
    pub fn moments(&self) -> Moments {
        Moments::exact(&self.mean, &self.sds)
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], from_mean: &mut [R], out: &mut [R]) -> R {
        let d = self.mean.len();
        for i in 0..d {
            from_mean[i] = theta[i] - self.mean[i];
        }
        let mut twice = R::zero();
        for i in 0..d {
            let row = &self.precision[i * d..(i + 1) * d];
            let mut sum = R::zero();
            for j in 0..d {
                sum = from_mean[j].mul_add(R::of(row[j]), sum);
            }
            out[i] = -sum;
            twice = from_mean[i].mul_add(out[i], twice);
        }
        twice * 0.5
    }
}

impl Target for Correlated {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    fn scratch_len(&self) -> usize {
        self.dim()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let d = self.mean.len();
        let mut twice = R::zero();
        for i in 0..d {
            let row = &self.precision[i * d..(i + 1) * d];
            let mut sum = R::zero();
            for j in 0..d {
                sum = (theta[j] - self.mean[j]).mul_add(R::of(row[j]), sum);
            }
            twice += (theta[i] - self.mean[i]) * sum;
        }
        twice * -0.5
    }

    in_one_pass!();
}

/// Independent normal coordinates with standard deviations from 0.1 to 10.
#[derive(Clone, Debug)]
pub struct Diagonal {
    mean: Vec<f64>,
    sds: Vec<f64>,
}

impl Diagonal {
    /// In `dim` dimensions, the scales in random order.
    pub fn new(dim: usize, seed: u64) -> Self {
        let mut source = Source::new(seed);
        // An order that has nothing to do with the scales' size.
        let mut order: Vec<(f64, usize)> = source.normals(dim).into_iter().zip(0..).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let sd = |(_, k): &(f64, usize)| 0.1 * 100f64.powf(*k as f64 / (dim - 1) as f64);
        Diagonal {
            mean: source.normals(dim),
            sds: order.iter().map(sd).collect(),
        }
    }

    /// Means and standard deviations.
    pub fn moments(&self) -> Moments {
        Moments::exact(&self.mean, &self.sds)
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let mut twice = R::zero();
        for i in 0..theta.len() {
            let from_mean = theta[i] - self.mean[i];
            out[i] = from_mean * -(self.sds[i] * self.sds[i]).recip();
            twice = from_mean.mul_add(out[i], twice);
        }
        twice * 0.5
    }
}

impl Target for Diagonal {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut twice = R::zero();
        for i in 0..theta.len() {
            let z = (theta[i] - self.mean[i]) / self.sds[i];
            twice += z * z;
        }
        twice * -0.5
    }

    in_one_pass!();
}
