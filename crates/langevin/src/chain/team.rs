//! The chains of one thread, for packs of any width. What is compiled for each combination of oracle,
//! transition, record and width is hardly more than pointers; the rest is compiled for each width.

use super::drive::{Drive, Recorded, Span, Stepper};
use super::lockstep::Lockstep;
use super::records::Group;
use super::watch::Watch;
use crate::RunError;
use crate::blocks::{ROUND, TURN};
use crate::oracle::{Evaluate, Inlined, Oracle};
use crate::pack::{ChainState, Layout, Pack};
use crate::real::{Kernel, Lanes};
use crate::record::{Record, Sink};
use crate::transition::Transition;

/// What all teams have to do.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub layout: Layout,
    pub positive: &'a [usize],
    /// Whether each evaluation is a call of foreign code.
    pub foreign: bool,
    pub span: Span<'a>,
}

/// The chains of a team afterwards, and whether it was stopped.
pub(super) type TeamDone = Result<(Vec<ChainState>, bool), RunError>;

/// What is done with a stepper and its packs.
pub(crate) type Then<'a, L> = dyn FnMut(&mut dyn Stepper<L>, &mut [Pack<L>]) + 'a;

/// Chooses what moves the packs of a team.
pub(crate) trait Mover: Sync {
    /// Makes a stepper for packs of type `L`, and hands it on.
    fn with<L: Lanes>(&self, worker: usize, packs: &mut [Pack<L>], then: &mut Then<'_, L>);
}

/// The same for packs of one width, behind a pointer.
trait MovePacks<L: Lanes> {
    fn with_packs(&self, worker: usize, packs: &mut [Pack<L>], then: &mut Then<'_, L>);
}

impl<V: Mover, L: Lanes> MovePacks<L> for V {
    fn with_packs(&self, worker: usize, packs: &mut [Pack<L>], then: &mut Then<'_, L>) {
        self.with(worker, packs, then);
    }
}

/// Any transition and any oracle.
pub(crate) struct Any<'a, O, X> {
    pub oracle: &'a O,
    pub transition: &'a X,
}

impl<O: Oracle, X: Transition> Mover for Any<'_, O, X> {
    fn with<L: Lanes>(&self, worker: usize, packs: &mut [Pack<L>], then: &mut Then<'_, L>) {
        let oracle: &dyn Evaluate<L> = self.oracle;
        then(
            &mut Lockstep::new(self.transition, oracle, self.oracle.scratch_len(), worker),
            packs,
        );
    }
}

/// The same, with the oracle compiled into the loop over steps for a chain that is alone.
pub(crate) struct Direct<'a, O, X>(pub Any<'a, O, X>);

impl<O: Oracle, X: Transition> Mover for Direct<'_, O, X> {
    fn with<L: Lanes>(&self, worker: usize, packs: &mut [Pack<L>], then: &mut Then<'_, L>) {
        if const { L::WIDTH > 1 } {
            return self.0.with(worker, packs, then);
        }
        let Any { oracle, transition } = self.0;
        let inlined = Inlined(oracle);
        then(
            &mut Lockstep::new(transition, &inlined, oracle.scratch_len(), worker),
            packs,
        );
    }
}

/// The records of a team, for packs of one width.
trait Sinks<L: Lanes> {
    /// Number of groups.
    fn len(&self) -> usize;
    /// First chain and number of chains of a group.
    fn chains(&self, group: usize) -> (u64, usize);
    /// All records.
    fn all(&mut self) -> Vec<&mut dyn Sink<L>>;
}

struct GroupsOf<'a, R>(&'a mut [Group<R>]);

impl<R: Record, L: Lanes> Sinks<L> for GroupsOf<'_, R> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn chains(&self, group: usize) -> (u64, usize) {
        (self.0[group].first_chain, self.0[group].n_chains)
    }

    fn all(&mut self) -> Vec<&mut dyn Sink<L>> {
        let sink = |group| -> &mut dyn Sink<L> {
            let group: &mut Group<R> = group;
            &mut group.record
        };
        self.0.iter_mut().map(sink).collect()
    }
}

/// A team, for packs of any width.
pub(super) struct TeamKernel<'a, V, R> {
    pub mover: &'a V,
    pub task: Task<'a>,
    pub worker: usize,
    pub groups: &'a mut [Group<R>],
    pub chains: &'a [ChainState],
}

impl<V: Mover, R: Record> Kernel for TeamKernel<'_, V, R> {
    type Output = TeamDone;

    fn run<L: Lanes>(self) -> TeamDone {
        let mover: &dyn MovePacks<L> = self.mover;
        let mut groups = GroupsOf(self.groups);
        run_team(mover, self.task, self.worker, &mut groups, self.chains)
    }
}

/// A team in packs of one width.
fn run_team<L: Lanes>(
    mover: &dyn MovePacks<L>,
    task: Task<'_>,
    worker: usize,
    groups: &mut dyn Sinks<L>,
    chains: &[ChainState],
) -> TeamDone {
    let Task { mut layout, .. } = task;
    layout.block_len = block_len::<L>(&layout, chains.len(), task.foreign);
    let (mut packs, ranges) = packs_of(&layout, groups, chains);
    let records = ranges.into_iter().zip(groups.all());
    let records = records.map(|(packs, sink)| Recorded { packs, sink });
    let watch = |own: &[ChainState]| Watch::new(own.iter().map(|chain| chain.ended).collect());
    let mut drive = Drive {
        watches: packs_in(chains, &packs).map(watch).collect(),
        records: records.collect(),
        positive: task.positive,
        block_len: layout.block_len,
        span: task.span,
    };
    let mut done = Ok(false);
    mover.with_packs(worker, &mut packs, &mut |stepper, packs| {
        done = drive.run(stepper, packs);
    });
    let mut chains = chains.to_vec();
    let mut rest = chains.as_mut_slice();
    for (pack, watch) in packs.into_iter().zip(&drive.watches) {
        let (own, others) = rest.split_at_mut(pack.n_chains);
        pack.finish(own);
        for (lane, chain) in own.iter_mut().enumerate() {
            chain.ended = watch.ended(lane);
        }
        rest = others;
    }
    Ok((chains, done?))
}

/// Bytes of states that a block holds: they stay in the first-level cache until recorded.
const BLOCK_BYTES: usize = 12 * 1024;
/// The same for all chains of a thread, where each step is a call of foreign code.
const TEAM_BYTES: usize = 512 * 1024;
/// Most steps in a block, for chains in lanes and for a chain that is alone.
const LONGEST: usize = 128;
const LONGEST_ALONE: usize = 512;

/// Steps in a block: turns, or rounds for a chain that is alone.
fn block_len<L: Lanes>(layout: &Layout, n_chains: usize, foreign: bool) -> usize {
    let numbers = layout.dim.max(layout.sizes.normals) * size_of::<f64>();
    let len = match foreign {
        false => BLOCK_BYTES / (numbers * L::WIDTH),
        true => TEAM_BYTES / (numbers * n_chains),
    };
    match L::WIDTH {
        1 if n_chains == 1 => len.clamp(ROUND, LONGEST_ALONE) / ROUND * ROUND,
        _ => (1 << len.clamp(1, LONGEST).ilog2()).max(TURN),
    }
}

/// The chains of all groups in packs, and which packs are of which group.
fn packs_of<L: Lanes>(
    layout: &Layout,
    groups: &dyn Sinks<L>,
    mut chains: &[ChainState],
) -> (Vec<Pack<L>>, Vec<std::ops::Range<usize>>) {
    let (mut packs, mut ranges) = (vec![], vec![]);
    for group in 0..groups.len() {
        let (first_chain, n) = groups.chains(group);
        let (own, rest) = chains.split_at(n);
        chains = rest;
        let first = packs.len();
        for (i, some) in own.chunks(L::WIDTH).enumerate() {
            let lane = i * L::WIDTH;
            packs.push(Pack::new(layout, first_chain + lane as u64, lane, some));
        }
        ranges.push(first..packs.len());
    }
    (packs, ranges)
}

/// The chains of each pack.
fn packs_in<'a, L: Lanes>(
    mut chains: &'a [ChainState],
    packs: &[Pack<L>],
) -> impl Iterator<Item = &'a [ChainState]> {
    packs.iter().map(move |pack| {
        let (own, rest) = chains.split_at(pack.n_chains);
        chains = rest;
        own
    })
}
