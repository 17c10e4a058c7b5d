//! Jobs: chains of any model under any dynamics, behind one interface.

use super::{Measure, Measurement, MetricChoice, Model, System};
use crate::batch::Gradient;
use crate::chain::{
    Advanced, Any, Chains, Control, Direct, Fused, How, Mover, Outcome, Plan, Records, RunError,
    euler_starts,
};
use crate::dynamics::Dynamics;
use crate::metric::Metric;
use crate::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use crate::oracle::{Exact, Minibatch, Oracle};
use crate::target::{Subsampled, Sums};
use crate::transition::{EulerMaruyama, Moves, StepSize, Transition};
use crate::{Error, Result};

/// Chains of one target moved in one way: what a run file, an own target and a worker of a cluster
/// all run. It holds no chains itself, so that any number of them can go on side by side.
pub trait Job: Sync {
    /// Chains at the initial states of the plan, after all input has been checked.
    fn start(&self, plan: &Plan) -> std::result::Result<Chains, RunError>;

    /// Records of such chains.
    fn records(&self, chains: &Chains, measure: &Measure) -> Result<Records<Measurement>>;

    /// Lets the chains go on.
    fn advance(
        &self,
        chains: &mut Chains,
        n_steps: u64,
        records: &mut Records<Measurement>,
        how: &How<'_>,
    ) -> std::result::Result<Advanced, RunError>;
}

/// A whole job at once: all steps of the plan, with everything recorded.
pub fn run_job(
    job: &dyn Job,
    plan: &Plan,
    measure: &Measure,
    control: Control<'_>,
) -> std::result::Result<Outcome<Measurement>, RunError> {
    let mut chains = job.start(plan)?;
    let mut records = job.records(&chains, measure)?;
    let how = How {
        threads: plan.threads,
        isa: plan.isa,
        control,
    };
    let done = job.advance(&mut chains, plan.n_steps, &mut records, &how)?;
    Ok(Outcome::new(records, &chains, done))
}

/// Runs any model under any dynamics; all input is checked before any work starts.
///
/// ```
/// use langevin::batch::Gradient;
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
/// let outcome = run(&model, &system, Gradient::Exact, &plan, &measure, Control::default())?;
/// assert_eq!(outcome.healthy().count(), 3);
/// # Ok::<(), langevin::chain::RunError>(())
/// ```
pub fn run(
    model: &Model,
    system: &System,
    gradient: Gradient,
    plan: &Plan,
    measure: &Measure,
    control: Control<'_>,
) -> std::result::Result<Outcome<Measurement>, RunError> {
    let job = euler(model, system, gradient, plan.step_size)?;
    run_job(job.as_ref(), plan, measure, control)
}

/// The Euler–Maruyama chains of a model under a dynamics.
pub fn euler<'a>(
    model: &'a Model,
    system: &System,
    gradient: Gradient,
    step_size: StepSize,
) -> Result<Box<dyn Job + 'a>> {
    gradient.check(model.n_data())?;
    step_size.check()?;
    let choice = Choice {
        system,
        gradient,
        step_size,
    };
    match model {
        Model::LinearGaussian(m) => choice.linear_gaussian(m),
        Model::Normal(m) => choice.normal(m),
        Model::Logistic(m) => choice.logistic(m),
        Model::Ica(m) => choice.ica(m),
    }
}

/// What is chosen beside the model.
struct Choice<'s> {
    system: &'s System,
    gradient: Gradient,
    step_size: StepSize,
}

/// Numbers of coordinates that have kernels of their own: those of the paper's examples.
const LOGISTIC: usize = 20;
const ICA: usize = 9;

impl Choice<'_> {
    fn linear_gaussian<'a>(&self, m: &'a LinearGaussian) -> Result<Box<dyn Job + 'a>> {
        let metric = match (
            &self.system.metric,
            self.system.metric.constant(m.mean().len())?,
        ) {
            (_, Some(metric)) => metric,
            (MetricChoice::Natural, _) => m.natural()?,
            _ => return self.no_metric("linear-gaussian"),
        };
        match m.mean().len() {
            3 => self.sampled::<_, _, 0, 0>(m, metric, InOneLoop::<_, 3>(m)),
            _ => self.sampled::<_, _, 0, 0>(m, metric, Plain),
        }
    }

    fn normal<'a>(&self, m: &'a NormalParameters) -> Result<Box<dyn Job + 'a>> {
        match (&self.system.metric, self.system.metric.constant(2)?) {
            (_, Some(metric)) => self.sampled::<_, _, 0, 0>(m, metric, InOneLoop::<_, 2>(m)),
            (MetricChoice::Natural, _) => {
                self.sampled::<_, _, 0, 0>(m, m.natural(), InOneLoop::<_, 2>(m))
            }
            _ => self.no_metric("normal"),
        }
    }

    fn logistic<'a>(&self, m: &'a LogisticRegression) -> Result<Box<dyn Job + 'a>> {
        let d = m.rows().width();
        if let Some(metric) = self.system.metric.constant(d)? {
            return match d {
                LOGISTIC => self.sampled::<_, _, LOGISTIC, 0>(m, metric, Alone),
                _ => self.sampled::<_, _, 0, 0>(m, metric, Plain),
            };
        }
        let metric = match self.system.metric {
            MetricChoice::Natural => m.natural(),
            _ => m.natural_plus_identity(),
        };
        match d {
            LOGISTIC => self.sampled::<_, _, LOGISTIC, LOGISTIC>(m, metric, Plain),
            _ => self.sampled::<_, _, 0, 0>(m, metric, Plain),
        }
    }

    fn ica<'a>(&self, m: &'a Ica) -> Result<Box<dyn Job + 'a>> {
        let d = m.n_signals() * m.n_signals();
        if let Some(metric) = self.system.metric.constant(d)? {
            return match d {
                ICA => self.sampled::<_, _, ICA, 0>(m, metric, Alone),
                _ => self.sampled::<_, _, 0, 0>(m, metric, Plain),
            };
        }
        let metric = match self.system.metric {
            MetricChoice::Natural => m.natural(),
            _ => m.natural_plus_identity(),
        };
        match d {
            ICA => self.sampled::<_, _, ICA, ICA>(m, metric, Alone),
            _ => self.sampled::<_, _, 0, 0>(m, metric, Plain),
        }
    }

    fn no_metric<'a>(&self, model: &'static str) -> Result<Box<dyn Job + 'a>> {
        let metric = self.system.metric.name();
        Err(Error::NoSuchMetric { metric, model })
    }

    /// With all data or minibatches; `O` and `D` are the numbers of coordinates that the compiler
    /// knows of the target and of the dynamics, or 0.
    fn sampled<'a, T, M, const O: usize, const D: usize>(
        &self,
        target: &'a T,
        metric: M,
        way: impl for<'x> Way<Exact<'a, T, O>, EulerMaruyama<'x, M, D>>
        + for<'x> Way<Minibatch<'a, T, O>, EulerMaruyama<'x, M, D>>
        + 'a,
    ) -> Result<Box<dyn Job + 'a>>
    where
        T: Subsampled,
        M: Metric + 'a,
    {
        let dynamics = self.system.with_metric(metric)?;
        Ok(match self.gradient {
            Gradient::Exact => Box::new(EulerJob::<_, _, _, D> {
                oracle: Exact::<T, O>::of_known_dim(target)?,
                dynamics,
                step_size: self.step_size,
                way,
            }),
            Gradient::Minibatch { .. } => Box::new(EulerJob::<_, _, _, D> {
                oracle: Minibatch::<T, O>::new(target, self.gradient)?,
                dynamics,
                step_size: self.step_size,
                way,
            }),
        })
    }
}

/// A way to move chains: the same bits, at another speed.
trait Way<O, X>: Sync {
    fn mover<'x>(&'x self, oracle: &'x O, transition: &'x X) -> impl Mover + 'x;
}

/// Transition and oracle apart.
struct Plain;

impl<O: Oracle, X: Transition> Way<O, X> for Plain {
    fn mover<'x>(&'x self, oracle: &'x O, transition: &'x X) -> impl Mover + 'x {
        Any { oracle, transition }
    }
}

/// Together for a chain that is alone.
struct Alone;

impl<O: Oracle, X: Transition> Way<O, X> for Alone {
    fn mover<'x>(&'x self, oracle: &'x O, transition: &'x X) -> impl Mover + 'x {
        Direct(Any { oracle, transition })
    }
}

/// Transition and target in one loop, for `D` coordinates.
struct InOneLoop<'a, T, const D: usize>(&'a T);

impl<O, T, M, const D: usize> Way<O, EulerMaruyama<'_, M>> for InOneLoop<'_, T, D>
where
    O: Oracle,
    T: Sums,
    M: Metric,
{
    fn mover<'x>(&'x self, oracle: &'x O, transition: &'x EulerMaruyama<'_, M>) -> impl Mover + 'x {
        Fused::<'x, O, T, M, D> {
            any: Any { oracle, transition },
            target: self.0,
        }
    }
}

/// Euler–Maruyama for any oracle.
struct EulerJob<O, M, V, const D: usize> {
    oracle: O,
    dynamics: Dynamics<M>,
    step_size: StepSize,
    way: V,
}

impl<O, M, V, const D: usize> Job for EulerJob<O, M, V, D>
where
    O: Oracle,
    M: Metric,
    V: for<'x> Way<O, EulerMaruyama<'x, M, D>>,
{
    fn start(&self, plan: &Plan) -> std::result::Result<Chains, RunError> {
        let starts = euler_starts(&self.oracle, &self.dynamics, plan)?;
        Ok(Chains::new(plan.seed, plan.first_chain, starts)?)
    }

    fn records(&self, chains: &Chains, measure: &Measure) -> Result<Records<Measurement>> {
        measure.records(chains, &self.oracle)
    }

    fn advance(
        &self,
        chains: &mut Chains,
        n_steps: u64,
        records: &mut Records<Measurement>,
        how: &How<'_>,
    ) -> std::result::Result<Advanced, RunError> {
        let euler = EulerMaruyama::<M, D>::new(&self.dynamics, self.step_size)?;
        let mover = self.way.mover(&self.oracle, &euler);
        let moves = Moves::of(&euler);
        chains.advance_by(&self.oracle, moves, n_steps, records, how, &mover)
    }
}
