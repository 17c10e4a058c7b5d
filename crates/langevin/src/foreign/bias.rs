//! The bias of Euler–Maruyama for models of the library by name and for foreign targets, under any
//! dynamics. Models run as foreign targets here: a diagnosis need not have kernels of its own.

use super::{DoubledTarget, Foreign, ForeignTarget, Worker, native};
use crate::batch::Gradient;
use crate::bias::{BiasMeter, Measured};
use crate::catalog::{MetricChoice, Model, System};
use crate::chain::{Control, Plan, RunError};
use crate::metric::Metric;
use crate::{Error, check};

/// Measures the bias of the Euler–Maruyama chains of a model under a dynamics at the plan's step size.
///
/// ```
/// use langevin::batch::Gradient;
/// use langevin::bias::{BiasMeter, Quantity};
/// use langevin::catalog::{MetricChoice, Model, System};
/// use langevin::chain::{Control, Plan, Start};
/// use langevin::foreign::bias_of_model;
/// use langevin::models::NormalParameters;
/// use langevin::record::Observable;
/// use langevin::skew::SkewMatrix;
///
/// let model = Model::Normal(NormalParameters::new((0..30).map(f64::from).collect())?);
/// let system = System::named("RM", MetricChoice::Natural, SkewMatrix::sign_pattern(2, 1.0)?)?;
/// let plan = Plan::new(600, 0.4).chains(8).start(Start::Fixed(vec![14.5, 8.7]));
/// let meter = BiasMeter {
///     quantities: vec![Quantity::Sd(Observable::Coordinate(0))],
///     burn_in: 100,
///     n_batches: 5,
/// };
/// let control = Control::default();
/// let found = bias_of_model(&model, &system, Gradient::Exact, &plan, &meter, control)?;
/// assert!(found.biases[0].relative().value > 0.02);
/// # Ok::<(), langevin::RunError>(())
/// ```
pub fn bias_of_model(
    model: &Model,
    system: &System,
    gradient: Gradient,
    plan: &Plan,
    meter: &BiasMeter,
    control: Control<'_>,
) -> Result<Measured, RunError> {
    let threads = plan.threads.unwrap_or_else(rayon::current_num_threads);
    let copies = threads.min(plan.n_chains).max(1);
    let targets = (0..copies).map(|_| native(model)).collect();
    let asked = Asked {
        system,
        oracle: oracle(targets, gradient)?,
        plan,
        meter,
        control,
    };
    if let Some(metric) = system.metric.constant(model.dim())? {
        return asked.with(metric);
    }
    let natural = system.metric == MetricChoice::Natural;
    match model {
        Model::LinearGaussian(m) if natural => asked.with(m.natural()?),
        Model::Normal(m) if natural => asked.with(m.natural()),
        Model::Logistic(m) if natural => asked.with(m.natural()),
        Model::Logistic(m) => asked.with(m.natural_plus_identity()),
        Model::Ica(m) if natural => asked.with(m.natural()),
        Model::Ica(m) => asked.with(m.natural_plus_identity()),
        _ => Err(no_metric(system, model.name())),
    }
}

/// Measures the bias of the Euler–Maruyama chains of a foreign target, one copy for each thread, under
/// a dynamics with a constant metric.
pub fn bias_of_target<'a>(
    targets: Vec<Box<dyn ForeignTarget + Send + 'a>>,
    system: &System,
    gradient: Gradient,
    plan: &Plan,
    meter: &BiasMeter,
    control: Control<'_>,
) -> Result<Measured, RunError> {
    check::at_least("the number of threads", targets.len(), 1)?;
    let dim = targets[0].dim();
    let Some(metric) = system.metric.constant(dim)? else {
        return Err(no_metric(system, "foreign"));
    };
    let asked = Asked {
        system,
        oracle: oracle(targets, gradient)?,
        plan,
        meter,
        control,
    };
    asked.with(metric)
}

fn no_metric(system: &System, model: &'static str) -> RunError {
    let metric = system.metric.name();
    Error::NoSuchMetric { metric, model }.into()
}

fn oracle<'a>(
    targets: Vec<Box<dyn ForeignTarget + Send + 'a>>,
    gradient: Gradient,
) -> crate::Result<Foreign<'a>> {
    let worker = |target| Worker {
        target: Box::new(DoubledTarget::new(target)),
        metric: None,
    };
    let workers = targets.into_iter().map(worker).collect();
    Foreign::new(workers, gradient, &crate::skew::Skew::None)
}

struct Asked<'a, 'o> {
    system: &'a System,
    oracle: Foreign<'o>,
    plan: &'a Plan,
    meter: &'a BiasMeter,
    control: Control<'a>,
}

impl Asked<'_, '_> {
    fn with<M: Metric>(&self, metric: M) -> Result<Measured, RunError> {
        let dynamics = self.system.with_metric(metric)?;
        self.meter
            .run(&self.oracle, &dynamics, self.plan, self.control)
    }
}
