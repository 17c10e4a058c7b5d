//! Quantile functions of the normal and the beta distribution.

/// Quantile of the standard normal distribution for `1e-11 < p < 1 - 1e-11`.
///
/// Rational approximations of Wichura (1988), algorithm AS 241 (PPND16), relative error 1e-16.
/// Its third range, beyond these probabilities, is left out: normal scores of ranks reach it only
/// with more than 10¹⁰ values.
pub(super) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        q * polynomial(&CENTRE.0, r) / polynomial(&CENTRE.1, r)
    } else {
        let tail = if q < 0.0 { p } else { 1.0 - p };
        let r = (-tail.ln()).sqrt() - 1.6;
        let size = polynomial(&FLANK.0, r) / polynomial(&FLANK.1, r);
        size.copysign(q)
    }
}

fn polynomial(coefficients: &[f64; 8], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Numerator and denominator for `|p - 1/2| ≤ 0.425`.
const CENTRE: ([f64; 8], [f64; 8]) = (
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
);

/// Numerator and denominator further out.
const FLANK: ([f64; 8], [f64; 8]) = (
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
);

/// Quantile of the beta distribution with `a, b ≥ ½`, by bisection of its distribution function.
pub(super) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beta_cdf(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Distribution function of the beta distribution, `I_x(a, b)`, for `0 < x < 1`.
fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    // The fraction converges fast on this side of the mean (DLMF 8.17.22).
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_cdf_left(1.0 - x, b, a);
    }
    beta_cdf_left(x, a, b)
}

/// `x^a (1-x)^b / (a B(a, b))` over the continued fraction DLMF 8.17.22, by Lentz's method.
fn beta_cdf_left(x: f64, a: f64, b: f64) -> f64 {
    let ln_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta).exp() / a;
    if front == 0.0 {
        return 0.0;
    }
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    // About sqrt(max(a, b)) terms are needed; the bound only guards against NaN.
    let max_terms = 1000 + 20 * a.max(b).sqrt() as usize;
    for term in 1..max_terms {
        let m = (term / 2) as f64;
        let numerator = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / away_from_zero(1.0 + numerator * d);
        c = away_from_zero(1.0 + numerator / c);
        fraction *= c * d;
        if (c * d - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    front / fraction
}

fn away_from_zero(x: f64) -> f64 {
    if x.abs() < 1e-300 { 1e-300 } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantile_at_known_points() {
        // 50-digit values of the inverse error function, rounded.
        for (p, z) in NORMAL {
            let got = normal_quantile(p);
            assert!((got - z).abs() <= 4e-16 * z.abs(), "p = {p}: {got} {z}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.25), -normal_quantile(0.75));
    }

    #[test]
    fn beta_quantile_at_known_points() {
        for (p, a, b, x) in BETA {
            // An error ε ln Γ(a + b) of each logarithm is a relative error of F(x); over the
            // density, about 0.24 / sd at one sd from the mean, it is one of x.
            let sd = (a * b / (a + b + 1.0)).sqrt() / (a + b);
            let rounding = 3.0 * f64::EPSILON * libm::lgamma(a + b) * p;
            let tolerance = rounding * sd / 0.24 + 1e-15;
            let got = beta_quantile(p, a, b);
            assert!((got - x).abs() <= tolerance, "{p} {a} {b}: {got} {x}");
        }
        // Closed form: the distribution function of Beta(a, 1) is x^a.
        assert!((beta_quantile(0.3, 7.0, 1.0) - 0.3f64.powf(1.0 / 7.0)).abs() < 1e-15);
    }

    const NORMAL: [(f64, f64); 6] = [
        (1e-09, -5.9978070150076865),
        (0.001, -3.0902323061678136),
        (0.02, -2.053748910631823),
        (0.0749999, -1.4395321773759007),
        (0.3, -0.5244005127080408),
        (0.9, 1.2815515655446006),
    ];

    const BETA: [(f64, f64, f64, f64); 7] = [
        (0.1586553, 1.5, 3.25, 0.11283089023353797),
        (0.8413447, 20.0, 381.0, 0.06067043744159259),
        (0.1586553, 51.0, 951.0, 0.043974380330828296),
        (0.8413447, 5001.0, 5001.0, 0.5049994991169386),
        (0.1586553, 30001.0, 970001.0, 0.029830351253800198),
        (0.8413447, 2500000.0, 2500000.0, 0.5002236067551777),
        (0.1586553, 1.0, 40.0, 0.004309533041445574),
    ];
}
