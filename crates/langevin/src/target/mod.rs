//! What is sampled: a log density and its score, with per-datum terms where there are data.

mod posterior;
mod subsampled;

use nalgebra::{DMatrix, DVector};

pub use crate::rows::Rows;
pub use posterior::Posterior;
pub(crate) use posterior::lift;
pub use subsampled::{Subsampled, Sums};

use crate::check;
use crate::real::{Dual, Formula, Real, gradient};
use crate::{Error, Result};

/// A named block of coordinates, in the order in which they appear in θ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Parameter {
    /// Its name, such as `w`.
    pub name: String,
    /// Its shape; empty for a scalar. Coordinates run through it column by column where
    /// `column_major` is set and row by row otherwise.
    pub shape: Vec<usize>,
    /// Order of the coordinates.
    #[cfg_attr(feature = "serde", serde(default))]
    pub column_major: bool,
}

impl Parameter {
    /// A single number.
    pub fn scalar(name: &str) -> Self {
        Self::array(name, &[])
    }

    /// An array, coordinates row by row.
    pub fn array(name: &str, shape: &[usize]) -> Self {
        Parameter {
            name: name.into(),
            shape: shape.to_vec(),
            column_major: false,
        }
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has no coordinates.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of its coordinates, in their order: `sigma`, or `w[0,0]`, `w[0,1]`, …
    ///
    /// ```
    /// use langevin::target::Parameter;
    /// assert_eq!(Parameter::array("w", &[1, 2]).elements(), ["w[0,0]", "w[0,1]"]);
    /// ```
    pub fn elements(&self) -> Vec<String> {
        if self.shape.is_empty() {
            return vec![self.name.clone()];
        }
        let element = |mut position: usize| {
            let mut index = vec![String::new(); self.shape.len()];
            let mut fill = |axis: usize| {
                index[axis] = (position % self.shape[axis]).to_string();
                position /= self.shape[axis];
            };
            match self.column_major {
                true => (0..self.shape.len()).for_each(&mut fill),
                false => (0..self.shape.len()).rev().for_each(&mut fill),
            }
            format!("{}[{}]", self.name, index.join(","))
        };
        (0..self.len()).map(element).collect()
    }
}

/// Mean and precision of a target that is exactly Gaussian.
#[derive(Clone, Debug)]
pub struct Gaussian {
    /// Mean.
    pub mean: DVector<f64>,
    /// Inverse covariance.
    pub precision: DMatrix<f64>,
}

/// A density to sample, known up to a constant factor: mathematics only.
///
/// The dimension and one generic formula are required; the score then comes from dual numbers. A
/// target whose data can be subsampled is [`Subsampled`] as well; [`Posterior`] makes a type both,
/// from a prior and the likelihood of one row.
///
/// ```
/// use langevin::real::Real;
/// use langevin::target::Target;
///
/// /// A banana in the plane.
/// struct Banana;
/// impl Target for Banana {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn log_density<R: Real>(&self, theta: &[R]) -> R {
///         let bend = theta[1] - theta[0] * theta[0];
///         -(theta[0] * theta[0] + bend * bend * 4.0) * 0.5
///     }
/// }
/// let mut score = [0.0; 2];
/// let log_density = Banana.log_density_and_score(&[1.0, 2.0], &mut [], &mut score);
/// assert_eq!((log_density, score), (-2.5, [7.0, -4.0]));
/// ```
pub trait Target: Send + Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// log π(θ) up to a constant.
    fn log_density<R: Real>(&self, theta: &[R]) -> R;

    /// ∇ log π(θ); by dual numbers unless written by hand. `scratch` has
    /// [`scratch_len`](Self::scratch_len) entries of any value.
    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        let _ = scratch;
        gradient(theta, out, LogDensity(self));
    }

    /// Both at once, which is what adjusted samplers ask for; one after the other unless written by
    /// hand as one pass.
    #[inline(always)]
    fn log_density_and_score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) -> R {
        self.score(theta, scratch, out);
        self.log_density(theta)
    }

    /// Number of scratch entries that the scores need.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Coordinates that must stay above 0: the target has no mass elsewhere.
    fn positive_coordinates(&self) -> &[usize] {
        &[]
    }

    /// Refuses a state from which no chain can start.
    fn check_state(&self, theta: &[f64]) -> Result<()> {
        check_state(theta, self.dim(), self.positive_coordinates())
    }

    /// Mean and precision where the target is exactly Gaussian.
    fn gaussian(&self) -> Option<Gaussian> {
        None
    }

    /// Names and shapes of the coordinates.
    fn parameters(&self) -> Vec<Parameter> {
        vec![Parameter::array("theta", &[self.dim()])]
    }
}

/// The checks that every state must pass.
pub(crate) fn check_state(theta: &[f64], dim: usize, positive: &[usize]) -> Result<()> {
    check::size("the initial state", theta.len(), dim)?;
    check::all_finite("the initial state", theta)?;
    for &coordinate in positive {
        if theta[coordinate] <= 0.0 {
            return Err(Error::OutsideSupport {
                coordinate,
                value: theta[coordinate],
            });
        }
    }
    Ok(())
}

struct LogDensity<'a, T: ?Sized>(&'a T);

impl<R: Real, T: Target + ?Sized> Formula<R> for LogDensity<'_, T> {
    type Output = Dual<R>;
    #[inline(always)]
    fn eval(&mut self, theta: &[Dual<R>]) -> Dual<R> {
        self.0.log_density(theta)
    }
}

/// The exact score at a plain state, for those who do not care about scratch.
///
/// ```
/// use langevin::models::LogisticRegression;
/// use langevin::target::score_at;
/// let model = LogisticRegression::new(vec![1.0, -1.0], 1, &[1.0, 0.0], 0.5)?;
/// assert_eq!(score_at(&model, &[0.0]), [1.0]);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn score_at<T: Target>(target: &T, theta: &[f64]) -> Vec<f64> {
    let mut scratch = vec![0.0; target.scratch_len()];
    let mut out = vec![0.0; target.dim()];
    target.score(theta, &mut scratch, &mut out);
    out
}
