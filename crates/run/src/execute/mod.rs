//! Runs tasks as units of work, each saved when it is finished and never computed twice.
//!
//! A unit is some chains of one dynamics over a segment of their steps, from snapshot to snapshot.
//! Units of different chains run side by side, each on one thread, so that the time of a unit is the
//! cost of its steps whatever the number of threads; units of the same chains follow each other.
//! Results depend on neither the number of threads nor on being interrupted and resumed. Each is
//! handed on as it comes, so that memory need not grow with the length of chains.

mod cost;
mod recorded;
mod task;
mod unit;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use langevin::RunError;
use langevin::chain::{Control, How};
use thiserror::Error;

use crate::run_file::RunFileError;
use crate::store::StoreError;
use crate::units::{UnitCache, UnitError};

pub use recorded::{Chain, Recorded};
pub use task::{Averages, Draws, Ksd, Recording, Task, Unit};
pub use unit::{End, Part, UnitResult, Values};

use unit::run_unit;

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
    /// Draws could not be saved.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The library refused an input, or own code failed.
    #[error(transparent)]
    Library(#[from] RunError),
    /// Own code is not what it says.
    #[error("{0}")]
    Target(String),
    /// A thread could not be started.
    #[error("a thread could not be started: {0}")]
    Thread(String),
}

/// Work that was done since the last time, a part of all that there is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps of one chain.
    pub chain_steps: u64,
    /// What they were expected to cost.
    pub nanoseconds: f64,
    /// Whether they were found finished.
    pub found: bool,
}

/// How units are run.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Where finished units are kept, if they are.
    pub cache: Option<&'a UnitCache>,
    /// Number of threads.
    pub threads: usize,
    /// Set to stop soon; also set by the first unit that fails.
    pub cancel: &'a AtomicBool,
    /// Told what was done. All together adds up to the [work](total_work) of the tasks.
    pub progress: Option<&'a (dyn Fn(Progress) + Sync)>,
    /// Counts the chains that have escaped so far.
    pub escapes: Option<&'a AtomicU64>,
}

/// How much work some tasks are, in steps of one chain.
pub fn total_work(tasks: &[Task]) -> u64 {
    tasks.iter().map(Task::work).fold(0, u64::saturating_add)
}

/// What some tasks are expected to cost on one thread.
pub fn total_nanoseconds(tasks: &[Task]) -> f64 {
    let cost = |task: &Task| task.work() as f64 * task.step_nanoseconds();
    tasks.iter().map(cost).sum()
}

/// What takes the results of units. Those of the same chains come in the order of their steps.
pub type Consume<'a> = dyn Fn(&Unit, Part) -> Result<(), ExecuteError> + Sync + 'a;

/// Runs all tasks, or reads their units where they are finished already, and hands on every result
/// as it comes.
pub fn stream(
    tasks: &[Task],
    settings: Settings<'_>,
    consume: &Consume<'_>,
) -> Result<(), ExecuteError> {
    let mut groups: Vec<(usize, u64, usize)> = vec![];
    for (number, task) in tasks.iter().enumerate() {
        groups.extend(task.groups().map(|(first, n)| (number, first, n)));
    }
    // All dynamics advance together: whatever slows the machine down slows all of them.
    groups.sort_by_key(|(task, first, _)| (*first, *task));
    let pool = Pool {
        tasks,
        groups: &groups,
        next: AtomicUsize::new(0),
        failure: Mutex::new(None),
        settings,
        consume,
    };
    if tasks.iter().any(Task::is_own) {
        // Own code expects to be called from here.
        pool.work_here();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..settings.threads.min(groups.len()) {
                scope.spawn(|| pool.work());
            }
        });
    }
    if let Some(cache) = settings.cache {
        cache.note_time(true)?;
    }
    match pool.failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Runs all tasks and puts the units of each together, in the order of their chains.
pub fn execute(tasks: &[Task], settings: Settings<'_>) -> Result<Vec<Recorded>, ExecuteError> {
    let recorded: Vec<Mutex<Recorded>> = tasks
        .iter()
        .map(|task| Mutex::new(Recorded::new(task)))
        .collect();
    stream(tasks, settings, &|unit, part| {
        if let Part::Whole(result) = part {
            lock(&recorded[unit.task]).add(unit, result);
        }
        Ok(())
    })?;
    let inner = |m: Mutex<Recorded>| m.into_inner().unwrap_or_else(|e| e.into_inner());
    Ok(recorded.into_iter().map(inner).collect())
}

/// What the threads share.
struct Pool<'a> {
    tasks: &'a [Task],
    /// Chains that go together: task, first, number.
    groups: &'a [(usize, u64, usize)],
    next: AtomicUsize,
    failure: Mutex<Option<ExecuteError>>,
    settings: Settings<'a>,
    consume: &'a Consume<'a>,
}

impl Pool<'_> {
    /// Takes one group after the other, inside a pool of one thread, so that nothing else shares its
    /// time.
    fn work(&self) {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        match alone {
            Ok(alone) => alone.install(|| self.work_here()),
            Err(e) => self.fail(ExecuteError::Thread(e.to_string())),
        }
    }

    fn work_here(&self) {
        while let Some(&(task, first, n)) = self.next_group() {
            if let Err(error) = self.run_group(task, first, n) {
                self.fail(error);
                break;
            }
        }
    }

    fn next_group(&self) -> Option<&(usize, u64, usize)> {
        self.groups.get(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn fail(&self, error: ExecuteError) {
        self.settings.cancel.store(true, Ordering::Relaxed);
        let mut failure = lock(&self.failure);
        // Whoever was only told to stop has not failed.
        match &*failure {
            None | Some(ExecuteError::Interrupted) => *failure = Some(error),
            Some(_) => {}
        }
    }

    /// The units of some chains, one after the other in time.
    fn run_group(&self, number: usize, first: u64, n: usize) -> Result<(), ExecuteError> {
        let task = &self.tasks[number];
        let mut job = None;
        let mut end: Option<End> = None;
        for unit in task.segments(number, first, n) {
            let key = task.key(&unit);
            let stored = self.settings.cache.zip(key.as_ref());
            if let Some(found) = stored.and_then(|(cache, key)| cache.get::<UnitResult>(key)) {
                self.tell(task, task.unit_work(&unit), true);
                end = Some(found.end.clone());
                (self.consume)(&unit, Part::Whole(found))?;
                continue;
            }
            if job.is_none() {
                job = Some(task.job(self.settings.threads).map_err(RunError::from)?);
            }
            let Some(job) = &job else { break };
            let progress = |steps| self.tell(task, steps, false);
            let how = How {
                control: Control {
                    cancel: Some(self.settings.cancel),
                    progress: Some(&progress),
                    escapes: self.settings.escapes,
                },
                ..How::default()
            };
            if how.control.cancelled() {
                return Err(ExecuteError::Interrupted);
            }
            let result = match run_unit(task, job.as_ref(), &unit, end.take(), &how)? {
                Part::Whole(result) => result,
                stopped => {
                    (self.consume)(&unit, stopped)?;
                    return Err(ExecuteError::Interrupted);
                }
            };
            if let Some((cache, key)) = stored {
                cache.put(key, &result)?;
                cache.note_time(false)?;
            }
            end = Some(result.end.clone());
            (self.consume)(&unit, Part::Whole(result))?;
        }
        Ok(())
    }

    fn tell(&self, task: &Task, chain_steps: u64, found: bool) {
        if let Some(progress) = self.settings.progress {
            progress(Progress {
                chain_steps,
                nanoseconds: chain_steps as f64 * task.step_nanoseconds(),
                found,
            });
        }
    }
}

/// A lock is poisoned only if a thread panicked, and then the scope panics as well.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
