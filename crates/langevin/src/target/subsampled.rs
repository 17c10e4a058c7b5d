//! Targets whose score can be estimated from some of their data.

use super::Target;
use crate::real::Lanes;

/// A target over independent data, some rows of which give an unbiased estimate of its score.
pub trait Subsampled: Target {
    /// Number N of rows.
    fn n_data(&self) -> usize;

    /// ∇ log π₀ + (N/n) Σ ∇ log p(x_τ | θ) over n given rows, one set of rows per lane (section 2.4
    /// of the paper). `scratch` has [`scratch_len`](Target::scratch_len) entries of any value.
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    );
}

/// A target whose minibatch score needs no more of its rows than sums of theirs: sufficient
/// statistics, which do not depend on the state. A chain that runs alone has them made for many steps
/// at once.
///
/// ```
/// use langevin::real::{Lanes, Real, Word};
/// use langevin::target::{Posterior, Rows, Subsampled, Sums};
///
/// /// Rate of exponential waiting times on the log scale: their sum is all that counts.
/// struct Waiting(Rows);
/// impl Posterior for Waiting {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn rows(&self) -> &Rows {
///         &self.0
///     }
///     fn log_prior<R: Real>(&self, theta: &[R]) -> R {
///         -(theta[0] * theta[0]) * 0.5
///     }
///     fn log_likelihood<R: Real>(&self, theta: &[R], row: &[R]) -> R {
///         theta[0] - theta[0].exp() * row[0]
///     }
/// }
/// impl Sums for Waiting {
///     fn n_sums(&self) -> usize {
///         1
///     }
///     fn batch_sums<L: Lanes>(&self, rows: &[L::Bits], scratch: &mut [L], out: &mut [L]) {
///         let weight = self.0.len() as f64 / rows.len() as f64;
///         self.0.weighted_sum(weight, rows, &mut scratch[..1], out);
///     }
///     fn score_from_sums<L: Lanes>(&self, theta: &[L], sums: &[L], out: &mut [L]) {
///         out[0] = -theta[0] - theta[0].exp() * sums[0] + self.0.len() as f64;
///     }
/// }
/// # fn main() -> langevin::Result<()> {
/// let model = Waiting(Rows::new(vec![1.0, 2.0], 1)?);
/// let (mut score, mut sums, mut scratch) = ([0.0], [0.0], [0.0; 2]);
/// model.batch_sums::<f64>(&[Word(1)], &mut scratch, &mut sums);
/// model.score_from_sums(&[0.0], &sums, &mut score);
/// let by_sums = score;
/// model.minibatch_score(&[0.0], &[Word(1)], &mut scratch, &mut score);
/// assert_eq!((by_sums, score), ([-2.0], [-2.0]));
/// # Ok(())
/// # }
/// ```
pub trait Sums: Subsampled {
    /// Number of sums over the rows of a minibatch.
    fn n_sums(&self) -> usize;

    /// Writes these sums, (N/n) Σ T(x_τ) over the given rows.
    fn batch_sums<L: Lanes>(&self, rows: &[L::Bits], scratch: &mut [L], out: &mut [L]);

    /// The score of a minibatch with these sums.
    fn score_from_sums<L: Lanes>(&self, theta: &[L], sums: &[L], out: &mut [L]);
}
