//! Elementary functions, random numbers and minibatches, in every instruction set.

mod batches;
#[path = "../common/mod.rs"]
mod common;
mod functions;
mod random;

/// χ² beyond its mean, z = (χ² − k)/√(2k) with k degrees of freedom. z beyond 6 has a probability of
/// 1.2·10⁻⁴ for k = 7, 2.7·10⁻⁵ for 15, 1.3·10⁻⁶ for 63 and less for more.
fn chi_square_z(counts: &[usize]) -> f64 {
    let total: usize = counts.iter().sum();
    let expected = total as f64 / counts.len() as f64;
    let chi: f64 = counts
        .iter()
        .map(|c| (*c as f64 - expected).powi(2) / expected)
        .sum();
    let k = counts.len() as f64 - 1.0;
    (chi - k) / (2.0 * k).sqrt()
}
