//! Foreign functions under any dynamics, as a job.

use super::{Foreign, Given, GivenEuler, Native, Worker};
use crate::adapt::Sampler;
use crate::batch::Gradient;
use crate::catalog::{Job, Measure, Measurement, Model, System, each_model};
use crate::chain::{Advanced, Chains, How, Plan, Records, RunError, check_euler, euler_starts};
use crate::dynamics::Dynamics;
use crate::foreign::ForeignTarget;
use crate::metric::Constant;
use crate::skew::Skew;
use crate::transition::{EulerMaruyama, StepSize};
use crate::{Error, Result};

/// The Euler–Maruyama chains of foreign functions under a dynamics.
///
/// Where the workers have a metric it is used, whatever `system.metric` says; otherwise that must
/// be a constant one.
pub fn euler<'a>(
    workers: Vec<Worker<'a>>,
    system: &System,
    gradient: Gradient,
    step_size: StepSize,
) -> Result<Box<dyn Job + 'a>> {
    step_size.check()?;
    let oracle = Foreign::new(workers, gradient, &system.skew)?;
    use crate::oracle::Oracle;
    let dim = oracle.dim();
    let metric = match oracle.has_metric() {
        true => Metric::Given(system.with_metric(Given::new(dim))?),
        false => match system.metric.constant(dim)? {
            Some(metric) => Metric::Constant(system.with_metric(metric)?),
            None => {
                let (metric, model) = (system.metric.name(), "foreign");
                return Err(Error::NoSuchMetric { metric, model });
            }
        },
    };
    Ok(Box::new(ForeignJob {
        oracle,
        metric,
        step_size,
    }))
}

/// What samples foreign functions exactly; they must give log π.
pub fn sampler<'a>(workers: Vec<Worker<'a>>) -> Result<Box<dyn Sampler + 'a>> {
    let oracle = Foreign::new(workers, Gradient::Exact, &Skew::None)?;
    Ok(Box::new(oracle))
}

/// A model of the library for runs with a foreign metric.
pub fn native(model: &Model) -> Box<dyn ForeignTarget + Send + '_> {
    each_model!(model, m => Box::new(Native::new(m)))
}

enum Metric {
    Given(Dynamics<Given>),
    Constant(Dynamics<Constant>),
}

struct ForeignJob<'a> {
    oracle: Foreign<'a>,
    metric: Metric,
    step_size: StepSize,
}

impl Job for ForeignJob<'_> {
    fn start(&self, plan: &Plan) -> std::result::Result<Chains, RunError> {
        let starts = match &self.metric {
            // The oracle has checked the metric.
            Metric::Given(dynamics) => check_euler(&self.oracle, dynamics.dim(), &|_| None, plan)?,
            Metric::Constant(dynamics) => euler_starts(&self.oracle, dynamics, plan)?,
        };
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
        match &self.metric {
            Metric::Given(dynamics) => {
                let euler = GivenEuler::new(dynamics, self.step_size)?;
                chains.advance(&self.oracle, &euler, n_steps, records, how)
            }
            Metric::Constant(dynamics) => {
                let euler = EulerMaruyama::<_>::new(dynamics, self.step_size)?;
                chains.advance(&self.oracle, &euler, n_steps, records, how)
            }
        }
    }
}
