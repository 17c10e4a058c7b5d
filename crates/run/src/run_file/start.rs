//! Where chains start.

use std::sync::Arc;

use langevin::catalog::Model;
use langevin::chain::Start;

use super::source::{At, Result};
use super::typed;
use crate::target::Target;

/// Initial states, and words for them.
pub fn start(run: &typed::Run, target: &Target) -> Result<(Start, String)> {
    let Some(At { value, place }) = &run.start else {
        return Ok(default_start(target));
    };
    let dim = target.dim();
    let check = |found: usize| match found == dim {
        true => Ok(()),
        false => place.refuse(format!(
            "a state of {found} numbers, but the model has {dim} coordinates"
        )),
    };
    let (start, text) = match value {
        typed::Start::Fixed(state) => {
            check(state.len())?;
            let start = Start::Fixed(in_theta_order(state, target));
            (start, list(state))
        }
        typed::Start::PerChain(states) => {
            for state in states {
                check(state.len())?;
            }
            let text: Vec<String> = states.iter().map(|state| list(state)).collect();
            let states = states.iter().map(|state| in_theta_order(state, target));
            (Start::PerChain(states.collect()), text.join(", "))
        }
        typed::Start::Normal { mean, sd } => {
            let mean = match mean.as_slice() {
                [x] => vec![*x; dim],
                list => list.to_vec(),
            };
            check(mean.len())?;
            let text = format!("normal around {} with standard deviation {sd}", list(&mean));
            let mean = in_theta_order(&mean, target);
            (Start::Normal { mean, sd: *sd }, text)
        }
        typed::Start::RandomSigns => match target.model() {
            Some(Model::Ica(_)) => return Ok(default_start(target)),
            _ => {
                return place.refuse(format!(
                    "\"random-signs\" is a start for the model \"ica\", not for {:?}",
                    target.name()
                ));
            }
        },
    };
    Ok((start, text))
}

/// `[5, 20]`.
fn list(state: &[f64]) -> String {
    let numbers: Vec<String> = state.iter().map(f64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

/// States are typed in the order of the layout.
fn in_theta_order(state: &[f64], target: &Target) -> Vec<f64> {
    let mut theta = vec![0.0; state.len()];
    for (x, i) in state.iter().zip(&target.order) {
        theta[*i] = *x;
    }
    theta
}

/// Where chains start unless told otherwise: at the sample mean and standard deviation, at a
/// diagonal matrix of random signs, or at the origin.
pub(crate) fn default_start(target: &Target) -> (Start, String) {
    match target.model() {
        Some(Model::Normal(m)) => {
            let state = vec![m.sample_mean(), m.sample_sd()];
            let text = list(&state);
            (Start::Fixed(state), text)
        }
        Some(Model::Ica(m)) => {
            let m = m.clone();
            let start = move |seed, chain| m.random_signs(seed, chain);
            (Start::Function(Arc::new(start)), "random signs".into())
        }
        Some(Model::LinearGaussian(_) | Model::Logistic(_)) | None => {
            (Start::Fixed(vec![0.0; target.dim()]), "origin".into())
        }
    }
}
