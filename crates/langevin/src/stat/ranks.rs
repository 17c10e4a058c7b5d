//! The order of values, and normal scores of their ranks.

use super::special::normal_quantile;

/// Values in ascending order, each with the place that it came from.
pub(super) struct Order(Vec<(f64, usize)>);

impl Order {
    /// The order of values, none of them NaN.
    pub fn new(values: &[f64]) -> Self {
        let mut keys: Vec<(u64, usize)> = values.iter().map(|v| key(*v)).zip(0..).collect();
        sort(&mut keys);
        Order(keys.iter().map(|&(key, i)| (number(key), i)).collect())
    }

    /// Values in ascending order, with their places.
    pub fn sorted(&self) -> &[(f64, usize)] {
        &self.0
    }

    /// The order of the distances to the median, all halved where one could overflow.
    pub fn folded(&self) -> Self {
        let n = self.0.len();
        let Some((low, high)) = self.0.first().zip(self.0.last()) else {
            return Order(vec![]);
        };
        let large = low.0.abs().max(high.0.abs()) > f64::MAX / 2.0;
        let scale = if large { 0.5 } else { 1.0 };
        let centre = match n % 2 {
            1 => self.0[n / 2].0,
            _ => self.0[n / 2 - 1].0.midpoint(self.0[n / 2].0),
        };
        let distance = |i: usize| (self.0[i].0 * scale - centre * scale).abs();
        // Distances ascend to either side of the median; `below` of one and `above` of the other remain.
        let mut below = self.0.partition_point(|v| v.0 < centre);
        let mut above = below;
        let mut merged = Vec::with_capacity(n);
        while below > 0 && above < n {
            // (No branch: which is nearer is as good as random.)
            let (one, other) = (distance(below - 1), distance(above));
            let nearer = one < other;
            let from = if nearer { below - 1 } else { above };
            merged.push((if nearer { one } else { other }, self.0[from].1));
            below -= usize::from(nearer);
            above += usize::from(!nearer);
        }
        let rest = (0..below).rev().chain(above..n);
        merged.extend(rest.map(|i| (distance(i), self.0[i].1)));
        Order(merged)
    }

    /// Normal scores of the ranks, in the order in which the values came.
    pub fn scores(&self, of: &NormalScores) -> Vec<f64> {
        let mut scores = vec![0.0; self.0.len()];
        let mut below = 0;
        for ties in self.0.chunk_by(|a, b| a.0 == b.0) {
            // Ranks below + 1, …, below + ties.len(); their average counts.
            let score = of.score(2 * below + ties.len() + 1);
            for &(_, position) in ties {
                scores[position] = score;
            }
            below += ties.len();
        }
        scores
    }
}

/// Normal scores of ranks r among n, `Φ⁻¹((r − 3/8) / (n + 1/4))` (Blom 1958), ties sharing their
/// average rank r (Vehtari et al. 2021, equation 14).
pub(super) struct NormalScores {
    n: usize,
    /// Those of 2r = 0, 1, …, 2n, where they are wanted more than once.
    table: Vec<f64>,
}

impl NormalScores {
    /// Computed when they are asked for.
    pub fn new(n: usize) -> Self {
        NormalScores { n, table: vec![] }
    }

    /// Computed once for all.
    pub fn tabulated(n: usize) -> Self {
        let table = (0..=2 * n).map(|twice| normal_score(twice, n)).collect();
        NormalScores { n, table }
    }

    fn score(&self, twice_rank: usize) -> f64 {
        match self.table.get(twice_rank) {
            Some(score) => *score,
            None => normal_score(twice_rank, self.n),
        }
    }
}

fn normal_score(twice_rank: usize, n: usize) -> f64 {
    normal_quantile((twice_rank as f64 / 2.0 - 0.375) / (n as f64 + 0.25))
}

/// Words in the order of numbers, that of `f64::total_cmp`.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    match bits >> 63 {
        1 => !bits,
        _ => bits | 1 << 63,
    }
}

/// The number of a word.
fn number(key: u64) -> f64 {
    f64::from_bits(match key >> 63 {
        1 => key ^ 1 << 63,
        _ => !key,
    })
}

/// Values from which on digits pay.
const MANY: usize = 512;
const DIGIT: u32 = 11;
/// Bits below the three digits.
const BELOW: u32 = 64 - 3 * DIGIT;

/// Sorts words: many by three digits (sign, exponent and 21 bits of the fraction), the lowest first, and
/// those that agree in them by comparison.
fn sort(keys: &mut Vec<(u64, usize)>) {
    if keys.len() < MANY {
        keys.sort_unstable();
        return;
    }
    let mut other = vec![(0, 0); keys.len()];
    for shift in [BELOW, BELOW + DIGIT, BELOW + 2 * DIGIT] {
        let digit = |key: u64| (key >> shift) as usize % (1 << DIGIT);
        let mut places = vec![0; 1 << DIGIT];
        for (key, _) in keys.iter() {
            places[digit(*key)] += 1;
        }
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for &pair in keys.iter() {
            let place = &mut places[digit(pair.0)];
            other[*place] = pair;
            *place += 1;
        }
        std::mem::swap(keys, &mut other);
    }
    for group in keys.chunk_by_mut(|a, b| a.0 >> BELOW == b.0 >> BELOW) {
        if group.len() > 1 {
            group.sort_unstable();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;

    fn scores(values: &[f64]) -> Vec<f64> {
        Order::new(values).scores(&NormalScores::new(values.len()))
    }

    #[test]
    fn ties_share_their_average_rank() {
        let z = scores(&[3.0, -0.0, 7.0, 0.0, f64::INFINITY]);
        let score = |rank: f64| normal_quantile((rank - 0.375) / 5.25);
        assert_eq!(z, [3.0, 1.5, 4.0, 1.5, 5.0].map(score));
    }

    #[test]
    fn tables_hold_the_same_bits() {
        let table = NormalScores::tabulated(37);
        let direct = NormalScores::new(37);
        for twice in 2..=74 {
            assert_eq!(table.score(twice), direct.score(twice));
        }
    }

    /// Values of all sizes and signs, close to each other, and tied.
    #[test]
    fn many_values_are_put_in_order() {
        let mut rng = TestRng::new(81);
        for (offset, scale) in [(0.0, 1.0), (1e9, 1.0), (0.0, 1e300), (1.0, 0.0)] {
            let mut values: Vec<f64> = (0..2000)
                .map(|i| offset + scale * rng.normal() * 10f64.powi(i % 40 - 39))
                .collect();
            values.extend_from_within(300..500);
            values.extend([0.0, -0.0, f64::MIN_POSITIVE / 8.0, -f64::MAX, f64::MAX]);
            let mut known: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
            known.sort_by(|a, b| a.0.total_cmp(&b.0));
            let order = Order::new(&values);
            assert_eq!(order.sorted(), known);
            // Distances to the median, halved as one of them may overflow.
            let n = known.len();
            let centre = match n % 2 {
                1 => known[n / 2].0,
                _ => known[n / 2 - 1].0.midpoint(known[n / 2].0),
            };
            let distance = |v: &f64| (v * 0.5 - centre * 0.5).abs();
            let distances: Vec<f64> = values.iter().map(distance).collect();
            assert_eq!(
                order.folded().scores(&NormalScores::new(n)),
                scores(&distances)
            );
        }
    }
}
