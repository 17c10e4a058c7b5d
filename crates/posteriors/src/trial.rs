//! A run as users make it, held against the truth.

use langevin_run::posterior::{Drawn, Why};

use crate::{Known, Truth};

/// Whether a run warned of something.
pub fn is_warned(drawn: &Drawn) -> bool {
    !drawn.judged.warnings.is_empty() || drawn.why == Why::HeavyTails
}

/// By how many standard errors, of draws and truth together, the means and the standard deviations
/// are off at most; the second is 0 where there are no fourth moments. None without known answers.
pub fn worst_errors(drawn: &Drawn, truth: &Truth) -> Option<(f64, f64)> {
    let known = truth.moments.as_ref()?;
    let z = |found: f64, error: f64, known: Known| {
        let z = (found - known.value).abs() / error.hypot(known.error);
        // (`max` passes over a NaN.)
        if z.is_nan() { f64::INFINITY } else { z }
    };
    let (mut means, mut sds) = (0.0_f64, 0.0_f64);
    for (i, figures) in drawn.judged.verdict.coordinates.iter().enumerate() {
        let s = &figures.summary;
        means = means.max(z(s.mean, s.mcse_mean, known.means[i]));
        if truth.fourth_moments {
            sds = sds.max(z(s.sd, s.mcse_sd, known.sds[i]));
        }
    }
    Some((means, sds))
}

/// What errors that size may be by chance: the quantile of the largest of `n` normal deviates that
/// one run in 2000 exceeds, but 4 at least.
///
/// ```
/// use langevin_posteriors::trial::limit;
/// assert!(limit(4) == 4.0 && limit(2000) > 5.15 && limit(2000) < 5.17);
/// ```
pub fn limit(n: usize) -> f64 {
    // P(|Z| > z) ≈ 2φ(z)/z, solved for 5·10⁻⁴/n.
    let wanted = (5e-4 / n as f64).ln();
    let log_tail = |z: f64| -(0.5 * z * z + z.ln() + 0.5 * std::f64::consts::FRAC_PI_2.ln());
    let (mut low, mut high) = (4.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match log_tail(middle) > wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    low
}
