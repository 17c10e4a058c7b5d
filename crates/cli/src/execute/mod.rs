//! Runs tasks as units of work, each saved when it is finished and never computed twice.
//!
//! A unit is a group of chains of one dynamics. Units run side by side, each on one thread, so
//! that the time of a unit is the cost of its steps whatever the number of threads. Results
//! depend on neither the number of threads nor on being interrupted and resumed.

mod cost;
mod progress;
mod recorded;
mod task;
mod unit;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use langevin::chain::Control;
use thiserror::Error;

use crate::run_file::RunFileError;
use crate::units::{UnitCache, UnitError};

pub use progress::Progress;
pub use recorded::{Chain, Recorded};
pub use task::{Recording, Task, Unit};
pub use unit::UnitResult;

/// What can end the work early.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// It was asked to stop.
    #[error("interrupted; finished units are kept, so the same command goes on from here")]
    Interrupted,
    /// The machine cannot hold the results.
    #[error(transparent)]
    TooLarge(#[from] RunFileError),
    /// A unit could not be saved.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The library refused an input.
    #[error(transparent)]
    Library(#[from] langevin::chain::RunError),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(String),
}

/// How units are run.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Where finished units are kept.
    pub cache: &'a UnitCache,
    /// Number of threads.
    pub threads: usize,
    /// Whether to show no progress bar.
    pub quiet: bool,
    /// Set to stop soon; also set by the first unit that fails.
    pub cancel: &'a AtomicBool,
    /// Called with the work done since the last call, in steps of one chain. All calls together
    /// add up to the [work](total_work) of the tasks, units that were finished before included.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Counts the chains that have escaped so far.
    pub escapes: Option<&'a AtomicU64>,
}

/// How much work some tasks are, in steps of one chain.
pub fn total_work(tasks: &[Task]) -> u64 {
    let work = |(number, task): (usize, &Task)| -> u64 {
        let units = task.units(number).map(|unit| task.work(&unit));
        units.fold(0, u64::saturating_add)
    };
    let works = tasks.iter().enumerate().map(work);
    works.fold(0, u64::saturating_add)
}

/// Runs all tasks, or reads their units where they are finished already.
pub fn execute(tasks: &[Task], settings: Settings<'_>) -> Result<Vec<Recorded>, ExecuteError> {
    let mut units: Vec<Unit> = tasks
        .iter()
        .enumerate()
        .flat_map(|(number, task)| task.units(number))
        .collect();
    // All dynamics advance together: whatever slows the machine down slows all of them.
    units.sort_by_key(|unit| (unit.first, unit.task));
    let results: Vec<Mutex<Option<UnitResult>>> = units
        .iter()
        .map(|unit| Mutex::new(settings.cache.get(&tasks[unit.task].key(unit))))
        .collect();
    let missing: Vec<usize> = (0..units.len())
        .filter(|i| lock(&results[*i]).is_none())
        .collect();
    let nanoseconds = missing
        .iter()
        .map(|i| tasks[units[*i].task].nanoseconds(&units[*i]));
    if let Some(progress) = settings.progress {
        let left = missing
            .iter()
            .map(|i| tasks[units[*i].task].work(&units[*i]));
        let left = left.fold(0, u64::saturating_add);
        progress(total_work(tasks).saturating_sub(left));
    }
    let pool = Pool {
        tasks,
        units: &units,
        results: &results,
        missing: &missing,
        next: AtomicUsize::new(0),
        progress: Progress::new(nanoseconds.sum(), settings.quiet),
        failure: Mutex::new(None),
        settings,
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.threads.min(missing.len()) {
            scope.spawn(|| pool.work());
        }
    });
    pool.progress.finish();
    let noted = match missing.is_empty() {
        true => Ok(()),
        false => settings.cache.note_time(true),
    };
    if let Some(error) = lock(&pool.failure).take() {
        return Err(error);
    }
    noted?;
    let results: Option<Vec<UnitResult>> = results.iter().map(|r| lock(r).take()).collect();
    match results {
        Some(results) => Ok(merge(tasks, &units, results)),
        None => Err(ExecuteError::Interrupted),
    }
}

/// What the threads share.
struct Pool<'a> {
    tasks: &'a [Task],
    units: &'a [Unit],
    results: &'a [Mutex<Option<UnitResult>>],
    missing: &'a [usize],
    next: AtomicUsize,
    progress: Progress,
    failure: Mutex<Option<ExecuteError>>,
    settings: Settings<'a>,
}

impl Pool<'_> {
    /// Takes one missing unit after the other.
    fn work(&self) {
        let done = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|e| ExecuteError::Thread(e.to_string()))
            .and_then(|alone| {
                while let Some(unit) = self.next_unit() {
                    // Inside a pool of one thread, so that nothing else shares its time.
                    if !alone.install(|| self.run(unit))? {
                        break;
                    }
                }
                Ok(())
            });
        if let Err(error) = done {
            self.settings.cancel.store(true, Ordering::Relaxed);
            lock(&self.failure).get_or_insert(error);
        }
    }

    fn next_unit(&self) -> Option<usize> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        self.missing.get(next).copied()
    }

    /// Runs and saves a unit; false if it was cancelled.
    fn run(&self, i: usize) -> Result<bool, ExecuteError> {
        let unit = &self.units[i];
        let task = &self.tasks[unit.task];
        let cost = task.step_nanoseconds();
        let progress = |steps| {
            self.progress.add(steps, cost);
            if let Some(progress) = self.settings.progress {
                progress(steps);
            }
        };
        let control = Control {
            cancel: Some(self.settings.cancel),
            progress: Some(&progress),
            escapes: self.settings.escapes,
        };
        let Some(result) = unit::run_unit(task, unit, control)? else {
            return Ok(false);
        };
        self.settings.cache.put(&task.key(unit), &result)?;
        self.settings.cache.note_time(false)?;
        *lock(&self.results[i]) = Some(result);
        Ok(true)
    }
}

/// A lock is poisoned only if a thread panicked, and then the scope panics as well.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Puts the units of every task together, in the order of their chains.
fn merge(tasks: &[Task], units: &[Unit], results: Vec<UnitResult>) -> Vec<Recorded> {
    let mut recorded: Vec<Recorded> = tasks.iter().map(|_| Recorded::default()).collect();
    // Units are sorted by their first chain.
    for (unit, result) in units.iter().zip(results) {
        recorded[unit.task].add(unit, tasks[unit.task].n_steps, result);
    }
    recorded
}
