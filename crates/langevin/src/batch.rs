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

/// Rows of larger batches are drawn by shuffling; up to here comparing each with each is faster.
const LARGEST_COMPARED: usize = 64;

/// Below this size, packing picks costs more than it saves.
const SMALLEST_PACKED: usize = 12;

/// Four picks share a word when picks are compared.
const PICKS_PER_WORD: usize = 4;
/// Largest number of rows whose picks can: the largest field stands for none.
const EMPTY: u64 = 0x7FFF;

/// Draws the rows of minibatches, one set per lane.
#[derive(Clone, Debug)]
pub struct BatchSampler {
    batch_size: usize,
    n_data: u64,
    method: Method,
}

#[derive(Clone, Debug)]
enum Method {
    /// Independent rows.
    WithReplacement,
    /// Floyd's algorithm, picks packed for the comparison.
    Packed,
    /// Floyd's algorithm, for few picks or more rows than fit into 15 bits.
    Wide,
    /// A partial Fisher–Yates shuffle of a permutation that each lane keeps: where it left off
    /// does not matter, since every swap is uniform.
    Shuffle(Vec<u32>),
}

impl BatchSampler {
    /// For a checked gradient; `None` where no rows are drawn.
    pub fn new(gradient: Gradient, n_data: usize) -> Option<Self> {
        let Gradient::Minibatch {
            batch_size,
            with_replacement,
        } = gradient
        else {
            return None;
        };
        let method = match (with_replacement, batch_size, n_data as u64) {
            (true, ..) => Method::WithReplacement,
            (_, 0..SMALLEST_PACKED, _) => Method::Wide,
            (_, 0..=LARGEST_COMPARED, 0..EMPTY) => Method::Packed,
            (_, 0..=LARGEST_COMPARED, _) => Method::Wide,
            _ => Method::Shuffle(vec![]),
        };
        Some(BatchSampler {
            batch_size,
            n_data: n_data as u64,
            method,
        })
    }

    /// Number of rows in a batch.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Fills `out` with the rows of one batch after the other.
    #[inline(always)]
    pub fn fill<L: Lanes>(&mut self, rng: &mut Rng<L>, out: &mut [L::Bits]) {
        let (n, size) = (self.n_data, self.batch_size);
        let base = n - size as u64;
        for batch in out.chunks_exact_mut(size) {
            match &mut self.method {
                Method::WithReplacement => uniform::<L>(rng, n, batch, n, 0),
                Method::Packed => {
                    uniform::<L>(rng, n, batch, base + 1, 1);
                    make_distinct_packed::<L>(base, batch);
                }
                Method::Wide => {
                    uniform::<L>(rng, n, batch, base + 1, 1);
                    make_distinct::<L>(base, batch);
                }
                Method::Shuffle(permutations) => {
                    uniform::<L>(rng, n, batch, n, u64::MAX);
                    shuffle::<L>(n, permutations, batch);
                }
            }
        }
    }
}

/// Independent numbers, the k-th uniform below `bound + k·growth` (wrapping).
#[inline(always)]
fn uniform<L: Lanes>(rng: &mut Rng<L>, n_data: u64, out: &mut [L::Bits], bound: u64, growth: u64) {
    let mut bound = L::Bits::of(bound);
    let growth = L::Bits::of(growth);
    if n_data <= TWO_PICKS_PER_WORD {
        for pair in out.chunks_mut(2) {
            let word = rng.next_word();
            pair[0] = word.mul_low(bound) >> 32;
            bound = bound + growth;
            if let Some(second) = pair.get_mut(1) {
                *second = (word >> 32).mul_low(bound) >> 32;
                bound = bound + growth;
            }
        }
    } else {
        for out in out {
            let word = rng.next_word();
            let low = word.mul_low(bound) >> 32;
            *out = ((word >> 32).mul_low(bound) + low) >> 32;
            bound = bound + growth;
        }
    }
}

/// A uniformly random set of distinct rows by Floyd's algorithm (Bentley and Floyd, 1987): no
/// rejection, so that lanes stay together. The k-th pick is uniform on 0..=base+k; if it is
/// already in the set, base+k is taken instead.
#[inline(always)]
fn make_distinct<L: Lanes>(base: u64, picks: &mut [L::Bits]) {
    for k in 1..picks.len() {
        let pick = picks[k];
        let mut new = L::everywhere();
        for earlier in &picks[..k] {
            new = L::unequal(new, pick, *earlier);
        }
        picks[k] = L::choose(new, pick, L::Bits::of(base + k as u64));
    }
}

/// The same with four earlier picks compared at once, in fields of 16 bits.
#[inline(always)]
fn make_distinct_packed<L: Lanes>(base: u64, picks: &mut [L::Bits]) {
    let in_all = |pick: u64| pick * 0x0001_0001_0001_0001;
    let mut packed = [L::Bits::of(in_all(EMPTY)); LARGEST_COMPARED / PICKS_PER_WORD];
    for k in 0..picks.len() {
        let pair = picks[k] | (picks[k] << 16);
        let pick = pair | (pair << 32);
        let mut new = L::all_fields();
        for word in &packed[..k.div_ceil(PICKS_PER_WORD)] {
            new = L::fields_unequal(new, pick, *word);
        }
        let last = L::Bits::of(in_all(base + k as u64));
        let pick = L::choose(L::whole_lanes(new), pick, last);
        picks[k] = pick & L::Bits::of(EMPTY);
        // The field of an empty place has all its bits set.
        let slot = &mut packed[k / PICKS_PER_WORD];
        let others = !(EMPTY << (16 * (k % PICKS_PER_WORD)));
        *slot = *slot & (pick | L::Bits::of(others));
    }
}

/// Swaps entry k of each lane's permutation with the entry `picks[k]` places further on, and puts
/// the new entry k into `picks[k]`.
///
/// Lane by lane: the ports that move single words are idle elsewhere.
#[inline(always)]
fn shuffle<L: Lanes>(n_data: u64, permutations: &mut Vec<u32>, picks: &mut [L::Bits]) {
    let n = n_data as usize;
    if permutations.is_empty() {
        permutations.extend((0..L::WIDTH).flat_map(|_| 0..n_data as u32));
    }
    let words = L::Bits::words_mut(picks);
    for (lane, permutation) in permutations.chunks_exact_mut(n).enumerate() {
        for (k, batch) in words.chunks_exact_mut(L::WIDTH).enumerate() {
            let other = k + batch[lane] as usize;
            permutation.swap(k, other);
            batch[lane] = u64::from(permutation[k]);
        }
    }
}
