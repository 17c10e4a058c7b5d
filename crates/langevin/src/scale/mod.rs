//! Parameters on scales of their own: positive, in an interval, ordered, probabilities.
//!
//! A constrained parameter is declared, not transformed by hand. The chain moves freely in coordinates
//! u ∈ ℝⁿ; people see x = f(u), and a density π of x becomes the density π(f(u)) |J(u)| of u, so that
//!
//! ```text
//! ∇ᵤ log = Jᵀ ∇ₓ log π + ∇ᵤ log |J|,   J = ∂x/∂u .
//! ```
//!
//! A [`Scale`] is one kind of x, in one file each with its f, Jᵀ, log |J| and f⁻¹ by formula. A
//! [`Layout`] declares the named blocks of a state; [`Constrained`] makes a target on x a target on u.
//! The metric, the noise and the steps of a dynamics are then those of u.

mod constrained;
mod correlation;
mod elementwise;
mod layout;
mod ordered;
mod simplex;
mod text;
mod unit_vector;

pub use constrained::Constrained;
pub(crate) use constrained::check_positive;
pub use layout::{Block, Layout};

use crate::real::Real;

/// What values a parameter can have.
///
/// It is written as in [`Layout`]: `real`, `positive`, `above(2)`, `below(-1)`, `interval(0, 1)`,
/// `ordered`, `simplex`, `unit_vector`, `correlation_cholesky`.
///
/// ```
/// use langevin::scale::Scale;
/// let scale: Scale = "interval(0, 2.5)".parse()?;
/// assert_eq!(scale, Scale::Interval(0.0, 2.5));
/// assert_eq!(scale.to_string(), "interval(0, 2.5)");
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "String", try_from = "String"))]
#[non_exhaustive]
pub enum Scale {
    /// Any number.
    #[default]
    Real,
    /// Above 0: x = eᵘ.
    Positive,
    /// Above a bound a: x = a + eᵘ.
    Above(f64),
    /// Below a bound b: x = b − eᵘ.
    Below(f64),
    /// Between a and b: x = a + (b − a)/(1 + e⁻ᵘ).
    Interval(f64, f64),
    /// Each vector along the last axis increases: x₁ = u₁, xₖ = xₖ₋₁ + exp uₖ.
    Ordered,
    /// Each vector along the last axis is positive and sums to 1, by isometric log ratios; the density
    /// is that of all elements but the last.
    Simplex,
    /// Each vector along the last axis has length 1; the density is with respect to the surface. There
    /// are as many free coordinates as elements, and their length is without meaning.
    UnitVector,
    /// Each matrix of the last two axes is the Cholesky factor L of a correlation matrix LLᵀ: lower
    /// triangular, its rows of length 1, its diagonal positive; the density is that of the elements
    /// below the diagonal.
    CorrelationCholesky,
}

impl Scale {
    /// A number that all elements are above, if there is one.
    pub(crate) fn lower_bound(&self) -> Option<f64> {
        match *self {
            Scale::Positive | Scale::Simplex => Some(0.0),
            Scale::Above(low) | Scale::Interval(low, _) => Some(low),
            _ => None,
        }
    }

    /// How many of the last axes belong together.
    fn axes(&self) -> usize {
        match self {
            Scale::Ordered | Scale::Simplex | Scale::UnitVector => 1,
            Scale::CorrelationCholesky => 2,
            _ => 0,
        }
    }

    /// What is wrong with its bounds.
    fn fault(&self) -> Option<String> {
        let finite = |bound: f64| match bound.is_finite() {
            true => None,
            false => Some(format!("its bound is {bound}, but must be finite")),
        };
        match *self {
            Scale::Above(low) => finite(low),
            Scale::Below(high) => finite(high),
            Scale::Interval(low, high) => {
                let room = elementwise::just_above(low) < elementwise::just_below(high);
                let too_wide = room && !(high - low).is_finite();
                finite(low).or_else(|| finite(high)).or_else(|| {
                    if too_wide {
                        return Some(format!("the interval from {low} to {high} is too wide"));
                    }
                    (!room).then(|| format!("there is no room between {low} and {high}"))
                })
            }
            _ => None,
        }
    }
}

/// A smooth map from free coordinates u to one vector x of a scale.
trait Map {
    /// Writes x and returns log |J|; `slope`, of the size of u, keeps what [`pull_back`](Self::pull_back)
    /// needs of it.
    fn constrain<R: Real>(&self, u: &[R], slope: &mut [R], x: &mut [R]) -> R;

    /// Writes Jᵀg + ∇ log |J|.
    fn pull_back<R: Real>(&self, u: &[R], slope: &[R], x: &[R], g: &[R], out: &mut [R]);

    /// Writes the u of an x whose elements are finite.
    fn free(&self, x: &[f64], u: &mut [f64]) -> Result<(), Outside>;
}

/// Does something with the map of a scale (of matrices of `side` rows), something else if it is `Real`.
macro_rules! with_map {
    ($scale:expr, $side:expr, $map:ident => $body:expr, $real:expr) => {
        match $scale {
            Scale::Real => $real,
            Scale::Positive => {
                let $map = $crate::scale::elementwise::Above(0.0);
                $body
            }
            Scale::Above(low) => {
                let $map = $crate::scale::elementwise::Above(low);
                $body
            }
            Scale::Below(high) => {
                let $map = $crate::scale::elementwise::Below(high);
                $body
            }
            Scale::Interval(low, high) => {
                let $map = $crate::scale::elementwise::Between(low, high);
                $body
            }
            Scale::Ordered => {
                let $map = $crate::scale::ordered::Ordered;
                $body
            }
            Scale::Simplex => {
                let $map = $crate::scale::simplex::Simplex;
                $body
            }
            Scale::UnitVector => {
                let $map = $crate::scale::unit_vector::UnitVector;
                $body
            }
            Scale::CorrelationCholesky => {
                let $map = $crate::scale::correlation::CorrelationCholesky($side);
                $body
            }
        }
    };
}
use with_map;

/// Why a vector is not on its scale.
struct Outside {
    /// The element at fault, or what of the vector.
    what: Result<usize, String>,
    value: f64,
    condition: String,
}

impl Outside {
    fn element(index: usize, value: f64, condition: String) -> Self {
        Outside {
            what: Ok(index),
            value,
            condition,
        }
    }

    fn whole(what: &str, value: f64, condition: String) -> Self {
        Outside {
            what: Err(what.into()),
            value,
            condition,
        }
    }
}
