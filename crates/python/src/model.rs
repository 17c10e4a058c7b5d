//! The models of the library.

use std::sync::Arc;

use langevin::catalog::{self, MetricChoice};
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::rng::{Rng, Stream};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{matrix, rows, table, vector};
use crate::errors::refused;

/// A model of the library.
#[pyclass(frozen, module = "langevin._core")]
pub struct Model {
    pub inner: Arc<catalog::Model>,
}

type ParameterRow = (String, Vec<usize>, bool);

#[pymethods]
impl Model {
    #[staticmethod]
    fn linear_gaussian(
        data: PyReadonlyArray2<'_, f64>,
        noise_precision: PyReadonlyArray2<'_, f64>,
        prior_precision: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<Self> {
        let (columns, d) = (data.shape()[1], noise_precision.shape()[0]);
        if columns != d {
            return Err(PyValueError::new_err(format!(
                "a row of the data has size {columns}, but {d} was expected"
            )));
        }
        let model = LinearGaussian::new(
            rows(&data),
            &matrix(&noise_precision),
            &matrix(&prior_precision),
        );
        Ok(Model {
            inner: Arc::new(catalog::Model::LinearGaussian(model.map_err(refused)?)),
        })
    }

    #[staticmethod]
    fn normal(data: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let model = NormalParameters::new(vector(&data)).map_err(refused)?;
        Ok(Model {
            inner: Arc::new(catalog::Model::Normal(model)),
        })
    }

    #[staticmethod]
    fn logistic(
        features: PyReadonlyArray2<'_, f64>,
        labels: PyReadonlyArray1<'_, f64>,
        prior_precision: f64,
    ) -> PyResult<Self> {
        let dim = features.shape()[1];
        let model =
            LogisticRegression::new(rows(&features), dim, &vector(&labels), prior_precision);
        Ok(Model {
            inner: Arc::new(catalog::Model::Logistic(model.map_err(refused)?)),
        })
    }

    #[staticmethod]
    fn ica(data: PyReadonlyArray2<'_, f64>, prior_precision: f64) -> PyResult<Self> {
        let model = Ica::new(rows(&data), data.shape()[1], prior_precision).map_err(refused)?;
        Ok(Model {
            inner: Arc::new(catalog::Model::Ica(model)),
        })
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    #[getter]
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    #[getter]
    fn n_data(&self) -> usize {
        self.inner.n_data()
    }

    /// (name, shape, column_major) of each parameter.
    #[getter]
    fn parameters(&self) -> Vec<ParameterRow> {
        let parameters = self.inner.parameters().into_iter();
        parameters
            .map(|p| (p.name, p.shape, p.column_major))
            .collect()
    }

    /// Name of the metric that the paper uses.
    #[getter]
    fn default_metric(&self) -> &'static str {
        MetricChoice::of_paper(&self.inner).name()
    }

    fn log_density<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let thetas = self.checked(&thetas)?;
        let values = py.detach(|| {
            let states = thetas.chunks_exact(self.inner.dim());
            states.map(|t| self.inner.log_density(t)).collect()
        });
        Ok(PyArray1::from_vec(py, values))
    }

    fn score<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = thetas.shape()[0];
        let thetas = self.checked(&thetas)?;
        let values = py.detach(|| self.inner.scores(&thetas));
        Ok(table(py, &values, n))
    }

    /// Initial states of chains 0, 1, … where the origin does not serve, else nothing.
    fn default_start<'py>(
        &self,
        py: Python<'py>,
        n_chains: usize,
        seed: u64,
    ) -> Option<Bound<'py, PyArray2<f64>>> {
        let states: Vec<f64> = match self.inner.as_ref() {
            catalog::Model::Normal(m) => [m.sample_mean(), m.sample_sd()].repeat(n_chains),
            catalog::Model::Ica(m) => (0..n_chains as u64)
                .flat_map(|c| m.random_signs(seed, c))
                .collect(),
            _ => return None,
        };
        Some(table(py, &states, n_chains))
    }

    /// Exact draws from the posterior, where they are known.
    fn exact_draws<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let mut rng = Rng::new(seed, 0, Stream::Setup);
        let draws: Vec<f64> = match self.inner.as_ref() {
            catalog::Model::Normal(m) => (0..n).flat_map(|_| m.exact_draw(&mut rng)).collect(),
            catalog::Model::LinearGaussian(m) => {
                (0..n).flat_map(|_| m.exact_draw(&mut rng)).collect()
            }
            other => {
                return Err(PyValueError::new_err(format!(
                    "the posterior of the model {:?} has no exact draws",
                    other.name()
                )));
            }
        };
        Ok(table(py, &draws, n))
    }

    /// Mean and precision of the posterior, where it is Gaussian.
    #[allow(clippy::type_complexity)]
    fn gaussian<'py>(
        &self,
        py: Python<'py>,
    ) -> Option<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
        match self.inner.as_ref() {
            catalog::Model::LinearGaussian(m) => Some((
                PyArray1::from_slice(py, m.mean().as_slice()),
                crate::arrays::to_array(py, &m.precision()),
            )),
            _ => None,
        }
    }

    /// Mean and standard deviation (divisor N) of normal data.
    fn sample_moments(&self) -> Option<(f64, f64)> {
        match self.inner.as_ref() {
            catalog::Model::Normal(m) => Some((m.sample_mean(), m.sample_sd())),
            _ => None,
        }
    }
}

impl Model {
    fn checked(&self, thetas: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<f64>> {
        let (columns, d) = (thetas.shape()[1], self.inner.dim());
        if columns != d {
            return Err(PyValueError::new_err(format!(
                "theta has {columns} coordinates, but the target has {d}"
            )));
        }
        Ok(rows(thetas))
    }
}
