//! Batch-means estimate of the asymptotic variance of a time average.

use super::draws::Draws;
use super::moments::{Spread, mean, mean_and_variance};
use super::scale::Unit;
use crate::error::{Error, Result};

/// Number of batches in the paper's tables.
pub const DEFAULT_BATCHES: usize = 20;

/// Batch-means estimate of the asymptotic variance of the time average of `series`, in units of
/// time: `step_size · L · s²`, with `s²` the variance (divisor `n_batches − 1`) of the averages
/// over batches of `L` steps.
///
/// `L = series.len() / n_batches`, rounded down. The steps that do not fill a batch are left out
/// at the start, where a chain is furthest from stationarity.
///
/// The estimate is biased if the correlation time is not small against a batch. Its expectation
/// for a stationary series is `step_size · L · (V(L) − V(L n)) · n/(n − 1)`, with `V(L)` the
/// variance of an average over `L` steps and `n` the number of batches.
///
/// ```
/// use langevin::stat::batch_means;
/// // Batches (1, 3) and (5, 7) of averages 2 and 6; the first value fills no batch.
/// assert_eq!(batch_means(&[9.0, 1.0, 3.0, 5.0, 7.0], 2, 0.5)?, 0.5 * 2.0 * 8.0);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn batch_means(series: &[f64], n_batches: usize, step_size: f64) -> Result<f64> {
    check(series.len(), n_batches, step_size)?;
    if let Some(index) = series.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite {
            name: "series",
            index,
            value: series[index],
        });
    }
    let length = series.len() / n_batches;
    let leftover = series.len() - length * n_batches;
    // In their own unit, as sums of large values may overflow where their mean does not.
    let unit = Unit::of(series);
    let measured = unit.measure(&series[leftover..]);
    let batches: Vec<f64> = measured.chunks_exact(length).map(mean).collect();
    Ok(unit.area(variance_of_batches(&batches, step_size * length as f64)))
}

/// The estimate from the averages over batches that last `batch_time` each.
///
/// ```
/// assert_eq!(langevin::stat::variance_of_batches(&[2.0, 6.0], 0.5), 4.0);
/// ```
pub fn variance_of_batches(averages: &[f64], batch_time: f64) -> f64 {
    let unit = Unit::of(averages);
    unit.area(batch_time * mean_and_variance(&unit.measure(averages)).1)
}

/// [`batch_means()`] of every chain: mean and standard deviation over chains, with their errors.
///
/// There must be at least two chains, and they must be independent.
///
/// ```
/// use langevin::stat::{Draws, batch_means_over_chains};
/// let draws = [1.0, 3.0, 5.0, 7.0, 2.0, 2.0, 4.0, 4.0];
/// let spread = batch_means_over_chains(Draws::new(&draws, 2, 4)?, 2, 1.0)?;
/// assert_eq!(spread.mean, 10.0);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn batch_means_over_chains(draws: Draws, n_batches: usize, step_size: f64) -> Result<Spread> {
    let values: Result<Vec<f64>> = draws
        .chains()
        .map(|chain| batch_means(chain, n_batches, step_size))
        .collect();
    Spread::new(&values?)
}

fn check(n_steps: usize, n_batches: usize, step_size: f64) -> Result<()> {
    let too_few = |name, value, min| Err(Error::TooFew { name, value, min });
    if n_batches < 2 {
        return too_few("number of batches", n_batches, 2);
    }
    if n_steps < n_batches {
        return too_few("number of steps (one for each batch)", n_steps, n_batches);
    }
    if !(step_size > 0.0 && step_size.is_finite()) {
        return Err(Error::NotPositive {
            name: "step size",
            value: step_size,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stat::testing::TestRng;

    /// Variance of the average of `n` steps of a stationary AR(1) chain of unit variance.
    fn variance_of_average(n: usize, phi: f64) -> f64 {
        let pairs: f64 = (1..n).map(|k| (n - k) as f64 * phi.powi(k as i32)).sum();
        (n as f64 + 2.0 * pairs) / (n * n) as f64
    }

    fn expectation(length: usize, n_batches: usize, phi: f64, step_size: f64) -> f64 {
        let gain = n_batches as f64 / (n_batches - 1) as f64;
        let [short, long] = [length, length * n_batches].map(|n| variance_of_average(n, phi));
        step_size * length as f64 * (short - long) * gain
    }

    /// False-alarm rate: three tests at |z| < 4.5, 2e-5 in all.
    #[test]
    fn autoregressive_chains_have_the_exact_expectation() {
        let (n_chains, length, step_size) = (2000, 30, 0.1);
        for (phi, n_batches) in [(0.9, DEFAULT_BATCHES), (0.5, 7), (-0.6, DEFAULT_BATCHES)] {
            // Five steps more than fill the batches.
            let n_draws = length * n_batches + 5;
            let x = TestRng::new(61).ar1(n_chains, n_draws, phi);
            let draws = Draws::new(&x, n_chains, n_draws).unwrap();
            let got = batch_means_over_chains(draws, n_batches, step_size).unwrap();
            let z = |expected: f64| (got.mean - expected) / got.mean_se;
            let exact = expectation(length, n_batches, phi, step_size);
            assert!(z(exact).abs() < 4.5, "φ = {phi}: z = {}", z(exact));
            // Negative control: without the correction for few batches it is refused.
            let wrong = exact * (n_batches - 1) as f64 / n_batches as f64;
            assert!(z(wrong).abs() > 4.5, "φ = {phi}: z = {}", z(wrong));
        }
        // And so is the asymptotic variance itself where batches are short.
        let x = TestRng::new(62).ar1(n_chains, 600, 0.9);
        let draws = Draws::new(&x, n_chains, 600).unwrap();
        let got = batch_means_over_chains(draws, 20, 1.0).unwrap();
        let asymptotic = (1.0 + 0.9) / (1.0 - 0.9);
        assert!((got.mean - asymptotic) / got.mean_se < -20.0);
    }

    #[test]
    fn leftover_steps_are_dropped_from_the_start() {
        let series = [1e6, -1e6, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let want = batch_means(&series[2..], 3, 1.0).unwrap();
        assert_eq!(batch_means(&series, 3, 1.0).unwrap(), want);
    }

    #[test]
    fn bad_input_is_refused_with_its_reason() {
        let text = |r: Result<f64>| r.unwrap_err().to_string();
        assert!(text(batch_means(&[1.0; 9], 1, 1.0)).contains("batches must be at least 2"));
        assert!(text(batch_means(&[1.0; 9], 10, 1.0)).contains("at least 10, but is 9"));
        assert!(text(batch_means(&[1.0; 9], 3, 0.0)).contains("step size"));
        assert!(text(batch_means(&[1.0; 9], 3, f64::NAN)).contains("step size"));
        assert!(text(batch_means(&[1.0, f64::NAN], 2, 1.0)).contains("position 1"));
        let one = Draws::new(&[1.0, 2.0], 1, 2).unwrap();
        assert!(batch_means_over_chains(one, 2, 1.0).is_err());
    }
}
