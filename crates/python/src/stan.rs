//! Stan models in the shared libraries that BridgeStan builds.

use std::path::Path;
use std::sync::Arc;

use langevin_run::stan::{self, StanError};
use langevin_run::target::Own;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{rows, table};

/// A Stan model with its data.
#[pyclass(frozen, module = "langevin._core")]
pub struct StanModel {
    pub inner: Arc<stan::StanModel>,
}

fn refused(error: StanError) -> PyErr {
    match error {
        StanError::Library { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

#[pymethods]
impl StanModel {
    /// Loads the library and constructs the model from data in JSON.
    #[new]
    fn new(path: &str, data: &str, seed: u32) -> PyResult<Self> {
        let inner = stan::StanModel::load(Path::new(path), data, seed).map_err(refused)?;
        Ok(StanModel {
            inner: Arc::new(inner),
        })
    }

    /// Whether the library was built with STAN_THREADS.
    #[getter]
    fn threaded(&self) -> bool {
        self.inner.threaded()
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn dim(&self) -> usize {
        self.inner.dim()
    }

    /// Names of the constrained parameters, one for each number.
    #[getter]
    fn parameter_names(&self) -> Vec<String> {
        self.inner.parameter_names()
    }

    /// States on the constrained scale.
    fn constrain<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.inner.constrain(&rows(&thetas)).map_err(refused)?;
        Ok(table(py, &values, thetas.shape()[0]))
    }

    /// States from the constrained to the unconstrained scale.
    fn unconstrain<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let [n, width] = [values.shape()[0], values.shape()[1]];
        let thetas = self.inner.unconstrain(&rows(&values), width);
        Ok(table(py, &thetas.map_err(refused)?, n))
    }

    /// Log densities and gradients; an error of the model is raised.
    #[allow(clippy::type_complexity)]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
        let [n, width] = [thetas.shape()[0], thetas.shape()[1]];
        let thetas = rows(&thetas);
        let done = py.detach(|| self.inner.evaluate(&thetas, width));
        let (values, scores) = done.map_err(refused)?;
        Ok((PyArray1::from_vec(py, values), table(py, &scores, n)))
    }
}
