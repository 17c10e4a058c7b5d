//! What can be wrong with an input, one variant for each violated condition.

use thiserror::Error;

/// Every way in which an input can be refused; the message names the value and what was expected.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A quantity that must be finite and above zero is not.
    #[error("{name} must be finite and greater than 0, but is {value}")]
    NotPositive {
        /// Name of the quantity.
        name: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A count that must be at least `min` is smaller.
    #[error("{name} must be at least {min}, but is {value}")]
    TooFew {
        /// Name of the count.
        name: &'static str,
        /// The value that was given.
        value: usize,
        /// The smallest value allowed.
        min: usize,
    },
    /// Two sizes that must agree do not.
    #[error("{name} has size {actual}, but {expected} was expected")]
    WrongSize {
        /// Name of the offending thing.
        name: &'static str,
        /// Its size.
        actual: usize,
        /// The size it should have.
        expected: usize,
    },
    /// A NaN or an infinity where a finite number is needed.
    #[error("{name} holds {value} at position {index}; every entry must be finite")]
    NotFinite {
        /// Name of the offending thing.
        name: &'static str,
        /// Flat position (row-major for matrices).
        index: usize,
        /// The value found there.
        value: f64,
    },
    /// A matrix that must be skew-symmetric is not.
    #[error("{name} is not skew-symmetric: |J + Jᵀ| = {excess:e} at ({row}, {col})")]
    NotSkew {
        /// Name of the matrix.
        name: &'static str,
        /// Row of the largest violation.
        row: usize,
        /// Column of the largest violation.
        col: usize,
        /// Size of the violation there.
        excess: f64,
    },
    /// A matrix that must be symmetric is not.
    #[error("{name} is not symmetric: |A - Aᵀ| = {excess:e} at ({row}, {col})")]
    NotSymmetric {
        /// Name of the matrix.
        name: &'static str,
        /// Row of the largest violation.
        row: usize,
        /// Column of the largest violation.
        col: usize,
        /// Size of the violation there.
        excess: f64,
    },
    /// A matrix that must be positive definite is not.
    #[error("{name} is not positive definite: its smallest eigenvalue is {smallest:e}")]
    NotPositiveDefinite {
        /// Name of the matrix.
        name: &'static str,
        /// Its smallest eigenvalue.
        smallest: f64,
    },
    /// A step size at or beyond the largest one for which the chain is stable.
    #[error("step size {step_size} is not stable: it must be below {largest}")]
    UnstableStep {
        /// The step size that was given.
        step_size: f64,
        /// The largest stable step size.
        largest: f64,
    },
}

/// Result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
