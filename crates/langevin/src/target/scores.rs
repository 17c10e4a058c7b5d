//! Scores at plain states.

use super::Target;
use crate::real::{Isa, Kernel, Lanes, MAX_WIDTH};

/// The exact scores at plain states, one after the other, in the lanes of the processor.
///
/// ```
/// use langevin::models::LogisticRegression;
/// use langevin::target::scores_at;
/// let model = LogisticRegression::new(vec![1.0, -1.0], 1, &[1.0, 0.0], 0.5)?;
/// assert_eq!(scores_at(&model, &[0.0, 0.0, 0.0]), [1.0; 3]);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn scores_at<T: Target>(target: &T, states: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; states.len()];
    let isa = Isa::detect();
    let width = isa.fitting_width(states.len() / target.dim().max(1));
    let kernel = Scores {
        target,
        states,
        out: &mut out,
    };
    isa.run(width, kernel);
    out
}

/// The scores of many states.
struct Scores<'a, T> {
    target: &'a T,
    states: &'a [f64],
    out: &'a mut [f64],
}

impl<T: Target> Kernel for Scores<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let d = self.target.dim();
        let mut scratch = vec![L::zero(); self.target.scratch_len()];
        let mut theta = vec![L::zero(); d];
        let mut score = theta.clone();
        let mut lanes = [0.0; MAX_WIDTH];
        let packs = self.states.chunks(L::WIDTH * d);
        for (states, out) in packs.zip(self.out.chunks_mut(L::WIDTH * d)) {
            let last = states.len() / d - 1;
            for i in 0..d {
                // Spare lanes repeat the last state.
                for (lane, x) in lanes.iter_mut().enumerate() {
                    *x = states[lane.min(last) * d + i];
                }
                theta[i] = L::load(&lanes);
            }
            self.target.score(&theta, &mut scratch, &mut score);
            for i in 0..d {
                score[i].store(&mut lanes);
                for (state, x) in out.chunks_exact_mut(d).zip(lanes) {
                    state[i] = x;
                }
            }
        }
    }
}

/// The exact score at a plain state, for those who do not care about scratch.
pub fn score_at<T: Target>(target: &T, theta: &[f64]) -> Vec<f64> {
    let mut scratch = vec![0.0; target.scratch_len()];
    let mut out = vec![0.0; target.dim()];
    target.score(theta, &mut scratch, &mut out);
    out
}
