//! Four numbers in a register, with AVX2.

use std::arch::x86_64::*;

use super::super::dispatch::{Work, with_avx2};
use super::super::lanes::{TOP_OF_FIELDS, nonzero_fields};
use super::super::{BitLanes, Lanes, Pair};
use super::{F64x4, U64x4};

// SAFETY: a register of numbers.
unsafe impl Lanes for F64x4 {
    const WIDTH: usize = 4;
    type Bits = U64x4;
    type Octet = Pair<F64x4>;
    type Register = Self;
    type Mask = U64x4;
    type Fields = U64x4;

    #[inline(always)]
    fn enter<W: Work>(work: W) -> W::Output {
        // SAFETY: see the top of the parent module.
        unsafe { with_avx2(work) }
    }
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
        // SAFETY: see the top of the parent module.
        U64x4(unsafe { _mm256_castpd_si256(self.0) })
    }
    #[inline(always)]
    fn from_bits(bits: U64x4) -> Self {
        // SAFETY: see the top of the parent module.
        F64x4(unsafe { _mm256_castsi256_pd(bits.0) })
    }
    #[inline(always)]
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the parent module.
        F64x4(unsafe { _mm256_blendv_pd(no.0, yes.0, _mm256_cmp_pd::<_CMP_LT_OQ>(a.0, b.0)) })
    }
    #[inline(always)]
    fn if_top_bit(mask: U64x4, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the parent module.
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
        // SAFETY: each row holds four entries; see the top of the parent module. The loaded rows are
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
        // SAFETY: see the top of the parent module.
        U64x4(unsafe { _mm256_andnot_si256(_mm256_cmpeq_epi64(a.0, b.0), mask.0) })
    }
    #[inline(always)]
    fn choose(mask: U64x4, yes: U64x4, no: U64x4) -> U64x4 {
        // SAFETY: see the top of the parent module.
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
        // SAFETY: see the top of the parent module.
        U64x4(unsafe { _mm256_cmpeq_epi64(fields.0, U64x4::of(TOP_OF_FIELDS).0) })
    }
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        // SAFETY: see the top of the parent module.
        F64x4(unsafe { _mm256_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: see the top of the parent module.
        F64x4(unsafe { _mm256_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn all_finite(self) -> bool {
        // SAFETY: see the top of the parent module. x − x is 0 for finite x and NaN otherwise.
        unsafe {
            let zero = _mm256_sub_pd(self.0, self.0);
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_UNORD_Q>(zero, zero)) == 0
        }
    }
    #[inline(always)]
    fn all_positive(self) -> bool {
        // SAFETY: see the top of the parent module.
        unsafe {
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GT_OQ>(self.0, _mm256_setzero_pd())) == 0b1111
        }
    }
}
