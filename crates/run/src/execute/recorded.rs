//! What all units of a task recorded, chain by chain.

use super::task::{Task, Unit};
use super::unit::UnitResult;

/// What one chain recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Its number.
    pub number: u64,
    /// Its first bad state, if it escaped.
    pub escaped: Option<u64>,
    /// Sums of each segment between marks, one list for each observable.
    pub sums: Vec<Vec<f64>>,
    /// States one after the other.
    pub states: Vec<f64>,
    /// Discrepancies.
    pub ksd: Vec<f64>,
}

/// What a task recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// All chains in order.
    pub chains: Vec<Chain>,
    /// Time of one thread that the steps took.
    pub seconds: f64,
    /// Time of one thread that the units took, discrepancies included.
    pub unit_seconds: f64,
    /// Number of steps of all chains.
    pub chain_steps: u64,
}

impl Recorded {
    /// For a task of which nothing is done yet.
    pub fn new(task: &Task) -> Self {
        let averages = task.recording.averages.as_ref();
        let n_observables = averages.map_or(0, |a| a.observables.len());
        let chain = |number| Chain {
            number,
            sums: vec![vec![]; n_observables],
            ..Chain::default()
        };
        Recorded {
            chains: (0..task.n_chains as u64).map(chain).collect(),
            ..Recorded::default()
        }
    }

    /// Adds a unit; units of the same chains come in the order of their steps.
    pub fn add(&mut self, unit: &Unit, result: UnitResult) {
        for (number, step) in result.escapes {
            self.chains[number as usize].escaped = Some(step);
        }
        let chains = &mut self.chains[unit.first as usize..];
        for (chain, values) in chains.iter_mut().zip(result.chains) {
            let n = chain.sums.len().max(1);
            for (i, sum) in values.sums.into_iter().enumerate() {
                chain.sums[i % n].push(sum);
            }
            chain.states.extend(values.states);
            chain.ksd.extend(values.ksd);
        }
        self.seconds += result.seconds;
        self.unit_seconds += result.unit_seconds;
        self.chain_steps += unit.chain_steps();
    }

    /// Sums that chains did not reach are NaN, up to the number of marks.
    pub fn fill_up(&mut self, n_marks: usize) {
        for sums in self.chains.iter_mut().flat_map(|chain| &mut chain.sums) {
            sums.resize(n_marks, f64::NAN);
        }
    }

    /// The chains that did not escape.
    pub fn healthy(&self) -> impl Iterator<Item = &Chain> {
        self.chains.iter().filter(|chain| chain.escaped.is_none())
    }

    /// The chains that escaped, and their first bad states.
    pub fn escapes(&self) -> Vec<(u64, u64)> {
        let escaped = |chain: &Chain| Some((chain.number, chain.escaped?));
        self.chains.iter().filter_map(escaped).collect()
    }

    /// Number of chains that escaped.
    pub fn n_escaped(&self) -> usize {
        self.chains.len() - self.healthy().count()
    }

    /// Seconds of one thread per step of one chain.
    pub fn seconds_per_step(&self) -> f64 {
        self.seconds / self.chain_steps as f64
    }
}
