//! Warnings as data, and in words.

use std::fmt;

/// What a warning is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A coordinate, by its number.
    Coordinate(usize),
    /// A chain, by its number.
    Chain(usize),
    /// log π of the draws.
    LogDensity,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Draws that are not finite; the figure is the number of chains that have some.
    NotFinite,
    /// All draws are equal; the figure is their value.
    Constant,
    /// Chains that started apart have not met; the figure is nested R-hat.
    Unmixed,
    /// Fewer than five effective draws per chain; the figure is their number, of the worst of bulk,
    /// tail and squared deviations.
    FewEffective,
    /// Squares may have no variance; the figure is their tail index.
    HeavyTail,
    /// A chain stays where it is; the figure is its longest run of equal draws.
    Stuck,
    /// Some chains accept less than others; the figure is the difference to the mean.
    UnevenAcceptance,
    /// The energy error explodes; the figure is the share of such steps.
    LargeErrors,
    /// There are places much narrower than the whole; the figure is the largest eigenvalue of the
    /// whitened covariance of scores.
    Narrow,
    /// Identities between draws and scores fail; the figure is by how much.
    WrongScores,
}

/// Something that speaks against a run: what, where, how much, and what it should have been.
///
/// ```
/// use langevin::stat::verdict::{Kind, Subject, Warning};
/// let warning = Warning {
///     kind: Kind::Unmixed,
///     subject: Subject::Coordinate(1),
///     figure: 1.7,
///     threshold: 1.05,
///     others: 0,
/// };
/// let text = warning.in_words(|i| ["mu", "tau"][i].into());
/// assert!(text.starts_with("tau: nested R-hat is 1.700, above 1.050"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warning {
    /// What is wrong.
    pub kind: Kind,
    /// Where it is worst.
    pub subject: Subject,
    /// The figure there.
    pub figure: f64,
    /// What it would have had to stay within.
    pub threshold: f64,
    /// How many others have the same, less badly.
    pub others: usize,
}

impl Warning {
    /// One warning about all that was found, with the worst of it: the smallest figure where few are
    /// bad, else the largest.
    pub(super) fn worst(
        kind: Kind,
        threshold: f64,
        found: impl Iterator<Item = (Subject, f64)>,
    ) -> Option<Self> {
        let sign = if kind == Kind::FewEffective {
            -1.0
        } else {
            1.0
        };
        let found: Vec<_> = found.collect();
        let badness = |x: &(Subject, f64)| sign * x.1;
        // The first of equals.
        let (subject, figure) = found
            .iter()
            .copied()
            .reduce(|a, b| if badness(&b) > badness(&a) { b } else { a })?;
        Some(Warning {
            kind,
            subject,
            figure,
            threshold,
            others: found.len() - 1,
        })
    }

    /// The warning in words: the parameter, the figure, the likely cause, and the next thing to try.
    pub fn in_words(&self, name: impl Fn(usize) -> String) -> String {
        let Warning {
            figure, threshold, ..
        } = *self;
        let subject = match self.subject {
            Subject::Coordinate(i) => name(i),
            Subject::Chain(i) => format!("chain {i}"),
            Subject::LogDensity => "log π".into(),
        };
        let others = match self.others {
            0 => String::new(),
            n => format!(" (and {n} more)"),
        };
        let (what, why) = match self.kind {
            Kind::NotFinite => (
                format!("{figure} chain(s) have draws that are not finite"),
                "the chain left the support or its score failed; start nearer to the bulk, or bound the parameter",
            ),
            Kind::Constant => (
                format!("every draw is {figure}"),
                "the density does not depend on it, or no proposal was ever accepted; leave it out, or look at its scale",
            ),
            Kind::Unmixed => (
                format!("nested R-hat is {figure:.3}, above {threshold:.3}"),
                "chains that started apart have not met: several modes, a funnel, or too short a run; compare the chains' draws, run longer, or reparametrise",
            ),
            Kind::FewEffective => (
                format!("{figure:.0} effective draws, fewer than {threshold:.0} (five per chain)"),
                "the chains hardly move along it; run longer, or rescale or reparametrise",
            ),
            Kind::HeavyTail => (
                format!(
                    "the tail index of its squares is {figure:.2}, not safely below {threshold}"
                ),
                "the tail is too heavy for a standard deviation with an error; use quantiles, or run longer if the index is only just above",
            ),
            Kind::Stuck => (
                format!(
                    "it stayed where it was for {figure:.0} draws in a row, more than {threshold:.0}"
                ),
                "it sits in a place too narrow for its step; take smaller steps (a higher target_accept), or reparametrise",
            ),
            Kind::UnevenAcceptance => (
                format!(
                    "it accepts {figure:.2} less than the mean over all chains, more than {threshold:.2}"
                ),
                "some chains are in places too narrow for the step, and others may not get there at all, so that spreads come out too small; raise target_accept, or reparametrise",
            ),
            Kind::LargeErrors => (
                format!(
                    "{:.2} % of its steps have exploding energy errors",
                    100.0 * figure
                ),
                "the step is unstable in parts of the posterior; raise target_accept, or reparametrise",
            ),
            Kind::Narrow => (
                format!(
                    "the scores vary {figure:.0} times as much as on a Gaussian of the same spread, more than {threshold:.0}"
                ),
                "there are places far narrower than the whole, as in the neck of a funnel, and steps that suit the whole do not enter them; write hierarchies non-centred, or check against a run with smaller steps",
            ),
            Kind::WrongScores => (
                format!(
                    "its draws and scores contradict each other by {figure:.2}, more than {threshold}"
                ),
                "the score is not the gradient of the density, a density is cut off, or parts of the posterior are never entered; check the gradient, then reparametrise",
            ),
        };
        format!("{subject}{others}: {what}; {why}")
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.in_words(|i| format!("theta[{i}]")))
    }
}
