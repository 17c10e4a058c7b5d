//! Scales of parameters, by their layout as text.

use langevin::scale::Layout;
use numpy::{PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arrays::{rows, table};
use crate::errors::refused;

fn parsed(text: &str) -> PyResult<Layout> {
    text.parse().map_err(refused)
}

/// Number of constrained and of free coordinates of a layout, which is checked.
#[pyfunction]
pub fn layout_of(text: &str) -> PyResult<(usize, usize)> {
    let layout = parsed(text)?;
    Ok((layout.size(), layout.free_size()))
}

/// Free states on their scales.
#[pyfunction]
pub fn constrain<'py>(
    py: Python<'py>,
    text: &str,
    free: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let states = parsed(text)?.constrain_draws(&rows(&free));
    Ok(table(py, &states.map_err(refused)?, free.shape()[0]))
}

/// States on their scales as free ones.
#[pyfunction]
pub fn unconstrain<'py>(
    py: Python<'py>,
    text: &str,
    states: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let layout = parsed(text)?;
    let (width, values) = (states.shape()[1], rows(&states));
    let mut free = vec![];
    for state in values.chunks(width.max(1)) {
        free.extend(layout.free_state(state).map_err(refused)?);
    }
    Ok(table(py, &free, states.shape()[0]))
}
