//! `compare`: what it writes, and that its numbers are right.

use serde_json::Value;

use crate::{GAUSSIAN, Workplace};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn compare_writes_tables_figures_results_and_a_report() {
    let place = Workplace::new();
    place.write("gauss.toml", GAUSSIAN);
    let text = place.succeed(&["compare", "gauss.toml", "--out", "o"]);
    assert!(
        text.contains("ratio to LD") && text.contains("GiIrr"),
        "{text}"
    );
    let tables = [
        "variances",
        "cost",
        "running-averages",
        "ksd",
        "trajectories",
    ];
    for table in tables {
        let csv = place.read(&format!("o/tables/{table}.csv"));
        assert!(csv.lines().count() > 5, "{table}: {csv}");
    }
    let figures = [
        "running-sum",
        "running-sum-of-squares",
        "ksd-curve",
        "trajectories-figure",
    ];
    for figure in figures {
        assert!(
            place
                .read(&format!("o/figures/{figure}.svg"))
                .contains("GiIrr")
        );
        let png = std::fs::read(place.path(&format!("o/figures/{figure}.png"))).unwrap();
        assert_eq!(&png[1..4], b"PNG");
    }
    let html = place.read("o/report.html");
    assert!(html.contains("id=\"variances\"") && html.contains("id=\"ksd-curve\""));
    let results: Value = serde_json::from_str(&place.read("o/results.json")).unwrap();
    assert_eq!(results["settings"]["seed"], 1);
    assert_eq!(results["settings"]["run_file"], GAUSSIAN);
    assert_eq!(results["dynamics"].as_array().unwrap().len(), 5);
    let first = &results["dynamics"][0]["observables"][0]["ratio_to_first"];
    assert_eq!((number(&first["value"]), number(&first["se"])), (1.0, 0.0));
    let timing: Value = serde_json::from_str(&place.read("o/timing.json")).unwrap();
    assert!(number(&timing["dynamics"][4]["seconds_per_step"]) > 0.0);
}

/// Batch means of all dynamics and observables against their exact expectation: ten values, each
/// within 4.5 standard errors of 192 chains (burn-in of 50 time units leaves no trace of the
/// start). False-alarm rate: 1e-4, from ten values with tails a little heavier than normal. The
/// negative control is the asymptotic variance itself, from which LD's batch means of 17.5 time
/// units are far.
#[test]
fn batch_means_meet_their_exact_expectation() {
    let place = Workplace::new();
    place.write("gauss.toml", GAUSSIAN);
    let text = place.succeed(&["compare", "gauss.toml", "--out", "o", "--json"]);
    let results: Value = serde_json::from_str(&text).unwrap();
    for dynamics in results["dynamics"].as_array().unwrap() {
        for observable in dynamics["observables"].as_array().unwrap() {
            let variance = &observable["asymptotic_variance"];
            let z = |exact: &Value| {
                (number(&variance["value"]) - number(exact)) / number(&variance["se"])
            };
            let name = (&dynamics["name"], &observable["name"]);
            let near = z(&observable["exact"]["batch_means"]);
            assert!(near.abs() < 4.5, "{name:?}: {near}");
            if dynamics["name"] == "LD" {
                let far = z(&observable["exact"]["chain"]);
                assert!(far < -4.5, "{name:?}: {far}");
            }
        }
    }
}

/// Squared bias and variance of running averages against theory at the last checkpoint; 20 values,
/// false-alarm rate as above.
#[test]
fn running_averages_meet_theory() {
    let place = Workplace::new();
    place.write("gauss.toml", GAUSSIAN);
    let text = place.succeed(&["compare", "gauss.toml", "--out", "o", "--json"]);
    let results: Value = serde_json::from_str(&text).unwrap();
    for dynamics in results["dynamics"].as_array().unwrap() {
        for observable in dynamics["observables"].as_array().unwrap() {
            let curve = observable["running_averages"].as_array().unwrap();
            let last = curve.last().unwrap();
            for part in ["variance", "bias_squared"] {
                let exact = number(&last[format!("exact_{part}")]);
                let (value, se) = (number(&last[part]["value"]), number(&last[part]["se"]));
                assert!(
                    (value - exact).abs() < 4.5 * se,
                    "{} {part}: {value} ± {se}, exact {exact}",
                    dynamics["name"]
                );
            }
        }
    }
}

/// Entries of one system that differ in step size and gradient stand side by side.
#[test]
fn step_sizes_and_gradients_can_be_compared() {
    let place = Workplace::new();
    let run = GAUSSIAN
        .replace(
            r#"["LD", "RM", "Irr", "RMIrr", "GiIrr"]"#,
            r#"["LD", { system = "LD", name = "LD, half step", step_size = 0.05 },
               { system = "LD", name = "LD, all data", batch_size = "all" },
               { name = "own", metric = { diagonal = [1, 2, 3] }, field = "geometric" }]"#,
        )
        .replace("n_chains = 192", "n_chains = 16");
    place.write("run.toml", &run);
    let text = place.succeed(&["compare", "run.toml", "--out", "o", "--json"]);
    let results: Value = serde_json::from_str(&text).unwrap();
    let settings = results["settings"]["dynamics"].as_array().unwrap();
    assert_eq!(settings[1]["step_size"], 0.05);
    assert_eq!(settings[0]["batch_size"], 2);
    assert_eq!(settings[2]["batch_size"], Value::Null);
    assert_eq!(settings[3]["field"], "geometric");
}

/// A chain that leaves the support is counted, and a dynamics without any chain left is told by
/// the exit code 1.
#[test]
fn lost_chains_are_counted() {
    let place = Workplace::new();
    let run = crate::NORMAL
        .replace("step_size = 0.05", "step_size = 1e4")
        .replace("\"GiIrr\"", "\"LD\"");
    place.write("run.toml", &run);
    let output = place.run(&["compare", "run.toml", "--out", "o"]);
    assert_eq!(output.status.code(), Some(1));
    let results: Value = serde_json::from_str(&place.read("o/results.json")).unwrap();
    let lost = results["dynamics"][0]["escapes"].as_array().unwrap();
    assert_eq!(lost.len(), 4);
}
