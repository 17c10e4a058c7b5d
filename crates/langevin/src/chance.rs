//! The random numbers of blocks of steps: the noise, and the rows of the minibatches.
//!
//! A chain draws from eight strands, each a generator of its own. A strand serves eight steps, then
//! the next has its turn. Chains in lanes all draw from the same strand at a time; a chain that is
//! alone has its strands in lanes instead, draws 64 steps at once, and gets the same numbers.

use crate::batch::{BatchSampler, Gradient};
use crate::real::{BitLanes, Isa, Kernel, Lanes, Real};
use crate::rng::{Rng, STRANDS, Stream};

/// Steps that a strand serves in a turn.
const TURN: usize = 8;
/// Steps until the first strand has its turn again.
const ROUND: usize = STRANDS * TURN;
/// Most steps in a block of chains in lanes.
const LONGEST_BLOCK: usize = 128;

/// Draws block after block for the chains of one pack.
pub(crate) struct Chance<L: Lanes> {
    n_noise: usize,
    batch_size: usize,
    block_len: usize,
    noise: Vec<L>,
    rows: Vec<L::Bits>,
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
            noise_strands: strands(Stream::Noise),
            batch_strands: strands(Stream::Batch),
            batches,
            step: 0,
        }
    }

    /// Number of steps in a block.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// Number of rows in a minibatch; 0 where the gradient is exact.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// The normal numbers of step `i` of the block.
    #[inline(always)]
    pub fn noise(&self, i: usize) -> &[L] {
        &self.noise[i * self.n_noise..(i + 1) * self.n_noise]
    }

    /// The rows of step `i` of the block.
    #[inline(always)]
    pub fn rows(&self, i: usize) -> &[L::Bits] {
        &self.rows[i * self.batch_size..(i + 1) * self.batch_size]
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

impl<S: Lanes> Kernel for RowsRound<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        type Words<L> = <<L as Lanes>::Octet as Lanes>::Bits;
        let size = self.batches.batch_size();
        let len = self.out.len() / STRANDS;
        let mut rng = Rng::<L::Octet>::joined(self.strands);
        let mut small = [Words::<L>::of(0); 64];
        let mut large = vec![];
        // As many batches at once as fit.
        let some = (small.len() / size).min(TURN) * size;
        let some = if some > 0 {
            &mut small[..some]
        } else {
            large.resize(size, Words::<L>::of(0));
            &mut large
        };
        for first in (0..len).step_by(some.len()) {
            let left = (len - first).min(some.len());
            let some = &mut some[..left];
            self.batches.fill::<L::Octet>(&mut rng, some);
            for (k, words) in Words::<L>::words(some).chunks_exact(STRANDS).enumerate() {
                for (strand, word) in words.iter().enumerate() {
                    self.out[strand * len + first + k] = *word;
                }
            }
        }
        rng.part(self.strands);
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
