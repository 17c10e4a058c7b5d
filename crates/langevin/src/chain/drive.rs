//! Block after block for the chains of one thread, whatever moves them: random numbers, steps, a look
//! at the states, records.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Control;
use super::watch::Watch;
use crate::blocks::TURN;
use crate::pack::Pack;
use crate::real::{Lanes, Work};
use crate::record::{Block, Part, Sink};
use crate::{Failure, RunError};

/// Which steps are taken, and what may stop them.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pub seed: u64,
    pub first: u64,
    pub end: u64,
    /// The step at which the streams of random numbers began.
    pub origin: u64,
    /// Whether the transition has to be started first.
    pub starts: bool,
    pub control: Control<'a>,
    /// Whether every step is told and may be the last: one may take long.
    pub eager: bool,
    /// Set by the team that fails, so that the others stop.
    pub failed: &'a AtomicBool,
}

/// Some steps of a block.
pub(crate) struct Steps {
    /// Number of the block's first step, which begins a turn.
    pub first: u64,
    /// The same in the streams of random numbers.
    pub in_streams: u64,
    /// Steps `from..to` of the block are taken.
    pub from: usize,
    pub to: usize,
}

impl Span<'_> {
    /// The steps of the block that a step is in, from there on.
    fn block(&self, step: u64, block_len: usize) -> Steps {
        let (at, len) = (step - self.origin, block_len as u64);
        let end = self
            .origin
            .saturating_add((at / len + 1).saturating_mul(len))
            .min(self.end);
        let from = at % TURN as u64;
        let first = step - from;
        Steps {
            first,
            in_streams: first - self.origin,
            from: from as usize,
            to: (end - first) as usize,
        }
    }
}

/// What moves the chains of a team.
pub(crate) trait Stepper<L: Lanes> {
    /// Fills in what is carried, before the first step of all.
    fn start(&mut self, packs: &mut [Pack<L>], span: &Span<'_>) -> Result<(), RunError>;

    /// Takes some steps, and keeps the state before each, and its weight where weights differ.
    /// Returns how far it got, and why not further.
    fn steps(
        &mut self,
        packs: &mut [Pack<L>],
        steps: &Steps,
        span: &Span<'_>,
        weights: &mut Weights,
    ) -> Result<(), (usize, Failure)>;

    /// Whether a chain ends where it leaves the finite numbers or the support.
    fn ends_chains(&self) -> bool;
}

/// The weights of the states of a block.
pub(crate) struct Weights {
    pub values: Vec<f64>,
    /// Whether they differ.
    pub differ: bool,
}

/// The record of some consecutive packs.
pub(super) struct Recorded<'a, L: Lanes> {
    pub packs: std::ops::Range<usize>,
    pub sink: &'a mut dyn Sink<L>,
}

/// A team at work.
pub(super) struct Drive<'a, L: Lanes> {
    /// Of each pack.
    pub watches: Vec<Watch>,
    pub records: Vec<Recorded<'a, L>>,
    pub positive: &'a [usize],
    pub block_len: usize,
    pub span: Span<'a>,
}

impl<L: Lanes> Drive<'_, L> {
    /// Takes all steps; returns whether it was stopped before its time.
    pub fn run(
        &mut self,
        stepper: &mut dyn Stepper<L>,
        packs: &mut [Pack<L>],
    ) -> Result<bool, RunError> {
        let span = self.span;
        let mut weights = Weights {
            values: vec![0.0; self.block_len],
            differ: false,
        };
        if span.starts {
            let started = stepper.start(packs, &span);
            started.inspect_err(|_| span.failed.store(true, Ordering::Relaxed))?;
        }
        let mut step = span.first;
        while step < span.end && !self.watches.iter().all(Watch::all_stopped) {
            if span.control.cancelled() || span.failed.load(Ordering::Relaxed) {
                return Ok(true);
            }
            let mut steps = span.block(step, self.block_len);
            let done = stepper.steps(packs, &steps, &span, &mut weights);
            if let Err((reached, failure)) = done {
                // A failure after a request to stop is a way to stop.
                if !span.control.cancelled() {
                    span.failed.store(true, Ordering::Relaxed);
                    return Err(RunError::Call(failure));
                }
                steps.to = reached;
                self.record(stepper, packs, &steps, &weights);
                return Ok(true);
            }
            self.record(stepper, packs, &steps, &weights);
            step = steps.first + steps.to as u64;
        }
        for watch in &mut self.watches {
            watch.report(&span.control, 0, true);
        }
        Ok(false)
    }

    /// Looks over the states of a block and hands them to the records.
    fn record(
        &mut self,
        stepper: &dyn Stepper<L>,
        packs: &mut [Pack<L>],
        steps: &Steps,
        weights: &Weights,
    ) {
        let &Steps { from, to, .. } = steps;
        let first_step = steps.first + from as u64;
        let d = packs[0].theta.len();
        if stepper.ends_chains() {
            L::enter(Inspect {
                packs: &mut *packs,
                watches: &mut self.watches,
                positive: self.positive,
                from,
                to,
                first_step,
            });
        }
        let weights = weights.differ.then_some(&weights.values[from..to]);
        for Recorded { packs: own, sink } in &mut self.records {
            let mut push = |parts: &[Part<'_, L>]| {
                sink.push_block(&Block {
                    first_step,
                    dim: d,
                    len: to - from,
                    weights,
                    parts,
                });
            };
            // (One pack, as a rule: there is no need to allocate for it.)
            match &packs[own.clone()] {
                [pack] => push(&[pack.part(from, to)]),
                packs => push(&packs.iter().map(|p| p.part(from, to)).collect::<Vec<_>>()),
            }
        }
        if !self.span.eager {
            for (pack, watch) in packs.iter().zip(&mut self.watches) {
                let chain_steps = ((to - from) * pack.n_chains) as u64;
                watch.report(&self.span.control, chain_steps, false);
            }
        }
    }
}

/// A look over the states of a block.
struct Inspect<'a, L: Lanes> {
    packs: &'a mut [Pack<L>],
    watches: &'a mut [Watch],
    positive: &'a [usize],
    from: usize,
    to: usize,
    first_step: u64,
}

impl<L: Lanes> Work for Inspect<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (pack, watch) in self.packs.iter_mut().zip(self.watches) {
            let d = pack.theta.len();
            let states = &mut pack.states[self.from * d..self.to * d];
            let theta = &mut pack.theta;
            watch.inspect(states, d, self.positive, self.first_step, theta);
        }
    }
}

impl<L: Lanes> Pack<L> {
    /// States `from..to` of the block, for the record.
    fn part(&self, from: usize, to: usize) -> Part<'_, L> {
        let d = self.theta.len();
        Part {
            lane: self.lane,
            states: &self.states[from * d..to * d],
            reports: self.reports.get(from..to).unwrap_or_default(),
            scores: self.scores.get(from * d..to * d).unwrap_or_default(),
        }
    }
}
