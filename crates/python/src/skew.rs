//! Skew-symmetric matrices.

use langevin::skew::SkewMatrix;
use numpy::{PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{matrix, to_array};
use crate::errors::refused;

#[pyfunction]
fn random_skew(py: Python<'_>, dim: usize, seed: u64) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let j = SkewMatrix::random_signs(dim, seed).map_err(refused)?;
    Ok(to_array(py, &j.matrix()))
}

#[pyfunction]
fn sign_skew(py: Python<'_>, dim: usize, delta: f64) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let j = SkewMatrix::sign_pattern(dim, delta).map_err(refused)?;
    Ok(to_array(py, &j.matrix()))
}

#[pyfunction]
fn kronecker_skew(py: Python<'_>, size: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let j = SkewMatrix::kronecker_signs(size).map_err(refused)?;
    Ok(to_array(py, &j.matrix()))
}

/// Refuses what is not skew-symmetric; returns the spectral norm.
#[pyfunction]
fn skew_norm(j: PyReadonlyArray2<'_, f64>) -> PyResult<f64> {
    Ok(SkewMatrix::new(&matrix(&j)).map_err(refused)?.norm())
}

/// Registers the functions.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(random_skew, m)?)?;
    m.add_function(wrap_pyfunction!(sign_skew, m)?)?;
    m.add_function(wrap_pyfunction!(kronecker_skew, m)?)?;
    m.add_function(wrap_pyfunction!(skew_norm, m)?)
}
