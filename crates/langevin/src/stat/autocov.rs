//! Autocovariance averaged over chains, by the fast Fourier transform.

use super::draws::Halves;
use super::moments::mean;
use rayon::prelude::*;
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlannerScalar};

/// Chains whose spectra one task adds up; fixed, so that sums do not depend on the threads.
const CHAINS_PER_TASK: usize = 4;

/// `γ(t)` for every lag `t`, averaged over the chains; divisor `n` at every lag, each chain
/// centred at its own mean.
///
/// The sum of the power spectra of all chains is transformed back once. The scalar planner is
/// slower than the vectorised one but gives the same bits on every processor.
pub(super) fn mean_autocovariance(chains: &Halves) -> Vec<f64> {
    let (n, n_chains) = (chains.n_draws(), chains.n_chains());
    let length = fast_length(2 * n);
    let fft = FftPlannerScalar::new().plan_fft_forward(length);
    let spectra: Vec<Vec<f64>> = chains
        .values()
        .par_chunks(CHAINS_PER_TASK * n)
        .map(|group| power(group, n, fft.as_ref()))
        .collect();
    let mut total = vec![Complex64::ZERO; length];
    for spectrum in &spectra {
        for (sum, p) in total.iter_mut().zip(spectrum) {
            sum.re += p;
        }
    }
    // A power spectrum is real and even, and so is its transform, forward or backward.
    fft.process(&mut total);
    let scale = 1.0 / (length as f64 * n as f64 * n_chains as f64);
    total[..n].iter().map(|c| c.re * scale).collect()
}

/// Sum of the power spectra of a few chains of `n` values.
///
/// Two real chains `a`, `b` share one transform of `a + ib`, as
/// `|A(k)|² + |B(k)|² = (|Z(k)|² + |Z(−k)|²) / 2`.
fn power(chains: &[f64], n: usize, fft: &dyn Fft<f64>) -> Vec<f64> {
    let length = fft.len();
    let mut sum = vec![0.0; length];
    let mut z = vec![Complex64::ZERO; length];
    let mut scratch = vec![Complex64::ZERO; fft.get_inplace_scratch_len()];
    for pair in chains.chunks(2 * n) {
        let (a, b) = pair.split_at(n);
        z.fill(Complex64::ZERO);
        let centre = mean(a);
        for (z, a) in z.iter_mut().zip(a) {
            z.re = a - centre;
        }
        let centre = mean(b);
        for (z, b) in z.iter_mut().zip(b) {
            z.im = b - centre;
        }
        fft.process_with_scratch(&mut z, &mut scratch);
        for k in 0..length {
            let mirror = (length - k) % length;
            sum[k] += 0.5 * (z[k].norm_sqr() + z[mirror].norm_sqr());
        }
    }
    sum
}

/// The smallest number `2^i 3^j 5^k` that is at least `n`.
fn fast_length(n: usize) -> usize {
    let is_fast = |m: &usize| {
        let mut m = *m;
        for prime in [2, 3, 5] {
            while m.is_multiple_of(prime) {
                m /= prime;
            }
        }
        m == 1
    };
    // A power of two is at most a factor of two away, so the search ends.
    (n.max(1)..).find(is_fast).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;

    #[test]
    fn agrees_with_the_definition() {
        for (n_chains, n_draws) in [(1, 8), (3, 14), (5, 97)] {
            let values = TestRng::new(21).ar1(n_chains, 2 * n_draws, 0.4);
            let chains = Halves::new(&values[..], 2 * n_draws);
            let got = mean_autocovariance(&chains);
            for lag in 0..n_draws {
                let one = |chain: &[f64]| {
                    let m = mean(chain);
                    let products = chain.iter().zip(&chain[lag..]);
                    products.map(|(a, b)| (a - m) * (b - m)).sum::<f64>() / n_draws as f64
                };
                let want = chains.chains().map(one).sum::<f64>() / (2 * n_chains) as f64;
                // Rounding of a transform is about ε log(length), relative to the variance.
                assert!(
                    (got[lag] - want).abs() < 1e-14,
                    "{n_chains} {n_draws} {lag}"
                );
            }
        }
    }

    #[test]
    fn same_bits_for_any_number_of_threads() {
        let values = TestRng::new(22).ar1(23, 100, 0.9);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| mean_autocovariance(&Halves::new(&values[..], 100)))
        };
        assert_eq!(run(1), run(4));
    }

    #[test]
    fn fast_lengths() {
        assert_eq!(
            [1, 7, 11, 2 * 97, 10_000].map(fast_length),
            [1, 8, 12, 200, 10_000]
        );
    }
}
