//! Independent component analysis with a sech² likelihood (section 3.5 of the paper).

use nalgebra::DMatrix;

use super::IcaNatural;
use crate::check;
use crate::kernels::ica_sums::{self, SMALL, Space};
use crate::linalg::cholesky;
use crate::real::{Lanes, Real};
use crate::rng::{Rng, Stream};
use crate::target::{Parameter, Rows, Subsampled, Target, check_state};
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

    /// The data.
    pub fn rows(&self) -> &Rows {
        &self.rows
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
}

impl Target for Ica {
    fn dim(&self) -> usize {
        self.m * self.m
    }

    /// −½λ|W|² + N log |det W| + Σₙ Σᵢ log ¼ sech²(½ yᵢ), where log ¼ sech²(½ y) = y − 2 log(1 + e^y).
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let m = self.m;
        let mut squares = R::zero();
        for w in theta {
            squares = w.mul_add(*w, squares);
        }
        let mut sum = determinant(theta, m).abs().ln() * self.rows.len() as f64
            + squares * (-0.5 * self.prior_precision);
        for row in self.rows.iter() {
            for i in 0..m {
                let mut y = R::zero();
                for col in 0..m {
                    y = theta[col * m + i].mul_add(R::of(row[col]), y);
                }
                sum += y - y.softplus() * 2.0;
            }
        }
        sum
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        let m = self.signals(theta);
        self.determinant_score(theta, scratch, out);
        let mut small = [R::zero(); SMALL];
        let space = Space::new(m, &mut small, scratch);
        let sum = ica_sums::sum_all(&self.rows, theta, space);
        for (out, sum) in out.iter_mut().zip(sum) {
            *out -= *sum;
        }
    }

    fn scratch_len(&self) -> usize {
        ica_sums::scratch_len(self.m)
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

impl Subsampled for Ica {
    fn n_data(&self) -> usize {
        self.rows.len()
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
        let space = Space::new(m, &mut small, scratch);
        let sum = ica_sums::sum_some(&self.rows, rows, theta, space);
        let weight = L::of(-(self.rows.len() as f64 / rows.len() as f64));
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = sum.mul_add(weight, *out);
        }
    }
}

/// The side of a square matrix with `len` entries, known to be `m`: a constant for small ones once
/// `len` is, so that loops unroll.
#[inline(always)]
pub(super) fn side(len: usize, m: usize) -> usize {
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
