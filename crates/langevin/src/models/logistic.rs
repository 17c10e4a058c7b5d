//! Logistic regression with a Gaussian prior (section 3.4 of the paper).

use crate::check;
use crate::linalg::{cholesky, inverse_from_factor, solve_transposed};
use crate::metric::Metric;
use crate::real::Real;
use crate::skew::SkewMatrix;
use crate::target::{Parameter, Posterior, Rows};
use crate::{Error, Result};

/// Labels tₙ ∈ {0, 1} with P(tₙ = 1) = logistic(xₙ·w) and prior w ~ N(0, α⁻¹ I).
///
/// ```
/// use langevin::models::LogisticRegression;
/// use langevin::target::{Target, score_at};
/// let model = LogisticRegression::new(vec![1.0, -1.0], 1, &[1.0, 0.0], 0.5)?;
/// assert_eq!(score_at(&model, &[0.0]), [1.0]);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LogisticRegression {
    /// Features, then the label.
    rows: Rows,
    dim: usize,
    prior_precision: f64,
}

impl LogisticRegression {
    /// Features row by row (`dim` in each row), one label per row, and the prior precision α.
    pub fn new(
        features: Vec<f64>,
        dim: usize,
        labels: &[f64],
        prior_precision: f64,
    ) -> Result<Self> {
        check::positive("the prior precision", prior_precision)?;
        let features = Rows::new(features, dim)?;
        check::size("the list of labels", labels.len(), features.len())?;
        if let Some(row) = labels.iter().position(|t| *t != 0.0 && *t != 1.0) {
            return Err(Error::NotALabel {
                row,
                value: labels[row],
            });
        }
        let mut data = Vec::with_capacity(features.len() * (dim + 1));
        for (x, t) in features.iter().zip(labels) {
            data.extend_from_slice(x);
            data.push(*t);
        }
        Ok(LogisticRegression {
            rows: Rows::new(data, dim + 1)?,
            dim,
            prior_precision,
        })
    }

    /// The metric G(w)⁻¹ with G = αI + Σ λₙ xₙ xₙᵀ, the expected Fisher information plus the
    /// prior precision.
    pub fn fisher(&self) -> LogisticFisher {
        LogisticFisher::new(self, false)
    }

    /// The metric I + G(w)⁻¹ of the paper, which is never smaller than the identity.
    pub fn fisher_plus_identity(&self) -> LogisticFisher {
        LogisticFisher::new(self, true)
    }
}

impl Posterior for LogisticRegression {
    fn dim(&self) -> usize {
        self.dim
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    #[inline(always)]
    fn log_prior<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for w in theta {
            sum = w.mul_add(*w, sum);
        }
        sum * (-0.5 * self.prior_precision)
    }

    #[inline(always)]
    fn log_likelihood<R: Real>(&self, theta: &[R], row: &[R]) -> R {
        let a = dot(&row[..theta.len()], theta);
        row[theta.len()] * a - a.softplus()
    }

    #[inline(always)]
    fn prior_score<R: Real>(&self, theta: &[R], out: &mut [R]) {
        for (out, w) in out.iter_mut().zip(theta) {
            *out = *w * -self.prior_precision;
        }
    }

    #[inline(always)]
    fn add_score<R: Real>(&self, theta: &[R], row: &[R], out: &mut [R]) {
        let (x, t) = (&row[..theta.len()], row[theta.len()]);
        let residual = t - dot(x, theta).logistic();
        for (out, x) in out.iter_mut().zip(x) {
            *out = x.mul_add(residual, *out);
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::array("w", &[self.dim])]
    }
}

#[inline(always)]
fn dot<R: Real>(a: &[R], b: &[R]) -> R {
    let mut sum = a[0] * b[0];
    for i in 1..b.len() {
        sum = a[i].mul_add(b[i], sum);
    }
    sum
}

/// G(w)⁻¹, or I + G(w)⁻¹, over all data.
///
/// With p = logistic(x·w), λ = p(1−p), λ' = λ(1−2p), gₙ = G⁻¹xₙ, qₙ = xₙ·gₙ and tₙ = gₙ·Jxₙ:
/// div B = −Σ λ'ₙ qₙ gₙ and div(BJ) = −Σ λ'ₙ tₙ gₙ.
#[derive(Clone, Debug)]
pub struct LogisticFisher {
    features: Rows,
    prior_precision: f64,
    plus_identity: bool,
}

impl LogisticFisher {
    fn new(model: &LogisticRegression, plus_identity: bool) -> Self {
        let features: Vec<f64> = model
            .rows
            .iter()
            .flat_map(|row| row[..model.dim].iter().copied())
            .collect();
        LogisticFisher {
            features: Rows::new(features, model.dim).expect("checked when the model was made"),
            prior_precision: model.prior_precision,
            plus_identity,
        }
    }

    /// Lengths of the parts of the scratch space: λ', factor of G, G⁻¹, work.
    fn split<'a, R: Real>(&self, scratch: &'a mut [R]) -> [&'a mut [R]; 4] {
        let (n, d) = (self.features.len(), self.dim());
        let (slopes, rest) = scratch.split_at_mut(n);
        let (factor, rest) = rest.split_at_mut(d * d);
        let (inverse, work) = rest.split_at_mut(d * d);
        [slopes, factor, inverse, work]
    }
}

impl Metric for LogisticFisher {
    fn dim(&self) -> usize {
        self.features.width()
    }

    fn scratch_len(&self) -> usize {
        self.features.len() + 3 * self.dim() * self.dim()
    }

    /// Two independent parts, ξ₁ + L⁻ᵀξ₂ with G = LLᵀ, make I + G⁻¹ without another factorisation.
    fn n_noise(&self) -> usize {
        if self.plus_identity {
            2 * self.dim()
        } else {
            self.dim()
        }
    }

    #[inline(always)]
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        let d = self.dim();
        let [slopes, factor, inverse, work] = self.split(scratch);
        factor.fill(R::zero());
        for i in 0..d {
            factor[i * d + i] = R::of(self.prior_precision);
        }
        for (x, slope) in self.features.iter().zip(slopes) {
            let mut a = R::zero();
            for i in 0..d {
                a = theta[i].mul_add(R::of(x[i]), a);
            }
            let p = a.logistic();
            let lambda = p * (R::one() - p);
            *slope = lambda * (R::one() - p - p);
            for i in 0..d {
                let scaled = lambda * x[i];
                for j in 0..=i {
                    factor[i * d + j] = scaled.mul_add(R::of(x[j]), factor[i * d + j]);
                }
            }
        }
        cholesky(factor, d);
        inverse_from_factor(factor, d, work, inverse);
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let d = self.dim();
        let [_, _, inverse, _] = self.split(scratch);
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
        let d = self.dim();
        let [_, factor, _, _] = self.split(scratch);
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
        let d = self.dim();
        let [slopes, _, inverse, work] = self.split(scratch);
        // The weighted sums of xₙ come first, G⁻¹ is applied to them at the end.
        let (sum_q, rest) = work.split_at_mut(d);
        let (sum_t, sandwich) = rest.split_at_mut(d);
        let _ = sandwich;
        sum_q.fill(R::zero());
        sum_t.fill(R::zero());
        for (x, slope) in self.features.iter().zip(slopes) {
            let (mut q, mut t) = (R::zero(), R::zero());
            for i in 0..d {
                let mut g = R::zero();
                let mut jx = 0.0;
                for k in 0..d {
                    g = inverse[i * d + k].mul_add(R::of(x[k]), g);
                    jx += j.map_or(0.0, |j| j.get(i, k) * x[k]);
                }
                q = g.mul_add(R::of(x[i]), q);
                t = g.mul_add(R::of(jx), t);
            }
            for i in 0..d {
                sum_q[i] -= *slope * q * x[i];
                sum_t[i] -= *slope * t * x[i];
            }
        }
        for i in 0..d {
            let (mut b, mut bj) = (R::zero(), R::zero());
            for k in 0..d {
                b = inverse[i * d + k].mul_add(sum_q[k], b);
                bj = inverse[i * d + k].mul_add(sum_t[k], bj);
            }
            div_b[i] = b;
            div_bj[i] = bj;
        }
    }
}
