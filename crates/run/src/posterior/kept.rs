//! Draws that are kept, with their scores and what was told about them.

use langevin::chain::Records;
use langevin::record::Draws;
use serde::{Deserialize, Serialize};

/// Every k-th state of all chains in free coordinates, chain by chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    dim: usize,
    /// k.
    thin: u64,
    n_steps: u64,
    chains: Vec<Chain>,
}

/// Those of one chain, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Chain {
    states: Vec<f64>,
    scores: Vec<f64>,
    log_density: Vec<f64>,
    acceptance: Vec<f64>,
    energy_error: Vec<f64>,
}

impl Chain {
    fn append(&mut self, more: Chain) {
        self.states.extend(more.states);
        self.scores.extend(more.scores);
        self.log_density.extend(more.log_density);
        self.acceptance.extend(more.acceptance);
        self.energy_error.extend(more.energy_error);
    }
}

impl Kept {
    /// None yet.
    pub fn new(n_chains: usize, dim: usize) -> Self {
        Kept {
            dim,
            thin: 1,
            n_steps: 0,
            chains: vec![Chain::default(); n_chains],
        }
    }

    /// None yet, of the same chains, as far apart.
    pub fn like(other: &Kept) -> Self {
        Kept {
            thin: other.thin,
            ..Self::new(other.chains.len(), other.dim)
        }
    }

    /// Every k-th of its draws.
    pub fn every(&self, k: usize) -> Self {
        if k <= 1 {
            return self.clone();
        }
        let rows = |values: &[f64], width: usize| -> Vec<f64> {
            values
                .chunks_exact(width)
                .step_by(k)
                .flatten()
                .copied()
                .collect()
        };
        let chain = |c: &Chain| Chain {
            states: rows(&c.states, self.dim),
            scores: rows(&c.scores, self.dim),
            log_density: rows(&c.log_density, 1),
            acceptance: rows(&c.acceptance, 1),
            energy_error: rows(&c.energy_error, 1),
        };
        Kept {
            dim: self.dim,
            thin: self.thin * k as u64,
            n_steps: self.n_steps,
            chains: self.chains.iter().map(chain).collect(),
        }
    }

    /// Number of chains.
    pub fn n_chains(&self) -> usize {
        self.chains.len()
    }

    /// Number of free coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of draws of each chain.
    pub fn n_draws(&self) -> usize {
        self.chains.first().map_or(0, |c| c.log_density.len())
    }

    /// Number of steps that they are spread over.
    pub fn n_steps(&self) -> u64 {
        self.n_steps
    }

    /// Distance between them in steps.
    pub fn thin(&self) -> u64 {
        self.thin
    }

    /// States of all chains, in the order chain, draw, coordinate.
    pub fn states(&self) -> Vec<f64> {
        self.joined(|c| &c.states)
    }

    /// Scores, in the same order.
    pub fn scores(&self) -> Vec<f64> {
        self.joined(|c| &c.scores)
    }

    /// log π of the draws.
    pub fn log_density(&self) -> Vec<f64> {
        self.joined(|c| &c.log_density)
    }

    /// Probability with which each was accepted.
    pub fn acceptance(&self) -> Vec<f64> {
        self.joined(|c| &c.acceptance)
    }

    /// Error of the energy of the step that led to each.
    pub fn energy_error(&self) -> Vec<f64> {
        self.joined(|c| &c.energy_error)
    }

    fn joined(&self, part: impl Fn(&Chain) -> &Vec<f64>) -> Vec<f64> {
        self.chains
            .iter()
            .flat_map(|c| part(c).iter().copied())
            .collect()
    }

    /// Chooses the distance between draws for a run of this length, before its first draw.
    pub(super) fn reserve(&mut self, n_steps: u64, most: usize) {
        let numbers = (2 * self.dim * self.chains.len()) as u128 * u128::from(n_steps);
        self.thin = numbers.div_ceil(most as u128).max(1) as u64;
    }

    /// Keeps every second draw until there are no more numbers than `most`.
    pub(super) fn thin_to(&mut self, most: usize) {
        while 2 * self.dim * self.chains.len() * self.n_draws() > most {
            *self = self.every(2);
        }
    }

    /// Adds what was recorded in some steps.
    pub(super) fn push(&mut self, records: &Records<Draws>, n_steps: u64) {
        for (chain, (_, draws, lane)) in self.chains.iter_mut().zip(records.chains()) {
            let told = draws.reports(lane).unwrap_or_default();
            chain.append(Chain {
                states: draws.chain(lane),
                scores: draws.scores(lane).unwrap_or_default(),
                log_density: told.iter().map(|t| t.log_density).collect(),
                acceptance: told.iter().map(|t| t.acceptance).collect(),
                energy_error: told.iter().map(|t| t.energy_error).collect(),
            });
        }
        self.n_steps += n_steps;
    }

    /// Adds draws that came later.
    pub(super) fn append(&mut self, later: Kept) {
        for (chain, more) in self.chains.iter_mut().zip(later.chains) {
            chain.append(more);
        }
        self.n_steps += later.n_steps;
    }
}
