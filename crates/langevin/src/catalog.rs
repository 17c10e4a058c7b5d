//! What exists, by name: the closed lists of models, metrics and skew fields that the program and
//! the Python package offer, and one function that runs any of their combinations.
//!
//! Inside the library everything is generic; this is the edge where names become types.

use std::sync::Arc;

use nalgebra::DMatrix;

use crate::chain::{self, Control, Outcome, Plan};
use crate::dynamics::{DEFAULT_BETA, Dynamics};
use crate::foreign::{self, ForeignError, ForeignTarget, Given, Native, Worker};
use crate::metric::{Constant, Metric};
use crate::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use crate::real::Lanes;
use crate::record::{Averages, Block, Draws, Marks, Moments, Observable, Record};
use crate::skew::{Skew, SkewMatrix};
use crate::target::{Parameter, Target, scores_at};
use crate::{Error, Result};

/// One of the models of the library.
#[derive(Clone, Debug)]
pub enum Model {
    /// Mean of normal data.
    LinearGaussian(LinearGaussian),
    /// Mean and standard deviation of normal data.
    Normal(NormalParameters),
    /// Logistic regression.
    Logistic(LogisticRegression),
    /// Independent component analysis.
    Ica(Ica),
}

/// Does the same with whatever model it is.
macro_rules! each_model {
    ($self:expr, $model:ident => $value:expr) => {
        match $self {
            Model::LinearGaussian($model) => $value,
            Model::Normal($model) => $value,
            Model::Logistic($model) => $value,
            Model::Ica($model) => $value,
        }
    };
}

impl Model {
    /// Names of the models with a sentence on each.
    pub const LIST: [(&'static str, &'static str); 4] = [
        (
            "linear-gaussian",
            "mean of normal data with known precision and a Gaussian prior",
        ),
        (
            "normal",
            "mean and standard deviation of normal data under a flat prior",
        ),
        ("logistic", "logistic regression with a Gaussian prior"),
        (
            "ica",
            "independent component analysis with a sech² likelihood",
        ),
    ];

    /// Its name in [`LIST`](Self::LIST).
    pub fn name(&self) -> &'static str {
        let position = match self {
            Model::LinearGaussian(_) => 0,
            Model::Normal(_) => 1,
            Model::Logistic(_) => 2,
            Model::Ica(_) => 3,
        };
        Self::LIST[position].0
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        each_model!(self, m => Target::dim(m))
    }

    /// Number of data.
    pub fn n_data(&self) -> usize {
        each_model!(self, m => Target::n_data(m))
    }

    /// Names and shapes of the coordinates.
    pub fn parameters(&self) -> Vec<Parameter> {
        each_model!(self, m => Target::parameters(m))
    }

    /// log π(θ) up to a constant.
    pub fn log_density(&self, theta: &[f64]) -> f64 {
        each_model!(self, m => m.log_density(theta))
    }

    /// ∇ log π of one or more states, one after the other.
    pub fn scores(&self, states: &[f64]) -> Vec<f64> {
        each_model!(self, m => scores_at(m, states))
    }

    /// This model for runs with a foreign metric.
    pub fn as_foreign(&self) -> Box<dyn ForeignTarget + Send + '_> {
        each_model!(self, m => Box::new(Native::new(m)))
    }

    /// Refuses a state from which no chain can start.
    pub fn check_state(&self, theta: &[f64]) -> Result<()> {
        each_model!(self, m => Target::check_state(m, theta))
    }
}

/// A metric by name.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricChoice {
    /// B = I.
    Identity,
    /// A constant diagonal.
    Diagonal(Vec<f64>),
    /// A constant matrix.
    Dense(DMatrix<f64>),
    /// The model's own: Γ⁻¹ (linear Gaussian), σ²/N·diag(1, ½) (normal), G⁻¹ (logistic),
    /// WᵀW ⊗ I (ICA).
    Natural,
    /// The model's own plus the identity: I + G⁻¹ (logistic), (I + WᵀW) ⊗ I (ICA).
    NaturalPlusIdentity,
}

impl MetricChoice {
    /// Names of the metrics with a sentence on each.
    pub const LIST: [(&'static str, &'static str); 5] = [
        ("identity", "B = I"),
        ("diagonal", "a constant diagonal matrix"),
        ("dense", "a constant symmetric positive definite matrix"),
        (
            "natural",
            "the model's own: posterior covariance (linear-gaussian), σ²/N·diag(1, ½) (normal), G⁻¹ (logistic), WᵀW ⊗ I (ica)",
        ),
        (
            "natural+identity",
            "the model's own plus the identity: I + G⁻¹ (logistic), (I + WᵀW) ⊗ I (ica)",
        ),
    ];

    /// Its name in [`LIST`](Self::LIST).
    pub fn name(&self) -> &'static str {
        let position = match self {
            MetricChoice::Identity => 0,
            MetricChoice::Diagonal(_) => 1,
            MetricChoice::Dense(_) => 2,
            MetricChoice::Natural => 3,
            MetricChoice::NaturalPlusIdentity => 4,
        };
        Self::LIST[position].0
    }

    /// The metric that the paper uses for a model.
    pub fn of_paper(model: &Model) -> Self {
        match model {
            Model::LinearGaussian(_) | Model::Normal(_) => MetricChoice::Natural,
            Model::Logistic(_) | Model::Ica(_) => MetricChoice::NaturalPlusIdentity,
        }
    }
}

/// A dynamics by its choices.
#[derive(Clone, Debug)]
pub struct System {
    /// What to call it.
    pub name: String,
    /// Metric.
    pub metric: MetricChoice,
    /// Skew field.
    pub skew: Skew,
    /// Temperature.
    pub beta: f64,
}

impl System {
    /// The names of the paper.
    pub const NAMES: [&'static str; 5] = ["LD", "RM", "Irr", "RMIrr", "GiIrr"];

    /// One of the five systems of the paper, with the given metric and J where it has them.
    pub fn named(name: &str, metric: MetricChoice, j: SkewMatrix) -> Result<Self> {
        let (metric, skew) = match name {
            "LD" => (MetricChoice::Identity, Skew::None),
            "RM" => (metric, Skew::None),
            "Irr" => (MetricChoice::Identity, Skew::Constant(j)),
            "RMIrr" => (metric, Skew::Constant(j)),
            "GiIrr" => (metric, Skew::Geometric(j)),
            _ => {
                return Err(Error::UnknownName {
                    kind: "system",
                    name: name.into(),
                    expected: Self::NAMES.join(", "),
                });
            }
        };
        Ok(System {
            name: name.into(),
            metric,
            skew,
            beta: DEFAULT_BETA,
        })
    }
}

/// What to record of every chain.
#[derive(Clone, Debug, Default)]
pub struct Measure {
    /// Observables whose sums are kept at the marks.
    pub observables: Vec<Observable>,
    /// Marks for running averages and batch means.
    pub marks: Vec<u64>,
    /// First state that counts for moments; none where not set.
    pub moments_from: Option<u64>,
    /// Thinned draws: (first state, thinning, largest number).
    pub draws: Option<(u64, u64, usize)>,
}

/// The sinks of one group of chains.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Sums of observables, where asked for.
    pub averages: Option<Averages>,
    /// Mean and variance of the coordinates, where asked for.
    pub moments: Option<Moments>,
    /// Thinned draws, where asked for.
    pub draws: Option<Draws>,
}

impl Measure {
    /// What makes the sinks of a group of chains.
    pub fn recorder(&self) -> Result<impl Fn() -> Measurement + Sync> {
        let marks = match self.marks.is_empty() {
            true => None,
            false => Some(Marks::new(self.marks.iter().copied())?),
        };
        let observables: Arc<[Observable]> = self.observables.clone().into();
        let averages = marks.map(|marks| Averages::new(observables, marks));
        let moments = self.moments_from.map(Moments::new);
        let draws = self
            .draws
            .map(|(start, thin, limit)| Draws::new(start, thin, limit));
        Ok(move || Measurement {
            averages: averages.clone(),
            moments: moments.clone(),
            draws: draws.clone(),
        })
    }
}

impl Record for Measurement {
    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        self.averages.push(block);
        self.moments.push(block);
        self.draws.push(block);
    }
}

/// Runs any model under any dynamics; all input is checked before any work starts.
///
/// ```
/// use langevin::catalog::{Measure, MetricChoice, Model, System, run};
/// use langevin::chain::{Control, Plan, Start};
/// use langevin::models::NormalParameters;
/// use langevin::record::Observable;
/// use langevin::skew::SkewMatrix;
///
/// let model = Model::Normal(NormalParameters::new(vec![-1.0, 0.0, 1.0, 3.0, 4.0, 2.0])?);
/// let system = System::named("GiIrr", MetricChoice::Natural, SkewMatrix::sign_pattern(2, 2.0)?)?;
/// let plan = Plan::new(1000, 0.01).chains(3).start(Start::Fixed(vec![1.0, 2.0]));
/// let measure = Measure { observables: vec![Observable::Sum], marks: vec![1000], ..Measure::default() };
/// let outcome = run(&model, &system, &plan, &measure, Control::default())?;
/// assert_eq!(outcome.healthy().count(), 3);
/// # Ok::<(), langevin::Error>(())
/// ```
pub fn run(
    model: &Model,
    system: &System,
    plan: &Plan,
    measure: &Measure,
    control: Control<'_>,
) -> Result<Outcome<Measurement>> {
    let job = Work {
        system,
        plan,
        measure,
        control,
    };
    let dim = model.dim();
    let constant = match &system.metric {
        MetricChoice::Identity => Some(Constant::identity(dim)),
        MetricChoice::Diagonal(entries) => Some(Constant::diagonal(entries.clone())?),
        MetricChoice::Dense(matrix) => Some(Constant::dense(matrix)?),
        MetricChoice::Natural => match model {
            Model::LinearGaussian(m) => Some(m.metric()?),
            _ => None,
        },
        MetricChoice::NaturalPlusIdentity => None,
    };
    if let Some(metric) = constant {
        return each_model!(model, m => job.with(m, metric));
    }
    let plus_identity = system.metric == MetricChoice::NaturalPlusIdentity;
    match (model, plus_identity) {
        (Model::Normal(m), false) => job.with(m, m.metric()),
        (Model::Logistic(m), false) => job.with(m, m.fisher()),
        (Model::Logistic(m), true) => job.with(m, m.fisher_plus_identity()),
        (Model::Ica(m), false) => job.with(m, m.natural()),
        (Model::Ica(m), true) => job.with(m, m.natural_plus_identity()),
        (Model::LinearGaussian(_) | Model::Normal(_), _) => Err(Error::NoSuchMetric {
            metric: system.metric.name(),
            model: model.name(),
        }),
    }
}

/// Runs foreign functions under any dynamics.
///
/// Where the workers have a metric it is used, whatever `system.metric` says; otherwise that must
/// be a constant one.
pub fn run_foreign(
    workers: Vec<Worker<'_>>,
    system: &System,
    plan: &Plan,
    measure: &Measure,
    control: Control<'_>,
) -> std::result::Result<Outcome<Measurement>, ForeignError> {
    let dim = workers.first().map_or(0, |w| w.target.dim());
    let record = measure.recorder()?;
    if workers.iter().any(|w| w.metric.is_some()) {
        let dynamics = Dynamics::new(Given::new(dim), system.skew.clone())?;
        let dynamics = dynamics.with_beta(system.beta)?;
        return foreign::run(workers, &dynamics, plan, record, control);
    }
    let metric = match &system.metric {
        MetricChoice::Identity => Constant::identity(dim),
        MetricChoice::Diagonal(entries) => Constant::diagonal(entries.clone())?,
        MetricChoice::Dense(matrix) => Constant::dense(matrix)?,
        MetricChoice::Natural | MetricChoice::NaturalPlusIdentity => {
            let (metric, model) = (system.metric.name(), "foreign");
            return Err(Error::NoSuchMetric { metric, model }.into());
        }
    };
    let dynamics = Dynamics::new(metric, system.skew.clone())?.with_beta(system.beta)?;
    foreign::run(workers, &dynamics, plan, record, control)
}

struct Work<'a> {
    system: &'a System,
    plan: &'a Plan,
    measure: &'a Measure,
    control: Control<'a>,
}

impl Work<'_> {
    fn with<T: Target, M: Metric>(&self, target: &T, metric: M) -> Result<Outcome<Measurement>> {
        let system = self.system;
        let dynamics = Dynamics::new(metric, system.skew.clone())?.with_beta(system.beta)?;
        let record = self.measure.recorder()?;
        chain::run(target, &dynamics, self.plan, record, self.control)
    }
}
