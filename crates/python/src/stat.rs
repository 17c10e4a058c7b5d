//! Statistics of draws.

use langevin::stat::control_variates::{ControlVariates, Order};
use langevin::stat::ksd::Kernel;
use langevin::stat::{self, Draws, Sample, Summary};
use numpy::{
    PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{rows, vector};
use crate::errors::refused;

/// A function of draws of shape (chain, draw).
macro_rules! of_draws {
    ($($name:ident),*) => {$(
        #[pyfunction]
        fn $name(py: Python<'_>, draws: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
            let (n_chains, n_draws) = (draws.shape()[0], draws.shape()[1]);
            let values = rows(&draws);
            py.detach(|| Ok(stat::$name(Draws::new(&values, n_chains, n_draws).map_err(refused)?)))
        }
    )*};
}
of_draws!(
    rhat, ess_bulk, ess_tail, ess_mean, ess_sd, mcse_mean, mcse_sd
);

/// (mean, sd, q5, q95, mcse_mean, mcse_sd, ess_bulk, ess_tail, r_hat).
#[pyfunction]
fn summary(py: Python<'_>, draws: PyReadonlyArray2<'_, f64>) -> PyResult<[f64; 9]> {
    let (n_chains, n_draws) = (draws.shape()[0], draws.shape()[1]);
    let values = rows(&draws);
    py.detach(|| {
        let s = Summary::new(Draws::new(&values, n_chains, n_draws).map_err(refused)?);
        Ok([
            s.mean,
            s.sd,
            s.q5,
            s.q95,
            s.mcse_mean,
            s.mcse_sd,
            s.ess_bulk,
            s.ess_tail,
            s.r_hat,
        ])
    })
}

/// The mean of an observable and its error once scores at the draws have explained what they can.
#[pyfunction]
fn control_variate(
    py: Python<'_>,
    free: PyReadonlyArray3<'_, f64>,
    scores: PyReadonlyArray3<'_, f64>,
    n_superchains: usize,
    values: PyReadonlyArray1<'_, f64>,
    order: u8,
) -> PyResult<(f64, f64)> {
    let shape = [free.shape()[0], free.shape()[1], free.shape()[2]];
    let all = |array: &PyReadonlyArray3<'_, f64>| -> Vec<f64> {
        array.as_array().iter().copied().collect()
    };
    let (free, scores, values) = (all(&free), all(&scores), vector(&values));
    let order = match order {
        2 => Order::Second,
        _ => Order::First,
    };
    py.detach(|| {
        let sample =
            Sample::new(&free, shape[0], shape[1], shape[2])?.superchains(n_superchains)?;
        let estimate = ControlVariates::new(&sample.with_scores(&scores)?, order)?;
        let mean = estimate.mean_of(&values)?;
        Ok((mean.value, mean.error))
    })
    .map_err(refused)
}

#[pyfunction]
fn ess_quantile(draws: PyReadonlyArray2<'_, f64>, prob: f64) -> PyResult<f64> {
    let (n_chains, n_draws) = (draws.shape()[0], draws.shape()[1]);
    let values = rows(&draws);
    let draws = Draws::new(&values, n_chains, n_draws).map_err(refused)?;
    stat::ess_quantile(draws, prob).map_err(refused)
}

#[pyfunction]
fn batch_means(series: PyReadonlyArray1<'_, f64>, n_batches: usize, h: f64) -> PyResult<f64> {
    stat::batch_means(&vector(&series), n_batches, h).map_err(refused)
}

#[pyfunction]
fn ksd_curve<'py>(
    py: Python<'py>,
    points: PyReadonlyArray2<'py, f64>,
    scores: PyReadonlyArray2<'py, f64>,
    c: f64,
    exponent: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    if points.shape() != scores.shape() {
        return Err(PyValueError::new_err(format!(
            "draws have shape {:?}, but scores have shape {:?}",
            points.shape(),
            scores.shape()
        )));
    }
    let kernel = Kernel::new(c, exponent).map_err(refused)?;
    let (dim, points, scores) = (points.shape()[1], rows(&points), rows(&scores));
    let curve = py.detach(|| stat::ksd::ksd_curve(&points, &scores, dim, kernel));
    Ok(PyArray1::from_vec(py, curve.map_err(refused)?))
}

#[pyfunction]
fn log_spaced(n_steps: usize, per_decade: usize) -> PyResult<Vec<usize>> {
    stat::running::log_spaced(n_steps, per_decade).map_err(refused)
}

/// (mean, standard error) of independent values.
#[pyfunction]
fn spread(values: Vec<f64>) -> PyResult<(f64, f64)> {
    let spread = stat::Spread::new(&values).map_err(refused)?;
    Ok((spread.mean, spread.mean_se))
}

/// Registers the functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(rhat, m)?)?;
    m.add_function(wrap_pyfunction!(ess_bulk, m)?)?;
    m.add_function(wrap_pyfunction!(ess_tail, m)?)?;
    m.add_function(wrap_pyfunction!(ess_mean, m)?)?;
    m.add_function(wrap_pyfunction!(ess_sd, m)?)?;
    m.add_function(wrap_pyfunction!(ess_quantile, m)?)?;
    m.add_function(wrap_pyfunction!(mcse_mean, m)?)?;
    m.add_function(wrap_pyfunction!(mcse_sd, m)?)?;
    m.add_function(wrap_pyfunction!(summary, m)?)?;
    m.add_function(wrap_pyfunction!(control_variate, m)?)?;
    m.add_function(wrap_pyfunction!(batch_means, m)?)?;
    m.add_function(wrap_pyfunction!(ksd_curve, m)?)?;
    m.add_function(wrap_pyfunction!(spread, m)?)?;
    m.add_function(wrap_pyfunction!(log_spaced, m)?)
}
