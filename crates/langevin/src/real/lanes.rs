//! Packs of `f64`, one chain in each lane, with the bit operations that random numbers and
//! elementary functions need.

use std::ops::{Add, BitAnd, BitOr, BitXor, Shl, Shr, Sub};

use super::Real;

/// A pack of 64-bit words; arithmetic wraps.
pub trait BitLanes:
    Copy
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The same word in every lane.
    fn of(word: u64) -> Self;
    /// Reads `WIDTH` words.
    fn load(words: &[u64]) -> Self;
    /// Writes `WIDTH` words.
    fn store(self, words: &mut [u64]);
    /// Product of the low 32 bits of each lane, as 64 bits.
    fn mul_low(self, other: Self) -> Self;

    /// Rotation to the left by `k` bits.
    #[inline(always)]
    fn rotate_left(self, k: u32) -> Self {
        (self << k) | (self >> (64 - k))
    }
}

/// A pack of `WIDTH` numbers of which each lane is computed as if it were alone.
pub trait Lanes: Real {
    /// Number of lanes.
    const WIDTH: usize;
    /// The pack of 64-bit words of the same width.
    type Bits: BitLanes;

    /// Reads `WIDTH` numbers.
    fn load(numbers: &[f64]) -> Self;
    /// Writes `WIDTH` numbers.
    fn store(self, numbers: &mut [f64]);
    /// The words that represent these numbers.
    fn to_bits(self) -> Self::Bits;
    /// The numbers that these words represent.
    fn from_bits(bits: Self::Bits) -> Self;
    /// In each lane `yes` where `a < b`, else `no`.
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self;
    /// In each lane `yes` where the top bit of `mask` is set, else `no`.
    fn if_top_bit(mask: Self::Bits, yes: Self, no: Self) -> Self;
    /// Entry `index[lane]` of `table` in each lane; an index beyond the end reads the last entry.
    fn gather(table: &[f64], index: Self::Bits) -> Self;
    /// Entries `start[lane]` to `start[lane] + 3` of `table` in each lane, as four packs; a start
    /// beyond the last four entries reads those.
    fn gather_four(table: &[f64], start: Self::Bits) -> [Self; 4];
    /// Whether every lane is finite.
    fn all_finite(self) -> bool;
    /// Whether every lane is above 0.
    fn all_positive(self) -> bool;

    /// Reads lane `i`.
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        let mut buffer = [0.0; 16];
        self.store(&mut buffer);
        buffer[i]
    }
}

/// One 64-bit word as a pack of width 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub u64);

macro_rules! word_operator {
    ($trait:ident, $method:ident, |$a:ident, $b:ident: $rhs:ty| $value:expr) => {
        impl $trait<$rhs> for Word {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: $rhs) -> Self {
                let ($a, $b) = (self.0, other);
                Word($value)
            }
        }
    };
}
word_operator!(Add, add, |a, b: Word| a.wrapping_add(b.0));
word_operator!(Sub, sub, |a, b: Word| a.wrapping_sub(b.0));
word_operator!(BitAnd, bitand, |a, b: Word| a & b.0);
word_operator!(BitOr, bitor, |a, b: Word| a | b.0);
word_operator!(BitXor, bitxor, |a, b: Word| a ^ b.0);
word_operator!(Shl, shl, |a, b: u32| a << b);
word_operator!(Shr, shr, |a, b: u32| a >> b);

impl BitLanes for Word {
    #[inline(always)]
    fn of(word: u64) -> Self {
        Word(word)
    }
    #[inline(always)]
    fn load(words: &[u64]) -> Self {
        Word(words[0])
    }
    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        words[0] = self.0;
    }
    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        Word((self.0 & 0xFFFF_FFFF) * (other.0 & 0xFFFF_FFFF))
    }
}

impl Lanes for f64 {
    const WIDTH: usize = 1;
    type Bits = Word;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        numbers[0]
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64]) {
        numbers[0] = self;
    }
    #[inline(always)]
    fn to_bits(self) -> Word {
        Word(f64::to_bits(self))
    }
    #[inline(always)]
    fn from_bits(bits: Word) -> Self {
        f64::from_bits(bits.0)
    }
    #[inline(always)]
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self {
        if a < b { yes } else { no }
    }
    #[inline(always)]
    fn if_top_bit(mask: Word, yes: Self, no: Self) -> Self {
        if mask.0 >> 63 == 1 { yes } else { no }
    }
    #[inline(always)]
    fn gather(table: &[f64], index: Word) -> Self {
        table[(index.0 as usize).min(table.len() - 1)]
    }
    #[inline(always)]
    fn gather_four(table: &[f64], start: Word) -> [Self; 4] {
        let start = (start.0 as usize).min(table.len() - 4);
        std::array::from_fn(|i| table[start + i])
    }
    #[inline(always)]
    fn all_finite(self) -> bool {
        self.is_finite()
    }
    #[inline(always)]
    fn all_positive(self) -> bool {
        self > 0.0
    }
}
