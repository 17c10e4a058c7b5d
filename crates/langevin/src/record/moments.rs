//! Mean and variance of every coordinate.

use super::{Block, Record};
use crate::real::Lanes;

/// Mean and variance of each coordinate of each chain, from state number `start` on.
///
/// Sums are taken of the difference to the first state counted, so that few digits are lost when
/// the mean is far from 0.
#[derive(Clone, Debug)]
pub struct Moments {
    start: u64,
    width: usize,
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
            width: 0,
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
        let at = coordinate * self.width + lane;
        self.origin[at] + self.first[at] / self.count as f64
    }

    /// Variance of a coordinate of the chain in a lane, with divisor count − 1.
    pub fn variance(&self, coordinate: usize, lane: usize) -> f64 {
        let at = coordinate * self.width + lane;
        let n = self.count as f64;
        (self.second[at] - self.first[at] * self.first[at] / n) / (n - 1.0)
    }
}

impl Record for Moments {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let skip = self.start.saturating_sub(block.first_step);
        if skip >= block.len() as u64 {
            return;
        }
        let skip = skip as usize;
        let size = block.dim * L::WIDTH;
        if self.width == 0 {
            self.width = L::WIDTH;
            self.origin = vec![0.0; size];
            for (pack, out) in block
                .state(skip)
                .iter()
                .zip(self.origin.chunks_exact_mut(L::WIDTH))
            {
                pack.store(out);
            }
            self.first = vec![0.0; size];
            self.second = vec![0.0; size];
        }
        self.count += (block.len() - skip) as u64;
        for i in 0..block.dim {
            let at = i * L::WIDTH;
            let origin = L::load(&self.origin[at..]);
            let mut first = L::load(&self.first[at..]);
            let mut second = L::load(&self.second[at..]);
            for state in block.states[skip * block.dim..].chunks_exact(block.dim) {
                let x = state[i] - origin;
                first += x;
                second = x.mul_add(x, second);
            }
            first.store(&mut self.first[at..]);
            second.store(&mut self.second[at..]);
        }
    }
}
