//! The Fisher metric of logistic regression, over all data.

use super::products::PairProducts;
use crate::linalg::{cholesky, inverse_from_factor, solve_transposed};
use crate::metric::Metric;
use crate::real::Real;
use crate::skew::SkewMatrix;
use crate::target::Rows;

/// G(w)⁻¹, or I + G(w)⁻¹, with G = αI + Σ λₙ xₙ xₙᵀ.
///
/// With p = logistic(x·w), λ = p(1−p), λ' = λ(1−2p), gₙ = G⁻¹xₙ, qₙ = xₙ·gₙ and tₙ = gₙ·Jxₙ:
/// div B = −Σ λ'ₙ qₙ gₙ and div(BJ) = −Σ λ'ₙ tₙ gₙ. Both qₙ = xₙᵀG⁻¹xₙ and tₙ = xₙᵀ sym(G⁻¹J) xₙ
/// are quadratic forms. Neither λ nor λ'x depends on the sign of x, so that features with the
/// sign of the label serve as well.
#[derive(Clone, Debug)]
pub struct LogisticFisher {
    features: Rows,
    products: PairProducts,
    prior_precision: f64,
    plus_identity: bool,
}

/// The parts of the scratch space.
struct Parts<'a, R> {
    /// λ'ₙ.
    slopes: &'a mut [R],
    /// λₙ, then qₙ, then tₙ.
    per_datum: &'a mut [R],
    /// A packed symmetric matrix.
    packed: &'a mut [R],
    /// Cholesky factor of G.
    factor: &'a mut [R],
    /// G⁻¹.
    inverse: &'a mut [R],
    /// One more matrix.
    work: &'a mut [R],
}

impl LogisticFisher {
    pub(super) fn new(features: &Rows, prior_precision: f64, plus_identity: bool) -> Self {
        LogisticFisher {
            products: PairProducts::new(features),
            features: features.clone(),
            prior_precision,
            plus_identity,
        }
    }

    #[inline(always)]
    fn split<'a, R>(&self, scratch: &'a mut [R]) -> Parts<'a, R> {
        let (n, d) = (self.features.len(), self.features.width());
        let (slopes, rest) = scratch.split_at_mut(n);
        let (per_datum, rest) = rest.split_at_mut(n);
        let (packed, rest) = rest.split_at_mut(self.products.packed_len());
        let (factor, rest) = rest.split_at_mut(d * d);
        let (inverse, work) = rest.split_at_mut(d * d);
        Parts {
            slopes,
            per_datum,
            packed,
            factor,
            inverse,
            work,
        }
    }

    /// xₙ·w for all data, a few at a time so that sums do not wait for each other.
    #[inline(always)]
    fn predictors<R: Real>(&self, theta: &[R], out: &mut [R]) {
        const TILE: usize = 4;
        let n = self.features.len();
        for first in (0..n).step_by(TILE) {
            // Beyond the end, the last row is repeated and the sum thrown away.
            let mut x: [&[f64]; TILE] = [&[]; TILE];
            for t in 0..TILE {
                x[t] = self.features.row((first + t).min(n - 1));
            }
            let mut sums = [R::zero(); TILE];
            for i in 0..theta.len() {
                for t in 0..TILE {
                    sums[t] = theta[i].mul_add(R::of(x[t][i]), sums[t]);
                }
            }
            for (out, sum) in out[first..].iter_mut().zip(sums) {
                *out = sum;
            }
        }
    }

    /// `out = −G⁻¹ Σ λ'ₙ cₙ xₙ`, given the cₙ, which become λ'ₙ cₙ.
    #[inline(always)]
    fn weighted_pull<R: Real>(&self, slopes: &[R], c: &mut [R], inverse: &[R], out: &mut [R]) {
        // Sums for a few features at a time stay in registers.
        const TILE: usize = 10;
        let d = out.len();
        let mut pull = [R::zero(); TILE];
        for (c, slope) in c.iter_mut().zip(slopes) {
            *c *= *slope;
        }
        out.fill(R::zero());
        for first in (0..d).step_by(TILE) {
            let tile = TILE.min(d - first);
            pull.fill(R::zero());
            for (x, weight) in self.features.iter().zip(&*c) {
                if let Some(x) = x[first..].first_chunk::<TILE>() {
                    for k in 0..TILE {
                        pull[k] = weight.mul_add(R::of(x[k]), pull[k]);
                    }
                } else {
                    for k in 0..tile {
                        pull[k] = weight.mul_add(R::of(x[first + k]), pull[k]);
                    }
                }
            }
            for i in 0..d {
                for k in 0..tile {
                    out[i] = (-inverse[i * d + first + k]).mul_add(pull[k], out[i]);
                }
            }
        }
    }
}

impl Metric for LogisticFisher {
    fn dim(&self) -> usize {
        self.products.dim()
    }

    fn scratch_len(&self) -> usize {
        2 * self.features.len() + self.products.packed_len() + 3 * self.dim() * self.dim()
    }

    /// Two independent parts, L⁻ᵀξ₁ + ξ₂ with G = LLᵀ, make I + G⁻¹ without another factorisation.
    fn n_noise(&self) -> usize {
        if self.plus_identity {
            2 * self.dim()
        } else {
            self.dim()
        }
    }

    #[inline(always)]
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        let d = theta.len();
        let parts = self.split(scratch);
        self.predictors(theta, parts.per_datum);
        for (lambda, slope) in parts.per_datum.iter_mut().zip(parts.slopes.iter_mut()) {
            let p = lambda.logistic();
            *lambda = p * (R::one() - p);
            *slope = *lambda * (R::one() - p - p);
        }
        self.products.weighted_sum(parts.per_datum, parts.packed);
        for i in 0..d {
            for j in 0..=i {
                parts.factor[i * d + j] = parts.packed[PairProducts::place(i, j)];
            }
            parts.factor[i * d + i] += R::of(self.prior_precision);
        }
        cholesky(parts.factor, d);
        inverse_from_factor(parts.factor, d, parts.work, parts.inverse);
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let d = v.len();
        let inverse = self.split(scratch).inverse;
        for i in 0..d {
            let mut sum = if self.plus_identity { v[i] } else { R::zero() };
            for j in 0..d {
                sum = inverse[i * d + j].mul_add(v[j], sum);
            }
            out[i] = sum;
        }
    }

    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]) {
        let d = out.len();
        let factor = self.split(scratch).factor;
        out.copy_from_slice(&xi[..d]);
        solve_transposed(factor, d, out);
        if self.plus_identity {
            for i in 0..d {
                out[i] += xi[d + i];
            }
        }
    }

    #[inline(always)]
    fn div<R: Real>(
        &self,
        _theta: &[R],
        scratch: &mut [R],
        j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        let d = div_b.len();
        let parts = self.split(scratch);
        for i in 0..d {
            for k in 0..=i {
                let twice = if i == k { 1.0 } else { 2.0 };
                parts.packed[PairProducts::place(i, k)] = parts.inverse[i * d + k] * twice;
            }
        }
        self.products.quadratic_forms(parts.packed, parts.per_datum);
        self.weighted_pull(parts.slopes, parts.per_datum, parts.inverse, div_b);

        let Some(j) = j else { return };
        // Row i of −G⁻¹J is J times row i of G⁻¹, because J is skew and G⁻¹ symmetric.
        j.apply_to_rows(parts.inverse, parts.work);
        for i in 0..d {
            for k in 0..i {
                parts.packed[PairProducts::place(i, k)] =
                    -(parts.work[i * d + k] + parts.work[k * d + i]);
            }
            parts.packed[PairProducts::place(i, i)] = -parts.work[i * d + i];
        }
        self.products.quadratic_forms(parts.packed, parts.per_datum);
        self.weighted_pull(parts.slopes, parts.per_datum, parts.inverse, div_bj);
    }
}
