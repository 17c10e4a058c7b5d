//! Row sums of the Stein kernel over all earlier points: the `n²/2` pairs, in lanes.
//!
//! Points come in blocks of [`BLOCK`], whatever the width of the processor's registers, and the
//! order of every sum is fixed, so that all processors and all numbers of threads give the same
//! bits.

use super::Kernel;
use super::pairs::{BLOCK, Differences, GROUP, Pairs, Products, Sums};
use crate::real::math::polynomial;
use crate::real::{BitLanes, Isa, Kernel as LaneKernel, Lanes, MAX_WIDTH};
use rayon::prelude::*;

/// Rows `i` that share one pass over the points `j`, so that a block of points stays in cache.
const TILE: usize = 64;
/// Rows whose products are kept until their powers of `ρ` follow.
const STRIP: usize = 32;
const _: () = assert!(TILE.is_multiple_of(STRIP) && STRIP.is_multiple_of(GROUP));

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
    level: (Isa, usize),
) -> Vec<Row> {
    match Sums::new(points, scores, dim, kernel) {
        Some(sums) => rows_of(&sums, points.len() / dim, kernel, level),
        None => {
            let differences = Differences::new(points, scores, dim, kernel);
            rows_of(&differences, points.len() / dim, kernel, level)
        }
    }
}

/// One [`Row`] for each of `n` points.
pub(super) fn rows_of(
    pairs: &impl Pairs,
    n: usize,
    kernel: Kernel,
    (isa, width): (Isa, usize),
) -> Vec<Row> {
    let mut rows = vec![
        Row {
            below: 0.0,
            diagonal: 0.0
        };
        n
    ];
    let exponent = kernel.exponent;
    // The longest rows first, so that no thread is left with them at the end.
    rows.par_chunks_mut(TILE)
        .enumerate()
        .rev()
        .for_each(|(tile, rows)| {
            let tile = Tile {
                pairs,
                exponent,
                first: tile * TILE,
                rows,
            };
            isa.run(width, tile);
        });
    rows
}

/// Rows `first..first + rows.len()`.
struct Tile<'a, P> {
    pairs: &'a P,
    exponent: f64,
    first: usize,
    rows: &'a mut [Row],
}

impl<P: Pairs> LaneKernel for Tile<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        if self.exponent == -0.5 {
            self.sum::<L, true>();
        } else {
            self.sum::<L, false>();
        }
    }
}

impl<P: Pairs> Tile<'_, P> {
    /// `INVERSE_ROOT` selects the exponent −1/2.
    ///
    /// For each pack of points there are two passes over the rows: the powers of `ρ` are a long
    /// chain of dependent operations, and in a loop of their own those of several rows overlap.
    #[inline(always)]
    fn sum<L: Lanes, const INVERSE_ROOT: bool>(self) {
        let (pairs, first, rows) = (self.pairs, self.first, self.rows);
        let n_rows = rows.len();
        let kernel = Kernel {
            c_squared: pairs.c_squared(),
            exponent: self.exponent,
        };
        let mut sums = [[0.0; BLOCK]; TILE];
        let mut products = [Products::<L>::zero(); STRIP];
        for block in 0..=(first + n_rows - 1) / BLOCK {
            for offset in (0..BLOCK).step_by(L::WIDTH) {
                for strip in (0..n_rows).step_by(STRIP) {
                    let products = &mut products[..STRIP.min(n_rows - strip)];
                    pairs.products(first + strip, block, offset, products);
                    for (r, products) in (strip..).zip(products) {
                        let (power, rest) = stein::<L, INVERSE_ROOT>(products, kernel);
                        let sum = &mut sums[r][offset..offset + L::WIDTH];
                        let added = power.mul_add(rest, L::load(sum));
                        // Lanes with j < i; the next one, if in this pack, is the diagonal j = i.
                        let start = block * BLOCK + offset;
                        let below = (first + r).saturating_sub(start);
                        if below >= L::WIDTH {
                            added.store(sum);
                        } else if first + r >= start {
                            let mut lanes = [0.0; MAX_WIDTH];
                            added.store(&mut lanes);
                            sum[..below].copy_from_slice(&lanes[..below]);
                            (power * rest).store(&mut lanes);
                            rows[r].diagonal = lanes[below] * pairs.factor();
                        }
                    }
                }
            }
        }
        for (row, lanes) in rows.iter_mut().zip(&sums) {
            row.below = lanes.iter().sum::<f64>() * pairs.factor();
        }
    }
}

/// `k₀ = ρ^e [b(x)·b(y) + (along (−2e) + 4e(e − 1) c²/ρ) / ρ]`, as its two factors: the formula at
/// the top of `ksd` with `|D|² = ρ − c²`.
#[inline(always)]
fn stein<L: Lanes, const INVERSE_ROOT: bool>(products: &Products<L>, kernel: Kernel) -> (L, L) {
    let e = kernel.exponent;
    let bend = L::of(4.0 * e * (e - 1.0) * kernel.c_squared);
    let (power, inverse, slope) = if INVERSE_ROOT {
        let root = inverse_root(products.rho);
        (root, root * root, products.along)
    } else {
        let power = (products.rho.ln() * e).exp();
        (power, products.rho.recip(), products.along * (-2.0 * e))
    };
    let rest = inverse.mul_add(inverse.mul_add(bend, slope), products.scores);
    (power, rest)
}

/// `1 / sqrt(x)` for normal positive `x`, within 2 ulp, from multiplications alone.
///
/// Several times the throughput of a square root and a division. The first guess halves the exponent
/// (Lomont 2003). It is off by a factor between 1.2247 and 1.2991, which one step of Newton's kind,
/// with a constant fitted to this range (as Kadlec's of 2010 for single precision), brings to 4.0179
/// within 6.5e-4. For this `y`, negative here, `z = x y²` is near 16.14, and `1/sqrt(x)` is `y` times
/// the best polynomial for `−1/sqrt(z)`, of relative error 6e-17.
#[inline(always)]
pub(super) fn inverse_root<L: Lanes>(x: L) -> L {
    const CENTRE: f64 = 16.143_745_422_363_28;
    let guess = L::from_bits(L::Bits::of(0x5fec_0000_0000_0000) - (x.to_bits() >> 1));
    let y = guess * (x * guess).mul_add(guess, L::of(-4.778_491_020_202_637));
    let z = (x * y).mul_add(y, L::of(-CENTRE));
    let root = polynomial(
        z,
        [
            -0.248_884_499_601_710_55,
            0.007_708_387_771_552_425,
            -0.000_358_113_354_578_496_03,
            1.848_569_116_901e-5,
            -1.001_934_844_219_459e-6,
        ],
    );
    y * root
}
