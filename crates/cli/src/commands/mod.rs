//! The commands of the program: arguments, exit codes and what goes where.

mod compare;
mod diagnose;
mod ksd;
mod list;
mod patience;
mod posterior;
mod reproduce;
mod sample;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use serde_json::Value;

use langevin_run::execute::{ExecuteError, Settings, Task, total_nanoseconds};
use langevin_run::output::Folder;
use langevin_run::run_file::{Asked, Run, SeedFrom, seed};
use langevin_run::shown;
use langevin_run::units::UnitCache;

use crate::progress::Progress;

/// The seed of a run for people, and where it is kept if the run file has none.
fn seed_line(run: &Run, folder: &Folder) -> String {
    let kept = match run.seed_from {
        SeedFrom::Given => String::new(),
        SeedFrom::Folder | SeedFrom::Drawn => {
            format!(" (kept in {})", seed::file_in(folder.path()).display())
        }
    };
    format!("Seed: {}{kept}\n", run.seed)
}

/// `out/NAME` for the run file `NAME.toml`.
fn out_for(run_file: &Path) -> PathBuf {
    Path::new("out").join(run_file.file_stem().unwrap_or_default())
}

/// A folder of this name beside a file or a store.
fn beside(path: &Path, name: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(name)
}

/// Ran, but outside tolerance.
const OUTSIDE_TOLERANCE: u8 = 1;
/// Bad input or failure.
const FAILURE: u8 = 2;
/// Stopped by Ctrl-C, by the custom of shells.
const INTERRUPTED: u8 = 130;

/// Set by Ctrl-C.
static CANCEL: AtomicBool = AtomicBool::new(false);

/// Langevin samplers with a Riemannian metric and a geometry-informed irreversible field.
#[derive(Debug, Parser)]
#[command(
    name = "langevin",
    version,
    after_help = "Example:\n  langevin compare experiments/normal-minibatch.toml --out out/normal\n\n\
                  Exit codes: 0 done, 1 ran but outside tolerance, 2 bad input or failure, \
                  130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Number of threads; all cores if not given. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Seed of the chains, in place of that of the run file. Without either, one is drawn and kept
    /// in the output folder.
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,
    /// Output folder; out/NAME for NAME.toml, and beside the draws for diagnose and ksd, if not given.
    #[arg(long, global = true, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Write results as JSON to the standard output, and nothing else there.
    #[arg(long, global = true)]
    json: bool,
    /// Write nothing but errors (and JSON, if asked for).
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Forget finished work and the drawn seed of earlier runs and start over.
    #[arg(long, global = true)]
    fresh: bool,
    /// Load the libraries that a run file names (model = "stan"), which runs their code.
    #[arg(long, global = true)]
    allow_libraries: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sample a posterior, or one dynamics of a run file: draws on disk and a summary.
    Sample(sample::Arguments),
    /// Run several dynamics on one target side by side: tables, figures and a report.
    Compare(compare::Arguments),
    /// Every table and figure of the paper, beside its numbers, with a verdict on each claim.
    Reproduce(reproduce::Arguments),
    /// Summary, R-hat, effective sample sizes, trace and rank figures of a store of draws.
    Diagnose(diagnose::Arguments),
    /// Kernel Stein discrepancy of draws in a CSV file or a store.
    Ksd(ksd::Arguments),
    /// Names of models, metrics, skew matrices, dynamics, observables and experiments.
    List(list::Arguments),
}

impl Command {
    /// Whether it stops by itself between units of work once [`CANCEL`] is set.
    fn has_units(&self) -> bool {
        match self {
            Command::Sample(_) | Command::Compare(_) | Command::Reproduce(_) => true,
            Command::Diagnose(_) | Command::Ksd(_) | Command::List(_) => false,
        }
    }
}

/// Where files may only grow so far (`ulimit -f`), writing beyond is an error like a full disk,
/// and does not end the program by a signal.
fn refuse_large_files_politely() {
    #[cfg(unix)]
    // SAFETY: no handler is installed; ignoring a signal is sound in every state of a process.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// What a command leaves for the terminal.
pub struct Done {
    /// For people.
    pub text: String,
    /// For machines.
    pub json: Value,
    /// Whether the results are within tolerance.
    pub good: bool,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let global = &cli.global;
    match run(&cli) {
        Ok(done) => {
            let text = match (global.json, global.quiet) {
                (true, _) => format!("{:#}\n", done.json),
                (false, true) => String::new(),
                (false, false) => shown::lines(&done.text),
            };
            if let Err(error) = print(&text) {
                eprintln!("error: cannot write to the standard output: {error}");
                return ExitCode::from(FAILURE);
            }
            match done.good {
                true => ExitCode::SUCCESS,
                false => ExitCode::from(OUTSIDE_TOLERANCE),
            }
        }
        Err(error) => {
            let interrupted = matches!(
                error.downcast_ref::<ExecuteError>(),
                Some(ExecuteError::Interrupted)
            );
            let text = sentence(&error);
            match interrupted {
                true => eprintln!("{text}"),
                false => eprintln!("error: {text}"),
            }
            ExitCode::from(if interrupted { INTERRUPTED } else { FAILURE })
        }
    }
}

/// Writes to the standard output; whoever closed the pipe has read enough.
fn print(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// An error and its causes in one line; some errors name their cause already.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(|cause| cause.to_string()) {
        if !text.contains(&cause) {
            let between = if text.is_empty() { "" } else { ": " };
            text += &format!("{between}{cause}");
        }
    }
    shown::sentence(&text)
}

fn run(cli: &Cli) -> anyhow::Result<Done> {
    let global = &cli.global;
    let waits = cli.command.has_units();
    ctrlc::set_handler(move || {
        // Whoever asks twice does not want to wait for units.
        if CANCEL.swap(true, Ordering::Relaxed) || !waits {
            eprintln!("interrupted");
            std::process::exit(i32::from(INTERRUPTED));
        }
    })
    .context("cannot watch for Ctrl-C")?;
    refuse_large_files_politely();
    rayon::ThreadPoolBuilder::new()
        .num_threads(global.n_threads())
        .build_global()
        .context("cannot start threads")?;
    match &cli.command {
        Command::Sample(arguments) => sample::run(arguments, global),
        Command::Compare(arguments) => compare::run(arguments, global),
        Command::Reproduce(arguments) => reproduce::run(arguments, global),
        Command::Diagnose(arguments) => diagnose::run(arguments, global),
        Command::Ksd(arguments) => ksd::run(arguments, global),
        Command::List(arguments) => list::run(arguments, global),
    }
}

impl Global {
    fn n_threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(cores, usize::from)
    }

    /// The output folder: the one given, or `default`.
    fn out(&self, default: PathBuf) -> PathBuf {
        self.out.clone().unwrap_or(default)
    }

    /// What is asked of a run whose results go to a folder.
    fn asked(&self, out: &Path) -> Asked {
        Asked {
            seed: self.seed,
            folder: (!self.fresh).then(|| out.into()),
            libraries: self.allow_libraries,
        }
    }

    /// The output folder, ready for about `bytes`.
    fn folder(&self, default: PathBuf, bytes: u64) -> anyhow::Result<Folder> {
        Ok(Folder::prepare(self.out(default), bytes)?)
    }

    /// The finished units of earlier runs; none with `--fresh`.
    fn units(&self, folder: &Folder) -> anyhow::Result<UnitCache> {
        let cache = folder.units(self.fresh)?;
        let n = cache.n_outdated();
        if n > 0 && !self.quiet {
            eprintln!("units of an earlier version are not used; {n} files removed");
        }
        Ok(cache)
    }

    /// Whether no progress is shown.
    fn shows_nothing(&self) -> bool {
        self.quiet || !std::io::stderr().is_terminal()
    }

    /// Does the work of some tasks with a progress bar.
    fn watch<T>(
        &self,
        tasks: &[Task],
        cache: &UnitCache,
        work: impl FnOnce(Settings<'_>) -> T,
    ) -> T {
        let bar = Progress::new(total_nanoseconds(tasks), self.shows_nothing());
        let add = |done| bar.add(done);
        let result = work(Settings {
            cache: Some(cache),
            threads: self.n_threads(),
            cancel: &CANCEL,
            progress: Some(&add),
            escapes: None,
        });
        bar.finish();
        result
    }
}
