//! Draws on disk, as a Zarr store that xarray and ArviZ open without a conversion step.
//!
//! A store is a folder in [Zarr format 3](https://zarr-specs.readthedocs.io/en/latest/v3/core)
//! with two groups, after the
//! [InferenceData schema](https://python.arviz.org/en/stable/schema/schema.html):
//!
//! ```text
//! draws.zarr/
//!   posterior/      one array per parameter, of dimensions (chain, draw, its own dimensions …),
//!                   and one coordinate array per dimension
//!   sample_stats/   diverging (chain, draw) and other numbers per draw, e.g. lp
//! ```
//!
//! Every group carries the attributes of the run: those of the caller (seed, step size, …) and
//! `inference_library`, `inference_library_version` and `created_at`. In Python:
//!
//! ```python
//! tree = xarray.open_datatree("draws.zarr", engine="zarr")   # ArviZ 1: arviz.from_zarr("draws.zarr")
//! idata = arviz.InferenceData.from_datatree(tree)            # ArviZ 0.23
//! ```
//!
//! [`write()`] puts a store in place as a whole or not at all; [`read()`] takes one back, including
//! stores that xarray or ArviZ have written in format 2 or 3.
//!
//! ```
//! use langevin_run::store::{self, Dim, Draws, Existing, Layout, Param};
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("draws.zarr");
//! let layout = Layout::new(vec![
//!     Param::scalar("mu"),
//!     Param::array("w", vec![Dim::named("feature", ["age", "income"])]),
//! ])?;
//! // 2 chains of 3 draws of (mu, w[age], w[income])
//! let values = (0..2 * 3 * 3).map(f64::from).collect();
//! let draws = Draws::new(layout, 2, 3, values)?
//!     .with_diverging(vec![false; 6])?
//!     .with_attribute("seed", 7)?;
//! store::write(&path, &draws, Existing::Refuse)?;
//! assert_eq!(store::read(&path)?.values(), draws.values());
//! # Ok::<(), store::StoreError>(())
//! ```

mod array;
mod columns;
mod draws;
mod error;
mod layout;
mod nodes;
mod place;
mod read;
mod write;

pub use columns::{Column, each_number};
pub use draws::{Draws, Stat};
pub use error::{Result, StoreError};
pub use layout::{Dim, Labels, Layout, Param};
pub use place::Existing;
pub use read::read;
pub use write::{ChainDraws, Shape, Writer, write};

/// Names of the two dimensions that every array of draws begins with.
const CHAIN: &str = "chain";
const DRAW: &str = "draw";
/// Names of the two groups.
const POSTERIOR: &str = "posterior";
const SAMPLE_STATS: &str = "sample_stats";
/// Name of the statistic that marks the draws at and after an escape.
const DIVERGING: &str = "diverging";
/// Attribute of the posterior that keeps the order of the parameters, which Zarr does not.
const PARAMETERS: &str = "parameters";
