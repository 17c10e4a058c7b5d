//! Convergence diagnostics against the answers of ArviZ on stored draws.
//!
//! `data/make_diagnostics.py` writes the draws and the answers.

use langevin::stat::*;
use serde_json::Value;

/// Relative tolerance: both sides sum a few thousand terms in double precision, and the draws far
/// from zero lose six digits in their variance.
const TOLERANCE: f64 = 1e-8;

fn number(v: &Value) -> f64 {
    match v.as_str() {
        Some(text) => text.parse().unwrap(),
        None => v.as_f64().unwrap(),
    }
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(number).collect()
}

fn agree(got: f64, want: f64) -> bool {
    got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= TOLERANCE * want.abs()
}

/// The names of the diagnostics that differ.
fn differences(case: &Value, probs: &[f64], values: &[f64]) -> Vec<String> {
    let size = |key: &str| case[key].as_u64().unwrap() as usize;
    let draws = Draws::new(values, size("n_chains"), size("n_draws")).unwrap();
    let summary = Summary::new(draws);
    let mut compared = vec![
        ("rhat", rhat(draws)),
        ("ess_bulk", ess_bulk(draws)),
        ("ess_tail", ess_tail(draws)),
        ("ess_mean", ess_mean(draws)),
        ("ess_sd", ess_sd(draws)),
        ("mcse_mean", mcse_mean(draws)),
        ("mcse_sd", mcse_sd(draws)),
        ("mean", summary.mean),
        ("sd", summary.sd),
        ("rhat", summary.r_hat),
        ("ess_bulk", summary.ess_bulk),
        ("ess_tail", summary.ess_tail),
        ("mcse_mean", summary.mcse_mean),
        ("mcse_sd", summary.mcse_sd),
    ]
    .into_iter()
    .map(|(name, got)| (name.to_string(), got, number(&case[name])))
    .collect::<Vec<_>>();
    for (i, &prob) in probs.iter().enumerate() {
        for (name, got) in [
            ("quantile", quantile(draws, prob)),
            ("ess_quantile", ess_quantile(draws, prob)),
            ("mcse_quantile", mcse_quantile(draws, prob)),
        ] {
            compared.push((
                format!("{name} {prob}"),
                got.unwrap(),
                numbers(&case[name])[i],
            ));
        }
    }
    compared
        .into_iter()
        .filter(|(_, got, want)| !agree(*got, *want))
        .map(|(name, got, want)| format!("{}: {name} is {got}, not {want}", case["name"]))
        .collect()
}

fn stored() -> Value {
    serde_json::from_str(include_str!("data/diagnostics.json")).unwrap()
}

#[test]
fn agree_with_arviz_on_stored_draws() {
    let data = stored();
    let probs = numbers(&data["probs"]);
    let cases = data["cases"].as_array().unwrap();
    assert!(cases.len() > 20);
    let wrong: Vec<String> = cases
        .iter()
        .flat_map(|case| differences(case, &probs, &numbers(&case["values"])))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Negative control: one draw moved by a part in a thousand is noticed.
#[test]
fn a_changed_draw_is_noticed() {
    let data = stored();
    let case = &data["cases"][0];
    let mut values = numbers(&case["values"]);
    values[17] *= 1.001;
    let wrong = differences(case, &[], &values);
    assert!(wrong.len() >= 4, "{wrong:?}");
}
