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
mod posterior;
mod reader;
pub mod seed;
mod source;
mod start;
mod target;
pub mod typed;
mod typed_data;
mod typed_measure;
mod typed_run;
mod typed_target;

use std::path::Path;
use std::sync::Arc;

use langevin::Error;
use langevin::chain::{RunError, Start};

pub use arm::Arm;
pub use kind::Kind;
pub use measure::{Ksd, Measure, Named, OBSERVABLES, Reference, Trajectories, Truth};
pub use needs::{Needs, RunNeeds, Size};
pub use posterior::Posterior;
pub use seed::{Asked, SeedFrom};
pub use source::{Place, Result, RunFileError, Source};

use crate::execute::{Recording, Task};
use crate::shown::{self, quoted};
use crate::target::Target;
use arm::Places;
use source::AtPlace;

/// A run file that has passed every check.
#[derive(Clone, Debug)]
pub struct Run {
    /// The file, if it came from one.
    pub source: Option<Arc<Source>>,
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
    pub fn load(path: &Path, asked: impl Into<Asked>) -> Result<Self> {
        Self::from_source(&Source::open(path)?, asked)
    }

    /// The same for a text in memory.
    ///
    /// ```
    /// use langevin_run::run_file::{Run, Source};
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
    /// # Ok::<(), langevin_run::run_file::RunFileError>(())
    /// ```
    pub fn from_source(source: &Arc<Source>, asked: impl Into<Asked>) -> Result<Self> {
        let asked = asked.into();
        let typed = typed::Typed::read(source)?;
        let (seed, seed_from) = asked.settle(typed.run.seed)?;
        let target = target::target(&typed.target, asked.libraries)?;
        let needs = RunNeeds::new(&typed, target.dim());
        needs.to_load.check_memory()?;
        let arms = arm::arms(&typed.dynamics, &typed.run, &target)?;
        let plain: Vec<Arm> = arms.iter().map(|(arm, _)| arm.clone()).collect();
        let measure = Measure::new(&typed.measure, &typed.run, &target, &plain)?;
        let (start, start_text) = start::start(&typed.run, &target)?;
        let stem = source.path().file_stem().unwrap_or_default();
        let run = Run {
            source: Some(source.clone()),
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
        let asked = Asked {
            folder: Some(folder.into()),
            ..Asked::default()
        };
        let (seed, seed_from) = asked.settle(None)?;
        Ok(Run {
            seed,
            seed_from,
            ..self.clone()
        })
    }

    /// The dynamics with this name, or a refusal that says which names there are.
    pub fn arm(&self, name: &str) -> Result<&Arm> {
        let found = self.arms.iter().find(|arm| arm.name == name);
        found.ok_or_else(|| RunFileError {
            file: self.path().into(),
            line: None,
            message: format!(
                "there are no dynamics {}; expected one of {}",
                quoted(name),
                self.arm_names()
            ),
        })
    }

    /// Where the run file is, for messages.
    pub fn path(&self) -> &Path {
        self.source.as_ref().map_or(Path::new(""), |s| s.path())
    }

    /// The names of all dynamics, for messages.
    pub fn arm_names(&self) -> String {
        let names: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        shown::names(&names)
    }

    /// Chains of one of its dynamics.
    pub fn task(&self, arm: &Arm, n_chains: usize, n_steps: u64, recording: Recording) -> Task {
        Task {
            target: self.target.clone(),
            start: self.start.clone(),
            seed: self.seed,
            arm: arm.clone(),
            n_chains,
            n_steps,
            recording,
        }
    }

    /// Passes every check of the library without taking a step.
    fn rehearse(&self, arm: &Arm, n_chains: usize) -> std::result::Result<(), RunError> {
        let task = self.task(arm, n_chains, self.n_steps, Recording::default());
        task.rehearse()
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
