//! Mixtures: of data with unknown means in order, and of two modes far apart.

use langevin::real::Real;
use langevin::target::Target;

use crate::Moments;
use crate::data::Source;
use crate::series::ln_logistic;

/// y ~ λ N(m₁, s₁²) + (1 − λ) N(m₂, s₂²) with m₁ < m₂; m ~ N(0, 2²), s ~ half-normal(2),
/// λ ~ Beta(5, 5).
///
/// Coordinates are m₁, log(m₂ − m₁), log s₁, log s₂, logit λ.
#[derive(Clone, Debug)]
pub struct OrderedMixture {
    y: Vec<f64>,
}

impl OrderedMixture {
    /// 150 data of two groups that overlap.
    pub fn simulated() -> Self {
        let mut source = Source::new(81);
        let mut one = || match source.coin(0.4) {
            1.0 => -1.5 + source.normal(),
            _ => 1.5 + 0.8 * source.normal(),
        };
        OrderedMixture {
            y: (0..150).map(|_| one()).collect(),
        }
    }
}

impl Target for OrderedMixture {
    fn dim(&self) -> usize {
        5
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let m1 = theta[0];
        let m2 = m1 + theta[1].exp();
        let (s1, s2) = (theta[2].exp(), theta[3].exp());
        let (ln_first, ln_second) = (ln_logistic(theta[4]), ln_logistic(-theta[4]));
        let mut sum = theta[1] + theta[2] + theta[3] + (ln_first + ln_second) * 5.0;
        sum -= (m1 * m1 + m2 * m2 + s1 * s1 + s2 * s2) * 0.125;
        let (w1, w2) = ((s1 * s1).recip() * 0.5, (s2 * s2).recip() * 0.5);
        for y in &self.y {
            let (r1, r2) = (-m1 + *y, -m2 + *y);
            let first = ln_first - theta[2] - r1 * r1 * w1;
            let second = ln_second - theta[3] - r2 * r2 * w2;
            // log(e^a + e^b) = a + log(1 + e^(b − a)).
            sum += first + (second - first).softplus();
        }
        sum
    }
}

/// w N(−c, I) + (1 − w) N(c, I) with c = (8, 8) and w = 0.3: no gradient leads from one to the other.
#[derive(Clone, Copy, Debug)]
pub struct TwoModes;

const CENTRE: f64 = 8.0;
const WEIGHT: f64 = 0.3;

impl TwoModes {
    /// The mean is (1 − 2w)c, the variance 1 + 4w(1 − w)c².
    pub fn moments(&self) -> Moments {
        let mean = (1.0 - 2.0 * WEIGHT) * CENTRE;
        let variance: f64 = 1.0 + 4.0 * WEIGHT * (1.0 - WEIGHT) * CENTRE * CENTRE;
        Moments::exact(&[mean; 2], &[variance.sqrt(); 2])
    }
}

impl Target for TwoModes {
    fn dim(&self) -> usize {
        2
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut near = R::of(WEIGHT.ln());
        let mut apart = R::of((1.0 / WEIGHT - 1.0).ln());
        for x in theta {
            near -= (*x + CENTRE) * (*x + CENTRE) * 0.5;
            // ½(x + c)² − ½(x − c)² = 2cx.
            apart += *x * (2.0 * CENTRE);
        }
        near + apart.softplus()
    }
}
