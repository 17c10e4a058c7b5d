//! The numbers that claims compare, with what is needed for their errors.

use langevin::stat::running::Estimate;
use langevin::theory::Observable;
use nalgebra::{DMatrix, DVector};

use super::printed::Quantity;
use langevin_run::compare::{ArmResult, Comparison, Paths, mean_of, ratio};

/// A number of a system.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The mean over chains; chains of one number share their random numbers between systems.
    Chains(Vec<(u64, f64)>),
    /// An estimate by itself.
    Estimate(Estimate),
}

impl Value {
    /// The number and its standard error, which may be missing.
    pub fn estimate(&self) -> Option<Estimate> {
        match self {
            Value::Chains(values) => {
                let values: Vec<f64> = values.iter().map(|(_, v)| *v).collect();
                mean_of(&values)
            }
            Value::Estimate(estimate) => Some(*estimate),
        }
    }

    /// The ratio to another number: by pairs of chains where both have them.
    pub fn over(&self, other: &Value) -> Option<Estimate> {
        if let (Value::Chains(a), Value::Chains(b)) = (self, other) {
            return ratio(a, b);
        }
        Some(quotient(self.estimate()?, other.estimate()?))
    }
}

/// Ratio of independent estimates (delta method).
pub fn quotient(a: Estimate, b: Estimate) -> Estimate {
    let value = a.value / b.value;
    let relative = (a.se / a.value).hypot(b.se / b.value);
    Estimate {
        value,
        se: (value * relative).abs(),
    }
}

/// The quantity of a system, or of one of its observables.
pub fn value(
    comparison: &Comparison,
    arm: &ArmResult,
    quantity: Quantity,
    observable: usize,
) -> Option<Value> {
    let averages = || Some(&arm.observables.get(observable)?.averages);
    match quantity {
        Quantity::Variance => {
            let values = arm.observables.get(observable)?.variances.clone();
            Some(Value::Chains(values))
        }
        Quantity::Mse => {
            let truth = comparison.truth.get(observable)?.as_ref()?.value;
            Some(Value::Chains(squares(averages()?, truth, 1.0)))
        }
        Quantity::RunningVariance => {
            let n = averages()?.len() as f64;
            let mean = averages()?.iter().map(|(_, x)| x).sum::<f64>() / n;
            Some(Value::Chains(squares(averages()?, mean, n / (n - 1.0))))
        }
        Quantity::Ksd => {
            let chains = arm.ksd_chains.iter();
            let end = |(number, curve): &(u64, Vec<f64>)| Some((*number, *curve.last()?));
            Some(Value::Chains(chains.filter_map(end).collect()))
        }
        Quantity::Slope => slopes(arm).map(Value::Chains),
        Quantity::Distance => distances(comparison, arm.paths.as_ref()?).map(Value::Chains),
        Quantity::SignChanges => {
            let shown = comparison.run.measure.trajectories.as_ref()?;
            let (_, coordinate) = shown.coordinates.first()?;
            Some(Value::Chains(sign_changes(
                arm.paths.as_ref()?,
                *coordinate,
            )))
        }
        Quantity::Cost => Some(Value::Estimate(Estimate {
            value: arm.seconds_per_step,
            se: 0.0,
        })),
    }
}

/// Squared distances from a centre, times a factor: their mean over chains is an MSE or a variance.
fn squares(averages: &[(u64, f64)], centre: f64, factor: f64) -> Vec<(u64, f64)> {
    let square = |(chain, x): &(u64, f64)| (*chain, factor * (x - centre).powi(2));
    averages.iter().map(square).collect()
}

/// The exact expectation of a quantity, where theory knows it.
pub fn exact(arm: &ArmResult, quantity: Quantity, observable: usize) -> Option<f64> {
    let result = arm.observables.get(observable)?;
    match quantity {
        Quantity::Variance => result.exact.batch_means,
        Quantity::RunningVariance => result.curve.last()?.exact.map(|e| e.1),
        Quantity::Mse => result.curve.last()?.exact.map(|e| e.0 + e.1),
        _ => None,
    }
}

/// Slope of each chain's discrepancy between a tenth of the points and all of them.
fn slopes(arm: &ArmResult) -> Option<Vec<(u64, f64)>> {
    let points = arm.ksd.as_ref()?;
    let last = points.len().checked_sub(1)?;
    let early = points.iter().rposition(|p| 10 * p.n <= points[last].n)?;
    let span = (points[last].n as f64 / points[early].n as f64).ln();
    let slope =
        |(number, curve): &(u64, Vec<f64>)| (*number, (curve[last] / curve[early]).ln() / span);
    Some(arm.ksd_chains.iter().map(slope).collect())
}

/// Distance from the posterior mean, averaged over the states of each path.
fn distances(comparison: &Comparison, paths: &Paths) -> Option<Vec<(u64, f64)>> {
    let dim = paths.dim;
    let centre = |i: usize| {
        let mut linear = DVector::zeros(dim);
        linear[i] = 1.0;
        let coordinate = Observable::new(linear, DMatrix::zeros(dim, dim)).ok()?;
        langevin_run::exact::expectation(&comparison.run.target, &coordinate)?.ok()
    };
    let centre: Option<Vec<f64>> = (0..dim).map(centre).collect();
    let centre = centre?;
    let distance = |theta: &[f64]| {
        let squares = theta.iter().zip(&centre).map(|(x, c)| (x - c).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let mean = |states: &Vec<f64>| {
        let n = (states.len() / dim) as f64;
        states.chunks_exact(dim).map(distance).sum::<f64>() / n
    };
    let chains = paths.chains.iter().enumerate();
    let finite = chains.map(|(i, states)| (i as u64, mean(states)));
    Some(finite.filter(|(_, d)| d.is_finite()).collect())
}

/// How often a coordinate changes its sign along each path.
fn sign_changes(paths: &Paths, coordinate: usize) -> Vec<(u64, f64)> {
    let count = |chain: usize| {
        let path = paths.path(chain, coordinate);
        let turns = path.windows(2).filter(|w| w[0] * w[1] < 0.0);
        (chain as u64, turns.count() as f64)
    };
    let healthy = |i: &usize| paths.chains[*i].iter().all(|x| x.is_finite());
    (0..paths.chains.len()).filter(healthy).map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_independent_ratios_add_in_squares() {
        let e = |value, se| Estimate { value, se };
        let q = quotient(e(6.0, 0.6), e(3.0, 0.0));
        assert!((q.value - 2.0).abs() < 1e-15 && (q.se - 0.2).abs() < 1e-15);
        let q = quotient(e(1.0, 0.3), e(-1.0, 0.4));
        assert!((q.value + 1.0).abs() < 1e-15 && (q.se - 0.5).abs() < 1e-15);
    }

    #[test]
    fn squares_average_to_a_variance() {
        let averages = [(0, 1.0), (3, 5.0), (4, 3.0)];
        let squares = squares(&averages, 3.0, 1.5);
        assert_eq!(squares, [(0, 6.0), (3, 6.0), (4, 0.0)]);
        // The variance of 1, 5, 3 with divisor n − 1.
        assert_eq!(Value::Chains(squares).estimate().unwrap().value, 4.0);
    }

    #[test]
    fn changes_of_sign_are_counted_per_chain() {
        let paths = Paths {
            dim: 2,
            steps: vec![0, 1, 2],
            chains: vec![
                vec![1.0, 9.0, -1.0, 9.0, 2.0, 9.0],
                vec![1.0, 9.0, 1.0, -9.0, 2.0, 9.0],
                vec![1.0, 9.0, f64::NAN, f64::NAN, f64::NAN, f64::NAN],
            ],
        };
        assert_eq!(sign_changes(&paths, 0), [(0, 2.0), (1, 0.0)]);
        assert_eq!(sign_changes(&paths, 1), [(0, 0.0), (1, 2.0)]);
    }
}
