//! A metric whose values are computed elsewhere, and divergences by central differences.

use nalgebra::DMatrix;

use super::{Failure, ForeignMetric};
use crate::chain::RunError;
use crate::check;
use crate::linalg::{cholesky, factor_vec};
use crate::metric::Metric;
use crate::real::Real;
use crate::skew::SkewMatrix;

/// A metric whose matrix and divergences the oracle gives with each evaluation: B, room for its
/// factor, div B and div(BJ).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    dim: usize,
}

impl Given {
    /// For states of `dim` coordinates.
    pub fn new(dim: usize) -> Self {
        Given { dim }
    }
}

impl Metric for Given {
    fn dim(&self) -> usize {
        self.dim
    }

    fn scratch_len(&self) -> usize {
        2 * self.dim * (self.dim + 1)
    }

    #[inline(always)]
    fn prepare<R: Real>(&self, _theta: &[R], scratch: &mut [R]) {
        let n = self.dim;
        let (b, rest) = scratch.split_at_mut(n * n);
        rest[..n * n].copy_from_slice(b);
        cholesky(&mut rest[..n * n], n);
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let n = self.dim;
        for i in 0..n {
            let mut sum = R::zero();
            for j in 0..n {
                sum = scratch[i * n + j].mul_add(v[j], sum);
            }
            out[i] = sum;
        }
    }

    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]) {
        let n = self.dim;
        factor_vec(&scratch[n * n..], n, xi, out);
    }

    #[inline(always)]
    fn div<R: Real>(
        &self,
        _theta: &[R],
        scratch: &mut [R],
        _j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        let n = self.dim;
        let (first, second) = scratch[2 * n * n..].split_at(n);
        div_b.copy_from_slice(first);
        div_bj.copy_from_slice(&second[..n]);
    }
}

/// Cube root of the rounding unit: the step that balances truncation against rounding.
const STEP: f64 = 6.1e-6;

/// Divergences of a foreign metric at many states, its own or by central differences.
pub(super) struct Divergences {
    points: Vec<f64>,
    values: Vec<f64>,
    pub(super) div_b: Vec<f64>,
    pub(super) div_bj: Vec<f64>,
}

impl Divergences {
    pub(super) fn new(len: usize) -> Self {
        Divergences {
            points: vec![],
            values: vec![],
            div_b: vec![0.0; len],
            div_bj: vec![0.0; len],
        }
    }

    pub(super) fn compute(
        &mut self,
        metric: &mut dyn ForeignMetric,
        thetas: &[f64],
        d: usize,
        j: Option<&SkewMatrix>,
    ) -> Result<(), Failure> {
        self.div_b.resize(thetas.len(), 0.0);
        self.div_bj.resize(thetas.len(), 0.0);
        if metric.divergence(thetas, j, &mut self.div_b, &mut self.div_bj)? {
            return Ok(());
        }
        self.by_differences(metric, thetas, d, j, STEP)
    }

    /// Σ_j ∂_j B_ij and Σ_jk (∂_j B_ik) J_kj, with ∂_j B from one call of the metric at
    /// θ ± h e_j for all states and j; h is `step` times the size of θ_j, or `step` near 0.
    fn by_differences(
        &mut self,
        metric: &mut dyn ForeignMetric,
        thetas: &[f64],
        d: usize,
        j: Option<&SkewMatrix>,
        step: f64,
    ) -> Result<(), Failure> {
        let offset = |x: f64| step * x.abs().max(1.0);
        self.points.clear();
        for theta in thetas.chunks_exact(d) {
            for axis in 0..d {
                for sign in [1.0, -1.0] {
                    let at = self.points.len() + axis;
                    self.points.extend_from_slice(theta);
                    self.points[at] += sign * offset(theta[axis]);
                }
            }
        }
        self.values.resize(self.points.len() * d, 0.0);
        metric.matrix(&self.points, &mut self.values)?;
        self.div_b.fill(0.0);
        self.div_bj.fill(0.0);
        for (c, both) in self.values.chunks_exact(2 * d * d).enumerate() {
            let (chain, axis) = (c / d, c % d);
            let (plus, minus) = both.split_at(d * d);
            let points = &self.points[2 * c * d..];
            // The difference of the points as they are, after rounding.
            let width = points[axis] - points[d + axis];
            for i in 0..d {
                let slope = |k: usize| (plus[i * d + k] - minus[i * d + k]) / width;
                self.div_b[chain * d + i] += slope(axis);
                if let Some(j) = j {
                    let sum: f64 = (0..d).map(|k| slope(k) * j.get(k, axis)).sum();
                    self.div_bj[chain * d + i] += sum;
                }
            }
        }
        Ok(())
    }
}

/// How far the divergences of a metric at the given states may be off, as a fraction of the
/// largest of them (or of 10⁻⁶ times the largest entry of B, where the divergences vanish).
///
/// By differences: a third of what changes when the step is doubled, the leading error of the
/// scheme. Where the metric gives its own: what separates them from central differences.
pub fn divergence_check(
    metric: &mut dyn ForeignMetric,
    thetas: &[f64],
    dim: usize,
    j: Option<&SkewMatrix>,
) -> Result<f64, Failure> {
    let mut near = Divergences::new(thetas.len());
    let mut other = Divergences::new(thetas.len());
    near.by_differences(metric, thetas, dim, j, STEP)?;
    let own = metric.divergence(thetas, j, &mut other.div_b, &mut other.div_bj)?;
    if !own {
        other.by_differences(metric, thetas, dim, j, 2.0 * STEP)?;
    }
    let largest = |values: &[f64]| values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let weight = if own { 1.0 } else { 1.0 / 3.0 };
    let mut pairs = vec![(&near.div_b, &other.div_b)];
    if j.is_some() {
        pairs.push((&near.div_bj, &other.div_bj));
    }
    let mut size = f64::MIN_POSITIVE.max(1e-6 * largest(&near.values));
    let mut error = 0.0_f64;
    for (a, b) in pairs {
        let gaps: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        // A NaN must not pass for agreement.
        if gaps.iter().any(|g| g.is_nan()) {
            return Ok(f64::NAN);
        }
        error = error.max(weight * largest(&gaps));
        size = size.max(largest(a)).max(largest(b));
    }
    Ok(error / size)
}

/// Refuses a metric that is not symmetric positive definite at one of the states.
pub(super) fn check_matrices(
    metric: &mut dyn ForeignMetric,
    thetas: &[f64],
    d: usize,
) -> Result<(), RunError> {
    let mut values = vec![0.0; thetas.len() * d];
    metric.matrix(thetas, &mut values).map_err(RunError::Call)?;
    for value in values.chunks_exact(d * d) {
        let b = DMatrix::from_row_slice(d, d, value);
        check::positive_definite("the metric at the initial state", &b, d)?;
    }
    Ok(())
}
