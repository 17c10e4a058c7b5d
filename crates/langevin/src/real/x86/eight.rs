//! Eight numbers in a register, with AVX-512.

use std::arch::x86_64::*;

use super::super::dispatch::{Work, with_avx512};
use super::super::{BitLanes, Lanes};
use super::{F64x8, U64x8};

/// Sums of neighbours, of `a` in even lanes and of `b` in odd ones.
///
/// # Safety
/// See the top of the parent module.
#[inline(always)]
unsafe fn pairs(a: __m512d, b: __m512d) -> __m512d {
    // SAFETY: by the caller's promise.
    unsafe { _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b)) }
}

/// Sums of neighbouring quarters, of `a` in the lower half and of `b` in the upper.
///
/// # Safety
/// See the top of the parent module.
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
/// Both places hold four entries; see the top of the parent module.
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
    fn enter<W: Work>(work: W) -> W::Output {
        // SAFETY: see the top of the parent module.
        unsafe { with_avx512(work) }
    }
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
        // SAFETY: see the top of the parent module.
        U64x8(unsafe { _mm512_castpd_si512(self.0) })
    }
    #[inline(always)]
    fn from_bits(bits: U64x8) -> Self {
        // SAFETY: see the top of the parent module.
        F64x8(unsafe { _mm512_castsi512_pd(bits.0) })
    }
    #[inline(always)]
    fn if_less(a: Self, b: Self, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the parent module.
        F64x8(unsafe {
            _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a.0, b.0), no.0, yes.0)
        })
    }
    #[inline(always)]
    fn if_top_bit(mask: U64x8, yes: Self, no: Self) -> Self {
        // SAFETY: see the top of the parent module.
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
        // SAFETY: see the top of the parent module.
        unsafe {
            let odd = _mm512_test_epi64_mask(word.0, _mm512_set1_epi64(1));
            let first = _mm512_mask_blend_pd(odd, a.0, b.0);
            let second = _mm512_mask_blend_pd(odd, b.0, a.0);
            (F64x8(first), F64x8(second))
        }
    }
    #[inline(always)]
    fn lookup<const N: usize>(table: &[f64; N], index: U64x8) -> Self {
        const { assert!(N == 16 || N == 32) }
        // SAFETY: the table is as long as what is read; two registers hold 16 entries, and the
        // permutation looks at no more than the four bits of the index that it needs.
        F64x8(unsafe {
            let part = |i: usize| _mm512_loadu_pd(table[8 * i..8 * (i + 1)].as_ptr());
            let low = _mm512_permutex2var_pd(part(0), index.0, part(1));
            if N == 16 {
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
        // SAFETY: each row holds four entries; see the top of the parent module. Rows k and k + 4 share a
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
        // SAFETY: see the top of the parent module.
        unsafe { _mm512_mask_cmpneq_epi64_mask(mask, a.0, b.0) }
    }
    #[inline(always)]
    fn choose(mask: __mmask8, yes: U64x8, no: U64x8) -> U64x8 {
        // SAFETY: see the top of the parent module.
        U64x8(unsafe { _mm512_mask_blend_epi64(mask, no.0, yes.0) })
    }
    #[inline(always)]
    fn all_fields() -> __mmask32 {
        u32::MAX
    }
    #[inline(always)]
    fn fields_unequal(fields: __mmask32, a: U64x8, b: U64x8) -> __mmask32 {
        // SAFETY: see the top of the parent module.
        unsafe { _mm512_mask_cmpneq_epi16_mask(fields, a.0, b.0) }
    }
    #[inline(always)]
    fn whole_lanes(fields: __mmask32) -> __mmask8 {
        // SAFETY: see the top of the parent module.
        unsafe { _mm512_cmpeq_epi64_mask(_mm512_movm_epi16(fields), _mm512_set1_epi64(-1)) }
    }
    #[inline(always)]
    fn sum_each(packs: &[Self; 8]) -> Self {
        // SAFETY: see the top of the parent module. Neighbours are added first, then quarters, then halves;
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
        // SAFETY: see the top of the parent module. Single numbers change places first, then quarters of
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
        // SAFETY: see the top of the parent module.
        F64x8(unsafe { _mm512_min_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        // SAFETY: see the top of the parent module.
        F64x8(unsafe { _mm512_max_pd(self.0, other.0) })
    }
    #[inline(always)]
    fn all_finite(self) -> bool {
        // SAFETY: see the top of the parent module. x − x is 0 for finite x and NaN otherwise.
        unsafe {
            let zero = _mm512_sub_pd(self.0, self.0);
            _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(zero, zero) == 0
        }
    }
    #[inline(always)]
    fn all_positive(self) -> bool {
        // SAFETY: see the top of the parent module.
        unsafe { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(self.0, _mm512_setzero_pd()) == 0xFF }
    }
}
