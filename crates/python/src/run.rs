//! Sampling: settings from Python, and what was recorded back to it.

use std::sync::Arc;
use std::time::Instant;

use langevin::batch::Gradient;
use langevin::catalog::{self, Measure, Measurement, MetricChoice, System};
use langevin::chain::{Control, Outcome, Plan, RunError, Start};
use langevin::foreign::{self as functions, ForeignMetric, Worker};
use langevin::record::Observable;
use langevin::skew::{Skew, SkewMatrix};
use langevin::transition::StepSize;
use langevin_cli::compare::Marks;
use numpy::ndarray::{Array1, Array3};
use numpy::{PyArray1, PyArray3, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{matrix, vector};
use crate::averages::{Averages, Span};
use crate::callback::{Functions, MetricFunctions, observable};
use crate::compiled::Compiled;
use crate::errors::{foreign, refused};
use crate::model::Model;
use crate::stan::StanModel;
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

/// The same, checked and in the library's types.
struct Task {
    plan: Plan,
    gradient: Gradient,
    system: System,
    measure: Measure,
    /// Where averages begin and end, if there are observables.
    marks: Option<Marks>,
    burn_in: u64,
    watcher: Arc<Watcher>,
}

impl Settings<'_> {
    fn into_task(mut self, dim: usize) -> PyResult<Task> {
        let watcher = Arc::new(match self.check_only {
            true => Watcher::stopped(),
            false => Watcher::new(self.progress.take()),
        });
        let marks = (!self.observables.is_empty()).then(|| {
            let (burn_in, n_batches) = (self.burn_in, self.n_batches);
            Marks::at(self.n_steps, burn_in, n_batches, 0, &self.checkpoints)
        });
        Ok(Task {
            plan: self.plan(),
            gradient: self.gradient(),
            system: self.system()?,
            measure: Measure {
                observables: self.observables(dim, &watcher)?,
                marks: marks.as_ref().map_or(vec![], |m| m.all.clone()),
                moments_from: None,
                draws: (self.keep_draws).then_some((self.burn_in, self.thin, usize::MAX)),
            },
            marks,
            burn_in: self.burn_in,
            watcher,
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

    fn plan(&self) -> Plan {
        let step_size = match self.decreasing {
            None => StepSize::Constant(self.step_size),
            Some((b, gamma)) => StepSize::Decreasing {
                a: self.step_size,
                b,
                gamma,
            },
        };
        let mut plan = Plan::new(self.n_steps, self.step_size)
            .chains(self.n_chains)
            .step_sizes(step_size)
            .seed(self.seed);
        if let Some(start) = &self.start {
            let rows = start.as_array();
            let rows = rows.outer_iter().map(|row| row.to_vec()).collect();
            plan = plan.start(Start::PerChain(rows));
        }
        plan.threads = self.threads;
        plan
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
    outcome: Outcome<Measurement>,
    dim: usize,
    averages: Option<(Marks, Span)>,
    #[pyo3(get)]
    seconds: f64,
}

#[pymethods]
impl Recorded {
    /// Whether the run was stopped before its end.
    #[getter]
    fn cancelled(&self) -> bool {
        self.outcome.cancelled
    }

    /// (chain, first bad state) of every chain that escaped.
    #[getter]
    fn escapes(&self) -> Vec<(u64, u64)> {
        let escapes = self.outcome.escapes.iter();
        escapes.map(|d| (d.chain, d.step)).collect()
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
        for (i, (_, record, lane)) in self.outcome.chains().enumerate() {
            if let Some(draws) = &record.draws {
                let values = draws.chain(lane);
                let mut chain = out.index_axis_mut(numpy::ndarray::Axis(0), i);
                for (out, value) in chain.iter_mut().zip(values) {
                    *out = value;
                }
            }
        }
        PyArray3::from_owned_array(py, out)
    }

    /// Averages of the observables, if there are any.
    fn averages(&self) -> Option<Averages> {
        let (marks, span) = self.averages.as_ref()?;
        Some(Averages::of_outcome(marks.clone(), *span, &self.outcome))
    }
}

impl Recorded {
    fn counts(&self) -> Array1<i64> {
        let chains = self.outcome.chains();
        chains
            .map(|(_, record, _)| record.draws.as_ref().map_or(0, |d| d.len() as i64))
            .collect()
    }
}

/// Samples a model of the library.
#[pyfunction]
pub fn sample_model(py: Python<'_>, model: &Model, settings: Settings<'_>) -> PyResult<Recorded> {
    let dim = model.inner.dim();
    let task = settings.into_task(dim)?;
    let work = |control: Control<'_>| {
        catalog::run(
            &model.inner,
            &task.system,
            task.gradient,
            &task.plan,
            &task.measure,
            control,
        )
    };
    task.timed(dim, || aside(py, &task.watcher, work))
}

/// Samples a target or a metric that is made of Python functions.
///
/// `target` is a model, or (dim, n_data, positive coordinates, score, minibatch score or None);
/// `metric` is (matrix, divergence or None).
#[pyfunction]
#[pyo3(signature = (target, metric, settings))]
pub fn sample_functions(
    py: Python<'_>,
    target: TargetArgument<'_>,
    metric: Option<(Py<PyAny>, Option<Py<PyAny>>)>,
    settings: Settings<'_>,
) -> PyResult<Recorded> {
    let dim = target.dim();
    let task = settings.into_task(dim)?;
    let watcher: &Watcher = &task.watcher;
    let metric = metric.map(|(matrix, divergence)| {
        let metric = MetricFunctions {
            dim,
            matrix,
            divergence,
            watcher,
        };
        Box::new(metric) as Box<dyn ForeignMetric + Send>
    });
    let model;
    let target = match target {
        TargetArgument::Model(bound) => {
            model = bound;
            functions::native(&model.get().inner)
        }
        TargetArgument::Functions(parts) => Box::new(Functions {
            dim,
            n_data: parts.1,
            positive: parts.2,
            score: parts.3,
            minibatch_score: parts.4,
            watcher,
        }),
    };
    let workers = vec![Worker { target, metric }];
    let work = |control: Control<'_>| task.run(workers, control);
    task.timed(dim, || inline(py, watcher, work))
}

/// The target of [`sample_functions`].
#[derive(FromPyObject)]
pub enum TargetArgument<'py> {
    /// A model of the library.
    Model(Bound<'py, Model>),
    /// dim, n_data, positive coordinates, score, minibatch score.
    Functions(FunctionParts),
}

type FunctionParts = (usize, usize, Vec<usize>, Py<PyAny>, Option<Py<PyAny>>);

impl TargetArgument<'_> {
    fn dim(&self) -> usize {
        match self {
            TargetArgument::Model(model) => model.get().inner.dim(),
            TargetArgument::Functions(parts) => parts.0,
        }
    }
}

/// Samples a compiled function.
#[pyfunction]
pub fn sample_compiled(
    py: Python<'_>,
    target: &Compiled,
    dim: usize,
    settings: Settings<'_>,
) -> PyResult<Recorded> {
    let target = *target;
    sample_threads(py, dim, settings, true, move || Worker {
        target: Box::new(target),
        metric: None,
    })
}

/// Samples a Stan model.
#[pyfunction]
pub fn sample_stan(
    py: Python<'_>,
    target: &StanModel,
    settings: Settings<'_>,
) -> PyResult<Recorded> {
    let dim = target.dim();
    sample_threads(py, dim, settings, target.threaded(), || Worker {
        target: Box::new(target.worker()),
        metric: None,
    })
}

/// Foreign functions without Python: as many workers as threads, or one if the functions cannot
/// be called from several threads.
fn sample_threads<'a>(
    py: Python<'_>,
    dim: usize,
    settings: Settings<'_>,
    threaded: bool,
    worker: impl Fn() -> Worker<'a> + Send + Sync,
) -> PyResult<Recorded> {
    let task = settings.into_task(dim)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = match threaded {
        true => task.plan.threads.unwrap_or(cores),
        false => 1,
    };
    let work = |control: Control<'_>| {
        let workers = (0..threads).map(|_| worker()).collect();
        task.run(workers, control)
    };
    task.timed(dim, || aside(py, &task.watcher, work))
}

impl Task {
    /// Runs foreign functions.
    fn run(
        &self,
        workers: Vec<Worker<'_>>,
        control: Control<'_>,
    ) -> Result<Outcome<Measurement>, RunError> {
        let step_size = self.plan.step_size;
        let job = functions::euler(workers, &self.system, self.gradient, step_size)?;
        catalog::run_job(job.as_ref(), &self.plan, &self.measure, control)
    }

    fn timed(
        &self,
        dim: usize,
        run: impl FnOnce() -> PyResult<Result<Outcome<Measurement>, RunError>>,
    ) -> PyResult<Recorded> {
        let start = Instant::now();
        let outcome = run()?.map_err(foreign)?;
        let span = Span {
            burn_in: self.burn_in,
            n_steps: self.plan.n_steps,
            step_size: self.plan.step_size,
        };
        Ok(Recorded {
            outcome,
            dim,
            averages: self.marks.clone().map(|marks| (marks, span)),
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}
