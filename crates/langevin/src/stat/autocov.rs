//! Autocovariance averaged over chains: by direct sums at the first lags, by the fast Fourier transform
//! if many are asked for.

use super::draws::Halves;
use super::moments::mean;
use crate::real::{Isa, Kernel, Lanes, OCTET, Real};
use rayon::prelude::*;
use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlannerScalar};

/// Chains that one task adds up; fixed, so that sums do not depend on the threads.
const CHAINS_PER_TASK: usize = 4;
/// Lags up to which direct sums are cheaper than transforms of long chains.
const MOST_DIRECT: usize = 256;
/// Draws from which on several threads pay for a few lags.
const MANY: usize = 1 << 17;
/// Zeros after each chain: eight lags of eight draws reach beyond its end by less.
const PADDING: usize = 2 * OCTET;

/// `γ(t)` for the lags `t` that are asked for, averaged over the chains; divisor `n` at every lag, each
/// chain centred at its own mean.
///
/// Sums over positively correlated neighbours end at some thirty lags, long before a transform pays.
pub(super) struct Autocovariance {
    n: usize,
    means: Vec<f64>,
    /// Chains less their means, with [`PADDING`].
    padded: Vec<f64>,
    /// γ at the first lags.
    known: Vec<f64>,
}

impl Autocovariance {
    pub fn new(chains: &Halves) -> Self {
        let n = chains.n_draws();
        let means: Vec<f64> = chains.chains().map(mean).collect();
        let mut padded = vec![0.0; (n + PADDING) * means.len()];
        let places = padded.chunks_exact_mut(n + PADDING);
        for ((place, chain), centre) in places.zip(chains.chains()).zip(&means) {
            for (place, x) in place.iter_mut().zip(chain) {
                *place = x - centre;
            }
        }
        Autocovariance {
            n,
            means,
            padded,
            known: vec![],
        }
    }

    /// Means of the chains.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// γ at a lag below the length of a chain.
    pub fn at(&mut self, lag: usize) -> f64 {
        while lag >= self.known.len() {
            let first = self.known.len();
            if first < MOST_DIRECT || self.n <= 2 * MOST_DIRECT {
                let lags = self.eight_lags();
                self.known.extend(&lags[..OCTET.min(self.n - first)]);
            } else {
                let all = by_spectra(&self.padded, self.n);
                self.known.extend(&all[first..]);
            }
        }
        self.known[lag]
    }

    /// γ at the eight lags that come next.
    fn eight_lags(&self) -> [f64; OCTET] {
        let stride = self.n + PADDING;
        let of_group = |chains: &[f64]| {
            Isa::run_octets(EightLags {
                chains,
                stride,
                first: self.known.len(),
            })
        };
        let group = CHAINS_PER_TASK * stride;
        let groups: Vec<[f64; OCTET]> = match self.padded.len() < MANY {
            true => self.padded.chunks(group).map(of_group).collect(),
            false => self.padded.par_chunks(group).map(of_group).collect(),
        };
        let mut sums = [0.0; OCTET];
        for group in groups {
            for (sum, part) in sums.iter_mut().zip(group) {
                *sum += part;
            }
        }
        sums.map(|sum| sum / (self.n * self.means.len()) as f64)
    }
}

/// `Σ x(s) x(s + t)` over some chains for eight lags t from the `first` on. (Products and additions are
/// rounded apart, which costs nothing here and is fast on processors without both in one.)
struct EightLags<'a> {
    chains: &'a [f64],
    stride: usize,
    first: usize,
}

impl Kernel for EightLags<'_> {
    type Output = [f64; OCTET];

    #[inline(always)]
    fn run<L: Lanes>(self) -> [f64; OCTET] {
        let n = self.stride - PADDING;
        let mut total = L::Octet::zero();
        for chain in self.chains.chunks_exact(self.stride) {
            let mut sums = [L::Octet::zero(); OCTET];
            for s in (0..n - self.first).step_by(OCTET) {
                let x = L::Octet::load(&chain[s..]);
                let later = &chain[s + self.first..][..PADDING - 1];
                for t in 0..OCTET {
                    sums[t] += x * L::Octet::load(&later[t..]);
                }
            }
            total += L::Octet::sum_each(&sums);
        }
        let mut out = [0.0; OCTET];
        total.store(&mut out);
        out
    }
}

/// γ at all lags: the sum of the power spectra of all chains is transformed back once. The scalar
/// planner is slower than the vectorised one but gives the same bits on every processor.
fn by_spectra(padded: &[f64], n: usize) -> Vec<f64> {
    let stride = n + PADDING;
    let n_chains = padded.len() / stride;
    let length = fast_length(2 * n);
    let fft = FftPlannerScalar::new().plan_fft_forward(length);
    let spectra: Vec<Vec<f64>> = padded
        .par_chunks(CHAINS_PER_TASK * stride)
        .map(|group| power(group, stride, fft.as_ref()))
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

/// Sum of the power spectra of a few centred chains, `stride` numbers apart, padded with zeros.
///
/// Two real chains `a`, `b` share one transform of `a + ib`, as
/// `|A(k)|² + |B(k)|² = (|Z(k)|² + |Z(−k)|²) / 2`.
fn power(chains: &[f64], stride: usize, fft: &dyn Fft<f64>) -> Vec<f64> {
    let (length, n) = (fft.len(), stride - PADDING);
    let mut sum = vec![0.0; length];
    let mut z = vec![Complex64::ZERO; length];
    let mut scratch = vec![Complex64::ZERO; fft.get_inplace_scratch_len()];
    for pair in chains.chunks(2 * stride) {
        let (a, b) = pair.split_at(stride);
        z.fill(Complex64::ZERO);
        for (z, a) in z.iter_mut().zip(&a[..n]) {
            z.re = *a;
        }
        // (There is no second where their number is odd.)
        for (z, b) in z.iter_mut().zip(b.iter().take(n)) {
            z.im = *b;
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
        for (n_chains, n_draws) in [(1, 2), (1, 8), (3, 14), (5, 97), (2, 700)] {
            let values = TestRng::new(21).ar1(n_chains, 2 * n_draws, 0.4);
            let chains = Halves::new(&values[..], 2 * n_draws);
            let mut covariance = Autocovariance::new(&chains);
            let all = by_spectra(&covariance.padded, n_draws);
            for lag in 0..n_draws {
                let one = |chain: &[f64]| {
                    let m = mean(chain);
                    let products = chain.iter().zip(&chain[lag..]);
                    products.map(|(a, b)| (a - m) * (b - m)).sum::<f64>() / n_draws as f64
                };
                let want = chains.chains().map(one).sum::<f64>() / (2 * n_chains) as f64;
                // Rounding of a transform is about ε log(length), relative to the variance.
                for got in [covariance.at(lag), all[lag]] {
                    assert!((got - want).abs() < 1e-14, "{n_chains} {n_draws} {lag}");
                }
            }
        }
    }

    #[test]
    fn same_bits_for_any_number_of_threads() {
        let values = TestRng::new(22).ar1(23, 8000, 0.9);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let mut covariance = Autocovariance::new(&Halves::new(&values[..], 8000));
            pool.install(|| (0..300).map(|t| covariance.at(t)).collect::<Vec<_>>())
        };
        assert_eq!(run(1), run(4));
    }

    #[test]
    fn same_bits_on_every_instruction_set() {
        let values = TestRng::new(23).ar1(3, 90, 0.9);
        let covariance = Autocovariance::new(&Halves::new(&values[..], 90));
        let lags = || EightLags {
            chains: &covariance.padded,
            stride: 45 + PADDING,
            first: 8,
        };
        let known = Isa::Portable.run(1, lags());
        for isa in Isa::available() {
            for width in [1, 8, 16] {
                assert_eq!(isa.run(width, lags()), known);
            }
        }
    }

    #[test]
    fn fast_lengths() {
        assert_eq!(
            [1, 7, 11, 2 * 97, 10_000].map(fast_length),
            [1, 8, 12, 200, 10_000]
        );
    }
}
