//! What a process leaves that was killed while it wrote is gone after the next start.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use langevin_run::store;
use langevin_run::temporary::Temporary;

use crate::{NORMAL, Workplace};

/// Everything hidden in a folder and below, which is where things are written first.
fn hidden(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_name().to_string_lossy().starts_with('.') {
            true => found.push(path),
            false => found.extend(hidden(&path)),
        }
    }
    found
}

/// What a killed process leaves in a folder.
fn abandon(folder: &Path, name: &str) {
    let left = folder.join(format!(".langevin-{name}.tmp"));
    std::fs::create_dir_all(left.join("content/posterior")).unwrap();
    std::fs::write(left.join("content/posterior/zarr.json"), "{").unwrap();
    std::fs::write(left.join("owner"), "").unwrap();
}

#[test]
fn a_store_that_was_half_written_is_cleared() {
    let place = Workplace::new();
    let run = NORMAL.replace("n_steps = 3000", "n_steps = 200000");
    place.write("run.toml", &run.replace("thin = 5", "thin = 1"));
    let out = place.path("o");
    let arguments = ["sample", "run.toml", "--out", "o", "--quiet"];
    let mut child = place
        .command(&arguments)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let being_written = || {
        let entries = hidden(&out).into_iter();
        entries
            .map(|path| path.join("content/posterior"))
            .any(|p| p.is_dir())
    };
    while !being_written() {
        assert!(child.try_wait().unwrap().is_none(), "it ended too soon");
        assert!(began.elapsed() < Duration::from_secs(60), "no store");
        std::thread::sleep(Duration::from_micros(200));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!out.join("draws.zarr").exists());
    assert_eq!(hidden(&out).len(), 1, "{:?}", hidden(&out));
    place.succeed(&arguments);
    assert_eq!(hidden(&out), [] as [PathBuf; 0]);
    let draws = store::read(out.join("draws.zarr")).unwrap();
    assert_eq!(draws.n_draws(), 199_500);
}

#[test]
fn leftovers_go_from_every_folder_and_what_others_write_stays() {
    let place = Workplace::new();
    place.write("run.toml", NORMAL);
    let out = place.path("o");
    let folders = ["", "units", "tables", "figures"].map(|name| out.join(name));
    for folder in &folders {
        std::fs::create_dir_all(folder).unwrap();
        abandon(folder, "dead");
    }
    // This process lives.
    let living: Vec<Temporary> = folders
        .iter()
        .map(|folder| Temporary::new_in(folder).unwrap())
        .collect();
    assert_eq!(hidden(&out).len(), 8);
    place.succeed(&["compare", "run.toml", "--out", "o"]);
    place.succeed(&["sample", "run.toml", "--out", "o"]);
    assert_eq!(hidden(&out).len(), 4, "{:?}", hidden(&out));
    assert!(
        living
            .iter()
            .all(|t| t.content().parent().unwrap().exists())
    );
    drop(living);
    assert_eq!(hidden(&out), [] as [PathBuf; 0]);
}
