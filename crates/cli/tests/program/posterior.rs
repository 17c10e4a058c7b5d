//! Run files that name a target and nothing more: draws of the posterior itself.

use crate::{Workplace, bad_input::refused, n_units, texts};

const MODEL: &str = r#"
[target]
model = "normal"
data.generate = { n = 30, mean = 0, sd = 10, seed = 2 }
"#;

#[test]
fn a_target_is_enough() {
    let place = Workplace::new();
    place.write("model.toml", MODEL);
    let text = place.succeed(&["sample", "model.toml"]);
    assert!(text.contains("effective draws from"), "{text}");
    assert!(text.contains("kept in"), "a seed was drawn: {text}");
    let results: serde_json::Value =
        serde_json::from_str(&place.read("out/model/results.json")).unwrap();
    assert_eq!(results["run"]["why"], "precise");
    assert!(results["run"]["ess"].as_f64().unwrap() >= 1000.0);
    let parameters = results["summary"]["parameters"].as_array().unwrap();
    assert_eq!(parameters[1]["parameter"], "sigma");
    // σ itself, not its logarithm.
    assert!(parameters[1]["mean"].as_f64().unwrap() > 5.0);
    place.succeed(&["diagnose", "out/model/draws.zarr"]);
}

/// The warm-up and the draws between two looks are units: found again, and made again where they
/// are missing.
#[test]
fn the_same_command_gives_the_same_bytes_from_what_is_there() {
    let place = Workplace::new();
    place.write("model.toml", &format!("{MODEL}[sample]\nseed = 3\n"));
    let run = |out: &str, threads: &str| {
        place.succeed(&["sample", "model.toml", "--out", out, "--threads", threads]);
        place.read(&format!("{out}/results.json"))
    };
    let first = run("one", "1");
    assert!(n_units(&place.path("one")) >= 2);
    assert_eq!(run("one", "2"), first);
    assert_eq!(run("two", "2"), first);
    let units = crate::unit_files(&place.path("one"));
    std::fs::remove_file(&units[0]).unwrap();
    std::fs::write(&units[1], "half").unwrap();
    assert_eq!(run("one", "2"), first);
    // More draws go on from those that are there.
    place.write(
        "model.toml",
        &format!("{MODEL}[sample]\nseed = 3\nmin_ess = 50000\n"),
    );
    let before = n_units(&place.path("one"));
    assert_ne!(run("one", "2"), first);
    assert!(n_units(&place.path("one")) > before);
}

#[test]
fn what_is_not_precise_is_told_with_exit_code_one() {
    let place = Workplace::new();
    let wanted = "[sample]\nmin_ess = 1e6\nmax_gradients = 20000\nseed = 1\n";
    place.write("model.toml", &format!("{MODEL}{wanted}"));
    let output = place.run(&["sample", "model.toml", "--out", "o"]);
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    assert!(
        stdout.contains("Warning: ") && stdout.contains("gradients were used up"),
        "{stdout}"
    );
}

#[test]
fn wrong_fields_are_refused_with_their_line() {
    let place = Workplace::new();
    let cases = [
        ("min_es = 10", "line 6: [sample] has no field `min_es`"),
        ("min_ess = -1", "line 6: "),
        ("draws = 10\nmin_ess = 10", "give one of them"),
        ("chains = 0", "line 6: "),
        (
            "initvals = [[0.0, -1.0]]",
            "sigma is -1, but must be greater than 0",
        ),
        ("target_accept = 2", "target_accept"),
        (
            "chains = 1e12",
            "1000000000000 chains in 2 coordinates need about",
        ),
        (
            "chains = 9223372036854775807",
            "of memory, but this machine has",
        ),
        ("initvals = []", "expected a list of one or more rows"),
    ];
    for (field, said) in cases {
        place.write("model.toml", &format!("{MODEL}[sample]\n{field}\n"));
        let text = refused(&place, &["sample", "model.toml", "--out", "o"]);
        assert!(text.contains(said), "{field}: {text}");
    }
    place.write("model.toml", MODEL);
    let text = refused(&place, &["sample", "model.toml", "--dynamics", "LD"]);
    assert!(text.contains("there are no dynamics"), "{text}");
    let text = refused(&place, &["compare", "model.toml"]);
    assert!(text.contains("[run]"), "{text}");
}
