//! A progress bar with rate and time left, shown once work takes longer than two seconds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use langevin_run::execute;

/// Shorter work needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts work and shows it on a terminal.
pub struct Progress {
    bar: ProgressBar,
    began: Instant,
    steps: Arc<AtomicU64>,
    nanoseconds: AtomicU64,
    shown: OnceLock<()>,
    quiet: bool,
}

impl Progress {
    /// For work that will cost about this much; nothing is ever shown if `quiet`, or where the
    /// standard error is not a terminal.
    pub fn new(nanoseconds: f64, quiet: bool) -> Self {
        let length = Some(nanoseconds as u64);
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        let steps = Arc::new(AtomicU64::new(0));
        let done = steps.clone();
        let rate = move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let per_second = done.load(Ordering::Relaxed) as f64 / state.elapsed().as_secs_f64();
            // A bar that cannot be written is no reason to stop.
            write!(out, "{:.2} M chain-steps/s", per_second / 1e6).ok();
        };
        let template = "{wide_bar} {percent:>3} %  {rate}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", rate));
        }
        Progress {
            bar,
            began: Instant::now(),
            steps,
            nanoseconds: AtomicU64::new(0),
            shown: OnceLock::new(),
            quiet,
        }
    }

    /// Counts work that was done by what it was expected to cost: steps of one dynamics can take a
    /// thousand times as long as those of another.
    pub fn add(&self, done: execute::Progress) {
        let cost = done.nanoseconds as u64;
        self.nanoseconds.fetch_add(cost, Ordering::Relaxed);
        if done.found {
            // It took no time, so that the bar must not learn from it.
            self.bar.reset_eta();
        } else {
            self.steps.fetch_add(done.chain_steps, Ordering::Relaxed);
        }
        if !self.quiet && self.began.elapsed() > PATIENCE {
            self.shown.get_or_init(|| {
                self.bar
                    .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            });
        }
        self.bar
            .set_position(self.nanoseconds.load(Ordering::Relaxed));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
