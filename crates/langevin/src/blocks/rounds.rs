//! Rounds of random numbers for a chain that is alone: its eight strands are in lanes.

use super::TURN;
use crate::batch::BatchSampler;
use crate::real::{BitLanes, Kernel, Lanes, Real};
use crate::rng::{Rng, STRANDS};
use crate::target::Sums;

/// A round of numbers for one chain.
pub(super) struct NumbersRound<'a, const NORMAL: bool> {
    pub strands: &'a mut [[u64; 4]; STRANDS],
    /// The numbers of one strand after those of another.
    pub out: &'a mut [f64],
}

impl<const NORMAL: bool> Kernel for NumbersRound<'_, NORMAL> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let len = self.out.len() / STRANDS;
        let mut rng = Rng::<L::Octet>::from_states(self.strands);
        for i in (0..len).step_by(STRANDS) {
            let mut square = [L::Octet::zero(); STRANDS];
            match NORMAL {
                true => rng.fill_normals(&mut square),
                false => rng.fill_uniforms(&mut square),
            }
            L::Octet::transpose(&mut square);
            for (strand, numbers) in square.iter().enumerate() {
                numbers.store(&mut self.out[strand * len + i..]);
            }
        }
        rng.states(self.strands);
    }
}

/// A round of minibatches for one chain.
pub(super) struct RowsRound<'a> {
    pub strands: &'a mut [[u64; 4]; STRANDS],
    pub batches: &'a mut BatchSampler,
    /// The rows of one strand after those of another.
    pub out: &'a mut [u64],
}

/// Packs of words, a strand in each lane.
type Words<L> = <<L as Lanes>::Octet as Lanes>::Bits;

impl Kernel for RowsRound<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let size = self.batches.batch_size();
        let len = self.out.len() / STRANDS;
        let mut rng = Rng::<L::Octet>::from_states(self.strands);
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
        rng.states(self.strands);
    }
}

/// The sums of a round of minibatches for one chain.
pub(super) struct SumsRound<'a, T> {
    pub strands: &'a mut [[u64; 4]; STRANDS],
    pub batches: &'a mut BatchSampler,
    pub target: &'a T,
    /// The sums of one strand after those of another.
    pub out: &'a mut [f64],
}

impl<T: Sums> Kernel for SumsRound<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (size, n_sums) = (self.batches.batch_size(), self.target.n_sums());
        let len = TURN * n_sums;
        let mut rng = Rng::<L::Octet>::from_states(self.strands);
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
        rng.states(self.strands);
    }
}

/// Entries on the stack if they are few.
struct Space<T, const ON_STACK: usize> {
    stack: [T; ON_STACK],
    heap: Vec<T>,
    len: usize,
}

impl<T: Copy, const ON_STACK: usize> Space<T, ON_STACK> {
    #[inline(always)]
    fn new(len: usize, value: T) -> Self {
        let heap = if len > ON_STACK {
            vec![value; len]
        } else {
            vec![]
        };
        Space {
            stack: [value; ON_STACK],
            heap,
            len,
        }
    }

    #[inline(always)]
    fn get(&mut self) -> &mut [T] {
        if self.len > ON_STACK {
            &mut self.heap
        } else {
            &mut self.stack[..self.len]
        }
    }
}
