//! Gradient estimators: exact, or from minibatches drawn for each chain by itself.

use crate::real::{BitLanes, Lanes};
use crate::rng::Rng;
use crate::{Error, Result};

/// How the score is estimated at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// From all data.
    Exact,
    /// From `batch_size` rows, drawn anew at each step and for each chain: rows shared between
    /// chains would correlate the chains and spoil every error bar.
    Minibatch {
        /// Number n of rows.
        batch_size: usize,
        /// Whether the same row can be drawn twice in one batch.
        with_replacement: bool,
    },
}

impl Gradient {
    /// Minibatches without replacement.
    pub fn minibatch(batch_size: usize) -> Self {
        Gradient::Minibatch {
            batch_size,
            with_replacement: false,
        }
    }

    /// Number of rows per step; 0 for the exact gradient.
    pub fn batch_size(&self) -> usize {
        match *self {
            Gradient::Exact => 0,
            Gradient::Minibatch { batch_size, .. } => batch_size,
        }
    }

    /// Refuses batches that cannot be drawn from `n_data` rows.
    pub fn check(&self, n_data: usize) -> Result<()> {
        match *self {
            Gradient::Exact => Ok(()),
            Gradient::Minibatch { .. } if n_data == 0 => Err(Error::NoData),
            Gradient::Minibatch { batch_size, .. } if batch_size == 0 || batch_size > n_data => {
                Err(Error::BatchSize { batch_size, n_data })
            }
            Gradient::Minibatch { .. } if n_data as u64 >= 1 << 32 => {
                Err(Error::TooManyData { n_data })
            }
            Gradient::Minibatch { .. } => Ok(()),
        }
    }
}

/// Up to this many rows, one random word serves two picks; the probability of a row is then off by
/// less than 10⁻⁶ of itself, and by less than 10⁻⁹ beyond.
const TWO_PICKS_PER_WORD: u64 = 4096;

/// Draws the rows of minibatches, one set per lane.
#[derive(Clone, Copy, Debug)]
pub struct BatchSampler {
    batch_size: usize,
    n_data: u64,
    with_replacement: bool,
}

impl BatchSampler {
    /// For a checked gradient; `None` where no rows are drawn.
    pub fn new(gradient: Gradient, n_data: usize) -> Option<Self> {
        match gradient {
            Gradient::Exact => None,
            Gradient::Minibatch {
                batch_size,
                with_replacement,
            } => Some(BatchSampler {
                batch_size,
                n_data: n_data as u64,
                with_replacement,
            }),
        }
    }

    /// Number of rows in a batch.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Fills `out` with the rows of one batch after the other.
    #[inline(always)]
    pub fn fill<L: Lanes>(&self, rng: &mut Rng<L>, out: &mut [L::Bits]) {
        for batch in out.chunks_exact_mut(self.batch_size) {
            if self.with_replacement {
                self.uniform::<L>(rng, batch, |_| self.n_data);
            } else {
                self.distinct::<L>(rng, batch);
            }
        }
    }

    /// Independent numbers, the k-th uniform below `bound(k)`.
    #[inline(always)]
    fn uniform<L: Lanes>(
        &self,
        rng: &mut Rng<L>,
        out: &mut [L::Bits],
        bound: impl Fn(usize) -> u64,
    ) {
        if self.n_data <= TWO_PICKS_PER_WORD {
            let mut word = L::Bits::of(0);
            for (k, out) in out.iter_mut().enumerate() {
                word = if k % 2 == 0 {
                    rng.next_word()
                } else {
                    word >> 32
                };
                *out = word.mul_low(L::Bits::of(bound(k))) >> 32;
            }
        } else {
            for (k, out) in out.iter_mut().enumerate() {
                let word = rng.next_word();
                let bound = L::Bits::of(bound(k));
                let low = word.mul_low(bound) >> 32;
                *out = ((word >> 32).mul_low(bound) + low) >> 32;
            }
        }
    }

    /// A uniformly random set of distinct rows by Floyd's algorithm (Bentley and Floyd, 1987): no
    /// shuffle, no rejection. The j-th pick t is uniform on 0..=N−n+j; if t is already in the set,
    /// N−n+j is taken instead.
    #[inline(always)]
    fn distinct<L: Lanes>(&self, rng: &mut Rng<L>, out: &mut [L::Bits]) {
        let base = self.n_data - self.batch_size as u64;
        self.uniform::<L>(rng, out, |k| base + k as u64 + 1);
        let one = L::Bits::of(1);
        for k in 1..out.len() {
            let pick = out[k];
            // Subtracting 1 sets the top bit of a difference that is 0, and of no other.
            let mut taken = L::Bits::of(0);
            for earlier in &out[..k] {
                taken = taken | ((pick ^ *earlier) - one);
            }
            let last = L::from_bits(L::Bits::of(base + k as u64));
            out[k] = L::if_top_bit(taken, last, L::from_bits(pick)).to_bits();
        }
    }
}
