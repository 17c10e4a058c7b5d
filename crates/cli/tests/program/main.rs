//! The program as its users meet it: every test spawns the real binary.

mod bad_input;
mod compare;
mod foreign_text;
mod leftovers;
mod posterior;
mod resume;
mod sample;
mod seeds;
mod sizes;
mod wrong_fields;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder for one test, with the run files and data that it writes there.
pub(crate) struct Workplace {
    dir: tempfile::TempDir,
}

impl Workplace {
    fn new() -> Self {
        Workplace {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The program in this folder, ready to run.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_langevin"));
        command.current_dir(self.dir.path()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the program, which must succeed, and returns its standard output.
    fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let (stdout, stderr) = texts(&output);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {stdout}{stderr}"
        );
        stdout
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

pub(crate) fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

/// Files of the finished units in an output folder.
pub(crate) fn unit_files(out: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(out.join("units")).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "bin"))
        .collect();
    files.sort();
    files
}

/// Number of finished units in an output folder.
pub(crate) fn n_units(out: &Path) -> usize {
    unit_files(out).len()
}

/// A small Gaussian run under the five dynamics of the paper.
pub(crate) const GAUSSIAN: &str = r#"
title = "A small Gaussian"
dynamics = ["LD", "RM", "Irr", "RMIrr", "GiIrr"]

[target]
model = "linear-gaussian"
noise_precision = 0.05
prior_precision = { eigenvalues = [0.2, 0.01, 0.05], eigenvector_seed = 3 }
data.generate = { n = 10, mean = 1.0, dim = 3, seed = 5 }

[run]
n_chains = 192
n_steps = 4000
step_size = 0.1
burn_in = 500
seed = 1
batch_size = 2
skew = { kind = "sign-pattern", delta = 0.5 }

[measure]
ksd = { n_points = 100, n_chains = 4 }
trajectories = { n_chains = 4, n_steps = 200, thin = 10 }
"#;

/// A small run for the mean and standard deviation of normal data.
pub(crate) const NORMAL: &str = r#"
dynamics = ["GiIrr"]

[target]
model = "normal"
data.generate = { n = 30, mean = 0, sd = 10, seed = 2 }

[run]
n_chains = 4
n_steps = 3000
step_size = 0.05
burn_in = 500
thin = 5
seed = 7
skew = { kind = "sign-pattern", delta = 2 }
"#;
