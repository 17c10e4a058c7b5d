//! What Python hands over as a target, for the jobs of the library.

use std::fmt;
use std::sync::Arc;

use langevin::Failure;
use langevin::catalog;
use langevin::foreign::{self, ConstrainedTarget, ForeignMetric, Worker};
use langevin::scale::Layout;
use langevin_run::stan;
use langevin_run::target::{Own, Sampled, Target};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::table;
use crate::callback::{Functions, MetricFunctions};
use crate::compiled::Compiled;
use crate::errors::{Raised, refused, refused_or_io};
use crate::model::Model;
use crate::stan::StanModel;
use crate::supervise::Watcher;

/// A target as Python knows it.
#[derive(FromPyObject)]
pub enum TargetArgument<'py> {
    /// A model of the library.
    Model(Bound<'py, Model>),
    /// A compiled function.
    Compiled(Bound<'py, Compiled>),
    /// A Stan model.
    Stan(Bound<'py, StanModel>),
    /// dim, n_data, positive coordinates, score, minibatch score, density with score.
    Functions(FunctionParts),
}

type FunctionParts = (
    usize,
    usize,
    Vec<usize>,
    Py<PyAny>,
    Option<Py<PyAny>>,
    Option<Py<PyAny>>,
);

/// (matrix, divergence) of a metric that is made of Python functions.
pub type MetricArgument = (Py<PyAny>, Option<Py<PyAny>>);

impl TargetArgument<'_> {
    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        match self {
            TargetArgument::Model(model) => model.get().inner.dim(),
            TargetArgument::Compiled(compiled) => compiled.get().dim(),
            TargetArgument::Stan(model) => model.get().inner.dim(),
            TargetArgument::Functions(parts) => parts.0,
        }
    }

    /// Whether Python is called at every step.
    pub fn is_python(&self) -> bool {
        matches!(self, TargetArgument::Functions(_))
    }

    /// As a target of jobs, with a metric of its own where that is made of functions. With `scales`
    /// its functions are of constrained coordinates, and chains move in free ones.
    pub fn target(
        self,
        metric: Option<MetricArgument>,
        scales: Option<&str>,
        shows: Option<Py<PyAny>>,
        watcher: &Arc<Watcher>,
    ) -> PyResult<Target> {
        let dim = self.dim();
        let scales = scales.map(|text| text.parse::<Layout>().map_err(refused));
        let scales = scales.transpose()?;
        if let (TargetArgument::Model(model), None) = (&self, &metric) {
            let sampled = Sampled::Model(model.get().inner.clone());
            return Target::plain(sampled).map_err(refused_or_io);
        }
        let code = match self {
            TargetArgument::Model(model) => Code::Model(model.get().inner.clone()),
            TargetArgument::Compiled(compiled) => Code::Compiled(*compiled.get()),
            TargetArgument::Stan(model) => Code::Stan(model.get().inner.clone()),
            TargetArgument::Functions((dim, n_data, positive, score, minibatch_score, density)) => {
                Code::Functions(Functions {
                    dim,
                    n_data,
                    positive,
                    score,
                    minibatch_score,
                    density,
                    watcher: watcher.clone(),
                })
            }
        };
        let metric = metric.map(|(matrix, divergence)| MetricFunctions {
            dim,
            matrix,
            divergence,
            watcher: watcher.clone(),
        });
        let own = OwnCode {
            code,
            metric,
            scales,
            shows,
        };
        if let Some(scales) = &own.scales {
            check_size(&own, scales)?;
        }
        let layout = match &own.code {
            Code::Stan(model) => Some(model.layout().map_err(refused_or_io)?),
            _ => None,
        };
        let mut target = Target::plain(Sampled::Own(Arc::new(own))).map_err(refused_or_io)?;
        if let Some(layout) = layout {
            target.layout = layout;
        }
        Ok(target)
    }
}

/// A target and perhaps a metric in code that is not of the library.
struct OwnCode {
    code: Code,
    metric: Option<MetricFunctions>,
    /// The scales of its coordinates, where they are not free.
    scales: Option<Layout>,
    /// What shows states (rows of an array) as people see them, where Python does.
    shows: Option<Py<PyAny>>,
}

enum Code {
    Model(Arc<catalog::Model>),
    Compiled(Compiled),
    Stan(Arc<stan::StanModel>),
    Functions(Functions),
}

impl Code {
    /// Number of coordinates of its functions.
    fn dim(&self) -> usize {
        match self {
            Code::Model(model) => model.dim(),
            Code::Compiled(compiled) => compiled.dim(),
            Code::Stan(model) => model.dim(),
            Code::Functions(functions) => functions.dim,
        }
    }
}

impl OwnCode {
    fn show_by_python(&self, thetas: &[f64], out: &mut Vec<f64>) -> Result<(), Failure> {
        let Some(shows) = &self.shows else {
            return Ok(());
        };
        let n = thetas.len() / self.dim().max(1);
        let call = |py: Python<'_>| -> PyResult<()> {
            let shown = shows.bind(py).call1((table(py, thetas, n),))?;
            let shown: PyReadonlyArray2<'_, f64> = shown.extract()?;
            out.extend(shown.as_array().iter());
            Ok(())
        };
        Python::attach(call).map_err(|e| Box::new(Raised(e)) as Failure)
    }
}

impl fmt::Debug for OwnCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnCode({})", self.name())
    }
}

impl Own for OwnCode {
    fn name(&self) -> &str {
        match &self.code {
            Code::Model(model) => model.name(),
            Code::Stan(model) => model.name(),
            Code::Compiled(_) | Code::Functions(_) => "own",
        }
    }

    fn dim(&self) -> usize {
        match &self.scales {
            Some(scales) => scales.free_size(),
            None => self.code.dim(),
        }
    }

    fn n_data(&self) -> usize {
        match &self.code {
            Code::Model(model) => model.n_data(),
            Code::Functions(functions) => functions.n_data,
            Code::Compiled(_) | Code::Stan(_) => 0,
        }
    }

    fn workers<'a>(&'a self, threads: usize) -> Vec<Worker<'a>> {
        // Python functions are called from one thread, compiled ones from all.
        let n = if self.metric.is_some() { 1 } else { threads };
        let mut workers = match &self.code {
            Code::Stan(model) => model.workers(n),
            Code::Compiled(compiled) => (0..n).map(|_| without_metric(*compiled)).collect(),
            Code::Functions(functions) => vec![without_metric(functions)],
            Code::Model(model) => vec![Worker {
                target: foreign::native(model),
                metric: None,
            }],
        };
        if let Some(scales) = &self.scales {
            let free = |worker: Worker<'a>| {
                // (Its size was compared with the target's when it was made.)
                let target = ConstrainedTarget::new(worker.target, scales.clone()).ok()?;
                Some(without_metric(target))
            };
            workers = workers.into_iter().filter_map(free).collect();
        }
        if let (Some(metric), Some(worker)) = (&self.metric, workers.first_mut()) {
            worker.metric = Some(Box::new(metric) as Box<dyn ForeignMetric + Send + '_>);
        }
        workers
    }

    fn free(&self, state: &[f64]) -> langevin::Result<Vec<f64>> {
        match &self.scales {
            Some(scales) => scales.free_state(state),
            None => Ok(state.to_vec()),
        }
    }

    fn show(&self, thetas: &[f64], out: &mut Vec<f64>) -> Result<(), Failure> {
        match (&self.scales, &self.code) {
            _ if self.shows.is_some() => self.show_by_python(thetas, out)?,
            (Some(scales), _) => out.extend(scales.constrain_draws(thetas)?),
            (None, Code::Stan(model)) => model.show(thetas, out)?,
            (None, _) => out.extend_from_slice(thetas),
        }
        Ok(())
    }
}

/// Refuses scales of another number of coordinates.
fn check_size(own: &OwnCode, scales: &Layout) -> PyResult<()> {
    let (found, expected) = (scales.size(), own.code.dim());
    match found == expected {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!(
            "parameters have {found} coordinates, but dim is {expected}"
        ))),
    }
}

fn without_metric<'a>(target: impl foreign::ForeignTarget + Send + 'a) -> Worker<'a> {
    Worker {
        target: Box::new(target),
        metric: None,
    }
}
