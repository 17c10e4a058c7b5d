//! Records of constrained states, made while chains move freely.

use std::sync::Arc;

use super::{Block, Part, Record, Shape};
use crate::real::Lanes;
use crate::scale::Layout;

/// A record that sees x = f(u) where the chains are at u: moments, averages of observables and draws
/// are then those of x. Scores are not passed on, since they are those of u.
///
/// ```
/// use std::sync::Arc;
/// use langevin::chain::{Control, Plan, Start, run};
/// use langevin::dynamics::Dynamics;
/// use langevin::models::NormalParameters;
/// use langevin::oracle::Exact;
/// use langevin::record::{Draws, OnScale};
///
/// let target = NormalParameters::new(vec![1.0, 2.0, 4.0])?.free()?;
/// let layout = Arc::new(target.layout().clone());
/// let plan = Plan::new(10, 0.1).start(Start::Fixed(layout.free_state(&[2.0, 1.5])?));
/// let record = || OnScale::new(layout.clone(), Draws::new(0, 1, usize::MAX));
/// let outcome = run(&Exact::new(&target), &Dynamics::ld(2), &plan, record, Control::default())?;
/// let (_, record, lane) = outcome.healthy().next().unwrap();
/// let draws = record.record().chain(lane);
/// assert!(draws[0] == 2.0 && (draws[1] - 1.5).abs() < 1e-15);
/// # Ok::<(), langevin::RunError>(())
/// ```
#[derive(Clone, Debug)]
pub struct OnScale<R> {
    layout: Arc<Layout>,
    record: R,
}

impl<R> OnScale<R> {
    /// The record of the constrained states of a layout.
    pub fn new(layout: Arc<Layout>, record: R) -> Self {
        OnScale { layout, record }
    }

    /// What was recorded.
    pub fn record(&self) -> &R {
        &self.record
    }

    /// What was recorded, to be changed between two calls of [`Chains::advance`](crate::chain::Chains::advance).
    pub fn record_mut(&mut self) -> &mut R {
        &mut self.record
    }

    /// What was recorded.
    pub fn into_record(self) -> R {
        self.record
    }
}

impl<R: Record> Record for OnScale<R> {
    fn begin(&mut self, shape: &Shape) {
        self.record.begin(&Shape {
            dim: self.layout.size(),
            ..*shape
        });
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let (d, size) = (self.layout.free_size(), self.layout.size());
        let per_part = block.len * size;
        let mut slopes = vec![L::zero(); d];
        let mut states = vec![L::zero(); per_part * block.parts.len()];
        for (part, xs) in block.parts.iter().zip(states.chunks_exact_mut(per_part)) {
            for (u, x) in part.states.chunks_exact(d).zip(xs.chunks_exact_mut(size)) {
                self.layout.constrain(u, &mut slopes, x);
            }
        }
        let parts = block.parts.iter().zip(states.chunks_exact(per_part));
        let parts: Vec<_> = parts
            .map(|(part, states)| Part {
                lane: part.lane,
                states,
                reports: part.reports,
                scores: &[],
            })
            .collect();
        self.record.push(&Block {
            first_step: block.first_step,
            dim: size,
            len: block.len,
            weights: block.weights,
            parts: &parts,
        });
    }
}
