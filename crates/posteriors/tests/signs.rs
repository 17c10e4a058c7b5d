//! What verdicts say of real runs, sound ones and others.

use langevin::stat::verdict::Kind;
use langevin::stat::{Sample, Verdict};
use langevin::target::Target;
use langevin_posteriors::explore::{Effort, explore};
use langevin_posteriors::{Truth, Visit, visit};

/// A run of plain MALA, its verdict, and by how many errors means and standard deviations are off at
/// most.
struct Run(Option<(Verdict, f64)>);

impl Visit for Run {
    fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
        let d = target.dim();
        let effort = Effort {
            n_chains: 32,
            window: 100,
            n_draws: 500,
            thin: 5,
            seed: 7,
        };
        let found = explore(target, &vec![0.0; d], 0.3, effort).unwrap();
        let sample = Sample::new(&found.draws, 32, 500, d)
            .and_then(|s| s.with_scores(&found.scores))
            .and_then(|s| s.with_acceptance(&found.acceptance))
            .and_then(|s| s.with_log_densities(&found.log_densities))
            .unwrap();
        let verdict = Verdict::new(&sample);
        let known = truth.moments.as_ref().unwrap();
        let mut off = 0.0f64;
        for (i, figures) in verdict.coordinates.iter().enumerate() {
            let s = figures.summary;
            off = off.max((s.mean - known.means[i].value).abs() / s.mcse_mean);
            off = off.max((s.sd - known.sds[i].value).abs() / s.mcse_sd);
        }
        self.0 = Some((verdict, off));
    }
}

fn run(name: &str) -> (Verdict, f64) {
    let mut run = Run(None);
    assert!(visit(name, &mut run));
    let (verdict, off) = run.0.unwrap();
    println!("{name}: ESS {:?}, {off:.1} errors off", verdict.ess());
    verdict.warnings.iter().for_each(|w| println!("  {w}"));
    (verdict, off)
}

/// Within 4.5 errors: of some hundred figures, one is beyond with probability 1e-3.
#[test]
fn easy_targets_are_right_and_silent() {
    for name in ["gaussian-2", "gaussian-20", "eight-schools", "dirichlet"] {
        let (verdict, off) = run(name);
        assert!(
            verdict.warnings.is_empty() && verdict.ess().is_some(),
            "{name}"
        );
        assert!(off < 4.5, "{name}: {off}");
    }
}

#[test]
fn hard_targets_are_warned_of() {
    for name in ["funnel", "eight-schools-centred", "two-modes", "student-3"] {
        let (verdict, _) = run(name);
        assert!(
            !verdict.warnings.is_empty() && verdict.ess().is_none(),
            "{name}"
        );
    }
    let (verdict, _) = run("eight-schools-centred");
    let kinds: Vec<Kind> = verdict.warnings.iter().map(|w| w.kind).collect();
    assert!(kinds.contains(&Kind::UnevenAcceptance), "{kinds:?}");
}
