//! Sums over data of products xᵢxⱼ, at the speed of a matrix product.
//!
//! For fixed data xₙ and several chains at once, Σₙ wₙ xₙxₙᵀ and xₙᵀA xₙ (A symmetric) are products
//! of the table of all xₙᵢxₙⱼ with the weights and with the entries of A. The table is cut into
//! blocks of data, so that their weights stay in the first-level cache, and each block into panels of
//! [`TILE`] columns. Sums of a panel's columns, or of [`TILE`] data, stay in registers while the rest
//! streams by.

use super::data_in_lanes::{Forms, PanelSums};
use crate::real::{Isa, Real};
use crate::rows::{Line, Rows};

/// Columns in a panel: a cache line, and as many sums as two of 16 registers each allow.
const TILE: usize = 8;
/// Data in a block, whole tiles of them: 128 bytes for each are a quarter of a first-level cache.
const BLOCK: usize = 104;

/// The products of all pairs of features for all data.
#[derive(Clone, Debug)]
pub(crate) struct PairProducts {
    dim: usize,
    n_data: usize,
    /// [block][panel][datum][column]; pairs (i, j), j ≤ i, row by row, padded with zeros.
    table: Vec<Line>,
}

impl PairProducts {
    pub fn new(features: &Rows) -> Self {
        let mut products = PairProducts {
            dim: features.width(),
            n_data: features.len(),
            table: vec![],
        };
        let rows: Vec<&[f64]> = features.iter().collect();
        let pairs: Vec<(usize, usize)> = (0..products.dim)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .collect();
        for block in rows.chunks(BLOCK) {
            for panel in pairs.chunks(TILE) {
                for x in block {
                    let mut line = [0.0; TILE];
                    for (entry, &(i, j)) in line.iter_mut().zip(panel) {
                        *entry = x[i] * x[j];
                    }
                    products.table.push(Line(line));
                }
            }
        }
        products
    }

    /// Length of a packed symmetric matrix, padding included.
    pub fn packed_len(&self) -> usize {
        (self.dim * (self.dim + 1) / 2).next_multiple_of(TILE)
    }

    /// packed = Σₙ weights[n] xₙxₙᵀ.
    #[inline(always)]
    pub fn weighted_sum<R: Real>(&self, weights: &[R], packed: &mut [R]) {
        packed.fill(R::zero());
        let blocks = self.table.chunks(BLOCK * packed.len() / TILE);
        for (block, weights) in blocks.zip(weights[..self.n_data].chunks(BLOCK)) {
            if let (Some(weights), Some(packed)) = (R::single(weights), R::single_mut(packed)) {
                Isa::run_octets(PanelSums {
                    block,
                    weights,
                    packed,
                });
                continue;
            }
            let panels = block.chunks_exact(weights.len());
            for (panel, packed) in panels.zip(packed.chunks_exact_mut(TILE)) {
                let mut sums = [R::zero(); TILE];
                sums.copy_from_slice(packed);
                for (w, row) in weights.iter().zip(panel) {
                    for t in 0..TILE {
                        sums[t] = w.mul_add(R::of(row.0[t]), sums[t]);
                    }
                }
                packed.copy_from_slice(&sums);
            }
        }
    }

    /// forms[s][n] = xₙᵀA xₙ for one or two matrices A, packed[s], with off-diagonal entries doubled.
    #[inline(always)]
    pub fn quadratic_forms<R: Real, const S: usize>(
        &self,
        packed: [&[R]; S],
        mut forms: [&mut [R]; S],
    ) {
        let n_panels = packed[0].len() / TILE;
        for (b, block) in self.table.chunks(BLOCK * n_panels).enumerate() {
            let n = block.len() / n_panels;
            let data = b * BLOCK..b * BLOCK + n;
            if R::single(packed[0]).is_some() {
                let forms = forms.each_mut().map(|forms| &mut forms[data.clone()]);
                Isa::run_octets(Forms {
                    block,
                    n,
                    packed: packed.map(|packed| R::single(packed).unwrap_or_default()),
                    forms: forms.map(|forms| R::single_mut(forms).unwrap_or_default()),
                });
                continue;
            }
            for s in 0..S {
                let forms = &mut forms[s][data.clone()];
                for first in (0..n).step_by(TILE) {
                    if let Some(forms) = forms[first..].first_chunk_mut::<TILE>() {
                        some_forms(block, n, first, packed[s], forms);
                        continue;
                    }
                    for datum in first..n {
                        let form = std::array::from_mut(&mut forms[datum]);
                        some_forms(block, n, datum, packed[s], form);
                    }
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

/// The forms of K data of a block of `n`, from the `first` on. Their sums stay in registers while the
/// entries of A stream by.
#[inline(always)]
fn some_forms<R: Real, const K: usize>(
    block: &[Line],
    n: usize,
    first: usize,
    packed: &[R],
    forms: &mut [R; K],
) {
    let mut sums = [R::zero(); K];
    for (panel, entries) in block.chunks_exact(n).zip(packed.chunks_exact(TILE)) {
        let rows = &panel[first..first + K];
        for t in 0..TILE {
            for k in 0..K {
                sums[k] = entries[t].mul_add(R::of(rows[k].0[t]), sums[k]);
            }
        }
    }
    *forms = sums;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    /// Blocks, tiles and what is left over: sums and forms are those of the definition.
    #[test]
    fn products_of_any_size_equal_their_definition() {
        let mut rng = Rng::new(5, 0, Stream::Setup);
        for (n, d) in [(1, 1), (7, 3), (8, 5), (104, 4), (237, 6)] {
            let features = Rows::new((0..n * d).map(|_| rng.normal()).collect(), d).unwrap();
            let products = PairProducts::new(&features);
            let weights: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let mut packed = vec![f64::NAN; products.packed_len()];
            products.weighted_sum(&weights, &mut packed);
            let mut doubled = vec![0.0; packed.len()];
            for i in 0..d {
                for j in 0..=i {
                    let terms = features.iter().zip(&weights).map(|(x, w)| w * x[i] * x[j]);
                    let place = PairProducts::place(i, j);
                    let sum: f64 = terms.sum();
                    assert!((packed[place] - sum).abs() < 1e-12, "{n} × {d}: {i}, {j}");
                    doubled[place] = if i == j { sum } else { 2.0 * sum };
                }
            }
            let mut forms = vec![f64::NAN; n];
            products.quadratic_forms([&doubled], [&mut forms]);
            for (k, x) in features.iter().enumerate() {
                let mut form = 0.0;
                for i in 0..d {
                    for j in 0..d {
                        form += x[i] * x[j] * packed[PairProducts::place(i.max(j), i.min(j))];
                    }
                }
                let size = form.abs().max(1.0);
                assert!((forms[k] - form).abs() < 1e-10 * size, "{n} × {d}: {k}");
            }
        }
    }
}
