//! Riemannian metrics: the symmetric positive definite matrix B(θ) of the dynamics.

mod constant;
mod field;

pub use constant::Constant;
pub use field::{Field, MatrixField};

use crate::real::Real;
use crate::skew::SkewMatrix;

/// A symmetric positive definite matrix B(θ), by its actions.
///
/// One step calls [`prepare`](Self::prepare) once and then the others at the same θ; whatever they
/// share (a factorisation, say) goes into the caller's scratch space. Matrices are never formed
/// where their action is enough.
pub trait Metric: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The same metric as constant matrices, where it does not depend on θ.
    fn constant(&self) -> Option<&Constant> {
        None
    }

    /// Number of scratch entries.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Number of standard normal numbers that [`sqrt_apply`](Self::sqrt_apply) consumes.
    fn n_noise(&self) -> usize {
        self.dim()
    }

    /// Computes what the other methods share at `theta`.
    #[inline(always)]
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        let _ = (theta, scratch);
    }

    /// `out = B v`.
    fn apply<R: Real>(&self, theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]);

    /// `out = S ξ` with `S Sᵀ = B`, for [`n_noise`](Self::n_noise) independent numbers ξ.
    fn sqrt_apply<R: Real>(&self, theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]);

    /// Divergences, row by row: `div_b = div B`, and `div_bj = div(B J)` where J is given.
    ///
    /// `div(B J)_i = Σ_jk (∂_j B_ik) J_kj`. With these two, the divergence of the geometric field
    /// is ½ J div B + ½ div(B J).
    fn div<R: Real>(
        &self,
        theta: &[R],
        scratch: &mut [R],
        j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    );
}

/// A metric that can be undone: adjusted and lifted samplers ask for the density of N(·, B(θ)).
///
/// Both methods follow [`prepare`](Metric::prepare) at the same θ.
///
/// ```
/// use langevin::metric::{Constant, Solve};
/// let metric = Constant::diagonal(vec![2.0, 8.0])?;
/// let mut out = [0.0; 2];
/// metric.solve(&[0.0; 2], &mut [], &[1.0, 4.0], &mut out);
/// assert_eq!(out, [0.5, 0.5]);
/// assert_eq!(metric.log_det(&[0.0; 2], &mut []), 16.0_f64.ln());
/// # Ok::<(), langevin::Error>(())
/// ```
pub trait Solve: Metric {
    /// `out = B⁻¹ v`.
    fn solve<R: Real>(&self, theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]);

    /// log det B.
    fn log_det<R: Real>(&self, theta: &[R], scratch: &mut [R]) -> R;
}

/// B(θ) as a dense row-major matrix, from its action on unit vectors; for checks and tests.
pub fn dense<M: Metric>(metric: &M, theta: &[f64]) -> Vec<f64> {
    let d = metric.dim();
    let mut scratch = vec![0.0; metric.scratch_len()];
    metric.prepare(theta, &mut scratch);
    let (mut unit, mut column) = (vec![0.0; d], vec![0.0; d]);
    let mut out = vec![0.0; d * d];
    for j in 0..d {
        unit[j] = 1.0;
        metric.apply(theta, &mut scratch, &unit, &mut column);
        unit[j] = 0.0;
        for i in 0..d {
            out[i * d + j] = column[i];
        }
    }
    out
}
