//! Mean and variance of every coordinate.

use super::{Block, Record, Shape};
use crate::real::Lanes;

/// Mean and variance of each coordinate of each chain, from state number `start` on.
///
/// Sums are taken of the difference to the first state counted, so that few digits are lost when
/// the mean is far from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    start: u64,
    lanes: usize,
    count: u64,
    /// [coordinate][lane]
    origin: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Moments {
    /// Counts states from number `start` on.
    pub fn new(start: u64) -> Self {
        Moments {
            start,
            lanes: 1,
            count: 0,
            origin: vec![],
            first: vec![],
            second: vec![],
        }
    }

    /// Number of states counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Mean of a coordinate of the chain in a lane.
    pub fn mean(&self, coordinate: usize, lane: usize) -> f64 {
        let at = coordinate * self.lanes + lane;
        self.origin[at] + self.first[at] / self.count as f64
    }

    /// Variance of a coordinate of the chain in a lane, with divisor count − 1.
    pub fn variance(&self, coordinate: usize, lane: usize) -> f64 {
        let at = coordinate * self.lanes + lane;
        let n = self.count as f64;
        (self.second[at] - self.first[at] * self.first[at] / n) / (n - 1.0)
    }
}

impl Record for Moments {
    fn begin(&mut self, shape: &Shape) {
        self.lanes = shape.lanes;
        let size = shape.dim * shape.lanes;
        self.origin = vec![0.0; size];
        self.first = vec![0.0; size];
        self.second = vec![0.0; size];
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let skip = self.start.saturating_sub(block.first_step);
        if skip >= block.len as u64 {
            return;
        }
        let skip = skip as usize;
        let begins = self.count == 0;
        self.count += (block.len - skip) as u64;
        for part in block.parts {
            let states = &part.states[skip * block.dim..];
            for i in 0..block.dim {
                let at = i * self.lanes + part.lane;
                if begins {
                    states[i].store(&mut self.origin[at..]);
                }
                let origin = L::load(&self.origin[at..]);
                let mut first = L::load(&self.first[at..]);
                let mut second = L::load(&self.second[at..]);
                for state in states.chunks_exact(block.dim) {
                    let x = state[i] - origin;
                    first += x;
                    second = x.mul_add(x, second);
                }
                first.store(&mut self.first[at..]);
                second.store(&mut self.second[at..]);
            }
        }
    }
}
