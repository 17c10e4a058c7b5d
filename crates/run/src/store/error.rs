//! What can be wrong with draws or with a store of them.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Every refusal of this module; the message names the value, the place and what was expected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A name cannot be used for a parameter, dimension, statistic or attribute.
    #[error("\"{name}\" cannot be the name of a {what}: {why}")]
    BadName {
        /// What was to be named.
        what: &'static str,
        /// The name.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// Two parameters use one dimension with different lengths or labels.
    #[error(
        "dimension \"{dim}\" of parameter \"{param}\" has other labels than the same dimension of an earlier parameter"
    )]
    DimConflict {
        /// The dimension.
        dim: String,
        /// The later parameter.
        param: String,
    },
    /// A count that must be at least 1 is 0.
    #[error("there must be at least one {what}")]
    None {
        /// What there is none of.
        what: String,
    },
    /// A flat array has another length than its shape asks for.
    #[error("{what} has {actual} values, but {expected} were expected ({shape})")]
    WrongLength {
        /// The array.
        what: String,
        /// Its length.
        actual: usize,
        /// The length it should have.
        expected: usize,
        /// Where that length comes from.
        shape: String,
    },
    /// An attribute is of a kind that NetCDF files cannot hold.
    #[error(
        "attribute \"{name}\" is {value}; it must be a number, a text or a list of these (write other things as JSON text)"
    )]
    BadAttribute {
        /// Name of the attribute.
        name: String,
        /// Its value.
        value: serde_json::Value,
    },
    /// Something is at the path already.
    #[error("{} exists already and was not to be replaced", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// What is at the path is not a store, so it is not replaced.
    #[error("{} is not a Zarr store and is not replaced", path.display())]
    NotReplaced {
        /// The path.
        path: PathBuf,
    },
    /// Not all draws came.
    #[error("{}: some of its draws have not come, so it is not put in its place", path.display())]
    Incomplete {
        /// Where the store was to be.
        path: PathBuf,
    },
    /// The operating system refused to do something with a file or folder.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The store, file or folder.
        path: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// What is at the path is not a Zarr group.
    #[error("{} is not a Zarr store: it has neither zarr.json nor .zgroup of a group", path.display())]
    NotAStore {
        /// The path.
        path: PathBuf,
    },
    /// A group is missing.
    #[error("{} has no group \"{group}\"; its groups are {found:?}", path.display())]
    MissingGroup {
        /// The store.
        path: PathBuf,
        /// The group.
        group: &'static str,
        /// The groups that are there.
        found: Vec<String>,
    },
    /// The posterior has no array of draws.
    #[error("{}: the group \"posterior\" has no array of dimensions (chain, draw, …)", path.display())]
    NoVariables {
        /// The store.
        path: PathBuf,
    },
    /// An array has another type of numbers than expected.
    #[error("{}: \"{variable}\" is of type {found}, but {expected} was expected", path.display())]
    WrongType {
        /// The store.
        path: PathBuf,
        /// Group and name of the array.
        variable: String,
        /// Its type.
        found: String,
        /// The type it should have.
        expected: &'static str,
    },
    /// An array has other dimensions than expected.
    #[error("{}: \"{variable}\" has the dimensions {found}, but {expected} were expected", path.display())]
    WrongDims {
        /// The store.
        path: PathBuf,
        /// Group and name of the array.
        variable: String,
        /// Its dimensions.
        found: String,
        /// The dimensions it should have.
        expected: String,
    },
    /// Metadata or chunks cannot be understood.
    #[error("{}: \"{node}\": {message}", path.display())]
    Zarr {
        /// The store.
        path: PathBuf,
        /// The group or array.
        node: String,
        /// What is wrong.
        message: String,
    },
    /// Draws that had to be finite are not.
    #[error(
        "{count} of {total} draws are not finite; the first is {variable} = {value} at chain {chain}, draw {draw}"
    )]
    NotFinite {
        /// Number of draws with at least one NaN or infinity.
        count: usize,
        /// Number of draws.
        total: usize,
        /// Parameter (and its index) of the first one.
        variable: String,
        /// Its value.
        value: f64,
        /// Its chain.
        chain: usize,
        /// Its draw.
        draw: usize,
    },
}

/// Result with this module's [`StoreError`].
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path: path.clone(),
            source,
        }
    }

    pub(super) fn zarr(path: &Path, node: &str, message: impl ToString) -> Self {
        let mut message = message.to_string();
        if !cfg!(feature = "blosc") && message.contains("blosc") {
            message.push_str(" (this program was built without its feature `blosc`)");
        }
        Self::Zarr {
            path: path.to_path_buf(),
            node: node.trim_start_matches('/').to_string(),
            message,
        }
    }
}
