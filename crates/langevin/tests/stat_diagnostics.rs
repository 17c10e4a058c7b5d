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

/// Diagnostics without a unit, and those in the unit of the draws.
fn all(draws: Draws) -> (Vec<f64>, Vec<f64>) {
    let s = Summary::new(draws);
    let at = |f: fn(Draws, f64) -> langevin::Result<f64>| f(draws, 0.3).unwrap();
    let pure = vec![
        rhat(draws),
        ess_bulk(draws),
        ess_tail(draws),
        ess_mean(draws),
        ess_sd(draws),
        at(ess_quantile),
        s.r_hat,
        s.ess_bulk,
        s.ess_tail,
    ];
    let lengths = vec![
        mcse_mean(draws),
        mcse_sd(draws),
        at(mcse_quantile),
        at(quantile),
        s.mean,
        s.sd,
        s.q5,
        s.q95,
        s.mcse_mean,
        s.mcse_sd,
    ];
    (pure, lengths)
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// Scaling by a power of two loses no digit, so that only overflow and underflow on the way could
/// make a difference.
#[test]
fn draws_of_any_size_have_the_same_diagnostics() {
    for case in stored()["cases"].as_array().unwrap() {
        let values = numbers(&case["values"]);
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let (n_chains, n_draws) = (size("n_chains"), size("n_draws"));
        let largest = values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        // The largest draw just fits, and the smallest (a millionth at least) is still normal.
        let (most, least) = (1022 - largest.log2().floor() as i32, -1000);
        let (pure, lengths) = all(Draws::new(&values, n_chains, n_draws).unwrap());
        for power in [least, -700, -300, 300, 700, most] {
            let factor = |x: f64| x * 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
            let scaled: Vec<f64> = values.iter().map(|v| factor(*v)).collect();
            let got = all(Draws::new(&scaled, n_chains, n_draws).unwrap());
            let lengths: Vec<f64> = lengths.iter().map(|x| factor(*x)).collect();
            let pairs = got.0.iter().zip(&pure).chain(got.1.iter().zip(&lengths));
            for (i, (got, want)) in pairs.enumerate() {
                let name = &case["name"];
                assert!(same(*got, *want), "{name} 2^{power} {i}: {got}, not {want}");
            }
        }
    }
}

/// Draws at both ends of the numbers: no distance between the two exists.
#[test]
fn modes_far_apart() {
    let mode = |x: &f64| if *x > -0.5 { 1.8 } else { -1.8 };
    let values = numbers(&stored()["cases"][0]["values"]);
    let values: Vec<f64> = values.iter().map(|x| mode(x) + 0.01 * x).collect();
    let (pure, lengths) = all(Draws::new(&values, 4, 250).unwrap());
    let far: Vec<f64> = values.iter().map(|v| v * 2f64.powi(1023)).collect();
    let got = all(Draws::new(&far, 4, 250).unwrap());
    assert_eq!(got.0, pure);
    let lengths: Vec<f64> = lengths.iter().map(|x| x * 2f64.powi(1023)).collect();
    assert_eq!(got.1, lengths);
}

#[test]
fn a_draw_that_is_not_finite_leaves_no_diagnostic() {
    let values = numbers(&stored()["cases"][0]["values"]);
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        for place in [0, 17, values.len() - 1] {
            let mut holed = values.clone();
            holed[place] = bad;
            let draws = Draws::new(&holed, 4, 250).unwrap();
            let s = Summary::new(draws);
            assert!(all(draws).0.iter().all(|x| x.is_nan()), "{bad} {place}");
            for error in [
                mcse_mean(draws),
                mcse_sd(draws),
                mcse_quantile(draws, 0.3).unwrap(),
                s.mcse_mean,
                s.mcse_sd,
                s.sd,
            ] {
                assert!(error.is_nan(), "{bad} {place}");
            }
            // The mean is the limit, wherever the bad draw stands.
            assert!(same(s.mean, bad), "{bad} {place}: {}", s.mean);
        }
    }
}

#[test]
fn batch_means_and_spreads_of_any_size() {
    let values = &numbers(&stored()["cases"][0]["values"])[..250];
    let variance = batch_means(values, 5, 0.1).unwrap();
    let spread = Spread::new(values).unwrap();
    for power in [-1000, -400, 400, 1020] {
        let factor = 2f64.powi(power);
        let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
        // A variance may not be representable; then it is 0 or infinite, but not NaN.
        let want = variance * factor * factor;
        assert_eq!(batch_means(&scaled, 5, 0.1).unwrap(), want, "2^{power}");
        let got = Spread::new(&scaled).unwrap();
        assert_eq!(got.mean, spread.mean * factor, "2^{power}");
        assert_eq!(got.mean_se, spread.mean_se * factor, "2^{power}");
        assert_eq!(got.sd, spread.sd * factor, "2^{power}");
        assert_eq!(got.sd_se, spread.sd_se * factor, "2^{power}");
    }
    // The variance is representable where the squares of the values are not.
    let large = [1e160, -1e160, 1e160, -1e160];
    let got = batch_means(&large, 4, 1e-20).unwrap();
    assert!((got / (4.0 / 3.0 * 1e300) - 1.0).abs() < 1e-14, "{got}");
}
