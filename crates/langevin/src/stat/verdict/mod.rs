//! What the draws of a run are worth, and what speaks against them.
//!
//! No single figure sees everything, so a [`Verdict`] looks at several:
//!
//! | sign | sees |
//! |---|---|
//! | nested R-hat of every coordinate and of log π | chains that started apart and have not met: modes, funnels, short warm-ups |
//! | worst of bulk, tail and squared-deviation ESS, below five per chain | chains that hardly move |
//! | longest run without a move | a chain that is stuck |
//! | acceptance of the worst eighth of the chains | places too narrow for the step |
//! | largest eigenvalue of the whitened covariance of scores | the same, from the inside: ≥ 10⁴ on funnels, 1 on a Gaussian |
//! | E g = 0 and E (θ − m)g = −1 | scores that belong to another density, parts that are never entered |
//! | tail index of squares | standard deviations without an error |
//! | shares of large energy errors | steps that are unstable |

mod figures;
mod sample;
mod score_signs;
mod warning;

pub use figures::{ChainFigures, Figures};
pub use sample::Sample;
pub use score_signs::ScoreFigures;
pub use warning::{Kind, Subject, Warning};

use rayon::prelude::*;

use super::nested::FEWEST_PER_CHAIN;
use figures::finite_rows;

/// Figures of a run and the warnings that follow from them.
///
/// ```
/// use langevin::rng::{Rng, Stream};
/// use langevin::stat::{Sample, Verdict};
/// // Eight chains of 500 independent draws in the plane.
/// let mut rng = Rng::new(3, 0, Stream::Setup);
/// let mut values: Vec<f64> = (0..8 * 500 * 2).map(|_| rng.normal()).collect();
/// let verdict = Verdict::new(&Sample::new(&values, 8, 500, 2)?);
/// assert!(verdict.warnings.is_empty() && verdict.ess().unwrap() > 2000.0);
///
/// // The last chain never finds the others.
/// values[7 * 1000..].iter_mut().for_each(|x| *x += 5.0);
/// let verdict = Verdict::new(&Sample::new(&values, 8, 500, 2)?);
/// assert_eq!(verdict.ess(), None);
/// println!("{}", verdict.warnings[0]);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Of each coordinate.
    pub coordinates: Vec<Figures>,
    /// Of log π, where it was told.
    pub log_density: Option<Figures>,
    /// Of each chain.
    pub chains: Vec<ChainFigures>,
    /// What nested R-hat must stay below where it is worst, by what its coordinate claims.
    pub nested_rhat_threshold: f64,
    /// From the scores, where they were told.
    pub scores: Option<ScoreFigures>,
    /// One of each kind at most, about the worst case.
    pub warnings: Vec<Warning>,
}

impl Verdict {
    /// Looks at a sample. Coordinates are taken side by side by the threads there are; the figures do
    /// not depend on their number.
    pub fn new(sample: &Sample) -> Self {
        let scores = figures::Scores::new(sample);
        let coordinates: Vec<Figures> = (0..sample.dim())
            .into_par_iter()
            .map(|i| Figures::new(sample, &sample.coordinate(i), &scores))
            .collect();
        let log_density = sample
            .log_densities()
            .map(|x| Figures::new(sample, x, &scores));
        let mut verdict = Verdict {
            nested_rhat_threshold: worst_threshold(coordinates.iter().chain(&log_density)),
            scores: ScoreFigures::new(sample, &coordinates),
            chains: ChainFigures::of_all(sample),
            coordinates,
            log_density,
            warnings: vec![],
        };
        verdict.warnings = verdict.look(sample);
        verdict
    }

    /// Effective sample size that all means, quantiles and standard deviations have: the smallest of
    /// bulk, tail and squared deviations over all coordinates.
    ///
    /// `None` where there is no such thing: a draw is not finite, a coordinate does not move, an
    /// effective sample size is below five per chain (stuck chains give about their number), nested
    /// R-hat is above its threshold, or a tail is so heavy that squares have no variance (one
    /// standard error of the tail index on the safe side, so that no lucky moment is taken for
    /// precision).
    pub fn ess(&self) -> Option<f64> {
        if self.coordinates.iter().any(Figures::has_heavy_tail) {
            return None;
        }
        self.smallest(Figures::worst_ess)
    }

    /// The same for means and quantiles alone: of bulk and tail, whatever squares do.
    pub fn ess_of_means(&self) -> Option<f64> {
        self.smallest(|f| f.summary.ess_bulk.min(f.summary.ess_tail))
    }

    fn smallest(&self, ess: impl Fn(&Figures) -> f64) -> Option<f64> {
        let fewest = FEWEST_PER_CHAIN * self.chains.len() as f64;
        let mixed = |f: &Figures| !f.is_unmixed();
        let good = |f: &Figures| f.summary.sd > 0.0 && mixed(f) && ess(f) >= fewest;
        let all = self.coordinates.iter().all(good) && self.log_density.iter().all(mixed);
        let smallest = self
            .coordinates
            .iter()
            .map(ess)
            .fold(f64::INFINITY, f64::min);
        all.then_some(smallest)
    }

    fn look(&self, sample: &Sample) -> Vec<Warning> {
        let mut found = vec![];
        found.extend(self.not_finite(sample));
        if !found.is_empty() {
            // Nothing else could be computed.
            return found;
        }
        let subjects = || {
            let coordinates = self.coordinates.iter().enumerate();
            let coordinates = coordinates.map(|(i, f)| (Subject::Coordinate(i), f));
            coordinates.chain(self.log_density.iter().map(|f| (Subject::LogDensity, f)))
        };
        let fewest = FEWEST_PER_CHAIN * self.chains.len() as f64;
        found.extend(Warning::worst(
            Kind::Constant,
            0.0,
            subjects()
                .filter(|(s, f)| matches!(s, Subject::Coordinate(_)) && f.summary.sd == 0.0)
                .map(|(s, f)| (s, f.summary.mean)),
        ));
        found.extend(Warning::worst(
            Kind::Unmixed,
            self.nested_rhat_threshold,
            subjects()
                .filter(|(_, f)| f.is_unmixed())
                .map(|(s, f)| (s, f.nested_rhat)),
        ));
        found.extend(Warning::worst(
            Kind::FewEffective,
            fewest,
            subjects()
                .filter(|(s, f)| {
                    matches!(s, Subject::Coordinate(_)) && !f.is_unmixed() && f.worst_ess() < fewest
                })
                .map(|(s, f)| (s, f.worst_ess())),
        ));
        found.extend(Warning::worst(
            Kind::HeavyTail,
            figures::HEAVY,
            subjects()
                .filter(|(s, f)| matches!(s, Subject::Coordinate(_)) && f.speaks_of_heavy_tail())
                .map(|(s, f)| (s, f.tail.index)),
        ));
        found.extend(ChainFigures::warnings(&self.chains, sample));
        if let Some(scores) = &self.scores {
            found.extend(scores.warnings());
        }
        found
    }

    fn not_finite(&self, sample: &Sample) -> Option<Warning> {
        let bad: Vec<usize> = (0..sample.n_chains())
            .filter(|c| !finite_rows(sample, *c))
            .collect();
        let first = *bad.first()?;
        Some(Warning {
            kind: Kind::NotFinite,
            subject: Subject::Chain(first),
            figure: bad.len() as f64,
            threshold: 0.0,
            others: bad.len() - 1,
        })
    }
}

/// The threshold of the figures that exceed theirs most, or come nearest to it.
fn worst_threshold<'a>(all: impl Iterator<Item = &'a Figures>) -> f64 {
    let excess = |f: &Figures| f.nested_rhat / f.nested_rhat_threshold;
    all.filter(|f| excess(f).is_finite())
        .max_by(|a, b| excess(a).total_cmp(&excess(b)))
        .map_or(f64::NAN, |f| f.nested_rhat_threshold)
}
