//! Langevin samplers with a Riemannian metric and an irreversible skew field.
//!
//! There is one stochastic differential equation with two choices, a metric `B(θ)` and a skew
//! field `C(θ)`:
//!
//! ```text
//! dθ = [ (βB + C) ∇log π + div(βB + C) ] dt + sqrt(2βB) dW
//! ```

pub mod batch;
pub mod catalog;
pub mod chain;
mod chance;
mod check;
pub mod dynamics;
pub mod error;
pub mod foreign;
pub mod integrator;
pub mod linalg;
pub mod metric;
pub mod models;
pub mod real;
pub mod record;
pub mod rng;
mod rows;
pub mod skew;
pub mod stat;
pub mod target;
pub mod theory;

pub use error::{Error, Result};
