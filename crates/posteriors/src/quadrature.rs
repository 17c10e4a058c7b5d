//! Means and standard deviations by quadrature, in few dimensions.

use langevin::target::Target;
use nalgebra::{Cholesky, DMatrix, DVector};

use crate::Moments;

/// Nodes with their weights, which are those of a target up to a common factor.
///
/// The trapezoidal rule on a grid that is sheared to the target's covariance: exact to within
/// exp(−2π²/h²) on a Gaussian, h the distance of nodes in standard deviations.
///
/// ```
/// use langevin_posteriors::curved::Banana;
/// use langevin_posteriors::quadrature::Grid;
/// let banana = Banana { bend: 0.5, width: 1.0 };
/// let grid = Grid::new(&banana, &[0.0, 0.0], &[1.0, 1.0], 30.0, 0.2).unwrap();
/// assert!((grid.mean(|x| x[1]) - 0.5).abs() < 1e-10);
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    nodes: Vec<(f64, DVector<f64>)>,
}

impl Grid {
    /// For a target with one mode near `centre`, whose coordinates have about the given scales. The
    /// grid reaches `reach` standard deviations to each side; the first ones, which are coarse, only
    /// find the covariance, from one to the next. `None` where none fits.
    pub fn new<T: Target>(
        target: &T,
        centre: &[f64],
        scales: &[f64],
        reach: f64,
        h: f64,
    ) -> Option<Self> {
        let mut mean = DVector::from_column_slice(centre);
        let scales = DVector::from_column_slice(scales);
        let mut covariance = DMatrix::from_diagonal(&scales.component_mul(&scales));
        for _ in 0..6 {
            let grid = Self::around(target, &mean, &covariance, 6.0, 0.6)?;
            (mean, covariance) = grid.mean_and_covariance();
        }
        Self::around(target, &mean, &covariance, reach, h)
    }

    /// The nodes m + h L k, with L Lᵀ = Σ and k the whole vectors of a box.
    fn around<T: Target>(
        target: &T,
        mean: &DVector<f64>,
        covariance: &DMatrix<f64>,
        reach: f64,
        h: f64,
    ) -> Option<Self> {
        let d = mean.len();
        let shear = Cholesky::new(covariance.clone())?.l();
        let side = 2 * (reach / h) as usize + 1;
        let mut nodes = Vec::new();
        let mut k = vec![0; d];
        let mut top = f64::NEG_INFINITY;
        for number in 0..side.pow(d as u32) {
            let mut rest = number;
            for k in &mut k {
                (*k, rest) = (rest % side, rest / side);
            }
            let z = DVector::from_iterator(d, k.iter().map(|k| h * (*k as f64) - reach));
            let x = mean + &shear * z;
            let log_density = target.log_density(x.as_slice());
            top = top.max(log_density);
            // What cannot count any more need not be kept.
            if log_density > top - 50.0 {
                nodes.push((log_density, x));
            }
        }
        for node in &mut nodes {
            node.0 = (node.0 - top).exp();
        }
        Some(Grid { nodes })
    }

    /// Mean of a function under the target.
    pub fn mean(&self, f: impl Fn(&[f64]) -> f64) -> f64 {
        let (mut mass, mut sum) = (0.0, 0.0);
        for (weight, x) in &self.nodes {
            mass += weight;
            sum += weight * f(x.as_slice());
        }
        sum / mass
    }

    /// Means and standard deviations of the coordinates.
    pub fn moments(&self) -> Moments {
        let (mean, covariance) = self.mean_and_covariance();
        let sds: Vec<f64> = covariance.diagonal().iter().map(|v| v.sqrt()).collect();
        Moments::exact(mean.as_slice(), &sds)
    }

    fn mean_and_covariance(&self) -> (DVector<f64>, DMatrix<f64>) {
        let d = self.nodes[0].1.len();
        let mean = DVector::from_fn(d, |i, _| self.mean(|x| x[i]));
        let entry = |i: usize, j: usize| self.mean(|x| (x[i] - mean[i]) * (x[j] - mean[j]));
        let covariance = DMatrix::from_fn(d, d, entry);
        (mean, covariance)
    }
}
