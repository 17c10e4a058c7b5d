//! Random numbers in lanes: each chain has its own streams, keyed by (seed, chain, purpose).
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2021) with the state of one chain in each
//! lane, so that a chain draws the same numbers alone and among others. Every consumer takes a
//! fixed number of words, whatever their values: there is no rejection, hence no branch and no
//! chain that waits for another.

use crate::real::{BitLanes, Lanes, MAX_WIDTH, Word, WordsToNumbers, math};

/// What a stream is used for; streams of different purposes are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The Brownian increments.
    Noise,
    /// The rows of the minibatches.
    Batch,
    /// The initial state.
    Start,
    /// Anything made before the run, such as random matrices or synthetic data.
    Setup,
    /// Uniform numbers of a step, such as those that accept or reject.
    Uniform,
    /// What all chains of a step share; the number of the step stands for that of the chain.
    Shared,
    /// What a transition draws when it begins, such as a momentum.
    Begin,
}

/// SplitMix64 (Steele, Lea and Flood, 2014): spreads a key over many well-mixed words.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }
}

fn mix(word: u64) -> u64 {
    let z = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Generators that a chain draws its steps from, in turn.
pub(crate) const STRANDS: usize = 8;

/// The 256-bit state that a strand of a (seed, chain, purpose) starts from; strand 0 is the stream
/// itself.
pub(crate) fn initial_state(seed: u64, chain: u64, stream: Stream, strand: u64) -> [u64; 4] {
    let mut from_seed = SplitMix(seed);
    let purpose = strand << 8 | stream as u64;
    let mut from_chain = SplitMix(mix(chain).wrapping_add(purpose));
    std::array::from_fn(|_| mix(from_seed.next() ^ from_chain.next().rotate_left(32)))
}

/// xoshiro256++ with one chain in each lane.
#[derive(Clone, Copy, Debug)]
pub struct Rng<L: Lanes> {
    s: [L::Bits; 4],
}

impl Rng<f64> {
    /// The stream of one chain.
    pub fn new(seed: u64, chain: u64, stream: Stream) -> Self {
        Rng::for_chains(seed, chain, stream)
    }

    /// A uniform number in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        unit_open::<f64>(self.next_word())
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        let mut pair = [0.0; 2];
        self.fill_normals(&mut pair);
        pair[0]
    }

    /// A Gamma number of the given shape (at least 1) and rate 1, by Marsaglia and Tsang (2000).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape - 1.0 / 3.0;
        let c = (9.0 * d).sqrt().recip();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// A fair sign, +1 or −1.
    pub fn sign(&mut self) -> f64 {
        if self.next_word().0 >> 63 == 0 {
            1.0
        } else {
            -1.0
        }
    }
}

impl<L: Lanes> Rng<L> {
    /// The streams of chains `first`, `first + 1`, …, one in each lane.
    pub fn for_chains(seed: u64, first: u64, stream: Stream) -> Self {
        let chain = |lane| first.wrapping_add(lane as u64);
        let state = |lane| initial_state(seed, chain(lane), stream, 0);
        Self::from_states(&std::array::from_fn::<_, MAX_WIDTH, _>(state)[..L::WIDTH])
    }

    /// The generators whose states are given, one in each lane; spare lanes repeat the last.
    #[inline(always)]
    pub(crate) fn from_states(states: &[[u64; 4]]) -> Self {
        let mut s = [L::Bits::of(0); 4];
        for i in 0..4 {
            let words = L::Bits::words_mut(std::slice::from_mut(&mut s[i]));
            for (lane, word) in words.iter_mut().enumerate() {
                *word = states[lane.min(states.len() - 1)][i];
            }
        }
        Rng { s }
    }

    /// The states of the generators in the first lanes.
    #[inline(always)]
    pub(crate) fn states(&self, out: &mut [[u64; 4]]) {
        for i in 0..4 {
            let words = L::Bits::words(std::slice::from_ref(&self.s[i]));
            for (state, word) in out.iter_mut().zip(words) {
                state[i] = *word;
            }
        }
    }

    /// The state of the chain in each lane.
    pub fn state(&self) -> [u64; 4]
    where
        L: Lanes<Bits = Word>,
    {
        self.s.map(|w| w.0)
    }

    /// The next 64 random bits in each lane.
    #[inline(always)]
    pub fn next_word(&mut self) -> L::Bits {
        let [s0, s1, s2, s3] = self.s;
        let word = (s0 + s3).rotate_left(23) + s0;
        let t = s1 << 17;
        let s2 = s2 ^ s0;
        let s3 = s3 ^ s1;
        let s1 = s1 ^ s2;
        let s0 = s0 ^ s3;
        self.s = [s0, s1, s2 ^ t, s3.rotate_left(45)];
        word
    }

    /// Fills `out` with independent uniform numbers in (0, 1); each takes a word.
    #[inline(always)]
    pub fn fill_uniforms(&mut self, out: &mut [L]) {
        for x in out {
            *x = unit_open(self.next_word());
        }
    }

    /// Fills `out` with independent standard normal numbers by the Box–Muller transform; each pair
    /// takes two words.
    ///
    /// The radius comes from 53 bits, u = (k + ½)/2⁵², so that tails reach to 8.5 standard
    /// deviations with full relative precision.
    #[inline(always)]
    pub fn fill_normals(&mut self, out: &mut [L]) {
        let mut pairs = out.chunks_exact_mut(2);
        for pair in &mut pairs {
            let (radius, angle) = (self.next_word(), self.next_word());
            (pair[0], pair[1]) = L::by_register::<BoxMuller>(radius, angle);
        }
        if let [last] = pairs.into_remainder() {
            let (radius, angle) = (self.next_word(), self.next_word());
            *last = L::by_register::<BoxMuller>(radius, angle).0;
        }
    }
}

/// Two independent normal numbers from two random words (Box and Muller, 1958).
///
/// One register at a time: there is work enough in a pair to fill the processor, and two would not
/// fit into its registers.
struct BoxMuller;

impl WordsToNumbers for BoxMuller {
    #[inline(always)]
    fn eval<L: Lanes>(radius: L::Bits, angle: L::Bits) -> (L, L) {
        let radius = math::minus_2_ln(unit_open::<L>(radius)).sqrt();
        // The high bits place the angle within a quarter turn to either side of the first axis;
        // reflections, by the low two bits, put the point into one of the four such quarters.
        let one = L::Bits::of(1.0_f64.to_bits());
        let within = L::from_bits((angle >> 12) | one) - 1.5;
        let (sin, cos) = math::sin_cos_quarter(within);
        let cos = L::from_bits(cos.to_bits() ^ ((angle << 62) & L::Bits::of(1 << 63)));
        let (x, y) = L::swap_if_odd(angle, cos, sin);
        (radius * x, radius * y)
    }
}

/// A uniform number (k + ½)/2⁵² in (0, 1) from the high bits of a word.
#[inline(always)]
fn unit_open<L: Lanes>(word: L::Bits) -> L {
    let one = L::Bits::of(1.0_f64.to_bits());
    L::from_bits((word >> 12) | one) - (1.0 - f64::EPSILON * 0.5)
}
