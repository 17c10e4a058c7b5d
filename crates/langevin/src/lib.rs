//! Langevin samplers with a Riemannian metric and an irreversible skew field.
//!
//! There is one stochastic differential equation with two choices, a metric `B(θ)` and a skew
//! field `C(θ)`:
//!
//! ```text
//! dθ = [ (βB + C) ∇log π + div(βB + C) ] dt + sqrt(2βB) dW
//! ```

pub mod error;

pub use error::{Error, Result};
