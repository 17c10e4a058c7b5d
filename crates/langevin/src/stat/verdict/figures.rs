//! Figures of coordinates and of chains.

use super::sample::Sample;
use super::warning::{Kind, Subject, Warning};
use crate::stat::moments::{mean, mean_and_variance};
use crate::stat::nested::{FEWEST_PER_CHAIN, nested_rhat_of_ranks, threshold_for};
use crate::stat::ranks::NormalScores;
use crate::stat::summary::Quantity;
use crate::stat::tail_index::tail_index_of_order;
use crate::stat::{Draws, Summary, TailIndex};

/// Tail index of squares from which on they have no variance.
pub(super) const HEAVY: f64 = 0.5;
/// Standard errors of the tail index from here on are those of short runs.
const VAGUE: f64 = 0.12;
/// Share of a claimed effective sample size that agreement of chains is asked for.
const BELIEVED: f64 = 0.5;

/// Normal scores, which all coordinates share.
pub(super) struct Scores {
    /// Of the ranks of halves of chains.
    halves: NormalScores,
    /// Of the ranks of all draws, where halves leave out some.
    whole: Option<NormalScores>,
}

impl Scores {
    pub fn new(sample: &Sample) -> Self {
        let (chains, draws) = (sample.n_chains(), sample.n_draws());
        let whole = || NormalScores::tabulated(chains * draws);
        Scores {
            halves: NormalScores::tabulated(chains * (draws / 2 * 2)),
            whole: (draws % 2 == 1).then(whole),
        }
    }
}

/// Figures of one coordinate, or of log π.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Location, spread, their errors, split R-hat, effective sample sizes of bulk and tail.
    pub summary: Summary,
    /// Effective sample size of squared deviations, as [`ess_sd`](crate::stat::ess_sd).
    pub ess_squares: f64,
    /// Nested R-hat; NaN with one group of chains.
    pub nested_rhat: f64,
    /// What it must stay below, if the chains are worth half of what their effective sample size says.
    pub nested_rhat_threshold: f64,
    /// Tail index of squared deviations.
    pub tail: TailIndex,
}

impl Figures {
    pub(super) fn new(sample: &Sample, values: &[f64], scores: &Scores) -> Self {
        let mut figures = Figures {
            summary: Summary::NOTHING,
            ess_squares: f64::NAN,
            nested_rhat: f64::NAN,
            nested_rhat_threshold: f64::NAN,
            tail: TailIndex::UNKNOWN,
        };
        let Ok(draws) = Draws::new(values, sample.n_chains(), sample.n_draws()) else {
            return figures;
        };
        if draws.is_unusable() {
            figures.summary = Summary::new(draws);
            return figures;
        }
        let looked = Quantity::new(draws, &scores.halves);
        figures.summary = looked.summary;
        figures.ess_squares = looked.ess_squares;
        figures.tail = tail_index_of_order(&looked.order, &looked.squares);
        if sample.n_superchains() > 1 {
            let per_group = sample.n_chains() / sample.n_superchains();
            let nested = |location: &[f64], scale: &[f64]| {
                nested_rhat_of_ranks(location, scale, sample.n_draws(), per_group)
            };
            figures.nested_rhat = match &scores.whole {
                None => nested(looked.bulk.values(), looked.tail.values()),
                Some(whole) => {
                    let folded = looked.order.folded();
                    nested(&looked.order.scores(whole), &folded.scores(whole))
                }
            };
        }
        // A chain that claims many effective draws claims a mean that others share as exactly. Half,
        // as the claim is an estimate; a NaN claims the least.
        let (n_chains, n_draws) = (sample.n_chains() as f64, sample.n_draws() as f64);
        let worth = (BELIEVED * figures.worst_ess() / n_chains).max(FEWEST_PER_CHAIN);
        let groups = sample.n_superchains();
        let per_group = sample.n_chains() / groups;
        figures.nested_rhat_threshold = threshold_for(groups, per_group, worth.min(n_draws));
        figures
    }

    /// The smallest of the effective sample sizes of bulk, tail and squared deviations; NaN if one of
    /// them is.
    ///
    /// ```
    /// use langevin::stat::{Sample, Verdict};
    /// let values: Vec<f64> = (0..400).map(|i| f64::from(i * 7 % 13)).collect();
    /// let verdict = Verdict::new(&Sample::new(&values, 4, 100, 1)?);
    /// let figures = &verdict.coordinates[0];
    /// assert!(figures.worst_ess() <= figures.summary.ess_bulk);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn worst_ess(&self) -> f64 {
        let Summary {
            ess_bulk, ess_tail, ..
        } = self.summary;
        // (`min` alone would pass over a NaN.)
        match (ess_bulk + ess_tail + self.ess_squares).is_nan() {
            true => f64::NAN,
            false => ess_bulk.min(ess_tail).min(self.ess_squares),
        }
    }

    /// Whether chains that started apart have not met.
    pub fn is_unmixed(&self) -> bool {
        self.nested_rhat > self.nested_rhat_threshold
    }

    /// Whether squares may have no variance: the tail index is within a standard error of ½, or
    /// above. The standard deviation then has no error that draws could tell.
    pub fn has_heavy_tail(&self) -> bool {
        self.tail.index + self.tail.error >= HEAVY
    }

    /// Whether that is worth a warning: of short runs, which hardly know the index, only where it is
    /// above ½ by a standard error.
    pub(super) fn speaks_of_heavy_tail(&self) -> bool {
        match self.tail.error > VAGUE {
            true => self.tail.index - self.tail.error >= HEAVY,
            false => self.has_heavy_tail(),
        }
    }
}

/// Figures of one chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainFigures {
    /// Mean probability of acceptance, where it was told.
    pub acceptance: Option<f64>,
    /// Mean size of the energy errors that are finite, where they were told.
    pub energy_error: Option<f64>,
    /// Energy errors that are not finite or larger than 1000.
    pub large_errors: usize,
    /// Largest number of steps in a row that changed nothing; seen in draws, so that it may be more by
    /// two distances between draws.
    pub longest_run: usize,
}

/// Energy errors from this on say that a step has become unstable.
const LARGE_ERROR: f64 = 1000.0;
/// Share of large errors that is put up with: the step was tuned to typical places.
const LARGE_SHARE: f64 = 1e-3;
/// A share that is never put up with.
const LARGER_SHARE: f64 = 1e-2;
/// Steps without a move in some chain from which on the smaller share counts: step sizes vary, and where
/// the smaller ones lead on, the larger do no harm.
const LARGE_RUN: usize = 50;
/// Steps without a move that are put up with: runs of thirty to ninety happen on sound chains, in long
/// runs of more, whatever the length of the run.
const MOST_STILL: usize = 500;
/// Difference of acceptance that chains of one distribution may have.
const ACCEPTANCE_GAP: f64 = 0.1;

impl ChainFigures {
    pub(super) fn of_all(sample: &Sample) -> Vec<Self> {
        let n = sample.n_draws();
        let of = |chain: usize| {
            let part = |x: &[f64]| x[chain * n..(chain + 1) * n].to_vec();
            let errors = sample.energy_errors().map(part);
            let is_large = |e: &&f64| e.is_nan() || e.abs() > LARGE_ERROR;
            let sizes = |errors: &Vec<f64>| -> Vec<f64> {
                let finite = errors.iter().filter(|e| e.is_finite());
                finite.map(|e| e.abs()).collect()
            };
            ChainFigures {
                acceptance: sample.acceptance().map(|x| mean(&part(x))),
                energy_error: errors.as_ref().map(|e| mean(&sizes(e))),
                large_errors: errors.map_or(0, |e| e.iter().filter(is_large).count()),
                longest_run: sample.thin() * longest_run(sample.chain(chain), sample.dim()),
            }
        };
        (0..sample.n_chains()).map(of).collect()
    }

    pub(super) fn warnings(chains: &[Self], sample: &Sample) -> Vec<Warning> {
        let n = sample.n_draws();
        let mut found = vec![];
        let steps = n * sample.thin();
        let limit = (steps / 10).clamp(100, MOST_STILL).min(steps / 2);
        let runs = chains.iter().map(|c| c.longest_run).enumerate();
        found.extend(Warning::worst(
            Kind::Stuck,
            limit as f64,
            runs.filter(|(_, run)| n >= 50 && *run > limit)
                .map(|(c, run)| (Subject::Chain(c), run as f64)),
        ));
        found.extend(acceptance_gap(chains, sample));
        let share = |c: &Self| c.large_errors as f64 / n as f64;
        let all = chains.iter().map(share).sum::<f64>() / chains.len() as f64;
        let still = chains.iter().map(|c| c.longest_run).max() >= Some(LARGE_RUN);
        if all > LARGER_SHARE || still && all > LARGE_SHARE {
            found.extend(Warning::worst(
                Kind::LargeErrors,
                LARGE_SHARE,
                chains
                    .iter()
                    .enumerate()
                    .filter(|(_, c)| share(c) > LARGE_SHARE)
                    .map(|(i, c)| (Subject::Chain(i), share(c))),
            ));
        }
        found
    }
}

/// How much less the worst eighth of the chains accepts than all of them, if that is more than 0.1
/// and three standard errors of one chain's mean.
fn acceptance_gap(chains: &[ChainFigures], sample: &Sample) -> Option<Warning> {
    let draws = sample.acceptance()?;
    let n = sample.n_draws();
    let mut means: Vec<(f64, usize)> = chains
        .iter()
        .enumerate()
        .map(|(i, c)| (c.acceptance.unwrap_or(f64::NAN), i))
        .collect();
    if means.len() < 4 || n < 4 {
        return None;
    }
    let within = draws.chunks_exact(n).map(|x| mean_and_variance(x).1);
    let error = (mean(&within.collect::<Vec<_>>()) / n as f64).sqrt();
    let overall = mean(draws);
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let worst = &means[..(means.len() / 8).max(1)];
    let lowest = worst.iter().map(|m| m.0).sum::<f64>() / worst.len() as f64;
    let threshold = ACCEPTANCE_GAP + 3.0 * error;
    (overall - lowest > threshold).then_some(Warning {
        kind: Kind::UnevenAcceptance,
        subject: Subject::Chain(worst[0].1),
        figure: overall - lowest,
        threshold,
        others: worst.len() - 1,
    })
}

/// The largest number of states in a row that are equal to the one before.
fn longest_run(states: &[f64], dim: usize) -> usize {
    let (mut longest, mut run) = (0, 0);
    let all: Vec<&[f64]> = states.chunks_exact(dim).collect();
    for pair in all.windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Whether all states of a chain are finite.
pub(super) fn finite_rows(sample: &Sample, chain: usize) -> bool {
    sample.chain(chain).iter().all(|x| x.is_finite())
}
