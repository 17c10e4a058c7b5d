//! Elementary functions for every width of lanes: straight-line code, accurate to a few ulps.
//!
//! Each function is one algorithm for `f64` and for packs, so that a lane equals the scalar bit
//! for bit. Polynomial coefficients are minimax (Remez exchange, 60 digits), with relative errors
//! below 4·10⁻¹⁸; what remains is rounding.

use std::f64::consts::{FRAC_PI_2, LN_2, LOG2_E, SQRT_2};

use super::{BitLanes, Lanes};

mod together;

pub use together::{logistics_of_eight, tanh_half_all};

/// Adding 1.5·2⁵² to a number below 2⁵¹ rounds it to a whole number in the low bits.
const ROUNDER: f64 = 6755399441055744.0;
/// ln 2 = `LN_2_HIGH` + `LN_2_LOW`, the first with 32 trailing zero bits.
const LN_2_HIGH: f64 = 6.931_471_803_691_238_e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Horner's rule, highest power last in `c`.
#[inline(always)]
pub(crate) fn polynomial<L: Lanes, const N: usize>(x: L, c: [f64; N]) -> L {
    let mut sum = L::of(c[N - 1]);
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(x, L::of(c[i]));
    }
    sum
}

/// Reduces `x = n ln 2 + r` with |r| ≤ ½ ln 2; returns (n in the low bits, r, e^r − 1).
#[inline(always)]
fn reduced_exp_m1<L: Lanes>(x: L) -> (L::Bits, L, L) {
    let shifted = x.mul_add(L::of(LOG2_E), L::of(ROUNDER));
    let n = shifted - ROUNDER;
    let r = n.mul_add(L::of(-LN_2_HIGH), x);
    let r = n.mul_add(L::of(-LN_2_LOW), r);
    (shifted.to_bits(), r, exp_m1_small(r))
}

/// `e^r − 1` for |r| ≤ ½ ln 2.
#[inline(always)]
fn exp_m1_small<L: Lanes>(r: L) -> L {
    polynomial(r, EXP_M1_TAIL).mul_add(r * r, r)
}

/// `(e^r − 1 − r) / r²` for |r| ≤ ½ ln 2.
const EXP_M1_TAIL: [f64; 10] = [
    0.500_000_000_000_001_2,
    0.166_666_666_666_667,
    0.041_666_666_666_515_42,
    0.008_333_333_333_307_205,
    0.001_388_888_894_701_660_6,
    0.000_198_412_699_173_832_87,
    2.480_148_994_162_282e-5,
    2.755_721_630_145_158_6e-6,
    2.763_128_051_617_712e-7,
    2.511_786_079_702_547_4e-8,
];

/// `e^x`. Above 709.78 it is +∞; results below 2⁻¹⁰²¹ are flushed to 0.
#[inline(always)]
pub fn exp<L: Lanes>(x: L) -> L {
    let (n, _, m1) = reduced_exp_m1(x);
    // 2·e^r times 2^(n−1): n − 1 stays a valid exponent up to the overflow threshold.
    let scale = L::from_bits((n + L::Bits::of(1022)) << 52);
    let y = (m1 + m1 + 2.0) * scale;
    let y = L::if_less(x, L::of(-707.7), L::zero(), y);
    let y = L::if_less(L::of(709.782_712_893_384), x, L::of(f64::INFINITY), y);
    // NaN compares false and passes through the polynomial.
    y
}

/// `ln x` for positive, normal, finite `x`.
///
/// `x = 2^k m` with `m` in [√½, √2), then `ln m = 2 artanh(s)` with `s = (m−1)/(m+1)`; the
/// leading terms are arranged as in fdlibm so that no digit is lost near 1.
#[inline(always)]
pub fn ln_normal<L: Lanes>(x: L) -> L {
    let half = L::Bits::of((SQRT_2 * 0.5).to_bits());
    let t = x.to_bits() - half + L::Bits::of(1.0_f64.to_bits());
    let m = L::from_bits((t & L::Bits::of((1 << 52) - 1)) + half);
    let k = exponent::<L>(t);
    let f = m - 1.0;
    let s = f / (f + 2.0);
    let z = s * s;
    let r = z * polynomial(
        z,
        [
            0.666_666_666_666_673_4,
            0.399_999_999_994_139_65,
            0.285_714_287_425_622_05,
            0.222_221_985_537_814_78,
            0.181_835_654_073_693_54,
            0.153_140_211_173_578_76,
            0.147_962_611_674_914_8,
        ],
    );
    let half_square = f * f * 0.5;
    let inner = s * (half_square + r) + k * LN_2_LOW;
    k * LN_2_HIGH - ((half_square - inner) - f)
}

/// `−2 ln x` for normal `x` in (0, 1): the squared radius of a pair of normal numbers.
///
/// `x = 2^k m` with `m` in [0.6875, 1.375), cut into 16 intervals with a number `c ≈ 1/m` each; then
/// `ln x = k ln 2 − ln c + ln(1 + r)` with `r = cm − 1`, |r| ≤ 1/32. The interval below 1 has
/// `c = 1`, so that no digit is lost there. There is no division, which would compete with the root
/// that follows.
#[inline(always)]
pub fn minus_2_ln<L: Lanes>(x: L) -> L {
    let start = L::Bits::of(0.6875_f64.to_bits());
    let t = x.to_bits() - start + L::Bits::of(1.0_f64.to_bits());
    let m = L::from_bits((t & L::Bits::of((1 << 52) - 1)) + start);
    let k = exponent::<L>(t);
    let interval = t >> 48;
    let r = m.mul_add(L::lookup(&INVERSES, interval), L::of(-1.0));
    let whole = k.mul_add(L::of(-2.0 * LN_2), L::lookup(&TWICE_LN_INVERSES, interval));
    let tail = polynomial(
        r,
        [
            0.999_999_999_999_993_2,
            -0.666_666_666_666_643_6,
            0.500_000_000_091_616,
            -0.400_000_000_181_623_5,
            0.333_332_999_990_020_8,
            -0.285_713_816_387_938,
            0.250_447_725_646_442_7,
            -0.222_714_836_113_324_02,
        ],
    );
    tail.mul_add(r * r, r.mul_add(L::of(-2.0), whole))
}

/// One over the middle of each interval of [`minus_2_ln`]; 1 where the interval ends at 1.
const INVERSES: [f64; 16] = [
    1.422_222_222_222_222_3,
    1.361_702_127_659_574_4,
    1.306_122_448_979_591_7,
    1.254_901_960_784_313_7,
    1.207_547_169_811_320_7,
    1.163_636_363_636_363_6,
    1.122_807_017_543_859_6,
    1.084_745_762_711_864_4,
    1.049_180_327_868_852_5,
    1.0,
    0.969_696_969_696_969_7,
    0.914_285_714_285_714_3,
    0.864_864_864_864_864_9,
    0.820_512_820_512_820_5,
    0.780_487_804_878_048_8,
    0.744_186_046_511_627_9,
];

/// 2 ln of [`INVERSES`].
const TWICE_LN_INVERSES: [f64; 16] = [
    0.704_441_187_178_704_3,
    0.617_470_963_299_226_5,
    0.534_125_570_498_090_3,
    0.454_114_901_270_692_15,
    0.377_182_339_615_099_95,
    0.303_099_796_254_401_75,
    0.231_663_631_050_243_3,
    0.162_691_278_907_904_8,
    0.096_018_438_372_721_32,
    0.0,
    -0.061_543_317_333_507_32,
    -0.179_224_317_379_374_33,
    -0.290_364_019_688_995_67,
    -0.395_651_486_659_839_85,
    -0.495_672_327_809_162_4,
    -0.590_928_425_787_671_8,
];

/// The exponent in the high bits, made a number by planting it into the mantissa of 2⁵².
#[inline(always)]
fn exponent<L: Lanes>(bits: L::Bits) -> L {
    let two52 = 4503599627370496.0_f64;
    L::from_bits((bits >> 52) | L::Bits::of(two52.to_bits())) - (two52 + 1023.0)
}

/// `ln x`: −∞ at 0, NaN below 0.
#[inline(always)]
pub fn ln<L: Lanes>(x: L) -> L {
    let tiny = L::of(f64::MIN_POSITIVE);
    let two54 = 18014398509481984.0;
    let scaled = L::if_less(x, tiny, x * two54, x);
    let shift = L::if_less(x, tiny, L::of(54.0 * LN_2), L::zero());
    let y = ln_normal(scaled) - shift;
    let y = L::if_less(x, L::of(f64::from_bits(1)), L::of(f64::NEG_INFINITY), y);
    let y = L::if_less(x, L::zero(), L::of(f64::NAN), y);
    // NaN compares false and, like +∞, is its own logarithm.
    L::if_less(x, L::of(f64::INFINITY), y, x)
}

/// `ln(1 + x)`, accurate near 0: the rounding error of `1 + x` is divided out again.
#[inline(always)]
pub fn ln_1p<L: Lanes>(x: L) -> L {
    let u = x + 1.0;
    let d = u - 1.0;
    // Where 1 + x rounds to 1 the answer is x; the divisor is then replaced to avoid 0/0.
    let negligible = L::of(f64::MIN_POSITIVE);
    let divisor = L::if_less(d.abs(), negligible, L::one(), d);
    let y = ln(u) * (x / divisor);
    let y = L::if_less(d.abs(), negligible, x, y);
    L::if_less(x, L::of(f64::INFINITY), y, x)
}

/// `tanh x = E / (E + 2)` with `E = e^{2x} − 1`; beyond ±22 it is ±1 in double precision.
#[inline(always)]
pub fn tanh<L: Lanes>(x: L) -> L {
    // The constant is the first operand, so that NaN passes.
    let x = L::larger(L::of(-22.0), L::smaller(L::of(22.0), x));
    // 2x = n ln 2 + r; the rounding of ln 2 is harmless: it only counts where the exponential is
    // large and tanh flat. The biased exponent lands in the low bits.
    let rounder = ROUNDER + 1023.0;
    let shifted = x.mul_add(L::of(2.0 * LOG2_E), L::of(rounder));
    let r = (shifted - rounder).mul_add(L::of(-LN_2), x + x);
    let scale = L::from_bits(shifted.to_bits() << 52);
    let e = exp_m1_small(r).mul_add(scale, scale - 1.0);
    e / (e + 2.0)
}

/// m and s with `e^x = ms + s`; x beyond ±`limit` (708 at most) is taken for ±`limit`. The error
/// in x is some 10⁻¹⁶ of x unless `PRECISE`.
///
/// `x = (16n + j) ln 2 / 16 + r` with |r| ≤ ln 2 / 32, so that `e^x = 2ⁿ 2^{j/16} e^r`.
///
/// In step: each operation is done for all numbers before the next is, since the next has to wait.
#[inline(always)]
fn exp_in_parts<L: Lanes, const N: usize, const PRECISE: bool>(
    mut x: [L; N],
    limit: f64,
) -> ([L; N], [L; N]) {
    for x in &mut x {
        // The constant is the first operand, so that NaN passes.
        *x = L::larger(L::of(-limit), L::smaller(L::of(limit), *x));
    }
    let mut shifted = x;
    for i in 0..N {
        shifted[i] = x[i].mul_add(L::of(16.0 * LOG2_E), L::of(ROUNDER));
    }
    let ln_2 = if PRECISE { LN_2_HIGH } else { LN_2 };
    let mut r = x;
    for i in 0..N {
        let whole = shifted[i] - ROUNDER;
        r[i] = whole.mul_add(L::of(ln_2 / -16.0), x[i]);
        if PRECISE {
            r[i] = whole.mul_add(L::of(LN_2_LOW / -16.0), r[i]);
        }
    }
    // (e^r − 1 − r) / r², with an error below 2·10⁻¹⁷ in e^r.
    const TAIL: [f64; 5] = [
        0.500_000_000_000_000_6,
        0.166_666_666_644_178_53,
        0.041_666_666_659_656_064,
        0.008_333_471_923_682_51,
        0.001_388_912_899_856_884_7,
    ];
    let mut tail = [L::of(TAIL[4]); N];
    for k in (0..4).rev() {
        for i in 0..N {
            tail[i] = tail[i].mul_add(r[i], L::of(TAIL[k]));
        }
    }
    for i in 0..N {
        r[i] = tail[i].mul_add(r[i] * r[i], r[i]);
        // 16n + j in the low bits becomes n in the exponent and j in the next four bits, which the
        // table has taken off.
        let word = shifted[i].to_bits();
        let power = L::lookup(&SIXTEENTHS, word).to_bits();
        x[i] = L::from_bits(power + (word << 48));
    }
    (r, x)
}

/// `e^x + 1`; x as in [`exp_in_parts`].
#[inline(always)]
fn exp_plus_one<L: Lanes, const N: usize, const PRECISE: bool>(x: [L; N], limit: f64) -> [L; N] {
    let (m1, mut scale) = exp_in_parts::<_, N, PRECISE>(x, limit);
    for (scale, m1) in scale.iter_mut().zip(m1) {
        *scale = m1.mul_add(*scale, *scale + 1.0);
    }
    scale
}

/// 2^{j/16}, less j·2⁴⁸ in its bits.
const SIXTEENTHS: [f64; 16] = {
    let powers: [f64; 16] = [
        1.0,
        1.044_273_782_427_413_8,
        1.090_507_732_665_257_7,
        1.138_788_634_756_691_6,
        1.189_207_115_002_721,
        1.241_857_812_073_484,
        1.296_839_554_651_009_6,
        1.354_255_546_936_892_7,
        SQRT_2,
        1.476_826_145_939_499_3,
        1.542_210_825_407_940_7,
        1.610_490_331_949_254_3,
        1.681_792_830_507_429,
        1.756_252_160_373_299_5,
        1.834_008_086_409_342_4,
        1.915_206_561_397_147_4,
    ];
    let mut out = powers;
    let mut j = 0;
    while j < 16 {
        out[j] = f64::from_bits(powers[j].to_bits() - ((j as u64) << 48));
        j += 1;
    }
    out
};

/// `1 / (1 + e^{−x})`; flushed to 0 below −708.
#[inline(always)]
pub fn logistic<L: Lanes>(x: L) -> L {
    let [p] = exp_plus_one::<_, _, true>([-x], 708.0);
    L::if_less(x, L::of(-708.0), L::zero(), p.recip())
}

/// `ln(1 + e^x) = max(x, 0) + ln(1 + e^{−|x|})`.
#[inline(always)]
pub fn softplus<L: Lanes>(x: L) -> L {
    let positive = L::if_less(L::zero(), x, x, L::zero());
    positive + ln_1p(exp(-x.abs()))
}

/// Sine and cosine of `½π r` for |r| ≤ ½.
#[inline(always)]
pub fn sin_cos_quarter<L: Lanes>(r: L) -> (L, L) {
    let z = r * r;
    let sin = polynomial(
        z,
        [
            FRAC_PI_2,
            -0.645_964_097_506_245,
            0.079_692_626_246_062_73,
            -0.004_681_754_132_616_26,
            0.000_160_441_152_598_428_84,
            -3.598_649_340_379_484_3e-6,
            5.634_675_040_986_005_4e-8,
        ],
    ) * r;
    let cos = polynomial(
        z,
        [
            1.0,
            -1.233_700_550_136_169_7,
            0.253_669_507_901_047_6,
            -0.020_863_480_763_330_805,
            0.000_919_260_274_391_113_4,
            -2.520_203_792_044_295_6e-5,
            4.710_641_612_291_878e-7,
            -6.324_759_113_605_192e-9,
        ],
    );
    (sin, cos)
}

/// Turns (sin, cos) of an angle by as many quarter turns as the low two bits of `quarters` say.
#[inline(always)]
pub fn turn<L: Lanes>(quarters: L::Bits, sin: L, cos: L) -> (L, L) {
    let odd = quarters << 63;
    let s = L::if_top_bit(odd, cos, sin);
    let c = L::if_top_bit(odd, sin, cos);
    let sign = L::Bits::of(1 << 63);
    // Quarters 2 and 3 negate the sine; quarters 1 and 2 negate the cosine.
    let flip_s = (quarters << 62) & sign;
    let flip_c = ((quarters << 62) ^ (quarters << 63)) & sign;
    (
        L::from_bits(s.to_bits() ^ flip_s),
        L::from_bits(c.to_bits() ^ flip_c),
    )
}

/// Sine and cosine by subtraction of multiples of ½π in three parts; for |x| up to about 10⁵.
#[inline(always)]
pub fn sin_cos<L: Lanes>(x: L) -> (L, L) {
    const PI_2_A: f64 = 1.570_796_326_734_125_6;
    const PI_2_B: f64 = 6.077_100_506_303_966e-11;
    const PI_2_C: f64 = 2.022_266_248_795_950_6e-21;
    let shifted = x.mul_add(L::of(1.0 / FRAC_PI_2), L::of(ROUNDER));
    let n = shifted - ROUNDER;
    let r = n.mul_add(L::of(-PI_2_A), x);
    let r = n.mul_add(L::of(-PI_2_B), r);
    let r = n.mul_add(L::of(-PI_2_C), r);
    let z = r * r;
    let sin = (polynomial(
        z,
        [
            -0.166_666_666_666_666_32,
            0.008_333_333_333_322_418,
            -0.000_198_412_698_298_123_8,
            2.755_731_369_357_207_7e-6,
            -2.505_075_838_421_418_4e-8,
            1.589_681_178_666_804e-10,
        ],
    ) * z)
        .mul_add(r, r);
    let cos = polynomial(
        z,
        [
            1.0,
            -0.5,
            0.041_666_666_666_666_6,
            -0.001_388_888_888_887_413_1,
            2.480_158_728_948_700_6e-5,
            -2.755_731_435_378_715e-7,
            2.087_572_347_876_586_4e-9,
            -1.135_965_883_048_567_7e-11,
        ],
    );
    turn(shifted.to_bits(), sin, cos)
}
