//! Targets, metrics and observables that are Python functions of whole arrays.

use std::sync::Arc;

use langevin::foreign::{
    Failure, ForeignDensity, ForeignMetric, ForeignRows, ForeignTarget, divergence_check,
};
use langevin::record::Observable;
use langevin::skew::SkewMatrix;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use crate::arrays::{matrix, rows, table, to_array};
use crate::errors::{Raised, foreign, refused};
use crate::supervise::Watcher;

/// Copies what a function returned into `out`; anything that NumPy takes for an array of real
/// numbers with the right shape is accepted.
fn copy_result(
    what: &str,
    value: &Bound<'_, PyAny>,
    shape: &[usize],
    out: &mut [f64],
) -> PyResult<()> {
    let exact = value.cast::<PyArrayDyn<f64>>().ok().cloned();
    let array = match exact {
        Some(array) => array,
        None => as_floats(what, value)?,
    };
    if array.shape() != shape {
        return Err(PyValueError::new_err(format!(
            "{what} returned an array of shape {}, but {} was expected",
            python_shape(array.shape()),
            python_shape(shape)
        )));
    }
    let array = array.readonly();
    match array.as_slice() {
        Ok(slice) => out.copy_from_slice(slice),
        Err(_) => {
            for (out, value) in out.iter_mut().zip(array.as_array()) {
                *out = *value;
            }
        }
    }
    Ok(())
}

fn as_floats<'py>(what: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = value.py();
    let asarray = ASARRAY.import(py, "numpy", "asarray")?;
    let refused = |e: PyErr| {
        let kind = value.get_type().name().map(|n| n.to_string());
        let kind = kind.unwrap_or_default();
        let message = format!("{what} returned a {kind}, but an array of floats was expected");
        let error = PyTypeError::new_err(message);
        error.set_cause(py, Some(e));
        error
    };
    let convert = || -> PyResult<Bound<'py, PyAny>> {
        let array = asarray.call1((value,))?;
        let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
        // Of objects NumPy cannot know what they are; complex numbers and texts it lets us refuse.
        let casting = if kind == "O" { "unsafe" } else { "same_kind" };
        let options = PyDict::new(py);
        options.set_item("casting", casting)?;
        array.call_method("astype", ("float64",), Some(&options))
    };
    Ok(convert().map_err(refused)?.cast_into::<PyArrayDyn<f64>>()?)
}

fn python_shape(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => {
            let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", sizes.join(", "))
        }
    }
}

/// An exception as the failure of a foreign function; Ctrl-C also ends the run.
fn failure(py: Python<'_>, watcher: &Watcher, error: PyErr) -> Failure {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        watcher.stop(py, error.clone_ref(py));
    }
    Box::new(Raised(error))
}

/// A target made of functions.
pub struct Functions {
    pub dim: usize,
    pub n_data: usize,
    pub positive: Vec<usize>,
    pub score: Py<PyAny>,
    pub minibatch_score: Option<Py<PyAny>>,
    /// Log densities and scores at once.
    pub density: Option<Py<PyAny>>,
    pub watcher: Arc<Watcher>,
}

impl ForeignTarget for &Functions {
    fn dim(&self) -> usize {
        self.dim
    }

    fn rows(&mut self) -> Option<&mut dyn ForeignRows> {
        match self.minibatch_score {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        match self.density {
            Some(_) => Some(self),
            None => None,
        }
    }

    fn positive_coordinates(&self) -> &[usize] {
        &self.positive
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let shape = [thetas.len() / self.dim, self.dim];
        Python::attach(|py| {
            let value = self.score.bind(py).call1((table(py, thetas, shape[0]),));
            value
                .and_then(|value| copy_result("score", &value, &shape, out))
                .map_err(|e| failure(py, &self.watcher, e))
        })
    }
}

impl ForeignDensity for &Functions {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        let Some(function) = &self.density else {
            return self.score(thetas, scores);
        };
        let shape = [thetas.len() / self.dim, self.dim];
        Python::attach(|py| {
            let mut call = || -> PyResult<()> {
                let both = function.bind(py).call1((table(py, thetas, shape[0]),))?;
                copy_result("log_density", &both.get_item(0)?, &shape[..1], values)?;
                copy_result("score", &both.get_item(1)?, &shape, scores)
            };
            call().map_err(|e| failure(py, &self.watcher, e))
        })
    }
}

impl ForeignRows for &Functions {
    fn n_data(&self) -> usize {
        self.n_data
    }

    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> Result<(), Failure> {
        let Some(function) = &self.minibatch_score else {
            return Err(langevin::Error::NoData.into());
        };
        let shape = [thetas.len() / self.dim, self.dim];
        Python::attach(|py| {
            let mut call = || -> PyResult<()> {
                let size = [shape[0], rows.len() / shape[0]];
                let rows = PyArray1::from_slice(py, rows).reshape(size)?;
                let arguments = (table(py, thetas, shape[0]), rows);
                let value = function.bind(py).call1(arguments)?;
                copy_result("the minibatch score", &value, &shape, out)
            };
            call().map_err(|e| failure(py, &self.watcher, e))
        })
    }
}

/// A metric made of functions.
pub struct MetricFunctions {
    pub dim: usize,
    pub matrix: Py<PyAny>,
    /// (theta, J or None) → (div B, div(BJ) or None).
    pub divergence: Option<Py<PyAny>>,
    pub watcher: Arc<Watcher>,
}

impl ForeignMetric for &MetricFunctions {
    fn matrix(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let n = thetas.len() / self.dim;
        let shape = [n, self.dim, self.dim];
        Python::attach(|py| {
            let value = self.matrix.bind(py).call1((table(py, thetas, n),));
            value
                .and_then(|value| copy_result("metric", &value, &shape, out))
                .map_err(|e| failure(py, &self.watcher, e))
        })
    }

    fn divergence(
        &mut self,
        thetas: &[f64],
        j: Option<&SkewMatrix>,
        div_b: &mut [f64],
        div_bj: &mut [f64],
    ) -> Result<bool, Failure> {
        let Some(function) = &self.divergence else {
            return Ok(false);
        };
        let shape = [thetas.len() / self.dim, self.dim];
        Python::attach(|py| {
            let mut call = || -> PyResult<()> {
                let j_array = j.map(|j| to_array(py, &j.matrix()));
                let arguments = (table(py, thetas, shape[0]), j_array);
                let value = function.bind(py).call1(arguments)?;
                copy_result("divergence", &value.get_item(0)?, &shape, div_b)?;
                match j {
                    Some(_) => copy_result("divergence", &value.get_item(1)?, &shape, div_bj),
                    None => Ok(()),
                }
            };
            call().map_err(|e| failure(py, &self.watcher, e))
        })?;
        Ok(true)
    }
}

/// How far the divergences of a metric may be off, as a fraction of the largest.
#[pyfunction]
#[pyo3(signature = (matrix_function, divergence, thetas, j))]
pub fn divergence_error(
    py: Python<'_>,
    matrix_function: Py<PyAny>,
    divergence: Option<Py<PyAny>>,
    thetas: PyReadonlyArray2<'_, f64>,
    j: Option<PyReadonlyArray2<'_, f64>>,
) -> PyResult<f64> {
    let j = j.map(|j| SkewMatrix::new(&matrix(&j))).transpose();
    let j = j.map_err(refused)?;
    let metric = MetricFunctions {
        dim: thetas.shape()[1],
        matrix: matrix_function,
        divergence,
        watcher: Arc::default(),
    };
    let (dim, thetas) = (thetas.shape()[1], rows(&thetas));
    let error = py.detach(|| divergence_check(&mut &metric, &thetas, dim, j.as_ref()));
    error.map_err(|e| foreign(langevin::chain::RunError::Call(e)))
}

/// An observable that is a function of states of shape (n, dim).
pub fn observable(
    name: String,
    dim: usize,
    function: Py<PyAny>,
    watcher: Arc<Watcher>,
) -> Observable {
    let what = format!("observable {name:?}");
    let evaluate = move |states: &[f64], out: &mut [f64]| {
        let n = states.len() / dim;
        Python::attach(|py| {
            let value = function.bind(py).call1((table(py, states, n),));
            let copied = value.and_then(|value| copy_result(&what, &value, &[n], out));
            if let Err(error) = copied {
                out.fill(f64::NAN);
                watcher.stop(py, error);
            }
        });
    };
    Observable::Vectorised {
        name,
        function: Arc::new(evaluate),
    }
}
