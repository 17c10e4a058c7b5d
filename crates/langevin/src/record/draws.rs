//! States themselves, thinned, for diagnostics, trajectories, discrepancies or the disk.

use super::{Block, Record};
use crate::real::Lanes;

/// Every `thin`-th state from number `start` on, at most `limit` of them.
#[derive(Clone, Debug)]
pub struct Draws {
    start: u64,
    thin: u64,
    limit: usize,
    width: usize,
    dim: usize,
    /// [draw][coordinate][lane]
    states: Vec<f64>,
}

impl Draws {
    /// Keeps states `start`, `start + thin`, … (a `thin` of 0 counts as 1).
    pub fn new(start: u64, thin: u64, limit: usize) -> Self {
        Draws {
            start,
            thin: thin.max(1),
            limit,
            width: 0,
            dim: 0,
            states: vec![],
        }
    }

    /// Number of draws so far.
    pub fn len(&self) -> usize {
        match self.width {
            0 => 0,
            _ => self.states.len() / (self.dim * self.width),
        }
    }

    /// Whether there are no draws yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The draws of the chain in a lane, one state after the other.
    pub fn chain(&self, lane: usize) -> Vec<f64> {
        self.states
            .iter()
            .skip(lane)
            .step_by(self.width.max(1))
            .copied()
            .collect()
    }
}

impl Record for Draws {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        self.width = L::WIDTH;
        self.dim = block.dim;
        let end = block.first_step + block.len() as u64;
        let mut next = self.start + self.len() as u64 * self.thin;
        while next < end && self.len() < self.limit {
            if next >= block.first_step {
                for pack in block.state((next - block.first_step) as usize) {
                    let at = self.states.len();
                    self.states.resize(at + L::WIDTH, 0.0);
                    pack.store(&mut self.states[at..]);
                }
            }
            next += self.thin;
        }
    }
}
