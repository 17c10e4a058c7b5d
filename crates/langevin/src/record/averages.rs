//! Sums of observables between marks: all that running averages and batch means need.

use std::sync::Arc;

use super::{Block, Observable, Record, Shape};
use crate::real::Lanes;
use crate::{Result, check};

/// Numbers of states, in increasing order, at which sums are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks(Arc<[u64]>);

impl Marks {
    /// Sorts the marks and drops duplicates and 0.
    pub fn new(marks: impl IntoIterator<Item = u64>) -> Result<Self> {
        let mut marks: Vec<u64> = marks.into_iter().filter(|m| *m > 0).collect();
        marks.sort_unstable();
        marks.dedup();
        check::at_least("the number of marks", marks.len(), 1)?;
        Ok(Marks(marks.into()))
    }

    /// The marks.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }
}

/// Sums of observables over the states between consecutive marks, for each chain.
///
/// The running average after K states is the sum of all segments up to the mark K, divided by K;
/// batch means are sums of the segments of a batch. With a decreasing schedule, states are
/// weighted by their step sizes, as in Welling and Teh (2011).
#[derive(Clone, Debug)]
pub struct Averages {
    observables: Arc<[Observable]>,
    marks: Marks,
    lanes: usize,
    /// Sums so far of the present segment, [observable][lane].
    open: Vec<f64>,
    /// Closed segments, [segment][observable][lane].
    closed: Vec<f64>,
    /// Total weight of each closed segment, then of the open one.
    weights: Vec<f64>,
    open_weight: f64,
    /// Segments that were closed before this record took over.
    earlier: usize,
}

/// The segment that a record was in when its chains stopped: enough for another to go on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OpenSums {
    /// Number of segments that were complete.
    n_closed: usize,
    /// Sums so far, [observable][lane].
    sums: Vec<f64>,
    weight: f64,
}

impl Averages {
    /// For the given observables and marks.
    pub fn new(observables: Arc<[Observable]>, marks: Marks) -> Self {
        Averages {
            observables,
            marks,
            lanes: 1,
            open: vec![],
            closed: vec![],
            weights: vec![],
            open_weight: 0.0,
            earlier: 0,
        }
    }

    /// The observables.
    pub fn observables(&self) -> &[Observable] {
        &self.observables
    }

    /// The marks.
    pub fn marks(&self) -> &[u64] {
        self.marks.as_slice()
    }

    /// Number of segments that are complete, those of earlier records included.
    pub fn n_closed(&self) -> usize {
        self.earlier + self.weights.len()
    }

    /// The first segment that this record itself has closed, or will.
    pub fn first_closed(&self) -> usize {
        self.earlier
    }

    /// Where another record can go on.
    pub fn open_sums(&self) -> OpenSums {
        OpenSums {
            n_closed: self.n_closed(),
            sums: self.open.clone(),
            weight: self.open_weight,
        }
    }

    /// Goes on where another record of the same chains stopped; to be called before the first states
    /// come. The sums of its segments stay with the other.
    pub fn go_on_from(&mut self, open: OpenSums) -> Result<()> {
        check::size("the sums to go on from", open.sums.len(), self.open.len())?;
        check::at_most("the number of segments", open.n_closed, self.marks().len())?;
        self.earlier = open.n_closed;
        self.open = open.sums;
        self.open_weight = open.weight;
        Ok(())
    }

    /// Sum of an observable over a segment that this record has closed, for the chain in a lane.
    pub fn sum(&self, segment: usize, observable: usize, lane: usize) -> f64 {
        let own = segment - self.earlier;
        self.closed[(own * self.observables.len() + observable) * self.lanes + lane]
    }

    /// Number of states in a segment that this record has closed, or their summed step sizes.
    pub fn weight(&self, segment: usize) -> f64 {
        self.weights[segment - self.earlier]
    }

    /// Averages from the first state of this record to each of its marks, for the chain in a lane.
    pub fn running(&self, observable: usize, lane: usize) -> Vec<f64> {
        let (mut sum, mut weight) = (0.0, 0.0);
        (self.earlier..self.n_closed())
            .map(|segment| {
                sum += self.sum(segment, observable, lane);
                weight += self.weight(segment);
                sum / weight
            })
            .collect()
    }

    /// The average from mark `from` to mark `to` (both must be marks, `from` may be 0); `None`
    /// where the run did not get that far, or an earlier record has the sums.
    pub fn between(&self, from: u64, to: u64, observable: usize, lane: usize) -> Option<f64> {
        let position = |mark| match mark {
            0 => Some(0),
            _ => self.marks().iter().position(|m| *m == mark).map(|i| i + 1),
        };
        let (first, last) = (position(from)?, position(to)?);
        if last > self.n_closed() || first >= last || first < self.earlier {
            return None;
        }
        let (mut sum, mut weight) = (0.0, 0.0);
        for segment in first..last {
            sum += self.sum(segment, observable, lane);
            weight += self.weight(segment);
        }
        Some(sum / weight)
    }
}

impl Record for Averages {
    fn begin(&mut self, shape: &Shape) {
        self.lanes = shape.lanes;
        self.open = vec![0.0; self.observables.len() * shape.lanes];
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let mut from = 0;
        while from < block.len && self.n_closed() < self.marks().len() {
            let mark = self.marks()[self.n_closed()];
            let to = block.len.min((mark - block.first_step) as usize);
            let weights = block.weights.map(|weights| &weights[from..to]);
            let sums = self.open.chunks_exact_mut(self.lanes);
            for (observable, open) in self.observables.iter().zip(sums) {
                for part in block.parts {
                    let mut sum = L::load(&open[part.lane..]);
                    let states = &part.states[from * block.dim..to * block.dim];
                    observable.accumulate(states, block.dim, weights, &mut sum);
                    sum.store(&mut open[part.lane..]);
                }
            }
            match weights {
                None => self.open_weight += (to - from) as f64,
                // One by one: how states are cut into blocks must not change the rounding.
                Some(weights) => weights.iter().for_each(|w| self.open_weight += w),
            }
            if block.first_step + to as u64 == mark {
                self.closed.extend_from_slice(&self.open);
                self.open.fill(0.0);
                self.weights.push(self.open_weight);
                self.open_weight = 0.0;
            }
            from = to;
        }
    }
}
