//! The stages of any transition between evaluations by any oracle, for all chains of a thread at once.
//! Compiled for each transition and width; oracles are behind a pointer, as a rule.

use super::drive::{Span, Stepper, Steps, Weights};
use crate::oracle::{Ask, Evaluate};
use crate::pack::Pack;
use crate::real::{Lanes, Work};
use crate::rng::{Rng, Stream, initial_state};
use crate::transition::{Needs, Next, StateScore, StepKey, Transition};
use crate::{Error, Failure, RunError};

/// A transition and the oracle that answers it.
pub(super) struct Lockstep<'a, X, E: ?Sized, L: Lanes> {
    transition: &'a X,
    oracle: &'a E,
    scratch: Vec<L>,
    worker: usize,
}

impl<'a, X, E: ?Sized, L: Lanes> Lockstep<'a, X, E, L> {
    /// `scratch_len` is what the oracle needs.
    pub fn new(transition: &'a X, oracle: &'a E, scratch_len: usize, worker: usize) -> Self {
        Lockstep {
            transition,
            oracle,
            scratch: vec![L::zero(); scratch_len],
            worker,
        }
    }
}

impl<X: Transition, E: Evaluate<L> + ?Sized, L: Lanes> Stepper<L> for Lockstep<'_, X, E, L> {
    fn start(&mut self, packs: &mut [Pack<L>], span: &Span<'_>) -> Result<(), RunError> {
        L::enter(Start {
            team: self,
            packs,
            span,
        })
    }

    fn steps(
        &mut self,
        packs: &mut [Pack<L>],
        steps: &Steps,
        span: &Span<'_>,
        weights: &mut Weights,
    ) -> Result<(), (usize, Failure)> {
        for pack in packs.iter_mut() {
            pack.draw(steps.in_streams, steps.to);
        }
        L::enter(Walk {
            team: self,
            packs,
            steps,
            span,
            weights,
        })
    }

    fn ends_chains(&self) -> bool {
        self.transition.needs() == Needs::Score
    }
}

impl<X: Transition, E: Evaluate<L> + ?Sized, L: Lanes> Lockstep<'_, X, E, L> {
    #[inline(always)]
    fn ask(&self, step: u64, stage: usize, in_block: usize) -> Ask {
        Ask {
            step,
            stage,
            log_density: self.transition.needs() == Needs::Density,
            worker: self.worker,
            in_block,
        }
    }

    /// Step `i` of the block.
    #[inline(always)]
    fn step(
        &mut self,
        packs: &mut [Pack<L>],
        i: usize,
        step: u64,
        shared: &X::Shared,
    ) -> Result<(), Failure> {
        let state_score = self.transition.state_score();
        let mut next = Next::Done;
        for pack in packs.iter_mut() {
            pack.keep(i);
            if let StateScore::Carried(from) = state_score {
                pack.keep_carried_score(i, from);
            }
            next = self.transition.begin(shared, &mut pack.state(i));
        }
        let mut stage = 0;
        while next == Next::Evaluate {
            let ask = self.ask(step, stage, i);
            self.oracle.evaluate(ask, packs, &mut self.scratch)?;
            for pack in packs.iter_mut() {
                if stage == 0 && state_score == StateScore::FirstEvaluation {
                    pack.keep_score(i);
                }
                next = self.transition.resume(stage, shared, &mut pack.state(i));
            }
            stage += 1;
        }
        Ok(())
    }
}

/// Steps of a block.
struct Walk<'a, 'b, X, E: ?Sized, L: Lanes> {
    team: &'a mut Lockstep<'b, X, E, L>,
    packs: &'a mut [Pack<L>],
    steps: &'a Steps,
    span: &'a Span<'a>,
    weights: &'a mut Weights,
}

impl<X: Transition, E: Evaluate<L> + ?Sized, L: Lanes> Work for Walk<'_, '_, X, E, L> {
    type Output = Result<(), (usize, Failure)>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let control = &self.span.control;
        for i in self.steps.from..self.steps.to {
            if self.span.eager && control.cancelled() {
                return Err((i, "cancelled".into()));
            }
            let key = StepKey {
                step: self.steps.first + i as u64,
                seed: self.span.seed,
            };
            let shared = self.team.transition.shared(key);
            if let Some(weight) = self.team.transition.weight(&shared) {
                self.weights.values[i] = weight;
                self.weights.differ = true;
            }
            let done = self.team.step(self.packs, i, key.step, &shared);
            done.map_err(|failure| (i, failure))?;
            if let (true, Some(progress)) = (self.span.eager, control.progress) {
                progress(self.packs.iter().map(|pack| pack.n_chains as u64).sum());
            }
        }
        Ok(())
    }
}

/// What comes before the first step.
struct Start<'a, 'b, X, E: ?Sized, L: Lanes> {
    team: &'a mut Lockstep<'b, X, E, L>,
    packs: &'a mut [Pack<L>],
    span: &'a Span<'a>,
}

impl<X: Transition, E: Evaluate<L> + ?Sized, L: Lanes> Work for Start<'_, '_, X, E, L> {
    type Output = Result<(), RunError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let (team, span) = (self.team, self.span);
        if team.transition.starts_with_evaluation() {
            let ask = team.ask(span.first, 0, 0);
            let done = team.oracle.evaluate(ask, self.packs, &mut team.scratch);
            done.map_err(RunError::Call)?;
        }
        let mut normals = vec![L::zero(); team.transition.sizes().normals];
        for pack in self.packs.iter_mut() {
            if team.transition.needs() == Needs::Density {
                pack.check_start()?;
            }
            let state = |lane: usize| {
                let chain = pack.first_chain + lane as u64;
                initial_state(span.seed, chain, Stream::Begin, span.origin)
            };
            let states: Vec<[u64; 4]> = (0..pack.n_chains).map(state).collect();
            Rng::from_states(&states).fill_normals(&mut normals);
            let mut z = pack.state(0);
            z.normals = &normals;
            team.transition.start(&mut z);
        }
        Ok(())
    }
}

impl<L: Lanes> Pack<L> {
    /// Refuses chains that start where π has no mass.
    fn check_start(&self) -> Result<(), RunError> {
        let values = (0..self.n_chains).map(|lane| self.log_density.lane(lane));
        for (chain, log_density) in (self.first_chain..).zip(values) {
            if !log_density.is_finite() {
                return Err(Error::StartsOutside { chain, log_density }.into());
            }
        }
        Ok(())
    }
}
