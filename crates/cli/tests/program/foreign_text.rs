//! Messages repeat what was typed, but neither at any length nor with characters that act.

use std::path::Path;

use crate::bad_input::refused;
use crate::{GAUSSIAN, NORMAL, Workplace};

/// The generated data of [`NORMAL`].
const GENERATED: &str = "generate = { n = 30, mean = 0, sd = 10, seed = 2 }";

/// What must not reach a terminal: an order to clear it, and letters from right to left.
const ACTING: &str = "\\u001b[2J\\u202egpj\\u2066";

/// Writes a run file, which must be refused in a short line without acting characters.
fn short_refusal(place: &Workplace, run: &str, words: &[&str]) {
    place.write("run.toml", run);
    let text = refused(place, &["compare", "run.toml", "--out", "o"]);
    let line = text.trim_end_matches('\n');
    assert!(line.chars().count() < 800, "{}", line.chars().count());
    let acting = |c: char| c.is_control() || ('\u{202a}'..='\u{2069}').contains(&c);
    assert!(!line.contains(acting), "{line:?}");
    for word in words {
        assert!(line.contains(word), "{word:?} is not in {line:?}");
    }
}

/// Values, keys, names and file names of a run file, all of them `text`.
fn cases(text: &str) -> Vec<String> {
    let key = format!("\"{text}\"");
    vec![
        NORMAL.replace("model = \"normal\"", &format!("model = {key}")),
        NORMAL.replace("n_chains = 4", &format!("n_chains = {key}")),
        NORMAL.replace("thin = 5", &format!("{key} = 5")),
        NORMAL.replace("[target]", &format!("[{key}]\n[target]")),
        NORMAL.replace("[\"GiIrr\"]", &format!("[{key}]")),
        NORMAL.replace(
            "[\"GiIrr\"]",
            &format!("[{{ name = {key} }}, {{ name = {key} }}]"),
        ),
        format!("{NORMAL}[measure]\nobservables = [{key}]\n"),
        format!("{NORMAL}[measure]\ntruth = {{ {key} = 1 }}\n"),
        format!(
            "{NORMAL}[measure]\ntrajectories = {{ n_chains = 1, n_steps = 2, coordinates = [{key}] }}\n"
        ),
        NORMAL.replace(GENERATED, &format!("file = {key}")),
    ]
}

#[test]
fn long_values_are_shortened() {
    let place = Workplace::new();
    for run in cases(&"x".repeat(200_000)) {
        short_refusal(&place, &run, &["run.toml, line", "xxxxxxxx", "…"]);
    }
    let digits = "7".repeat(200_000);
    for number in [digits.clone(), format!("{digits}.5"), format!("-{digits}")] {
        let run = NORMAL.replace("n_chains = 4", &format!("n_chains = {number}"));
        short_refusal(&place, &run, &["line 9", "77777", "…"]);
    }
    // Without quotes it is no TOML at all.
    let run = NORMAL.replace(
        "n_chains = 4",
        &format!("n_chains = {}", "x".repeat(200_000)),
    );
    short_refusal(&place, &run, &["run.toml, line 9"]);
    let twice = format!("{} = 1\n", "x".repeat(200_000)).repeat(2);
    short_refusal(
        &place,
        &format!("{NORMAL}{twice}"),
        &["line 17", "duplicate"],
    );
}

#[test]
fn acting_characters_are_spelt_out() {
    let place = Workplace::new();
    for run in cases(ACTING) {
        short_refusal(&place, &run, &["run.toml, line", "\\u{1b}[2J\\u{202e}gpj"]);
    }
    // TOML has no such characters outside of escapes, which is said without repeating them.
    short_refusal(
        &place,
        &NORMAL.replace("n_chains = 4", "n_chains = \"\u{1b}[2J\""),
        &["run.toml, line 9"],
    );
}

#[test]
fn cells_and_columns_of_a_csv_file() {
    let place = Workplace::new();
    let run = NORMAL.replace(GENERATED, "file = 'x.csv'");
    let long = "x".repeat(200_000);
    let csv = |text: &str| {
        place.write("x.csv", text);
    };
    csv(&format!("a\n1\n{long}\n"));
    short_refusal(&place, &run, &["x.csv, line 3, column \"a\"", "xxx", "…"]);
    csv("a\n1\n\u{1b}[2J\u{202e}\n");
    short_refusal(&place, &run, &["x.csv, line 3", "\\u{1b}[2J\\u{202e}"]);
    csv(&format!("{long},{long}\n1,2\n"));
    short_refusal(&place, &run, &["x.csv", "twice", "…"]);
    let columns: Vec<String> = (0..5000).map(|i| format!("c{i}")).collect();
    csv(&format!("{}\n", columns.join(",")));
    let chosen = run.replace("'x.csv'", "'x.csv'\ndata.columns = ['none']");
    short_refusal(&place, &chosen, &["no column \"none\"", "5000 in all"]);
}

#[test]
fn names_on_the_command_line() {
    let place = Workplace::new();
    place.write("run.toml", GAUSSIAN);
    let long = "x".repeat(100_000);
    let text = refused(&place, &["sample", "run.toml", "--dynamics", &long]);
    assert!(text.len() < 500 && text.contains("…"), "{}", text.len());
    let text = refused(&place, &["sample", "run.toml", "--dynamics", "\u{1b}[2J"]);
    assert!(text.contains("\\u{1b}[2J"), "{text}");
    let text = refused(&place, &["compare", "no\u{1b}[2J.toml"]);
    assert!(text.contains("no\\u{1b}[2J.toml: cannot be read"), "{text}");
}

/// The name of a dynamics is on the standard output, too.
#[test]
fn tables_do_not_act() {
    let place = Workplace::new();
    let named = NORMAL.replace("[\"GiIrr\"]", &format!("[{{ name = \"{ACTING}\" }}]"));
    place.write("run.toml", &named);
    let text = place.succeed(&["compare", "run.toml", "--out", "o"]);
    assert!(text.contains("\\u{1b}[2J\\u{202e}gpj"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
}

fn write_bytes(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn files_that_are_not_utf_8() {
    let place = Workplace::new();
    let at = NORMAL.find("n_steps").unwrap();
    let mut bytes = NORMAL.as_bytes().to_vec();
    bytes[at] = 0xe9;
    write_bytes(&place.path("run.toml"), &bytes);
    let text = refused(&place, &["sample", "run.toml"]);
    let expected = format!("run.toml, line 10: not UTF-8 text: byte 0xe9 at offset {at}");
    assert!(text.contains(&expected), "{text}");

    place.write("run.toml", &NORMAL.replace(GENERATED, "file = 'x.csv'"));
    write_bytes(&place.path("x.csv"), b"a\n1\n2\n\xff3\n4\n");
    let text = refused(&place, &["sample", "run.toml"]);
    let expected = "run.toml, line 6: x.csv, line 4: not UTF-8 text: byte 0xff at offset 6";
    assert!(text.contains(expected), "{text}");
    write_bytes(&place.path("x.csv"), b"\xffa\n1\n");
    let text = refused(&place, &["ksd", "x.csv"]);
    assert!(text.contains("x.csv, line 1: not UTF-8 text"), "{text}");
}
