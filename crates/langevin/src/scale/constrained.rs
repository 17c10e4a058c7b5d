//! A target on constrained coordinates as a target on free ones.

use super::Layout;
use crate::real::{Lanes, Real};
use crate::target::{Gaussian, Parameter, Subsampled, Target};
use crate::{Error, Result, check};

/// A target given on constrained coordinates x, without Jacobian, as a target on free coordinates u.
///
/// Its density is π(f(u)) |J(u)|. Its score is the target's own at x, pulled back by formula. Draws of
/// u become draws of x by [`Layout::constrain_draws`]; a start is made by [`Layout::free_state`].
/// Dynamics, with their metric and skew field, are those of u.
///
/// ```
/// use langevin::real::Real;
/// use langevin::scale::{Constrained, Layout};
/// use langevin::target::{Target, score_at};
///
/// /// Gamma(3, 2), a density of x > 0.
/// struct Gamma;
/// impl Target for Gamma {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn log_density<R: Real>(&self, x: &[R]) -> R {
///         x[0].ln() * 2.0 - x[0] * 2.0
///     }
/// }
/// let layout: Layout = "x: positive".parse()?;
/// let start = layout.free_state(&[1.0])?;
/// let target = Constrained::new(Gamma, layout)?;
/// assert_eq!(target.log_density(&start), -2.0);
/// assert_eq!(score_at(&target, &start), [3.0 - 2.0]);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Constrained<T> {
    target: T,
    layout: Layout,
}

impl<T: Target> Constrained<T> {
    /// The target on the free coordinates of a layout. What the target needs to be positive must be so
    /// on its scale.
    pub fn new(target: T, layout: Layout) -> Result<Self> {
        check::size("the target", target.dim(), layout.size())?;
        check_positive(target.positive_coordinates(), &layout)?;
        Ok(Constrained { target, layout })
    }

    /// The target on the free coordinates of [its own layout](Layout::of).
    pub fn by_itself(target: T) -> Result<Self> {
        let layout = Layout::of(&target)?;
        Self::new(target, layout)
    }

    /// The target on constrained coordinates.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// The declaration of its parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Writes the score at u, given what the target's own is at x; returns what that returns, and
    /// log |J|.
    #[inline(always)]
    fn through<R: Real, V>(
        &self,
        u: &[R],
        scratch: &mut [R],
        out: &mut [R],
        own: impl Own<T, R, Value = V>,
    ) -> (V, R) {
        let size = self.layout.size();
        let (x, rest) = scratch.split_at_mut(size);
        let (score, rest) = rest.split_at_mut(size);
        let (slopes, rest) = rest.split_at_mut(self.layout.free_size());
        let log_jacobian = self.layout.constrain(u, slopes, x);
        let value = own.eval(&self.target, x, rest, score);
        self.layout.pull_back(u, slopes, x, score, out);
        (value, log_jacobian)
    }
}

/// Refuses a layout that lets coordinates fall to 0 that must stay above it.
pub(crate) fn check_positive(positive: &[usize], layout: &Layout) -> Result<()> {
    match positive.iter().find(|c| !layout.keeps_positive(**c)) {
        None => Ok(()),
        Some(&c) => Err(Error::Declaration {
            parameter: layout.elements().swap_remove(c),
            reason: "the target needs it to be positive, and its scale does not keep it so".into(),
        }),
    }
}

/// What is asked of the target itself. (Closures cannot be marked to be inlined.)
trait Own<T, R> {
    type Value;
    fn eval(self, target: &T, x: &[R], scratch: &mut [R], score: &mut [R]) -> Self::Value;
}

struct ScoreAlone;
struct WithDensity;
struct OfRows<'a, B>(&'a [B]);

impl<T: Target, R: Real> Own<T, R> for ScoreAlone {
    type Value = ();
    #[inline(always)]
    fn eval(self, target: &T, x: &[R], scratch: &mut [R], score: &mut [R]) {
        target.score(x, scratch, score);
    }
}

impl<T: Target, R: Real> Own<T, R> for WithDensity {
    type Value = R;
    #[inline(always)]
    fn eval(self, target: &T, x: &[R], scratch: &mut [R], score: &mut [R]) -> R {
        target.log_density_and_score(x, scratch, score)
    }
}

impl<T: Subsampled, L: Lanes> Own<T, L> for OfRows<'_, L::Bits> {
    type Value = ();
    #[inline(always)]
    fn eval(self, target: &T, x: &[L], scratch: &mut [L], score: &mut [L]) {
        target.minibatch_score(x, self.0, scratch, score);
    }
}

/// Coordinates up to this many live on the stack where there is no scratch space.
const ON_STACK: usize = 32;

impl<T: Target> Target for Constrained<T> {
    fn dim(&self) -> usize {
        self.layout.free_size()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, u: &[R]) -> R {
        let n = self.layout.size();
        let mut stack = [R::zero(); 2 * ON_STACK];
        let mut heap = vec![];
        let buffer = if n.max(u.len()) <= ON_STACK {
            &mut stack[..]
        } else {
            heap.resize(n + u.len(), R::zero());
            &mut heap
        };
        let (x, slopes) = buffer.split_at_mut(n);
        let log_jacobian = self.layout.constrain(u, &mut slopes[..u.len()], x);
        self.target.log_density(x) + log_jacobian
    }

    #[inline(always)]
    fn score<R: Real>(&self, u: &[R], scratch: &mut [R], out: &mut [R]) {
        self.through(u, scratch, out, ScoreAlone);
    }

    #[inline(always)]
    fn log_density_and_score<R: Real>(&self, u: &[R], scratch: &mut [R], out: &mut [R]) -> R {
        let (value, log_jacobian) = self.through(u, scratch, out, WithDensity);
        value + log_jacobian
    }

    fn scratch_len(&self) -> usize {
        2 * self.layout.size() + self.layout.free_size() + self.target.scratch_len()
    }

    /// Refuses free states that are not finite, or whose constrained state the target refuses.
    fn check_state(&self, u: &[f64]) -> Result<()> {
        check::size("the initial state", u.len(), self.dim())?;
        check::all_finite("the initial state", u)?;
        self.target.check_state(&self.layout.constrain_state(u)?)
    }

    fn gaussian(&self) -> Option<Gaussian> {
        self.layout.is_real().then(|| self.target.gaussian())?
    }

    /// Names and shapes of the free coordinates.
    fn parameters(&self) -> Vec<Parameter> {
        self.layout.free_parameters()
    }
}

impl<T: Subsampled> Subsampled for Constrained<T> {
    fn n_data(&self) -> usize {
        self.target.n_data()
    }

    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        u: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        self.through(u, scratch, out, OfRows(rows));
    }
}
