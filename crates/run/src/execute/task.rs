//! What is to be run, and how it is cut into units.

use std::sync::Arc;

use langevin::RunError;
use langevin::catalog::{Job, Measure};
use langevin::chain::{Plan, Start};
use langevin::record::Observable;
use langevin::stat::ksd::Kernel;
use serde_json::{Value, json};

use super::cost;
use crate::identity;
use crate::run_file::Arm;
use crate::target::{Sampled, Target};
use crate::units::UnitKey;

/// Version of the computation: to be raised when the same description gives other numbers.
const COMPUTATION: u32 = 8;
/// A unit takes about this many seconds of one thread: what is interrupted loses the units that were
/// running.
const UNIT_SECONDS: f64 = 5.0;
/// Numbers of draws in a unit at most: they are in memory until it is saved.
const UNIT_NUMBERS: u64 = 1 << 22;
/// Number of chains in a unit: those that the widest processors run side by side.
const LANES: u64 = 16;
/// A unit of short chains takes more of them until it takes so many seconds: each is a file.
const SHORTEST_UNIT: f64 = 0.002;
const MOST_CHAINS: u64 = 1 << 14;
/// Steps of own code in a unit: nobody knows what they cost.
const OWN_STEPS: u64 = 512;
/// Units end with whole rounds of random numbers.
const ROUND: u64 = 64;

/// What is kept of every chain.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Sums of observables between marks.
    pub averages: Option<Averages>,
    /// Thinned states.
    pub draws: Option<Draws>,
    /// Discrepancies of the draws, which are not kept themselves.
    pub ksd: Option<Ksd>,
}

/// Sums of observables between marks.
#[derive(Clone, Debug)]
pub struct Averages {
    /// The observables.
    pub observables: Vec<Observable>,
    /// The marks, in increasing order.
    pub marks: Vec<u64>,
}

/// Thinned states.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    /// Number of the first one.
    pub start: u64,
    /// Distance between them.
    pub thin: u64,
    /// How many.
    pub count: usize,
}

impl Draws {
    /// Number of draws before a state.
    pub fn before(&self, step: u64) -> usize {
        let n = step.saturating_sub(self.start).div_ceil(self.thin);
        (n as usize).min(self.count)
    }
}

/// Kernel Stein discrepancies of the first K draws.
#[derive(Clone, Debug)]
pub struct Ksd {
    /// The values of K, in increasing order.
    pub checkpoints: Vec<usize>,
    /// The kernel.
    pub kernel: Kernel,
}

impl Recording {
    /// Sums of observables alone.
    pub fn averages(observables: Vec<Observable>, marks: Vec<u64>) -> Self {
        Recording {
            averages: Some(Averages { observables, marks }),
            ..Recording::default()
        }
    }

    /// Thinned states alone.
    pub fn draws(draws: Draws) -> Self {
        Recording {
            draws: Some(draws),
            ..Recording::default()
        }
    }

    /// For the library.
    pub(super) fn measure(&self) -> Measure {
        let (observables, marks) = match &self.averages {
            Some(averages) => (averages.observables.clone(), averages.marks.clone()),
            None => (vec![], vec![]),
        };
        Measure {
            observables,
            marks,
            moments_from: None,
            draws: self.draws.map(|d| (d.start, d.thin, d.count)),
        }
    }

    /// All that tells two recordings apart.
    fn identity(&self) -> Value {
        let averages = self.averages.as_ref().map(|averages| {
            let observables = averages.observables.iter().map(identity::of_observable);
            json!({ "observables": observables.collect::<Vec<_>>(), "marks": averages.marks })
        });
        let draws = self.draws.map(|d| json!([d.start, d.thin, d.count]));
        let ksd = self.ksd.as_ref().map(|ksd| {
            json!({
                "checkpoints": ksd.checkpoints,
                "c": identity::of_number(ksd.kernel.c()),
                "exponent": identity::of_number(ksd.kernel.exponent()),
            })
        });
        json!({ "averages": averages, "draws": draws, "ksd": ksd })
    }
}

/// The chains of one dynamics, recorded in one way.
#[derive(Clone, Debug)]
pub struct Task {
    /// What is sampled.
    pub target: Arc<Target>,
    /// Initial states.
    pub start: Start,
    /// Seed.
    pub seed: u64,
    /// Dynamics, step size and gradient.
    pub arm: Arm,
    /// Number of chains, from chain 0 on.
    pub n_chains: usize,
    /// Number of states of each chain.
    pub n_steps: u64,
    /// What is kept.
    pub recording: Recording,
}

/// Some chains of a task, over a segment of their steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Position of the task in the list of tasks.
    pub task: usize,
    /// First chain.
    pub first: u64,
    /// Number of chains.
    pub n: usize,
    /// Number of its first state.
    pub from: u64,
    /// Number of the state after its last.
    pub to: u64,
}

impl Unit {
    /// Number of steps of all its chains.
    pub fn chain_steps(&self) -> u64 {
        (self.to - self.from).saturating_mul(self.n as u64)
    }
}

impl Task {
    /// Whether the target is own code: its chains go together, in the calling thread.
    pub fn is_own(&self) -> bool {
        matches!(self.target.sampled, Sampled::Own(_))
    }

    /// The chains as the library runs them.
    pub fn job(&self, threads: usize) -> langevin::Result<Box<dyn Job + '_>> {
        let Arm {
            system,
            step_size,
            gradient,
            ..
        } = &self.arm;
        self.target.job(system, *gradient, *step_size, threads)
    }

    /// Passes every check of the library without taking a step.
    pub fn rehearse(&self) -> Result<(), RunError> {
        let plan = self.plan_of(self.n_steps, 0, self.n_chains);
        self.job(1)?.start(&plan).map(drop)
    }

    /// The plan of a unit's chains, from their initial states on.
    pub fn plan(&self, unit: &Unit) -> Plan {
        self.plan_of(self.n_steps, unit.first, unit.n)
    }

    /// The plan of chains `first..first + n` up to a state.
    pub fn plan_of(&self, n_steps: u64, first: u64, n: usize) -> Plan {
        Plan {
            n_steps,
            first_chain: first,
            ..Plan::new(1, 1.0)
                .chains(n)
                .step_sizes(self.arm.step_size)
                .start(self.start.clone())
                .seed(self.seed)
        }
    }

    /// Number of chains in a unit. It depends on nothing measured and not on how many chains there
    /// are: another start, or one with more of them, finds the same units.
    fn unit_chains(&self) -> u64 {
        if self.is_own() {
            return self.n_chains as u64;
        }
        if self.recording.ksd.is_some() {
            // The pairs of points cost more than the steps, and chains are few.
            return LANES / 2;
        }
        let chain = self.n_steps as f64 * self.step_nanoseconds() * 1e-9;
        let mut chains = LANES;
        while chains as f64 * chain < SHORTEST_UNIT && chains < MOST_CHAINS {
            chains *= 2;
        }
        chains
    }

    /// Number of steps in a unit.
    fn unit_steps(&self) -> u64 {
        if self.recording.ksd.is_some() {
            // Discrepancies take all points at once.
            return self.n_steps;
        }
        if self.is_own() {
            return OWN_STEPS;
        }
        let chains = self.unit_chains();
        let step = self.step_nanoseconds() * chains as f64;
        let in_time = (UNIT_SECONDS * 1e9 / step) as u64;
        let in_memory = self.recording.draws.map_or(u64::MAX, |draws| {
            let numbers = chains.saturating_mul(self.target.dim() as u64);
            (UNIT_NUMBERS / numbers.max(1)).saturating_mul(draws.thin)
        });
        in_time.min(in_memory).max(ROUND) / ROUND * ROUND
    }

    /// The chains that go together: (first, number).
    pub fn groups(&self) -> impl Iterator<Item = (u64, usize)> + use<> {
        let (size, n_chains) = (self.unit_chains().max(1), self.n_chains as u64);
        (0..n_chains.div_ceil(size)).map(move |group| {
            let first = group * size;
            (first, size.min(n_chains - first) as usize)
        })
    }

    /// The units of some chains, one after the other in time; the task is number `task` of a list.
    pub fn segments(
        &self,
        task: usize,
        first: u64,
        n: usize,
    ) -> impl Iterator<Item = Unit> + use<> {
        let (steps, n_steps) = (self.unit_steps(), self.n_steps);
        (0..n_steps.div_ceil(steps)).map(move |k| Unit {
            task,
            first,
            n,
            from: k * steps,
            to: n_steps.min((k + 1).saturating_mul(steps)),
        })
    }

    /// All units.
    pub fn units(&self, task: usize) -> impl Iterator<Item = Unit> + '_ {
        self.groups()
            .flat_map(move |(first, n)| self.segments(task, first, n))
    }

    /// How much work the task is, in steps of one chain.
    pub fn work(&self) -> u64 {
        let chain = self.n_steps.saturating_add(self.pair_work());
        chain.saturating_mul(self.n_chains as u64)
    }

    /// How much work a unit is, in steps of one chain.
    pub fn unit_work(&self, unit: &Unit) -> u64 {
        let pairs = self.pair_work().saturating_mul(unit.n as u64);
        unit.chain_steps().saturating_add(pairs)
    }

    /// What a step of one chain costs about, from the sizes of the target alone.
    pub fn step_nanoseconds(&self) -> f64 {
        cost::step(&self.target, &self.arm)
    }

    /// What the discrepancies of one chain cost, in steps.
    pub fn pair_work(&self) -> u64 {
        match &self.recording.ksd {
            Some(ksd) => {
                let n = ksd.checkpoints.last().copied().unwrap_or(0) as f64;
                let pairs = n * n / 2.0 * cost::pair(self.target.dim());
                (pairs / self.step_nanoseconds()) as u64
            }
            None => 0,
        }
    }

    /// The name of a unit's file: a hash of all that its result depends on. None where nobody can
    /// tell what the target depends on.
    pub fn key(&self, unit: &Unit) -> Option<UnitKey> {
        let fingerprint = self.target.fingerprint.as_ref()?;
        let system = &self.arm.system;
        let description = json!({
            "computation": COMPUTATION,
            "version": env!("CARGO_PKG_VERSION"),
            "target": fingerprint,
            "metric": identity::of_metric(&system.metric),
            "skew": identity::of_skew(&system.skew),
            "beta": identity::of_number(system.beta),
            "step_size": identity::of_step_size(self.arm.step_size),
            "gradient": identity::of_gradient(self.arm.gradient),
            "start": identity::of_start(&self.start, unit.first, unit.n),
            "seed": self.seed,
            "first_chain": unit.first,
            "n_chains": unit.n,
            "from": unit.from,
            "to": unit.to,
            "recording": self.recording.identity(),
        });
        Some(UnitKey::new(&description.to_string()))
    }
}
