//! Row sums of the Stein kernel over all earlier points: the `n²/2` pairs, vectorised.
//!
//! The inner loops are plain loops over a fixed number of lanes. They are compiled once for each
//! processor [`Level`] and chosen at run time. No fused multiply-add is used anywhere and the
//! order of every sum is fixed, so all levels and all thread counts give the same bits.

use super::Kernel;
use rayon::prelude::*;

/// Points `j` treated at once: two 512-bit or four 256-bit registers for each running sum.
const LANES: usize = 16;
type Lanes = [f64; LANES];

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

/// Instruction set for which the inner loops were compiled; this processor has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level(Set);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Set {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The levels that this processor has, the slowest first; the only way to get one.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let sets = [
            Some(Set::Baseline),
            is_x86_feature_detected!("avx2").then_some(Set::Avx2),
            is_x86_feature_detected!("avx512f").then_some(Set::Avx512),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let sets = [Some(Set::Baseline)];
        sets.into_iter().flatten().map(Self)
    }

    /// The fastest level that this processor has.
    pub fn best() -> Self {
        Self::available().next_back().unwrap_or(Self(Set::Baseline))
    }
}

/// One [`Row`] for each point. `points` and `scores` have been checked.
pub(super) fn row_sums(
    points: &[f64],
    scores: &[f64],
    dim: usize,
    kernel: Kernel,
    level: Level,
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
        .for_each(|(tile, rows)| input.tile(level, tile * TILE, rows));
    rows
}

/// Coordinate and score of the same component of `LANES` points.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Component {
    point: Lanes,
    score: Lanes,
}

/// The points, laid out for the inner loops.
struct Input {
    dim: usize,
    kernel: Kernel,
    /// `(coordinate, score)` pairs of each point: `dim` for point 0, `dim` for point 1, …
    own: Vec<(f64, f64)>,
    /// `dim` components for points `0..LANES`, then `dim` for the next `LANES`, …, zeros at the end.
    blocks: Vec<Component>,
}

impl Input {
    fn new(points: &[f64], scores: &[f64], dim: usize, kernel: Kernel) -> Self {
        let own: Vec<_> = points.iter().copied().zip(scores.iter().copied()).collect();
        let zero = Component {
            point: [0.0; LANES],
            score: [0.0; LANES],
        };
        let n_blocks = (points.len() / dim).div_ceil(LANES);
        let mut blocks = vec![zero; n_blocks * dim];
        for (j, pairs) in own.chunks_exact(dim).enumerate() {
            let (block, lane) = (j / LANES, j % LANES);
            for (k, &(point, score)) in pairs.iter().enumerate() {
                blocks[block * dim + k].point[lane] = point;
                blocks[block * dim + k].score[lane] = score;
            }
        }
        Self {
            dim,
            kernel,
            own,
            blocks,
        }
    }

    fn tile(&self, level: Level, first: usize, rows: &mut [Row]) {
        match level.0 {
            Set::Baseline => self.tile_of_kernel(first, rows),
            // SAFETY: a `Level` exists only for instructions that this processor has.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { self.tile_avx2(first, rows) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { self.tile_avx512(first, rows) },
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn tile_avx2(&self, first: usize, rows: &mut [Row]) {
        self.tile_of_kernel(first, rows);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn tile_avx512(&self, first: usize, rows: &mut [Row]) {
        self.tile_of_kernel(first, rows);
    }

    #[inline(always)]
    fn tile_of_kernel(&self, first: usize, rows: &mut [Row]) {
        if self.kernel.exponent == -0.5 {
            self.tile_body::<true>(first, rows);
        } else {
            self.tile_body::<false>(first, rows);
        }
    }

    /// Rows `first..first + rows.len()`; `INVERSE_ROOT` selects the exponent −1/2.
    ///
    /// For each block there are two passes over the rows: the powers of `ρ` are a long chain of
    /// dependent operations, and in a loop of their own those of several rows overlap.
    #[inline(always)]
    fn tile_body<const INVERSE_ROOT: bool>(&self, first: usize, rows: &mut [Row]) {
        let last = first + rows.len() - 1;
        let mut sums = [[0.0; LANES]; TILE];
        let mut products = [Products::ZERO; TILE];
        let blocks = self.blocks.chunks_exact(self.dim);
        for (b, block) in blocks.enumerate().take(last / LANES + 1) {
            let own = self.own[first * self.dim..].chunks_exact(self.dim);
            for (products, own) in products[..rows.len()].iter_mut().zip(own) {
                *products = Products::new(own, block);
            }
            for (r, row) in rows.iter_mut().enumerate() {
                let terms = self.stein::<INVERSE_ROOT>(&products[r]);
                // Lanes with j < i; the next one, if in this block, is the diagonal j = i.
                let below = (first + r).saturating_sub(b * LANES);
                if below >= LANES {
                    add(&mut sums[r], &terms);
                } else {
                    sums[r]
                        .iter_mut()
                        .zip(&terms[..below])
                        .for_each(|(s, t)| *s += t);
                    if first + r >= b * LANES {
                        row.diagonal = terms[below];
                    }
                }
            }
        }
        for (row, lanes) in rows.iter_mut().zip(&sums) {
            row.below = lanes.iter().sum();
        }
    }

    /// `k₀` between one point and the points of a block (formula at the top of `ksd`).
    #[inline(always)]
    fn stein<const INVERSE_ROOT: bool>(&self, products: &Products) -> Lanes {
        let e = self.kernel.exponent;
        let (first, second) = (-2.0 * e, -4.0 * e * (e - 1.0));
        let mut out = [0.0; LANES];
        for l in 0..LANES {
            let rho = self.kernel.c_squared + products.distance[l];
            let (power, inverse) = if INVERSE_ROOT {
                let root = inverse_root(rho);
                (root, root * root)
            } else {
                // Not `f64::powf`, whose last bit depends on the system's library.
                (libm::pow(rho, e), 1.0 / rho)
            };
            let slope = first * (products.along[l] + self.dim as f64);
            let bend = second * (products.distance[l] * inverse);
            out[l] = power * (products.scores[l] + inverse * (slope + bend));
        }
        out
    }
}

/// The three scalar products of which `k₀` is made, between one point and a block.
#[derive(Clone, Copy)]
struct Products {
    /// `|D|²`, as a sum of squared differences: nothing cancels for close or repeated points.
    distance: Lanes,
    /// `(b(x) − b(y))·D`.
    along: Lanes,
    /// `b(x)·b(y)`.
    scores: Lanes,
}

impl Products {
    const ZERO: Self = Self {
        distance: [0.0; LANES],
        along: [0.0; LANES],
        scores: [0.0; LANES],
    };

    #[inline(always)]
    fn new(own: &[(f64, f64)], block: &[Component]) -> Self {
        let mut out = Self::ZERO;
        for (&(x, b), other) in own.iter().zip(block) {
            for l in 0..LANES {
                let d = x - other.point[l];
                out.distance[l] += d * d;
                out.along[l] += (b - other.score[l]) * d;
                out.scores[l] += b * other.score[l];
            }
        }
        out
    }
}

#[inline(always)]
fn add(sum: &mut Lanes, terms: &Lanes) {
    for l in 0..LANES {
        sum[l] += terms[l];
    }
}

/// `1 / sqrt(x)` for normal positive `x`, within 2 ulp, from multiplications alone.
///
/// Several times the throughput of a square root and a division, which would take half of the
/// whole time. The first guess halves the exponent (relative error below 0.0343, Lomont 2003); a
/// Newton step turns an error ε into 3ε²/2, so that four steps leave only rounding.
#[inline(always)]
pub(super) fn inverse_root(x: f64) -> f64 {
    let half = 0.5 * x;
    let mut y = f64::from_bits(0x5fe6_eb50_c7b5_37a9 - (x.to_bits() >> 1));
    for _ in 0..4 {
        y *= 1.5 - (half * y) * y;
    }
    y
}
