//! What is recorded of every chain.

use std::sync::Arc;

use crate::Result;
use crate::chain::{Chains, Records};
use crate::oracle::Oracle;
use crate::real::Lanes;
use crate::record::{Averages, Block, Draws, Marks, Moments, Observable, Record, Shape};

/// What to record of every chain.
#[derive(Clone, Debug, Default)]
pub struct Measure {
    /// Observables whose sums are kept at the marks.
    pub observables: Vec<Observable>,
    /// Marks for running averages and batch means.
    pub marks: Vec<u64>,
    /// First state that counts for moments; none where not set.
    pub moments_from: Option<u64>,
    /// Thinned draws: (first state, thinning, largest number).
    pub draws: Option<(u64, u64, usize)>,
}

/// The records of one group of chains.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Sums of observables, where asked for.
    pub averages: Option<Averages>,
    /// Mean and variance of the coordinates, where asked for.
    pub moments: Option<Moments>,
    /// Thinned draws, where asked for.
    pub draws: Option<Draws>,
}

impl Measure {
    /// Records of some chains.
    pub fn records(&self, chains: &Chains, oracle: &dyn Oracle) -> Result<Records<Measurement>> {
        Ok(Records::new(chains, oracle, self.recorder()?))
    }

    /// What makes the record of a group of chains.
    pub fn recorder(&self) -> Result<impl Fn() -> Measurement + Sync> {
        let marks = match self.marks.is_empty() {
            true => None,
            false => Some(Marks::new(self.marks.iter().copied())?),
        };
        let observables: Arc<[Observable]> = self.observables.clone().into();
        let averages = marks.map(|marks| Averages::new(observables, marks));
        let moments = self.moments_from.map(Moments::new);
        let draws = self
            .draws
            .map(|(start, thin, limit)| Draws::new(start, thin, limit));
        Ok(move || Measurement {
            averages: averages.clone(),
            moments: moments.clone(),
            draws: draws.clone(),
        })
    }
}

impl Record for Measurement {
    fn begin(&mut self, shape: &Shape) {
        self.averages.begin(shape);
        self.moments.begin(shape);
        self.draws.begin(shape);
    }

    fn wants_scores(&self) -> bool {
        self.draws.wants_scores()
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        self.averages.push(block);
        self.moments.push(block);
        self.draws.push(block);
    }
}
