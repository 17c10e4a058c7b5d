//! Item response theory with two parameters for each item.

use langevin::real::Real;
use langevin::target::Target;

use crate::data::{Source, logistic};

const ITEMS: usize = 20;
const PEOPLE: usize = 50;

/// Person j answers item i rightly with probability logistic(aᵢ(ηⱼ − bᵢ)); ηⱼ ~ N(0, 1),
/// log aᵢ ~ N(0, 0.5²), bᵢ ~ N(m, s²), m ~ N(0, 2²), s ~ half-normal(2).
///
/// Coordinates are m, log s, all log aᵢ, all bᵢ, all ηⱼ.
///
/// ```
/// use langevin::target::Target;
/// use langevin_posteriors::items::ItemResponse;
/// assert_eq!(ItemResponse::simulated().dim(), 92);
/// ```
#[derive(Clone, Debug)]
pub struct ItemResponse {
    /// Answers, item by item.
    answers: Vec<f64>,
}

impl ItemResponse {
    /// Fifty people and twenty items.
    pub fn simulated() -> Self {
        let mut source = Source::new(41);
        let abilities = source.normals(PEOPLE);
        let mut answers = vec![];
        for _ in 0..ITEMS {
            let (a, b) = ((0.4 * source.normal()).exp(), 0.3 + source.normal());
            for ability in &abilities {
                answers.push(source.coin(logistic(a * (ability - b))));
            }
        }
        ItemResponse { answers }
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let (m, log_s) = (theta[0], theta[1]);
        let s = log_s.exp();
        let precision = (s * s).recip();
        let mut sum = log_s - (m * m + s * s) * 0.125;
        let (mut by_m, mut by_log_s) = (m * -0.25, R::one() - s * s * 0.25);
        let (log_a, rest) = theta[2..].split_at(ITEMS);
        let (b, ability) = rest.split_at(ITEMS);
        let (out_a, rest) = out[2..].split_at_mut(ITEMS);
        let (out_b, out_ability) = rest.split_at_mut(ITEMS);
        for j in 0..PEOPLE {
            out_ability[j] = -ability[j];
            sum -= ability[j] * ability[j] * 0.5;
        }
        for i in 0..ITEMS {
            let a = log_a[i].exp();
            let back = (b[i] - m) * precision;
            let z2 = (b[i] - m) * back;
            sum -= log_a[i] * log_a[i] * 2.0 + z2 * 0.5 + log_s;
            by_m += back;
            by_log_s += z2 - 1.0;
            let (mut by_a, mut pull) = (R::zero(), R::zero());
            for j in 0..PEOPLE {
                let z = a * (ability[j] - b[i]);
                let answer = self.answers[i * PEOPLE + j];
                sum += z * answer - z.softplus();
                let residual = -z.logistic() + answer;
                by_a += residual * z;
                pull += residual;
                out_ability[j] += residual * a;
            }
            out_a[i] = by_a - log_a[i] * 4.0;
            out_b[i] = -(pull * a) - back;
        }
        (out[0], out[1]) = (by_m, by_log_s);
        sum
    }
}

impl Target for ItemResponse {
    fn dim(&self) -> usize {
        2 + 2 * ITEMS + PEOPLE
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (m, log_s) = (theta[0], theta[1]);
        let s = log_s.exp();
        let mut sum = log_s - (m * m + s * s) * 0.125;
        let (log_a, rest) = theta[2..].split_at(ITEMS);
        let (b, ability) = rest.split_at(ITEMS);
        for eta in ability {
            sum -= *eta * *eta * 0.5;
        }
        for i in 0..ITEMS {
            let a = log_a[i].exp();
            let from_mean = (b[i] - m) / s;
            sum -= log_a[i] * log_a[i] * 2.0 + from_mean * from_mean * 0.5 + log_s;
            for j in 0..PEOPLE {
                let z = a * (ability[j] - b[i]);
                sum += z * self.answers[i * PEOPLE + j] - z.softplus();
            }
        }
        sum
    }

    in_one_pass!();
}
