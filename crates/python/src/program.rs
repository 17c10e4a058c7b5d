//! Run files, run as the program runs them.

use std::path::PathBuf;
use std::sync::Arc;

use langevin::catalog::System;
use langevin_page::figure::{Marker, Style};
use langevin_run::compare::{self, Comparison, Marks};
use langevin_run::execute::{Progress, Settings, total_work};
use langevin_run::output::Folder;
use langevin_run::run_file::Run;
use langevin_run::sample;
use langevin_run::store;
use pyo3::prelude::*;

use crate::averages::{Averages, Span};
use crate::errors::{job, refused_or_io};
use crate::stored::Stored;
use crate::supervise::{Watcher, aside};

/// A run file that has passed every check.
#[pyclass(frozen, module = "langevin._core")]
pub struct RunFile {
    run: Arc<Run>,
}

/// How to run it: output folder, number of threads, and what is called with progress.
type How = (Option<PathBuf>, Option<usize>, Option<Py<PyAny>>);

#[pymethods]
impl RunFile {
    #[new]
    fn new(py: Python<'_>, path: PathBuf, seed: Option<u64>) -> PyResult<Self> {
        let run = py
            .detach(|| Run::load(&path, seed))
            .map_err(refused_or_io)?;
        Ok(RunFile { run: Arc::new(run) })
    }

    /// Names of the dynamics.
    #[getter]
    fn dynamics(&self) -> Vec<String> {
        self.run.arms.iter().map(|arm| arm.name.clone()).collect()
    }

    /// How much `sample` (with a name) or `compare` (without) will do, in steps of one chain.
    fn work(&self, dynamics: Option<&str>) -> PyResult<u64> {
        let tasks = match dynamics {
            Some(name) => vec![sample::task(
                &self.run,
                self.run.arm(name).map_err(refused_or_io)?,
            )],
            None => compare::tasks(&self.run),
        };
        Ok(total_work(&tasks))
    }

    /// Draws of one dynamics: (draws, (chain, first bad state) of each escape, seconds).
    #[allow(clippy::type_complexity)]
    fn sample(
        &self,
        py: Python<'_>,
        dynamics: &str,
        how: How,
    ) -> PyResult<(Stored, Vec<(u64, u64)>, f64)> {
        let run = &self.run_in(py, &how)?;
        let arm = run.arm(dynamics).map_err(refused_or_io)?;
        let keep = how.0.is_some();
        let room = run.needs.to_sample.disk();
        let (draws, stored) = execute(py, how, room, |folder, settings| {
            folder.keep_seed(run).map_err(refused_or_io)?;
            let stored = sample::into_store(run, arm, settings, folder.path()).map_err(job)?;
            if keep {
                sample::save(run, arm, &stored, folder).map_err(refused_or_io)?;
            }
            let draws = store::read(&stored.path).map_err(refused_or_io)?;
            Ok((draws, stored))
        })?;
        Ok((Stored { draws }, stored.escapes, stored.seconds))
    }

    /// All dynamics side by side.
    fn compare(&self, py: Python<'_>, how: How) -> PyResult<Compared> {
        let run = &self.run_in(py, &how)?;
        let keep = how.0.is_some();
        let room = run.needs.to_compare.disk();
        execute(py, how, room, |folder, settings| {
            folder.keep_seed(run).map_err(refused_or_io)?;
            let runs = std::slice::from_ref(run);
            let mut comparisons = compare::compare(runs, settings).map_err(job)?;
            // One run was given, so there is one comparison.
            let comparison = comparisons.remove(0);
            if let (true, Some(cache)) = (keep, settings.cache) {
                let total = cache.total_time();
                let saved = compare::json::save(&comparison, folder, total);
                saved.map_err(refused_or_io)?;
            }
            Ok(Compared { comparison })
        })
    }
}

impl RunFile {
    /// The run with the seed that earlier work in its output folder had, where it has none itself.
    fn run_in(&self, py: Python<'_>, how: &How) -> PyResult<Arc<Run>> {
        let Some(out) = &how.0 else {
            return Ok(self.run.clone());
        };
        let run = py
            .detach(|| self.run.in_folder(out))
            .map_err(refused_or_io)?;
        Ok(Arc::new(run))
    }
}

/// Runs the work with an output folder, in a temporary one if nothing is to be kept.
fn execute<T: Send>(
    py: Python<'_>,
    (out, threads, progress): How,
    room: u64,
    work: impl FnOnce(&Folder, Settings<'_>) -> PyResult<T> + Send,
) -> PyResult<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.unwrap_or(cores);
    let watcher = Watcher::new(progress);
    aside(py, &watcher, |control| {
        let temporary = tempfile::tempdir().map_err(refused_or_io)?;
        let path = out.unwrap_or_else(|| temporary.path().to_path_buf());
        let folder = Folder::prepare(path, room).map_err(refused_or_io)?;
        let cache = folder.units(false).map_err(refused_or_io)?;
        let tell = |done: Progress| {
            if let Some(progress) = control.progress {
                progress(done.chain_steps);
            }
        };
        let settings = Settings {
            cache: Some(&cache),
            threads,
            cancel: &watcher.cancel,
            progress: Some(&tell),
            escapes: control.escapes,
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().map_err(refused_or_io)?;
        pool.install(|| work(&folder, settings))
    })?
}

/// The numbers of a comparison. Dynamics go by their number.
#[pyclass(frozen, module = "langevin._core")]
pub struct Compared {
    comparison: Comparison,
}

#[pymethods]
impl Compared {
    /// Everything but times, as JSON: the program's `results.json`.
    fn results(&self) -> String {
        compare::json::results(&self.comparison).to_string()
    }

    /// Times, as JSON: the program's `timing.json`.
    fn timing(&self) -> String {
        compare::json::timing(&self.comparison).to_string()
    }

    /// Averages of the observables under one dynamics.
    fn averages(&self, dynamics: usize) -> Averages {
        let arm = &self.comparison.arms[dynamics];
        let run = &self.comparison.run;
        let span = Span {
            burn_in: run.burn_in,
            n_steps: run.n_steps,
            step_size: arm.arm.step_size,
        };
        Averages::new(Marks::new(run), span, arm.averages.clone())
    }

    /// Time of one thread that the steps of one dynamics took.
    fn seconds(&self, dynamics: usize) -> f64 {
        self.comparison.arms[dynamics].averages.seconds
    }
}

/// Colour, dash lengths (none for a solid line) and matplotlib's marker of a dynamics, as in the
/// program's figures.
#[pyfunction]
pub fn style(name: &str) -> (String, Option<Vec<f64>>, &'static str) {
    let style = Style::of(name, &System::NAMES);
    let marker = match style.marker {
        Marker::Circle => "o",
        Marker::Square => "s",
        Marker::Triangle => "^",
        Marker::Diamond => "D",
        Marker::Cross => "x",
    };
    let dash = style.dash.pattern().map(<[f64]>::to_vec);
    (style.colour.to_string(), dash, marker)
}
