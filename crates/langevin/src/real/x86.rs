//! Packs of four (AVX2 + FMA) and eight (AVX-512) chains by the processor's own instructions.
//!
//! The methods are safe to call only where the processor has the instructions; packs of these
//! types are made nowhere but inside [`Kernel::run`](super::Kernel::run), which
//! [`Isa`](super::Isa) enters after it has asked the processor. This file holds the crate's only
//! `unsafe` arithmetic.

use std::arch::x86_64::*;
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, MulAssign, Neg, Shl, Shr, Sub, SubAssign,
};

use super::lanes::{TOP_OF_FIELDS, nonzero_fields};
use super::{BitLanes, Lanes, Real, Twice, elementary_functions};

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
                // SAFETY: see the top of the file.
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
                // SAFETY: see the top of the file.
                $type(unsafe { $left(self.0, _mm_cvtsi32_si128(k as i32)) })
            }
        }
        impl Shr<u32> for $type {
            type Output = Self;
            #[inline(always)]
            fn shr(self, k: u32) -> Self {
                // SAFETY: see the top of the file.
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
                // SAFETY: see the top of the file.
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
                // SAFETY: see the top of the file.
                $type(unsafe { $mul(self.0, other.0) })
            }
            #[inline(always)]
            fn at_most(self, other: Self) -> Self {
                // SAFETY: see the top of the file.
                $type(unsafe { $min(self.0, other.0) })
            }
        }
    };
}
/// The smaller of two words without sign. Flipping the top bits makes the signed comparison, the only
/// one there is, do.
///
/// # Safety
/// See the top of the file.
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
                // SAFETY: see the top of the file.
                $type(unsafe { $set1(x) })
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                // SAFETY: see the top of the file.
                $type(unsafe { $fma(self.0, a.0, b.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: see the top of the file.
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

// SAFETY: a register of numbers.
unsafe impl Lanes for F64x4 {
    const WIDTH: usize = 4;
    type Bits = U64x4;
    type Octet = Twice<F64x4>;
    type Register = Self;
    type Mask = U64x4;
    type Fields = U64x4;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        let numbers = &numbers[..4];
        // SAFETY: the slice holds a full pack; the load needs no alignment.
        F64x4(unsafe { _mm256_loadu_pd(numbers.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64]) {
        let numbers = &mut numbers[..4];
        // SAFETY: the slice holds a full pack; the store needs no alignment.
        unsafe { _mm256_storeu_pd(numbers.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn to_bits(self) -> U64x4 {
        // SAFETY: see the top of the file.
        U64x4(unsafe { _mm256_castpd_si256(self.0) })
    }
    #[inline(always)]
    fn from_bits(bits: U64x4) -> Self {
        // SAFETY: see the top of the file.
        F64x4(unsafe { _mm256_castsi256_pd(bits.0) })
    }
    #[inline(always)]
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x4(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LT_OQ>(a.0, b.0)) })
    }
    #[inline(always)]
    fn if_top_bit(mask: U64x4, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x4(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_castsi256_pd(mask.0)) })
    }
    #[inline(always)]
    fn gather(table: &[f64], index: U64x4) -> Self {
        assert!(!table.is_empty());
        let last = U64x4::of(table.len() as u64 - 1);
        // SAFETY: indices are clamped to the table.
        F64x4(unsafe { _mm256_i64gather_pd::<8>(table.as_ptr(), index.at_most(last).0) })
    }
    #[inline(always)]
    unsafe fn load_fours(rows: &[*const f64], offset: usize) -> [Self; 4] {
        // SAFETY: by the caller's promise.
        let row: [_; 4] = std::array::from_fn(|k| unsafe { rows[k].add(offset) });
        // SAFETY: each row holds four entries; see the top of the file. The loaded rows are
        // transposed within 128-bit halves, then the halves are exchanged.
        unsafe {
            let (a, b) = (_mm256_loadu_pd(row[0]), _mm256_loadu_pd(row[1]));
            let (c, d) = (_mm256_loadu_pd(row[2]), _mm256_loadu_pd(row[3]));
            let (ab0, ab1) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd0, cd1) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                F64x4(_mm256_permute2f128_pd::<0x20>(ab0, cd0)),
                F64x4(_mm256_permute2f128_pd::<0x20>(ab1, cd1)),
                F64x4(_mm256_permute2f128_pd::<0x31>(ab0, cd0)),
                F64x4(_mm256_permute2f128_pd::<0x31>(ab1, cd1)),
            ]
        }
    }
    #[inline(always)]
    fn everywhere() -> U64x4 {
        U64x4::of(u64::MAX)
    }
    #[inline(always)]
    fn unequal(mask: U64x4, a: U64x4, b: U64x4) -> U64x4 {
        // SAFETY: see the top of the file.
        U64x4(unsafe { _mm256_andnot_si256(_mm256_cmpeq_epi64(a.0, b.0), mask.0) })
    }
    #[inline(always)]
    fn choose(mask: U64x4, yes: U64x4, no: U64x4) -> U64x4 {
        // SAFETY: see the top of the file.
        U64x4(unsafe { _mm256_blendv_epi8(no.0, yes.0, mask.0) })
    }
    #[inline(always)]
    fn all_fields() -> U64x4 {
        U64x4::of(TOP_OF_FIELDS)
    }
    #[inline(always)]
    fn fields_unequal(fields: U64x4, a: U64x4, b: U64x4) -> U64x4 {
        fields & nonzero_fields(a ^ b)
    }
    #[inline(always)]
    fn whole_lanes(fields: U64x4) -> U64x4 {
        // SAFETY: see the top of the file.
        U64x4(unsafe { _mm256_cmpeq_epi64(fields.0, U64x4::of(TOP_OF_FIELDS).0) })
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x4(unsafe { _mm256_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x4(unsafe { _mm256_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn all_finite(self) -> bool {
        // SAFETY: see the top of the file. x − x is 0 for finite x and NaN otherwise.
        unsafe {
            let zero = _mm256_sub_pd(self.0, self.0);
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(zero, zero)) == 0
        }
    }
    #[inline(always)]
    fn all_positive(self) -> bool {
        // SAFETY: see the top of the file.
        unsafe {
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, _mm256_setzero_pd())) == 0b1111
        }
    }
}

/// Sums of neighbours, of `a` in even lanes and of `b` in odd ones.
///
/// # Safety
/// See the top of the file.
#[inline(always)]
unsafe fn pairs(a: __m512d, b: __m512d) -> __m512d {
    // SAFETY: by the caller's promise.
    unsafe { _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)) }
}

/// Sums of neighbouring quarters, of `a` in the lower half and of `b` in the upper.
///
/// # Safety
/// See the top of the file.
#[inline(always)]
unsafe fn quarters(a: __m512d, b: __m512d) -> __m512d {
    // SAFETY: by the caller's promise.
    unsafe {
        let even = _mm512_shuffle_f64x2::<0b10_00_10_00>(a, b);
        let odd = _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b);
        _mm512_add_pd(even, odd)
    }
}

/// Four entries from each of two places.
///
/// # Safety
/// Both places hold four entries; see the top of the file.
#[inline(always)]
unsafe fn two_rows(low: *const f64, high: *const f64) -> __m512d {
    // SAFETY: by the caller's promise.
    unsafe {
        let low = _mm512_castpd256_pd512(_mm256_loadu_pd(low));
        _mm512_insertf64x4::<1>(low, _mm256_loadu_pd(high))
    }
}

// SAFETY: a register of numbers.
unsafe impl Lanes for F64x8 {
    const WIDTH: usize = 8;
    type Bits = U64x8;
    type Octet = Self;
    type Register = Self;
    type Mask = __mmask8;
    type Fields = __mmask32;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        let numbers = &numbers[..8];
        // SAFETY: the slice holds a full pack; the load needs no alignment.
        F64x8(unsafe { _mm512_loadu_pd(numbers.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64]) {
        let numbers = &mut numbers[..8];
        // SAFETY: the slice holds a full pack; the store needs no alignment.
        unsafe { _mm512_storeu_pd(numbers.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn to_bits(self) -> U64x8 {
        // SAFETY: see the top of the file.
        U64x8(unsafe { _mm512_castpd_si512(self.0) })
    }
    #[inline(always)]
    fn from_bits(bits: U64x8) -> Self {
        // SAFETY: see the top of the file.
        F64x8(unsafe { _mm512_castsi512_pd(bits.0) })
    }
    #[inline(always)]
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x8(unsafe {
            _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a.0, b.0), no.0, yes.0)
        })
    }
    #[inline(always)]
    fn if_top_bit(mask: U64x8, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x8(unsafe { _mm512_mask_blend_pd(_mm512_movepi64_mask(mask.0), no.0, yes.0) })
    }
    #[inline(always)]
    fn gather(table: &[f64], index: U64x8) -> Self {
        assert!(!table.is_empty());
        let last = U64x8::of(table.len() as u64 - 1);
        // SAFETY: indices are clamped to the table.
        F64x8(unsafe { _mm512_i64gather_pd::<8>(index.at_most(last).0, table.as_ptr()) })
    }
    #[inline(always)]
    fn swap_if_odd(word: U64x8, a: Self, b: Self) -> (Self, Self) {
        // SAFETY: see the top of the file.
        unsafe {
            let odd = _mm512_test_epi64_mask(word.0, _mm512_set1_epi64(1));
            let first = _mm512_mask_blend_pd(odd, a.0, b.0);
            let second = _mm512_mask_blend_pd(odd, b.0, a.0);
            (F64x8(first), F64x8(second))
        }
    }
    #[inline(always)]
    fn lookup(table: &[f64], index: U64x8) -> Self {
        // SAFETY: the table is as long as what is read; two registers hold 16 entries, and the
        // permutation looks at no more than the four bits of the index that it needs.
        F64x8(unsafe {
            let part = |i: usize| _mm512_loadu_pd(table[8 * i..8 * (i + 1)].as_ptr());
            let low = _mm512_permutex2var_pd(part(0), index.0, part(1));
            if table.len() == 16 {
                return F64x8(low);
            }
            let high = _mm512_permutex2var_pd(part(2), index.0, part(3));
            let upper = _mm512_test_epi64_mask(index.0, _mm512_set1_epi64(16));
            _mm512_mask_blend_pd(upper, low, high)
        })
    }
    #[inline(always)]
    unsafe fn load_fours(rows: &[*const f64], offset: usize) -> [Self; 4] {
        // SAFETY: by the caller's promise.
        let row: [_; 8] = std::array::from_fn(|k| unsafe { rows[k].add(offset) });
        // SAFETY: each row holds four entries; see the top of the file. Rows k and k + 4 share a
        // register; pairs of registers are interleaved, then the quarters put in order.
        unsafe {
            let (a, b) = (two_rows(row[0], row[4]), two_rows(row[1], row[5]));
            let (c, d) = (two_rows(row[2], row[6]), two_rows(row[3], row[7]));
            let (ab0, ab1) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (cd0, cd1) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            [
                F64x8(_mm512_permutex2var_pd(ab0, first, cd0)),
                F64x8(_mm512_permutex2var_pd(ab1, first, cd1)),
                F64x8(_mm512_permutex2var_pd(ab0, second, cd0)),
                F64x8(_mm512_permutex2var_pd(ab1, second, cd1)),
            ]
        }
    }
    #[inline(always)]
    fn everywhere() -> __mmask8 {
        0xFF
    }
    #[inline(always)]
    fn unequal(mask: __mmask8, a: U64x8, b: U64x8) -> __mmask8 {
        // SAFETY: see the top of the file.
        unsafe { _mm512_mask_cmpneq_epi64_mask(mask, a.0, b.0) }
    }
    #[inline(always)]
    fn choose(mask: __mmask8, yes: U64x8, no: U64x8) -> U64x8 {
        // SAFETY: see the top of the file.
        U64x8(unsafe { _mm512_mask_blend_epi64(mask, no.0, yes.0) })
    }
    #[inline(always)]
    fn all_fields() -> __mmask32 {
        u32::MAX
    }
    #[inline(always)]
    fn fields_unequal(fields: __mmask32, a: U64x8, b: U64x8) -> __mmask32 {
        // SAFETY: see the top of the file.
        unsafe { _mm512_mask_cmpneq_epi16_mask(fields, a.0, b.0) }
    }
    #[inline(always)]
    fn whole_lanes(fields: __mmask32) -> __mmask8 {
        // SAFETY: see the top of the file.
        unsafe { _mm512_cmpeq_epi64_mask(_mm512_movm_epi16(fields), _mm512_set1_epi64(-1)) }
    }
    #[inline(always)]
    fn sum_each(packs: &[Self; 8]) -> Self {
        // SAFETY: see the top of the file. Neighbours are added first, then quarters, then halves;
        // every step puts the sums of two packs into one.
        unsafe {
            let [a, b, c, d, e, f, g, h] = *packs;
            let low = quarters(pairs(a.0, b.0), pairs(c.0, d.0));
            let high = quarters(pairs(e.0, f.0), pairs(g.0, h.0));
            F64x8(quarters(low, high))
        }
    }
    #[inline(always)]
    fn transpose(square: &mut [Self; 8]) {
        // SAFETY: see the top of the file. Single numbers change places first, then quarters of
        // registers, near and far.
        unsafe {
            let r = [
                square[0].0,
                square[1].0,
                square[2].0,
                square[3].0,
                square[4].0,
                square[5].0,
                square[6].0,
                square[7].0,
            ];
            let mut pairs = [r[0]; 8];
            for i in 0..4 {
                pairs[2 * i] = _mm512_unpacklo_pd(r[2 * i], r[2 * i + 1]);
                pairs[2 * i + 1] = _mm512_unpackhi_pd(r[2 * i], r[2 * i + 1]);
            }
            // Quarters q of pairs (0, 1), (2, 3), (4, 5), (6, 7) hold columns 2q and 2q + 1.
            for odd in 0..2 {
                let p = [pairs[odd], pairs[2 + odd], pairs[4 + odd], pairs[6 + odd]];
                let low02 = _mm512_shuffle_f64x2::<0b10_00_10_00>(p[0], p[1]);
                let low13 = _mm512_shuffle_f64x2::<0b11_01_11_01>(p[0], p[1]);
                let high02 = _mm512_shuffle_f64x2::<0b10_00_10_00>(p[2], p[3]);
                let high13 = _mm512_shuffle_f64x2::<0b11_01_11_01>(p[2], p[3]);
                square[odd] = F64x8(_mm512_shuffle_f64x2::<0b10_00_10_00>(low02, high02));
                square[4 + odd] = F64x8(_mm512_shuffle_f64x2::<0b11_01_11_01>(low02, high02));
                square[2 + odd] = F64x8(_mm512_shuffle_f64x2::<0b10_00_10_00>(low13, high13));
                square[6 + odd] = F64x8(_mm512_shuffle_f64x2::<0b11_01_11_01>(low13, high13));
            }
        }
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x8(unsafe { _mm512_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: see the top of the file.
        F64x8(unsafe { _mm512_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn all_finite(self) -> bool {
        // SAFETY: see the top of the file. x − x is 0 for finite x and NaN otherwise.
        unsafe {
            let zero = _mm512_sub_pd(self.0, self.0);
            _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(zero, zero) == 0
        }
    }
    #[inline(always)]
    fn all_positive(self) -> bool {
        // SAFETY: see the top of the file.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, _mm512_setzero_pd()) == 0xFF }
    }
}
