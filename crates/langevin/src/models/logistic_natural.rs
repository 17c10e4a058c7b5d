//! The natural metric of logistic regression, over all data.

use crate::kernels::data_in_lanes::{Products, Pull};
use crate::kernels::pair_products::PairProducts;
use crate::linalg::{cholesky, inverse_from_factor, log_det, solve_lower, solve_transposed};
use crate::metric::{Metric, Solve};
use crate::real::{Isa, Kernel, Lanes, OCTET, Real};
use crate::skew::SkewMatrix;
use crate::target::Rows;

/// G(w)⁻¹, or I + G(w)⁻¹, with G = αI + Σ λₙ xₙ xₙᵀ.
///
/// With p = logistic(x·w), λ = p(1−p), λ' = λ(1−2p), gₙ = G⁻¹xₙ, qₙ = xₙ·gₙ and tₙ = gₙ·Jxₙ:
/// div B = −Σ λ'ₙ qₙ gₙ and div(BJ) = −Σ λ'ₙ tₙ gₙ. Both qₙ = xₙᵀG⁻¹xₙ and tₙ = xₙᵀ sym(G⁻¹J) xₙ
/// are quadratic forms. Neither λ nor λ'x depends on the sign of x, so that features with the
/// sign of the label serve as well.
#[derive(Clone, Debug)]
pub struct LogisticNatural {
    features: Rows,
    products: PairProducts,
    prior_precision: f64,
    plus_identity: bool,
}

/// The parts of the scratch space.
struct Parts<'a, R> {
    /// λ'ₙ.
    slopes: &'a mut [R],
    /// λₙ, then qₙ.
    per_datum: &'a mut [R],
    /// tₙ.
    second_per_datum: &'a mut [R],
    /// A packed symmetric matrix.
    packed: &'a mut [R],
    /// Another.
    second_packed: &'a mut [R],
    /// Cholesky factor of G.
    factor: &'a mut [R],
    /// G⁻¹.
    inverse: &'a mut [R],
    /// One more matrix.
    work: &'a mut [R],
}

impl LogisticNatural {
    pub(super) fn new(features: &Rows, prior_precision: f64, plus_identity: bool) -> Self {
        LogisticNatural {
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
        let (second_per_datum, rest) = rest.split_at_mut(n);
        let (packed, rest) = rest.split_at_mut(self.products.packed_len());
        let (second_packed, rest) = rest.split_at_mut(self.products.packed_len());
        let (factor, rest) = rest.split_at_mut(d * d);
        let (inverse, work) = rest.split_at_mut(d * d);
        Parts {
            slopes,
            per_datum,
            second_per_datum,
            packed,
            second_packed,
            factor,
            inverse,
            work,
        }
    }

    /// xₙ·w for all data, a few at a time so that sums do not wait for each other.
    #[inline(always)]
    fn predictors<R: Real>(&self, theta: &[R], out: &mut [R]) {
        if let (Some(rows), Some(theta), Some(products)) = (
            self.features.octets(),
            R::single(theta),
            R::single_mut(&mut *out),
        ) {
            Isa::run_octets(Products {
                rows,
                theta,
                products,
            });
            return;
        }
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

    /// `out = −G⁻¹ Σ λ'ₙ cₙ xₙ`, given the cₙ, which become λ'ₙ cₙ; `work` is as long as a matrix.
    #[inline(always)]
    fn weighted_pull<R: Real>(
        &self,
        slopes: &[R],
        c: &mut [R],
        inverse: &[R],
        work: &mut [R],
        out: &mut [R],
    ) {
        let d = out.len();
        for (c, slope) in c.iter_mut().zip(slopes) {
            *c *= *slope;
        }
        self.pull(c, work, d);
        for i in 0..d {
            out[i] = R::zero();
            for k in 0..d {
                out[i] = (-inverse[i * d + k]).mul_add(work[k], out[i]);
            }
        }
    }

    /// The first `d` entries of `sums` become Σ weights[n] xₙ.
    #[inline(always)]
    fn pull<R: Real>(&self, weights: &[R], sums: &mut [R], d: usize) {
        if let (Some(rows), Some(weights), Some(sums)) = (
            self.features.octets(),
            R::single(weights),
            R::single_mut(&mut *sums),
        ) {
            let sums = &mut sums[..d.next_multiple_of(OCTET)];
            Isa::run_octets(Pull {
                rows,
                weights,
                sums,
            });
            return;
        }
        // Sums for a few features at a time stay in registers.
        const TILE: usize = 10;
        for first in (0..d).step_by(TILE) {
            let tile = TILE.min(d - first);
            let mut pull = [R::zero(); TILE];
            for (x, weight) in self.features.iter().zip(weights) {
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
            sums[first..first + tile].copy_from_slice(&pull[..tile]);
        }
    }
}

impl Metric for LogisticNatural {
    fn dim(&self) -> usize {
        self.products.dim()
    }

    fn scratch_len(&self) -> usize {
        3 * self.features.len() + 2 * self.products.packed_len() + 3 * self.dim() * self.dim()
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
        curvatures(parts.per_datum, parts.slopes);
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
        if let Some(j) = j {
            // Row i of −G⁻¹J is J times row i of G⁻¹, because J is skew and G⁻¹ symmetric.
            j.apply_to_rows(parts.inverse, parts.work);
            // (What is beyond the last entry meets zeros of the table.)
            parts.second_packed.fill(R::zero());
            for i in 0..d {
                for k in 0..i {
                    parts.second_packed[PairProducts::place(i, k)] =
                        -(parts.work[i * d + k] + parts.work[k * d + i]);
                }
                parts.second_packed[PairProducts::place(i, i)] = -parts.work[i * d + i];
            }
            self.products.quadratic_forms(
                [&*parts.packed, &*parts.second_packed],
                [&mut *parts.per_datum, &mut *parts.second_per_datum],
            );
            let weights = parts.second_per_datum;
            self.weighted_pull(parts.slopes, weights, parts.inverse, parts.work, div_bj);
        } else {
            self.products
                .quadratic_forms([&*parts.packed], [&mut *parts.per_datum]);
        }
        let weights = parts.per_datum;
        self.weighted_pull(parts.slopes, weights, parts.inverse, parts.work, div_b);
    }
}

impl LogisticNatural {
    /// The Cholesky factor of B, in the scratch space.
    #[inline(always)]
    fn factor_of_metric<'a, R: Real>(&self, scratch: &'a mut [R]) -> &'a [R] {
        let d = Metric::dim(self);
        let parts = self.split(scratch);
        let factor = &mut parts.work[..d * d];
        factor.copy_from_slice(parts.inverse);
        if self.plus_identity {
            for i in 0..d {
                factor[i * d + i] += R::one();
            }
        }
        cholesky(factor, d);
        factor
    }
}

/// By another factorisation, of B itself.
impl Solve for LogisticNatural {
    #[inline(always)]
    fn solve<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let factor = self.factor_of_metric(scratch);
        out.copy_from_slice(v);
        solve_lower(factor, v.len(), out);
        solve_transposed(factor, v.len(), out);
    }

    #[inline(always)]
    fn log_det<R: Real>(&self, theta: &[R], scratch: &mut [R]) -> R {
        log_det(self.factor_of_metric(scratch), theta.len())
    }
}

/// From xₙ·w to λₙ, and to λ'ₙ.
#[inline(always)]
fn curvatures<R: Real>(per_datum: &mut [R], slopes: &mut [R]) {
    if let (Some(per_datum), Some(slopes)) =
        (R::single_mut(&mut *per_datum), R::single_mut(&mut *slopes))
    {
        Isa::run_octets(Curvatures { per_datum, slopes });
        return;
    }
    for (lambda, slope) in per_datum.iter_mut().zip(slopes) {
        (*lambda, *slope) = curvature(*lambda);
    }
}

/// λ = p(1−p) and λ' = λ(1−2p) with p = logistic(x·w).
#[inline(always)]
fn curvature<R: Real>(product: R) -> (R, R) {
    let p = product.logistic();
    let lambda = p * (R::one() - p);
    (lambda, lambda * (R::one() - p - p))
}

/// The same for a chain that is alone.
struct Curvatures<'a> {
    per_datum: &'a mut [f64],
    slopes: &'a mut [f64],
}

impl Kernel for Curvatures<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut lambdas = self.per_datum.chunks_exact_mut(OCTET);
        let mut slopes = self.slopes.chunks_exact_mut(OCTET);
        for (lambdas, slopes) in (&mut lambdas).zip(&mut slopes) {
            let (lambda, slope) = curvature(L::Octet::load(lambdas));
            lambda.store(lambdas);
            slope.store(slopes);
        }
        let rest = lambdas.into_remainder().iter_mut();
        for (lambda, slope) in rest.zip(slopes.into_remainder()) {
            (*lambda, *slope) = curvature(*lambda);
        }
    }
}
