//! A look at the draws so far.

use langevin::RunError;
use langevin::adapt::Report;
use langevin::stat::verdict::Kind;
use langevin::stat::{Sample, Verdict};

use super::{Drawn, Kept, Why};
use crate::target::Target;

/// What draws are worth, and what speaks against them.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The draws as people see them, in the order chain, draw, number.
    pub shown: Vec<f64>,
    /// What is thought of them.
    pub verdict: Verdict,
    /// Number of effective draws for means, quantiles and standard deviations of everything; none
    /// where there is no such thing.
    pub ess: Option<f64>,
    /// Warnings in words: what, how much, the likely cause, and what to try.
    pub warnings: Vec<String>,
}

impl Judged {
    /// The largest nested R-hat.
    pub fn rhat(&self) -> f64 {
        let all = self.verdict.coordinates.iter().map(|f| f.nested_rhat);
        all.fold(f64::NAN, f64::max)
    }
}

/// Looks at draws; at every k-th where there are more than `most` of a parameter.
pub(super) fn judge(
    target: &Target,
    names: Option<&[String]>,
    kept: &Kept,
    warm_up: &Report,
    most: usize,
) -> Result<Judged, RunError> {
    let all = target.show_free(&kept.states())?;
    let every = (kept.n_chains() * kept.n_draws())
        .div_ceil(most.max(1))
        .max(1);
    let kept = &kept.every(every);
    let (n_chains, n_draws, dim) = (kept.n_chains(), kept.n_draws(), kept.dim());
    let groups = n_chains / warm_up.superchain_size.max(1);
    let (states, scores) = (kept.states(), kept.scores());
    let (lp, acceptance, errors) = (kept.log_density(), kept.acceptance(), kept.energy_error());
    let free = Sample::new(&states, n_chains, n_draws, dim)?
        .superchains(groups)?
        .thinned(kept.thin() as usize)
        .with_scores(&scores)?
        .with_log_densities(&lp)?
        .with_acceptance(&acceptance)?
        .with_energy_errors(&errors)?;
    let verdict = Verdict::new(&free);
    let shown = match every {
        1 => all.clone(),
        _ => target.show_free(&states)?,
    };
    let width = shown.len() / (n_chains * n_draws).max(1);
    let labels = match names {
        Some(names) if names.len() == width => names.to_vec(),
        _ => target.layout.labels(),
    };
    let label = |i: usize| {
        labels
            .get(i)
            .cloned()
            .unwrap_or_else(|| format!("theta[{i}]"))
    };
    if shown == states {
        return Ok(Judged {
            shown: all,
            ess: verdict.ess(),
            warnings: verdict.warnings.iter().map(|w| w.in_words(label)).collect(),
            verdict,
        });
    }
    // Numbers that cannot move (a diagonal of ones) are no news where the coordinates do.
    let moves: Vec<usize> = (0..width)
        .filter(|i| {
            shown
                .iter()
                .skip(*i)
                .step_by(width)
                .any(|x| *x != shown[*i])
        })
        .collect();
    if moves.is_empty() {
        return Ok(Judged {
            shown: all,
            ess: None,
            warnings: verdict.warnings.iter().map(ToString::to_string).collect(),
            verdict,
        });
    }
    let moving: Vec<f64> = shown
        .chunks_exact(width)
        .flat_map(|row| moves.iter().map(|i| row[*i]))
        .collect();
    let seen = Sample::new(&moving, n_chains, n_draws, moves.len())?
        .superchains(groups)?
        .thinned(kept.thin() as usize)
        .with_log_densities(&lp)?
        .with_acceptance(&acceptance)?
        .with_energy_errors(&errors)?;
    let of_shown = Verdict::new(&seen);
    let mut warnings: Vec<String> = of_shown
        .warnings
        .iter()
        .map(|w| w.in_words(|i| label(moves[i])))
        .collect();
    // What only the free coordinates tell.
    let more = verdict
        .warnings
        .iter()
        .filter(|w| matches!(w.kind, Kind::Narrow | Kind::WrongScores | Kind::Constant));
    warnings.extend(more.map(|w| w.in_words(|i| format!("free coordinate {i}"))));
    Ok(Judged {
        shown: all,
        ess: of_shown.ess(),
        warnings,
        verdict: of_shown,
    })
}

impl Drawn {
    /// Adds what the run as a whole has to say.
    pub(super) fn add_words(&mut self) {
        let mut words = vec![];
        if !self.warm_up.converged {
            words.push(format!(
                "the warm-up was not at rest after {} gradients of each chain: its step and metric may \
                 not suit the posterior; allow a longer one (tune), or reparametrise",
                self.warm_up.gradients
            ));
        }
        let (n, moved) = (self.kept.n_chains(), self.warm_up.relocated());
        if moved > n {
            words.push(format!(
                "{moved} times a chain was stuck in the warm-up and moved to where another was: a \
                 narrow place or a mode that the others do not reach may be missing; compare with \
                 other initial values"
            ));
        }
        let short = |what: String| match self.judged.ess {
            Some(ess) => format!("{what}, {ess:.0} effective draws"),
            None => format!("{what}, and there is no effective sample size yet"),
        };
        let wanted = self
            .wanted
            .map_or(String::new(), |n| format!(" of the {n:.0} wanted"));
        match self.why {
            Why::Time => words.push(
                short(format!(
                    "the time was over after {:.0} s",
                    self.costs.warm_up_seconds + self.costs.seconds + self.costs.looking_seconds
                )) + &wanted
                    + "; allow more (max_time), or ask for less (min_ess)",
            ),
            Why::Gradients => words.push(
                short(format!(
                    "{} gradients were used up",
                    self.costs.warm_up_gradients + self.costs.gradients
                )) + &wanted
                    + "; allow more (max_gradients), or ask for less (min_ess)",
            ),
            Why::HeavyTails => words.push(format!(
                "it ended because means and quantiles are precise ({:.0} effective draws) and standard \
                 deviations are not going to be: their errors are not to be relied on",
                self.judged.verdict.ess_of_means().unwrap_or(f64::NAN)
            )),
            Why::Precise | Why::Draws | Why::Interrupted => {}
        }
        self.judged.warnings.extend(words);
    }
}
