//! How heavy the tail of a distribution is, from its largest draws.

use super::draws::Draws;
use super::ess::squared_deviations;
use super::ranks::Order;
use super::scale::Unit;
use crate::real::{Isa, Kernel, Lanes, OCTET, Real};

/// Index of a tail with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailIndex {
    /// k̂: moments exist up to order 1/k.
    pub index: f64,
    /// (1 + k̂)/√m, of the m draws in the tail.
    pub error: f64,
}

impl TailIndex {
    pub(super) const UNKNOWN: Self = TailIndex {
        index: f64::NAN,
        error: f64::NAN,
    };
}

/// Tail index k̂ of the squared distances to the mean: moments of squares exist up to order 1/k, so
/// that from ½ on their variance is infinite and no standard deviation has an error that draws could
/// tell.
///
/// A generalised Pareto distribution is fitted to the largest squares by the quasi-Bayesian method of
/// Zhang and Stephens (2009); of n draws 3√n count, or 3 % where that is more, at most a fifth
/// (Vehtari, Simpson, Gelman, Yao and Gabry, 2024). NaN with fewer than 100 draws, if a draw is not
/// finite, or if the largest are all equal.
///
/// ```
/// use langevin::rng::{Rng, Stream};
/// use langevin::stat::{Draws, tail_index_of_squares};
/// let mut rng = Rng::new(1, 0, Stream::Setup);
/// let normal: Vec<f64> = (0..4000).map(|_| rng.normal()).collect();
/// assert!(tail_index_of_squares(Draws::new(&normal, 4, 1000)?).index < 0.4);
/// let cauchy: Vec<f64> = (0..4000).map(|_| rng.normal() / rng.normal()).collect();
/// assert!(tail_index_of_squares(Draws::new(&cauchy, 4, 1000)?).index > 1.0);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn tail_index_of_squares(draws: Draws) -> TailIndex {
    if draws.values().len() < FEWEST || draws.is_unusable() {
        return TailIndex::UNKNOWN;
    }
    let measured = Unit::of(draws.values()).measure(draws.values());
    let order = Order::new(draws.values());
    tail_index_of_order(&order, &squared_deviations(&measured))
}

/// The same, when the order of the draws and the squared distances are already known.
pub(super) fn tail_index_of_order(order: &Order, squares: &[f64]) -> TailIndex {
    let n = squares.len();
    if n < FEWEST {
        return TailIndex::UNKNOWN;
    }
    let wanted = (3.0 * (n as f64).sqrt()).max(0.03 * n as f64);
    let count = (wanted as usize).min(n / 5);
    // The largest are at the two ends.
    let square = |i: usize| squares[order.sorted()[i].1];
    let (mut low, mut high) = (0, n - 1);
    let mut largest = || match square(low) > square(high) {
        true => {
            low += 1;
            square(low - 1)
        }
        false => {
            high -= 1;
            square(high + 1)
        }
    };
    let mut excess: Vec<f64> = (0..count).map(|_| largest()).collect();
    let threshold = largest();
    excess.iter_mut().for_each(|x| *x -= threshold);
    excess.reverse();
    let index = pareto_index(&excess);
    TailIndex {
        index,
        error: (1.0 + index.max(0.0)) / (count as f64).sqrt(),
    }
}

/// Draws below which there is no tail to speak of.
const FEWEST: usize = 100;

/// Weight of the prior of Zhang and Stephens.
const PRIOR: f64 = 3.0;

/// k of the generalised Pareto distribution 1 − (1 + kx/σ)^(−1/k), from sorted values.
///
/// With b = −k/σ, the likelihood is largest for given b at k(b) = mean of log(1 − b x), where its
/// logarithm per value is log(−b/k) − k − 1; b is averaged over a grid of quantiles of its prior.
fn pareto_index(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    let quarter = sorted[(n as f64 / 4.0 + 0.5) as usize - 1];
    let largest = sorted[n - 1];
    if quarter <= 0.0 {
        return f64::NAN;
    }
    let size = 30 + (n as f64).sqrt() as usize;
    let index = |b: f64| Isa::run_octets(LogSum { values: sorted, b }) / n as f64;
    let grid: Vec<f64> = (1..=size)
        .map(|j| {
            let spread = 1.0 - (size as f64 / (j as f64 - 0.5)).sqrt();
            1.0 / largest + spread / (PRIOR * quarter)
        })
        .collect();
    let log_likelihood = |&b: &f64| {
        let k = index(b);
        n as f64 * ((-b / k).ln() - k - 1.0)
    };
    let logs: Vec<f64> = grid.iter().map(log_likelihood).collect();
    let top = logs.iter().fold(f64::NEG_INFINITY, |m, l| m.max(*l));
    let (mut mass, mut sum) = (0.0, 0.0);
    for (b, log) in grid.iter().zip(&logs) {
        // A b of 0 has no likelihood by this formula; its neighbours stand for it.
        if log.is_finite() {
            let weight = (log - top).exp();
            mass += weight;
            sum += weight * b;
        }
    }
    index(sum / mass)
}

/// `Σ log(1 − b x)`, in eight parts.
struct LogSum<'a> {
    values: &'a [f64],
    b: f64,
}

impl Kernel for LogSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f64 {
        let (eights, rest) = self.values.as_chunks::<OCTET>();
        let mut last = [0.0; OCTET];
        last[..rest.len()].copy_from_slice(rest);
        let minus = L::Octet::of(-self.b);
        let mut sums = [L::Octet::zero(); OCTET];
        for eight in eights.iter().chain([&last]) {
            sums[0] += (minus * L::Octet::load(eight)).ln_1p();
        }
        L::Octet::sum_each(&sums).lane(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::{TestRng, z_score};

    /// Pareto tails of known index. The estimate has standard deviation about (1 + k)/√n and a bias
    /// of order 1/n; false-alarm rate: four tests at |z| < 4.5, 3e-5.
    #[test]
    fn known_tails_have_their_index() {
        let mut rng = TestRng::new(71);
        for k in [0.1, 0.4, 0.7, 1.5] {
            let mut one = || {
                let mut x: Vec<f64> = (0..500)
                    .map(|_| (rng.uniform().powf(-k) - 1.0) / k)
                    .collect();
                x.sort_unstable_by(f64::total_cmp);
                pareto_index(&x)
            };
            let found: Vec<f64> = (0..100).map(|_| one()).collect();
            let spread = (1.0 + k) / (500f64).sqrt();
            let tolerance = 4.5 * spread / 10.0 + 0.01;
            let mean = found.iter().sum::<f64>() / 100.0;
            assert!((mean - k).abs() < tolerance, "{k}: {mean}");
            // Negative control: another index is refused.
            assert!(z_score(&found, k + 0.15) < -6.0 && z_score(&found, k - 0.15) > 6.0);
        }
    }

    /// Student's t with ν degrees of freedom has k = 2/ν of its squares. In 100 runs of 16 000 draws
    /// each, of t₆₀ none exceeds ½, of t₈ none, of t₅ at most one in six, and of t₃ at most
    /// one in ten stays below (measured: 0, 0, 6 % and 3 %).
    #[test]
    fn heavy_tails_are_told_from_others() {
        let mut rng = TestRng::new(72);
        let mut rate = |nu: usize| {
            let mut over = 0;
            for _ in 0..100 {
                let mut x = rng.normals(16_000);
                for x in &mut x {
                    let squares = |rng: &mut TestRng| rng.normal().powi(2);
                    let sum: f64 = (0..nu).map(|_| squares(&mut rng)).sum();
                    *x /= (sum / nu as f64).sqrt();
                }
                let draws = Draws::new(&x, 16, 1000).unwrap();
                over += usize::from(tail_index_of_squares(draws).index >= 0.5);
            }
            over
        };
        assert_eq!((rate(60), rate(8)), (0, 0));
        let (five, three) = (rate(5), rate(3));
        assert!(five <= 16 && three >= 90, "{five} {three}");
    }

    #[test]
    fn draws_without_a_tail() {
        let of = |x: &[f64]| tail_index_of_squares(Draws::new(x, 1, x.len()).unwrap()).index;
        assert!(of(&[1.0; 200]).is_nan() && of(&[1.0, 2.0, 3.0, 5.0]).is_nan());
        let uniform: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 400)).collect();
        assert!(of(&uniform) < 0.0);
    }
}
