//! Draws of all coordinates of all chains, and what was told about them.

use crate::Result;
use crate::check;
use crate::stat::nested::check_groups;

/// Draws of several chains in several coordinates, with what else is known of them.
///
/// Everything is in the order chain, draw, coordinate. The chains are `n_superchains` groups of equal
/// size whose members started at one point; as long as nothing else is said, each chain is its own.
///
/// ```
/// use langevin::stat::Sample;
/// let values = vec![0.5; 4 * 100 * 3];
/// let sample = Sample::new(&values, 4, 100, 3)?.superchains(2)?;
/// assert_eq!(sample.coordinate(2).len(), 400);
/// assert!(sample.with_acceptance(&[0.9; 17]).is_err());
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    values: &'a [f64],
    n_chains: usize,
    n_draws: usize,
    dim: usize,
    n_superchains: usize,
    thin: usize,
    acceptance: Option<&'a [f64]>,
    energy_errors: Option<&'a [f64]>,
    log_densities: Option<&'a [f64]>,
    scores: Option<&'a [f64]>,
}

impl<'a> Sample<'a> {
    /// Draws alone.
    pub fn new(values: &'a [f64], n_chains: usize, n_draws: usize, dim: usize) -> Result<Self> {
        check::at_least("the number of chains", n_chains, 1)?;
        check::at_least("the number of draws", n_draws, 1)?;
        check::at_least("the number of coordinates", dim, 1)?;
        let expected = n_chains.saturating_mul(n_draws).saturating_mul(dim);
        check::size(
            "values (chains times draws times coordinates)",
            values.len(),
            expected,
        )?;
        Ok(Sample {
            values,
            n_chains,
            n_draws,
            dim,
            n_superchains: n_chains,
            thin: 1,
            acceptance: None,
            energy_errors: None,
            log_densities: None,
            scores: None,
        })
    }

    /// Says that the chains are so many groups, each of which started at one point.
    pub fn superchains(self, n_superchains: usize) -> Result<Self> {
        check_groups(self.n_chains, n_superchains)?;
        Ok(Sample {
            n_superchains,
            ..self
        })
    }

    /// Says that the draws are every `thin`-th states of the chains: for lengths of runs in steps.
    pub fn thinned(self, thin: usize) -> Self {
        Sample {
            thin: thin.max(1),
            ..self
        }
    }

    /// Adds the probability with which each draw was accepted.
    pub fn with_acceptance(self, acceptance: &'a [f64]) -> Result<Self> {
        check::size(
            "the acceptance",
            acceptance.len(),
            self.n_chains * self.n_draws,
        )?;
        Ok(Sample {
            acceptance: Some(acceptance),
            ..self
        })
    }

    /// Adds the error of the energy of the step that led to each draw.
    pub fn with_energy_errors(self, errors: &'a [f64]) -> Result<Self> {
        check::size(
            "the energy errors",
            errors.len(),
            self.n_chains * self.n_draws,
        )?;
        Ok(Sample {
            energy_errors: Some(errors),
            ..self
        })
    }

    /// Adds log π of each draw.
    pub fn with_log_densities(self, values: &'a [f64]) -> Result<Self> {
        check::size(
            "the log densities",
            values.len(),
            self.n_chains * self.n_draws,
        )?;
        Ok(Sample {
            log_densities: Some(values),
            ..self
        })
    }

    /// Adds the scores at the draws.
    pub fn with_scores(self, scores: &'a [f64]) -> Result<Self> {
        check::size("the scores", scores.len(), self.values.len())?;
        Ok(Sample {
            scores: Some(scores),
            ..self
        })
    }

    /// Number of chains.
    pub fn n_chains(&self) -> usize {
        self.n_chains
    }

    /// Number of draws of each chain.
    pub fn n_draws(&self) -> usize {
        self.n_draws
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of groups of chains that started at one point.
    pub fn n_superchains(&self) -> usize {
        self.n_superchains
    }

    /// The states, one after the other, chain after chain.
    pub fn states(&self) -> impl ExactSizeIterator<Item = &'a [f64]> {
        self.values.chunks_exact(self.dim)
    }

    /// The states of one chain.
    pub(super) fn chain(&self, chain: usize) -> &'a [f64] {
        let size = self.n_draws * self.dim;
        &self.values[chain * size..(chain + 1) * size]
    }

    /// The draws of one coordinate, chain after chain.
    pub fn coordinate(&self, i: usize) -> Vec<f64> {
        self.values
            .iter()
            .skip(i)
            .step_by(self.dim)
            .copied()
            .collect()
    }

    pub(in crate::stat) fn values(&self) -> &'a [f64] {
        self.values
    }

    pub(super) fn thin(&self) -> usize {
        self.thin
    }

    pub(super) fn acceptance(&self) -> Option<&'a [f64]> {
        self.acceptance
    }

    pub(super) fn energy_errors(&self) -> Option<&'a [f64]> {
        self.energy_errors
    }

    pub(super) fn log_densities(&self) -> Option<&'a [f64]> {
        self.log_densities
    }

    pub(in crate::stat) fn scores(&self) -> Option<&'a [f64]> {
        self.scores
    }
}
