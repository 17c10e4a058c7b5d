//! Batch means of chains that were never stored: from sums at the edges of the batches.

use super::{Spread, variance_of_batches};
use crate::record::Averages;
use crate::{Result, check};

/// Batches of equal length at the end of a run, for the asymptotic variance of a time average.
///
/// The edges go into the [`Marks`](crate::record::Marks) of [`Averages`]; memory does not depend on the number of steps.
///
/// ```
/// use langevin::chain::{Control, Plan, Start, run};
/// use langevin::dynamics::Dynamics;
/// use langevin::models::NormalParameters;
/// use langevin::oracle::Exact;
/// use langevin::record::{Averages, Marks, Observable};
/// use langevin::stat::{Batches, DEFAULT_BATCHES};
///
/// let target = NormalParameters::new(vec![-1.0, 0.0, 1.0, 2.0])?;
/// let plan = Plan::new(5000, 0.01).chains(8).start(Start::Fixed(vec![0.5, 1.0]));
/// let batches = Batches::new(1000, 5000, DEFAULT_BATCHES, 0.01)?;
/// let marks = Marks::new(batches.edges().iter().copied())?;
/// let record = || Averages::new(vec![Observable::Sum].into(), marks.clone());
/// let dynamics = Dynamics::rm(target.natural());
/// let outcome = run(&Exact::new(&target), &dynamics, &plan, record, Control::default())?;
/// let chains = outcome.healthy().map(|(_, averages, lane)| (averages, lane));
/// let spread = batches.over_chains(chains, 0)?;
/// assert!(spread.mean > 0.0);
/// # Ok::<(), langevin::chain::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Batches {
    edges: Vec<u64>,
    step_size: f64,
}

impl Batches {
    /// `n_batches` batches that end with the run of `n_steps` states and begin after `burn_in` of
    /// them. States that do not fill a batch are left out at the start.
    pub fn new(burn_in: u64, n_steps: u64, n_batches: usize, step_size: f64) -> Result<Self> {
        check::positive("the step size", step_size)?;
        check::at_least("the number of batches", n_batches, 2)?;
        let kept = n_steps.saturating_sub(burn_in);
        check::at_least("the number of states in batches", kept as usize, n_batches)?;
        let n = n_batches as u64;
        let edges = (0..=n).map(|i| n_steps - (n - i) * (kept / n)).collect();
        Ok(Batches { edges, step_size })
    }

    /// Edges of the batches, from the first state of the first to the end of the last.
    pub fn edges(&self) -> &[u64] {
        &self.edges
    }

    /// The estimate of one chain; `None` where the run did not get to its end or an edge is not
    /// among the marks.
    pub fn variance(&self, averages: &Averages, observable: usize, lane: usize) -> Option<f64> {
        let batches: Option<Vec<f64>> = self
            .edges
            .windows(2)
            .map(|edge| averages.between(edge[0], edge[1], observable, lane))
            .collect();
        let time = self.step_size * (self.edges[1] - self.edges[0]) as f64;
        Some(variance_of_batches(&batches?, time))
    }

    /// Mean and standard deviation of the estimate over chains, with their errors; a chain is a
    /// record and a lane in it, as [`Outcome::healthy`](crate::chain::Outcome::healthy) gives them.
    pub fn over_chains<'a>(
        &self,
        chains: impl IntoIterator<Item = (&'a Averages, usize)>,
        observable: usize,
    ) -> Result<Spread> {
        let estimates: Vec<f64> = chains
            .into_iter()
            .filter_map(|(averages, lane)| self.variance(averages, observable, lane))
            .collect();
        Spread::new(&estimates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Block, Marks, Observable, Part, Record, Shape};
    use crate::stat::batch_means;

    #[test]
    fn sums_between_edges_give_the_estimate_of_the_whole_series() {
        // 103 states after a burn-in of 7: three of them fill no batch.
        let series: Vec<f64> = (0..110).map(|i| f64::from(i * i % 37)).collect();
        let batches = Batches::new(7, 110, 10, 0.5).unwrap();
        let marks = Marks::new(batches.edges().iter().copied()).unwrap();
        let mut averages = Averages::new(vec![Observable::Sum].into(), marks);
        averages.begin(&Shape {
            first_chain: 0,
            n_chains: 1,
            lanes: 1,
            dim: 1,
        });
        for (block, states) in series.chunks(9).enumerate() {
            averages.push(&Block {
                first_step: 9 * block as u64,
                dim: 1,
                len: states.len(),
                weights: None,
                parts: &[Part {
                    lane: 0,
                    states,
                    reports: &[],
                    scores: &[],
                }],
            });
        }
        let want = batch_means(&series[7..], 10, 0.5).unwrap();
        let got = batches.variance(&averages, 0, 0).unwrap();
        assert!((got / want - 1.0).abs() < 1e-13, "{got} is not {want}");
    }

    #[test]
    fn bad_input_is_refused_with_its_reason() {
        let text = |r: Result<Batches>| r.unwrap_err().to_string();
        assert!(text(Batches::new(0, 100, 1, 0.1)).contains("number of batches"));
        assert!(text(Batches::new(95, 100, 20, 0.1)).contains("states in batches"));
        assert!(text(Batches::new(0, 100, 20, 0.0)).contains("step size"));
    }
}
