//! From sums at marks to asymptotic variances and errors of running averages.

use langevin::stat::running::{BiasSquared, Estimate, running_errors};
use langevin::stat::{Draws, Spread, variance_of_batches};
use langevin::transition::StepSize;

use crate::execute::{Chain, Recorded};
use crate::run_file::{Measure, Run};

/// Marks at which sums are kept, and where averages begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    /// All of them, in increasing order, without 0.
    pub all: Vec<u64>,
    /// Number of the first state of running averages.
    pub origin: u64,
    /// Edges of the batches.
    pub batches: Vec<u64>,
    /// Ends of running averages.
    pub checkpoints: Vec<u64>,
}

impl Marks {
    /// The marks of a run.
    pub fn new(run: &Run) -> Self {
        let Measure {
            n_batches,
            origin,
            ref checkpoints,
            ..
        } = run.measure;
        Self::at(run.n_steps, run.burn_in, n_batches, origin, checkpoints)
    }

    /// The marks of chains of `n_steps` states, for `n_batches` batches after burn-in and running
    /// averages over the first `checkpoints` states from `origin` on.
    ///
    /// What does not fill a batch is left out at the start, where a chain is furthest from
    /// stationarity.
    pub fn at(
        n_steps: u64,
        burn_in: u64,
        n_batches: usize,
        origin: u64,
        checkpoints: &[u64],
    ) -> Self {
        let n = n_batches as u64;
        let batch_steps = (n_steps - burn_in) / n;
        let batches: Vec<u64> = (0..=n).map(|i| n_steps - (n - i) * batch_steps).collect();
        let checkpoints: Vec<u64> = checkpoints.iter().map(|k| origin + k).collect();
        let mut all: Vec<u64> = batches.iter().chain(&checkpoints).copied().collect();
        all.extend([origin, burn_in]);
        all.sort_unstable();
        all.dedup();
        all.retain(|mark| *mark > 0);
        Marks {
            all,
            origin,
            batches,
            checkpoints,
        }
    }

    /// Number of segments that end at or before a mark.
    fn position(&self, mark: u64) -> usize {
        self.all.partition_point(|m| *m <= mark)
    }

    /// Average of an observable of a chain over the states from mark `from` to mark `to`.
    pub fn average(
        &self,
        chain: &Chain,
        observable: usize,
        from: u64,
        to: u64,
        h: StepSize,
    ) -> f64 {
        let sums = &chain.sums[observable];
        let total: f64 = sums[self.position(from)..self.position(to)].iter().sum();
        total / weight(h, from, to)
    }

    /// Averages after burn-in, one per chain that did not escape.
    pub fn means(
        &self,
        run: &Run,
        recorded: &Recorded,
        observable: usize,
        h: StepSize,
    ) -> Vec<f64> {
        let mean = |chain| self.average(chain, observable, run.burn_in, run.n_steps, h);
        recorded.healthy().map(mean).collect()
    }

    /// Averages over the batches.
    pub fn batch_averages(&self, chain: &Chain, observable: usize, h: StepSize) -> Vec<f64> {
        let edges = self.batches.windows(2);
        edges
            .map(|edge| self.average(chain, observable, edge[0], edge[1], h))
            .collect()
    }

    /// Batch-means estimates of the asymptotic variance, (chain, estimate) for each chain that did
    /// not escape: variance of the batch averages × time of a batch.
    pub fn batch_variances(
        &self,
        recorded: &Recorded,
        observable: usize,
        step_size: f64,
    ) -> Vec<(u64, f64)> {
        let h = StepSize::Constant(step_size);
        let estimate = |chain: &Chain| {
            let batches = self.batch_averages(chain, observable, h);
            let time = step_size * (self.batches[1] - self.batches[0]) as f64;
            (chain.number, variance_of_batches(&batches, time))
        };
        recorded.healthy().map(estimate).collect()
    }

    /// Running averages at the checkpoints, `[chain][checkpoint]`, of chains that did not escape.
    pub fn running(&self, recorded: &Recorded, observable: usize, h: StepSize) -> Vec<Vec<f64>> {
        let starts = std::iter::once(&self.origin).chain(&self.checkpoints);
        let weights: Vec<f64> = starts
            .zip(&self.checkpoints)
            .scan(0.0, |total, (from, to)| {
                *total += weight(h, *from, *to);
                Some(*total)
            })
            .collect();
        let first = self.position(self.origin);
        let curve = |chain: &Chain| {
            let sums = &chain.sums[observable];
            let (mut total, mut next) = (0.0, first);
            let ends = self.checkpoints.iter().zip(&weights);
            ends.map(|(end, weight)| {
                let stop = self.position(*end);
                total += sums[next..stop].iter().sum::<f64>();
                next = stop;
                total / weight
            })
            .collect()
        };
        recorded.healthy().map(curve).collect()
    }
}

/// Number of states, or their summed step sizes where these vary.
fn weight(h: StepSize, from: u64, to: u64) -> f64 {
    match h {
        StepSize::Constant(_) => (to - from) as f64,
        StepSize::Decreasing { .. } => (from..to).map(|k| h.at(k)).sum(),
    }
}

/// Mean and standard error of independent values; `None` for fewer than two.
pub fn mean_of(values: &[f64]) -> Option<Estimate> {
    let spread = Spread::new(values).ok()?;
    Some(Estimate {
        value: spread.mean,
        se: spread.mean_se,
    })
}

/// Ratio of the means of two lists of (chain, value) with its standard error.
///
/// Chains of one number share their random numbers between dynamics, so the error is that of
/// pairs: with r = ā/b̄ it is the standard error of the mean of (a − r b)/b̄ (delta method).
pub fn ratio(a: &[(u64, f64)], b: &[(u64, f64)]) -> Option<Estimate> {
    let partner = |chain: u64| {
        let at = b.binary_search_by_key(&chain, |(number, _)| *number).ok()?;
        Some(b[at].1)
    };
    let pairs: Vec<(f64, f64)> = a
        .iter()
        .filter_map(|(chain, x)| Some((*x, partner(*chain)?)))
        .collect();
    let n = pairs.len() as f64;
    let base = pairs.iter().map(|(_, y)| y).sum::<f64>() / n;
    let r = pairs.iter().map(|(x, _)| x).sum::<f64>() / n / base;
    let rest: Vec<f64> = pairs.iter().map(|(x, y)| (x - r * y) / base).collect();
    let se = mean_of(&rest)?.se;
    Some(Estimate { value: r, se })
}

/// Errors of running averages at one checkpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Number of states averaged over.
    pub n_steps: u64,
    /// Mean over chains.
    pub mean: f64,
    /// Squared bias, without the bias of its own estimate; only where the truth is known.
    pub bias_squared: Option<Estimate>,
    /// Variance over chains.
    pub variance: Estimate,
    /// Mean squared error; only where the truth is known.
    pub mse: Option<Estimate>,
    /// Exact squared bias and variance, where known.
    pub exact: Option<(f64, f64)>,
}

/// Errors of running averages `[chain][checkpoint]` against the truth.
pub fn curve(
    running: &[Vec<f64>],
    checkpoints: &[u64],
    truth: Option<f64>,
) -> langevin::Result<Vec<Point>> {
    if running.len() < 2 {
        return Ok(vec![]);
    }
    let flat = running.concat();
    let draws = Draws::new(&flat, running.len(), checkpoints.len())?;
    // Without a truth the variance is still right, as it does not depend on it.
    let errors = running_errors(draws, truth.unwrap_or(0.0), BiasSquared::Unbiased)?;
    let mean = |k: usize| running.iter().map(|c| c[k]).sum::<f64>() / running.len() as f64;
    let point = |(k, error): (usize, &langevin::stat::running::RunningError)| Point {
        n_steps: checkpoints[k],
        mean: mean(k),
        bias_squared: truth.map(|_| error.bias_squared),
        variance: error.variance,
        mse: truth.map(|_| error.mse),
        exact: None,
    };
    Ok(errors.iter().enumerate().map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(number: u64, sums: Vec<f64>) -> Chain {
        Chain {
            number,
            sums: vec![sums],
            ..Chain::default()
        }
    }

    /// States 1, 2, 3, 4, 5, 6 with marks at 1, 2, 4, 6.
    fn marks() -> (Marks, Recorded) {
        let marks = Marks {
            all: vec![1, 2, 4, 6],
            origin: 1,
            batches: vec![2, 4, 6],
            checkpoints: vec![2, 6],
        };
        let recorded = Recorded {
            chains: vec![
                chain(0, vec![1.0, 2.0, 7.0, 11.0]),
                chain(1, vec![0.0, 0.0, 2.0, 6.0]),
                Chain {
                    escaped: Some(3),
                    ..chain(2, vec![1.0, 2.0, f64::NAN, f64::NAN])
                },
            ],
            ..Recorded::default()
        };
        (marks, recorded)
    }

    #[test]
    fn sums_become_averages_and_batch_variances() {
        let (marks, recorded) = marks();
        let h = StepSize::Constant(0.5);
        let running = marks.running(&recorded, 0, h);
        assert_eq!(running, [[2.0, 4.0], [0.0, 8.0 / 5.0]]);
        // Batch averages 3.5 and 5.5: variance 2, batch time 1.
        let variances = marks.batch_variances(&recorded, 0, 0.5);
        assert_eq!(variances, [(0, 2.0), (1, 2.0)]);
    }

    #[test]
    fn ratio_of_pairs_has_no_error_when_pairs_are_proportional() {
        let b = [(0, 1.0), (1, 3.0), (2, 2.0)];
        let a = [(0, 2.0), (2, 4.0), (5, 9.0)];
        let r = ratio(&a, &b).unwrap();
        assert_eq!((r.value, r.se), (2.0, 0.0));
        assert!(ratio(&a[..1], &b).is_none());
        // Independent pairs: (x − r y)/ȳ by hand for (1, 1), (3, 1): r = 2, residues ∓1, se = 1.
        let r = ratio(&[(0, 1.0), (1, 3.0)], &[(0, 1.0), (1, 1.0)]).unwrap();
        assert_eq!((r.value, r.se), (2.0, 1.0));
    }
}
