//! What work costs about, from its sizes alone: the cut into units must not depend on a clock.
//!
//! The factors were measured on one core with AVX-512 and are meant to be right within a factor
//! of two.

use langevin::batch::Gradient;
use langevin::catalog::{MetricChoice, Model};

use crate::run_file::Arm;
use crate::target::Target;

/// Nanoseconds that every step takes.
const STEP: f64 = 8.0;
/// Nanoseconds per number of the data that a gradient looks at.
const NUMBER: f64 = 0.5;
/// Nanoseconds per product of two features of a row in the metric of logistic regression.
const PRODUCT: f64 = 0.05;
/// Nanoseconds per pair of points and coordinate of a discrepancy.
const PAIR: f64 = 0.6;
/// Nanoseconds that a step of one chain of own code takes, among many: a guess.
const OWN_STEP: f64 = 1000.0;

/// Nanoseconds of one thread that a step of one chain takes.
pub fn step(target: &Target, arm: &Arm) -> f64 {
    let Some(model) = target.model() else {
        return OWN_STEP;
    };
    let (n_data, dim) = (model.n_data() as f64, model.dim() as f64);
    let rows = match arm.gradient {
        Gradient::Exact => n_data,
        Gradient::Minibatch { batch_size, .. } => batch_size as f64,
    };
    let gradient = match model {
        // Sums over all data are known beforehand.
        Model::LinearGaussian(_) | Model::Normal(_) if arm.gradient == Gradient::Exact => dim,
        _ => rows * dim,
    };
    let natural = matches!(
        arm.system.metric,
        MetricChoice::Natural | MetricChoice::NaturalPlusIdentity
    );
    let metric = match model {
        Model::Logistic(_) if natural => PRODUCT * n_data * dim * dim,
        _ => 0.0,
    };
    STEP + NUMBER * gradient + metric
}

/// Nanoseconds of one thread that a pair of points takes.
pub fn pair(dim: usize) -> f64 {
    PAIR * dim as f64 + 2.0
}
