//! Where log π and its score come from: all data, minibatches, or foreign code.
//!
//! An oracle is one file. It answers for all packs of chains that it is shown at once, which are those
//! of one thread. The rows of a minibatch belong to a step: every evaluation within a step sees the
//! same rows, whether the target is native or foreign, and the next step draws others.

mod at_states;
mod exact;
mod minibatch;

pub use crate::pack::{Batches, Query};
pub(crate) use at_states::evaluate_together;
pub use at_states::{log_densities_at, scores_at};
pub use exact::Exact;
pub use minibatch::Minibatch;

use crate::pack::Pack;
use crate::real::{Lanes, Work};
use crate::target::{Gaussian, check_state};
use crate::{Failure, RunError};

/// Answers "log π and score at these points".
///
/// ```
/// use langevin::Failure;
/// use langevin::oracle::{Call, Oracle};
/// use langevin::real::Lanes;
///
/// /// N(0, I), and a count of nothing.
/// struct Standard(usize);
/// impl Oracle for Standard {
///     fn dim(&self) -> usize {
///         self.0
///     }
///     fn has_log_density(&self) -> bool {
///         true
///     }
///     #[inline(always)]
///     fn evaluate<L: Lanes>(&self, mut call: Call<'_, L>) -> Result<(), Failure> {
///         while let Some(query) = call.next() {
///             let mut square = L::zero();
///             for (s, x) in query.score.iter_mut().zip(query.theta) {
///                 square = x.mul_add(*x, square);
///                 *s = -*x;
///             }
///             *query.log_density = square * -0.5;
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Oracle: Sync {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Whether it can give log π, not the score alone.
    fn has_log_density(&self) -> bool;

    /// Coordinates that must stay above 0.
    fn positive_coordinates(&self) -> &[usize] {
        &[]
    }

    /// Refuses initial states from which chains cannot start; `first_chain` is the number of the
    /// first.
    fn check_starts(&self, first_chain: u64, starts: &[Vec<f64>]) -> Result<(), RunError> {
        let _ = first_chain;
        for theta in distinct(starts) {
            check_state(theta, self.dim(), self.positive_coordinates())?;
        }
        Ok(())
    }

    /// Mean and precision where the target is exactly Gaussian.
    fn gaussian(&self) -> Option<Gaussian> {
        None
    }

    /// The minibatches that it wants; none where all data count.
    fn batches(&self) -> Option<Batches> {
        None
    }

    /// Numbers that it remembers of each chain from one evaluation to the next: 0 at first, and part
    /// of a snapshot.
    fn memory_len(&self) -> usize {
        0
    }

    /// Scratch entries.
    fn scratch_len(&self) -> usize {
        0
    }

    /// Numbers that it gives beyond log π and score.
    fn given_len(&self) -> usize {
        0
    }

    /// The number of threads that it can answer in; none where there is no limit, and then chains of
    /// different packs need not wait for each other.
    fn workers(&self) -> Option<usize> {
        None
    }

    /// Evaluates at the points of every query of the call.
    fn evaluate<L: Lanes>(&self, call: Call<'_, L>) -> Result<(), Failure>
    where
        Self: Sized;
}

/// States one after the other; of those that repeat the one before, the first.
pub(crate) fn distinct(states: &[Vec<f64>]) -> impl Iterator<Item = &Vec<f64>> {
    let new = |(i, state): &(usize, &Vec<f64>)| *i == 0 || states[i - 1] != **state;
    states
        .iter()
        .enumerate()
        .filter(new)
        .map(|(_, state)| state)
}

/// One evaluation, for all chains of a thread.
pub struct Call<'a, L: Lanes> {
    /// Number of the step.
    pub step: u64,
    /// Number of the evaluation within the step, from 0.
    pub stage: usize,
    /// Whether log π is wanted, too.
    pub log_density: bool,
    /// Which of its [workers](Oracle::workers) answers.
    pub worker: usize,
    packs: &'a mut [Pack<L>],
    scratch: &'a mut [L],
    /// Number of the step in its block.
    in_block: usize,
    next: usize,
}

impl<L: Lanes> Call<'_, L> {
    /// The next query.
    #[inline(always)]
    #[allow(clippy::should_implement_trait)] // a query borrows from the call
    pub fn next(&mut self) -> Option<Query<'_, L>> {
        let pack = self.packs.get_mut(self.next)?;
        self.next += 1;
        Some(pack.query(self.in_block, self.scratch))
    }

    /// Begins with the first query again.
    pub fn rewind(&mut self) {
        self.next = 0;
    }
}

/// An oracle for packs of one width, behind a pointer: transitions are compiled apart from targets.
pub(crate) trait Evaluate<L: Lanes>: Sync {
    /// Evaluates at the states of all packs.
    fn evaluate(&self, ask: Ask, packs: &mut [Pack<L>], scratch: &mut [L]) -> Result<(), Failure>;
}

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub step: u64,
    pub stage: usize,
    pub log_density: bool,
    pub worker: usize,
    pub in_block: usize,
}

impl<L: Lanes, O: Oracle> Evaluate<L> for O {
    fn evaluate(&self, ask: Ask, packs: &mut [Pack<L>], scratch: &mut [L]) -> Result<(), Failure> {
        L::enter(Answer {
            oracle: self,
            ask,
            packs,
            scratch,
        })
    }
}

/// An oracle that is compiled into the loop over steps, where a call would count.
pub(crate) struct Inlined<'a, O>(pub &'a O);

impl<L: Lanes, O: Oracle> Evaluate<L> for Inlined<'_, O> {
    #[inline(always)]
    fn evaluate(&self, ask: Ask, packs: &mut [Pack<L>], scratch: &mut [L]) -> Result<(), Failure> {
        Answer {
            oracle: self.0,
            ask,
            packs,
            scratch,
        }
        .run()
    }
}

struct Answer<'a, O, L: Lanes> {
    oracle: &'a O,
    ask: Ask,
    packs: &'a mut [Pack<L>],
    scratch: &'a mut [L],
}

impl<O: Oracle, L: Lanes> Work for Answer<'_, O, L> {
    type Output = Result<(), Failure>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let ask = self.ask;
        self.oracle.evaluate(Call {
            step: ask.step,
            stage: ask.stage,
            log_density: ask.log_density,
            worker: ask.worker,
            packs: &mut *self.packs,
            scratch: self.scratch,
            in_block: ask.in_block,
            next: 0,
        })?;
        if ask.log_density {
            let positive = self.oracle.positive_coordinates();
            for pack in self.packs {
                pack.close_support(positive);
            }
        }
        Ok(())
    }
}
