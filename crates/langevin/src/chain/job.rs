//! The chains of one pack, from their initial states to the end of the run.

use super::plan::Plan;
use super::watch::Watch;
use super::{Control, Divergence, Group};
use crate::chance::Chance;
use crate::integrator::{Integrator, Score, StepSize};
use crate::real::{Kernel, Lanes, MAX_WIDTH};
use crate::record::{Block, Record};
use crate::target::Target;

/// The chains of one pack.
pub(super) struct Job<'a, T, I, R> {
    pub target: &'a T,
    pub integrator: &'a I,
    pub plan: &'a Plan,
    pub control: Control<'a>,
    pub first_chain: u64,
    pub starts: &'a [Vec<f64>],
    pub record: R,
}

/// Bytes of states that a block holds: they stay in the first-level cache until recorded.
const BLOCK_BYTES: usize = 12 * 1024;

/// States of no more coordinates are variables of the kernel, which the compiler can keep in
/// registers.
const SMALL_DIM: usize = 4;

impl<T: Target, I: Integrator, R: Record> Kernel for Job<'_, T, I, R> {
    type Output = (Group<R>, Vec<Divergence>, bool);

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        // The same code twice: once the compiler knows the dimension, once it does not.
        if self.target.dim() == T::COMMON_DIM {
            self.run_chains::<L>(T::COMMON_DIM)
        } else {
            let dim = self.target.dim();
            self.run_chains::<L>(dim)
        }
    }
}

impl<T: Target, I: Integrator, R: Record> Job<'_, T, I, R> {
    #[inline(always)]
    fn run_chains<L: Lanes>(mut self, d: usize) -> (Group<R>, Vec<Divergence>, bool) {
        let plan = self.plan;
        let n_noise = self.integrator.n_noise();
        let len = (BLOCK_BYTES / (d.max(n_noise) * size_of::<L>())).clamp(4, 128);
        let n_data = self.target.n_data();
        let (seed, gradient) = (plan.seed, plan.gradient);
        let mut chance = Chance::<L>::new(seed, self.first_chain, gradient, n_noise, n_data, len)
            .with_sums(self.target.n_sums());
        let block_len = chance.block_len();

        let mut small = [L::zero(); SMALL_DIM];
        let mut large = pack_states::<L>(self.starts);
        let theta = if d <= SMALL_DIM {
            small[..d].copy_from_slice(&large);
            &mut small[..d]
        } else {
            &mut large[..d]
        };
        let mut states = vec![L::zero(); block_len * d];
        let mut sizes = vec![0.0; block_len];
        let mut scratch = vec![L::zero(); self.integrator.scratch_len()];
        let mut target_scratch = vec![L::zero(); self.target.scratch_len()];
        let mut watch = Watch::new(self.starts.len());

        let varying = matches!(plan.step_size, StepSize::Decreasing { .. });
        let mut step = 0;
        let mut cancelled = false;
        while step < plan.n_steps && !watch.all_stopped() {
            if self.control.cancelled() {
                cancelled = true;
                break;
            }
            let n = (plan.n_steps - step).min(block_len as u64) as usize;
            chance.fill();
            chance.fill_sums(self.target);
            if varying || step == 0 {
                for (i, h) in sizes.iter_mut().enumerate() {
                    *h = plan.step_size.at(step + i as u64);
                }
            }
            // (By plain indices: with zipped iterators the compiler does not keep the state in
            // registers, and a lone chain waits for memory at each step.)
            for i in 0..n {
                for c in 0..d {
                    states[i * d + c] = theta[c];
                }
                let mut score = TargetScore {
                    target: self.target,
                    chance: &chance,
                    step: i,
                    scratch: &mut target_scratch,
                };
                self.integrator
                    .step(theta, &mut score, sizes[i], chance.noise(i), &mut scratch);
            }
            let positive = self.target.positive_coordinates();
            watch.inspect(&mut states[..n * d], d, positive, step, theta);
            self.record.push(&Block {
                first_step: step,
                dim: d,
                states: &states[..n * d],
                step_sizes: varying.then_some(&sizes[..n]),
            });
            step += n as u64;
            watch.report(&self.control, n as u64 * self.starts.len() as u64, false);
        }
        watch.report(&self.control, 0, true);
        let divergences = watch.divergences(self.first_chain);
        let group = Group {
            first_chain: self.first_chain,
            n_chains: self.starts.len(),
            record: self.record,
        };
        (group, divergences, cancelled)
    }
}

/// The score of a target: from the sums or the rows of a minibatch, or from all data where there is
/// none. (A struct and not a closure, because only functions can be marked to be inlined.)
struct TargetScore<'a, T, L: Lanes> {
    target: &'a T,
    chance: &'a Chance<L>,
    /// Number of the step in its block.
    step: usize,
    scratch: &'a mut [L],
}

impl<T: Target, L: Lanes> Score<L> for TargetScore<'_, T, L> {
    #[inline(always)]
    fn score(&mut self, theta: &[L], out: &mut [L]) {
        if self.chance.has_sums() {
            let sums = self.chance.sums(self.step);
            self.target.score_from_sums(theta, sums, out);
        } else if self.chance.batch_size() == 0 {
            self.target.score(theta, self.scratch, out);
        } else {
            let rows = self.chance.rows(self.step);
            self.target.minibatch_score(theta, rows, self.scratch, out);
        }
    }
}

/// States of chains in lanes; spare lanes repeat the last chain.
pub(crate) fn pack_states<L: Lanes>(states: &[Vec<f64>]) -> Vec<L> {
    let mut lanes = [0.0; MAX_WIDTH];
    (0..states[0].len())
        .map(|i| {
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = states[lane.min(states.len() - 1)][i];
            }
            L::load(&lanes)
        })
        .collect()
}
