//! Statistics as push-style sinks that see every state and keep little.

mod averages;
mod draws;
mod moments;
mod observable;
mod on_scale;

pub use averages::{Averages, Marks, OpenSums};
pub use draws::{Draws, Told};
pub use moments::Moments;
pub use observable::{ManyStates, Observable, OneState};
pub use on_scale::OnScale;

use crate::real::{Lanes, Work};
use crate::transition::Report;

/// The chains of one record. They are the same for as long as the record goes on, whatever the width
/// of packs and the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shape {
    /// Number of the first chain.
    pub first_chain: u64,
    /// Number of chains.
    pub n_chains: usize,
    /// Number of lanes to keep numbers for: that of the chains, rounded up so that packs of any width
    /// fit. Chain `i` of the record has lane `i`.
    pub lanes: usize,
    /// Number of coordinates.
    pub dim: usize,
}

/// Consecutive states of the chains of a record.
pub struct Block<'a, L> {
    /// Number of the first state; the initial state is number 0.
    pub first_step: u64,
    /// Number of coordinates.
    pub dim: usize,
    /// Number of states.
    pub len: usize,
    /// The weights of the states in averages over time, where they are not all the same.
    pub weights: Option<&'a [f64]>,
    /// The chains, some in each part.
    pub parts: &'a [Part<'a, L>],
}

/// What a block holds of the chains of one pack.
pub struct Part<'a, L> {
    /// Lane of the record that the first chain has.
    pub lane: usize,
    /// States one after the other, each with `dim` packs.
    pub states: &'a [L],
    /// What the transition told about each state, if it tells anything.
    pub reports: &'a [Report<L>],
    /// The score at each state, if some record has asked for it.
    pub scores: &'a [L],
}

/// A statistic of the states of some chains.
///
/// The states of a chain that has left the finite numbers or the support are NaN from there on, so
/// that nothing made of them can be mistaken for a result.
///
/// ```
/// use langevin::real::Lanes;
/// use langevin::record::{Block, Record};
///
/// /// Counts states.
/// struct Count(usize);
/// impl Record for Count {
///     fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
///         self.0 += block.len;
///     }
/// }
/// ```
pub trait Record: Send {
    /// Told once, before the first states, which chains they are of.
    fn begin(&mut self, shape: &Shape) {
        let _ = shape;
    }

    /// Whether the scores at the states are wanted.
    fn wants_scores(&self) -> bool {
        false
    }

    /// Takes the next states. Implementations are `#[inline(always)]` where speed matters.
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>);
}

impl Record for () {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, _block: &Block<'_, L>) {}
}

impl<A: Record> Record for Option<A> {
    fn begin(&mut self, shape: &Shape) {
        if let Some(record) = self {
            record.begin(shape);
        }
    }

    fn wants_scores(&self) -> bool {
        self.as_ref().is_some_and(A::wants_scores)
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        if let Some(record) = self {
            record.push(block);
        }
    }
}

/// Several records of the same states.
macro_rules! records {
    ($($type:ident $place:tt),+) => {
        impl<$($type: Record),+> Record for ($($type,)+) {
            fn begin(&mut self, shape: &Shape) {
                $(self.$place.begin(shape);)+
            }

            fn wants_scores(&self) -> bool {
                false $(|| self.$place.wants_scores())+
            }

            #[inline(always)]
            fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
                $(self.$place.push(block);)+
            }
        }
    };
}
records!(A 0, B 1);
records!(A 0, B 1, C 2);

/// A record behind a pointer, for packs of one width.
pub(crate) trait Sink<L: Lanes> {
    /// Takes the next states.
    fn push_block(&mut self, block: &Block<'_, L>);
}

impl<L: Lanes, R: Record> Sink<L> for R {
    fn push_block(&mut self, block: &Block<'_, L>) {
        L::enter(Push {
            record: self,
            block,
        });
    }
}

struct Push<'a, 'b, R, L> {
    record: &'a mut R,
    block: &'a Block<'b, L>,
}

impl<R: Record, L: Lanes> Work for Push<'_, '_, R, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.record.push(self.block);
    }
}
