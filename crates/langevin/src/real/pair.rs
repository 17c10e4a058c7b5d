//! Packs of twice the width: two registers that go through every operation side by side.
//!
//! Elementary functions are long chains in which each operation waits for the one before. Two
//! chains of independent operations, interleaved, keep the processor busy, and a number that is
//! the same in all lanes is loaded once for both.

use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, MulAssign, Neg, Shl, Shr, Sub, SubAssign,
};

use super::dispatch::Work;
use super::lanes::{Sealed, WordsToNumbers};
use super::{BitLanes, Lanes, Real, elementary_functions};

/// Two packs side by side.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pair<L>(L, L);

macro_rules! both {
    ($bound:ident: $($trait:ident $method:ident),+) => {
        $(impl<L: $bound> $trait for Pair<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Pair($trait::$method(self.0, other.0), $trait::$method(self.1, other.1))
            }
        })+
    };
}
both!(Addable: Add add, Sub sub);
both!(Lanes: Mul mul, Div div);
both!(BitLanes: BitAnd bitand, BitOr bitor, BitXor bitxor);

/// Numbers and words, which both can be added.
pub trait Addable: Copy + Add<Output = Self> + Sub<Output = Self> {}
impl<T: Copy + Add<Output = T> + Sub<Output = T>> Addable for T {}

macro_rules! with {
    ($bound:ident, $operand:ty: $($trait:ident $method:ident),+) => {
        $(impl<L: $bound> $trait<$operand> for Pair<L> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: $operand) -> Self {
                Pair($trait::$method(self.0, other), $trait::$method(self.1, other))
            }
        })+
    };
}
with!(Lanes, f64: Add add, Sub sub, Mul mul, Div div);
with!(BitLanes, u32: Shl shl, Shr shr);

macro_rules! assign {
    ($($trait:ident $method:ident),+) => {
        $(impl<L: Lanes> $trait for Pair<L> {
            #[inline(always)]
            fn $method(&mut self, other: Self) {
                $trait::$method(&mut self.0, other.0);
                $trait::$method(&mut self.1, other.1);
            }
        })+
    };
}
assign!(AddAssign add_assign, SubAssign sub_assign, MulAssign mul_assign);

impl<L: Lanes> Neg for Pair<L> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Pair(-self.0, -self.1)
    }
}

impl<P: Sealed> Sealed for Pair<P> {}

// SAFETY: two packs, one after the other.
unsafe impl<B: BitLanes> BitLanes for Pair<B> {
    const WIDTH: usize = 2 * B::WIDTH;
    #[inline(always)]
    fn of(word: u64) -> Self {
        Pair(B::of(word), B::of(word))
    }
    #[inline(always)]
    fn load(words: &[u64]) -> Self {
        Pair(B::load(words), B::load(&words[B::WIDTH..]))
    }
    #[inline(always)]
    fn store(self, words: &mut [u64]) {
        self.0.store(words);
        self.1.store(&mut words[B::WIDTH..]);
    }
    #[inline(always)]
    fn at_most(self, other: Self) -> Self {
        Pair(self.0.at_most(other.0), self.1.at_most(other.1))
    }
    #[inline(always)]
    fn mul_low(self, other: Self) -> Self {
        Pair(self.0.mul_low(other.0), self.1.mul_low(other.1))
    }
}

impl<L: Lanes> Real for Pair<L> {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Pair(L::of(x), L::of(x))
    }
    #[inline(always)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Pair(self.0.mul_add(a.0, b.0), self.1.mul_add(a.1, b.1))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Pair(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Pair(self.0.abs(), self.1.abs())
    }
    elementary_functions!();
}

// SAFETY: two packs, one after the other.
unsafe impl<L: Lanes> Lanes for Pair<L> {
    const WIDTH: usize = 2 * L::WIDTH;
    type Bits = Pair<L::Bits>;
    type Octet = L::Octet;
    type Register = L::Register;
    type Mask = (L::Mask, L::Mask);
    type Fields = (L::Fields, L::Fields);

    #[inline(always)]
    fn enter<W: Work>(work: W) -> W::Output {
        L::enter(work)
    }
    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        Pair(L::load(numbers), L::load(&numbers[L::WIDTH..]))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64]) {
        self.0.store(numbers);
        self.1.store(&mut numbers[L::WIDTH..]);
    }
    #[inline(always)]
    fn to_bits(self) -> Self::Bits {
        Pair(self.0.to_bits(), self.1.to_bits())
    }
    #[inline(always)]
    fn from_bits(bits: Self::Bits) -> Self {
        Pair(L::from_bits(bits.0), L::from_bits(bits.1))
    }
    #[inline(always)]
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self {
        Pair(
            L::if_less(a.0, b.0, yes.0, no.0),
            L::if_less(a.1, b.1, yes.1, no.1),
        )
    }
    #[inline(always)]
    fn if_top_bit(mask: Self::Bits, yes: Self, no: Self) -> Self {
        Pair(
            L::if_top_bit(mask.0, yes.0, no.0),
            L::if_top_bit(mask.1, yes.1, no.1),
        )
    }
    #[inline(always)]
    fn gather(table: &[f64], index: Self::Bits) -> Self {
        Pair(L::gather(table, index.0), L::gather(table, index.1))
    }
    #[inline(always)]
    fn swap_if_odd(word: Self::Bits, a: Self, b: Self) -> (Self, Self) {
        let (c, d) = L::swap_if_odd(word.0, a.0, b.0);
        let (e, f) = L::swap_if_odd(word.1, a.1, b.1);
        (Pair(c, e), Pair(d, f))
    }
    #[inline(always)]
    fn lookup<const N: usize>(table: &[f64; N], index: Self::Bits) -> Self {
        Pair(L::lookup(table, index.0), L::lookup(table, index.1))
    }
    #[inline(always)]
    unsafe fn load_fours(rows: &[*const f64], offset: usize) -> [Self; 4] {
        // SAFETY: by the caller's promise.
        let [a, b, c, d] = unsafe { L::load_fours(rows, offset) };
        // SAFETY: by the caller's promise.
        let [e, f, g, h] = unsafe { L::load_fours(&rows[L::WIDTH..], offset) };
        [Pair(a, e), Pair(b, f), Pair(c, g), Pair(d, h)]
    }
    #[inline(always)]
    fn everywhere() -> Self::Mask {
        (L::everywhere(), L::everywhere())
    }
    #[inline(always)]
    fn unequal(mask: Self::Mask, a: Self::Bits, b: Self::Bits) -> Self::Mask {
        (L::unequal(mask.0, a.0, b.0), L::unequal(mask.1, a.1, b.1))
    }
    #[inline(always)]
    fn choose(mask: Self::Mask, yes: Self::Bits, no: Self::Bits) -> Self::Bits {
        Pair(
            L::choose(mask.0, yes.0, no.0),
            L::choose(mask.1, yes.1, no.1),
        )
    }
    #[inline(always)]
    fn all_fields() -> Self::Fields {
        (L::all_fields(), L::all_fields())
    }
    #[inline(always)]
    fn fields_unequal(fields: Self::Fields, a: Self::Bits, b: Self::Bits) -> Self::Fields {
        (
            L::fields_unequal(fields.0, a.0, b.0),
            L::fields_unequal(fields.1, a.1, b.1),
        )
    }
    #[inline(always)]
    fn whole_lanes(fields: Self::Fields) -> Self::Mask {
        (L::whole_lanes(fields.0), L::whole_lanes(fields.1))
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        Pair(self.0.smaller(other.0), self.1.smaller(other.1))
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Pair(self.0.larger(other.0), self.1.larger(other.1))
    }
    #[inline(always)]
    fn by_register<F: WordsToNumbers>(a: Self::Bits, b: Self::Bits) -> (Self, Self) {
        let (first, second) = (L::by_register::<F>(a.0, b.0), L::by_register::<F>(a.1, b.1));
        (Pair(first.0, second.0), Pair(first.1, second.1))
    }
    #[inline(always)]
    fn all_finite(self) -> bool {
        self.0.all_finite() && self.1.all_finite()
    }
    #[inline(always)]
    fn all_positive(self) -> bool {
        self.0.all_positive() && self.1.all_positive()
    }
}
