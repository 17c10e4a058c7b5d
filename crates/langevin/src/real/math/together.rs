//! Functions of several numbers at once, which share a division or a logarithm.

use super::{exp_in_parts, exp_plus_one, minus_2_ln};
use crate::real::{Lanes, Real};

/// `tanh ½x` of many numbers, to 2·10⁻¹⁵ (twice some seven roundings of the quotient): near 0 that is
/// not as accurate as `tanh`, which a sum of such numbers does not notice.
#[inline(always)]
pub fn tanh_half_all<L: Lanes>(values: &mut [L]) {
    let mut left = values;
    // Twelve at once are independent work enough where a number is one register.
    if size_of::<L>() == size_of::<L::Register>() {
        let (twelves, rest) = left.as_chunks_mut::<12>();
        for twelve in twelves {
            tanh_half_threes(twelve);
        }
        left = rest;
    }
    let (threes, rest) = left.as_chunks_mut::<3>();
    for three in threes {
        tanh_half_threes(three);
    }
    for x in rest {
        let [p] = exp_plus_one::<_, _, false>([*x], TANH_IS_ONE);
        *x = p.recip().mul_add(L::of(-2.0), L::one());
    }
}

/// `tanh ½x = 1 − 2 / (e^x + 1)` of N numbers, a multiple of three: three quotients share one
/// division, which costs as much as the rest.
#[inline(always)]
fn tanh_half_threes<L: Lanes, const N: usize>(values: &mut [L; N]) {
    let p = exp_plus_one::<_, _, false>(*values, TANH_IS_ONE);
    for i in (0..N).step_by(3) {
        // No overflow: each is below e⁴⁴ + 2.
        let first_two = p[i] * p[i + 1];
        let inverse = (first_two * p[i + 2]).recip();
        let inverse_two = inverse * p[i + 2];
        let inverses = [
            inverse_two * p[i + 1],
            inverse_two * p[i],
            inverse * first_two,
        ];
        for (value, inverse) in values[i..].iter_mut().zip(inverses) {
            *value = inverse.mul_add(L::of(-2.0), L::one());
        }
    }
}

/// From here on, tanh ½x is 1 in double precision.
const TANH_IS_ONE: f64 = 44.0;

/// Replaces each of eight numbers z by `1 / (1 + e^{−z})` and returns the sum of their `ln(1 + e^z)`, to
/// some roundings of 1 each.
///
/// With `e = e^{−|z|}` and `p = 1 + e` in [1, 2], the one is 1/p or e/p and the other max(z, 0) + ln p.
/// Eight quotients come from one division, and the sum of eight logarithms is that of the inverse of
/// the product, at least 2⁻⁸.
#[inline(always)]
pub fn logistics_of_eight<L: Lanes>(z: &mut [L; 8]) -> L {
    // Eight at once are independent work enough where a number is one register, and fill those.
    let width = L::Register::WIDTH;
    let mut sum = [L::zero()];
    for first in (0..L::WIDTH).step_by(width) {
        let mut part = [L::Register::zero(); 8];
        for (part, z) in part.iter_mut().zip(z.chunks_exact(1)) {
            *part = L::Register::load(&L::numbers(z)[first..]);
        }
        in_registers(&mut part).store(&mut L::numbers_mut(&mut sum)[first..]);
        for (part, z) in part.iter().zip(z.chunks_exact_mut(1)) {
            part.store(&mut L::numbers_mut(z)[first..]);
        }
    }
    sum[0]
}

#[inline(always)]
fn in_registers<L: Lanes>(z: &mut [L; 8]) -> L {
    let mut away = *z;
    for x in &mut away {
        *x = -x.abs();
    }
    let (m1, scale) = exp_in_parts::<_, 8, true>(away, 708.0);
    let mut p = scale;
    for i in 0..8 {
        p[i] = m1[i].mul_add(scale[i], scale[i] + 1.0);
    }
    let twos = [p[0] * p[1], p[2] * p[3], p[4] * p[5], p[6] * p[7]];
    let fours = [twos[0] * twos[1], twos[2] * twos[3]];
    let inverse = (fours[0] * fours[1]).recip();
    let mut positive = L::zero();
    for half in 0..2 {
        let inverse = inverse * fours[1 - half];
        for quarter in [2 * half, 2 * half + 1] {
            let inverse = inverse * twos[quarter ^ 1];
            for i in [2 * quarter, 2 * quarter + 1] {
                let e = m1[i].mul_add(scale[i], scale[i]);
                let numerator = L::if_less(L::zero(), z[i], L::one(), e);
                positive += z[i].larger(L::zero());
                z[i] = inverse * p[i ^ 1] * numerator;
            }
        }
    }
    // NaN has a logarithm of bits, but times 0 it is NaN.
    let logs = minus_2_ln(inverse).mul_add(L::of(0.5), positive);
    inverse.mul_add(L::zero(), logs)
}
