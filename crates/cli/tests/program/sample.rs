//! `sample`, `diagnose`, `ksd` and `list`.

use langevin_run::store;
use serde_json::Value;

use crate::{NORMAL, Workplace, texts};

#[test]
fn sample_writes_a_store_that_diagnose_and_ksd_read() {
    let place = Workplace::new();
    place.write("normal.toml", NORMAL);
    let text = place.succeed(&["sample", "normal.toml"]);
    assert!(text.contains("mu") && text.contains("sigma"), "{text}");
    assert!(text.contains("No chain escaped."), "{text}");
    let draws = store::read(place.path("out/normal/draws.zarr")).unwrap();
    assert_eq!((draws.n_chains(), draws.n_draws()), (4, 500));
    assert_eq!(draws.layout().labels(), ["mu", "sigma"]);
    assert_eq!(draws.attributes()["seed"], 7);
    assert_eq!(draws.attributes()["n_steps"], 3000);
    let positive = draws.values().chunks(2).all(|theta| theta[1] > 0.0);
    assert!(positive, "a standard deviation is not positive");

    let text = place.succeed(&["diagnose", "out/normal/draws.zarr"]);
    assert!(text.contains("R-hat"), "{text}");
    for name in ["report.html", "figures/trace.svg", "figures/rank.png"] {
        assert!(place.path("out/normal/diagnosis").join(name).is_file());
    }

    let arguments = ["ksd", "out/normal/draws.zarr", "--target", "normal.toml"];
    let text = place.succeed(&[&arguments[..], &["--points", "50", "--json"]].concat());
    let json: Value = serde_json::from_str(&text).unwrap();
    let curve = json["ksd"].as_array().unwrap();
    let value = |k: usize| curve[k]["value"].as_f64().unwrap();
    assert!(value(0) > value(curve.len() - 1));
}

/// One point x under N(0, 1) has the discrepancy sqrt(x² + 1) with the default kernel.
#[test]
fn ksd_takes_scores_from_columns() {
    let place = Workplace::new();
    place.write("draws.csv", "x,score_x\n2,-2\n");
    let text = place.succeed(&["ksd", "draws.csv", "--json", "--out", "o"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let value = json["ksd"][0]["value"].as_f64().unwrap();
    assert!((value - 5f64.sqrt()).abs() < 1e-15, "{value}");
}

#[test]
fn json_is_all_there_is_on_the_standard_output() {
    let place = Workplace::new();
    place.write("normal.toml", NORMAL);
    let commands: [&[&str]; 5] = [
        &["sample", "normal.toml"],
        &["compare", "normal.toml"],
        &["diagnose", "out/normal/draws.zarr"],
        &[
            "ksd",
            "out/normal/draws.zarr",
            "--target",
            "normal.toml",
            "--points",
            "9",
        ],
        &["list"],
    ];
    for command in commands {
        let output = place.run(&[command, &["--json"]].concat());
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {stderr}");
        let parsed: Result<Value, _> = serde_json::from_str(&stdout);
        assert!(parsed.is_ok(), "{command:?}: {stdout}");
        assert_eq!(stderr, "", "{command:?}");
        let quiet = place.run(&[command, &["--quiet"]].concat());
        assert_eq!(texts(&quiet), (String::new(), String::new()), "{command:?}");
    }
}

#[test]
fn every_help_has_an_example() {
    let place = Workplace::new();
    for command in ["sample", "compare", "diagnose", "ksd", "list"] {
        let text = place.succeed(&[command, "--help"]);
        assert!(text.contains("Example"), "{command}: {text}");
        assert!(text.contains(&format!("langevin {command}")), "{command}");
    }
    assert!(place.succeed(&["--help"]).contains("Example"));
}

/// The seed on the command line replaces that of the file, and finished units know their seed.
#[test]
fn another_seed_gives_other_draws() {
    let place = Workplace::new();
    place.write("normal.toml", NORMAL);
    let draws = |out: &str, more: &[&str]| {
        place.succeed(&[&["sample", "normal.toml", "--out", out], more].concat());
        store::read(place.path(out).join("draws.zarr")).unwrap()
    };
    let same = draws("a", &[]);
    assert_eq!(same.values(), draws("b", &["--seed", "7"]).values());
    let other = draws("a", &["--seed", "8"]);
    assert_ne!(same.values(), other.values());
    assert_eq!(same.values(), draws("a", &[]).values());
}
