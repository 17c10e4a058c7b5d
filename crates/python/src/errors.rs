//! The one mapping from the library's errors to Python's.

use std::error::Error;
use std::fmt;
use std::io;

use langevin::RunError;
use langevin_run::execute::ExecuteError;
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

impl Error for Raised {}

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

/// What ended a job early.
pub fn job(error: ExecuteError) -> PyErr {
    match error {
        ExecuteError::Library(error) => foreign(error),
        ExecuteError::Interrupted => PyKeyboardInterrupt::new_err(error.to_string()),
        other => refused_or_io(other),
    }
}

/// A file or folder that cannot be used is an `OSError`, anything else a refused input.
pub fn refused_or_io(error: impl Error + 'static) -> PyErr {
    let message = error.to_string();
    let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
    let mut system = None;
    while let (Some(error), None) = (cause, system) {
        system = error.downcast_ref::<io::Error>();
        cause = error.source();
    }
    match system.map(io::Error::kind) {
        Some(io::ErrorKind::NotFound) => PyFileNotFoundError::new_err(message),
        Some(_) => PyOSError::new_err(message),
        None => PyValueError::new_err(message),
    }
}
