//! Runs without the interpreter lock, with a progress bar and Ctrl-C.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use langevin::chain::Control;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// Time between two looks at signals and at the progress bar.
const TICK: Duration = Duration::from_millis(50);

/// What the threads of a run share with the interpreter.
#[derive(Default)]
pub struct Watcher {
    pub cancel: AtomicBool,
    done: AtomicU64,
    escapes: AtomicU64,
    /// Whether it is only a check, which has no result that Ctrl-C could return.
    check_only: bool,
    /// The first exception that was raised outside the target.
    raised: Mutex<Option<PyErr>>,
    progress: Option<Py<PyAny>>,
}

impl Watcher {
    /// `progress` is called with the chain-steps done and the number of escapes.
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        Watcher {
            progress,
            ..Self::default()
        }
    }

    /// For a run that is stopped before its first step: all it does is to check its input.
    pub fn stopped() -> Self {
        Watcher {
            cancel: AtomicBool::new(true),
            check_only: true,
            ..Self::default()
        }
    }

    /// Stops the run; anything but Ctrl-C is raised once it has stopped.
    pub fn stop(&self, py: Python<'_>, error: PyErr) {
        self.cancel.store(true, Ordering::Relaxed);
        if self.check_only || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            let mut raised = self.raised.lock().unwrap_or_else(|e| e.into_inner());
            raised.get_or_insert(error);
        }
    }

    /// Looks at signals and moves the progress bar.
    fn tick(&self, py: Python<'_>) {
        let shown = || -> PyResult<()> {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                let done = self.done.load(Ordering::Relaxed);
                let escapes = self.escapes.load(Ordering::Relaxed);
                progress.call1(py, (done, escapes))?;
            }
            Ok(())
        };
        if let Err(error) = shown() {
            self.stop(py, error);
        }
    }

    fn finish<T>(&self, py: Python<'_>, result: T) -> PyResult<T> {
        self.tick(py);
        let mut raised = self.raised.lock().unwrap_or_else(|e| e.into_inner());
        match raised.take() {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }
}

/// Work that calls no Python, or little of it: it runs in a thread of its own while this one
/// watches.
pub fn aside<T: Send>(
    py: Python<'_>,
    watcher: &Watcher,
    work: impl FnOnce(Control<'_>) -> T + Send,
) -> PyResult<T> {
    let add = |steps: u64| {
        watcher.done.fetch_add(steps, Ordering::Relaxed);
    };
    let control = Control {
        cancel: Some(&watcher.cancel),
        progress: Some(&add),
        escapes: Some(&watcher.escapes),
    };
    let result = py.detach(|| {
        std::thread::scope(|scope| {
            let (tell, finished) = channel::<()>();
            let worker = scope.spawn(move || {
                // Dropped at the end of the work, even if that is a panic.
                let _tell = tell;
                work(control)
            });
            while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(TICK) {
                Python::attach(|py| watcher.tick(py));
            }
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    });
    watcher.finish(py, result)
}

/// Work that calls Python at every step: it stays in this thread, where people expect their
/// functions to run, and looks up now and then.
pub fn inline<T: Send>(
    py: Python<'_>,
    watcher: &Watcher,
    work: impl FnOnce(Control<'_>) -> T + Send,
) -> PyResult<T> {
    let last = Mutex::new(Instant::now());
    let add = |steps: u64| {
        watcher.done.fetch_add(steps, Ordering::Relaxed);
        let mut last = last.lock().unwrap_or_else(|e| e.into_inner());
        if last.elapsed() > TICK {
            Python::attach(|py| watcher.tick(py));
            *last = Instant::now();
        }
    };
    let control = Control {
        cancel: Some(&watcher.cancel),
        progress: Some(&add),
        escapes: Some(&watcher.escapes),
    };
    let result = py.detach(|| work(control));
    watcher.finish(py, result)
}
