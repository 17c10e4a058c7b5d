//! Bad input: one line that names the place, exit code 2, nothing written.

use crate::{GAUSSIAN, NORMAL, Workplace, texts};

/// Runs a command that must be refused, and returns what it says.
pub(crate) fn refused(place: &Workplace, arguments: &[&str]) -> String {
    let output = place.run(arguments);
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
    assert_eq!(stdout, "");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr
}

/// `compare` of a run file must be refused with every one of these words, before any output.
pub(crate) fn refuses(run: &str, words: &[&str]) {
    let place = Workplace::new();
    place.write("run.toml", run);
    let text = refused(&place, &["compare", "run.toml", "--out", "o"]);
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text:?}");
    }
    assert!(!place.path("o").exists());
}

#[test]
fn missing_files() {
    let place = Workplace::new();
    let text = refused(&place, &["compare", "none.toml"]);
    assert!(text.contains("none.toml: cannot be read"), "{text}");
    let text = refused(&place, &["diagnose", "none.zarr"]);
    assert!(text.contains("none.zarr"), "{text}");
    assert_eq!(text.matches("os error").count(), 1, "{text}");
    let text = refused(&place, &["ksd", "none.csv"]);
    assert!(text.contains("none.csv"), "{text}");
    let run = NORMAL.replace(
        "generate = { n = 30, mean = 0, sd = 10, seed = 2 }",
        "file = 'x.csv'",
    );
    refuses(&run, &["run.toml, line 6", "x.csv: cannot be read"]);
}

#[test]
fn misspelt_keys_and_words() {
    refuses(
        &GAUSSIAN.replace("step_size =", "stepsize ="),
        &["run.toml, line", "step_size"],
    );
    refuses(
        &GAUSSIAN.replace("burn_in", "burnin"),
        &[
            "run.toml, line 15",
            "[run] has no field `burnin`",
            "`burn_in`",
        ],
    );
    refuses(
        &GAUSSIAN.replace("\"linear-gaussian\"", "\"linear-gausian\""),
        &["line 6", "did you mean \"linear-gaussian\""],
    );
    refuses(
        &GAUSSIAN.replace("\"RMIrr\"", "\"RMIr\""),
        &["line 3", "did you mean \"RMIrr\""],
    );
    refuses(
        &format!("{GAUSSIAN}observables = ['theta[7]']\n"),
        &["line 23", "no observable \"theta[7]\"", "theta["],
    );
}

/// Numbers of things begin with `n_` everywhere; who leaves that out is told.
#[test]
fn numbers_of_things_by_their_bare_names() {
    let long = r#"{ dynamics = "LD", n_chains = 2, n_steps = 9, burn_in = 1 }"#;
    let with_truth = format!("{GAUSSIAN}truth = {{ reference = {long} }}\n");
    let cases = [
        (GAUSSIAN, "n_chains = 192", "[run]"),
        (GAUSSIAN, "n_steps = 4000", "[run]"),
        (GAUSSIAN, "n_points = 100", "`ksd`"),
        (GAUSSIAN, "n_chains = 4 }\ntrajectories", "`ksd`"),
        (GAUSSIAN, "n_chains = 4, ", "`trajectories`"),
        (GAUSSIAN, "n_steps = 200", "`trajectories`"),
        (&with_truth, "n_chains = 2, ", "a reference run"),
        (&with_truth, "n_steps = 9", "a reference run"),
    ];
    for (run, typed, section) in cases {
        assert_eq!(run.matches(typed).count(), 1, "{typed}");
        let name = typed.split(' ').next().unwrap();
        let bare = name.trim_start_matches("n_");
        refuses(
            &run.replace(typed, &typed.replacen(name, bare, 1)),
            &[&format!(
                "{section} has no field `{bare}`; did you mean `{name}`?"
            )],
        );
    }
}

#[test]
fn wrong_types_and_broken_toml() {
    refuses(
        &GAUSSIAN.replace("n_chains = 192", "n_chains = \"many\""),
        &["line 12", "whole number", "\"many\""],
    );
    refuses(
        &GAUSSIAN.replace("seed = 1\n", "seed = -1\n"),
        &["line 16", "whole number", "-1"],
    );
    refuses(&GAUSSIAN.replace("[run]", "[run"), &["run.toml, line 11"]);
    refuses(
        &GAUSSIAN.replace("n_steps = 4000\n", "n_steps = 4000\nn_steps = 5\n"),
        &["run.toml, line 14", "duplicate"],
    );
}

#[test]
fn impossible_values() {
    refuses(
        &GAUSSIAN.replace("step_size = 0.1", "step_size = 9.0"),
        &["line 14", "step size 9 is not stable", "below"],
    );
    refuses(
        &GAUSSIAN.replace("ksd = { ", "ksd = { step_size = 9.0, "),
        &["line 21", "step size 9 is not stable", "below"],
    );
    refuses(
        &GAUSSIAN.replace("step_size = 0.1", "step_size = 0.0"),
        &["line 14", "above 0"],
    );
    refuses(
        &GAUSSIAN.replace("burn_in = 500", "burn_in = 4000"),
        &["line 15", "below n_steps = 4000"],
    );
    refuses(
        &GAUSSIAN.replace("batch_size = 2", "batch_size = 11"),
        &["line 17", "11 rows", "10 rows"],
    );
    refuses(
        &GAUSSIAN.replace("noise_precision = 0.05", "noise_precision = -1"),
        &["line", "not positive definite"],
    );
    refuses(
        &format!("{NORMAL}start = [1, -2]\n"),
        &["line 16", "coordinate 1", "greater than 0"],
    );
    refuses(
        &format!("{NORMAL}start = [1]\n"),
        &["line 16", "1 numbers", "2 coordinates"],
    );
    refuses(&NORMAL.replace("n = 30", "n = 1"), &["line", "at least 3"]);
}

#[test]
fn skew_matrices_that_are_none() {
    let with = |j: &str| GAUSSIAN.replace("{ kind = \"sign-pattern\", delta = 0.5 }", j);
    refuses(
        &with("{ kind = \"matrix\", entries = [[0, 1], [-1, 0]] }"),
        &["line 18", "J is 2 × 2", "3 coordinates"],
    );
    refuses(
        &with("{ kind = \"matrix\", entries = [[0, 1, 0], [1, 0, 0], [0, 0, 0]] }"),
        &["line 18", "not skew-symmetric"],
    );
    refuses(
        &with("{ kind = \"kronecker\" }"),
        &["line 18", "square number of coordinates"],
    );
    refuses(
        &GAUSSIAN.replace("skew =", "# skew ="),
        &["line 3", "Irr needs a skew matrix"],
    );
}

#[test]
fn csv_files_with_text_or_ragged_rows() {
    let place = Workplace::new();
    let run = NORMAL.replace(
        "generate = { n = 30, mean = 0, sd = 10, seed = 2 }",
        "file = 'x.csv'",
    );
    place.write("run.toml", &run);
    place.write("x.csv", "x\n1\n2\nthree\n4\n");
    let text = refused(&place, &["sample", "run.toml", "--out", "o"]);
    assert!(text.contains("run.toml, line 6"), "{text}");
    assert!(text.contains("x.csv, line 4, column \"x\""), "{text}");
    assert!(text.contains("\"three\""), "{text}");
    place.write("x.csv", "x\n1\n2,5\n4\n");
    let text = refused(&place, &["sample", "run.toml", "--out", "o"]);
    assert!(text.contains("x.csv, line 3: 2 cells"), "{text}");
    assert!(!place.path("o").exists());
    place.write("draws.csv", "x,y,score_x\n1,2,3\n");
    let text = refused(&place, &["ksd", "draws.csv"]);
    assert!(
        text.contains("score_y") && text.contains("--target"),
        "{text}"
    );
}

#[test]
fn output_folders_that_cannot_be_written() {
    let place = Workplace::new();
    place.write("run.toml", NORMAL);
    place.write("file", "");
    let text = refused(&place, &["compare", "run.toml", "--out", "file/o"]);
    assert!(
        text.contains("cannot create the output folder file/o"),
        "{text}"
    );
    if cfg!(target_os = "linux") {
        // Not even root can write there.
        let text = refused(&place, &["sample", "run.toml", "--out", "/proc/langevin"]);
        assert!(text.contains("/proc/langevin"), "{text}");
        let text = refused(&place, &["sample", "run.toml", "--out", "/sys"]);
        assert!(text.contains("write to the output folder /sys"), "{text}");
    }
}

/// A disk that fills up in the middle, as far as a test can have one: no file may grow beyond
/// 100 kB, which lets the program start and then stops its first unit.
#[cfg(unix)]
#[test]
fn units_that_do_not_fit_end_the_run_and_leave_nothing() {
    let place = Workplace::new();
    let long = NORMAL.replace("n_steps = 3000", "n_steps = 20000");
    place.write("run.toml", &long.replace("thin = 5", "thin = 1"));
    let program = env!("CARGO_BIN_EXE_langevin");
    let script = format!("ulimit -f 200; exec '{program}' sample run.toml --out o");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        stderr.starts_with("error: cannot write o/units/"),
        "{stderr}"
    );
    // Nothing is there that a later run would trust, and the later run gets everything right.
    assert_eq!(crate::n_units(&place.path("o")), 0);
    assert!(!place.path("o/draws.zarr").exists() && !place.path("o/results.json").exists());
    place.succeed(&["sample", "run.toml", "--out", "o"]);
    place.succeed(&["sample", "run.toml", "--out", "clean"]);
    assert_eq!(
        place.read("o/results.json"),
        place.read("clean/results.json")
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full() {
    let place = Workplace::new();
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = place.command(&["list"]).stdout(full).output().unwrap();
    let (_, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("standard output"), "{stderr}");
}

/// Every command explains itself with an example.
#[test]
fn help_has_examples() {
    let place = Workplace::new();
    for command in ["sample", "compare", "reproduce", "diagnose", "ksd", "list"] {
        let text = place.succeed(&[command, "--help"]);
        assert!(text.contains(&format!("\n  langevin {command}")), "{text}");
        for flag in ["--threads", "--seed", "--out", "--json", "--quiet"] {
            assert!(text.contains(flag), "{command} {flag}");
        }
    }
    assert!(place.succeed(&["--help"]).contains("Example:"));
}

/// Flags are taken everywhere, and `--json` leaves nothing but JSON on the standard output.
#[test]
fn flags_work_everywhere() {
    let place = Workplace::new();
    place.write("run.toml", NORMAL);
    place.write("draws.csv", "x,score_x\n1,-1\n-0.5,0.5\n");
    let flags = ["--json", "--quiet", "--threads", "1", "--seed", "9"];
    let commands: [&[&str]; 6] = [
        &["sample", "run.toml", "--out", "s"],
        &["compare", "run.toml", "--out", "c"],
        &["reproduce", "figure15", "--scale", "smoke", "--out", "r"],
        &["diagnose", "s/draws.zarr", "--out", "d"],
        &["ksd", "draws.csv", "--out", "k"],
        &["list", "--out", "l"],
    ];
    for command in commands {
        let output = place.run(&[command, &flags].concat());
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {stderr}");
        assert_eq!(stderr, "", "{command:?}");
        let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert!(value.is_object(), "{command:?}");
        let out = place.path(command.last().unwrap());
        assert!(out.is_dir(), "{command:?}");
    }
    let quiet = place.succeed(&["list", "--quiet"]);
    assert_eq!(quiet, "");
}

#[test]
fn choices_on_the_command_line() {
    let place = Workplace::new();
    place.write("run.toml", GAUSSIAN);
    let text = refused(&place, &["sample", "run.toml"]);
    assert!(
        text.contains("--dynamics") && text.contains("GiIrr"),
        "{text}"
    );
    let text = refused(&place, &["sample", "run.toml", "--dynamics", "MALA"]);
    assert!(text.contains("\"MALA\""), "{text}");
    for arguments in [&["compare"][..], &["sample", "run.toml", "--threads", "0"]] {
        assert_eq!(place.run(arguments).status.code(), Some(2));
    }
}
