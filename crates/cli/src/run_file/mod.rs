//! Run files: one TOML schema for every job, documented in `docs/run-file.md`.
//!
//! [`typed`] holds what was typed, with the place of every field; the other modules check what it
//! means and build the machinery. Everything is validated before any work starts, and every
//! refusal names file, line and what was expected.

mod arm;
mod data;
mod kind;
mod measure;
mod nearest;
mod needs;
mod reader;
pub mod seed;
mod source;
mod target;
pub mod typed;
mod typed_data;
mod typed_measure;
mod typed_run;
mod typed_target;

use std::path::Path;
use std::sync::Arc;

use langevin::Error;
use langevin::catalog::{self, Model};
use langevin::chain::{Plan, RunError, Start};

pub use arm::Arm;
pub use kind::Kind;
pub use measure::{Ksd, Measure, Named, OBSERVABLES, Reference, Trajectories, Truth};
pub use needs::{Needs, RunNeeds, Size};
pub use seed::{SeedFrom, Seeds};
pub use source::{Place, Result, RunFileError, Source};
pub use target::Target;

use crate::shown::{self, quoted};
use arm::Places;
use source::AtPlace;

/// A run file that has passed every check.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file.
    pub source: Arc<Source>,
    /// Title of reports.
    pub title: String,
    /// The model.
    pub target: Arc<Target>,
    /// Number of chains.
    pub n_chains: usize,
    /// Number of states of each chain, the initial one included.
    pub n_steps: u64,
    /// States to leave out.
    pub burn_in: u64,
    /// Distance between stored draws.
    pub thin: u64,
    /// Seed.
    pub seed: u64,
    /// Where the seed came from.
    pub seed_from: SeedFrom,
    /// Initial states.
    pub start: Start,
    /// The initial states in words.
    pub start_text: String,
    /// The dynamics to compare.
    pub arms: Vec<Arm>,
    /// What is measured.
    pub measure: Measure,
    /// Memory, room on the disk and steps.
    pub needs: RunNeeds,
}

impl Run {
    /// Reads and checks a run file. A seed that is given replaces that of the file; where there is
    /// none at all, one is drawn.
    pub fn load(path: &Path, seeds: impl Into<Seeds>) -> Result<Self> {
        Self::from_source(&Source::open(path)?, seeds)
    }

    /// The same for a text in memory.
    ///
    /// ```
    /// use langevin_cli::run_file::{Run, Source};
    /// let text = r#"
    ///     dynamics = ["LD", "RM"]
    ///     [target]
    ///     model = "normal"
    ///     data.values = [1.0, 2.0, 4.0, 8.0]
    ///     [run]
    ///     n_chains = 8
    ///     n_steps = 1000
    ///     step_size = 0.01
    /// "#;
    /// let run = Run::from_source(&Source::from_text("demo.toml", text), None)?;
    /// assert_eq!(run.arms.len(), 2);
    /// # Ok::<(), langevin_cli::run_file::RunFileError>(())
    /// ```
    pub fn from_source(source: &Arc<Source>, seeds: impl Into<Seeds>) -> Result<Self> {
        let typed = typed::Typed::read(source)?;
        let (seed, seed_from) = seeds.into().settle(typed.run.seed)?;
        let target = Target::new(&typed.target)?;
        let needs = RunNeeds::new(&typed, target.model.dim());
        needs.to_load.check_memory()?;
        let arms = arm::arms(&typed.dynamics, &typed.run, &target.model)?;
        let plain: Vec<Arm> = arms.iter().map(|(arm, _)| arm.clone()).collect();
        let measure = Measure::new(&typed.measure, &typed.run, &target, &plain)?;
        let (start, start_text) = start(&typed.run, &target)?;
        let stem = source.path().file_stem().unwrap_or_default();
        let run = Run {
            source: source.clone(),
            title: typed
                .title
                .unwrap_or_else(|| stem.to_string_lossy().into_owned()),
            target: Arc::new(target),
            n_chains: typed.run.n_chains.value as usize,
            n_steps: typed.run.n_steps.value,
            burn_in: typed.run.burn_in.value,
            thin: typed.run.thin,
            seed,
            seed_from,
            start,
            start_text,
            arms: plain,
            measure,
            needs,
        };
        let start_place = typed
            .run
            .start
            .as_ref()
            .map_or(&typed.run.place, |s| &s.place);
        for (arm, places) in &arms {
            run.rehearse(arm, run.n_chains)
                .map_err(|e| place_of(&e, places, start_place).error(e))?;
        }
        if let Truth::Reference(reference) = &run.measure.truth {
            // Its place in the file is that of the truth; the library says what is wrong.
            let place = typed.measure.truth.as_ref().map(|t| &t.place);
            run.rehearse(&reference.arm, reference.n_chains)
                .at(place.unwrap_or(start_place))?;
        }
        if let Some(ksd) = &run.measure.ksd {
            let place = typed.measure.ksd.as_ref().map(|k| &k.place);
            for (arm, _) in &arms {
                run.rehearse(&ksd.arm(arm), ksd.n_chains)
                    .at(place.unwrap_or(start_place))?;
            }
        }
        Ok(run)
    }

    /// The same run with its results in an output folder: a seed that was drawn gives way to that
    /// of earlier work there.
    pub fn in_folder(&self, folder: &Path) -> Result<Self> {
        if self.seed_from != SeedFrom::Drawn {
            return Ok(self.clone());
        }
        let seeds = Seeds {
            given: None,
            folder: Some(folder.into()),
        };
        Self::from_source(&self.source, seeds)
    }

    /// The dynamics with this name, or a refusal that says which names there are.
    pub fn arm(&self, name: &str) -> Result<&Arm> {
        let found = self.arms.iter().find(|arm| arm.name == name);
        found.ok_or_else(|| RunFileError {
            file: self.source.path().into(),
            line: None,
            message: format!(
                "there are no dynamics {}; expected one of {}",
                quoted(name),
                self.arm_names()
            ),
        })
    }

    /// The names of all dynamics, for messages.
    pub fn arm_names(&self) -> String {
        let names: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        shown::names(&names)
    }

    /// The plan of an arm for chains `first..first + n`.
    pub fn plan(&self, arm: &Arm, n_steps: u64, first: u64, n: usize) -> Plan {
        Plan {
            n_steps,
            first_chain: first,
            ..Plan::new(1, 1.0)
                .chains(n)
                .step_sizes(arm.step_size)
                .start(self.start.clone())
                .seed(self.seed)
        }
    }

    /// Passes every check of the library without taking a step.
    fn rehearse(&self, arm: &Arm, n_chains: usize) -> std::result::Result<(), RunError> {
        let plan = self.plan(arm, self.n_steps, 0, n_chains);
        let (model, system) = (&self.target.model, &arm.system);
        let job = catalog::euler(model, system, arm.gradient, arm.step_size)?;
        job.start(&plan).map(drop)
    }
}

/// Where the cause of a library error was typed.
fn place_of<'a>(error: &RunError, places: &'a Places, start: &'a Place) -> &'a Place {
    let RunError::Input(error) = error else {
        return &places.entry;
    };
    match error {
        Error::UnstableStep { .. } | Error::Decay { .. } => &places.step_size,
        Error::BatchSize { .. } | Error::NoData | Error::TooManyData { .. } => &places.batch,
        Error::NotSkew { .. } => &places.skew,
        Error::OutsideSupport { .. } | Error::Singular { .. } => start,
        Error::WrongSize { name, .. } | Error::NotFinite { name, .. }
            if name.contains("initial state") =>
        {
            start
        }
        Error::TooFew { name, .. } if name.contains("initial states") => start,
        _ => &places.entry,
    }
}

/// Initial states, and words for them.
fn start(run: &typed::Run, target: &Target) -> Result<(Start, String)> {
    let model = &target.model;
    let Some(source::At { value, place }) = &run.start else {
        return Ok(default_start(model));
    };
    let dim = model.dim();
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
        typed::Start::RandomSigns => match model {
            Model::Ica(_) => return Ok(default_start(model)),
            _ => {
                return place.refuse(format!(
                    "\"random-signs\" is a start for the model \"ica\", not for {:?}",
                    model.name()
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
fn default_start(model: &Model) -> (Start, String) {
    match model {
        Model::Normal(m) => {
            let state = vec![m.sample_mean(), m.sample_sd()];
            let text = list(&state);
            (Start::Fixed(state), text)
        }
        Model::Ica(m) => {
            let m = m.clone();
            let start = move |seed, chain| m.random_signs(seed, chain);
            (Start::Function(Arc::new(start)), "random signs".into())
        }
        Model::LinearGaussian(_) | Model::Logistic(_) => {
            (Start::Fixed(vec![0.0; model.dim()]), "origin".into())
        }
    }
}
