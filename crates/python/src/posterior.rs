//! Draws of a posterior without choices.

use std::sync::Arc;
use std::time::Duration;

use langevin::chain::Control;
use langevin_run::posterior::{self, Drawn, Status, Wanted};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::job;
use crate::own::TargetArgument;
use crate::supervise::{Watcher, aside, inline};

/// What is asked for; one key of the dictionary for each field.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Asked<'py> {
    n_chains: Option<usize>,
    starts: Option<PyReadonlyArray2<'py, f64>>,
    seed: u64,
    min_ess: Option<f64>,
    n_draws: Option<u64>,
    tune: Option<u64>,
    target_accept: Option<f64>,
    max_seconds: f64,
    max_gradients: u64,
    check: bool,
    names: Option<Vec<String>>,
    /// Layout of constrained parameters as text.
    scales: Option<String>,
    /// Shows states as people see them, where the target does not.
    shows: Option<Py<PyAny>>,
    threads: Option<usize>,
    /// Called with JSON now and then.
    tell: Option<Py<PyAny>>,
}

impl Asked<'_> {
    fn wanted(&self) -> Wanted {
        Wanted {
            n_chains: self.n_chains,
            starts: self.starts.as_ref().map(|starts| {
                let rows = starts.as_array();
                rows.outer_iter().map(|row| row.to_vec()).collect()
            }),
            seed: self.seed,
            min_ess: self.min_ess,
            n_draws: self.n_draws,
            tune: self.tune,
            target_accept: self.target_accept,
            max_time: Duration::try_from_secs_f64(self.max_seconds).unwrap_or(Duration::MAX),
            max_gradients: self.max_gradients,
            check: self.check,
            names: self.names.clone(),
        }
    }
}

/// Samples a target; nothing has to be chosen.
#[pyfunction]
pub fn draw(py: Python<'_>, target: TargetArgument<'_>, asked: Asked<'_>) -> PyResult<Posterior> {
    let watcher = Arc::new(Watcher::new(None));
    let calls_python = target.is_python();
    let scales = asked.scales.as_deref();
    let shows = asked.shows.as_ref().map(|f| f.clone_ref(py));
    let target = target.target(None, scales, shows, &watcher)?;
    let wanted = asked.wanted();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = asked.threads.unwrap_or_else(cores).max(1);
    let tell = |status: &Status| {
        let Some(tell) = &asked.tell else { return };
        let text = json!({
            "warming_up": status.warming_up,
            "gradients": status.gradients,
            "n_draws": status.n_draws,
            "ess": status.ess,
            "wanted": status.wanted,
            "rhat": status.rhat,
            "seconds": status.seconds,
            "left": status.left,
        });
        Python::attach(|py| {
            if let Err(error) = tell.call1(py, (text.to_string(),)) {
                watcher.stop(py, error);
            }
        });
    };
    let work = |control: Control<'_>| {
        let how = posterior::Settings {
            cache: None,
            threads,
            control,
            tell: Some(&tell),
        };
        posterior::draw(&target, &wanted, how)
    };
    let drawn = match calls_python {
        true => inline(py, &watcher, work)?,
        false => aside(py, &watcher, work)?,
    };
    Ok(Posterior {
        drawn: drawn.map_err(job)?,
    })
}

/// Draws of a posterior, and what they are worth.
#[pyclass(frozen, module = "langevin._core")]
pub struct Posterior {
    drawn: Drawn,
}

impl Posterior {
    fn array<'py>(&self, py: Python<'py>, values: &[f64]) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let kept = &self.drawn.kept;
        let shape = [kept.n_chains(), kept.n_draws()];
        let width = values.len() / (shape[0] * shape[1]).max(1);
        PyArray1::from_slice(py, values).reshape([shape[0], shape[1], width])
    }

    fn table<'py>(&self, py: Python<'py>, values: Vec<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let kept = &self.drawn.kept;
        PyArray1::from_vec(py, values).reshape([kept.n_chains(), kept.n_draws()])
    }
}

#[pymethods]
impl Posterior {
    /// Draws as people see them, of shape (chain, draw, number).
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.array(py, &self.drawn.judged.shown)
    }

    /// Draws in the coordinates in which the chains moved.
    fn free<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.array(py, &self.drawn.kept.states())
    }

    /// Scores in these coordinates.
    fn scores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        self.array(py, &self.drawn.kept.scores())
    }

    /// log π, acceptance and energy error of the draws.
    #[allow(clippy::type_complexity)]
    fn told<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
        Bound<'py, PyArray2<f64>>,
    )> {
        let kept = &self.drawn.kept;
        Ok((
            self.table(py, kept.log_density())?,
            self.table(py, kept.acceptance())?,
            self.table(py, kept.energy_error())?,
        ))
    }

    /// Warnings in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.drawn.judged.warnings.clone()
    }

    /// Everything else, as JSON.
    #[getter]
    fn report(&self) -> String {
        let (mut report, timing) = (self.drawn.report(), self.drawn.timing());
        report["timing"] = timing;
        report.to_string()
    }
}
