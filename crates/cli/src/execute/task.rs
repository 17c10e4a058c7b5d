//! What is to be run, and how it is cut into units.

use std::sync::Arc;

use langevin::record::Observable;
use langevin::stat::ksd::Kernel;
use serde_json::{Value, json};

use super::cost;
use crate::identity;
use crate::run_file::{Arm, Run};
use crate::units::UnitKey;

/// Version of the computation: to be raised when the same description gives other numbers.
const COMPUTATION: u32 = 7;
/// A unit takes about this many seconds of one thread at most, unless [`LANES`] chains alone take
/// longer: what is interrupted loses the units that were running. Chains are not cut in time, and
/// fewer chains than lanes would take as long.
const UNIT_SECONDS: f64 = 5.0;
/// Largest number of chains in a unit; all numbers of chains are multiples of [`LANES`].
const UNIT_CHAINS: u64 = 64;
/// Number of chains that the widest processors run side by side.
const LANES: u64 = 16;

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

impl Recording {
    /// All that tells two recordings apart.
    fn identity(&self) -> Value {
        match self {
            Recording::Averages { observables, marks } => {
                let observables = observables.iter().map(identity::of_observable);
                json!({ "observables": observables.collect::<Vec<_>>(), "marks": marks })
            }
            Recording::Draws { start, thin, count } => {
                json!({ "start": start, "thin": thin, "count": count })
            }
            Recording::Ksd {
                start,
                thin,
                checkpoints,
                kernel,
            } => json!({
                "start": start,
                "thin": thin,
                "checkpoints": checkpoints,
                "c": identity::of_number(kernel.c()),
                "exponent": identity::of_number(kernel.exponent()),
            }),
        }
    }
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
    /// Number of chains in a unit: it depends on nothing measured, so that another start finds
    /// the same units, and not on the number of chains, so that a run with more chains finds the
    /// units of a run with fewer.
    fn unit_chains(&self) -> u64 {
        let chain = self.chain_nanoseconds();
        let fitting = (UNIT_SECONDS * 1e9 / chain) as u64 / LANES * LANES;
        match self.recording {
            // The pairs of points cost more than the steps, and chains are few.
            Recording::Ksd { .. } => LANES / 2,
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
        let chain = self.n_steps.saturating_add(self.pair_work());
        chain.saturating_mul(unit.n as u64)
    }

    /// What a unit will cost.
    pub fn nanoseconds(&self, unit: &Unit) -> f64 {
        self.chain_nanoseconds() * unit.n as f64
    }

    fn chain_nanoseconds(&self) -> f64 {
        (self.n_steps as f64 + self.pair_work() as f64) * self.step_nanoseconds()
    }

    /// What a step of one chain costs about, from the sizes of the model alone.
    pub fn step_nanoseconds(&self) -> f64 {
        cost::step(&self.run.target.model, &self.arm)
    }

    /// What the discrepancies of one chain cost, in steps.
    pub fn pair_work(&self) -> u64 {
        match &self.recording {
            Recording::Ksd { checkpoints, .. } => {
                let n = checkpoints.last().copied().unwrap_or(0) as f64;
                let pairs = n * n / 2.0 * cost::pair(self.run.target.model.dim());
                (pairs / self.step_nanoseconds()) as u64
            }
            _ => 0,
        }
    }

    /// The name of a unit's file: a hash of all that its result depends on.
    pub fn key(&self, unit: &Unit) -> UnitKey {
        UnitKey::new(&self.description(unit).to_string())
    }

    /// All that the result of a unit depends on.
    fn description(&self, unit: &Unit) -> Value {
        let system = &self.arm.system;
        json!({
            "computation": COMPUTATION,
            "version": env!("CARGO_PKG_VERSION"),
            "model": self.run.target.fingerprint,
            "metric": identity::of_metric(&system.metric),
            "skew": identity::of_skew(&system.skew),
            "beta": identity::of_number(system.beta),
            "step_size": identity::of_step_size(self.arm.step_size),
            "gradient": identity::of_gradient(self.arm.gradient),
            "start": identity::of_start(&self.run.start, unit.first, unit.n),
            "seed": self.run.seed,
            "n_steps": self.n_steps,
            "first_chain": unit.first,
            "n_chains": unit.n,
            "recording": self.recording.identity(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::embedded::{self, Scale};

    /// The averages of a dynamics at the paper's scale.
    fn task(name: &str, dynamics: usize) -> Task {
        let folder = tempfile::tempdir().unwrap();
        let folder = crate::output::Folder::prepare(folder.path(), 0).unwrap();
        let experiment = embedded::experiment(name, Scale::Paper, None).unwrap();
        let path = embedded::put(&folder, &[experiment]).unwrap();
        let run = Arc::new(Run::load(&path[0], None).unwrap());
        Task {
            arm: run.arms[dynamics].clone(),
            n_chains: run.n_chains,
            n_steps: run.n_steps,
            recording: Recording::Averages {
                observables: vec![],
                marks: vec![],
            },
            run,
        }
    }

    #[test]
    fn units_are_cut_by_cost() {
        let sizes = |task: &Task| task.units(0).map(|unit| unit.n).collect::<Vec<_>>();
        // LD with 10 of 400 rows: 0.1 µs and more per step; RM adds a matrix from all rows.
        let (cheap, dear) = (task("logistic-minibatch", 0), task("logistic-minibatch", 1));
        assert_eq!(sizes(&cheap), [64, 36]);
        let lanes = LANES as usize;
        assert_eq!(sizes(&dear)[..2], [lanes, lanes]);
        assert_eq!(sizes(&dear).iter().sum::<usize>(), 100);
        // A chain is never cut, however long.
        assert_eq!(sizes(&task("ica-minibatch", 0))[..2], [lanes, lanes]);
        // Simple steps: a unit of most chains takes about a second.
        assert_eq!(sizes(&task("normal-minibatch", 4))[0], UNIT_CHAINS as usize);
    }

    /// The first unit of everything that a comparison of a run file needs.
    fn descriptions(text: &str) -> Vec<Value> {
        let source = crate::run_file::Source::from_text("run.toml", text);
        let run = Arc::new(Run::from_source(&source, None).unwrap());
        let first = |task: &Task| task.description(&task.units(0).next().unwrap());
        crate::compare::tasks(&run).iter().map(first).collect()
    }

    const SMALL: &str = r#"
        dynamics = [{ name = "own", metric = { diagonal = [1, 2] }, field = "constant" }]
        [target]
        model = "logistic"
        prior_precision = 1.0
        data.values = [[1, 2], [3, 4], [5, 7]]
        data.labels = [1, 0, 1]
        [run]
        n_chains = 2
        n_steps = 30
        step_size = 0.5
        burn_in = 10
        seed = 1
        batch_size = 2
        start = [[0, 1], [2, 3]]
        skew = { kind = "matrix", entries = [[0, 1], [-1, 0]] }
        [measure]
        observables = ["sum", "w[1]"]
        n_batches = 2
        checkpoints_per_decade = 1
        ksd = { n_points = 3, n_chains = 2 }
        trajectories = { n_chains = 2, n_steps = 8, thin = 2 }
    "#;

    /// What a unit is called must not change by accident: finished work would not be found.
    #[test]
    fn descriptions_are_explicit() {
        let found = descriptions(SMALL);
        let one = "3ff0000000000000";
        assert_eq!(found.len(), 3);
        let hash = |numbers: &[f64]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            format!("{} {}", numbers.len(), blake3::hash(&bytes))
        };
        let model = json!({ "name": "logistic", "width": 2, "parts": [
            ["data", hash(&[1.0, 2.0, 3.0, 4.0, 5.0, 7.0])],
            ["labels", hash(&[1.0, 0.0, 1.0])],
            ["prior_precision", hash(&[1.0])],
        ] });
        let expected = json!({
            "computation": 7,
            "version": env!("CARGO_PKG_VERSION"),
            "model": blake3::hash(model.to_string().as_bytes()).to_string(),
            "metric": { "diagonal": hash(&[1.0, 2.0]) },
            "skew": { "constant": [2, 2, hash(&[0.0, -1.0, 1.0, 0.0])] },
            "beta": "3fe0000000000000",
            "step_size": { "constant": "3fe0000000000000" },
            "gradient": { "batch_size": 2, "with_replacement": false },
            "start": { "per_chain": [hash(&[0.0, 1.0]), hash(&[2.0, 3.0])] },
            "seed": 1,
            "n_steps": 30,
            "first_chain": 0,
            "n_chains": 2,
            "recording": { "observables": ["sum", { "coordinate": 1 }], "marks": [1, 10, 20, 30] },
        });
        assert_eq!(found[0], expected);
        assert_eq!(
            found[1]["recording"],
            json!({ "start": 0, "thin": 1, "checkpoints": [1, 2, 3], "c": one,
                    "exponent": "bfe0000000000000" })
        );
        let paths = json!({ "start": 0, "thin": 2, "count": 4 });
        assert_eq!(found[2]["recording"], paths);
    }

    /// Whatever a result depends on is part of its name, to the last bit.
    #[test]
    fn any_change_is_another_unit() {
        let before = descriptions(SMALL)[0].to_string();
        let changes = [
            ("[5, 7]", "[5, 7.000000000000001]"),
            ("labels = [1, 0, 1]", "labels = [1, 1, 1]"),
            (
                "prior_precision = 1.0",
                "prior_precision = 1.0000000000000002",
            ),
            ("diagonal = [1, 2]", "diagonal = [1, 2.0000000000000004]"),
            ("metric = { diagonal = [1, 2] }", "metric = \"natural\""),
            (
                "metric = { diagonal = [1, 2] }",
                "metric = \"natural+identity\"",
            ),
            ("{ diagonal = [1, 2] }", "{ entries = [[1, 0], [0, 2]] }"),
            ("\"constant\"", "\"geometric\""),
            ("[[0, 1], [-1, 0]]", "[[0, 2], [-2, 0]]"),
            ("step_size = 0.5", "step_size = 0.5000000000000001"),
            (
                "step_size = 0.5",
                "step_size = { a = 0.5, b = 1, gamma = 1 }",
            ),
            ("seed = 1", "seed = 2"),
            ("seed = 1", "beta = 0.25\nseed = 1"),
            ("n_steps = 30", "n_steps = 31"),
            ("n_batches = 2", "n_batches = 4"),
            ("\"w[1]\"", "\"w[0]\""),
            ("batch_size = 2", "batch_size = 1"),
            ("batch_size = 2", "batch_size = \"all\""),
            ("batch_size = 2", "batch_size = 2\nwith_replacement = true"),
            ("[2, 3]]", "[2, 4]]"),
            ("[[0, 1], [2, 3]]", "[0, 1]"),
            ("[[0, 1], [2, 3]]", "{ mean = [0, 1], sd = 1 }"),
        ];
        let mut seen = vec![before];
        for (old, new) in changes {
            assert!(SMALL.contains(old), "{old}");
            let after = descriptions(&SMALL.replacen(old, new, 1))[0].to_string();
            assert!(!seen.contains(&after), "{new}");
            seen.push(after);
        }
        // What nothing depends on is not.
        let title = SMALL.replace("dynamics =", "title = \"Another\"\ndynamics =");
        assert_eq!(descriptions(&title)[0].to_string(), seen[0]);
    }

    #[test]
    fn units_do_not_depend_on_the_number_of_chains() {
        let mut few = task("logistic-minibatch", 1);
        few.n_chains = 16;
        let mut more = few.clone();
        more.n_chains = 100;
        let units: Vec<Unit> = more.units(0).collect();
        assert!(few.units(0).zip(units).all(|(a, b)| a == b));
    }
}
