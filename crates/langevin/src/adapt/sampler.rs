//! Warm-up and draws behind a pointer, for whoever learns only at run time what is sampled.

use super::{Cost, Settings, Starts, WarmUp, warm_up};
use crate::RunError;
use crate::chain::{Advanced, Chains, How, Records};
use crate::oracle::{Oracle, evaluate_together};
use crate::real::Isa;
use crate::record::Draws;
use crate::transition::Hamiltonian;

/// A posterior that can be sampled exactly. Every [`Oracle`] is one.
///
/// ```
/// use langevin::adapt::{Sampler, Settings, Starts};
/// use langevin::chain::How;
/// use langevin::models::LogisticRegression;
/// use langevin::oracle::Exact;
///
/// let model = LogisticRegression::new(vec![1.0, -1.0, 0.3, 2.0], 1, &[1.0, 0.0, 0.0, 1.0], 0.5)?;
/// let exact = Exact::new(&model);
/// let sampler: &dyn Sampler = &exact;
/// let how = How::default();
/// let warm = sampler.warm_up(7, &Starts::Scattered(16), &Settings::default(), &how)?;
/// let mut warm = warm.expect("nobody asked it to stop");
/// let (draws, _) = sampler.draw(&mut warm.chains, &warm.tuned, 500, 5, &how)?;
/// assert_eq!(draws.chains().next().unwrap().1.len(), 100);
/// # Ok::<(), langevin::RunError>(())
/// ```
pub trait Sampler: Sync {
    /// What an evaluation costs.
    fn cost(&self) -> Cost;

    /// [`warm_up`] of chains 0, 1, …
    fn warm_up(
        &self,
        seed: u64,
        starts: &Starts,
        settings: &Settings,
        how: &How<'_>,
    ) -> Result<Option<WarmUp>, RunError>;

    /// Lets the chains go on and keeps every `thin`-th state from the present one on, with scores and
    /// reports.
    fn draw(
        &self,
        chains: &mut Chains,
        tuned: &Hamiltonian,
        n_steps: u64,
        thin: u64,
        how: &How<'_>,
    ) -> Result<(Records<Draws>, Advanced), RunError>;

    /// Whether it gives log π, which exact draws need.
    fn gives_log_density(&self) -> bool;

    /// log π and scores of states, one after the other, all in one call.
    fn evaluate(&self, states: &[f64]) -> Result<(Vec<f64>, Vec<f64>), RunError>;
}

impl<O: Oracle> Sampler for O {
    fn cost(&self) -> Cost {
        match self.workers() {
            None => Cost::Lanes,
            Some(_) => Cost::Call,
        }
    }

    fn gives_log_density(&self) -> bool {
        self.has_log_density()
    }

    fn warm_up(
        &self,
        seed: u64,
        starts: &Starts,
        settings: &Settings,
        how: &How<'_>,
    ) -> Result<Option<WarmUp>, RunError> {
        warm_up(self, seed, 0, starts, settings, how)
    }

    fn draw(
        &self,
        chains: &mut Chains,
        tuned: &Hamiltonian,
        n_steps: u64,
        thin: u64,
        how: &How<'_>,
    ) -> Result<(Records<Draws>, Advanced), RunError> {
        let draws = Draws::new(chains.step(), thin, usize::MAX);
        let draws = draws.with_scores().with_reports();
        let mut records = Records::new(chains, self, || draws.clone());
        let done = chains.advance(self, tuned, n_steps, &mut records, how)?;
        Ok((records, done))
    }

    fn evaluate(&self, states: &[f64]) -> Result<(Vec<f64>, Vec<f64>), RunError> {
        evaluate_together(self, states, Isa::detect()).map_err(RunError::Call)
    }
}
