//! Statistics as push-style sinks that see every state and keep little.

mod averages;
mod batches;
mod draws;
mod moments;
mod observable;

pub use averages::{Averages, Marks};
pub use batches::Batches;
pub use draws::Draws;
pub use moments::Moments;
pub use observable::{ManyStates, Observable, OneState};

use crate::real::Lanes;

/// Consecutive states of one group of chains.
pub struct Block<'a, L> {
    /// Number of the first state; the initial state is number 0.
    pub first_step: u64,
    /// Number of coordinates.
    pub dim: usize,
    /// States one after the other, each with `dim` packs.
    pub states: &'a [L],
    /// The step sizes that belong to the states, where they are not all the same.
    pub step_sizes: Option<&'a [f64]>,
}

impl<L> Block<'_, L> {
    /// Number of states.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.states.len() / self.dim
    }

    /// Whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// State `i` of the block.
    #[inline(always)]
    pub fn state(&self, i: usize) -> &[L] {
        &self.states[i * self.dim..(i + 1) * self.dim]
    }
}

/// A statistic of the states of a group of chains.
///
/// The states of a chain that has diverged are NaN from the divergence on, so that nothing made of
/// them can be mistaken for a result.
///
/// ```
/// use langevin::real::Lanes;
/// use langevin::record::{Block, Record};
///
/// /// Counts states.
/// struct Count(u64);
/// impl Record for Count {
///     fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
///         self.0 += block.len() as u64;
///     }
/// }
/// ```
pub trait Record: Send {
    /// Takes the next states. Implementations are `#[inline(always)]` where speed matters.
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>);
}

impl Record for () {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, _block: &Block<'_, L>) {}
}

impl<A: Record> Record for Option<A> {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        if let Some(record) = self {
            record.push(block);
        }
    }
}

impl<A: Record, B: Record> Record for (A, B) {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        self.0.push(block);
        self.1.push(block);
    }
}

impl<A: Record, B: Record, C: Record> Record for (A, B, C) {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        self.0.push(block);
        self.1.push(block);
        self.2.push(block);
    }
}
