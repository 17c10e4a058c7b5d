//! Compiled functions by address, with the signature that nutpie uses.

use std::ffi::c_void;

use langevin::foreign::{Failure, ForeignDensity, ForeignTarget};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{rows, table};

/// `int64 f(uint64 dim, const double *x, double *grad, double *logp, void *user_data)`; 0 is
/// success.
type LogDensity = unsafe extern "C" fn(u64, *const f64, *mut f64, *mut f64, *mut c_void) -> i64;

/// A compiled log density with its gradient.
#[pyclass(frozen, module = "langevin._core")]
#[derive(Clone, Copy)]
pub struct Compiled {
    function: LogDensity,
    user_data: usize,
    dim: usize,
}

#[pymethods]
impl Compiled {
    /// The caller vouches that the address is that of a thread-safe function of this signature
    /// and that it outlives this object.
    #[new]
    fn new(address: usize, dim: usize, user_data: usize) -> PyResult<Self> {
        if address == 0 {
            return Err(PyValueError::new_err("the address of the function is 0"));
        }
        // SAFETY: not null; the rest is the caller's promise above.
        let function = unsafe { std::mem::transmute::<usize, LogDensity>(address) };
        Ok(Compiled {
            function,
            user_data,
            dim,
        })
    }

    /// Log densities and gradients; NaN where the function reports a failure.
    #[allow(clippy::type_complexity)]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
        let (n, columns) = (thetas.shape()[0], thetas.shape()[1]);
        if columns != self.dim {
            return Err(PyValueError::new_err(format!(
                "theta has {columns} coordinates, but the target has {}",
                self.dim
            )));
        }
        let thetas = rows(&thetas);
        let mut scores = vec![0.0; thetas.len()];
        let values = py.detach(|| {
            let pairs = thetas.chunks_exact(self.dim);
            pairs
                .zip(scores.chunks_exact_mut(self.dim))
                .map(|(theta, score)| self.call(theta, score))
                .collect()
        });
        Ok((PyArray1::from_vec(py, values), table(py, &scores, n)))
    }
}

impl Compiled {
    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    fn call(&self, theta: &[f64], score: &mut [f64]) -> f64 {
        let mut value = f64::NAN;
        // SAFETY: both arrays have `dim` entries, and the signature is the caller's promise.
        let code = unsafe {
            (self.function)(
                self.dim as u64,
                theta.as_ptr(),
                score.as_mut_ptr(),
                &mut value,
                self.user_data as *mut c_void,
            )
        };
        if code != 0 {
            score.fill(f64::NAN);
            value = f64::NAN;
        }
        value
    }
}

impl ForeignTarget for Compiled {
    fn dim(&self) -> usize {
        self.dim
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let mut values = vec![0.0; thetas.len() / self.dim];
        self.log_density_and_score(thetas, &mut values, out)
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl ForeignDensity for Compiled {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        let pairs = thetas.chunks_exact(self.dim);
        let pairs = pairs.zip(scores.chunks_exact_mut(self.dim));
        for ((theta, score), value) in pairs.zip(values) {
            *value = self.call(theta, score);
        }
        Ok(())
    }
}
