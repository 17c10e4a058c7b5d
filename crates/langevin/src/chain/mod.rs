//! Many chains over lanes and threads.
//!
//! A chain's states depend on the seed, the run and the chain's number only: not on how chains are
//! grouped into lanes, on the number of threads, on the instruction set or on where the work was cut.

mod advance;
mod chains;
mod drive;
mod fused;
mod lockstep;
mod plan;
mod records;
mod run;
mod team;
mod watch;

pub use crate::error::RunError;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use advance::{Advanced, How};
pub use chains::{Chains, Snapshot};
pub(crate) use fused::Fused;
pub use plan::{Plan, Start};
pub use records::{Group, Records};
pub use run::{Outcome, run};
pub(crate) use run::{check_euler, euler_starts, plan_starts};
pub(crate) use team::{Any, Direct, Mover};

/// How a run is watched and stopped from outside.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Set to stop the run soon.
    pub cancel: Option<&'a AtomicBool>,
    /// Called now and then with the number of chain-steps done since the last call.
    pub progress: Option<&'a (dyn Fn(u64) + Sync)>,
    /// Counts the chains that have escaped so far; brought up to date before each call of
    /// `progress`.
    pub escapes: Option<&'a AtomicU64>,
}

impl Control<'_> {
    /// Whether the run is to stop.
    #[inline(always)]
    pub fn cancelled(&self) -> bool {
        self.cancel.is_some_and(|c| c.load(Ordering::Relaxed))
    }
}

/// A chain that left the finite numbers or the support, and ended there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Escape {
    /// Number of the chain.
    pub chain: u64,
    /// Number of its first bad state.
    pub step: u64,
}
