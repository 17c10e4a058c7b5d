//! Gradient estimators: exact, or from minibatches drawn for each chain by itself.

use crate::real::{BitLanes, Lanes};
use crate::rng::Rng;
use crate::{Error, Result};

/// How the score is estimated at each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// Up to this many rows, one random word serves four picks: the fraction that a pick leaves over is
/// the next one's random number. The probability of a row is then off by less than 10⁻⁶ of itself.
const FOUR_PICKS_PER_WORD: u64 = 64;

/// Up to this many rows, one random word serves two picks; probabilities are off by less than 10⁻⁶
/// of themselves, and by less than 10⁻⁹ beyond.
const TWO_PICKS_PER_WORD: u64 = 4096;

/// Rows of larger batches are drawn by shuffling; up to here comparing each with each is faster.
const LARGEST_COMPARED: usize = 64;

/// Below this size, packing picks costs more than it saves.
const SMALLEST_PACKED: usize = 12;

/// Four picks share a word when picks are compared.
const PICKS_PER_WORD: usize = 4;
/// Largest number of rows whose picks can: the largest field stands for none.
const EMPTY: u64 = 0x7FFF;
/// Times this, a field is in all four places.
const IN_ALL_FIELDS: u64 = 0x0001_0001_0001_0001;

/// Draws the rows of minibatches, one set per lane.
#[derive(Clone, Debug)]
pub struct BatchSampler {
    n_data: u64,
    /// Pick k is uniform below `bounds[k]`.
    bounds: Vec<u64>,
    /// What Floyd's algorithm takes instead of a pick that it has already.
    instead: Vec<u64>,
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
        let n = n_data as u64;
        let base = n - batch_size as u64;
        let picks = 0..batch_size as u64;
        let bounds = picks.map(|k| match method {
            Method::WithReplacement => n,
            Method::Packed | Method::Wide => base + k + 1,
            Method::Shuffle(_) => n - k,
        });
        let bounds: Vec<u64> = bounds.collect();
        let instead = bounds.iter().map(|bound| match method {
            Method::Packed => (bound - 1) * IN_ALL_FIELDS,
            _ => bound - 1,
        });
        Some(BatchSampler {
            n_data: n,
            instead: instead.collect(),
            bounds,
            method,
        })
    }

    /// Number of rows in a batch.
    pub fn batch_size(&self) -> usize {
        self.bounds.len()
    }

    /// Whether a batch depends on the batches before it, and not on its random numbers alone.
    pub(crate) fn remembers(&self) -> bool {
        matches!(self.method, Method::Shuffle(_))
    }

    /// Where the shuffles of all lanes left off, one lane after the other; nothing before the first.
    pub(crate) fn permutations(&self) -> &[u32] {
        match &self.method {
            Method::Shuffle(permutations) => permutations,
            _ => &[],
        }
    }

    /// Goes on from permutations that were left off.
    pub(crate) fn with_permutations(mut self, given: Vec<u32>) -> Self {
        if let Method::Shuffle(permutations) = &mut self.method {
            *permutations = given;
        }
        self
    }

    /// Random words that a batch takes.
    pub(crate) fn words_per_batch(&self) -> usize {
        self.batch_size()
            .div_ceil(picks_per_word(self.n_data, self.batch_size()))
    }

    /// Fills `out` with the rows of one batch after the other.
    #[inline(always)]
    pub fn fill<L: Lanes>(&mut self, rng: &mut Rng<L>, out: &mut [L::Bits]) {
        match (&self.method, self.bounds.len()) {
            // Sizes of the paper's examples.
            (Method::Wide, 2) => self.fill_known::<L, 2>(rng, out),
            (Method::Wide, 6) => self.fill_known::<L, 6>(rng, out),
            (Method::Wide, 10) => self.fill_known::<L, 10>(rng, out),
            _ => self.fill_any(rng, out),
        }
    }

    /// Batches of a size that the compiler knows: it keeps their rows in registers.
    #[inline(always)]
    fn fill_known<L: Lanes, const N: usize>(&self, rng: &mut Rng<L>, out: &mut [L::Bits]) {
        let (bounds, instead) = (&self.bounds[..N], &self.instead[..N]);
        for batch in out.as_chunks_mut::<N>().0 {
            let mut rows = [L::Bits::of(0); N];
            uniform::<L>(rng, self.n_data, bounds, &mut rows);
            make_distinct::<L>(instead, &mut rows);
            *batch = rows;
        }
    }

    #[inline(always)]
    fn fill_any<L: Lanes>(&mut self, rng: &mut Rng<L>, out: &mut [L::Bits]) {
        let size = self.bounds.len();
        for pair in out.chunks_mut(2 * size) {
            for batch in pair.chunks_exact_mut(size) {
                uniform::<L>(rng, self.n_data, &self.bounds, batch);
            }
            match &mut self.method {
                Method::WithReplacement => {}
                Method::Packed if pair.len() > size => {
                    make_distinct_packed::<L, 2>(&self.instead, pair);
                }
                Method::Packed => make_distinct_packed::<L, 1>(&self.instead, pair),
                Method::Wide => {
                    for batch in pair.chunks_exact_mut(size) {
                        make_distinct::<L>(&self.instead, batch);
                    }
                }
                Method::Shuffle(permutations) => {
                    for batch in pair.chunks_exact_mut(size) {
                        shuffle::<L>(self.n_data, permutations, batch);
                    }
                }
            }
        }
    }
}

/// Picks that one random word serves.
#[inline(always)]
fn picks_per_word(n_data: u64, batch_size: usize) -> usize {
    match n_data {
        0..=FOUR_PICKS_PER_WORD if batch_size > 2 => 4,
        0..=TWO_PICKS_PER_WORD => 2,
        _ => 1,
    }
}

/// Independent numbers, the k-th uniform below `bounds[k]`.
#[inline(always)]
fn uniform<L: Lanes>(rng: &mut Rng<L>, n_data: u64, bounds: &[u64], out: &mut [L::Bits]) {
    // (Bounds are read from memory each time: the multiplication does it on the way.)
    let picks = picks_per_word(n_data, out.len());
    if picks == 4 {
        for (four, bounds) in out.chunks_mut(4).zip(bounds.chunks(4)) {
            let word = rng.next_word();
            for i in 0..2 {
                if let Some(first) = four.get_mut(2 * i) {
                    let half = if i == 0 { word } else { word >> 32 };
                    let product = half.mul_low(L::Bits::of(bounds[2 * i]));
                    *first = product >> 32;
                    if let Some(second) = four.get_mut(2 * i + 1) {
                        *second = product.mul_low(L::Bits::of(bounds[2 * i + 1])) >> 32;
                    }
                }
            }
        }
    } else if picks == 2 {
        for (pair, bounds) in out.chunks_mut(2).zip(bounds.chunks(2)) {
            let word = rng.next_word();
            pair[0] = word.mul_low(L::Bits::of(bounds[0])) >> 32;
            if let Some(second) = pair.get_mut(1) {
                *second = (word >> 32).mul_low(L::Bits::of(bounds[1])) >> 32;
            }
        }
    } else {
        for (out, bound) in out.iter_mut().zip(bounds) {
            let word = rng.next_word();
            let bound = L::Bits::of(*bound);
            let low = word.mul_low(bound) >> 32;
            *out = ((word >> 32).mul_low(bound) + low) >> 32;
        }
    }
}

/// A uniformly random set of distinct rows by Floyd's algorithm (Bentley and Floyd, 1987): no
/// rejection, so that lanes stay together. The k-th pick is uniform on 0..=base+k; if it is
/// already in the set, base+k is taken instead.
#[inline(always)]
fn make_distinct<L: Lanes>(instead: &[u64], picks: &mut [L::Bits]) {
    for k in 1..picks.len() {
        let pick = picks[k];
        let mut new = L::everywhere();
        for earlier in &picks[..k] {
            new = L::unequal(new, pick, *earlier);
        }
        picks[k] = L::choose(new, pick, L::Bits::of(instead[k]));
    }
}

/// The same with four earlier picks compared at once, in fields of 16 bits. `B` batches, which lie one
/// after the other, are treated side by side: within a batch each pick waits for the one before.
#[inline(always)]
fn make_distinct_packed<L: Lanes, const B: usize>(instead: &[u64], picks: &mut [L::Bits]) {
    let size = instead.len();
    let empty = L::Bits::of(EMPTY * IN_ALL_FIELDS);
    let mut full = [[empty; B]; LARGEST_COMPARED / PICKS_PER_WORD];
    for (group, instead) in instead.chunks(PICKS_PER_WORD).enumerate() {
        // What a pick is compared with last is in a register.
        let mut open = [empty; B];
        for (i, instead) in instead.iter().enumerate() {
            let k = group * PICKS_PER_WORD + i;
            let mut all = [empty; B];
            let mut new = [L::all_fields(); B];
            for b in 0..B {
                let pick = picks[b * size + k];
                let pair = pick | (pick << 16);
                all[b] = pair | (pair << 32);
            }
            for words in &full[..group] {
                for b in 0..B {
                    new[b] = L::fields_unequal(new[b], all[b], words[b]);
                }
            }
            for b in 0..B {
                new[b] = L::fields_unequal(new[b], all[b], open[b]);
                let all = L::choose(L::whole_lanes(new[b]), all[b], L::Bits::of(*instead));
                picks[b * size + k] = all & L::Bits::of(EMPTY);
                // The field of an empty place has all its bits set.
                open[b] = open[b] & (all | L::Bits::of(!(EMPTY << (16 * i))));
            }
        }
        full[group] = open;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::real::Word;
    use crate::rng::Stream;

    #[test]
    fn batches_of_known_size_are_those_of_the_general_code() {
        for (size, n_data) in [(2, 10), (6, 30), (10, 400), (6, 5000)] {
            let mut sampler = BatchSampler::new(Gradient::minibatch(size), n_data).unwrap();
            let draw = |known: bool, sampler: &mut BatchSampler| {
                let mut rng = Rng::<f64>::new(1, 0, Stream::Batch);
                let mut rows = vec![Word(0); 200 * size];
                match known {
                    true => sampler.fill(&mut rng, &mut rows),
                    false => sampler.fill_any(&mut rng, &mut rows),
                }
                let rows: Vec<u64> = rows.iter().map(|row| row.0).collect();
                (rows, rng.state())
            };
            assert_eq!(draw(true, &mut sampler), draw(false, &mut sampler));
        }
    }

    #[test]
    fn batches_drawn_together_are_those_drawn_one_by_one() {
        // Two at once where picks are packed, and one that is left.
        for (size, n_data) in [(5, 10), (12, 30), (39, 400), (64, 20_000), (70, 300)] {
            let draw = |at_once: usize| {
                let mut sampler = BatchSampler::new(Gradient::minibatch(size), n_data).unwrap();
                let mut rng = Rng::<f64>::new(1, 0, Stream::Batch);
                let mut rows = vec![Word(0); 9 * size];
                for batches in rows.chunks_mut(at_once * size) {
                    sampler.fill(&mut rng, batches);
                }
                rows.iter().map(|row| row.0).collect::<Vec<_>>()
            };
            assert_eq!(draw(9), draw(1));
        }
    }
}
