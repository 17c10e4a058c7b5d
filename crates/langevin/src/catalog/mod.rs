//! What exists, by name: the closed lists of models, metrics and skew fields that the program and
//! the Python package offer, and jobs that run any of their combinations.
//!
//! Inside the library everything is generic; this is the edge where names become types.

mod choices;
mod job;
mod measure;
mod sampler;

pub use choices::{MetricChoice, System};
pub use job::{Job, euler, run, run_job};
pub use measure::{Measure, Measurement};
pub use sampler::{free_layout, sampler};

use crate::Result;
use crate::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use crate::oracle::{log_densities_at, scores_at};
use crate::target::{Parameter, Subsampled, Target};

/// One of the models of the library.
#[derive(Clone, Debug)]
pub enum Model {
    /// Mean of normal data.
    LinearGaussian(LinearGaussian),
    /// Mean and standard deviation of normal data.
    Normal(NormalParameters),
    /// Logistic regression.
    Logistic(LogisticRegression),
    /// Independent component analysis.
    Ica(Ica),
}

/// Does the same with whatever model it is.
macro_rules! each_model {
    ($self:expr, $model:ident => $value:expr) => {
        match $self {
            Model::LinearGaussian($model) => $value,
            Model::Normal($model) => $value,
            Model::Logistic($model) => $value,
            Model::Ica($model) => $value,
        }
    };
}

impl Model {
    /// Names of the models with a sentence on each.
    pub const LIST: [(&'static str, &'static str); 4] = [
        (
            "linear-gaussian",
            "mean of normal data with known precision and a Gaussian prior",
        ),
        (
            "normal",
            "mean and standard deviation of normal data under a flat prior",
        ),
        ("logistic", "logistic regression with a Gaussian prior"),
        (
            "ica",
            "independent component analysis with a sech² likelihood",
        ),
    ];

    /// Its name in [`LIST`](Self::LIST).
    pub fn name(&self) -> &'static str {
        let position = match self {
            Model::LinearGaussian(_) => 0,
            Model::Normal(_) => 1,
            Model::Logistic(_) => 2,
            Model::Ica(_) => 3,
        };
        Self::LIST[position].0
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        each_model!(self, m => m.dim())
    }

    /// Number of data.
    pub fn n_data(&self) -> usize {
        each_model!(self, m => m.n_data())
    }

    /// Names and shapes of the coordinates.
    pub fn parameters(&self) -> Vec<Parameter> {
        each_model!(self, m => m.parameters())
    }

    /// log π(θ) up to a constant.
    pub fn log_density(&self, theta: &[f64]) -> f64 {
        each_model!(self, m => m.log_density(theta))
    }

    /// log π of one or more states, one after the other; −∞ where it is not finite.
    pub fn log_densities(&self, states: &[f64]) -> Vec<f64> {
        each_model!(self, m => log_densities_at(m, states))
    }

    /// ∇ log π of one or more states, one after the other.
    pub fn scores(&self, states: &[f64]) -> Vec<f64> {
        each_model!(self, m => scores_at(m, states))
    }

    /// Refuses a state from which no chain can start.
    pub fn check_state(&self, theta: &[f64]) -> Result<()> {
        each_model!(self, m => m.check_state(theta))
    }
}

pub(crate) use each_model;
