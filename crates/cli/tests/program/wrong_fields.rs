//! Lists without entries, and fields that belong to another model.

use crate::bad_input::refuses;
use crate::{GAUSSIAN, NORMAL, Workplace};

/// Logistic regression on data from a seed.
const LOGISTIC: &str = r#"
dynamics = ["LD"]

[target]
model = "logistic"
prior_precision = 1.0
data.generate = { n = 9, weights = [1, -1], seed = 3 }

[run]
n_chains = 2
n_steps = 100
step_size = 1e-3
"#;

/// Independent component analysis on data from a seed.
const ICA: &str = r#"
dynamics = ["LD"]

[target]
model = "ica"
prior_precision = 1.0
data.generate = { n = 9, signals = ["laplace", "logistic"], seed = 3 }

[run]
n_chains = 2
n_steps = 100
step_size = 1e-4
"#;

/// A run file with one part in place of another, which must be there once.
fn with(run: &str, old: &str, new: &str) -> String {
    assert_eq!(run.matches(old).count(), 1, "{old}");
    run.replace(old, new)
}

#[test]
fn lists_without_entries() {
    let number = "expected a list of one or more numbers, found an empty list";
    let text = "expected a list of one or more texts in quotes, found an empty list";
    let row = "expected a list of one or more rows, each a list of numbers, found an empty list";
    let generated = "generate = { n = 9, weights = [1, -1], seed = 3 }";
    let values = |data: &str| with(LOGISTIC, generated, data);
    let metric = |metric: &str| with(GAUSSIAN, "\"RMIrr\"", metric);
    let cases = [
        (with(NORMAL, "mean = 0", "mean = []"), "line 6", number),
        (with(GAUSSIAN, "mean = 1.0", "mean = []"), "line 9", number),
        (with(LOGISTIC, "[1, -1]", "[]"), "line 7", number),
        (
            with(ICA, "[\"laplace\", \"logistic\"]", "[]"),
            "line 7",
            "laws, one or more",
        ),
        (with(GAUSSIAN, "[0.2, 0.01, 0.05]", "[]"), "line 8", number),
        (values("values = []\ndata.labels = [1]"), "line 7", number),
        (values("values = [[]]\ndata.labels = [1]"), "line 7", number),
        (values("values = [[1]]\ndata.labels = []"), "line 8", number),
        (values("file = 'x.csv'\ndata.columns = []"), "line 8", text),
        (format!("{NORMAL}start = []\n"), "line 16", number),
        (format!("{NORMAL}start = [[]]\n"), "line 16", number),
        (
            format!("{NORMAL}start = {{ mean = [], sd = 1 }}\n"),
            "line 16",
            number,
        ),
        (
            metric("{ name = 'a', metric = { diagonal = [] } }"),
            "line 3",
            number,
        ),
        (
            metric("{ name = 'a', metric = { entries = [] } }"),
            "line 3",
            row,
        ),
        (
            with(GAUSSIAN, "noise_precision = 0.05", "noise_precision = []"),
            "line 7",
            row,
        ),
        (
            with(GAUSSIAN, "thin = 10", "coordinates = []"),
            "line 22",
            text,
        ),
        (
            format!("{GAUSSIAN}observables = []\n"),
            "line 23",
            "at least one observable",
        ),
        (
            with(NORMAL, "[\"GiIrr\"]", "[]"),
            "line 2",
            "at least one dynamics",
        ),
    ];
    for (run, line, words) in cases {
        refuses(&run, &[line, words]);
    }
}

#[test]
fn numbers_of_data_that_are_zero() {
    for (run, old, new) in [
        (NORMAL, "n = 30", "n = 0"),
        (GAUSSIAN, "dim = 3", "dim = 0"),
        (LOGISTIC, "weights = [1, -1]", "dim = 0"),
        (ICA, "n = 9", "n = 0"),
    ] {
        refuses(
            &with(run, old, new),
            &["line", "a whole number, 1 or more, found 0"],
        );
    }
}

/// A CSV file in which no column is left for the data.
#[test]
fn files_without_a_column_of_data() {
    let place = Workplace::new();
    place.write("x.csv", "bad\n1\n0\n");
    let file = "file = 'x.csv'\ndata.label = 'bad'";
    let generated = "generate = { n = 9, weights = [1, -1], seed = 3 }";
    place.write("run.toml", &with(LOGISTIC, generated, file));
    let output = place.run(&["sample", "run.toml"]);
    let (_, stderr) = crate::texts(&output);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("run.toml, line 7: x.csv: no column is left for data"),
        "{stderr}"
    );
}

/// Every field of `generate` under every model that has none.
#[test]
fn fields_of_another_model_are_not_passed_over() {
    let models = [
        (NORMAL, "normal", "mean = 0, sd = 10", "mean, sd"),
        (
            GAUSSIAN,
            "linear-gaussian",
            "mean = 1.0, dim = 3",
            "dim, mean",
        ),
        (LOGISTIC, "logistic", "weights = [1, -1]", "dim, weights"),
        (
            ICA,
            "ica",
            "signals = [\"laplace\", \"logistic\"]",
            "signals",
        ),
    ];
    let fields = [
        ("mean", "mean = 1"),
        ("sd", "sd = 2"),
        ("dim", "dim = 2"),
        ("weights", "weights = [1, 2]"),
        ("signals", "signals = ['laplace']"),
    ];
    for (run, model, own, known) in models {
        let foreign = fields.iter().filter(|(name, _)| !known.contains(name));
        for (name, typed) in foreign {
            // On a line of its own, which is the one that is named.
            let text = with(run, own, &format!("{own},\n  {typed}"));
            let line = 1 + text[..text.find(typed).unwrap()].matches('\n').count();
            refuses(
                &text,
                &[
                    &format!("run.toml, line {line}: "),
                    &format!("the model \"{model}\" has no `{name}` in `generate`"),
                    &format!("expected n, seed, {known}"),
                ],
            );
        }
    }
    refuses(
        &with(NORMAL, "mean = 0", "mean = [0, 1]"),
        &["line 6", "expected one number, the mean, found a list of 2"],
    );
}
