//! NumPy arrays to vectors and matrices, and back.

use nalgebra::{DMatrix, DVector};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use numpy::{PyUntypedArrayMethods, ndarray::Array2};
use pyo3::prelude::*;

/// The entries of an array, in order.
pub fn vector(array: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    array.as_array().iter().copied().collect()
}

/// The entries of a matrix, row by row.
pub fn rows(array: &PyReadonlyArray2<'_, f64>) -> Vec<f64> {
    array.as_array().iter().copied().collect()
}

/// A matrix.
pub fn matrix(array: &PyReadonlyArray2<'_, f64>) -> DMatrix<f64> {
    let shape = array.shape();
    DMatrix::from_row_iterator(shape[0], shape[1], array.as_array().iter().copied())
}

/// A column.
pub fn column(array: &PyReadonlyArray1<'_, f64>) -> DVector<f64> {
    DVector::from_vec(vector(array))
}

/// A new array with the entries of a matrix.
pub fn to_array<'py>(py: Python<'py>, m: &DMatrix<f64>) -> Bound<'py, PyArray2<f64>> {
    let array = Array2::from_shape_fn(m.shape(), |(i, j)| m[(i, j)]);
    PyArray2::from_owned_array(py, array)
}

/// A new array with `rows` rows that holds the given numbers; their number must be a multiple of
/// `rows`.
pub fn table<'py>(py: Python<'py>, numbers: &[f64], rows: usize) -> Bound<'py, PyArray2<f64>> {
    let flat = PyArray1::from_slice(py, numbers);
    // The product of the two sizes is the number of entries.
    let columns = numbers.len() / rows.max(1);
    flat.reshape([rows, columns])
        .unwrap_or_else(|_| PyArray2::zeros(py, [rows, columns], false))
}
