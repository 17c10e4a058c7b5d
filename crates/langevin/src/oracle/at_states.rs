//! Evaluations at plain states.

use rayon::prelude::*;

use super::{Ask, Evaluate, Exact, Oracle};
use crate::Failure;
use crate::pack::Pack;
use crate::real::{Isa, Kernel, Lanes, MAX_WIDTH};
use crate::target::Target;

/// The exact scores at plain states, one after the other, in the lanes of the processor.
///
/// ```
/// use langevin::models::LogisticRegression;
/// use langevin::oracle::scores_at;
/// let model = LogisticRegression::new(vec![1.0, -1.0], 1, &[1.0, 0.0], 0.5)?;
/// assert_eq!(scores_at(&model, &[0.0, 0.0, 0.0]), [1.0; 3]);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn scores_at<T: Target>(target: &T, states: &[f64]) -> Vec<f64> {
    // (An exact oracle does not fail.)
    let done = evaluations_at(&Exact::new(target), states, false);
    done.map(|(_, scores)| scores).unwrap_or_default()
}

/// log π at plain states, one after the other; −∞ where it is not known or not finite.
///
/// ```
/// use langevin::models::NormalParameters;
/// use langevin::oracle::log_densities_at;
/// let model = NormalParameters::new(vec![1.0, 2.0, 4.0])?;
/// let values = log_densities_at(&model, &[2.0, 1.0, 2.0, -1.0]);
/// assert!(values[0].is_finite() && values[1] == f64::NEG_INFINITY);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn log_densities_at<T: Target>(target: &T, states: &[f64]) -> Vec<f64> {
    let done = evaluations_at(&Exact::new(target), states, true);
    done.map(|(values, _)| values).unwrap_or_default()
}

/// log π, if it is wanted, and scores at plain states.
pub(crate) fn evaluations_at<O: Oracle>(
    oracle: &O,
    states: &[f64],
    log_density: bool,
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let isa = Isa::present();
    let width = isa.fitting_width(states.len() / oracle.dim().max(1));
    isa.run(
        width,
        AtStates {
            oracle,
            states,
            log_density,
            worker: 0,
        },
    )
}

/// log π and scores at plain states, spread over threads as chains are: each worker of the oracle gets
/// its share and one call, or each thread of the pool some packs.
pub(crate) fn evaluate_together<O: Oracle>(
    oracle: &O,
    states: &[f64],
    isa: Isa,
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let d = oracle.dim().max(1);
    let n = states.len() / d;
    let share = oracle.workers().map_or(MAX_WIDTH, |w| n.div_ceil(w.max(1)));
    let isa = isa.min(Isa::detect());
    let answer = |(worker, states): (usize, &[f64])| {
        let kernel = AtStates {
            oracle,
            states,
            log_density: true,
            worker,
        };
        isa.run(isa.fitting_width(states.len() / d), kernel)
    };
    let answer = &answer;
    let parts: Vec<(usize, &[f64])> = states.chunks(share.max(1) * d).enumerate().collect();
    let answers: Vec<_> = match (parts.len(), oracle.workers()) {
        (0 | 1, _) => parts.into_iter().map(answer).collect(),
        (_, None) => parts.into_par_iter().map(answer).collect(),
        (_, Some(_)) => std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .into_iter()
                .map(|part| scope.spawn(move || answer(part)))
                .collect();
            let join = |t: std::thread::ScopedJoinHandle<'_, _>| match t.join() {
                Ok(answer) => answer,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        }),
    };
    let (mut values, mut scores) = (vec![], vec![]);
    for answer in answers {
        let (some_values, some_scores) = answer?;
        values.extend(some_values);
        scores.extend(some_scores);
    }
    Ok((values, scores))
}

struct AtStates<'a, O> {
    oracle: &'a O,
    states: &'a [f64],
    log_density: bool,
    worker: usize,
}

impl<O: Oracle> Kernel for AtStates<'_, O> {
    type Output = Result<(Vec<f64>, Vec<f64>), Failure>;

    #[inline(always)]
    fn run<L: Lanes>(self) -> Self::Output {
        let oracle: &dyn Evaluate<L> = self.oracle;
        let given = self.oracle.given_len();
        let scratch = self.oracle.scratch_len();
        at_states(
            oracle,
            self.states,
            self.oracle.dim(),
            given,
            scratch,
            (self.worker, self.log_density),
        )
    }
}

/// The packs of as many states at a time as stay in the cache.
fn at_states<L: Lanes>(
    oracle: &dyn Evaluate<L>,
    states: &[f64],
    d: usize,
    given: usize,
    scratch: usize,
    (worker, log_density): (usize, bool),
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    const PACKS: usize = 64;
    let mut scratch = vec![L::zero(); scratch];
    let (mut values, mut scores) = (vec![], vec![]);
    for some in states.chunks(PACKS * L::WIDTH * d) {
        let packs = some.chunks(L::WIDTH * d);
        let mut packs: Vec<Pack<L>> = packs.map(|s| Pack::at_states(s, d, given)).collect();
        let ask = Ask {
            step: 0,
            stage: 0,
            log_density,
            worker,
            in_block: 0,
        };
        oracle.evaluate(ask, &mut packs, &mut scratch)?;
        for pack in &packs {
            pack.read_answers(&mut values, &mut scores);
        }
    }
    Ok((values, scores))
}
