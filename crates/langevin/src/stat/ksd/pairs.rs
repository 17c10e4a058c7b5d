//! The three scalar products of which the Stein kernel of two points is made, in lanes.
//!
//! There are two ways to them. [`Differences`] loses no digit wherever the points are. [`Sums`] needs
//! three multiplications for each component where the former needs five operations, and is for
//! points that lie together.

use super::Kernel;
use crate::real::{Lanes, MAX_WIDTH};

/// Points `j` treated at once: the widest pack.
pub(super) const BLOCK: usize = MAX_WIDTH;

/// What `k₀` is made of, between one point and a pack of others. (Or with `½ aρ` more along and `a e`
/// more of the scores, whatever `a` is: `k₀` is the same.)
#[derive(Clone, Copy)]
pub(super) struct Products<L> {
    /// `ρ = c² + |D|²`.
    pub rho: L,
    /// `(b(x) − b(y))·D + d + 2(e − 1)`.
    pub along: L,
    /// `b(x)·b(y)`.
    pub scores: L,
}

impl<L: Lanes> Products<L> {
    #[inline(always)]
    pub fn zero() -> Self {
        Self {
            rho: L::zero(),
            along: L::zero(),
            scores: L::zero(),
        }
    }
}

/// Points laid out for the inner loops.
pub(super) trait Pairs: Sync {
    /// The length `c` of the kernel in the units in which the points are laid out, squared.
    fn c_squared(&self) -> f64;

    /// `k₀` in the units of the caller is this number times the one of the units laid out.
    fn factor(&self) -> f64;

    /// The products of the points `first..first + out.len()` with those of a block from `offset` on.
    /// `first` is a multiple of [`GROUP`].
    fn products<L: Lanes>(
        &self,
        first: usize,
        block: usize,
        offset: usize,
        out: &mut [Products<L>],
    );
}

/// `D = x − y` first, then its products: nothing cancels for close or repeated points.
pub(super) struct Differences {
    dim: usize,
    kernel: Kernel,
    /// `(coordinate, score)` pairs of each point: `dim` for point 0, `dim` for point 1, …
    own: Vec<(f64, f64)>,
    /// [block][component][coordinate or score][point of the block], zeros at the end.
    blocks: Vec<f64>,
}

impl Differences {
    pub fn new(points: &[f64], scores: &[f64], dim: usize, kernel: Kernel) -> Self {
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

impl Pairs for Differences {
    fn c_squared(&self) -> f64 {
        self.kernel.c_squared
    }

    fn factor(&self) -> f64 {
        1.0
    }

    #[inline(always)]
    fn products<L: Lanes>(
        &self,
        first: usize,
        block: usize,
        offset: usize,
        out: &mut [Products<L>],
    ) {
        let start = Products {
            rho: L::of(self.kernel.c_squared),
            along: L::of(along_start(self.dim, self.kernel)),
            scores: L::zero(),
        };
        let len = self.dim * 2 * BLOCK;
        let block = &self.blocks[block * len..(block + 1) * len];
        let own = self.own[first * self.dim..].chunks_exact(self.dim);
        for (out, own) in out.iter_mut().zip(own) {
            let mut products = start;
            for (&(x, b), other) in own.iter().zip(block.chunks_exact(2 * BLOCK)) {
                let (points, scores) = other.split_at(BLOCK);
                let (y, by) = (L::load(&points[offset..]), L::load(&scores[offset..]));
                let (x, b) = (L::of(x), L::of(b));
                let d = x - y;
                products.rho = d.mul_add(d, products.rho);
                products.along = (b - by).mul_add(d, products.along);
                products.scores = b.mul_add(by, products.scores);
            }
            *out = products;
        }
    }
}

/// The part of [`Products::along`] that does not depend on the points.
fn along_start(dim: usize, kernel: Kernel) -> f64 {
    dim as f64 + 2.0 * (kernel.exponent - 1.0)
}

/// Points whose sums are in registers at once: three for each, of two registers.
pub(super) const GROUP: usize = 4;

/// How far from their mean, in lengths `c`, points may lie for [`Sums`]. The errors of `ρ` relative
/// to `c²` and of the other two products relative to theirs are at most about `d ε REACH²`.
const REACH: f64 = 16.0;

/// Three scalar products without differences. With points and scores in units of `c`, points counted
/// from their mean, and `u = x + b(x)`,
///
/// ```text
/// ρ                     = 1 + |x|² + t                   t = |y|² − 2 x·y
/// b(x)·b(y) + e         = s                              s = e + b(x)·b(y)
/// (b(x) − b(y))·D + ½ ρ = b(x)·x + ½|x|² + ½ − e + r + s     r = b(y)·y + ½|y|² − u(x)·u(y)
/// ```
///
/// `k₀` is the same with `e` more in the one and `½ ρ` in the other, and `x·y` is then needed for `ρ`
/// alone.
pub(super) struct Sums {
    dim: usize,
    factor: f64,
    /// [group][component][−u, b or −2x][point of the group], zeros at the end.
    own: Vec<[[f64; GROUP]; 3]>,
    /// `b(x)·x + ½|x|² + ½ − e + d + 2(e − 1)` and `1 + |x|²` of each point, zeros at the end.
    own_starts: Vec<[f64; 2]>,
    /// [block][component][u, b or x][point of the block], zeros at the end.
    others: Vec<Three>,
    /// [block][where r, s and t start][point of the block].
    other_starts: Vec<Three>,
}

/// Numbers of a block's points, each kind from a cache line on: a pack that straddles two of them
/// takes twice the time to load.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Three([[f64; BLOCK]; 3]);

impl Three {
    const ZERO: Three = Three([[0.0; BLOCK]; 3]);

    #[inline(always)]
    fn load<L: Lanes>(&self, kind: usize, offset: usize) -> L {
        L::load(&self.0[kind][offset..])
    }
}

impl Sums {
    /// Nothing if the points do not lie together, or if numbers leave their range in units of `c`.
    pub fn new(points: &[f64], scores: &[f64], dim: usize, kernel: Kernel) -> Option<Self> {
        let (n, c) = (points.len() / dim, kernel.c());
        // b(x)·b(y) has the unit 1/c², and so have the other two terms; ρ^e is left.
        let factor = libm::pow(kernel.c_squared, kernel.exponent - 1.0);
        if !factor.is_normal() {
            return None;
        }
        let mut mean = vec![0.0; dim];
        for x in points.chunks_exact(dim) {
            for (mean, x) in mean.iter_mut().zip(x) {
                *mean += x / n as f64;
            }
        }
        let (n_groups, n_blocks) = (n.div_ceil(GROUP), n.div_ceil(BLOCK));
        let mut sums = Self {
            dim,
            factor,
            own: vec![[[0.0; GROUP]; 3]; n_groups * dim],
            own_starts: vec![[0.0; 2]; n_groups * GROUP],
            others: vec![Three::ZERO; n_blocks * dim],
            other_starts: vec![Three::ZERO; n_blocks],
        };
        for i in 0..n {
            let (mut square, mut slope, mut steepness) = (0.0, 0.0, 0.0);
            for k in 0..dim {
                let x = (points[i * dim + k] - mean[k]) / c;
                let b = scores[i * dim + k] * c;
                square += x * x;
                slope += b * x;
                steepness += b * b;
                let own = &mut sums.own[i / GROUP * dim + k];
                let other = &mut sums.others[i / BLOCK * dim + k].0;
                let factors = [(-(x + b), x + b), (b, b), (-2.0 * x, x)];
                for (p, (mine, theirs)) in factors.into_iter().enumerate() {
                    own[p][i % GROUP] = mine;
                    other[p][i % BLOCK] = theirs;
                }
            }
            if square.is_nan() || square > REACH * REACH || !f64::is_finite(steepness) {
                return None;
            }
            let e = kernel.exponent;
            let along = slope + 0.5 * square;
            let constant = along_start(dim, kernel) + 0.5 - e;
            sums.own_starts[i] = [along + constant, 1.0 + square];
            let starts = &mut sums.other_starts[i / BLOCK].0;
            for (starts, start) in starts.iter_mut().zip([along, e, square]) {
                starts[i % BLOCK] = start;
            }
        }
        Some(sums)
    }
}

impl Pairs for Sums {
    fn c_squared(&self) -> f64 {
        1.0
    }

    fn factor(&self) -> f64 {
        self.factor
    }

    #[inline(always)]
    fn products<L: Lanes>(
        &self,
        first: usize,
        block: usize,
        offset: usize,
        out: &mut [Products<L>],
    ) {
        let starts = &self.other_starts[block];
        let starts = [
            starts.load(0, offset),
            starts.load(1, offset),
            starts.load(2, offset),
        ];
        let others = &self.others[block * self.dim..][..self.dim];
        let own = self.own[first / GROUP * self.dim..].chunks_exact(self.dim);
        let own_starts = self.own_starts[first..].chunks_exact(GROUP);
        for ((out, own), own_starts) in out.chunks_mut(GROUP).zip(own).zip(own_starts) {
            let mut sums = [starts; GROUP];
            for (own, other) in own.iter().zip(others) {
                for p in 0..3 {
                    let other = other.load::<L>(p, offset);
                    for r in 0..GROUP {
                        sums[r][p] = other.mul_add(L::of(own[p][r]), sums[r][p]);
                    }
                }
            }
            for ((out, [r, s, t]), own) in out.iter_mut().zip(sums).zip(own_starts) {
                *out = Products {
                    rho: t + own[1],
                    along: r + own[0] + s,
                    scores: s,
                };
            }
        }
    }
}
