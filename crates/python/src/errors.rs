//! The one mapping from the library's errors to Python's.

use std::fmt;
use std::io;

use langevin::chain::RunError;
use langevin_cli::execute::ExecuteError;
use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError,
};

/// A Python exception on its way through the library.
#[derive(Debug)]
pub struct Raised(pub PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Raised {}

/// A refused input is a `ValueError` with the library's own message.
pub fn refused(error: langevin::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// An exception that was raised inside a function comes back as itself.
pub fn foreign(error: RunError) -> PyErr {
    match error {
        RunError::Call(failure) => match failure.downcast::<Raised>() {
            Ok(raised) => raised.0,
            Err(other) => PyRuntimeError::new_err(other.to_string()),
        },
        other => PyValueError::new_err(other.to_string()),
    }
}

/// An error of the program: Ctrl-C, a file or folder that cannot be used, or a refused input.
pub fn program(error: impl Into<anyhow::Error>) -> PyErr {
    let error: anyhow::Error = error.into();
    let message = error.to_string();
    if let Some(ExecuteError::Interrupted) = error.downcast_ref() {
        return PyKeyboardInterrupt::new_err(message);
    }
    let system = error.chain().find_map(|e| e.downcast_ref::<io::Error>());
    match system.map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => PyFileNotFoundError::new_err(message),
        Some(_) => PyOSError::new_err(message),
        None => PyValueError::new_err(message),
    }
}
