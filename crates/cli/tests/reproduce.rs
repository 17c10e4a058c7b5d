//! `langevin reproduce` as its users meet it: every test spawns the real binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn langevin(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_langevin"));
    command.current_dir(folder).arg("reproduce").args(arguments);
    command
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = langevin(folder, arguments).output().unwrap();
    let text = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
    String::from_utf8(output.stdout).unwrap()
}

fn texts(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    text(&output.stdout) + &text(&output.stderr)
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn json(path: PathBuf) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// Names of the files of a folder, without their endings, each once.
fn stems(folder: PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut stems: Vec<String> = entries.map(|e| stem(e.unwrap().path())).collect();
    stems.sort();
    stems.dedup();
    stems
}

fn items() -> Vec<String> {
    let tables = (2..=6).map(|n| format!("table{n}"));
    tables
        .chain((1..=16).map(|n| format!("figure{n}")))
        .collect()
}

/// The appendix at its full precision: every file is there, and the curves are the exact ones.
#[test]
fn the_appendix_has_every_file() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("o");
    succeed(
        dir.path(),
        &["discretization", "--scale", "smoke", "--out", "o"],
    );
    assert_eq!(stems(out.join("figures")), ["figure15", "figure16"]);
    for file in [
        "figure15.svg",
        "figure15.png",
        "figure16.svg",
        "figure16.png",
    ] {
        assert!(
            std::fs::metadata(out.join("figures").join(file))
                .unwrap()
                .len()
                > 1000
        );
    }
    let tables = stems(out.join("tables"));
    assert_eq!(
        tables,
        ["appendix-values", "discretization-running-averages", "runs"]
    );
    assert_eq!(stems(out.join("experiments")), ["discretization"]);
    let results = json(out.join("results.json"));
    let exact = &results["appendix"]["norm_squared_bias"]["exact"];
    // δ = 2: squared bias 3.945558e-11 by an independent program.
    let point = exact
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p[0] == 2.0)
        .unwrap();
    assert!(
        (point[1].as_f64().unwrap() / 3.945558e-11 - 1.0).abs() < 1e-4,
        "{point}"
    );
    let claims = results["items"]["figure16"]["claims"].as_array().unwrap();
    let outcome = |words: &str| {
        let found = claims
            .iter()
            .find(|c| c["claim"].as_str().unwrap().contains(words));
        found.unwrap()["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome("variance increases"), "Holds");
    assert_eq!(outcome("squared bias increases"), "Fails");
    let timing = json(out.join("timing.json"));
    assert!(timing["wall_seconds"].as_f64().unwrap() > 0.0);
    assert!(read(out.join("report.html")).contains("id=\"figure16\""));
}

/// Everything, at a scale at which numbers mean nothing: all files and ids are there, and what can
/// be wrong in a page is not.
#[test]
fn everything_is_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("o");
    let text = succeed(dir.path(), &["--scale", "smoke", "--out", "o"]);
    assert!(
        text.contains("claims:") && text.contains("Report: o/report.html"),
        "{text}"
    );
    let page = read(out.join("report.html"));
    let tables = stems(out.join("tables"));
    let figures = stems(out.join("figures"));
    let results = json(out.join("results.json"));
    for id in items() {
        assert_eq!(page.matches(&format!("id=\"{id}\"")).count(), 1, "{id}");
        let files = if id.starts_with("table") {
            &tables
        } else {
            &figures
        };
        assert!(files.contains(&id), "{id}");
        assert!(results["items"][&id].is_object(), "{id}");
    }
    assert_eq!(figures.len(), 16);
    for also in ["table2-as-printed", "table5-exact", "table6-exact"] {
        assert!(
            tables.contains(&also.to_owned()) && page.contains(also),
            "{also}"
        );
    }
    // Every number of the printed tables is in the page: here the LD row of Table 6.
    for printed in ["paper 80.4", "paper 23.61", "paper 50.17", "paper 17.52"] {
        assert!(page.contains(printed), "{printed}");
    }
    let run = &results["runs"]["normal-minibatch"]["settings"];
    assert_eq!((&run["seed"], &run["n_chains"]), (&33.into(), &72.into()));
    check_in_browser(&out.join("report.html"));
}

/// In Chromium at desktop and phone width, where there is one.
fn check_in_browser(report: &Path) {
    let browsers = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let installed = |name: &&str| {
        let found = Command::new(name).arg("--version").output();
        found.is_ok_and(|output| output.status.success())
    };
    if !browsers.iter().any(installed) {
        eprintln!("no browser: the report was not looked at");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/check-report");
    let mut command = Command::new(script);
    let output = command.arg(report).args(items()).output().unwrap();
    assert!(output.status.success(), "{}", texts(&output));
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    let dir = tempfile::tempdir().unwrap();
    let output = langevin(dir.path(), &["normal", "tabel3"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = texts(&output);
    assert_eq!(text.lines().count(), 1, "{text}");
    for word in [
        "\"tabel3\"",
        "gaussian",
        "discretization",
        "table3",
        "figure16",
        "everything",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // Nothing was begun.
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none());
}

/// A single item runs no more than it needs, and says its numbers as JSON.
#[test]
fn a_single_item_runs_what_it_needs() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["figure7", "--scale", "smoke", "--json", "--seed", "5"];
    let results: Value = serde_json::from_str(&succeed(dir.path(), &arguments)).unwrap();
    let out = dir.path().join("out/reproduce-smoke");
    assert_eq!(stems(out.join("figures")), ["figure7"]);
    assert_eq!(
        n_units(&out),
        5 * 2,
        "nine chains of five systems, eight at a time"
    );
    assert_eq!(results["runs"]["normal-minibatch"]["settings"]["seed"], 5);
    assert!(results["timing"]["threads"].as_u64().unwrap() > 0);
}

fn n_units(out: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(out.join("units")) else {
        return 0;
    };
    let done = |path: PathBuf| path.extension().is_some_and(|e| e == "bin");
    entries.filter(|e| done(e.as_ref().unwrap().path())).count()
}

/// Waits until an output folder has this many units, or the program ends.
fn wait_for_units(child: &mut Child, out: &Path, wanted: usize) {
    let began = Instant::now();
    while n_units(out) < wanted && child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "no progress");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Two runs of five systems in a unit each, with ten units of discrepancies and five of paths.
const NORMAL_UNITS: usize = 25;

#[test]
fn killed_work_goes_on_and_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let normal = |out| ["normal", "--scale", "smoke", "--quiet", "--out", out];
    succeed(dir.path(), &normal("whole"));
    assert_eq!(n_units(&dir.path().join("whole")), NORMAL_UNITS);
    let out = dir.path().join("killed");
    let mut seen = vec![];
    for wanted in [1, 4, 9, 14, 20] {
        let mut command = langevin(dir.path(), &normal("killed"));
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_for_units(&mut child, &out, wanted);
        child.kill().unwrap();
        child.wait().unwrap();
        seen.push(n_units(&out));
    }
    // The first kills really came in the middle.
    assert!(
        seen.is_sorted() && seen[0] > 0 && seen[0] < NORMAL_UNITS,
        "{seen:?}"
    );
    succeed(dir.path(), &normal("killed"));
    let results = |out: &str| read(dir.path().join(out).join("results.json"));
    assert!(results("whole") == results("killed"));
    for table in ["table3.csv", "table4.csv", "normal-minibatch-ksd.csv"] {
        let file = |out: &str| read(dir.path().join(out).join("tables").join(table));
        assert!(file("whole") == file("killed"), "{table}");
    }
}
