//! What is sampled, wherever it is computed.

use std::fmt;
use std::sync::Arc;

use langevin::adapt::Sampler;
use langevin::batch::Gradient;
use langevin::catalog::{self, Job, Model, System};
use langevin::foreign::{self, Worker};
use langevin::scale;
use langevin::transition::StepSize;
use langevin::{Failure, RunError};

use crate::store::{Dim, Layout, Param, StoreError};

/// A target with the names of its parameters.
#[derive(Clone, Debug)]
pub struct Target {
    /// What is computed.
    pub sampled: Sampled,
    /// Names and shapes of the parameters that draws are shown as, arrays row by row.
    pub layout: Layout,
    /// Names of the coordinates of θ, in the order in which people list them.
    pub coordinates: Vec<String>,
    /// For each of these names, the coordinate of θ.
    pub order: Vec<usize>,
    /// A hash of everything that its values depend on; none where nobody can tell.
    pub fingerprint: Option<String>,
}

/// A model of the library, or somebody's own code.
#[derive(Clone, Debug)]
pub enum Sampled {
    /// A model of the library.
    Model(Arc<Model>),
    /// Own code.
    Own(Arc<dyn Own>),
}

/// A target in code that is not of this library.
pub trait Own: fmt::Debug + Send + Sync {
    /// What to call it.
    fn name(&self) -> &str;

    /// Number of coordinates of θ.
    fn dim(&self) -> usize;

    /// Number of data that minibatches can be drawn from; 0 without data.
    fn n_data(&self) -> usize {
        0
    }

    /// Its functions, for at most so many threads, one or more.
    fn workers(&self, threads: usize) -> Vec<Worker<'_>>;

    /// The free coordinates of a state that people gave; the state itself unless it is transformed.
    fn free(&self, state: &[f64]) -> langevin::Result<Vec<f64>> {
        Ok(state.to_vec())
    }

    /// Appends states as people see them, in the order of the layout; the states themselves unless
    /// they are transformed.
    fn show(&self, thetas: &[f64], out: &mut Vec<f64>) -> Result<(), Failure> {
        out.extend_from_slice(thetas);
        Ok(())
    }
}

impl Target {
    /// A model or own code whose coordinates have no names but θ, and whose values nobody can tell
    /// from those of another.
    pub fn plain(sampled: Sampled) -> Result<Self, StoreError> {
        let dim = match &sampled {
            Sampled::Model(model) => model.dim(),
            Sampled::Own(own) => own.dim(),
        };
        let dims = vec![Dim::indexed("theta_dim_0", dim)];
        let layout = Layout::new(vec![Param::array("theta", dims)])?;
        Ok(Target {
            coordinates: layout.labels(),
            layout,
            order: (0..dim).collect(),
            sampled,
            fingerprint: None,
        })
    }

    /// What to call it.
    pub fn name(&self) -> &str {
        match &self.sampled {
            Sampled::Model(model) => model.name(),
            Sampled::Own(own) => own.name(),
        }
    }

    /// The model of the library, if it is one.
    pub fn model(&self) -> Option<&Model> {
        match &self.sampled {
            Sampled::Model(model) => Some(model),
            Sampled::Own(_) => None,
        }
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        match &self.sampled {
            Sampled::Model(model) => model.dim(),
            Sampled::Own(own) => own.dim(),
        }
    }

    /// Number of data.
    pub fn n_data(&self) -> usize {
        match &self.sampled {
            Sampled::Model(model) => model.n_data(),
            Sampled::Own(own) => own.n_data(),
        }
    }

    /// The coordinate of θ with this name; blanks do not matter.
    pub fn coordinate(&self, name: &str) -> Option<usize> {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        let names = &self.coordinates;
        let at = names.iter().position(|label| bare(label) == bare(name))?;
        Some(self.order[at])
    }

    /// The chains of a dynamics.
    pub fn job(
        &self,
        system: &System,
        gradient: Gradient,
        step_size: StepSize,
        threads: usize,
    ) -> langevin::Result<Box<dyn Job + '_>> {
        match &self.sampled {
            Sampled::Model(model) => catalog::euler(model, system, gradient, step_size),
            Sampled::Own(own) => {
                let workers = own.workers(threads);
                foreign::euler(workers, system, gradient, step_size)
            }
        }
    }

    /// What samples it exactly, in coordinates that are free of bounds.
    pub fn sampler(&self, threads: usize) -> langevin::Result<Box<dyn Sampler + '_>> {
        match &self.sampled {
            Sampled::Model(model) => catalog::sampler(model),
            Sampled::Own(own) => foreign::sampler(own.workers(threads)),
        }
    }

    /// States in the free coordinates of its [sampler](Self::sampler) as people see them.
    pub fn show_free(&self, states: &[f64]) -> Result<Vec<f64>, RunError> {
        match self.free_layout()? {
            Some(scales) => self.show(&scales.constrain_draws(states)?),
            None => self.show(states),
        }
    }

    /// The free coordinates of a state θ.
    pub fn free(&self, theta: &[f64]) -> langevin::Result<Vec<f64>> {
        match (self.free_layout()?, &self.sampled) {
            (Some(scales), _) => scales.free_state(theta),
            (None, Sampled::Own(own)) => own.free(theta),
            (None, Sampled::Model(_)) => Ok(theta.to_vec()),
        }
    }

    fn free_layout(&self) -> langevin::Result<Option<scale::Layout>> {
        self.model().map_or(Ok(None), catalog::free_layout)
    }

    /// States as people see them, one after the other.
    pub fn show(&self, states: &[f64]) -> Result<Vec<f64>, RunError> {
        let mut shown = Vec::with_capacity(states.len());
        match &self.sampled {
            Sampled::Model(_) => {
                for theta in states.chunks_exact(self.dim()) {
                    shown.extend(self.order.iter().map(|i| theta[*i]));
                }
            }
            Sampled::Own(own) => own.show(states, &mut shown).map_err(RunError::Call)?,
        }
        Ok(shown)
    }

    /// ∇ log π of states, one after the other.
    pub fn scores(&self, states: &[f64]) -> Result<Vec<f64>, RunError> {
        match &self.sampled {
            Sampled::Model(model) => Ok(model.scores(states)),
            Sampled::Own(own) => {
                let mut scores = vec![f64::NAN; states.len()];
                for worker in own.workers(1).iter_mut().take(1) {
                    let done = worker.target.score(states, &mut scores);
                    done.map_err(RunError::Call)?;
                }
                Ok(scores)
            }
        }
    }
}
