//! Targets and metrics that live outside the library: Python, compiled functions, Stan.
//!
//! All chains of a worker advance in lockstep, with one call per evaluation for all of them. Everything
//! else is as for targets of the library, so that a foreign copy of one gives the same chains, to
//! rounding.

mod bias;
mod constrained;
mod doubled;
mod given;
mod given_euler;
mod job;
mod native;
mod oracle;

pub use crate::error::Failure;
pub use bias::{bias_of_model, bias_of_target};
pub use constrained::ConstrainedTarget;
pub use doubled::DoubledTarget;
pub use given::{Given, divergence_check};
pub use given_euler::GivenEuler;
pub use job::{euler, native, sampler};
pub use native::Native;
pub use oracle::Foreign;

use crate::skew::SkewMatrix;

/// A score for many chains at once. States and scores are rows of [`dim`](Self::dim) numbers, one
/// row for each chain.
pub trait ForeignTarget {
    /// Number of coordinates.
    fn dim(&self) -> usize;

    /// Writes ∇ log π of every state. A score that is not finite ends its chain as an escape.
    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure>;

    /// Its log density, if it has one: adjusted samplers need it.
    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        None
    }

    /// Its data, if they can be subsampled.
    fn rows(&mut self) -> Option<&mut dyn ForeignRows> {
        None
    }

    /// Coordinates that must stay above 0.
    fn positive_coordinates(&self) -> &[usize] {
        &[]
    }
}

/// A log density with its score.
pub trait ForeignDensity {
    /// Writes log π, one number for each state, and ∇ log π. A value that is not finite is outside
    /// of the support.
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure>;
}

/// Data that minibatches are drawn from.
pub trait ForeignRows {
    /// Number of rows.
    fn n_data(&self) -> usize;

    /// Writes an unbiased estimate of every score from rows of the data, the same number of rows
    /// for each chain.
    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> Result<(), Failure>;
}

/// A metric B(θ) for many chains at once.
pub trait ForeignMetric {
    /// Writes B of every state, row by row, both triangles.
    fn matrix(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure>;

    /// Writes div B of every state, and div(BJ) where J is given, as
    /// [`Metric::div`](crate::metric::Metric::div); false where it is not known, and central
    /// differences take its place.
    fn divergence(
        &mut self,
        thetas: &[f64],
        j: Option<&SkewMatrix>,
        div_b: &mut [f64],
        div_bj: &mut [f64],
    ) -> Result<bool, Failure> {
        let _ = (thetas, j, div_b, div_bj);
        Ok(false)
    }
}

/// The foreign functions of one thread.
pub struct Worker<'a> {
    /// The target.
    pub target: Box<dyn ForeignTarget + Send + 'a>,
    /// The metric, where it is foreign too; the dynamics then have the metric [`Given`].
    pub metric: Option<Box<dyn ForeignMetric + Send + 'a>>,
}
