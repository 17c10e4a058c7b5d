//! Foreign functions of constrained coordinates as functions of free ones.

use super::{Failure, ForeignDensity, ForeignRows, ForeignTarget};
use crate::real::{Lanes, Work};
use crate::scale::{Layout, check_positive};
use crate::{Error, Result, check};

/// A foreign target on constrained coordinates x as a foreign target on free coordinates u, as
/// [`Constrained`](crate::scale::Constrained) is for a target of the library.
///
/// Each evaluation is one call of the foreign function for the x of all chains. It sees no x that is
/// not finite: another chain's stands for it, and the answer for that chain is NaN.
///
/// ```
/// use langevin::foreign::{ConstrainedTarget, Failure, ForeignTarget};
/// use langevin::scale::Layout;
///
/// /// The score of Gamma(3, 2), a density of x > 0.
/// struct Gamma;
/// impl ForeignTarget for Gamma {
///     fn dim(&self) -> usize {
///         1
///     }
///     fn score(&mut self, xs: &[f64], out: &mut [f64]) -> Result<(), Failure> {
///         for (out, x) in out.iter_mut().zip(xs) {
///             *out = 2.0 / x - 2.0;
///         }
///         Ok(())
///     }
/// }
/// let layout: Layout = "x: positive".parse()?;
/// let mut target = ConstrainedTarget::new(Box::new(Gamma), layout)?;
/// let mut scores = [0.0; 2];
/// target.score(&[0.0, 0.0], &mut scores).unwrap();
/// assert_eq!(scores, [1.0, 1.0]);
/// # Ok::<(), langevin::Error>(())
/// ```
pub struct ConstrainedTarget<'a> {
    target: Box<dyn ForeignTarget + Send + 'a>,
    layout: Layout,
    n_data: usize,
    xs: Vec<f64>,
    slopes: Vec<f64>,
    log_jacobians: Vec<f64>,
    scores: Vec<f64>,
    /// Whether the x of a chain is finite.
    good: Vec<bool>,
}

impl<'a> ConstrainedTarget<'a> {
    /// The target on the free coordinates of a layout.
    pub fn new(mut target: Box<dyn ForeignTarget + Send + 'a>, layout: Layout) -> Result<Self> {
        check::size("the target", target.dim(), layout.size())?;
        check_positive(target.positive_coordinates(), &layout)?;
        Ok(ConstrainedTarget {
            n_data: target.rows().map_or(0, |rows| rows.n_data()),
            target,
            layout,
            xs: vec![],
            slopes: vec![],
            log_jacobians: vec![],
            scores: vec![],
            good: vec![],
        })
    }

    /// The declaration of its parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Makes the x of all chains; false if there is none to show.
    fn constrain(&mut self, us: &[f64]) -> bool {
        let (d, size) = (self.layout.free_size(), self.layout.size());
        let n = us.len() / d;
        self.xs.resize(n * size, 0.0);
        self.scores.resize(n * size, 0.0);
        self.slopes.resize(n * d, 0.0);
        self.log_jacobians.resize(n, 0.0);
        f64::enter(EveryChain { own: self, us });
        let finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        self.good.clear();
        self.good.extend(self.xs.chunks_exact(size).map(finite));
        let Some(shown) = self.good.iter().position(|good| *good) else {
            return false;
        };
        for (chain, _) in self.good.iter().enumerate().filter(|(_, good)| !**good) {
            let x = shown * size..(shown + 1) * size;
            self.xs.copy_within(x, chain * size);
        }
        true
    }

    /// Writes the scores at all u, given those at x.
    fn pull_back(&self, us: &[f64], out: &mut [f64]) {
        f64::enter(Back { own: self, us, out });
    }

    /// What is there to say of chains none of which has an x.
    fn nothing(out: &mut [f64]) -> std::result::Result<(), Failure> {
        out.fill(f64::NAN);
        Ok(())
    }
}

struct EveryChain<'s, 'a, 'u> {
    own: &'s mut ConstrainedTarget<'a>,
    us: &'u [f64],
}

impl Work for EveryChain<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let own = self.own;
        let (d, size) = (own.layout.free_size(), own.layout.size());
        let us = self.us.chunks_exact(d).zip(own.slopes.chunks_exact_mut(d));
        let xs = own.xs.chunks_exact_mut(size).zip(&mut own.log_jacobians);
        for ((u, slopes), (x, log_jacobian)) in us.zip(xs) {
            *log_jacobian = own.layout.constrain(u, slopes, x);
        }
    }
}

struct Back<'s, 'a, 'u> {
    own: &'s ConstrainedTarget<'a>,
    us: &'u [f64],
    out: &'u mut [f64],
}

impl Work for Back<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let own = self.own;
        let (d, size) = (own.layout.free_size(), own.layout.size());
        for (chain, out) in self.out.chunks_exact_mut(d).enumerate() {
            if !own.good[chain] {
                out.fill(f64::NAN);
                continue;
            }
            let (u, x) = (chain * d..(chain + 1) * d, chain * size..(chain + 1) * size);
            let slopes = &own.slopes[u.clone()];
            let scores = &own.scores[x.clone()];
            let layout = &own.layout;
            layout.pull_back(&self.us[u], slopes, &own.xs[x], scores, out);
        }
    }
}

impl ForeignTarget for ConstrainedTarget<'_> {
    fn dim(&self) -> usize {
        self.layout.free_size()
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> std::result::Result<(), Failure> {
        if !self.constrain(thetas) {
            return Self::nothing(out);
        }
        self.target.score(&self.xs, &mut self.scores)?;
        self.pull_back(thetas, out);
        Ok(())
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        self.target.density().is_some().then_some(())?;
        Some(self)
    }

    fn rows(&mut self) -> Option<&mut dyn ForeignRows> {
        self.target.rows().is_some().then_some(())?;
        Some(self)
    }
}

impl ForeignDensity for ConstrainedTarget<'_> {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> std::result::Result<(), Failure> {
        if !self.constrain(thetas) {
            Self::nothing(values)?;
            return Self::nothing(scores);
        }
        let transition = "this transition";
        let density = self.target.density();
        let density = density.ok_or(Error::NoDensity { transition })?;
        density.log_density_and_score(&self.xs, values, &mut self.scores)?;
        for (chain, value) in values.iter_mut().enumerate() {
            *value = match self.good[chain] {
                true => *value + self.log_jacobians[chain],
                false => f64::NAN,
            };
        }
        self.pull_back(thetas, scores);
        Ok(())
    }
}

impl ForeignRows for ConstrainedTarget<'_> {
    fn n_data(&self) -> usize {
        self.n_data
    }

    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> std::result::Result<(), Failure> {
        if !self.constrain(thetas) {
            return Self::nothing(out);
        }
        let data = self.target.rows().ok_or(Error::NoData)?;
        data.minibatch_score(&self.xs, rows, &mut self.scores)?;
        self.pull_back(thetas, out);
        Ok(())
    }
}
