//! Row sums of the Stein kernel over all earlier points: the `n²/2` pairs, in lanes.
//!
//! Points come in blocks of [`BLOCK`], whatever the width of the processor's registers, and the
//! order of every sum is fixed, so that all processors and all numbers of threads give the same
//! bits.

use super::Kernel;
use crate::real::{BitLanes, Isa, Kernel as LaneKernel, Lanes, MAX_WIDTH};
use rayon::prelude::*;

/// Points `j` treated at once: the widest pack.
const BLOCK: usize = MAX_WIDTH;

/// Rows `i` that share one pass over the points `j`, so that a block of points stays in cache.
const TILE: usize = 32;

/// Contributions of point `i` to the double sum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    /// `Σ_{j<i} k₀(xᵢ, xⱼ)`.
    pub below: f64,
    /// `k₀(xᵢ, xᵢ)`.
    pub diagonal: f64,
}

/// One [`Row`] for each point, by packs of the given width. `points` and `scores` have been
/// checked.
pub(super) fn row_sums(
    points: &[f64],
    scores: &[f64],
    dim: usize,
    kernel: Kernel,
    (isa, width): (Isa, usize),
) -> Vec<Row> {
    let input = Input::new(points, scores, dim, kernel);
    let mut rows = vec![
        Row {
            below: 0.0,
            diagonal: 0.0
        };
        points.len() / dim
    ];
    // The longest rows first, so that no thread is left with them at the end.
    rows.par_chunks_mut(TILE)
        .enumerate()
        .rev()
        .for_each(|(tile, rows)| {
            let first = tile * TILE;
            let input = &input;
            isa.run(width, Tile { input, first, rows });
        });
    rows
}

/// The points, laid out for the inner loops.
struct Input {
    dim: usize,
    kernel: Kernel,
    /// `(coordinate, score)` pairs of each point: `dim` for point 0, `dim` for point 1, …
    own: Vec<(f64, f64)>,
    /// [block][component][coordinate or score][point of the block], zeros at the end.
    blocks: Vec<f64>,
}

impl Input {
    fn new(points: &[f64], scores: &[f64], dim: usize, kernel: Kernel) -> Self {
        let own: Vec<_> = points.iter().copied().zip(scores.iter().copied()).collect();
        let n_blocks = (points.len() / dim).div_ceil(BLOCK);
        let mut blocks = vec![0.0; n_blocks * dim * 2 * BLOCK];
        for (j, pairs) in own.chunks_exact(dim).enumerate() {
            let (block, lane) = (j / BLOCK, j % BLOCK);
            for (k, &(point, score)) in pairs.iter().enumerate() {
                let place = (block * dim + k) * 2 * BLOCK + lane;
                blocks[place] = point;
                blocks[place + BLOCK] = score;
            }
        }
        Self {
            dim,
            kernel,
            own,
            blocks,
        }
    }
}

/// Rows `first..first + rows.len()`.
struct Tile<'a> {
    input: &'a Input,
    first: usize,
    rows: &'a mut [Row],
}

impl LaneKernel for Tile<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        if self.input.kernel.exponent == -0.5 {
            self.sum::<L, true>();
        } else {
            self.sum::<L, false>();
        }
    }
}

impl Tile<'_> {
    /// `INVERSE_ROOT` selects the exponent −1/2.
    ///
    /// For each pack of points there are two passes over the rows: the powers of `ρ` are a long
    /// chain of dependent operations, and in a loop of their own those of several rows overlap.
    #[inline(always)]
    fn sum<L: Lanes, const INVERSE_ROOT: bool>(self) {
        let Tile { input, first, rows } = self;
        let dim = input.dim;
        let n_rows = rows.len();
        let mut sums = vec![0.0; n_rows * BLOCK];
        let mut products = [Products::<L>::zero(); TILE];
        let own = &input.own[first * dim..(first + n_rows) * dim];
        let blocks = input.blocks.chunks_exact(dim * 2 * BLOCK);
        for (b, block) in blocks.enumerate().take((first + n_rows - 1) / BLOCK + 1) {
            for offset in (0..BLOCK).step_by(L::WIDTH) {
                for (products, own) in products.iter_mut().zip(own.chunks_exact(dim)) {
                    *products = Products::new(own, block, offset);
                }
                for (r, products) in products[..n_rows].iter().enumerate() {
                    let terms = products.stein::<INVERSE_ROOT>(input.kernel, dim);
                    let sum = &mut sums[r * BLOCK + offset..r * BLOCK + offset + L::WIDTH];
                    // Lanes with j < i; the next one, if in this pack, is the diagonal j = i.
                    let start = b * BLOCK + offset;
                    let below = (first + r).saturating_sub(start);
                    if below >= L::WIDTH {
                        (L::load(sum) + terms).store(sum);
                    } else if first + r >= start {
                        let mut lanes = [0.0; MAX_WIDTH];
                        terms.store(&mut lanes);
                        for (sum, term) in sum.iter_mut().zip(&lanes[..below]) {
                            *sum += term;
                        }
                        rows[r].diagonal = lanes[below];
                    }
                }
            }
        }
        for (row, lanes) in rows.iter_mut().zip(sums.chunks_exact(BLOCK)) {
            row.below = lanes.iter().sum();
        }
    }
}

/// The three scalar products of which `k₀` is made, between one point and a pack of others.
#[derive(Clone, Copy)]
struct Products<L> {
    /// `|D|²`, as a sum of squared differences: nothing cancels for close or repeated points.
    distance: L,
    /// `(b(x) − b(y))·D`.
    along: L,
    /// `b(x)·b(y)`.
    scores: L,
}

impl<L: Lanes> Products<L> {
    #[inline(always)]
    fn zero() -> Self {
        Self {
            distance: L::zero(),
            along: L::zero(),
            scores: L::zero(),
        }
    }

    /// With the points of a block from `offset` on.
    #[inline(always)]
    fn new(own: &[(f64, f64)], block: &[f64], offset: usize) -> Self {
        let mut out = Self::zero();
        for (&(x, b), other) in own.iter().zip(block.chunks_exact(2 * BLOCK)) {
            let (points, scores) = other.split_at(BLOCK);
            let (y, by) = (L::load(&points[offset..]), L::load(&scores[offset..]));
            let (x, b) = (L::of(x), L::of(b));
            let d = x - y;
            out.distance = d.mul_add(d, out.distance);
            out.along = (b - by).mul_add(d, out.along);
            out.scores = b.mul_add(by, out.scores);
        }
        out
    }

    /// `k₀` (formula at the top of `ksd`).
    #[inline(always)]
    fn stein<const INVERSE_ROOT: bool>(&self, kernel: Kernel, dim: usize) -> L {
        let e = kernel.exponent;
        let rho = self.distance + kernel.c_squared;
        let (power, inverse) = if INVERSE_ROOT {
            let root = inverse_root(rho);
            (root, root * root)
        } else {
            ((rho.ln() * e).exp(), rho.recip())
        };
        let slope = (self.along + dim as f64) * (-2.0 * e);
        let bend = (self.distance * inverse).mul_add(L::of(-4.0 * e * (e - 1.0)), slope);
        power * inverse.mul_add(bend, self.scores)
    }
}

/// `1 / sqrt(x)` for normal positive `x`, within 2 ulp, from multiplications alone.
///
/// Several times the throughput of a square root and a division, which would take half of the
/// whole time. The first guess halves the exponent (relative error below 0.0343, Lomont 2003); a
/// Newton step turns an error ε into 3ε²/2, so that four steps leave only rounding.
#[inline(always)]
pub(super) fn inverse_root<L: Lanes>(x: L) -> L {
    let minus_half = x * -0.5;
    let mut y = L::from_bits(L::Bits::of(0x5fe6_eb50_c7b5_37a9) - (x.to_bits() >> 1));
    for _ in 0..4 {
        y *= (minus_half * y).mul_add(y, L::of(1.5));
    }
    y
}
