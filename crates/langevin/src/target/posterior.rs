//! Posteriors over independent data.

use super::{Parameter, Rows, Subsampled, Target};
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

    /// Coordinates that must stay above 0: the target has no mass elsewhere.
    fn positive_coordinates(&self) -> &[usize] {
        &[]
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
    fn dim(&self) -> usize {
        Posterior::dim(self)
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = self.log_prior(theta);
        let mut row = vec![R::zero(); self.rows().width()];
        for data in self.rows().iter() {
            lift(data, &mut row);
            sum += self.log_likelihood(theta, &row);
        }
        sum
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        self.prior_score(theta, out);
        let row = &mut scratch[..self.rows().width()];
        for data in self.rows().iter() {
            lift(data, row);
            self.add_score(theta, row, out);
        }
    }

    /// A row and the sum over a minibatch.
    fn scratch_len(&self) -> usize {
        self.rows().width() + Posterior::dim(self)
    }

    fn positive_coordinates(&self) -> &[usize] {
        Posterior::positive_coordinates(self)
    }

    fn parameters(&self) -> Vec<Parameter> {
        Posterior::parameters(self)
    }
}

impl<P: Posterior> Subsampled for P {
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
}

/// A row of the data as numbers of any type.
#[inline(always)]
pub(crate) fn lift<R: Real>(data: &[f64], row: &mut [R]) {
    for (r, x) in row.iter_mut().zip(data) {
        *r = R::of(*x);
    }
}
