//! Speed alone: for states of few coordinates, whose steps take a few nanoseconds, Euler–Maruyama and
//! the target in one loop, with the state in registers. The stages and the bits are those of any
//! transition and any oracle.

use super::drive::{Span, Stepper, Steps, Weights};
use super::team::{Any, Mover, Then};
use crate::blocks::{Blocks, RowSums};
use crate::metric::Metric;
use crate::oracle::Oracle;
use crate::pack::Pack;
use crate::real::{Lanes, Work};
use crate::target::Sums;
use crate::transition::{EulerMaruyama, StepKey, Transition};
use crate::{Failure, RunError};

/// Moves a target of `D` coordinates.
pub(crate) struct Fused<'a, O, T, M, const D: usize> {
    pub any: Any<'a, O, EulerMaruyama<'a, M>>,
    pub target: &'a T,
}

impl<O: Oracle, T: Sums, M: Metric, const D: usize> Mover for Fused<'_, O, T, M, D> {
    fn with<L: Lanes>(&self, worker: usize, packs: &mut [Pack<L>], then: &mut Then<'_, L>) {
        // (A single register of eight serves a few chains only, whose speed hardly matters.)
        if const { L::WIDTH == 8 && L::Register::WIDTH == 8 }
            || packs.iter().any(|pack| !pack.scores.is_empty())
        {
            return self.any.with(worker, packs, then);
        }
        let (target, euler) = (self.target, self.any.transition);
        let metric = euler.dynamics().metric();
        let mut team = Team::<'_, T, M, L, D> {
            target,
            euler,
            sums: packs.iter_mut().map(|pack| sums(target, pack)).collect(),
            target_scratch: vec![L::zero(); target.scratch_len()],
            metric_scratch: vec![L::zero(); metric.scratch_len()],
            sizes: vec![],
            varies: euler.weight(&1.0).is_some(),
        };
        then(&mut team, packs);
        for (sums, pack) in team.sums.into_iter().zip(packs) {
            if let (Some(sums), Some(rows)) = (sums, &mut pack.rows) {
                sums.give_back(rows);
            }
        }
    }
}

/// A chain that is alone has sums over its minibatches made in lanes over steps, instead of rows.
fn sums<'a, T: Sums, L: Lanes>(
    target: &'a T,
    pack: &mut Pack<L>,
) -> Option<Blocks<L, RowSums<'a, L, T>>> {
    let rows = pack.rows.as_ref()?;
    let batches = rows.fill.batches();
    if L::WIDTH > 1 || batches.remembers() {
        return None;
    }
    let block_len = pack.states.len() / pack.theta.len();
    Some(rows.with_fill(RowSums::new(target, batches.clone(), block_len)))
}

/// The packs of a team.
struct Team<'a, T: Sums, M, L: Lanes, const D: usize> {
    target: &'a T,
    euler: &'a EulerMaruyama<'a, M>,
    /// Of each pack, in place of its rows.
    sums: Vec<Option<Blocks<L, RowSums<'a, L, T>>>>,
    target_scratch: Vec<L>,
    metric_scratch: Vec<L>,
    /// The sizes of the steps of a block, and whether they differ.
    sizes: Vec<f64>,
    varies: bool,
}

impl<T: Sums, M: Metric, L: Lanes, const D: usize> Stepper<L> for Team<'_, T, M, L, D> {
    fn start(&mut self, _packs: &mut [Pack<L>], _span: &Span<'_>) -> Result<(), RunError> {
        // Nothing is carried.
        Ok(())
    }

    fn steps(
        &mut self,
        packs: &mut [Pack<L>],
        steps: &Steps,
        span: &Span<'_>,
        weights: &mut Weights,
    ) -> Result<(), (usize, Failure)> {
        if self.varies || self.sizes.is_empty() {
            self.sizes.resize(weights.values.len(), 0.0);
            for (i, h) in self.sizes.iter_mut().enumerate() {
                let step = steps.first + i as u64;
                let seed = span.seed;
                *h = self.euler.shared(StepKey { step, seed });
            }
            weights.differ = self.varies;
            weights.values.copy_from_slice(&self.sizes);
        }
        for (pack, sums) in packs.iter_mut().zip(&mut self.sums) {
            pack.normals.draw(steps.in_streams, steps.to);
            match (&mut *sums, &mut pack.rows) {
                (Some(sums), _) => sums.draw(steps.in_streams, steps.to),
                (None, Some(rows)) => rows.draw(steps.in_streams, steps.to),
                (None, None) => {}
            }
            L::enter(Walk::<'_, '_, T, M, L, D> {
                target: self.target,
                euler: self.euler,
                sums: sums.as_ref(),
                pack,
                steps,
                sizes: &self.sizes,
                target_scratch: &mut self.target_scratch,
                metric_scratch: &mut self.metric_scratch,
            });
        }
        Ok(())
    }

    fn ends_chains(&self) -> bool {
        true
    }
}

/// Steps of a block of one pack.
struct Walk<'a, 'b, T: Sums, M, L: Lanes, const D: usize> {
    target: &'a T,
    euler: &'a EulerMaruyama<'b, M>,
    sums: Option<&'a Blocks<L, RowSums<'b, L, T>>>,
    pack: &'a mut Pack<L>,
    steps: &'a Steps,
    /// The size of each step of the block.
    sizes: &'a [f64],
    target_scratch: &'a mut [L],
    metric_scratch: &'a mut [L],
}

impl<T: Sums, M: Metric, L: Lanes, const D: usize> Work for Walk<'_, '_, T, M, L, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (target, sums, rows) = (self.target, self.sums, &self.pack.rows);
        // Everything that the loop reads is in variables of its own: what is behind a pointer would
        // be read again after each state that is written.
        let mut walk = Loop::<'_, '_, T, M, L, D> {
            euler: self.euler,
            theta: &mut self.pack.theta,
            states: &mut self.pack.states,
            normals: self.pack.normals.fill.all().as_chunks().0,
            sizes: self.sizes,
            steps: self.steps,
            target,
            metric_scratch: self.metric_scratch,
        };
        let scratch = self.target_scratch;
        match (sums, rows) {
            (Some(sums), _) => walk.run(&mut FromSums {
                sums: sums.fill.all(),
                n_sums: target.n_sums(),
            }),
            (None, Some(rows)) => walk.run(&mut FromRows {
                rows: rows.fill.all(),
                size: rows.fill.batches().batch_size(),
                scratch,
            }),
            (None, None) => walk.run(&mut FromAll { scratch }),
        }
    }
}

/// Where the score of a step comes from, decided before the loop.
trait Gradients<T, L> {
    fn score(&mut self, target: &T, i: usize, theta: &[L], out: &mut [L]);
}

struct FromSums<'a, L> {
    sums: &'a [L],
    n_sums: usize,
}

impl<T: Sums, L: Lanes> Gradients<T, L> for FromSums<'_, L> {
    #[inline(always)]
    fn score(&mut self, target: &T, i: usize, theta: &[L], out: &mut [L]) {
        let sums = &self.sums[i * self.n_sums..(i + 1) * self.n_sums];
        target.score_from_sums(theta, sums, out);
    }
}

struct FromRows<'a, L: Lanes> {
    rows: &'a [L::Bits],
    size: usize,
    scratch: &'a mut [L],
}

impl<T: Sums, L: Lanes> Gradients<T, L> for FromRows<'_, L> {
    #[inline(always)]
    fn score(&mut self, target: &T, i: usize, theta: &[L], out: &mut [L]) {
        let rows = &self.rows[i * self.size..(i + 1) * self.size];
        target.minibatch_score(theta, rows, self.scratch, out);
    }
}

struct FromAll<'a, L> {
    scratch: &'a mut [L],
}

impl<T: Sums, L: Lanes> Gradients<T, L> for FromAll<'_, L> {
    #[inline(always)]
    fn score(&mut self, target: &T, _i: usize, theta: &[L], out: &mut [L]) {
        target.score(theta, self.scratch, out);
    }
}

/// The loop itself.
struct Loop<'a, 'b, T, M, L, const D: usize> {
    target: &'a T,
    euler: &'a EulerMaruyama<'b, M>,
    theta: &'a mut [L],
    states: &'a mut [L],
    normals: &'a [[L; D]],
    sizes: &'a [f64],
    steps: &'a Steps,
    metric_scratch: &'a mut [L],
}

impl<T: Sums, M: Metric, L: Lanes, const D: usize> Loop<'_, '_, T, M, L, D> {
    #[inline(always)]
    fn run(&mut self, gradients: &mut impl Gradients<T, L>) {
        let Steps { from, to, .. } = *self.steps;
        let (states, normals, sizes) = (
            &mut self.states[..to * D],
            &self.normals[..to],
            &self.sizes[..to],
        );
        let mut theta = [L::zero(); D];
        theta.copy_from_slice(self.theta);
        // (Number by number and by plain indices: the compiler would otherwise move states of a lone
        // chain as vectors or through memory, and every step would wait for it.)
        for i in from..to {
            for c in 0..D {
                states[i * D + c] = theta[c];
            }
            let mut score = [L::zero(); D];
            gradients.score(self.target, i, &theta, &mut score);
            let shared = &mut *self.metric_scratch;
            self.euler.step(
                &mut theta,
                &mut score,
                sizes[i],
                &normals[i],
                &mut [],
                shared,
            );
        }
        self.theta.copy_from_slice(&theta);
    }
}
