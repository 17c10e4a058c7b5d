//! Sums over data of products xᵢxⱼ, at the speed of a matrix product.
//!
//! For fixed data xₙ and several chains at once, Σₙ wₙ xₙxₙᵀ and xₙᵀA xₙ (A symmetric) are products
//! of the table of all xₙᵢxₙⱼ with the weights and with the entries of A. The table is cut into
//! panels of [`TILE`] columns; a panel's sums stay in registers while its rows stream by.

use crate::real::Real;
use crate::target::Rows;

/// Columns in a panel: as many sums as half the registers of AVX-512 hold.
const TILE: usize = 16;

/// The products of all pairs of features for all data.
#[derive(Clone, Debug)]
pub(crate) struct PairProducts {
    dim: usize,
    n_data: usize,
    /// [panel][datum][column]; pairs (i, j), j ≤ i, row by row, padded with zeros.
    panels: Vec<f64>,
}

impl PairProducts {
    pub fn new(features: &Rows) -> Self {
        let (dim, n_data) = (features.width(), features.len());
        let n_pairs = dim * (dim + 1) / 2;
        let mut panels = vec![0.0; n_pairs.next_multiple_of(TILE) * n_data];
        let mut pair = 0;
        for i in 0..dim {
            for j in 0..=i {
                for (n, x) in features.iter().enumerate() {
                    let place = (pair / TILE * n_data + n) * TILE + pair % TILE;
                    panels[place] = x[i] * x[j];
                }
                pair += 1;
            }
        }
        PairProducts {
            dim,
            n_data,
            panels,
        }
    }

    /// Length of a packed symmetric matrix, padding included.
    pub fn packed_len(&self) -> usize {
        self.panels.len() / self.n_data
    }

    /// packed = Σₙ weights[n] xₙxₙᵀ.
    #[inline(always)]
    pub fn weighted_sum<R: Real>(&self, weights: &[R], packed: &mut [R]) {
        // Registers decide how many sums can be kept: 32 of AVX-512 or 16 of AVX2.
        if size_of::<R>() >= 64 {
            self.weighted_sum_by::<R, 16>(weights, packed);
        } else {
            self.weighted_sum_by::<R, 8>(weights, packed);
        }
    }

    #[inline(always)]
    fn weighted_sum_by<R: Real, const T: usize>(&self, weights: &[R], packed: &mut [R]) {
        let panels = self.panels.chunks_exact(TILE * self.n_data);
        for (panel, packed) in panels.zip(packed.chunks_exact_mut(TILE)) {
            for (part, packed) in packed.chunks_exact_mut(T).enumerate() {
                let mut sums = [R::zero(); T];
                for (w, row) in weights.iter().zip(panel.chunks_exact(TILE)) {
                    let row = &row[part * T..(part + 1) * T];
                    for t in 0..T {
                        sums[t] = w.mul_add(R::of(row[t]), sums[t]);
                    }
                }
                packed.copy_from_slice(&sums);
            }
        }
    }

    /// forms[n] = xₙᵀA xₙ, with A packed and its off-diagonal entries doubled.
    #[inline(always)]
    pub fn quadratic_forms<R: Real>(&self, packed: &[R], forms: &mut [R]) {
        forms.fill(R::zero());
        if size_of::<R>() >= 64 {
            self.quadratic_forms_by::<R, 16>(packed, forms);
        } else {
            self.quadratic_forms_by::<R, 8>(packed, forms);
        }
    }

    #[inline(always)]
    fn quadratic_forms_by<R: Real, const T: usize>(&self, packed: &[R], forms: &mut [R]) {
        let panels = self.panels.chunks_exact(TILE * self.n_data);
        for (panel, packed) in panels.zip(packed.chunks_exact(TILE)) {
            for (part, packed) in packed.chunks_exact(T).enumerate() {
                let mut entries = [R::zero(); T];
                entries.copy_from_slice(packed);
                for (form, row) in forms.iter_mut().zip(panel.chunks_exact(TILE)) {
                    let row = &row[part * T..(part + 1) * T];
                    let mut sum = *form;
                    for t in 0..T {
                        sum = entries[t].mul_add(R::of(row[t]), sum);
                    }
                    *form = sum;
                }
            }
        }
    }

    /// The place of entry (i, j), j ≤ i, in a packed matrix.
    #[inline(always)]
    pub fn place(i: usize, j: usize) -> usize {
        i * (i + 1) / 2 + j
    }

    /// Number of features.
    pub fn dim(&self) -> usize {
        self.dim
    }
}
