//! What can be wrong with an input, one variant for each violated condition.

use thiserror::Error as ThisError;

/// Every way in which an input can be refused; the message names the value and what was expected.
#[derive(Debug, Clone, PartialEq, ThisError)]
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
    /// A count that must be at most `max` is larger.
    #[error("{name} must be at most {max}, but is {value}")]
    TooMany {
        /// Name of the count.
        name: &'static str,
        /// The value that was given.
        value: usize,
        /// The largest value allowed.
        max: usize,
    },
    /// A quantity that must lie strictly between two bounds does not.
    #[error("{name} must be greater than {low} and less than {high}, but is {value}")]
    OutOfRange {
        /// Name of the quantity.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// It must be greater than this.
        low: f64,
        /// It must be less than this.
        high: f64,
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
    /// There are no data.
    #[error("the data are empty; at least one row with at least one number is needed")]
    EmptyData,
    /// A coordinate that must be positive is not.
    #[error("coordinate {coordinate} of the state is {value}, but must be greater than 0")]
    OutsideSupport {
        /// The coordinate.
        coordinate: usize,
        /// Its value.
        value: f64,
    },
    /// A constrained parameter has a value that its scale does not allow.
    #[error("{what} is {value}, but must be {condition}")]
    OutsideScale {
        /// What is wrong: an element such as `sigma` or `p[0,1]`, or the sum of some.
        what: String,
        /// Its value.
        value: f64,
        /// What it must be.
        condition: String,
    },
    /// A declaration of parameters that cannot be.
    #[error("the declaration of {parameter:?} is wrong: {reason}")]
    Declaration {
        /// The parameter, or the text that was to declare it.
        parameter: String,
        /// Why.
        reason: String,
    },
    /// A label other than 0 and 1.
    #[error("label {value} in row {row}; labels must be 0 or 1")]
    NotALabel {
        /// Row of the data.
        row: usize,
        /// The value found there.
        value: f64,
    },
    /// A matrix that must be invertible is singular.
    #[error("{name} is singular: its determinant is {determinant:e}")]
    Singular {
        /// Name of the matrix.
        name: &'static str,
        /// Its determinant.
        determinant: f64,
    },
    /// A matrix computation broke down: its input is singular to working precision.
    #[error("{name} could not be computed: its matrix is singular to working precision")]
    Breakdown {
        /// Name of the quantity.
        name: &'static str,
    },
    /// A minibatch that is larger than the data or empty.
    #[error("a minibatch of {batch_size} rows cannot be drawn from {n_data} rows of data")]
    BatchSize {
        /// Rows asked for.
        batch_size: usize,
        /// Rows there are.
        n_data: usize,
    },
    /// A minibatch was asked of a target without data.
    #[error("this target has no data, so its gradient cannot be subsampled")]
    NoData,
    /// More data than row numbers can address.
    #[error("{n_data} rows of data are too many for minibatches; fewer than 2^32 are supported")]
    TooManyData {
        /// Rows there are.
        n_data: usize,
    },
    /// A scheme for reversible dynamics was given a skew field.
    #[error("{scheme} is for reversible dynamics, but these have a skew field")]
    NotReversible {
        /// Name of the scheme.
        scheme: &'static str,
    },
    /// A transition needs log π, and the target gives its score only.
    #[error(
        "{transition} needs log densities, but this target gives scores only; unadjusted dynamics can run on it"
    )]
    NoDensity {
        /// Name of the transition.
        transition: &'static str,
    },
    /// A transition needs exact evaluations, and the gradient is estimated from minibatches.
    #[error("{transition} needs exact log densities, but the score is estimated from minibatches")]
    NotExact {
        /// Name of the transition.
        transition: &'static str,
    },
    /// Something needs the scores at the draws, and they are not there.
    #[error("{quantity} needs the scores at the draws, and they were not kept")]
    NoScores {
        /// What needs them.
        quantity: &'static str,
    },
    /// A chain was to start where its target has no mass.
    #[error("log π is {log_density} at the initial state of chain {chain}")]
    StartsOutside {
        /// Number of the chain.
        chain: u64,
        /// log π there.
        log_density: f64,
    },
    /// No state with a finite log π and score was found to start from.
    #[error(
        "no start was found for chain {chain}: log π or the score is not finite at any of {tries} states tried; log π was {log_density} at the last"
    )]
    NoStart {
        /// Number of the chain.
        chain: u64,
        /// Number of states tried.
        tries: usize,
        /// log π at the last of them.
        log_density: f64,
    },
    /// Chains and what goes with them are not of one piece.
    #[error("{name} does not fit these chains: {reason}")]
    Mismatch {
        /// What does not fit.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// A decay of step sizes outside (0, 1].
    #[error("gamma of the step sizes a(b+k)^(-gamma) must be in (0, 1], but is {gamma}")]
    Decay {
        /// The value that was given.
        gamma: f64,
    },
    /// A name that is not in the list.
    #[error("there is no {kind} called {name:?}; expected one of {expected}")]
    UnknownName {
        /// What the name stands for.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// The names there are.
        expected: String,
    },
    /// A metric that a model does not have.
    #[error("the model {model:?} has no metric {metric:?}")]
    NoSuchMetric {
        /// Name of the metric.
        metric: &'static str,
        /// Name of the model.
        model: &'static str,
    },
    /// The threads could not be started.
    #[error("{threads} threads could not be started: {reason}")]
    Threads {
        /// Number of threads.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// All data coincide where their spread is needed.
    #[error("all {n_data} data are equal to {value}; at least two different ones are needed")]
    NoSpread {
        /// Number of data.
        n_data: usize,
        /// Their common value.
        value: f64,
    },
}

/// Result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What foreign code reports when it fails.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Why chains did not go on.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum RunError {
    /// The input was refused.
    #[error(transparent)]
    Input(#[from] Error),
    /// Foreign code failed.
    #[error("{0}")]
    Call(#[source] Failure),
    /// The score is not finite where a chain starts.
    #[error(
        "the score at the initial state of chain {chain} is {value} in coordinate {coordinate}"
    )]
    Start {
        /// Number of the chain.
        chain: u64,
        /// The coordinate.
        coordinate: usize,
        /// The value found there.
        value: f64,
    },
}
