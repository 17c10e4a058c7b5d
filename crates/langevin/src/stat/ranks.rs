//! Rank normalisation: values replaced by the normal quantiles of their ranks.

use super::special::normal_quantile;
use rayon::prelude::*;

/// Normal scores of the ranks, `Φ⁻¹((r − 3/8) / (n + 1/4))` (Blom 1958), ties sharing their
/// average rank `r` (Vehtari et al. 2021, equation 14). The values must not be NaN.
pub(super) fn rank_normalised(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let denominator = values.len() as f64 + 0.25;
    let mut scores = vec![0.0; values.len()];
    let mut below = 0;
    for ties in order.chunk_by(|a, b| a.0 == b.0) {
        // Ranks below + 1, …, below + ties.len().
        let rank = below as f64 + (ties.len() + 1) as f64 / 2.0;
        let score = normal_quantile((rank - 0.375) / denominator);
        for &(_, position) in ties {
            scores[position] = score;
        }
        below += ties.len();
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_average_rank() {
        let z = rank_normalised(&[3.0, -0.0, 7.0, 0.0, f64::INFINITY]);
        let score = |rank: f64| normal_quantile((rank - 0.375) / 5.25);
        assert_eq!(z, [3.0, 1.5, 4.0, 1.5, 5.0].map(score));
    }
}
