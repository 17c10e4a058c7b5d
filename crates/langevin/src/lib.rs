//! Langevin samplers with a Riemannian metric and an irreversible skew field.
//!
//! There is one stochastic differential equation with two choices, a metric `B(θ)` and a skew
//! field `C(θ)`:
//!
//! ```text
//! dθ = [ (βB + C) ∇log π + div(βB + C) ] dt + sqrt(2βB) dW
//! ```

pub mod adapt;
pub mod batch;
pub mod bias;
mod blocks;
pub mod catalog;
pub mod chain;
mod check;
pub mod contract;
pub mod dynamics;
pub mod error;
pub mod foreign;
mod kernels;
pub mod linalg;
pub mod metric;
pub mod models;
pub mod oracle;
mod pack;
pub mod real;
pub mod record;
pub mod rng;
mod rows;
pub mod scale;
pub mod skew;
pub mod stat;
pub mod target;
pub mod theory;
pub mod transition;

pub use error::{Error, Failure, Result, RunError};
