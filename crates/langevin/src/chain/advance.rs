//! Chains over threads: who computes which, and nothing of what comes out.

use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::drive::Span;
use super::records::{Group, Records};
use super::team::{Any, Mover, Task, TeamDone, TeamKernel};
use super::{Chains, Control, Escape};
use crate::oracle::Oracle;
use crate::pack::ChainState;
use crate::real::Isa;
use crate::record::Record;
use crate::transition::{Moves, Transition};
use crate::{Error, RunError, check};

/// How chains are run; results do not depend on it.
#[derive(Clone, Copy, Default)]
pub struct How<'a> {
    /// Number of threads; those of the present pool if not set. An oracle with workers of its own
    /// has a thread for each of them instead.
    pub threads: Option<usize>,
    /// Instruction set; the best there is if not set.
    pub isa: Option<Isa>,
    /// How the run is watched and stopped.
    pub control: Control<'a>,
}

/// How a call of [`Chains::advance`] ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advanced {
    /// All steps were taken.
    Done,
    /// It was asked to stop. The chains are as they were before; the records hold what was done, and
    /// these chains have escaped meanwhile or before.
    Cancelled(Vec<Escape>),
}

impl Chains {
    /// Goes on by `n_steps` steps and records the states from the present one on.
    ///
    /// With another transition than before, what is carried is filled in first. If this fails or is
    /// cancelled, the chains are as they were.
    pub fn advance<O: Oracle, X: Transition, R: Record>(
        &mut self,
        oracle: &O,
        transition: &X,
        n_steps: u64,
        records: &mut Records<R>,
        how: &How<'_>,
    ) -> Result<Advanced, RunError> {
        let mover = Any { oracle, transition };
        self.advance_by(oracle, Moves::of(transition), n_steps, records, how, &mover)
    }

    /// The same with a choice of what moves the packs.
    pub(crate) fn advance_by<R: Record>(
        &mut self,
        oracle: &dyn Oracle,
        moves: Moves,
        n_steps: u64,
        records: &mut Records<R>,
        how: &How<'_>,
        mover: &impl Mover,
    ) -> Result<Advanced, RunError> {
        let starts = self.prepare(oracle, &moves)?;
        self.check_records(&records.chains_of_groups())?;
        let scores = records.groups.iter().any(|g| g.record.wants_scores());
        let failed = AtomicBool::new(false);
        let now = self.parts();
        let task = Task {
            layout: self.layout(oracle, &moves, scores),
            positive: oracle.positive_coordinates(),
            foreign: oracle.workers().is_some(),
            span: Span {
                seed: now.seed,
                first: now.step,
                end: now.step.saturating_add(n_steps),
                origin: now.origin,
                starts,
                control: how.control,
                eager: oracle.workers().is_some(),
                failed: &failed,
            },
        };
        let isa = how.isa.unwrap_or_else(Isa::detect).min(Isa::detect());
        let run = |team: Team<'_, R>| {
            let largest = team.groups.iter().map(|group| group.n_chains).max();
            let width = isa.fitting_width(largest.unwrap_or(1));
            let kernel = TeamKernel {
                mover,
                task,
                worker: team.worker,
                groups: team.groups,
                chains: team.chains,
            };
            isa.run(width, kernel)
        };
        let teams = teams(&now.chains, &mut records.groups, oracle.workers());
        let done = over_threads(teams, oracle.workers().is_some(), how.threads, &run)?;
        self.take_over(done, n_steps)
    }

    /// The chains as their teams left them.
    fn take_over(&mut self, done: Vec<TeamDone>, n_steps: u64) -> Result<Advanced, RunError> {
        let mut chains = Vec::with_capacity(self.n_chains());
        let mut cancelled = false;
        for part in done {
            let (part, stopped) = part?;
            chains.extend(part);
            cancelled |= stopped;
        }
        if cancelled {
            let ended = (self.first_chain()..).zip(&chains);
            let escapes = ended.filter_map(|(chain, state)| {
                let step = state.ended?;
                Some(Escape { chain, step })
            });
            return Ok(Advanced::Cancelled(escapes.collect()));
        }
        let now = self.parts_mut();
        now.chains = chains;
        now.step = now.step.saturating_add(n_steps);
        if let Some(moved) = &mut now.transition {
            moved.started = true;
        }
        Ok(Advanced::Done)
    }

    /// Refuses records of other chains: (first chain, number of chains) of each group.
    fn check_records(&self, groups: &[(u64, usize)]) -> Result<(), Error> {
        let mut next = self.first_chain();
        for &(first_chain, n_chains) in groups {
            if first_chain != next {
                break;
            }
            next += n_chains as u64;
        }
        let end = self.first_chain() + self.n_chains() as u64;
        match next == end {
            true => Ok(()),
            false => Err(Error::Mismatch {
                name: "the records",
                reason: format!("they are of chains to {next}, but there are chains to {end}"),
            }),
        }
    }
}

/// The chains of one thread.
struct Team<'a, R> {
    worker: usize,
    groups: &'a mut [Group<R>],
    chains: &'a [ChainState],
}

/// A team for each group, or for each worker of the oracle.
fn teams<'a, R>(
    mut chains: &'a [ChainState],
    groups: &'a mut [Group<R>],
    workers: Option<usize>,
) -> Vec<Team<'a, R>> {
    let each = workers.map_or(1, |w| groups.len().div_ceil(w.max(1)));
    let parts = groups.chunks_mut(each).enumerate();
    parts
        .map(|(worker, groups)| {
            let n = groups.iter().map(|group| group.n_chains).sum();
            let (own, rest) = chains.split_at(n);
            chains = rest;
            Team {
                worker,
                groups,
                chains: own,
            }
        })
        .collect()
}

/// Runs all teams: each in a thread of its own where they have workers (a single one stays in the
/// calling thread), else as the pool has threads.
fn over_threads<R: Send>(
    teams: Vec<Team<'_, R>>,
    own_threads: bool,
    threads: Option<usize>,
    run: &(dyn Fn(Team<'_, R>) -> TeamDone + Sync),
) -> Result<Vec<TeamDone>, Error> {
    if own_threads || teams.len() == 1 {
        let mut teams = teams.into_iter();
        let first = teams.next();
        return Ok(std::thread::scope(|scope| {
            let others: Vec<_> = teams.map(|team| scope.spawn(move || run(team))).collect();
            let first = first.map(run);
            let others = others
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e)));
            first.into_iter().chain(others).collect()
        }));
    }
    let all = || teams.into_par_iter().map(run).collect();
    let Some(threads) = threads else {
        return Ok(all());
    };
    check::at_least("the number of threads", threads, 1)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Threads {
        threads,
        reason: e.to_string(),
    })?;
    Ok(pool.install(all))
}
