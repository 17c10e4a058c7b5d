//! What is to be run, and how it is cut into units.

use std::sync::Arc;

use langevin::record::Observable;
use langevin::stat::ksd::Kernel;
use serde_json::json;

use crate::run_file::{Arm, Run};
use crate::units::UnitKey;

/// Version of the computation: to be raised when the same description gives other numbers.
const COMPUTATION: u32 = 1;
/// A unit has at most this many chain-steps, unless 8 chains alone have more.
const UNIT_STEPS: u64 = 1 << 26;
/// Largest number of chains in a unit; all numbers of chains are multiples of [`LANES`].
const UNIT_CHAINS: u64 = 64;
/// Number of chains that the widest processors run side by side.
const LANES: u64 = 8;
/// Pairs of points that take about as long as one step of a simple chain, for the progress bar.
const PAIRS_PER_STEP: u64 = 16;

/// What is kept of every chain.
#[derive(Clone, Debug)]
pub enum Recording {
    /// Sums of observables between marks.
    Averages {
        /// The observables.
        observables: Vec<Observable>,
        /// The marks, in increasing order.
        marks: Vec<u64>,
    },
    /// Thinned states.
    Draws {
        /// Number of the first one.
        start: u64,
        /// Distance between them.
        thin: u64,
        /// How many.
        count: usize,
    },
    /// Kernel Stein discrepancies of the first K of the thinned states.
    Ksd {
        /// Number of the first state.
        start: u64,
        /// Distance between states.
        thin: u64,
        /// The values of K, in increasing order.
        checkpoints: Vec<usize>,
        /// The kernel.
        kernel: Kernel,
    },
}

/// Some chains of one arm of a run, recorded in one way.
#[derive(Clone, Debug)]
pub struct Task {
    /// Model, seed and initial states.
    pub run: Arc<Run>,
    /// Dynamics, step size and gradient.
    pub arm: Arm,
    /// Number of chains, from chain 0 on.
    pub n_chains: usize,
    /// Number of states of each chain.
    pub n_steps: u64,
    /// What is kept.
    pub recording: Recording,
}

/// A group of chains of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Position of the task in the list of tasks.
    pub task: usize,
    /// First chain.
    pub first: u64,
    /// Number of chains.
    pub n: usize,
}

impl Task {
    /// Number of chains in a unit: it depends on the number of steps only, so that a run with
    /// more chains finds the units of a run with fewer.
    fn unit_chains(&self) -> u64 {
        let fitting = UNIT_STEPS / self.n_steps.max(1) / LANES * LANES;
        match self.recording {
            // The pairs of points cost more than the steps.
            Recording::Ksd { .. } => LANES,
            _ => fitting.clamp(LANES, UNIT_CHAINS),
        }
    }

    /// The units of this task, which is number `task` of a list.
    pub fn units(&self, task: usize) -> impl Iterator<Item = Unit> {
        let size = self.unit_chains();
        let n_chains = self.n_chains as u64;
        (0..n_chains.div_ceil(size)).map(move |group| Unit {
            task,
            first: group * size,
            n: size.min(n_chains - group * size) as usize,
        })
    }

    /// How much work a unit is, in steps of one chain.
    pub fn work(&self, unit: &Unit) -> u64 {
        self.n_steps * unit.n as u64 + self.pair_work() * unit.n as u64
    }

    /// What the discrepancies of one chain cost, in steps.
    pub fn pair_work(&self) -> u64 {
        match &self.recording {
            Recording::Ksd { checkpoints, .. } => {
                let n = checkpoints.last().copied().unwrap_or(0) as u64;
                n * n / 2 / PAIRS_PER_STEP
            }
            _ => 0,
        }
    }

    /// The name of a unit's file: a hash of all that its result depends on.
    pub fn key(&self, unit: &Unit) -> UnitKey {
        let system = &self.arm.system;
        let description = json!({
            "computation": COMPUTATION,
            "version": env!("CARGO_PKG_VERSION"),
            "model": self.run.fingerprint,
            "metric": format!("{:?}", system.metric),
            "skew": format!("{:?}", system.skew),
            "beta": system.beta,
            "step_size": format!("{:?}", self.arm.step_size),
            "gradient": format!("{:?}", self.arm.gradient),
            "start": self.run.start_text,
            "seed": self.run.seed,
            "n_steps": self.n_steps,
            "first_chain": unit.first,
            "n_chains": unit.n,
            "recording": format!("{:?}", self.recording),
        });
        UnitKey::new(&description.to_string())
    }
}
