//! What transitions tell, summed over steps.

use crate::real::{Lanes, MAX_WIDTH};
use crate::record::{Block, Record, Shape};

/// Sums over the steps of each chain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub n: u64,
    pub acceptance: f64,
    pub log_density: f64,
    pub non_finite: u64,
    /// Proposals whose energy error is not finite or larger than 30.
    pub large: u64,
}

/// Energy errors from here on say that a step is unstable: where one suits, they are of order 1.
const LARGE_ERROR: f64 = 30.0;

/// Acceptance, log π and non-finite proposals of each lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(pub Vec<Sums>);

impl Record for Told {
    fn begin(&mut self, shape: &Shape) {
        self.0 = vec![Sums::default(); shape.lanes];
    }

    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let lanes = |pack: L| {
            let mut out = [0.0; MAX_WIDTH];
            pack.store(&mut out);
            out
        };
        for part in block.parts {
            for (step, told) in (block.first_step..).zip(part.reports) {
                // Nothing led to the first state of all.
                if step == 0 {
                    continue;
                }
                let numbers = [told.acceptance, told.log_density, told.energy_error].map(lanes);
                for (i, sums) in self.0[part.lane..].iter_mut().take(L::WIDTH).enumerate() {
                    sums.n += 1;
                    sums.acceptance += numbers[0][i];
                    sums.log_density += numbers[1][i];
                    sums.large += u64::from(numbers[2][i].is_nan() || numbers[2][i] > LARGE_ERROR);
                    sums.non_finite += u64::from(numbers[2][i] == f64::INFINITY);
                }
            }
        }
    }
}
