//! Runs without a seed: each draws its own, and goes on with it.

use langevin_run::store;
use serde_json::Value;

use crate::bad_input::refused;
use crate::{NORMAL, Workplace, unit_files};

fn without_seed() -> String {
    let run = NORMAL.replace("seed = 7\n", "");
    assert!(run.len() < NORMAL.len());
    run
}

/// The seed in the results of an output folder.
fn seed(place: &Workplace, out: &str) -> u64 {
    let text = place.read(&format!("{out}/results.json"));
    let results: Value = serde_json::from_str(&text).unwrap();
    results["settings"]["seed"].as_u64().unwrap()
}

#[test]
fn every_folder_draws_its_own_and_goes_on_with_it() {
    let place = Workplace::new();
    place.write("run.toml", &without_seed());
    for command in ["sample", "compare"] {
        let run = |out: &str, more: &[&str]| {
            place.succeed(&[&[command, "run.toml", "--out", out], more].concat())
        };
        let (a, b) = (format!("{command}-a"), format!("{command}-b"));
        let text = run(&a, &[]);
        run(&b, &[]);
        let drawn = seed(&place, &a);
        assert_ne!(drawn, seed(&place, &b));
        assert_eq!(place.read(&format!("{a}/seed")), format!("{drawn}\n"));
        assert!(
            text.contains(&format!("Seed: {drawn} (kept in {a}/seed)")),
            "{text}"
        );
        // The same command finds its units and gives the same bytes.
        let results = place.read(&format!("{a}/results.json"));
        let units = unit_files(&place.path(&a));
        assert!(run(&a, &[]).contains(&format!("Seed: {drawn} ")));
        assert_eq!(place.read(&format!("{a}/results.json")), results);
        assert_eq!(unit_files(&place.path(&a)), units);
        // Another one only if asked for.
        run(&a, &["--fresh"]);
        let fresh = seed(&place, &a);
        assert_ne!(fresh, drawn);
        assert_eq!(place.read(&format!("{a}/seed")), format!("{fresh}\n"));
    }
    let values = |out: &str| store::read(place.path(out).join("draws.zarr")).unwrap();
    assert_ne!(values("sample-a").values(), values("sample-b").values());
}

#[test]
fn seeds_that_are_given_are_not_kept() {
    let place = Workplace::new();
    place.write("run.toml", NORMAL);
    let text = place.succeed(&["sample", "run.toml", "--out", "o"]);
    assert!(text.contains("Seed: 7\n"), "{text}");
    place.write("bare.toml", &without_seed());
    let text = place.succeed(&["sample", "bare.toml", "--out", "o", "--seed", "3"]);
    assert!(text.contains("Seed: 3\n"), "{text}");
    assert!(!place.path("o/seed").exists());
}

#[test]
fn a_damaged_file_is_named_where_it_is_needed() {
    let place = Workplace::new();
    place.write("run.toml", &without_seed());
    place.succeed(&["sample", "run.toml", "--out", "o"]);
    for (damaged, shown) in [
        ("", "\"\""),
        ("-3", "\"-3\""),
        ("12\u{1b}", "\"12\\u{1b}\""),
    ] {
        place.write("o/seed", damaged);
        let text = refused(&place, &["sample", "run.toml", "--out", "o"]);
        assert!(text.contains("o/seed: expected a seed"), "{text}");
        assert!(text.contains(shown) && text.contains("--fresh"), "{text}");
    }
    place.succeed(&["sample", "run.toml", "--out", "o", "--seed", "3"]);
    place.succeed(&["sample", "run.toml", "--out", "o", "--fresh"]);
    assert!(place.read("o/seed").trim().parse::<u64>().is_ok());
}
