//! What all units of a task recorded, chain by chain.

use super::task::Unit;
use super::unit::UnitResult;

/// What one chain recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Its number.
    pub number: u64,
    /// Its first bad state, if it escaped.
    pub escaped: Option<u64>,
    /// Sums `[observable][segment]`, states one after the other, or discrepancies.
    pub values: Vec<f64>,
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
    pub(super) fn add(&mut self, unit: &Unit, n_steps: u64, result: UnitResult) {
        let escaped = |number| {
            let found = result.escapes.iter().find(|(chain, _)| *chain == number);
            found.map(|(_, step)| *step)
        };
        for (i, values) in result.chains.into_iter().enumerate() {
            let number = unit.first + i as u64;
            self.chains.push(Chain {
                number,
                escaped: escaped(number),
                values,
            });
        }
        self.seconds += result.seconds;
        self.unit_seconds += result.unit_seconds;
        let steps = n_steps.saturating_mul(unit.n as u64);
        self.chain_steps = self.chain_steps.saturating_add(steps);
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
