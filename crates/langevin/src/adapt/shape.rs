//! The metric from draws and scores of all chains.

use nalgebra::DMatrix;

use crate::linalg::cholesky;
use crate::metric::Constant;
use crate::{Error, Result};

/// States and scores of chains, rows of `dim` numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub dim: usize,
    pub states: Vec<f64>,
    pub scores: Vec<f64>,
}

/// What is beyond so many median deviations from the median is moved there.
const CLIP: f64 = 6.0;
/// Draws that medians are taken over.
const FOR_MEDIANS: usize = 501;
/// Draws that the largest curvature is taken from.
pub(super) const FOR_CURVATURE: usize = 2000;
/// Part of d that the diagonal weighs, in draws.
const SHRINK: f64 = 0.3;
/// Draws of a chain that are worth one, about.
const CORRELATED: f64 = 2.0;

/// The median of some numbers, which change their places.
fn median(x: &mut [f64]) -> f64 {
    let middle = x.len() / 2;
    *x.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// One coordinate's mean and clipped values.
fn clip(values: &mut [f64]) -> (f64, f64) {
    let n = values.len();
    let stride = n.div_ceil(FOR_MEDIANS);
    let mut some: Vec<f64> = values.iter().step_by(stride).copied().collect();
    let centre = median(&mut some);
    some.iter_mut().for_each(|x| *x = (*x - centre).abs());
    let reach = CLIP * median(&mut some);
    if reach > 0.0 {
        for x in values.iter_mut() {
            *x = x.clamp(centre - reach, centre + reach);
        }
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let square: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, square / (n.max(2) - 1) as f64)
}

/// Columns with their mean taken off.
struct Columns {
    n: usize,
    columns: Vec<Vec<f64>>,
    variances: Vec<f64>,
}

impl Columns {
    fn new(rows: &[f64], d: usize) -> Self {
        let n = rows.len() / d;
        let mut variances = vec![];
        let columns = (0..d).map(|i| {
            let mut column: Vec<f64> = rows.iter().skip(i).step_by(d).copied().collect();
            let (mean, variance) = clip(&mut column);
            column.iter_mut().for_each(|x| *x -= mean);
            variances.push(variance);
            column
        });
        let columns = columns.collect();
        Columns {
            n,
            columns,
            variances,
        }
    }

    /// The matrix of covariances, shrunk towards 1 by a part `a`.
    fn covariance(&self, a: f64) -> DMatrix<f64> {
        let d = self.columns.len();
        let scale = (1.0 - a) / (self.n.max(2) - 1) as f64;
        let mut out = DMatrix::identity(d, d);
        for i in 0..d {
            for j in 0..=i {
                let sum = dot(&self.columns[i], &self.columns[j]);
                out[(i, j)] = sum * scale;
                out[(j, i)] = sum * scale;
            }
            out[(i, i)] += a;
        }
        out
    }
}

/// Σ aᵢ bᵢ, in eight sums side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// Where the variance is not a positive number, 1.
fn sound(variance: f64) -> f64 {
    match variance.is_finite() && variance > 1e-300 {
        true => variance,
        false => 1.0,
    }
}

impl Pool {
    /// Number of draws.
    pub fn len(&self) -> usize {
        self.states.len() / self.dim.max(1)
    }

    /// The diagonal metric with entries sqrt(var θᵢ / var gᵢ), g the score: right for independent
    /// Gaussian coordinates of any scale, and less sensitive to noise and to chains that have not
    /// spread yet than var θᵢ.
    pub fn diagonal(&self) -> Result<Constant> {
        let (x, g) = (
            Columns::new(&self.states, self.dim),
            Columns::new(&self.scores, self.dim),
        );
        diagonal(&x, &g)
    }

    /// The dense metric A # B⁻¹, the geometric mean of the covariance A of the states and the inverse
    /// of the covariance B of their scores. For a Gaussian target this is its covariance exactly, once
    /// there are more draws than coordinates.
    ///
    /// Both are taken in the coordinates of the present metric and shrunk towards 1 there, by
    /// .3d/(n + .3d) with n the number of draws worth their name: what few draws cannot tell stays as
    /// it is, and where the present metric is right, nothing is lost. With A = LLᵀ and LᵀBL = QΛQᵀ the
    /// mean is LQΛ^(−½)QᵀLᵀ.
    pub fn dense(&self, present: &Constant) -> Result<Constant> {
        let d = self.dim;
        let (mut states, mut scores) = (self.states.clone(), vec![0.0; self.scores.len()]);
        for row in states.chunks_exact_mut(d) {
            present.sqrt_solve(row);
        }
        let rows = self.scores.chunks_exact(d);
        for (row, out) in rows.zip(scores.chunks_exact_mut(d)) {
            present.sqrt_transposed(row, out);
        }
        let (x, g) = (Columns::new(&states, d), Columns::new(&scores, d));
        let a = SHRINK * d as f64 / (self.len() as f64 / CORRELATED + SHRINK * d as f64);
        let mean = geometric_mean(&x.covariance(a), &g.covariance(a));
        let Some(factor) = mean.and_then(|mean| factor(&mean, d).ok()) else {
            return self.diagonal();
        };
        // S times the factor, column by column.
        let mut out = vec![0.0; d * d];
        let mut column = vec![0.0; d];
        for j in 0..d {
            let own: Vec<f64> = (0..d).map(|i| factor[i * d + j]).collect();
            present.sqrt(&own, &mut column);
            (j..d).for_each(|i| out[i * d + j] = column[i]);
        }
        Constant::from_factor(d, out)
    }

    /// The largest eigenvalue of the covariance of Sᵀg: 1 for a Gaussian whose covariance is the metric,
    /// to sampling; large where curvature changes much along the chains' way.
    pub fn largest_curvature(&self, metric: &Constant) -> f64 {
        let d = self.dim;
        let stride = self.len().div_ceil(FOR_CURVATURE).max(1);
        let n = self.len().div_ceil(stride);
        let mut whitened = vec![0.0; n * d];
        let rows = self.scores.chunks_exact(d).step_by(stride);
        for (row, out) in rows.zip(whitened.chunks_exact_mut(d)) {
            metric.sqrt_transposed(row, out);
        }
        let mean: Vec<f64> = (0..d)
            .map(|i| whitened.iter().skip(i).step_by(d).sum::<f64>() / n as f64)
            .collect();
        for row in whitened.chunks_exact_mut(d) {
            row.iter_mut().zip(&mean).for_each(|(x, m)| *x -= m);
        }
        // The power method, from a vector that is not orthogonal to anything in particular.
        let mut v: Vec<f64> = (0..d).map(|i| 1.0 + 0.1 * (i % 7) as f64).collect();
        let mut value = 0.0;
        for _ in 0..20 {
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter_mut().for_each(|x| *x /= length);
            let mut next = vec![0.0; d];
            for row in whitened.chunks_exact(d) {
                let product = dot(row, &v);
                next.iter_mut()
                    .zip(row)
                    .for_each(|(out, x)| *out += product * x);
            }
            value = next.iter().map(|x| x * x).sum::<f64>().sqrt() / n as f64;
            if !(value.is_finite() && value > 0.0) {
                break;
            }
            v = next;
        }
        value
    }
}

/// (var θᵢ / var gᵢ)^¼.
fn roots(x: &Columns, g: &Columns) -> Vec<f64> {
    let both = x.variances.iter().zip(&g.variances);
    both.map(|(x, g)| (sound(*x) / sound(*g)).sqrt().sqrt())
        .collect()
}

fn diagonal(x: &Columns, g: &Columns) -> Result<Constant> {
    Constant::from_roots(roots(x, g))
}

/// A # B⁻¹.
fn geometric_mean(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let d = a.nrows();
    let l = factor(a, d).ok()?;
    // M = LᵀBL. (Loops of our own: the product of nalgebra depends on the processor.)
    let bl = product(d, |i, k| b[(i, k)], |k, j| l[k * d + j], |_, j| j..d);
    let m = product(d, |i, k| l[k * d + i], |k, j| bl[k * d + j], |i, _| i..d);
    let m = DMatrix::from_fn(d, d, |i, j| 0.5 * (m[i * d + j] + m[j * d + i]));
    if !m.iter().all(|x| x.is_finite()) {
        return None;
    }
    let eigen = m.symmetric_eigen();
    let q = &eigen.eigenvectors;
    let values = &eigen.eigenvalues;
    let largest = values.iter().fold(0.0, |a: f64, b| a.max(*b));
    if largest.is_nan() || largest <= 0.0 {
        return None;
    }
    let floor = 1e-12 * largest;
    let lq = product(d, |i, k| l[i * d + k], |k, j| q[(k, j)], |i, _| 0..i + 1);
    let weights: Vec<f64> = values.iter().map(|v| v.max(floor).sqrt().recip()).collect();
    let mean = product(
        d,
        |i, k| lq[i * d + k] * weights[k],
        |k, j| lq[j * d + k],
        |_, _| 0..d,
    );
    Some(DMatrix::from_fn(d, d, |i, j| {
        0.5 * (mean[i * d + j] + mean[j * d + i])
    }))
}

/// Σₖ a(i, k) b(k, j), over the k that matter.
fn product(
    d: usize,
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
    over: impl Fn(usize, usize) -> std::ops::Range<usize>,
) -> Vec<f64> {
    let mut out = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            out[i * d + j] = over(i, j).map(|k| a(i, k) * b(k, j)).sum();
        }
    }
    out
}

/// The lower triangular factor, row by row, with zeros above.
fn factor(a: &DMatrix<f64>, d: usize) -> Result<Vec<f64>> {
    let mut l: Vec<f64> = (0..d * d).map(|k| a[(k / d, k % d)]).collect();
    cholesky(&mut l, d);
    for i in 0..d {
        l[i * d + i] = 1.0 / l[i * d + i];
        l[i * d + i + 1..(i + 1) * d].fill(0.0);
    }
    match l.iter().all(|x| x.is_finite()) {
        true => Ok(l),
        false => Err(Error::Breakdown { name: "the metric" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    /// States and scores of a Gaussian with this root of its covariance.
    fn gaussian(root: &[f64], d: usize, n: usize) -> Pool {
        let mut rng = Rng::new(1, 0, Stream::Setup);
        let mut pool = Pool {
            dim: d,
            ..Pool::default()
        };
        let metric = Constant::from_factor(d, root.to_vec()).unwrap();
        let mut x = vec![0.0; d];
        for _ in 0..n {
            let z: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            metric.sqrt(&z, &mut x);
            pool.states.extend(&x);
            let l = DMatrix::from_row_slice(d, d, root);
            let g = l.transpose().try_inverse().unwrap() * nalgebra::DVector::from_vec(z);
            pool.scores.extend(g.iter().map(|g| -g));
        }
        pool
    }

    /// For a Gaussian the two covariances are each other's inverse in the sample too: hardly any draws
    /// are needed beyond d.
    #[test]
    fn a_gaussian_is_found_from_few_draws() {
        let root = [2.0, 0.0, 0.0, 1.5, 0.2, 0.0, -30.0, 4.0, 9.0];
        let pool = gaussian(&root, 3, 400);
        let first = pool.diagonal().unwrap();
        let found = pool.dense(&first).unwrap();
        let found = pool.dense(&found).unwrap();
        let want = Constant::from_factor(3, root.to_vec()).unwrap();
        let (found_matrix, want) = (found.matrix(), want.matrix());
        for i in 0..3 {
            for j in 0..3 {
                let scale = (want[(i, i)] * want[(j, j)]).sqrt();
                let off = (found_matrix[(i, j)] - want[(i, j)]).abs() / scale;
                assert!(off < 0.02, "({i}, {j}) is off by {off}");
            }
        }
        let curvature = pool.largest_curvature(&found);
        assert!((0.8..1.4).contains(&curvature), "{curvature}");
    }

    #[test]
    fn a_wild_chain_does_not_move_the_scales() {
        let mut pool = gaussian(&[2.0, 0.0, 0.0, 0.5], 2, 100);
        pool.states.extend([1e6, -1e9]);
        pool.scores.extend([1e5, 1e9]);
        let entries = pool.diagonal().unwrap().matrix();
        assert!((entries[(0, 0)] / 4.0).ln().abs() < 0.3);
        assert!((entries[(1, 1)] / 0.25).ln().abs() < 0.3);
    }
}
