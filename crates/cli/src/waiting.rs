//! A line on the terminal that says what is being done, once it takes longer than two seconds.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work needs no line.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two drawings.
const TICK: Duration = Duration::from_millis(200);

/// Shows how many of some parts are done, for work whose parts say nothing while they run.
pub struct Waiting {
    shared: Arc<Shared>,
    drawer: Option<JoinHandle<()>>,
}

struct Shared {
    done: AtomicUsize,
    over: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Waiting {
    /// Begins; nothing is ever shown if `quiet`, or where the standard error is not a terminal.
    pub fn new(what: impl Into<String>, parts: usize, quiet: bool) -> Self {
        let shared = Arc::new(Shared {
            done: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            lock: Mutex::new(()),
            wake: Condvar::new(),
        });
        let (theirs, what) = (shared.clone(), what.into());
        // Without a thread there is no line, which is no reason to stop.
        let draw = move || theirs.draw(&what, parts);
        let drawer = match quiet {
            true => None,
            false => std::thread::Builder::new().spawn(draw).ok(),
        };
        Waiting { shared, drawer }
    }

    /// Counts a part that is done.
    pub fn one_more(&self) {
        self.shared.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Waiting {
    /// Removes the line.
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.shared.wake.notify_all();
        if let Some(drawer) = self.drawer.take() {
            drawer.join().ok();
        }
    }
}

impl Shared {
    fn draw(&self, what: &str, parts: usize) {
        let bar = ProgressBar::with_draw_target(Some(parts as u64), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg}: {pos} of {len} done, {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        let began = Instant::now();
        let mut shown = false;
        while !self.over.load(Ordering::Relaxed) {
            if !shown && began.elapsed() > PATIENCE {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                shown = true;
            }
            bar.set_position(self.done.load(Ordering::Relaxed) as u64);
            bar.tick();
            let guard = self.lock.lock().unwrap_or_else(|e| e.into_inner());
            drop(self.wake.wait_timeout(guard, TICK));
        }
        bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_at_once() {
        let began = Instant::now();
        for quiet in [true, false] {
            let waiting = Waiting::new("Nothing", 1, quiet);
            waiting.one_more();
            assert_eq!(waiting.shared.done.load(Ordering::Relaxed), 1);
            drop(waiting);
        }
        assert!(began.elapsed() < PATIENCE);
    }
}
