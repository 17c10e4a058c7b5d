//! Metrics and dynamics by name.

use nalgebra::DMatrix;

use super::Model;
use crate::dynamics::{DEFAULT_BETA, Dynamics};
use crate::metric::{Constant, Metric};
use crate::skew::{Skew, SkewMatrix};
use crate::{Error, Result};

/// A metric by name.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricChoice {
    /// B = I.
    Identity,
    /// A constant diagonal.
    Diagonal(Vec<f64>),
    /// A constant matrix.
    Dense(DMatrix<f64>),
    /// The model's own: Γ⁻¹ (linear Gaussian), σ²/N·diag(1, ½) (normal), G⁻¹ (logistic),
    /// WᵀW ⊗ I (ICA).
    Natural,
    /// The model's own plus the identity: I + G⁻¹ (logistic), (I + WᵀW) ⊗ I (ICA).
    NaturalPlusIdentity,
}

impl MetricChoice {
    /// Names of the metrics with a sentence on each.
    pub const LIST: [(&'static str, &'static str); 5] = [
        ("identity", "B = I"),
        ("diagonal", "a constant diagonal matrix"),
        ("dense", "a constant symmetric positive definite matrix"),
        (
            "natural",
            "the model's own: posterior covariance (linear-gaussian), σ²/N·diag(1, ½) (normal), G⁻¹ (logistic), WᵀW ⊗ I (ica)",
        ),
        (
            "natural+identity",
            "the model's own plus the identity: I + G⁻¹ (logistic), (I + WᵀW) ⊗ I (ica)",
        ),
    ];

    /// Its name in [`LIST`](Self::LIST).
    pub fn name(&self) -> &'static str {
        let position = match self {
            MetricChoice::Identity => 0,
            MetricChoice::Diagonal(_) => 1,
            MetricChoice::Dense(_) => 2,
            MetricChoice::Natural => 3,
            MetricChoice::NaturalPlusIdentity => 4,
        };
        Self::LIST[position].0
    }

    /// The metric itself, where it does not depend on a model.
    pub fn constant(&self, dim: usize) -> Result<Option<Constant>> {
        Ok(match self {
            MetricChoice::Identity => Some(Constant::identity(dim)),
            MetricChoice::Diagonal(entries) => Some(Constant::diagonal(entries.clone())?),
            MetricChoice::Dense(matrix) => Some(Constant::dense(matrix)?),
            MetricChoice::Natural | MetricChoice::NaturalPlusIdentity => None,
        })
    }

    /// The metric that the paper uses for a model.
    pub fn of_paper(model: &Model) -> Self {
        match model {
            Model::LinearGaussian(_) | Model::Normal(_) => MetricChoice::Natural,
            Model::Logistic(_) | Model::Ica(_) => MetricChoice::NaturalPlusIdentity,
        }
    }
}

/// A dynamics by its choices.
#[derive(Clone, Debug)]
pub struct System {
    /// What to call it.
    pub name: String,
    /// Metric.
    pub metric: MetricChoice,
    /// Skew field.
    pub skew: Skew,
    /// Temperature.
    pub beta: f64,
}

impl System {
    /// The names of the paper.
    pub const NAMES: [&'static str; 5] = ["LD", "RM", "Irr", "RMIrr", "GiIrr"];

    /// One of the five systems of the paper, with the given metric and J where it has them.
    pub fn named(name: &str, metric: MetricChoice, j: SkewMatrix) -> Result<Self> {
        let (metric, skew) = match name {
            "LD" => (MetricChoice::Identity, Skew::None),
            "RM" => (metric, Skew::None),
            "Irr" => (MetricChoice::Identity, Skew::Constant(j)),
            "RMIrr" => (metric, Skew::Constant(j)),
            "GiIrr" => (metric, Skew::Geometric(j)),
            _ => {
                return Err(Error::UnknownName {
                    kind: "system",
                    name: name.into(),
                    expected: Self::NAMES.join(", "),
                });
            }
        };
        Ok(System {
            name: name.into(),
            metric,
            skew,
            beta: DEFAULT_BETA,
        })
    }

    /// The dynamics with a metric of any type.
    pub fn with_metric<M: Metric>(&self, metric: M) -> Result<Dynamics<M>> {
        Dynamics::new(metric, self.skew.clone())?.with_beta(self.beta)
    }
}
