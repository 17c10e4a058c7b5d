//! Packs of four (AVX2 + FMA) and eight (AVX-512) chains by the processor's own instructions.
//!
//! The methods are safe to call only where the processor has the instructions. These types have no
//! name outside of `real`: they are reached through the parameter of [`Kernel::run`](super::Kernel::run),
//! which [`Isa`](super::Isa) fills in after it has asked the processor. This module holds the crate's only
//! `unsafe` arithmetic.

mod eight;
mod four;

use std::arch::x86_64::*;
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, MulAssign, Neg, Shl, Shr, Sub, SubAssign,
};

use super::lanes::Sealed;
use super::{BitLanes, Lanes, Real, elementary_functions};

impl Sealed for F64x4 {}
impl Sealed for U64x4 {}
impl Sealed for F64x8 {}
impl Sealed for U64x8 {}

/// Four `f64` in one AVX2 register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct F64x4(__m256d);

/// Four 64-bit words in one AVX2 register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct U64x4(__m256i);

/// Eight `f64` in one AVX-512 register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct F64x8(__m512d);

/// Eight 64-bit words in one AVX-512 register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct U64x8(__m512i);

/// The operators of one type, each by one intrinsic.
macro_rules! operators {
    ($type:ident: $($trait:ident $method:ident $intrinsic:ident),+) => {
        $(impl $trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $intrinsic(self.0, other.0) })
            }
        })+
    };
}

/// What a pack of numbers gets from its operators alone.
macro_rules! number {
    ($type:ident) => {
        impl Neg for $type {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::from_bits(self.to_bits() ^ BitLanes::of(1 << 63))
            }
        }
        impl AddAssign for $type {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl SubAssign for $type {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }
        impl MulAssign for $type {
            #[inline(always)]
            fn mul_assign(&mut self, other: Self) {
                *self = *self * other;
            }
        }
        number!(@scalar $type Add add, Sub sub, Mul mul, Div div);
    };
    (@scalar $type:ident $($trait:ident $method:ident),+) => {
        $(impl $trait<f64> for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: f64) -> Self {
                $trait::$method(self, Self::of(other))
            }
        })+
    };
}

operators!(F64x4: Add add _mm256_add_pd, Sub sub _mm256_sub_pd, Mul mul _mm256_mul_pd, Div div _mm256_div_pd);
operators!(F64x8: Add add _mm512_add_pd, Sub sub _mm512_sub_pd, Mul mul _mm512_mul_pd, Div div _mm512_div_pd);
operators!(U64x4: Add add _mm256_add_epi64, Sub sub _mm256_sub_epi64, BitAnd bitand _mm256_and_si256,
    BitOr bitor _mm256_or_si256, BitXor bitxor _mm256_xor_si256);
operators!(U64x8: Add add _mm512_add_epi64, Sub sub _mm512_sub_epi64, BitAnd bitand _mm512_and_si512,
    BitOr bitor _mm512_or_si512, BitXor bitxor _mm512_xor_si512);
number!(F64x4);
number!(F64x8);

/// Shifts by a count that is the same in every lane (a constant once inlined).
macro_rules! shifts {
    ($type:ident: $left:ident $right:ident) => {
        impl Shl<u32> for $type {
            type Output = Self;
            #[inline(always)]
            fn shl(self, k: u32) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $left(self.0, _mm_cvtsi32_si128(k as i32)) })
            }
        }
        impl Shr<u32> for $type {
            type Output = Self;
            #[inline(always)]
            fn shr(self, k: u32) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $right(self.0, _mm_cvtsi32_si128(k as i32)) })
            }
        }
    };
}
shifts!(U64x4: _mm256_sll_epi64 _mm256_srl_epi64);
shifts!(U64x8: _mm512_sll_epi64 _mm512_srl_epi64);

/// The words of a pack: everything but the operators.
macro_rules! words {
    ($type:ident $width:literal: $set1:ident $load:ident $store:ident $mul:ident $min:ident) => {
        // SAFETY: a register of words.
        unsafe impl BitLanes for $type {
            const WIDTH: usize = $width;
            #[inline(always)]
            fn of(word: u64) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $set1(word as i64) })
            }
            #[inline(always)]
            fn load(words: &[u64]) -> Self {
                let words = &words[..$width];
                // SAFETY: the slice holds a full pack; the load needs no alignment.
                $type(unsafe { $load(words.as_ptr().cast()) })
            }
            #[inline(always)]
            fn store(self, words: &mut [u64]) {
                let words = &mut words[..$width];
                // SAFETY: the slice holds a full pack; the store needs no alignment.
                unsafe { $store(words.as_mut_ptr().cast(), self.0) }
            }
            #[inline(always)]
            fn mul_low(self, other: Self) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $mul(self.0, other.0) })
            }
            #[inline(always)]
            fn at_most(self, other: Self) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $min(self.0, other.0) })
            }
        }
    };
}
/// The smaller of two words without sign. Flipping the top bits makes the signed comparison, the only
/// one there is, do.
///
/// # Safety
/// See the top of this module.
#[inline(always)]
unsafe fn smaller_words(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: by the caller's promise.
    unsafe {
        let top = _mm256_set1_epi64x(i64::MIN);
        let over = _mm256_cmpgt_epi64(_mm256_xor_si256(a, top), _mm256_xor_si256(b, top));
        _mm256_blendv_epi8(a, b, over)
    }
}
words!(U64x4 4: _mm256_set1_epi64x _mm256_loadu_si256 _mm256_storeu_si256 _mm256_mul_epu32 smaller_words);
words!(U64x8 8: _mm512_set1_epi64 _mm512_loadu_si512 _mm512_storeu_si512 _mm512_mul_epu32 _mm512_min_epu64);

/// The numbers of a pack: everything but the operators and the comparisons.
macro_rules! reals {
    ($type:ident: $set1:ident $fma:ident $sqrt:ident) => {
        impl Real for $type {
            #[inline(always)]
            fn of(x: f64) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $set1(x) })
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $fma(self.0, a.0, b.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: see the top of this module.
                $type(unsafe { $sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self::from_bits(self.to_bits() & BitLanes::of(u64::MAX >> 1))
            }
            elementary_functions!();
        }
    };
}
reals!(F64x4: _mm256_set1_pd _mm256_fmadd_pd _mm256_sqrt_pd);
reals!(F64x8: _mm512_set1_pd _mm512_fmadd_pd _mm512_sqrt_pd);
