//! Support and stationarity.

use super::{Broken, Half, Standard, broken, draws_of, exact_draws};
use crate::RunError;
use crate::chain::{Chains, How, Records};
use crate::oracle::Exact;
use crate::transition::Transition;

/// A proposal outside of the support is rejected, not the end of a chain.
pub(super) fn support_is_kept<X: Transition>(transition: &X) -> Result<(), Broken> {
    const PROMISE: &str = "a proposal outside of the support is rejected";
    let d = transition.dim();
    let target = Half(d);
    let mut starts = exact_draws(d, 64, 7);
    for theta in &mut starts {
        theta[0] = 0.3 * theta[0].abs() + 1e-3;
    }
    let draws = draws_of(&Exact::new(&target), transition, &starts, 200)?;
    let outside = |x: f64| x <= 0.0 || !x.is_finite();
    let moved = draws.iter().any(|(s, _)| s[..d] != s[s.len() - d..]);
    if draws
        .iter()
        .any(|(s, _)| s.iter().step_by(d).any(|x| outside(*x)))
    {
        return broken(PROMISE, "a chain left it");
    }
    match moved {
        true => Ok(()),
        false => broken(PROMISE, "no chain ever moved"),
    }
}

/// Steps from exact draws, and the number of draws: the largest of their deviations from the law is
/// exceeded with probability 10⁻⁴.
const STATIONARY_STEPS: u64 = 12;
const STATIONARY_DRAWS: usize = 40_000;

/// A step from π leads to π: after some steps from exact draws every coordinate and their sum are still
/// standard normal, by Kolmogorov's test.
pub(super) fn exact_draws_stay_exact<X: Transition>(
    oracle: &Exact<'_, Standard>,
    transition: &X,
) -> Result<(), Broken> {
    const PROMISE: &str = "exact draws stay exact";
    let d = transition.dim();
    let failed = |e: RunError| Broken {
        promise: PROMISE,
        how: e.to_string(),
    };
    let starts = exact_draws(d, STATIONARY_DRAWS, 13);
    let chains = Chains::new(17, 0, starts.clone());
    let mut chains = chains.map_err(|e| failed(e.into()))?;
    let mut records = Records::new(&chains, oracle, || ());
    let how = How::default();
    let done = chains.advance(oracle, transition, STATIONARY_STEPS, &mut records, &how);
    done.map_err(failed)?;
    let states: Vec<&[f64]> = chains.states().collect();
    let moved = states.iter().zip(&starts).filter(|(a, b)| a != b).count();
    if moved < STATIONARY_DRAWS / 20 {
        return broken(
            PROMISE,
            format!("only {moved} of {STATIONARY_DRAWS} chains moved"),
        );
    }
    // Kolmogorov: P(√n D > λ) ≈ 2 exp(−2λ²).
    let tests = d + 1;
    let largest = (0.5 * (2.0 * tests as f64 / 1e-4).ln()).sqrt();
    for k in 0..tests {
        let value = |x: &&[f64]| match k {
            0 => x.iter().sum::<f64>() / (d as f64).sqrt(),
            _ => x[k - 1],
        };
        let distance = kolmogorov_distance(states.iter().map(value).collect());
        if distance > largest {
            let of = match k {
                0 => "the sum".to_string(),
                _ => format!("coordinate {}", k - 1),
            };
            let how = format!("the law of {of} is off by {distance:.2} > {largest:.2}");
            return broken(PROMISE, how);
        }
    }
    Ok(())
}

/// √n times the largest distance to the standard normal distribution function.
fn kolmogorov_distance(mut x: Vec<f64>) -> f64 {
    x.sort_unstable_by(f64::total_cmp);
    let n = x.len() as f64;
    let mut largest = 0.0_f64;
    for (i, x) in x.iter().enumerate() {
        let p = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        largest = largest.max((p - i as f64 / n).abs());
        largest = largest.max(((i + 1) as f64 / n - p).abs());
    }
    largest * n.sqrt()
}
