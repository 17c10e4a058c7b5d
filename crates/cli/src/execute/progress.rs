//! A progress bar with rate and time left, shown once work takes longer than two seconds.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// Shorter work needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts work and shows it on a terminal.
pub struct Progress {
    bar: ProgressBar,
    began: Instant,
    done: AtomicU64,
    shown: OnceLock<()>,
    quiet: bool,
}

impl Progress {
    /// For this much work, in steps of one chain; nothing is ever shown if `quiet`, or where the
    /// standard error is not a terminal.
    pub fn new(work: u64, quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(work), ProgressDrawTarget::hidden());
        let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // A bar that cannot be written is no reason to stop.
            write!(out, "{:.2} M chain-steps/s", state.per_sec() / 1e6).ok();
        };
        let template = "{wide_bar} {percent:>3} %  {rate}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.with_key("rate", rate));
        }
        Progress {
            bar,
            began: Instant::now(),
            done: AtomicU64::new(0),
            shown: OnceLock::new(),
            quiet,
        }
    }

    /// Counts work that was done.
    pub fn add(&self, work: u64) {
        self.done.fetch_add(work, Ordering::Relaxed);
        if !self.quiet && self.began.elapsed() > PATIENCE {
            self.shown.get_or_init(|| {
                self.bar
                    .set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            });
        }
        self.bar.set_position(self.done.load(Ordering::Relaxed));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
