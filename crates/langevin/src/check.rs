//! Conditions on inputs, each refused with the error variant that names it.

use nalgebra::{DMatrix, DVector};

use crate::{Error, Result};

/// Asymmetry that rounding explains, as a fraction of the largest entry.
const ROUNDING: f64 = 1e-10;

pub(crate) fn positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::NotPositive { name, value })
    }
}

pub(crate) fn at_least(name: &'static str, value: usize, min: usize) -> Result<()> {
    if value < min {
        return Err(Error::TooFew { name, value, min });
    }
    Ok(())
}

pub(crate) fn at_most(name: &'static str, value: usize, max: usize) -> Result<()> {
    if value > max {
        return Err(Error::TooMany { name, value, max });
    }
    Ok(())
}

pub(crate) fn size(name: &'static str, actual: usize, expected: usize) -> Result<()> {
    if actual != expected {
        return Err(Error::WrongSize {
            name,
            actual,
            expected,
        });
    }
    Ok(())
}

pub(crate) fn finite(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(Error::NotFinite {
        name,
        index: 0,
        value,
    })
}

pub(crate) fn all_finite(name: &'static str, entries: &[f64]) -> Result<()> {
    match entries.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite {
            name,
            index,
            value: entries[index],
        }),
    }
}

pub(crate) fn finite_vector(name: &'static str, vector: &DVector<f64>, dim: usize) -> Result<()> {
    size(name, vector.len(), dim)?;
    all_finite(name, vector.as_slice())
}

pub(crate) fn finite_matrix(
    name: &'static str,
    matrix: &DMatrix<f64>,
    rows: usize,
    cols: usize,
) -> Result<()> {
    size(name, matrix.nrows(), rows)?;
    size(name, matrix.ncols(), cols)?;
    for row in 0..rows {
        for col in 0..cols {
            let value = matrix[(row, col)];
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    name,
                    index: row * cols + col,
                    value,
                });
            }
        }
    }
    Ok(())
}

/// Largest entry of `|matrix|`, and where it is.
fn largest(matrix: &DMatrix<f64>) -> (usize, usize, f64) {
    let (row, col) = matrix.iamax_full();
    (row, col, matrix[(row, col)].abs())
}

pub(crate) fn symmetric(name: &'static str, matrix: &DMatrix<f64>, dim: usize) -> Result<()> {
    finite_matrix(name, matrix, dim, dim)?;
    let (row, col, excess) = largest(&(matrix - matrix.transpose()));
    if excess > ROUNDING * largest(matrix).2 {
        return Err(Error::NotSymmetric {
            name,
            row,
            col,
            excess,
        });
    }
    Ok(())
}

pub(crate) fn skew(name: &'static str, matrix: &DMatrix<f64>, dim: usize) -> Result<()> {
    finite_matrix(name, matrix, dim, dim)?;
    let (row, col, excess) = largest(&(matrix + matrix.transpose()));
    if excess > ROUNDING * largest(matrix).2 {
        return Err(Error::NotSkew {
            name,
            row,
            col,
            excess,
        });
    }
    Ok(())
}

pub(crate) fn positive_definite(
    name: &'static str,
    matrix: &DMatrix<f64>,
    dim: usize,
) -> Result<()> {
    symmetric(name, matrix, dim)?;
    let smallest = matrix.symmetric_eigenvalues().min();
    if smallest <= 0.0 {
        return Err(Error::NotPositiveDefinite { name, smallest });
    }
    Ok(())
}

/// A covariance may be singular, so eigenvalues that rounding pushed below zero are allowed.
pub(crate) fn covariance(name: &'static str, matrix: &DMatrix<f64>, dim: usize) -> Result<()> {
    symmetric(name, matrix, dim)?;
    let smallest = matrix.symmetric_eigenvalues().min();
    if smallest < -ROUNDING * largest(matrix).2 {
        return Err(Error::NotPositiveDefinite { name, smallest });
    }
    Ok(())
}
