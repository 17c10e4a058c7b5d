//! States themselves, thinned, for diagnostics, trajectories, discrepancies or the disk.

use super::{Block, Part, Record, Shape};
use crate::real::Lanes;

/// Every `thin`-th state from number `start` on, at most `limit` of them.
///
/// ```
/// use langevin::record::Draws;
/// let draws = Draws::new(1000, 10, usize::MAX).with_reports();
/// assert!(draws.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    start: u64,
    thin: u64,
    limit: usize,
    shape: Option<Shape>,
    /// Number of the first draw that is held, of all that were kept.
    first: usize,
    len: usize,
    /// [draw][coordinate][lane]
    states: Vec<f64>,
    /// The same, where scores are kept.
    scores: Option<Vec<f64>>,
    /// [draw][quantity][lane], where reports are kept.
    reports: Option<Vec<f64>>,
}

/// What a transition tells about a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// log π.
    pub log_density: f64,
    /// Probability with which it was accepted.
    pub acceptance: f64,
    /// Error of the energy of the step that led to it.
    pub energy_error: f64,
}

/// Numbers of a report.
const REPORT: usize = 3;

impl Draws {
    /// Keeps states `start`, `start + thin`, … (a `thin` of 0 counts as 1).
    pub fn new(start: u64, thin: u64, limit: usize) -> Self {
        Draws {
            start,
            thin: thin.max(1),
            limit,
            shape: None,
            first: 0,
            len: 0,
            states: vec![],
            scores: None,
            reports: None,
        }
    }

    /// Keeps what the transition tells about the states, too.
    pub fn with_reports(mut self) -> Self {
        self.reports = Some(vec![]);
        self
    }

    /// Keeps the scores at the states, too.
    pub fn with_scores(mut self) -> Self {
        self.scores = Some(vec![]);
        self
    }

    /// Goes on where `n` draws were kept before.
    pub fn after(mut self, n: usize) -> Self {
        self.first = n;
        self
    }

    /// Number of draws that are held.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no draws yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of the first draw that is held, of all that were kept.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Forgets the draws that are held, so that memory does not grow with their number.
    pub fn clear(&mut self) {
        self.first += self.len;
        self.len = 0;
        self.states.clear();
        self.scores.iter_mut().for_each(Vec::clear);
        self.reports.iter_mut().for_each(Vec::clear);
    }

    fn lanes(&self) -> usize {
        self.shape.map_or(1, |shape| shape.lanes)
    }

    fn lane(&self, numbers: &[f64], lane: usize) -> Vec<f64> {
        let lanes = self.lanes();
        numbers.iter().skip(lane).step_by(lanes).copied().collect()
    }

    /// The draws of the chain in a lane, one state after the other.
    pub fn chain(&self, lane: usize) -> Vec<f64> {
        self.lane(&self.states, lane)
    }

    /// The scores at the draws of the chain in a lane, if they are kept.
    pub fn scores(&self, lane: usize) -> Option<Vec<f64>> {
        Some(self.lane(self.scores.as_ref()?, lane))
    }

    /// What was told about the draws of the chain in a lane, if that is kept.
    pub fn reports(&self, lane: usize) -> Option<Vec<Told>> {
        let numbers = self.lane(self.reports.as_ref()?, lane);
        let told = |x: &[f64]| Told {
            log_density: x[0],
            acceptance: x[1],
            energy_error: x[2],
        };
        Some(numbers.chunks_exact(REPORT).map(told).collect())
    }

    /// Keeps what part `part` of the block has of its state `i`; the draw's place is there already.
    #[inline(always)]
    fn keep<L: Lanes>(&mut self, part: &Part<'_, L>, i: usize, dim: usize) {
        let lanes = self.lanes();
        let (draw, lane) = (self.len - 1, part.lane);
        let states = &mut self.states[draw * dim * lanes..];
        store(&part.states[i * dim..(i + 1) * dim], lane, lanes, states);
        if let Some(scores) = &mut self.scores {
            let scores = &mut scores[draw * dim * lanes..];
            if let Some(score) = part.scores.get(i * dim..(i + 1) * dim) {
                store(score, lane, lanes, scores);
            }
        }
        if let (Some(reports), Some(report)) = (&mut self.reports, part.reports.get(i)) {
            let numbers = [report.log_density, report.acceptance, report.energy_error];
            store(&numbers, lane, lanes, &mut reports[draw * REPORT * lanes..]);
        }
    }
}

/// Stores packs `lanes` numbers apart, from `lane` on.
#[inline(always)]
fn store<L: Lanes>(packs: &[L], lane: usize, lanes: usize, out: &mut [f64]) {
    for (pack, out) in packs.iter().zip(out.chunks_exact_mut(lanes)) {
        pack.store(&mut out[lane..]);
    }
}

impl Record for Draws {
    fn begin(&mut self, shape: &Shape) {
        self.shape = Some(*shape);
    }

    fn wants_scores(&self) -> bool {
        self.scores.is_some()
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let (dim, lanes) = (block.dim, self.lanes());
        let end = block.first_step + block.len as u64;
        // The first draw in this block, or beyond it.
        let before = block.first_step.saturating_sub(self.start);
        let mut next = self
            .start
            .saturating_add(before.div_ceil(self.thin) * self.thin);
        while next < end && self.first + self.len < self.limit {
            self.len += 1;
            self.states.resize(self.len * dim * lanes, f64::NAN);
            if let Some(scores) = &mut self.scores {
                scores.resize(self.len * dim * lanes, f64::NAN);
            }
            if let Some(reports) = &mut self.reports {
                reports.resize(self.len * REPORT * lanes, f64::NAN);
            }
            for part in block.parts {
                self.keep(part, (next - block.first_step) as usize, dim);
            }
            next += self.thin;
        }
    }
}
