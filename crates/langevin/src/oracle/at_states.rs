//! Evaluations at plain states.

use super::{Ask, Evaluate, Exact, Oracle};
use crate::Failure;
use crate::pack::Pack;
use crate::real::{Isa, Kernel, Lanes};
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
        },
    )
}

struct AtStates<'a, O> {
    oracle: &'a O,
    states: &'a [f64],
    log_density: bool,
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
            self.log_density,
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
    log_density: bool,
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
            worker: 0,
            in_block: 0,
        };
        oracle.evaluate(ask, &mut packs, &mut scratch)?;
        for pack in &packs {
            pack.read_answers(&mut values, &mut scores);
        }
    }
    Ok((values, scores))
}
