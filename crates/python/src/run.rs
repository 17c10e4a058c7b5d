//! Sampling: settings from Python, and what was recorded back to it.

use std::sync::Arc;
use std::time::Instant;

use langevin::batch::Gradient;
use langevin::catalog::{MetricChoice, System};
use langevin::chain::{Control, Start};
use langevin::record::Observable;
use langevin::skew::{Skew, SkewMatrix};
use langevin::transition::StepSize;
use langevin_run::compare::Marks;
use langevin_run::execute::{self, Averages as Averaged, Draws, Recording, Task};
use langevin_run::run_file::Arm;
use langevin_run::sample::in_memory;
use langevin_run::target::Target;
use numpy::ndarray::{Array1, Array3};
use numpy::{PyArray1, PyArray3, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{matrix, vector};
use crate::averages::{Averages, Span};
use crate::callback::observable;
use crate::errors::{foreign, job, refused};
use crate::own::{MetricArgument, TargetArgument};
use crate::supervise::{Watcher, aside, inline};

/// What to run; one key of the dictionary for each field.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Settings<'py> {
    /// Whether to stop before the first step, once all input has been checked.
    check_only: bool,
    n_steps: u64,
    step_size: f64,
    /// (b, gamma) of a decreasing schedule, whose a is the step size.
    decreasing: Option<(f64, f64)>,
    n_chains: usize,
    seed: u64,
    batch_size: Option<usize>,
    with_replacement: bool,
    start: Option<PyReadonlyArray2<'py, f64>>,
    /// Whether every `thin`-th state from `burn_in` on is kept.
    keep_draws: bool,
    thin: u64,
    threads: Option<usize>,
    observables: Vec<(String, Bound<'py, PyAny>)>,
    burn_in: u64,
    /// Numbers of states after which running averages are kept.
    checkpoints: Vec<u64>,
    n_batches: usize,
    metric: String,
    diagonal: Option<PyReadonlyArray1<'py, f64>>,
    dense: Option<PyReadonlyArray2<'py, f64>>,
    skew: String,
    j: Option<PyReadonlyArray2<'py, f64>>,
    beta: f64,
    progress: Option<Py<PyAny>>,
}

impl Settings<'_> {
    /// Where averages begin and end, if there are observables.
    fn marks(&self) -> Option<Marks> {
        (!self.observables.is_empty()).then(|| {
            let (burn_in, n_batches) = (self.burn_in, self.n_batches);
            Marks::at(self.n_steps, burn_in, n_batches, 0, &self.checkpoints)
        })
    }

    /// The job.
    fn task(&self, target: Target, watcher: &Arc<Watcher>) -> PyResult<Task> {
        let averages = match self.marks() {
            None => None,
            Some(marks) => Some(Averaged {
                observables: self.observables(target.dim(), watcher)?,
                marks: marks.all,
            }),
        };
        let count = (self.n_steps.saturating_sub(self.burn_in)).div_ceil(self.thin) as usize;
        let draws = Draws {
            start: self.burn_in,
            thin: self.thin.min(self.n_steps),
            count,
        };
        Ok(Task {
            start: self.start(target.dim()),
            target: Arc::new(target),
            seed: self.seed,
            arm: Arm {
                name: String::new(),
                system: self.system()?,
                step_size: self.step_size(),
                gradient: self.gradient(),
            },
            n_chains: self.n_chains,
            n_steps: self.n_steps,
            recording: Recording {
                averages,
                draws: self.keep_draws.then_some(draws),
                ksd: None,
            },
        })
    }

    fn gradient(&self) -> Gradient {
        match self.batch_size {
            None => Gradient::Exact,
            Some(batch_size) => Gradient::Minibatch {
                batch_size,
                with_replacement: self.with_replacement,
            },
        }
    }

    fn step_size(&self) -> StepSize {
        match self.decreasing {
            None => StepSize::Constant(self.step_size),
            Some((b, gamma)) => StepSize::Decreasing {
                a: self.step_size,
                b,
                gamma,
            },
        }
    }

    /// Where chains start; at 0 unless given.
    fn start(&self, dim: usize) -> Start {
        match &self.start {
            None => Start::Fixed(vec![0.0; dim]),
            Some(start) => {
                let rows = start.as_array();
                Start::PerChain(rows.outer_iter().map(|row| row.to_vec()).collect())
            }
        }
    }

    fn system(&self) -> PyResult<System> {
        let metric = match (self.metric.as_str(), &self.diagonal, &self.dense) {
            ("diagonal", Some(entries), _) => MetricChoice::Diagonal(vector(entries)),
            ("dense", _, Some(entries)) => MetricChoice::Dense(matrix(entries)),
            ("natural", ..) => MetricChoice::Natural,
            ("natural+identity", ..) => MetricChoice::NaturalPlusIdentity,
            _ => MetricChoice::Identity,
        };
        let j = match &self.j {
            Some(j) => Some(SkewMatrix::new(&matrix(j)).map_err(refused)?),
            None => None,
        };
        let skew = match (self.skew.as_str(), j) {
            ("constant", Some(j)) => Skew::Constant(j),
            ("geometric", Some(j)) => Skew::Geometric(j),
            _ => Skew::None,
        };
        Ok(System {
            name: String::new(),
            metric,
            skew,
            beta: self.beta,
        })
    }

    fn observables(&self, dim: usize, watcher: &Arc<Watcher>) -> PyResult<Vec<Observable>> {
        let pairs = self.observables.iter();
        pairs
            .map(|(name, value)| {
                if let Ok(coordinate) = value.extract::<usize>() {
                    return Ok(Observable::Coordinate(coordinate));
                }
                if value.is_callable() {
                    let function = value.clone().unbind();
                    return Ok(observable(name.clone(), dim, function, watcher.clone()));
                }
                match value.extract::<String>()?.as_str() {
                    "sum" => Ok(Observable::Sum),
                    "sum_of_squares" => Ok(Observable::SumOfSquares),
                    "square_of_sum" => Ok(Observable::SquareOfSum),
                    other => Err(PyValueError::new_err(format!(
                        "there is no observable called {other:?}"
                    ))),
                }
            })
            .collect()
    }
}

/// What a run recorded.
#[pyclass(frozen, module = "langevin._core")]
pub struct Recorded {
    recorded: execute::Recorded,
    dim: usize,
    averages: Option<(Marks, Span)>,
    #[pyo3(get)]
    cancelled: bool,
    #[pyo3(get)]
    seconds: f64,
}

#[pymethods]
impl Recorded {
    /// (chain, first bad state) of every chain that escaped.
    #[getter]
    fn escapes(&self) -> Vec<(u64, u64)> {
        self.recorded.escapes()
    }

    /// Number of draws of each chain.
    fn lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_owned_array(py, self.counts())
    }

    /// Draws of shape (chain, draw, dim), NaN where a run did not get that far.
    fn draws<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray3<f64>> {
        let counts = self.counts();
        let longest = counts.iter().copied().max().unwrap_or(0) as usize;
        let mut out = Array3::from_elem((counts.len(), longest, self.dim), f64::NAN);
        let chains = out.outer_iter_mut().zip(&self.recorded.chains);
        for (mut out, chain) in chains {
            for (out, value) in out.iter_mut().zip(&chain.states) {
                *out = *value;
            }
        }
        PyArray3::from_owned_array(py, out)
    }

    /// Averages of the observables, if there are any.
    fn averages(&self) -> Option<Averages> {
        let (marks, span) = self.averages.clone()?;
        Some(Averages::new(marks, span, self.recorded.clone()))
    }
}

impl Recorded {
    fn counts(&self) -> Array1<i64> {
        let chains = self.recorded.chains.iter();
        chains
            .map(|chain| (chain.states.len() / self.dim) as i64)
            .collect()
    }
}

/// Samples a target, perhaps with a metric that is made of Python functions; nothing comes back of
/// a check.
#[pyfunction]
#[pyo3(signature = (target, metric, settings, scales=None))]
pub fn sample(
    py: Python<'_>,
    target: TargetArgument<'_>,
    metric: Option<MetricArgument>,
    mut settings: Settings<'_>,
    scales: Option<&str>,
) -> PyResult<Option<Recorded>> {
    let watcher = Arc::new(match settings.check_only {
        true => Watcher::stopped(),
        false => Watcher::new(settings.progress.take()),
    });
    let calls_python = target.is_python() || metric.is_some();
    let task = settings.task(target.target(metric, scales, None, &watcher)?, &watcher)?;
    let dim = task.target.dim();
    let place = match calls_python {
        true => inline,
        false => aside,
    };
    if settings.check_only {
        let checked = inline(py, &watcher, |_| task.rehearse())?;
        return checked.map(|()| None).map_err(foreign);
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = settings.threads.unwrap_or_else(cores);
    let work = |control: Control<'_>| {
        let tell = |done: execute::Progress| {
            if let Some(progress) = control.progress {
                progress(done.chain_steps);
            }
        };
        let how = execute::Settings {
            cache: None,
            threads,
            cancel: &watcher.cancel,
            progress: Some(&tell),
            escapes: control.escapes,
        };
        in_memory(&task, how)
    };
    let began = Instant::now();
    let (recorded, cancelled) = place(py, &watcher, work)?.map_err(job)?;
    let span = Span {
        burn_in: settings.burn_in,
        n_steps: settings.n_steps,
        step_size: settings.step_size(),
    };
    Ok(Some(Recorded {
        recorded,
        dim,
        averages: settings.marks().map(|marks| (marks, span)),
        cancelled,
        seconds: began.elapsed().as_secs_f64(),
    }))
}
