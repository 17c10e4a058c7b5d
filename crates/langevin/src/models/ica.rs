//! Independent component analysis with a sech² likelihood (section 3.5 of the paper).

use nalgebra::DMatrix;

use crate::check;
use crate::linalg::cholesky;
use crate::metric::Metric;
use crate::real::{BitLanes, Isa, Kernel, Lanes, Real};
use crate::rng::{Rng, Stream};
use crate::skew::SkewMatrix;
use crate::target::{Parameter, Posterior, Rows, check_state};
use crate::{Error, Result};

/// Observations x = M s of mixed signals; the unknown is the de-mixing matrix W, with prior
/// W_ij ~ N(0, λ⁻¹) and signals of density ¼ sech²(½ y), y = W x.
///
/// The posterior is ∝ |det W|^N Π_n Π_i ¼ sech²(½ (W xₙ)_i) times the prior. θ is `vec W`, column
/// by column.
///
/// ```
/// use langevin::models::Ica;
/// use langevin::target::Target;
/// let model = Ica::new(vec![1.0, 0.5, -0.2, 0.8], 2, 1.0)?;
/// assert_eq!(model.dim(), 4);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ica {
    rows: Rows,
    m: usize,
    prior_precision: f64,
}

impl Ica {
    /// Observations row by row (`n_signals` in each row) and the prior precision λ.
    pub fn new(data: Vec<f64>, n_signals: usize, prior_precision: f64) -> Result<Self> {
        check::positive("the prior precision", prior_precision)?;
        Ok(Ica {
            rows: Rows::new(data, n_signals)?,
            m: n_signals,
            prior_precision,
        })
    }

    /// Number of signals.
    pub fn n_signals(&self) -> usize {
        self.m
    }

    /// The metric (WᵀW) ⊗ I of the natural gradient.
    pub fn natural(&self) -> IcaNatural {
        IcaNatural {
            m: self.m,
            plus_identity: false,
        }
    }

    /// The metric (I + WᵀW) ⊗ I of the paper.
    pub fn natural_plus_identity(&self) -> IcaNatural {
        IcaNatural {
            m: self.m,
            plus_identity: true,
        }
    }

    /// The paper's initial state: a diagonal matrix of random signs.
    pub fn random_signs(&self, seed: u64, chain: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed, chain, Stream::Start);
        let mut theta = vec![0.0; self.m * self.m];
        for i in 0..self.m {
            theta[i * self.m + i] = rng.sign();
        }
        theta
    }

    /// The number of signals, as a constant where the length of θ is one.
    #[inline(always)]
    fn signals<R>(&self, theta: &[R]) -> usize {
        side(theta.len(), self.m)
    }

    /// `out = −λ W + N W⁻ᵀ`: the part of the score that no datum enters.
    #[inline(always)]
    fn determinant_score<R: Real>(&self, theta: &[R], work: &mut [R], out: &mut [R]) {
        let m = self.signals(theta);
        let n = self.rows.len() as f64;
        inverse(theta, m, work, out);
        // `out` holds W⁻¹ column by column; its transpose belongs at (row, col).
        for col in 0..m {
            for row in 0..=col {
                let (a, b) = (out[col * m + row], out[row * m + col]);
                out[col * m + row] = b;
                out[row * m + col] = a;
            }
        }
        for i in 0..m * m {
            out[i] = out[i].mul_add(R::of(n), theta[i] * -self.prior_precision);
        }
    }

    /// Adds tanh(½ y) xᵀ, y = W x, to `out`; `half` is ½W and `t` takes the tangents.
    #[inline(always)]
    fn add_tanh<R: Real>(half: &[R], x: &[R], t: &mut [R], out: &mut [R]) {
        let m = x.len();
        for row in 0..m {
            t[row] = half[row] * x[0];
            for col in 1..m {
                t[row] = half[col * m + row].mul_add(x[col], t[row]);
            }
        }
        R::tanh_all(t);
        for col in 0..m {
            for row in 0..m {
                out[col * m + row] = t[row].mul_add(x[col], out[col * m + row]);
            }
        }
    }
}

impl Posterior for Ica {
    const COMMON_DIM: usize = 9;

    fn dim(&self) -> usize {
        self.m * self.m
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

    /// log |det W| + Σ_i log ¼ sech²(½ yᵢ), where log ¼ sech²(½ y) = y − 2 log(1 + e^y).
    #[inline(always)]
    fn log_likelihood<R: Real>(&self, theta: &[R], row: &[R]) -> R {
        let m = self.m;
        let mut sum = determinant(theta, m).abs().ln();
        for i in 0..m {
            let mut y = R::zero();
            for col in 0..m {
                y = theta[col * m + i].mul_add(row[col], y);
            }
            sum += y - y.softplus() * 2.0;
        }
        sum
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        let m = self.signals(theta);
        self.determinant_score(theta, scratch, out);
        let mut small = [R::zero(); SMALL];
        let scratch = if m <= FEW_SIGNALS {
            &mut small
        } else {
            scratch
        };
        let Parts { half, sum, x, t } = split(theta, m, scratch);
        for row in self.rows.iter() {
            for (x, value) in x.iter_mut().zip(row) {
                *x = R::of(*value);
            }
            Self::add_tanh(half, x, t, sum);
        }
        for (out, sum) in out.iter_mut().zip(sum) {
            *out -= *sum;
        }
    }

    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        let m = self.signals(theta);
        self.determinant_score(theta, scratch, out);
        let mut small = [L::zero(); SMALL];
        let scratch = if m <= FEW_SIGNALS {
            &mut small
        } else {
            scratch
        };
        let Parts { half, sum, x, t } = split(theta, m, scratch);
        if L::WIDTH == 1 && m <= FEW_SIGNALS {
            let isa = Isa::detect();
            let chain = OneChain {
                data: &self.rows,
                index: L::Bits::words(rows),
                half: L::numbers(half),
                sum: L::numbers_mut(sum),
            };
            isa.run(isa.width().min(OneChain::ROWS), chain);
        } else {
            for index in rows {
                self.rows.gather(index, x);
                Self::add_tanh(half, x, t, sum);
            }
        }
        let weight = L::of(-(self.rows.len() as f64 / rows.len() as f64));
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = sum.mul_add(weight, *out);
        }
    }

    fn scratch_len(&self) -> usize {
        2 * self.m * self.m + 2 * self.m
    }

    fn check_state(&self, theta: &[f64]) -> Result<()> {
        check_state(theta, self.m * self.m, &[])?;
        let w = DMatrix::from_column_slice(self.m, self.m, theta);
        let determinant = w.determinant();
        if determinant.abs() <= f64::EPSILON * w.norm().powi(self.m as i32) {
            return Err(Error::Singular {
                name: "the initial W",
                determinant,
            });
        }
        Ok(())
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter {
            name: "W".into(),
            shape: vec![self.m, self.m],
            column_major: true,
        }]
    }
}

/// Up to so many signals, scratch space are variables of the kernel, and a chain that is alone has
/// rows in lanes.
const FEW_SIGNALS: usize = 3;

/// `sum = Σ tanh(½ y) xᵀ` for one chain. Eight rows are in lanes for their tangents, and enter the
/// sums one by one, as they do where chains are in lanes.
struct OneChain<'a> {
    data: &'a Rows,
    index: &'a [u64],
    half: &'a [f64],
    sum: &'a mut [f64],
}

impl Kernel for OneChain<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        match self.data.width() {
            1 => self.add_rows::<L::Octet, 1>(),
            2 => self.add_rows::<L::Octet, 2>(),
            _ => self.add_rows::<L::Octet, FEW_SIGNALS>(),
        }
    }
}

impl OneChain<'_> {
    const ROWS: usize = 8;

    /// For M signals, with L eight numbers wide.
    #[inline(always)]
    fn add_rows<L: Lanes, const M: usize>(self) {
        let mut sums = [[0.0; M]; M];
        for index in self.index.chunks(Self::ROWS) {
            let mut columns = [[0.0; Self::ROWS]; M];
            for (k, row) in index.iter().enumerate() {
                let row = self.data.row(*row as usize);
                for col in 0..M {
                    columns[col][k] = row[col];
                }
            }
            let mut t = [L::zero(); M];
            for row in 0..M {
                t[row] = L::load(&columns[0]) * self.half[row];
                for col in 1..M {
                    let half = L::of(self.half[col * M + row]);
                    t[row] = half.mul_add(L::load(&columns[col]), t[row]);
                }
            }
            L::tanh_all(&mut t);
            let mut tangents = [[0.0; Self::ROWS]; M];
            for row in 0..M {
                t[row].store(&mut tangents[row]);
            }
            for k in 0..index.len() {
                for col in 0..M {
                    for row in 0..M {
                        sums[col][row] =
                            Real::mul_add(tangents[row][k], columns[col][k], sums[col][row]);
                    }
                }
            }
        }
        for (out, sum) in self.sum.iter_mut().zip(sums.as_flattened()) {
            *out = *sum;
        }
    }
}

/// Scratch entries for [`FEW_SIGNALS`].
const SMALL: usize = 24;

/// The parts of the scratch space of the score.
struct Parts<'a, R> {
    /// ½W.
    half: &'a [R],
    /// Σ tanh(½ y) xᵀ, so far 0.
    sum: &'a mut [R],
    x: &'a mut [R],
    t: &'a mut [R],
}

#[inline(always)]
fn split<'a, R: Real>(theta: &[R], m: usize, scratch: &'a mut [R]) -> Parts<'a, R> {
    let (half, rest) = scratch.split_at_mut(m * m);
    let (sum, rest) = rest.split_at_mut(m * m);
    let (x, rest) = rest.split_at_mut(m);
    for (half, w) in half.iter_mut().zip(theta) {
        *half = *w * 0.5;
    }
    sum.fill(R::zero());
    Parts {
        half,
        sum,
        x,
        t: &mut rest[..m],
    }
}

/// The side of a square matrix with `len` entries, known to be `m`: a constant for small ones once
/// `len` is, so that loops unroll.
#[inline(always)]
fn side(len: usize, m: usize) -> usize {
    match len {
        1 => 1,
        4 => 2,
        9 => 3,
        _ => m,
    }
}

/// The inverse of an `m × m` matrix, both column by column: cofactors for m ≤ 3, Gauss–Jordan
/// elimination of WᵀW beyond (no pivoting is needed for a positive definite matrix, so that lanes
/// stay together).
#[inline(always)]
fn inverse<R: Real>(w: &[R], m: usize, work: &mut [R], out: &mut [R]) {
    match m {
        1 => out[0] = w[0].recip(),
        2 => {
            let scale = (w[0] * w[3] - w[2] * w[1]).recip();
            out[0] = w[3] * scale;
            out[1] = -(w[1] * scale);
            out[2] = -(w[2] * scale);
            out[3] = w[0] * scale;
        }
        3 => {
            // Rows of the inverse are cross products of the columns, divided by the determinant.
            for i in 0..3 {
                for row in 0..3 {
                    let (a, b) = (3 * ((row + 1) % 3), 3 * ((row + 2) % 3));
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    out[3 * i + row] = w[a + j] * w[b + k] - w[a + k] * w[b + j];
                }
            }
            let det = w[0] * out[0] + w[1] * out[3] + w[2] * out[6];
            let scale = det.recip();
            for entry in out.iter_mut() {
                *entry *= scale;
            }
        }
        _ => {
            // W⁻¹ = (WᵀW)⁻¹ Wᵀ by Cholesky.
            let gram = &mut work[..m * m];
            for i in 0..m {
                for j in 0..=i {
                    let mut sum = R::zero();
                    for k in 0..m {
                        sum = w[i * m + k].mul_add(w[j * m + k], sum);
                    }
                    gram[i * m + j] = sum;
                }
            }
            cholesky(gram, m);
            for row in 0..m {
                let column = &mut out[row * m..(row + 1) * m];
                for i in 0..m {
                    column[i] = w[i * m + row];
                }
                crate::linalg::solve_lower(gram, m, column);
                crate::linalg::solve_transposed(gram, m, column);
            }
        }
    }
}

/// det W up to its sign: by cofactors for m ≤ 3, as the square root of det WᵀW beyond.
#[inline(always)]
fn determinant<R: Real>(w: &[R], m: usize) -> R {
    match m {
        1 => w[0],
        2 => w[0] * w[3] - w[2] * w[1],
        3 => {
            w[0] * (w[4] * w[8] - w[5] * w[7])
                + w[1] * (w[5] * w[6] - w[3] * w[8])
                + w[2] * (w[3] * w[7] - w[4] * w[6])
        }
        _ => {
            let mut gram = vec![R::zero(); m * m];
            for i in 0..m {
                for j in 0..=i {
                    for k in 0..m {
                        gram[i * m + j] += w[i * m + k] * w[j * m + k];
                    }
                }
            }
            cholesky(&mut gram, m);
            let mut product = R::one();
            for i in 0..m {
                product *= gram[i * m + i];
            }
            product.recip()
        }
    }
}

/// B(W) = P ⊗ I with P = WᵀW or P = I + WᵀW, acting on column-major `vec`: B vec F = vec(F P).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IcaNatural {
    m: usize,
    plus_identity: bool,
}

impl Metric for IcaNatural {
    fn dim(&self) -> usize {
        self.m * self.m
    }

    /// P, then its Cholesky factor where it is needed.
    fn scratch_len(&self) -> usize {
        2 * self.m * self.m
    }

    #[inline(always)]
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        let m = side(theta.len(), self.m);
        let (p, factor) = scratch.split_at_mut(m * m);
        for i in 0..m {
            for j in 0..=i {
                let mut sum = R::of(if self.plus_identity && i == j {
                    1.0
                } else {
                    0.0
                });
                for k in 0..m {
                    sum = theta[i * m + k].mul_add(theta[j * m + k], sum);
                }
                p[i * m + j] = sum;
                p[j * m + i] = sum;
            }
        }
        if self.plus_identity {
            factor.copy_from_slice(p);
            cholesky(factor, m);
        }
    }

    #[inline(always)]
    fn apply<R: Real>(&self, _theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        let m = side(v.len(), self.m);
        for col in 0..m {
            for row in 0..m {
                let mut sum = v[row] * scratch[col];
                for k in 1..m {
                    sum = v[k * m + row].mul_add(scratch[k * m + col], sum);
                }
                out[col * m + row] = sum;
            }
        }
    }

    /// vec(Z Lᵀ) with P = LLᵀ; for P = WᵀW simply vec(Z W).
    #[inline(always)]
    fn sqrt_apply<R: Real>(&self, theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]) {
        let m = side(theta.len(), self.m);
        let factor = &scratch[m * m..];
        for col in 0..m {
            for row in 0..m {
                let mut sum;
                if self.plus_identity {
                    // The factor's diagonal is stored as reciprocals.
                    sum = xi[col * m + row] / factor[col * m + col];
                    for k in 0..col {
                        sum = xi[k * m + row].mul_add(factor[col * m + k], sum);
                    }
                } else {
                    sum = R::zero();
                    for k in 0..m {
                        sum = xi[k * m + row].mul_add(theta[col * m + k], sum);
                    }
                }
                out[col * m + row] = sum;
            }
        }
    }

    /// div B = (m+1) vec W, and with ∂P_cc'/∂W_rs = δ_sc W_rc' + δ_sc' W_rc:
    /// div(BJ)_(r,c) = Σ_s,k [ W_sk J_(r,k),(s,c) + W_sc J_(r,k),(s,k) ].
    #[inline(always)]
    fn div<R: Real>(
        &self,
        theta: &[R],
        _scratch: &mut [R],
        j: Option<&SkewMatrix>,
        div_b: &mut [R],
        div_bj: &mut [R],
    ) {
        let m = side(theta.len(), self.m);
        for i in 0..m * m {
            div_b[i] = theta[i] * (m as f64 + 1.0);
        }
        let Some(j) = j else { return };
        for col in 0..m {
            for row in 0..m {
                let mut sum = R::zero();
                for s in 0..m {
                    let mut trace = 0.0;
                    for k in 0..m {
                        trace += j.get(k * m + row, k * m + s);
                        let entry = j.get(k * m + row, col * m + s);
                        sum = theta[k * m + s].mul_add(R::of(entry), sum);
                    }
                    sum = theta[col * m + s].mul_add(R::of(trace), sum);
                }
                div_bj[col * m + row] = sum;
            }
        }
    }
}
