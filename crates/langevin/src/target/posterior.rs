//! Posteriors over independent data.

use super::{Gaussian, Parameter, Rows, Target, check_state};
use crate::Result;
use crate::real::{Dual, Formula, Lanes, Real, along_axis, gradient};

/// A posterior π(θ) ∝ π₀(θ) Π p(xₙ | θ) over independent data, which can be subsampled.
///
/// Prior and likelihood are written once, for one row of the data; scores come from dual numbers
/// unless written by hand.
///
/// ```
/// use langevin::real::Real;
/// use langevin::target::{Posterior, Rows, Target};
///
/// /// Rate of exponential waiting times, on the log scale.
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
/// # fn main() -> langevin::Result<()> {
/// let model = Waiting(Rows::new(vec![1.0, 2.0], 1)?);
/// let mut score = [0.0];
/// let mut scratch = vec![0.0; Target::scratch_len(&model)];
/// Target::score(&model, &[0.0], &mut scratch, &mut score);
/// assert_eq!(score[0], 2.0 - 3.0);
/// # Ok(())
/// # }
/// ```
pub trait Posterior: Send + Sync {
    /// A dimension that deserves its own copy of the kernel, with loops over coordinates unrolled
    /// (the Gaussian step went from 14 to 9 ns); 0 for none. Any other dimension works as well.
    const COMMON_DIM: usize = 0;

    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// The data.
    fn rows(&self) -> &Rows;

    /// log π₀(θ) up to a constant.
    fn log_prior<R: Real>(&self, theta: &[R]) -> R;

    /// log p(row | θ).
    fn log_likelihood<R: Real>(&self, theta: &[R], row: &[R]) -> R;

    /// ∇ log π₀(θ).
    #[inline(always)]
    fn prior_score<R: Real>(&self, theta: &[R], out: &mut [R]) {
        gradient(theta, out, LogPrior(self));
    }

    /// Adds ∇ log p(row | θ) to `out`.
    #[inline(always)]
    fn add_score<R: Real>(&self, theta: &[R], row: &[R], out: &mut [R]) {
        for i in 0..theta.len() {
            out[i] += along_axis(theta, i, &mut LogLikelihood(self, row)).tangent;
        }
    }

    /// The exact score, a sum over all rows unless a closed form is given.
    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        self.prior_score(theta, out);
        let row = &mut scratch[..self.rows().width()];
        for data in self.rows().iter() {
            for (r, x) in row.iter_mut().zip(data) {
                *r = R::of(*x);
            }
            self.add_score(theta, row, out);
        }
    }

    /// ∇ log π₀ + (N/n) Σ ∇ log p(x_τ | θ) over the given rows.
    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        let n_sums = self.n_sums();
        if n_sums > 0 {
            let (sums, scratch) = scratch.split_at_mut(n_sums);
            self.batch_sums(rows, scratch, sums);
            self.score_from_sums(theta, sums, out);
            return;
        }
        let (row, sum) = scratch.split_at_mut(self.rows().width());
        let sum = &mut sum[..theta.len()];
        sum.fill(L::zero());
        for index in rows {
            self.rows().gather(index, row);
            self.add_score(theta, row, sum);
        }
        self.prior_score(theta, out);
        let weight = L::of(self.rows().len() as f64 / rows.len() as f64);
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = sum.mul_add(weight, *out);
        }
    }

    /// Number of sums over its rows that are all a minibatch's score needs of the data: sufficient
    /// statistics, which do not depend on the state. A chain that runs alone has them made for
    /// several steps at once. 0 where the score needs the rows themselves.
    ///
    /// ```
    /// use langevin::real::{Lanes, Real};
    /// use langevin::target::{Posterior, Rows};
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
    /// # use langevin::real::Word;
    /// # fn main() -> langevin::Result<()> {
    /// let model = Waiting(Rows::new(vec![1.0, 2.0], 1)?);
    /// let (mut score, mut scratch) = ([0.0], [0.0; 2]);
    /// Posterior::minibatch_score(&model, &[0.0], &[Word(1)], &mut scratch, &mut score);
    /// assert_eq!(score[0], 2.0 - 4.0);
    /// # Ok(())
    /// # }
    /// ```
    fn n_sums(&self) -> usize {
        0
    }

    /// Writes these sums, (N/n) Σ T(x_τ) over the given rows. Only called where
    /// [`n_sums`](Self::n_sums) is above 0.
    #[inline(always)]
    fn batch_sums<L: Lanes>(&self, rows: &[L::Bits], scratch: &mut [L], out: &mut [L]) {
        let _ = (rows, scratch, out);
    }

    /// The score of a minibatch with these sums.
    #[inline(always)]
    fn score_from_sums<L: Lanes>(&self, theta: &[L], sums: &[L], out: &mut [L]) {
        let _ = (theta, sums, out);
    }

    /// Number of scratch entries that the scores need, with room for the sums of a minibatch and,
    /// beside these, for what [`batch_sums`](Self::batch_sums) needs: a row, unless written by hand.
    fn scratch_len(&self) -> usize {
        self.rows().width() + self.dim().max(self.n_sums())
    }

    /// Coordinates that must stay above 0; a step that crosses is a divergence.
    fn positive_coordinates(&self) -> &[usize] {
        &[]
    }

    /// Refuses a state from which no chain can start.
    fn check_state(&self, theta: &[f64]) -> Result<()> {
        check_state(theta, self.dim(), self.positive_coordinates())
    }

    /// Mean and precision where the posterior is exactly Gaussian.
    fn gaussian(&self) -> Option<Gaussian> {
        None
    }

    /// Names and shapes of the coordinates.
    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::array("theta", &[self.dim()])]
    }
}

struct LogPrior<'a, P: ?Sized>(&'a P);
struct LogLikelihood<'a, P: ?Sized, R>(&'a P, &'a [R]);

impl<R: Real, P: Posterior + ?Sized> Formula<R> for LogPrior<'_, P> {
    type Output = Dual<R>;
    #[inline(always)]
    fn eval(&mut self, theta: &[Dual<R>]) -> Dual<R> {
        self.0.log_prior(theta)
    }
}

impl<R: Real, P: Posterior + ?Sized> Formula<R> for LogLikelihood<'_, P, R> {
    type Output = Dual<R>;
    #[inline(always)]
    fn eval(&mut self, theta: &[Dual<R>]) -> Dual<R> {
        // The row is made of constants; a buffer on the stack serves all but the widest data.
        let mut buffer = [Dual::constant(R::zero()); 32];
        let heap: Vec<Dual<R>>;
        let row = if self.1.len() <= buffer.len() {
            for (lifted, value) in buffer.iter_mut().zip(self.1) {
                *lifted = Dual::constant(*value);
            }
            &buffer[..self.1.len()]
        } else {
            heap = self.1.iter().map(|x| Dual::constant(*x)).collect();
            &heap
        };
        self.0.log_likelihood(theta, row)
    }
}

impl<P: Posterior> Target for P {
    const COMMON_DIM: usize = P::COMMON_DIM;

    fn dim(&self) -> usize {
        Posterior::dim(self)
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = self.log_prior(theta);
        let mut row = vec![R::zero(); self.rows().width()];
        for data in self.rows().iter() {
            for (r, x) in row.iter_mut().zip(data) {
                *r = R::of(*x);
            }
            sum += self.log_likelihood(theta, &row);
        }
        sum
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        Posterior::score(self, theta, scratch, out);
    }

    fn scratch_len(&self) -> usize {
        Posterior::scratch_len(self)
    }

    fn n_data(&self) -> usize {
        self.rows().len()
    }

    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        Posterior::minibatch_score(self, theta, rows, scratch, out);
    }

    fn n_sums(&self) -> usize {
        Posterior::n_sums(self)
    }

    #[inline(always)]
    fn batch_sums<L: Lanes>(&self, rows: &[L::Bits], scratch: &mut [L], out: &mut [L]) {
        Posterior::batch_sums(self, rows, scratch, out);
    }

    #[inline(always)]
    fn score_from_sums<L: Lanes>(&self, theta: &[L], sums: &[L], out: &mut [L]) {
        Posterior::score_from_sums(self, theta, sums, out);
    }

    fn positive_coordinates(&self) -> &[usize] {
        Posterior::positive_coordinates(self)
    }

    fn check_state(&self, theta: &[f64]) -> Result<()> {
        Posterior::check_state(self, theta)
    }

    fn gaussian(&self) -> Option<Gaussian> {
        Posterior::gaussian(self)
    }

    fn parameters(&self) -> Vec<Parameter> {
        Posterior::parameters(self)
    }
}
