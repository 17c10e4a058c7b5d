//! Work that is killed, stopped or spoilt goes on and gives the same bits.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{GAUSSIAN, Workplace, n_units, unit_files};

/// Five dynamics, each with three units of averages, one of discrepancies and one of paths.
const UNITS: usize = 25;
/// The same with chains of which fewer make a unit.
const LONGER_UNITS: usize = 70;

fn spawn(place: &Workplace, out: &str, more: &[&str]) -> Child {
    let arguments = [&["compare", "gauss.toml", "--out", out], more].concat();
    let mut command = place.command(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until an output folder has this many units, or the program ends.
fn wait_for_units(child: &mut Child, out: &Path, wanted: usize) {
    let began = Instant::now();
    while n_units(out) < wanted && child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "no progress");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn longer() -> String {
    GAUSSIAN.replace("n_steps = 4000", "n_steps = 20000")
}

#[test]
fn killed_work_goes_on_and_gives_the_same_bytes() {
    let place = Workplace::new();
    place.write("gauss.toml", &longer());
    place.succeed(&["compare", "gauss.toml", "--out", "whole", "--threads", "1"]);
    let out = place.path("killed");
    let mut seen = vec![];
    for wanted in [1, 9, 24, 40, 55] {
        let mut child = spawn(&place, "killed", &[]);
        wait_for_units(&mut child, &out, wanted);
        child.kill().unwrap();
        child.wait().unwrap();
        seen.push(n_units(&out));
    }
    // Units are never lost, and the first kills really came in the middle.
    assert!(seen.is_sorted(), "{seen:?}");
    assert!(seen[0] > 0 && seen[2] < LONGER_UNITS, "{seen:?}");
    assert!(!out.join("results.json").exists() || seen[4] == LONGER_UNITS);
    place.succeed(&["compare", "gauss.toml", "--out", "killed"]);
    assert_eq!(n_units(&out), LONGER_UNITS);
    assert_eq!(
        place.read("whole/results.json"),
        place.read("killed/results.json")
    );
    for table in ["variances", "running-averages", "ksd", "trajectories"] {
        let file = |out: &str| place.read(&format!("{out}/tables/{table}.csv"));
        assert_eq!(file("whole"), file("killed"), "{table}");
    }
}

#[test]
fn spoilt_units_are_noticed_and_done_again() {
    let place = Workplace::new();
    place.write("gauss.toml", GAUSSIAN);
    place.succeed(&["compare", "gauss.toml", "--out", "o"]);
    let before = place.read("o/results.json");
    let units = unit_files(&place.path("o"));
    let mut bytes = std::fs::read(&units[0]).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&units[0], bytes).unwrap();
    let mut bytes = std::fs::read(&units[1]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&units[1], bytes).unwrap();
    place.succeed(&["compare", "gauss.toml", "--out", "o"]);
    assert_eq!(before, place.read("o/results.json"));
    assert_eq!(n_units(&place.path("o")), UNITS);
}

/// More chains take the units of fewer; `--fresh` takes none.
#[test]
fn finished_units_are_used_unless_fresh() {
    let place = Workplace::new();
    place.write("gauss.toml", GAUSSIAN);
    place.succeed(&["compare", "gauss.toml", "--out", "o"]);
    let modified = |path: &Path| std::fs::metadata(path).unwrap().modified().unwrap();
    let unit = unit_files(&place.path("o")).remove(0);
    let time = modified(&unit);
    let more = GAUSSIAN.replace("n_chains = 192", "n_chains = 256");
    place.write("gauss.toml", &more);
    place.succeed(&["compare", "gauss.toml", "--out", "o"]);
    assert_eq!(n_units(&place.path("o")), UNITS + 5);
    assert_eq!(modified(&unit), time);
    place.write("gauss.toml", GAUSSIAN);
    std::thread::sleep(Duration::from_millis(20));
    place.succeed(&["compare", "gauss.toml", "--out", "o", "--fresh"]);
    assert_eq!(n_units(&place.path("o")), UNITS);
    assert!(modified(&unit) > time);
}

#[test]
fn units_of_an_earlier_version_are_told_once() {
    let place = Workplace::new();
    place.write("gauss.toml", GAUSSIAN);
    let old = place.path("o/units");
    std::fs::create_dir_all(&old).unwrap();
    for digit in ["0", "1"] {
        let name = format!("{}.bin", digit.repeat(64));
        std::fs::write(old.join(name), "langevin unit 1\nand more").unwrap();
    }
    let said = || {
        let output = place.run(&["compare", "gauss.toml", "--out", "o"]);
        assert_eq!(output.status.code(), Some(0));
        crate::texts(&output).1
    };
    assert_eq!(
        said(),
        "units of an earlier version are not used; 2 files removed\n"
    );
    assert_eq!(said(), "");
    assert_eq!(n_units(&place.path("o")), UNITS);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_cleanly_and_keeps_finished_units() {
    let place = Workplace::new();
    place.write("gauss.toml", &longer());
    let out = place.path("o");
    let mut child = spawn(&place, "o", &["--threads", "1"]);
    wait_for_units(&mut child, &out, 2);
    let pid = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = crate::texts(&output);
    assert_eq!(output.status.code(), Some(130), "{stdout}{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(stderr.starts_with("interrupted"), "{stderr}");
    assert!(n_units(&out) >= 2 && !out.join("results.json").exists());
    // The time until then is not forgotten.
    place.succeed(&["compare", "gauss.toml", "--out", "o"]);
    let timing: serde_json::Value = serde_json::from_str(&place.read("o/timing.json")).unwrap();
    assert_eq!(timing["starts"], 2);
    let seconds = |name: &str| timing[name].as_f64().unwrap();
    assert!(seconds("wall_seconds_of_all_starts") > seconds("wall_seconds"));
}
