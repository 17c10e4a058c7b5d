//! Exact samplers of the models.

use super::Model;
use crate::adapt::{Cost, Sampler, Settings, Starts, WarmUp};
use crate::chain::{Advanced, Chains, How, Records};
use crate::models::NormalParameters;
use crate::oracle::Exact;
use crate::record::Draws;
use crate::scale::{Constrained, Layout};
use crate::transition::Hamiltonian;
use crate::{Result, RunError};

/// What samples a model exactly. Where [`free_layout`] has a layout, it moves the free coordinates.
///
/// ```
/// use langevin::catalog::{Model, free_layout, sampler};
/// use langevin::models::NormalParameters;
/// let model = Model::Normal(NormalParameters::new(vec![1.0, 2.0, 4.0, 3.0])?);
/// let _ = sampler(&model)?;
/// assert_eq!(free_layout(&model)?.unwrap().to_string(), "mu, sigma: positive");
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn sampler(model: &Model) -> Result<Box<dyn Sampler + '_>> {
    Ok(match model {
        Model::LinearGaussian(m) => Box::new(Exact::new(m)),
        Model::Normal(m) => Box::new(FreeNormal(m.clone().free()?)),
        Model::Logistic(m) => Box::new(Exact::new(m)),
        Model::Ica(m) => Box::new(Exact::new(m)),
    })
}

/// The scales of a model's parameters, where not all are real.
pub fn free_layout(model: &Model) -> Result<Option<Layout>> {
    match model {
        Model::Normal(m) => Layout::of(m).map(Some),
        _ => Ok(None),
    }
}

/// The normal model in (μ, log σ).
struct FreeNormal(Constrained<NormalParameters>);

impl Sampler for FreeNormal {
    fn cost(&self) -> Cost {
        Cost::Lanes
    }

    fn gives_log_density(&self) -> bool {
        true
    }

    fn warm_up(
        &self,
        seed: u64,
        starts: &Starts,
        settings: &Settings,
        how: &How<'_>,
    ) -> std::result::Result<Option<WarmUp>, RunError> {
        Exact::new(&self.0).warm_up(seed, starts, settings, how)
    }

    fn draw(
        &self,
        chains: &mut Chains,
        tuned: &Hamiltonian,
        n_steps: u64,
        thin: u64,
        how: &How<'_>,
    ) -> std::result::Result<(Records<Draws>, Advanced), RunError> {
        Exact::new(&self.0).draw(chains, tuned, n_steps, thin, how)
    }

    fn evaluate(&self, states: &[f64]) -> std::result::Result<(Vec<f64>, Vec<f64>), RunError> {
        Exact::new(&self.0).evaluate(states)
    }
}
