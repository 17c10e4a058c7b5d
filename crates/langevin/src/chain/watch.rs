//! Escapes and progress of the chains of one pack.

use std::sync::atomic::Ordering;

use super::Control;
use crate::real::{Lanes, MAX_WIDTH};

/// Chain-steps between two calls of the progress function.
const PROGRESS_STEPS: u64 = 1 << 16;

/// Keeps an eye on escapes and on progress.
pub(crate) struct Watch {
    /// First bad state of each chain.
    stopped: Vec<Option<u64>>,
    unreported: u64,
    counted: u64,
}

impl Watch {
    /// For chains some of which may have escaped already.
    pub(crate) fn new(stopped: Vec<Option<u64>>) -> Self {
        Watch {
            counted: stopped.iter().flatten().count() as u64,
            stopped,
            unreported: 0,
        }
    }

    pub(crate) fn all_stopped(&self) -> bool {
        self.stopped.iter().all(Option::is_some)
    }

    /// The first bad state of the chain in a lane.
    pub(crate) fn ended(&self, lane: usize) -> Option<u64> {
        self.stopped[lane]
    }

    pub(crate) fn report(&mut self, control: &Control<'_>, steps: u64, last: bool) {
        self.unreported += steps;
        if let Some(escapes) = control.escapes {
            let stopped = self.stopped.iter().flatten().count() as u64;
            escapes.fetch_add(stopped - self.counted, Ordering::Relaxed);
            self.counted = stopped;
        }
        if let Some(progress) = control.progress
            && (last || self.unreported >= PROGRESS_STEPS)
        {
            progress(self.unreported);
            self.unreported = 0;
        }
    }

    /// Looks for states that are not finite or not in the support. A quick look at the whole
    /// block settles the usual case.
    #[inline(always)]
    pub(crate) fn inspect<L: Lanes>(
        &mut self,
        states: &mut [L],
        d: usize,
        positive: &[usize],
        first_step: u64,
        theta: &mut [L],
    ) {
        if !self.all_good(states, d, positive) {
            // On a copy, so that the state itself can stay in registers.
            let mut last = theta.to_vec();
            self.stop_bad_chains(states, d, positive, first_step, &mut last);
            theta.copy_from_slice(&last);
        }
    }

    #[inline(always)]
    fn all_good<L: Lanes>(&self, states: &[L], d: usize, positive: &[usize]) -> bool {
        // x·0 is NaN for every x that is not finite, and NaN stays in the sum.
        let mut zeros = [L::zero(); 8];
        let mut eights = states.chunks_exact(8);
        for eight in &mut eights {
            for i in 0..8 {
                zeros[i] = eight[i].mul_add(L::zero(), zeros[i]);
            }
        }
        for (x, zero) in eights.remainder().iter().zip(&mut zeros) {
            *zero = x.mul_add(L::zero(), *zero);
        }
        let mut zero = zeros[0];
        for other in &zeros[1..] {
            zero += *other;
        }
        let mut good = zero.all_finite() || self.only_stopped_are_bad(zero);
        for &i in positive {
            let mut smallest = L::of(f64::INFINITY);
            for state in states.chunks_exact(d) {
                smallest = L::if_less(state[i], smallest, state[i], smallest);
            }
            good &= smallest.all_positive();
        }
        good
    }

    /// A stopped chain is NaN for ever, and spare lanes do not matter.
    fn only_stopped_are_bad<L: Lanes>(&self, zero: L) -> bool {
        let mut lanes = [0.0; MAX_WIDTH];
        zero.store(&mut lanes);
        let mut chains = self.stopped.iter().zip(lanes);
        chains.all(|(stopped, zero)| stopped.is_some() || zero == 0.0)
    }

    /// Finds the first bad state of each chain and makes everything from there on NaN.
    #[inline(never)]
    fn stop_bad_chains<L: Lanes>(
        &mut self,
        states: &mut [L],
        d: usize,
        positive: &[usize],
        first_step: u64,
        theta: &mut [L],
    ) {
        let mut lanes = vec![0.0; d * MAX_WIDTH];
        let mut poison = [false; MAX_WIDTH];
        for (lane, stopped) in self.stopped.iter().enumerate() {
            poison[lane] = stopped.is_some();
        }
        for (i, state) in states.chunks_exact_mut(d).enumerate() {
            for (pack, lanes) in state.iter().zip(lanes.chunks_exact_mut(MAX_WIDTH)) {
                pack.store(lanes);
            }
            for (lane, stopped) in self.stopped.iter_mut().enumerate() {
                let value = |c: usize| lanes[c * MAX_WIDTH + lane];
                let bad = (0..d).any(|c| !value(c).is_finite())
                    || positive.iter().any(|c| value(*c) <= 0.0);
                if bad && stopped.is_none() {
                    *stopped = Some(first_step + i as u64);
                    poison[lane] = true;
                }
            }
            poison_lanes(state, &poison);
        }
        poison_lanes(theta, &poison);
    }
}

/// Overwrites the given lanes by NaN.
fn poison_lanes<L: Lanes>(packs: &mut [L], poison: &[bool; MAX_WIDTH]) {
    let mut lanes = [0.0; MAX_WIDTH];
    for pack in packs {
        pack.store(&mut lanes);
        for (value, poison) in lanes.iter_mut().zip(poison) {
            if *poison {
                *value = f64::NAN;
            }
        }
        *pack = L::load(&lanes);
    }
}
