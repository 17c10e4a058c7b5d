//! Sizes that no machine can hold and times that nobody waits for.

use crate::bad_input::{refused, refuses};
use crate::{GAUSSIAN, NORMAL, Workplace, texts};

/// Larger than all of these no number of TOML is; the second is too large for any memory.
const LARGE: [&str; 3] = ["1e9", "1e12", "9223372036854775807"];

/// A field of a run file by what is typed there, as messages name it.
struct Field {
    run: String,
    typed: &'static str,
    name: &'static str,
}

fn field(run: impl Into<String>, typed: &'static str, name: &'static str) -> Field {
    let run = run.into();
    assert_eq!(run.matches(typed).count(), 1, "{typed}");
    Field { run, typed, name }
}

impl Field {
    /// The run file with another value in this field.
    fn with(&self, value: &str) -> String {
        let (key, _) = self.typed.rsplit_once("= ").unwrap();
        self.run.replace(self.typed, &format!("{key}= {value}"))
    }
}

fn logistic() -> String {
    "dynamics = [\"LD\"]\n[target]\nmodel = \"logistic\"\nprior_precision = 1.0\n\
     data.generate = { n = 9, dim = 2, seed = 3 }\n\
     [run]\nn_chains = 2\nn_steps = 100\nstep_size = 1e-3\nseed = 1\n"
        .into()
}

/// Fields that memory grows with, whatever else there is.
fn memory_fields() -> Vec<Field> {
    let reference = r#"{ dynamics = "LD", n_chains = 2, n_steps = 9, burn_in = 1 }"#;
    let with_truth = format!("{GAUSSIAN}truth = {{ reference = {reference} }}\n");
    vec![
        field(GAUSSIAN, "n_chains = 192", "n_chains"),
        field(GAUSSIAN, "{ n = 10", "generate.n"),
        field(GAUSSIAN, "dim = 3", "generate.dim"),
        field(NORMAL, "n = 30", "generate.n"),
        field(logistic(), "n = 9", "generate.n"),
        field(logistic(), "dim = 2", "generate.dim"),
        field(GAUSSIAN, "{ n_points = 100", "ksd.n_points"),
        field(GAUSSIAN, "100, n_chains = 4", "ksd.n_chains"),
        field(GAUSSIAN, "{ n_chains = 4", "trajectories.n_chains"),
        field(
            GAUSSIAN.replace(", thin = 10", ""),
            "n_steps = 200",
            "trajectories.n_steps",
        ),
        field(with_truth, "n_chains = 2", "reference.n_chains"),
    ]
}

#[test]
fn what_does_not_fit_into_memory_is_refused_with_figure_and_field() {
    for field in memory_fields() {
        for large in LARGE {
            // A large machine may have 64 bytes for each, and others do not say what they have.
            let memory = langevin_run::machine::memory();
            if large == "1e9" && memory.is_none_or(|bytes| bytes > 50_000_000_000) {
                continue;
            }
            let value = large.replace("1e9", "1000000000");
            let value = value.replace("1e12", "1000000000000");
            let said = format!("{} = {value} needs about ", field.name);
            refuses(
                &field.with(large),
                &["run.toml, line", &said, "of memory, but this machine has"],
            );
        }
    }
    let text = format!("{GAUSSIAN}n_batches = 1e9\n").replace("n_steps = 4000", "n_steps = 1e12");
    refuses(&text, &["line 23: n_batches = 1000000000 needs about"]);
    let many = format!("{GAUSSIAN}checkpoints_per_decade = 1e12\n");
    refuses(
        &many.replace("n_steps = 4000", "n_steps = 1e15"),
        &["line 23: checkpoints_per_decade = 1000000000000 needs about"],
    );
    // As many signals as anybody can type.
    let signals = format!("signals = [{}]", "'laplace', ".repeat(5000));
    let ica = logistic()
        .replace("\"logistic\"", "\"ica\"")
        .replace("dim = 2", &signals);
    refuses(&ica, &["line 5: the number of signals = 5000 needs about"]);
}

/// The draws of `sample` take room on the disk that `compare` does not.
#[test]
fn draws_that_do_not_fit_are_refused_before_anything_is_written() {
    let place = Workplace::new();
    for large in ["1e12", "9223372036854775807"] {
        let run = NORMAL.replace("n_steps = 3000", &format!("n_steps = {large}"));
        place.write("run.toml", &run.replace("thin = 5", "thin = 1"));
        let text = refused(&place, &["sample", "run.toml", "--out", "o"]);
        assert!(
            text.contains("o has ") && text.contains(" MB left, but the results need about "),
            "{text}"
        );
        assert!(!place.path("o").exists());
    }
}

/// What is large but asks for little runs.
#[test]
fn large_numbers_that_ask_for_little() {
    let place = Workplace::new();
    let small = GAUSSIAN
        .replace("n_chains = 192", "n_chains = 4")
        .replace("n_steps = 4000", "n_steps = 1000");
    for large in LARGE {
        let runs = [
            format!("{small}checkpoints_per_decade = {large}\n"),
            small.replace("thin = 10", &format!("thin = {large}")),
        ];
        for run in runs {
            place.write("run.toml", &run);
            place.succeed(&["compare", "run.toml", "--out", "o", "--fresh"]);
        }
        place.write(
            "run.toml",
            &NORMAL.replace("thin = 5", &format!("thin = {large}")),
        );
        place.succeed(&["sample", "run.toml", "--out", "s"]);
    }
}

#[test]
fn other_large_numbers_are_refused() {
    for large in ["1e12", "9223372036854775807"] {
        let value = large.replace("1e12", "1000000000000");
        let with = |old: &str, new: &str| GAUSSIAN.replace(old, &format!("{new} = {large}"));
        refuses(
            &with("burn_in = 500", "burn_in"),
            &[
                "line 15",
                &format!("burn_in must be below n_steps = 4000, but is {value}"),
            ],
        );
        refuses(
            &with("batch_size = 2", "batch_size"),
            &["line 17", &format!("a minibatch of {value} rows")],
        );
        refuses(
            &format!("{GAUSSIAN}n_batches = {large}\n"),
            &["line 23", &format!("{value} batches of the 3500 states")],
        );
    }
    let far = GAUSSIAN.replace(
        "n_points = 100",
        "thin = 9223372036854775807, n_points = 100",
    );
    refuses(&far, &["line 21", "too far to count with n_points = 100"]);
}

#[test]
fn what_takes_longer_than_thirty_days_needs_patience() {
    let place = Workplace::new();
    let cases = [
        (
            "n_steps = 4000",
            "n_steps = 1e15",
            "n_steps = 1000000000000000",
        ),
        (
            "n_steps = 200",
            "n_steps = 1e15, thin = 1e15",
            "trajectories.n_steps = 1000000000000000",
        ),
        (
            "n_points = 100",
            "n_points = 100, burn_in = 1e15",
            "ksd.burn_in = 1000000000000000",
        ),
        (
            "n_points = 100",
            "n_points = 100, thin = 1e14",
            "ksd.thin = 100000000000000",
        ),
    ];
    for (old, new, said) in cases {
        let run = GAUSSIAN.replace(", thin = 10", "").replacen(old, new, 1);
        refuses(
            &run,
            &[
                &format!("{said} takes about "),
                "longer than 30 days",
                "--patient",
            ],
        );
    }
    // Draws of so long a chain would fit.
    let run = NORMAL
        .replace("n_steps = 3000", "n_steps = 1e15")
        .replace("thin = 5", "thin = 1e12");
    place.write("run.toml", &run);
    let text = refused(&place, &["sample", "run.toml", "--out", "o"]);
    assert!(
        text.contains("line 10: n_steps = 1000000000000000 takes about"),
        "{text}"
    );
    assert!(!place.path("o").exists());
}

/// With patience it starts, says how long it will take, and ends when asked to.
#[cfg(unix)]
#[test]
fn long_work_says_so_and_can_be_stopped() {
    use std::process::{Command, Stdio};
    let place = Workplace::new();
    let run = NORMAL
        .replace("n_steps = 3000", "n_steps = 1e15")
        .replace("thin = 5", "thin = 1e12");
    place.write("run.toml", &run);
    for (command, quiet) in [("sample", false), ("compare", false), ("sample", true)] {
        let mut arguments = vec![command, "run.toml", "--out", "o", "--patient"];
        arguments.extend(quiet.then_some("--quiet"));
        let mut started = place.command(&arguments);
        started.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = started.spawn().unwrap();
        // The forecast comes before the first unit, whose folder then waits.
        let units = place.path("o/units");
        let began = std::time::Instant::now();
        while !units.exists() {
            assert!(began.elapsed().as_secs() < 60, "it does not start");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let pid = child.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let (_, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        let said = stderr.contains("this will take about")
            && stderr.contains("Ctrl-C keeps finished units");
        assert_eq!(said, !quiet, "{stderr}");
        std::fs::remove_dir_all(place.path("o")).unwrap();
    }
}
