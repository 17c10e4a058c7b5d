//! Exact answers.

use langevin::theory::{
    self, GradientNoise, NormalMetric, NormalSkew, Observable, Sampling, Start,
};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{column, matrix, to_array};
use crate::errors::refused;

/// v and S of an observable v·θ + θᵀSθ.
type ObservableArrays<'py> = (PyReadonlyArray1<'py, f64>, PyReadonlyArray2<'py, f64>);

fn observable(arrays: &ObservableArrays<'_>) -> PyResult<Observable> {
    Observable::new(column(&arrays.0), matrix(&arrays.1)).map_err(refused)
}

/// A Gaussian target under dynamics with constant fields.
#[pyclass(frozen, module = "langevin._core")]
pub struct LinearDiffusion {
    inner: theory::LinearDiffusion,
}

#[pymethods]
impl LinearDiffusion {
    #[new]
    fn new(
        precision: PyReadonlyArray2<'_, f64>,
        mean: PyReadonlyArray1<'_, f64>,
        metric: PyReadonlyArray2<'_, f64>,
        skew: PyReadonlyArray2<'_, f64>,
        beta: f64,
    ) -> PyResult<Self> {
        let inner = theory::LinearDiffusion::new(
            &matrix(&precision),
            &column(&mean),
            &matrix(&metric),
            &matrix(&skew),
            beta,
        );
        Ok(LinearDiffusion {
            inner: inner.map_err(refused)?,
        })
    }

    #[getter]
    fn largest_stable_step(&self) -> f64 {
        self.inner.largest_stable_step()
    }

    fn expectation(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        self.inner.expectation(&observable(&phi)?).map_err(refused)
    }

    fn asymptotic_variance(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        let phi = observable(&phi)?;
        self.inner.asymptotic_variance(&phi).map_err(refused)
    }

    fn batch_means_expectation(
        &self,
        phi: ObservableArrays<'_>,
        n_batches: usize,
        batch_time: f64,
    ) -> PyResult<f64> {
        let phi = observable(&phi)?;
        self.inner
            .batch_means_expectation(&phi, n_batches, batch_time)
            .map_err(refused)
    }

    /// The chain with this step size; `minibatch` is (data, noise precision, batch size,
    /// with_replacement).
    #[pyo3(signature = (step_size, minibatch))]
    fn euler_maruyama(
        &self,
        step_size: f64,
        minibatch: Option<(
            PyReadonlyArray2<'_, f64>,
            PyReadonlyArray2<'_, f64>,
            usize,
            bool,
        )>,
    ) -> PyResult<EulerChain> {
        let noise = match minibatch {
            None => None,
            Some((data, precision, batch_size, with_replacement)) => {
                let sampling = match with_replacement {
                    true => Sampling::WithReplacement,
                    false => Sampling::WithoutReplacement,
                };
                let (data, precision) = (matrix(&data), matrix(&precision));
                let noise = GradientNoise::minibatch(&data, &precision, batch_size, sampling);
                Some(noise.map_err(refused)?)
            }
        };
        let inner = self.inner.euler_maruyama(step_size, noise.as_ref());
        Ok(EulerChain {
            inner: inner.map_err(refused)?,
        })
    }
}

/// The Euler–Maruyama chain of a [`LinearDiffusion`].
#[pyclass(frozen, module = "langevin._core")]
pub struct EulerChain {
    inner: theory::EulerChain,
}

#[pymethods]
impl EulerChain {
    fn stationary_covariance<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        to_array(py, self.inner.stationary_covariance())
    }

    fn mean(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        self.inner.mean(&observable(&phi)?).map_err(refused)
    }

    fn asymptotic_variance(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        let phi = observable(&phi)?;
        self.inner.asymptotic_variance(&phi).map_err(refused)
    }

    #[pyo3(signature = (phi, n_batches, batch_steps, start))]
    fn batch_means_expectation(
        &self,
        phi: ObservableArrays<'_>,
        n_batches: usize,
        batch_steps: usize,
        start: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<f64> {
        let start = start.map_or(Start::Stationary, |s| Start::At(column(&s)));
        let phi = observable(&phi)?;
        self.inner
            .batch_means_expectation(&phi, n_batches, batch_steps, &start)
            .map_err(refused)
    }

    /// (bias, variance) of the average over the first `n_steps` states.
    fn running_average(
        &self,
        phi: ObservableArrays<'_>,
        n_steps: usize,
        start: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<(f64, f64)> {
        let phi = observable(&phi)?;
        let moments = self.inner.running_average(&phi, n_steps, &column(&start));
        let moments = moments.map_err(refused)?;
        Ok((moments.bias, moments.variance))
    }
}

/// The posterior of mean and standard deviation of normal data.
#[pyclass(frozen, module = "langevin._core")]
pub struct NormalPosterior {
    inner: theory::NormalPosterior,
}

#[pymethods]
impl NormalPosterior {
    #[new]
    fn new(n_data: usize, mean: f64, sd: f64) -> PyResult<Self> {
        let inner = theory::NormalPosterior::new(n_data, mean, sd).map_err(refused)?;
        Ok(NormalPosterior { inner })
    }

    fn expectation(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        self.inner.expectation(&observable(&phi)?).map_err(refused)
    }

    fn variance(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        self.inner.variance(&observable(&phi)?).map_err(refused)
    }
}

/// Diffusions on a [`NormalPosterior`].
#[pyclass(frozen, module = "langevin._core")]
pub struct NormalDiffusion {
    inner: theory::NormalDiffusion,
}

#[pymethods]
impl NormalDiffusion {
    /// `skew` is "none", "constant" or "geometric".
    #[new]
    fn new(
        posterior: &NormalPosterior,
        natural: bool,
        skew: &str,
        delta: f64,
        beta: f64,
    ) -> PyResult<Self> {
        let metric = match natural {
            true => NormalMetric::Natural,
            false => NormalMetric::Identity,
        };
        let skew = match skew {
            "constant" => NormalSkew::Constant(delta),
            "geometric" => NormalSkew::Geometric(delta),
            _ => NormalSkew::None,
        };
        let inner = theory::NormalDiffusion::new(posterior.inner, metric, skew, beta);
        Ok(NormalDiffusion {
            inner: inner.map_err(refused)?,
        })
    }

    fn asymptotic_variance(&self, phi: ObservableArrays<'_>) -> PyResult<f64> {
        let phi = observable(&phi)?;
        self.inner.asymptotic_variance(&phi).map_err(refused)
    }

    fn batch_means_expectation(
        &self,
        phi: ObservableArrays<'_>,
        n_batches: usize,
        batch_time: f64,
    ) -> PyResult<f64> {
        let phi = observable(&phi)?;
        self.inner
            .batch_means_expectation(&phi, n_batches, batch_time)
            .map_err(refused)
    }
}
