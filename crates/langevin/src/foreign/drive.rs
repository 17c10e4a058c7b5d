//! Steps all chains of a worker together.

use std::sync::atomic::{AtomicBool, Ordering};

use super::given::Divergences;
use super::{Failure, Worker};
use crate::chain::{Control, Divergence, Group, Plan, Watch, pack_states};
use crate::chance::Chance;
use crate::dynamics::Dynamics;
use crate::integrator::{EulerMaruyama, Integrator, Score, StepSize};
use crate::metric::Metric;
use crate::real::{BitLanes, Kernel, Lanes, MAX_WIDTH};
use crate::record::{Block, Record};
use crate::skew::{Skew, SkewMatrix};

/// What all workers of a run share.
pub(super) struct Lockstep<'a, M, F> {
    pub dynamics: &'a Dynamics<M>,
    pub plan: &'a Plan,
    pub control: Control<'a>,
    pub record: &'a F,
    /// Set by the worker that fails, so that the others stop.
    pub failed: AtomicBool,
}

/// What one worker did.
pub(super) struct Part<R> {
    pub groups: Vec<Group<R>>,
    pub divergences: Vec<Divergence>,
    pub cancelled: bool,
}

/// The chains of one worker.
pub(super) struct Job<'a, M, F> {
    shared: &'a Lockstep<'a, M, F>,
    worker: Worker<'a>,
    first_chain: u64,
    starts: &'a [Vec<f64>],
}

impl<'a, M, F> Lockstep<'a, M, F> {
    pub(super) fn part<'b>(
        &'b self,
        worker: Worker<'b>,
        first_chain: u64,
        starts: &'b [Vec<f64>],
    ) -> Job<'b, M, F>
    where
        'a: 'b,
    {
        Job {
            shared: self,
            worker,
            first_chain,
            starts,
        }
    }
}

/// Bytes of states of all chains that a block holds.
const BLOCK_BYTES: usize = 512 * 1024;

impl<M: Metric, R: Record, F: Fn() -> R + Sync> Kernel for Job<'_, M, F> {
    type Output = Result<Part<R>, Failure>;

    #[inline(always)]
    fn run<L: Lanes>(mut self) -> Self::Output {
        let Lockstep { plan, control, .. } = *self.shared;
        let integrator = EulerMaruyama::new(self.shared.dynamics);
        let d = self.worker.target.dim();
        let bytes = self.starts.len() * d.max(integrator.n_noise()) * size_of::<f64>();
        let mut packs = self.packs::<L, M, R>(&integrator, (BLOCK_BYTES / bytes).max(2));
        let block_len = packs[0].chance.block_len();
        let mut calls = Calls::new(&mut self.worker, self.starts, &packs);
        let mut scratch = vec![L::zero(); integrator.scratch_len()];
        let skew = match self.shared.dynamics.skew() {
            Skew::Geometric(j) => Some(j),
            _ => None,
        };
        let mut cancelled = false;
        let mut step = 0;
        while step < plan.n_steps && !packs.iter().all(|p| p.watch.all_stopped()) {
            if control.cancelled() || self.shared.failed.load(Ordering::Relaxed) {
                cancelled = true;
                break;
            }
            let n = (plan.n_steps - step).min(block_len as u64) as usize;
            for pack in &mut packs {
                pack.chance.fill();
            }
            let mut done = n;
            for i in 0..n {
                for pack in &mut packs {
                    pack.keep(i);
                    pack.write_rows(&mut calls.thetas);
                }
                if let Err(failure) = calls.evaluate(&packs, i, skew) {
                    if !control.cancelled() {
                        self.shared.failed.store(true, Ordering::Relaxed);
                        return Err(failure);
                    }
                    done = i;
                    cancelled = true;
                    break;
                }
                let h = plan.step_size.at(step + i as u64);
                for pack in &mut packs {
                    calls.read_rows(pack, &integrator, &mut scratch);
                    let xi = pack.chance.noise(i);
                    let mut score = Ready(&pack.score);
                    integrator.step(&mut pack.theta, &mut score, h, xi, &mut scratch);
                }
            }
            let sizes: Vec<f64> = (0..done as u64)
                .map(|i| plan.step_size.at(step + i))
                .collect();
            let varying = matches!(plan.step_size, StepSize::Decreasing { .. });
            for pack in &mut packs {
                let positive = calls.worker.target.positive_coordinates();
                let states = &mut pack.states[..done * d];
                pack.watch
                    .inspect(states, d, positive, step, &mut pack.theta);
                pack.record.push(&Block {
                    first_step: step,
                    dim: d,
                    states,
                    step_sizes: varying.then_some(&sizes),
                });
                let chain_steps = (done * pack.n_chains) as u64;
                pack.watch.report(&control, chain_steps, true);
            }
            step += n as u64;
            if cancelled {
                break;
            }
        }
        let divergences = packs
            .iter()
            .flat_map(|p| p.watch.divergences(self.first_chain + p.first as u64));
        Ok(Part {
            divergences: divergences.collect(),
            cancelled,
            groups: packs
                .into_iter()
                .map(|p| Group {
                    first_chain: self.first_chain + p.first as u64,
                    n_chains: p.n_chains,
                    record: p.record,
                })
                .collect(),
        })
    }
}

impl<M: Metric, F> Job<'_, M, F> {
    fn packs<L: Lanes, N: Metric, R: Record>(
        &self,
        integrator: &EulerMaruyama<'_, N>,
        block_len: usize,
    ) -> Vec<Pack<L, R>>
    where
        F: Fn() -> R,
    {
        let plan = self.shared.plan;
        let n_noise = integrator.n_noise();
        let n_data = self.worker.target.n_data();
        let chunks = self.starts.chunks(L::WIDTH).enumerate();
        chunks
            .map(|(i, starts)| {
                let first = i * L::WIDTH;
                let chain = self.first_chain + first as u64;
                let theta = pack_states::<L>(starts);
                let (seed, gradient) = (plan.seed, plan.gradient);
                let chance = Chance::new(seed, chain, gradient, n_noise, n_data, block_len);
                Pack {
                    first,
                    n_chains: starts.len(),
                    score: vec![L::zero(); theta.len()],
                    states: vec![L::zero(); chance.block_len() * theta.len()],
                    chance,
                    watch: Watch::new(starts.len()),
                    record: (self.shared.record)(),
                    theta,
                }
            })
            .collect()
    }
}

/// As many chains as there are lanes.
struct Pack<L: Lanes, R> {
    /// Row of the chain in lane 0.
    first: usize,
    n_chains: usize,
    theta: Vec<L>,
    score: Vec<L>,
    states: Vec<L>,
    chance: Chance<L>,
    watch: Watch,
    record: R,
}

impl<L: Lanes, R> Pack<L, R> {
    /// Keeps the present state as number `i` of the block.
    #[inline(always)]
    fn keep(&mut self, i: usize) {
        let d = self.theta.len();
        self.states[i * d..(i + 1) * d].copy_from_slice(&self.theta);
    }

    /// Writes the states of its chains as rows.
    #[inline(always)]
    fn write_rows(&self, thetas: &mut [f64]) {
        let d = self.theta.len();
        let rows = &mut thetas[self.first * d..(self.first + self.n_chains) * d];
        let mut lanes = [0.0; MAX_WIDTH];
        for (i, pack) in self.theta.iter().enumerate() {
            pack.store(&mut lanes);
            for (row, value) in rows.chunks_exact_mut(d).zip(lanes) {
                row[i] = value;
            }
        }
    }
}

/// The score that was computed for the pack beforehand.
struct Ready<'a, L>(&'a [L]);

impl<L: Lanes> Score<L> for Ready<'_, L> {
    #[inline(always)]
    fn score(&mut self, _theta: &[L], out: &mut [L]) {
        out.copy_from_slice(self.0);
    }
}

/// The foreign functions with their arguments and results, one row for each chain.
struct Calls<'w, 'a> {
    worker: &'w mut Worker<'a>,
    d: usize,
    /// What a chain that has diverged shows to foreign functions instead of its state.
    starts: Vec<f64>,
    thetas: Vec<f64>,
    bad: Vec<usize>,
    rows: Vec<i64>,
    scores: Vec<f64>,
    matrices: Vec<f64>,
    divergences: Divergences,
}

impl<'w, 'a> Calls<'w, 'a> {
    fn new<L: Lanes, R>(
        worker: &'w mut Worker<'a>,
        starts: &[Vec<f64>],
        packs: &[Pack<L, R>],
    ) -> Self {
        let d = worker.target.dim();
        let (n, len) = (starts.len(), starts.len() * d);
        let foreign_metric = worker.metric.is_some() as usize;
        Calls {
            d,
            starts: starts.concat(),
            thetas: vec![0.0; len],
            bad: vec![],
            rows: vec![0; n * packs[0].chance.batch_size()],
            scores: vec![0.0; len],
            matrices: vec![0.0; foreign_metric * len * d],
            divergences: Divergences::new(foreign_metric * len),
            worker,
        }
    }

    /// Calls the foreign functions for step `i` of the block.
    #[inline(always)]
    fn evaluate<L: Lanes, R>(
        &mut self,
        packs: &[Pack<L, R>],
        i: usize,
        j: Option<&SkewMatrix>,
    ) -> Result<(), Failure> {
        self.hide_bad_states();
        let target = &mut self.worker.target;
        if self.rows.is_empty() {
            target.score(&self.thetas, &mut self.scores)?;
        } else {
            gather_rows(packs, i, &mut self.rows);
            target.minibatch_score(&self.thetas, &self.rows, &mut self.scores)?;
        }
        if let Some(metric) = &mut self.worker.metric {
            metric.matrix(&self.thetas, &mut self.matrices)?;
            self.divergences
                .compute(metric.as_mut(), &self.thetas, self.d, j)?;
        }
        for &chain in &self.bad {
            self.scores[chain * self.d..][..self.d].fill(f64::NAN);
        }
        Ok(())
    }

    /// Foreign functions never see a state that is not finite or not in the support.
    fn hide_bad_states(&mut self) {
        self.bad.clear();
        let d = self.d;
        let positive = self.worker.target.positive_coordinates();
        for (chain, theta) in self.thetas.chunks_exact_mut(d).enumerate() {
            if theta.iter().any(|x| !x.is_finite()) || positive.iter().any(|&c| theta[c] <= 0.0) {
                theta.copy_from_slice(&self.starts[chain * d..(chain + 1) * d]);
                self.bad.push(chain);
            }
        }
    }

    /// Puts the results for the chains of a pack into lanes.
    #[inline(always)]
    fn read_rows<L: Lanes, R, M: Metric>(
        &self,
        pack: &mut Pack<L, R>,
        integrator: &EulerMaruyama<'_, M>,
        scratch: &mut [L],
    ) {
        let d = self.d;
        let (first, n) = (pack.first, pack.n_chains);
        read_lanes(&self.scores, d, first, n, &mut pack.score);
        if self.worker.metric.is_some() {
            let own = integrator.metric_scratch(scratch);
            let (b, rest) = own.split_at_mut(d * d);
            let (div_b, div_bj) = rest[d * d..].split_at_mut(d);
            read_lanes(&self.matrices, d * d, first, n, b);
            read_lanes(&self.divergences.div_b, d, first, n, div_b);
            read_lanes(&self.divergences.div_bj, d, first, n, &mut div_bj[..d]);
        }
    }
}

/// Puts rows `first..first + n` into lanes; spare lanes are 0.
#[inline(always)]
fn read_lanes<L: Lanes>(table: &[f64], width: usize, first: usize, n: usize, out: &mut [L]) {
    let rows = &table[first * width..(first + n) * width];
    let mut lanes = [0.0; MAX_WIDTH];
    for (i, out) in out.iter_mut().enumerate() {
        for (lane, row) in lanes.iter_mut().zip(rows.chunks_exact(width)) {
            *lane = row[i];
        }
        *out = L::load(&lanes);
    }
}

/// The rows of the data that step `i` of the block uses, chain after chain.
fn gather_rows<L: Lanes, R>(packs: &[Pack<L, R>], i: usize, out: &mut [i64]) {
    let mut lanes = [0; MAX_WIDTH];
    for pack in packs {
        let size = pack.chance.batch_size();
        for (k, rows) in pack.chance.rows(i).iter().enumerate() {
            rows.store(&mut lanes);
            for lane in 0..pack.n_chains {
                out[(pack.first + lane) * size + k] = lanes[lane] as i64;
            }
        }
    }
}
