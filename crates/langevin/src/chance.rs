//! The random numbers of blocks of steps: the noise, and the rows of the minibatches.
//!
//! A chain draws from eight strands, each a generator of its own. A strand serves eight steps, then
//! the next has its turn. Chains in lanes all draw from the same strand at a time; a chain that is
//! alone has its strands in lanes instead, draws 64 steps at once, and gets the same numbers. Where
//! its target needs no more of a minibatch than sums over its rows, these are made in lanes as well.

use crate::batch::{BatchSampler, Gradient};
use crate::real::{BitLanes, Isa, Kernel, Lanes, Real};
use crate::rng::{Rng, STRANDS, Stream};
use crate::target::Target;

/// Steps that a strand serves in a turn.
const TURN: usize = 8;
/// Steps until the first strand has its turn again.
const ROUND: usize = STRANDS * TURN;
// The numbers of a turn are turned into their order by squares of strands.
const _: () = assert!(TURN.is_multiple_of(STRANDS));
/// Most steps in a block of chains in lanes.
const LONGEST_BLOCK: usize = 128;

/// Draws block after block for the chains of one pack.
pub(crate) struct Chance<L: Lanes> {
    n_noise: usize,
    batch_size: usize,
    block_len: usize,
    noise: Vec<L>,
    rows: Vec<L::Bits>,
    /// Sums in place of rows; 0 where rows are kept.
    n_sums: usize,
    sums: Vec<L>,
    noise_strands: [Rng<L>; STRANDS],
    batch_strands: [Rng<L>; STRANDS],
    batches: Option<BatchSampler>,
    /// Number of the first step of the next block.
    step: usize,
}

impl<L: Lanes> Chance<L> {
    /// For a checked gradient; blocks have about `block_len` steps.
    pub fn new(
        seed: u64,
        first_chain: u64,
        gradient: Gradient,
        n_noise: usize,
        n_data: usize,
        block_len: usize,
    ) -> Self {
        let batches = BatchSampler::new(gradient, n_data);
        let batch_size = batches.as_ref().map_or(0, BatchSampler::batch_size);
        // Turns or whole parts of them, which take an even number of normal numbers.
        let block_len = match L::WIDTH {
            1 => block_len.next_multiple_of(ROUND),
            _ => 1 << block_len.clamp(2, LONGEST_BLOCK).ilog2(),
        };
        let strands = |stream| std::array::from_fn(|s| Rng::strand(seed, first_chain, stream, s));
        Chance {
            n_noise,
            batch_size,
            block_len,
            noise: vec![L::zero(); block_len * n_noise],
            rows: vec![L::Bits::of(0); block_len * batch_size],
            n_sums: 0,
            sums: vec![],
            noise_strands: strands(Stream::Noise),
            batch_strands: strands(Stream::Batch),
            batches,
            step: 0,
        }
    }

    /// For a chain that is alone: keeps so many sums over each minibatch in place of its rows.
    /// [`fill_sums`](Self::fill_sums) then has to follow each [`fill`](Self::fill).
    pub fn with_sums(mut self, n_sums: usize) -> Self {
        let drawn_at_once = self.batches.as_ref().is_some_and(|b| !b.remembers());
        if L::WIDTH == 1 && drawn_at_once && n_sums > 0 {
            self.n_sums = n_sums;
            self.sums = vec![L::zero(); self.block_len * n_sums];
            self.rows = vec![];
        }
        self
    }

    /// Number of steps in a block.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// Number of rows in a minibatch; 0 where the gradient is exact.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Whether there are sums in place of rows.
    #[inline(always)]
    pub fn has_sums(&self) -> bool {
        L::WIDTH == 1 && self.n_sums > 0
    }

    /// The normal numbers of step `i` of the block.
    #[inline(always)]
    pub fn noise(&self, i: usize) -> &[L] {
        &self.noise[i * self.n_noise..(i + 1) * self.n_noise]
    }

    /// The rows of step `i` of the block; they must have been kept.
    #[inline(always)]
    pub fn rows(&self, i: usize) -> &[L::Bits] {
        &self.rows[i * self.batch_size..(i + 1) * self.batch_size]
    }

    /// The sums of step `i` of the block; none where rows are kept.
    #[inline(always)]
    pub fn sums(&self, i: usize) -> &[L] {
        &self.sums[i * self.n_sums..(i + 1) * self.n_sums]
    }

    /// Draws the next block.
    #[inline(always)]
    pub fn fill(&mut self) {
        if L::WIDTH == 1 {
            self.fill_rounds();
        } else {
            self.fill_turns();
        }
        self.step += self.block_len;
    }

    /// Draws the minibatches of the next block and keeps the sums that the target asks for.
    #[inline(always)]
    pub fn fill_sums(&mut self, target: &impl Target) {
        if self.has_sums() {
            self.fill_rounds_of_sums(target);
        }
    }

    /// One strand after the other, for all chains.
    #[inline(always)]
    fn fill_turns(&mut self) {
        let turn = TURN.min(self.block_len);
        for first in (0..self.block_len).step_by(turn) {
            let strand = (self.step + first) / TURN % STRANDS;
            let mut rng = self.noise_strands[strand];
            let steps = first * self.n_noise..(first + turn) * self.n_noise;
            rng.fill_normals(&mut self.noise[steps]);
            self.noise_strands[strand] = rng;
            if let Some(batches) = &mut self.batches {
                let mut rng = self.batch_strands[strand];
                let steps = first * self.batch_size..(first + turn) * self.batch_size;
                batches.fill::<L>(&mut rng, &mut self.rows[steps]);
                self.batch_strands[strand] = rng;
            }
        }
    }

    /// All strands at once, for one chain.
    #[inline(never)]
    fn fill_rounds(&mut self) {
        let isa = Isa::detect();
        let width = isa.width().min(STRANDS);
        for noise in self.noise.chunks_exact_mut(ROUND * self.n_noise) {
            let round = NoiseRound {
                strands: &mut self.noise_strands,
                out: L::numbers_mut(noise),
            };
            isa.run(width, round);
        }
        let Some(batches) = &mut self.batches else {
            return;
        };
        // (No rows are kept where there are sums.)
        for rows in self.rows.chunks_exact_mut(ROUND * self.batch_size) {
            if batches.remembers() {
                let turns = rows.chunks_exact_mut(TURN * self.batch_size);
                for (strand, rows) in self.batch_strands.iter_mut().zip(turns) {
                    batches.fill::<L>(strand, rows);
                }
            } else {
                let round = RowsRound {
                    strands: &mut self.batch_strands,
                    batches,
                    out: L::Bits::words_mut(rows),
                };
                isa.run(width, round);
            }
        }
    }

    /// All strands at once, for one chain.
    #[inline(never)]
    fn fill_rounds_of_sums(&mut self, target: &impl Target) {
        let isa = Isa::detect();
        let width = isa.width().min(STRANDS);
        let Some(batches) = &mut self.batches else {
            return;
        };
        for sums in self.sums.chunks_exact_mut(ROUND * self.n_sums) {
            let round = SumsRound {
                strands: &mut self.batch_strands,
                batches,
                target,
                n_sums: self.n_sums,
                out: L::numbers_mut(sums),
            };
            isa.run(width, round);
        }
    }
}

/// A round of normal numbers for one chain.
struct NoiseRound<'a, S: Lanes> {
    strands: &'a mut [Rng<S>; STRANDS],
    /// The numbers of one strand after those of another.
    out: &'a mut [f64],
}

impl<S: Lanes> Kernel for NoiseRound<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let len = self.out.len() / STRANDS;
        let mut rng = Rng::<L::Octet>::joined(self.strands);
        for i in (0..len).step_by(STRANDS) {
            let mut square = [L::Octet::zero(); STRANDS];
            rng.fill_normals(&mut square);
            L::Octet::transpose(&mut square);
            for (strand, numbers) in square.iter().enumerate() {
                numbers.store(&mut self.out[strand * len + i..]);
            }
        }
        rng.part(self.strands);
    }
}

/// A round of minibatches for one chain.
struct RowsRound<'a, S: Lanes> {
    strands: &'a mut [Rng<S>; STRANDS],
    batches: &'a mut BatchSampler,
    /// The rows of one strand after those of another.
    out: &'a mut [u64],
}

/// Packs of words, a strand in each lane.
type Words<L> = <<L as Lanes>::Octet as Lanes>::Bits;

impl<S: Lanes> Kernel for RowsRound<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let size = self.batches.batch_size();
        let len = self.out.len() / STRANDS;
        let mut rng = Rng::<L::Octet>::joined(self.strands);
        // So many batches have a multiple of eight rows.
        let some = (STRANDS >> size.trailing_zeros().min(3)) * size;
        let mut some = Space::<Words<L>, 64>::new(some, Words::<L>::of(0));
        let some = some.get();
        for first in (0..len).step_by(some.len()) {
            self.batches.fill::<L::Octet>(&mut rng, some);
            for (k, words) in some.as_chunks::<STRANDS>().0.iter().enumerate() {
                let mut square = words.map(L::Octet::from_bits);
                L::Octet::transpose(&mut square);
                for (strand, numbers) in square.iter().enumerate() {
                    let at = strand * len + first + k * STRANDS;
                    numbers.to_bits().store(&mut self.out[at..]);
                }
            }
        }
        rng.part(self.strands);
    }
}

/// The sums of a round of minibatches for one chain.
struct SumsRound<'a, S: Lanes, T> {
    strands: &'a mut [Rng<S>; STRANDS],
    batches: &'a mut BatchSampler,
    target: &'a T,
    n_sums: usize,
    /// The sums of one strand after those of another.
    out: &'a mut [f64],
}

impl<S: Lanes, T: Target> Kernel for SumsRound<'_, S, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (size, n_sums) = (self.batches.batch_size(), self.n_sums);
        let len = TURN * n_sums;
        let mut rng = Rng::<L::Octet>::joined(self.strands);
        let mut rows = Space::<Words<L>, 16>::new(size, Words::<L>::of(0));
        let mut sums = Space::<L::Octet, 32>::new(len, L::Octet::zero());
        let mut scratch = Space::<L::Octet, 8>::new(self.target.scratch_len(), L::Octet::zero());
        let (rows, sums, scratch) = (rows.get(), sums.get(), scratch.get());
        for sums in sums.chunks_exact_mut(n_sums) {
            self.batches.fill::<L::Octet>(&mut rng, rows);
            self.target.batch_sums(rows, scratch, sums);
        }
        for (k, sums) in sums.as_chunks_mut::<STRANDS>().0.iter_mut().enumerate() {
            L::Octet::transpose(sums);
            for (strand, numbers) in sums.iter().enumerate() {
                numbers.store(&mut self.out[strand * len + k * STRANDS..]);
            }
        }
        rng.part(self.strands);
    }
}

/// Entries on the stack if they are few.
struct Space<T, const FEW: usize> {
    few: [T; FEW],
    many: Vec<T>,
    len: usize,
}

impl<T: Copy, const FEW: usize> Space<T, FEW> {
    #[inline(always)]
    fn new(len: usize, value: T) -> Self {
        let many = if len > FEW { vec![value; len] } else { vec![] };
        Space {
            few: [value; FEW],
            many,
            len,
        }
    }

    #[inline(always)]
    fn get(&mut self) -> &mut [T] {
        if self.len > FEW {
            &mut self.many
        } else {
            &mut self.few[..self.len]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_steps_share_their_numbers() {
        let mut chance = Chance::<f64>::new(1, 0, Gradient::minibatch(40), 3, 1 << 20, 128);
        let mut noise = vec![];
        let mut rows = vec![];
        for _ in 0..2 {
            chance.fill();
            for i in 0..chance.block_len() {
                noise.push(chance.noise(i)[0].to_bits());
                rows.push(chance.rows(i)[0].0);
            }
        }
        for mut numbers in [noise, rows] {
            let n = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            // Of 256 rows out of a million, two are the same by chance in 3 runs of 100.
            assert!(numbers.len() >= n - 1, "{} of {n}", numbers.len());
        }
    }
}
