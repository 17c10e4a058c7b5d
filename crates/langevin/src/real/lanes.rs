//! Packs of `f64`, one chain in each lane, with the bit operations that random numbers and
//! elementary functions need.

use std::ops::{Add, BitAnd, BitOr, BitXor, Shl, Shr, Sub};

use super::dispatch::{Work, with_present};
use super::{Pair, Real};

mod sealed {
    /// Only this crate makes packs: which of them exist is decided by the processor.
    pub trait Sealed {}
}
pub(super) use sealed::Sealed;

/// A pack of 64-bit words; arithmetic wraps.
///
/// # Safety
/// A pack consists of `WIDTH` words, lane after lane, and of nothing else.
pub unsafe trait BitLanes:
    Sealed
    + Copy
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
    /// Number of lanes.
    const WIDTH: usize;
    /// The same word in every lane.
    fn of(word: u64) -> Self;
    /// Reads `WIDTH` words.
    fn load(words: &[u64]) -> Self;
    /// Writes `WIDTH` words.
    fn store(self, words: &mut [u64]);
    /// Product of the low 32 bits of each lane, as 64 bits.
    fn mul_low(self, other: Self) -> Self;
    /// The smaller word in each lane.
    fn at_most(self, other: Self) -> Self;
    /// The lanes of packs one after the other.
    #[inline(always)]
    fn words(packs: &[Self]) -> &[u64] {
        // SAFETY: a pack is `WIDTH` words and nothing else.
        unsafe { std::slice::from_raw_parts(packs.as_ptr().cast(), packs.len() * Self::WIDTH) }
    }
    /// The lanes of packs one after the other, to be changed.
    #[inline(always)]
    fn words_mut(packs: &mut [Self]) -> &mut [u64] {
        // SAFETY: a pack is `WIDTH` words and nothing else.
        unsafe {
            std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast(), packs.len() * Self::WIDTH)
        }
    }

    /// Rotation to the left by `k` bits.
    #[inline(always)]
    fn rotate_left(self, k: u32) -> Self {
        (self << k) | (self >> (64 - k))
    }
}

/// The most lanes that any pack has.
pub const MAX_WIDTH: usize = 16;

/// Numbers in lanes where they belong to one chain, on any processor.
pub(crate) const OCTET: usize = 8;

/// A pack of `WIDTH` numbers of which each lane is computed as if it were alone.
///
/// Types of packs other than `f64` have no public name: whoever holds one was given it by
/// [`Isa::run`](super::Isa::run), which has asked the processor. The trait is sealed.
///
/// # Safety
/// A pack consists of `WIDTH` numbers, lane after lane, and of nothing else. Packs of a type are made
/// only where the processor has its instructions.
pub unsafe trait Lanes: Sealed + Real {
    /// Number of lanes.
    const WIDTH: usize;
    /// The pack of 64-bit words of the same width.
    type Bits: BitLanes;
    /// Eight numbers, in the registers that this type uses.
    type Octet: Lanes;
    /// As many numbers as one of these registers holds.
    type Register: Lanes;
    /// A choice of lanes.
    type Mask: Copy;
    /// A choice of the four fields of 16 bits in each lane.
    type Fields: Copy;

    /// Does work with the instructions that these packs are made of.
    fn enter<W: Work>(work: W) -> W::Output;
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
    /// Entry `index[lane]` of `table`, which has 16 or 32 entries; only the low bits of the index
    /// count.
    #[inline(always)]
    fn lookup<const N: usize>(table: &[f64; N], index: Self::Bits) -> Self {
        const { assert!(N == 16 || N == 32) }
        Self::gather(table, index & Self::Bits::of(N as u64 - 1))
    }
    /// `(b, a)` in the lanes whose word is odd, `(a, b)` in the others.
    #[inline(always)]
    fn swap_if_odd(word: Self::Bits, a: Self, b: Self) -> (Self, Self) {
        let odd = word << 63;
        (Self::if_top_bit(odd, b, a), Self::if_top_bit(odd, a, b))
    }
    /// The four numbers from `rows[lane][offset]` on in each lane, as four packs.
    ///
    /// # Safety
    /// The first `WIDTH` pointers are each good for reading `offset + 4` numbers.
    unsafe fn load_fours(rows: &[*const f64], offset: usize) -> [Self; 4];
    /// All lanes.
    fn everywhere() -> Self::Mask;
    /// The lanes of `mask` in which two words differ.
    fn unequal(mask: Self::Mask, a: Self::Bits, b: Self::Bits) -> Self::Mask;
    /// `yes` in the lanes of the mask, `no` in the others.
    fn choose(mask: Self::Mask, yes: Self::Bits, no: Self::Bits) -> Self::Bits;

    /// All fields of all lanes.
    fn all_fields() -> Self::Fields;
    /// The chosen fields in which two words differ; fields are below 2¹⁵.
    fn fields_unequal(fields: Self::Fields, a: Self::Bits, b: Self::Bits) -> Self::Fields;
    /// The lanes with all four fields chosen.
    fn whole_lanes(fields: Self::Fields) -> Self::Mask;

    /// Row `index[lane]` of a table in each lane. Rows start `stride` numbers apart, a multiple of
    /// four, and `out` is no longer; an index beyond the table reads its last row.
    #[inline(always)]
    fn gather_row(table: &[f64], stride: usize, index: &[u64], out: &mut [Self]) {
        assert!(stride.is_multiple_of(4) && out.len() <= stride && table.len() >= stride);
        let last = table.len() - stride;
        let mut rows = [table.as_ptr(); MAX_WIDTH];
        for (row, word) in rows.iter_mut().zip(&index[..Self::WIDTH]) {
            // SAFETY: a reference is good for reading. Volatile, so that addresses are made by the
            // ports for single words: the compiler would make them in lanes and then take them out
            // one by one, on the ports that do the arithmetic.
            let word = unsafe { std::ptr::read_volatile(word) };
            let start = (word as usize).wrapping_mul(stride).min(last);
            // SAFETY: `stride` numbers follow.
            *row = unsafe { table.as_ptr().add(start) };
        }
        for (k, chunk) in out.chunks_mut(4).enumerate() {
            // SAFETY: a row has `stride` numbers, a multiple of four.
            let four = unsafe { Self::load_fours(&rows, 4 * k) };
            for (out, x) in chunk.iter_mut().zip(four) {
                *out = x;
            }
        }
    }
    /// The smaller number in each lane; `other` where one of them is NaN.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        Self::if_less(self, other, self, other)
    }
    /// The larger number in each lane; `other` where one of them is NaN.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self::if_less(other, self, self, other)
    }
    /// Whether every lane is finite.
    fn all_finite(self) -> bool;
    /// Whether every lane is above 0.
    fn all_positive(self) -> bool;

    /// The numbers of packs, one pack after the other.
    #[inline(always)]
    fn numbers(packs: &[Self]) -> &[f64] {
        // SAFETY: a pack is `WIDTH` numbers and nothing else.
        unsafe { std::slice::from_raw_parts(packs.as_ptr().cast(), packs.len() * Self::WIDTH) }
    }

    /// The numbers of packs, one pack after the other, to be changed.
    #[inline(always)]
    fn numbers_mut(packs: &mut [Self]) -> &mut [f64] {
        // SAFETY: a pack is `WIDTH` numbers and nothing else.
        unsafe {
            std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast(), packs.len() * Self::WIDTH)
        }
    }

    /// For packs of eight: the sums of the numbers of each of eight packs, added in pairs:
    /// ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)).
    #[inline(always)]
    fn sum_each(packs: &[Self; 8]) -> Self {
        let mut sums = [0.0; 8];
        let mut x = [0.0; 8];
        for (sum, pack) in sums.iter_mut().zip(packs) {
            pack.store(&mut x);
            *sum = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
        }
        Self::load(&sums)
    }

    /// For packs of eight: exchanges lane i of pack j and lane j of pack i.
    #[inline(always)]
    fn transpose(square: &mut [Self; 8]) {
        let mut entries = [[0.0; 8]; 8];
        for (pack, row) in square.iter().zip(&mut entries) {
            pack.store(row);
        }
        let mut column = [0.0; 8];
        for (j, pack) in square.iter_mut().enumerate() {
            for (entry, row) in column.iter_mut().zip(&entries) {
                *entry = row[j];
            }
            *pack = Self::load(&column);
        }
    }

    /// Applies a function register by register.
    #[inline(always)]
    fn by_register<F: WordsToNumbers>(a: Self::Bits, b: Self::Bits) -> (Self, Self) {
        F::eval(a, b)
    }

    /// Reads lane `i`.
    #[inline(always)]
    fn lane(self, i: usize) -> f64 {
        let mut buffer = [0.0; MAX_WIDTH];
        self.store(&mut buffer);
        buffer[i]
    }
}

/// A function from two packs of words to two packs of numbers.
pub trait WordsToNumbers {
    /// Its value.
    fn eval<L: Lanes>(a: L::Bits, b: L::Bits) -> (L, L);
}

/// The top bit of each of the four fields of a word.
pub(super) const TOP_OF_FIELDS: u64 = 0x8000_8000_8000_8000;

/// Sets the top bit of every field (below 2¹⁵) that is not 0; other bits are of no meaning.
#[inline(always)]
pub(super) fn nonzero_fields<B: BitLanes>(x: B) -> B {
    x + B::of(0x7FFF_7FFF_7FFF_7FFF)
}

/// One 64-bit word as a pack of width 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
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

impl Sealed for Word {}

// SAFETY: a `Word` is one `u64`.
unsafe impl BitLanes for Word {
    const WIDTH: usize = 1;
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
    fn at_most(self, other: Self) -> Self {
        Word(self.0.min(other.0))
    }
    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        Word((self.0 & 0xFFFF_FFFF) * (other.0 & 0xFFFF_FFFF))
    }
}

impl Sealed for f64 {}

// SAFETY: one number.
unsafe impl Lanes for f64 {
    const WIDTH: usize = 1;
    type Bits = Word;
    type Octet = Pair<Pair<Pair<f64>>>;
    type Register = f64;
    type Mask = bool;
    type Fields = Word;

    #[inline(always)]
    fn enter<W: Work>(work: W) -> W::Output {
        with_present(work)
    }
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
    unsafe fn load_fours(rows: &[*const f64], offset: usize) -> [Self; 4] {
        // SAFETY: by the caller's promise.
        std::array::from_fn(|i| unsafe { *rows[0].add(offset + i) })
    }
    #[inline(always)]
    fn everywhere() -> bool {
        true
    }
    #[inline(always)]
    fn unequal(mask: bool, a: Word, b: Word) -> bool {
        mask & (a != b)
    }
    #[inline(always)]
    fn choose(mask: bool, yes: Word, no: Word) -> Word {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn all_fields() -> Word {
        Word(TOP_OF_FIELDS)
    }
    #[inline(always)]
    fn fields_unequal(fields: Word, a: Word, b: Word) -> Word {
        fields & nonzero_fields(a ^ b)
    }
    #[inline(always)]
    fn whole_lanes(fields: Word) -> bool {
        fields.0 == TOP_OF_FIELDS
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
