//! Exact answers for the models that have them, beside which measurements are put.

use langevin::batch::Gradient;
use langevin::catalog::{MetricChoice, Model, System};
use langevin::chain::Start;
use langevin::models::{LinearGaussian, NormalParameters};
use langevin::skew::Skew;
use langevin::theory::{
    self, EulerChain, GradientNoise, LinearDiffusion, Moments, NormalDiffusion, NormalMetric,
    NormalPosterior, NormalSkew, Observable, Sampling,
};
use langevin::transition::StepSize;
use langevin::{Error, Result};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use crate::run_file::{Arm, Run};
use crate::target::Target;

/// The exact expectation of an observable under the target, where the model has one.
pub fn expectation(target: &Target, observable: &Observable) -> Option<Result<f64>> {
    match target.model()? {
        Model::LinearGaussian(m) => {
            let covariance = m.precision().try_inverse().ok_or(Error::Breakdown {
                name: "the inverse of the precision",
            });
            Some(covariance.and_then(|c| observable.expectation(m.mean(), &c)))
        }
        Model::Normal(m) => Some(posterior(m).and_then(|p| p.expectation(observable))),
        Model::Logistic(_) | Model::Ica(_) => None,
    }
}

fn posterior(model: &NormalParameters) -> Result<NormalPosterior> {
    NormalPosterior::new(model.rows().len(), model.sample_mean(), model.sample_sd())
}

/// Exact asymptotic variances of an observable under one dynamics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Variances {
    /// Of the diffusion, in continuous time.
    pub diffusion: Option<f64>,
    /// Of the Euler–Maruyama chain with its step size and gradient noise.
    pub chain: Option<f64>,
    /// Expectation of the batch-means estimator: of the chain where `chain` is known, else of the
    /// diffusion.
    pub batch_means: Option<f64>,
}

/// What theory knows about an arm of a run.
pub enum Exact {
    /// Gaussian target, constant metric.
    Gaussian {
        /// In continuous time.
        diffusion: Box<LinearDiffusion>,
        /// With a constant step size.
        chain: Option<Box<EulerChain>>,
        /// The state that all chains start from, if it is one.
        start: Option<DVector<f64>>,
    },
    /// Mean and standard deviation of normal data, in continuous time.
    Normal {
        /// The diffusion.
        diffusion: Box<NormalDiffusion>,
        /// The constant step size.
        step_size: Option<f64>,
    },
    /// Nothing.
    Unknown,
}

impl Exact {
    /// What is known about an arm.
    pub fn new(run: &Run, arm: &Arm) -> Result<Self> {
        let step_size = match arm.step_size {
            StepSize::Constant(h) => Some(h),
            StepSize::Decreasing { .. } => None,
        };
        let Some(model) = run.target.model() else {
            return Ok(Exact::Unknown);
        };
        match model {
            Model::LinearGaussian(model) => gaussian(model, arm, step_size, &run.start),
            Model::Normal(model) => normal(model, &arm.system, step_size),
            Model::Logistic(_) | Model::Ica(_) => Ok(Exact::Unknown),
        }
    }

    /// Asymptotic variances of an observable; the estimator has `n_batches` of `batch_steps` after
    /// `skipped` states.
    pub fn variances(
        &self,
        observable: &Observable,
        n_batches: usize,
        batch_steps: u64,
        skipped: u64,
    ) -> Result<Variances> {
        match self {
            Exact::Gaussian {
                diffusion,
                chain,
                start,
            } => {
                let start = match start {
                    Some(theta) if skipped == 0 => theory::Start::At(theta.clone()),
                    _ => theory::Start::Stationary,
                };
                let mut known = Variances {
                    diffusion: Some(diffusion.asymptotic_variance(observable)?),
                    ..Variances::default()
                };
                if let Some(chain) = chain {
                    let steps = batch_steps as usize;
                    let batch =
                        chain.batch_means_expectation(observable, n_batches, steps, &start)?;
                    known.chain = Some(chain.asymptotic_variance(observable)?);
                    known.batch_means = Some(batch);
                }
                Ok(known)
            }
            Exact::Normal {
                diffusion,
                step_size,
            } => {
                let time = step_size.map(|h| h * batch_steps as f64);
                let batch = |time| diffusion.batch_means_expectation(observable, n_batches, time);
                Ok(Variances {
                    diffusion: Some(diffusion.asymptotic_variance(observable)?),
                    chain: None,
                    batch_means: time.map(batch).transpose()?,
                })
            }
            Exact::Unknown => Ok(Variances::default()),
        }
    }

    /// Bias and variance of the average over the first `n_steps` states, where known.
    pub fn running_average(
        &self,
        observable: &Observable,
        n_steps: u64,
    ) -> Option<Result<Moments>> {
        match self {
            Exact::Gaussian {
                chain: Some(chain),
                start: Some(start),
                ..
            } => Some(chain.running_average(observable, n_steps as usize, start)),
            _ => None,
        }
    }
}

fn gaussian(
    model: &LinearGaussian,
    arm: &Arm,
    step_size: Option<f64>,
    start: &Start,
) -> Result<Exact> {
    let d = model.mean().len();
    let metric = match &arm.system.metric {
        MetricChoice::Identity => DMatrix::identity(d, d),
        MetricChoice::Diagonal(entries) => DMatrix::from_diagonal(&entries.clone().into()),
        MetricChoice::Dense(matrix) => matrix.clone(),
        MetricChoice::Natural => model.natural()?.matrix(),
        MetricChoice::NaturalPlusIdentity => return Ok(Exact::Unknown),
    };
    let skew = match &arm.system.skew {
        Skew::None => DMatrix::zeros(d, d),
        Skew::Constant(j) => j.matrix(),
        Skew::Geometric(j) => (j.matrix() * &metric + &metric * j.matrix()) * 0.5,
    };
    let beta = arm.system.beta;
    let diffusion = LinearDiffusion::new(&model.precision(), model.mean(), &metric, &skew, beta)?;
    let noise = match arm.gradient {
        Gradient::Exact => None,
        Gradient::Minibatch {
            batch_size,
            with_replacement,
        } => {
            let rows: Vec<f64> = model.rows().iter().flatten().copied().collect();
            let data = DMatrix::from_row_slice(rows.len() / d, d, &rows);
            let sampling = match with_replacement {
                true => Sampling::WithReplacement,
                false => Sampling::WithoutReplacement,
            };
            let precision = model.noise_precision();
            Some(GradientNoise::minibatch(
                &data, precision, batch_size, sampling,
            )?)
        }
    };
    let chain = step_size.map(|h| diffusion.euler_maruyama(h, noise.as_ref()));
    Ok(Exact::Gaussian {
        chain: chain.transpose()?.map(Box::new),
        diffusion: Box::new(diffusion),
        start: match start {
            Start::Fixed(theta) => Some(DVector::from_column_slice(theta)),
            _ => None,
        },
    })
}

fn normal(model: &NormalParameters, system: &System, step_size: Option<f64>) -> Result<Exact> {
    let metric = match system.metric {
        MetricChoice::Identity => NormalMetric::Identity,
        MetricChoice::Natural => NormalMetric::Natural,
        _ => return Ok(Exact::Unknown),
    };
    let skew = match &system.skew {
        Skew::None => NormalSkew::None,
        Skew::Constant(j) => NormalSkew::Constant(j.get(0, 1)),
        Skew::Geometric(j) => NormalSkew::Geometric(j.get(0, 1)),
    };
    match NormalDiffusion::new(posterior(model)?, metric, skew, system.beta) {
        Ok(diffusion) => Ok(Exact::Normal {
            diffusion: Box::new(diffusion),
            step_size,
        }),
        // The method needs more data than the model does.
        Err(Error::TooFew { name: "n_data", .. }) => Ok(Exact::Unknown),
        Err(error) => Err(error),
    }
}
