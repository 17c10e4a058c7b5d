//! The same target under several dynamics, step sizes or gradient estimators side by side.
//!
//! [`compare`] takes any number of runs, so that what reproduces a whole paper shares one queue of
//! work; [`Comparison`] holds the numbers, [`json`] turns them into a machine-readable form.

mod estimate;
pub mod json;

use std::sync::Arc;

use langevin::chain::RunError;
use langevin::stat::Spread;
use langevin::stat::running::{Estimate, log_spaced};
use langevin::transition::StepSize;

use crate::exact::{Exact, Variances};
use crate::execute::{
    Chain, Draws, ExecuteError, Ksd, Recorded, Recording, Settings, Task, execute,
};
use crate::run_file::{Arm, Run, Truth};

pub use estimate::{Marks, Point, mean_of, ratio};

/// Checkpoints of discrepancies in a factor of ten.
const KSD_PER_DECADE: usize = 10;

/// All numbers of one run.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The run.
    pub run: Arc<Run>,
    /// What averages are compared with, one for each observable; the error is 0 for exact values.
    pub truth: Vec<Option<Estimate>>,
    /// One for each dynamics.
    pub arms: Vec<ArmResult>,
}

/// The numbers of one dynamics.
#[derive(Clone, Debug)]
pub struct ArmResult {
    /// What was run.
    pub arm: Arm,
    /// Chains that escaped, and their first bad states.
    pub escapes: Vec<(u64, u64)>,
    /// One for each observable.
    pub observables: Vec<ObservableResult>,
    /// Kernel Stein discrepancies.
    pub ksd: Option<Vec<KsdPoint>>,
    /// The same of each chain that did not escape: its number, and one value per checkpoint.
    pub ksd_chains: Vec<(u64, Vec<f64>)>,
    /// States of the first chains.
    pub paths: Option<Paths>,
    /// Seconds of one thread per step of one chain.
    pub seconds_per_step: f64,
    /// The sums at marks that averages and variances were made of.
    pub averages: Recorded,
}

impl ArmResult {
    /// AVar/h · seconds per step: the variance of an average after one second, with its error (that
    /// of the time is neglected).
    pub fn variance_per_second(&self, observable: usize) -> Option<(f64, f64)> {
        let spread = self.observables[observable].variance?;
        let factor = self.seconds_per_step / self.arm.step_size.largest();
        Some((spread.mean * factor, spread.mean_se * factor))
    }
}

/// The numbers of one observable under one dynamics.
#[derive(Clone, Debug)]
pub struct ObservableResult {
    /// Mean over chains of the average after burn-in.
    pub mean: Option<Estimate>,
    /// Batch-means estimate of the asymptotic variance over chains; none with fewer than two
    /// healthy chains or with step sizes that vary.
    pub variance: Option<Spread>,
    /// The estimate of each chain that did not escape.
    pub variances: Vec<(u64, f64)>,
    /// Ratio of the asymptotic variance to that of the first dynamics.
    pub ratio: Option<Estimate>,
    /// Exact asymptotic variances.
    pub exact: Variances,
    /// Errors of running averages.
    pub curve: Vec<Point>,
    /// The running average of each chain that did not escape over all its steps.
    pub averages: Vec<(u64, f64)>,
}

/// Kernel Stein discrepancy of the first `n` points: mean over chains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KsdPoint {
    /// Number of points.
    pub n: usize,
    /// Mean over chains, with its standard error where there are two or more.
    pub mean: f64,
    /// Standard error of the mean.
    pub se: Option<f64>,
}

/// States of some chains.
#[derive(Clone, Debug, PartialEq)]
pub struct Paths {
    /// Number of coordinates.
    pub dim: usize,
    /// Numbers of the states that were kept.
    pub steps: Vec<u64>,
    /// One list per chain: states one after the other.
    pub chains: Vec<Vec<f64>>,
}

impl Paths {
    /// A coordinate of a chain over time.
    pub fn path(&self, chain: usize, coordinate: usize) -> Vec<f64> {
        let states = self.chains[chain].chunks_exact(self.dim);
        states.map(|theta| theta[coordinate]).collect()
    }

    /// The mean of a coordinate over the chains that did not escape.
    pub fn mean_path(&self, coordinate: usize) -> Vec<f64> {
        let healthy = |chain: &&Vec<f64>| chain.iter().all(|x| x.is_finite());
        let chains: Vec<&Vec<f64>> = self.chains.iter().filter(healthy).collect();
        let n = chains.len() as f64;
        let at = |k: usize| {
            chains
                .iter()
                .map(|c| c[k * self.dim + coordinate])
                .sum::<f64>()
                / n
        };
        (0..self.steps.len()).map(at).collect()
    }
}

/// Runs everything that the runs ask for, and puts the numbers together.
pub fn compare(runs: &[Arc<Run>], settings: Settings<'_>) -> Result<Vec<Comparison>, ExecuteError> {
    for run in runs {
        run.needs.to_compare.check_memory()?;
    }
    let tasks: Vec<Vec<Task>> = runs.iter().map(tasks).collect();
    let mut recorded = execute(&tasks.concat(), settings)?.into_iter();
    let mut comparisons = vec![];
    for (run, tasks) in runs.iter().zip(tasks) {
        let recorded: Vec<Recorded> = recorded.by_ref().take(tasks.len()).collect();
        let comparison = Comparison::new(run, tasks, recorded);
        comparisons.push(comparison.map_err(RunError::from)?);
    }
    Ok(comparisons)
}

/// Everything that has to be run for a comparison: the averages of every arm, then discrepancies,
/// paths and the reference run, where asked for.
pub fn tasks(run: &Arc<Run>) -> Vec<Task> {
    let task =
        |arm: &Arm, n_chains, n_steps, recording| run.task(arm, n_chains, n_steps, recording);
    let observables: Vec<_> = run
        .measure
        .observables
        .iter()
        .map(|o| o.observable.clone())
        .collect();
    let marks = Marks::new(run).all;
    let averages = |marks| Recording::averages(observables.clone(), marks);
    let mut tasks = vec![];
    for arm in &run.arms {
        tasks.push(task(
            arm,
            run.n_chains,
            run.n_steps,
            averages(marks.clone()),
        ));
        if let Some(ksd) = &run.measure.ksd {
            // At least one point was asked for, so this cannot fail.
            let checkpoints = log_spaced(ksd.n_points, KSD_PER_DECADE).unwrap_or_default();
            let points = Draws {
                start: ksd.burn_in,
                thin: ksd.thin,
                count: ksd.n_points,
            };
            let recording = Recording {
                ksd: Some(Ksd {
                    checkpoints,
                    kernel: ksd.kernel,
                }),
                ..Recording::draws(points)
            };
            tasks.push(task(&ksd.arm(arm), ksd.n_chains, ksd.n_steps, recording));
        }
        if let Some(paths) = &run.measure.trajectories {
            let recording = Recording::draws(Draws {
                start: 0,
                thin: paths.thin.min(paths.n_steps),
                count: paths.n_steps.div_ceil(paths.thin) as usize,
            });
            tasks.push(task(arm, paths.n_chains, paths.n_steps, recording));
        }
    }
    if let Truth::Reference(long) = &run.measure.truth {
        let marks = vec![long.burn_in, long.n_steps];
        let recording = averages(marks.into_iter().filter(|m| *m > 0).collect());
        tasks.push(task(&long.arm, long.n_chains, long.n_steps, recording));
    }
    tasks
}

impl Comparison {
    fn new(run: &Arc<Run>, tasks: Vec<Task>, recorded: Vec<Recorded>) -> langevin::Result<Self> {
        let mut done = tasks.into_iter().zip(recorded).peekable();
        let mut parts = vec![];
        for arm in &run.arms {
            let Some((_, averages)) = done.next() else {
                break;
            };
            let mut part = (arm, averages, None, None);
            if run.measure.ksd.is_some() {
                part.2 = done.next();
            }
            if run.measure.trajectories.is_some() {
                part.3 = done.next();
            }
            parts.push(part);
        }
        let truth = truth(run, done.next().map(|(_, recorded)| recorded));
        let mut arms: Vec<ArmResult> = vec![];
        for (arm, averages, ksd, paths) in parts {
            let first = arms.first();
            let observables = observables(run, arm, &averages, &truth, first)?;
            arms.push(ArmResult {
                arm: arm.clone(),
                escapes: averages.escapes(),
                observables,
                ksd_chains: ksd.as_ref().map_or(vec![], |(_, recorded)| {
                    let values = |chain: &Chain| (chain.number, chain.ksd.clone());
                    recorded.healthy().map(values).collect()
                }),
                ksd: ksd.map(|(task, recorded)| ksd_points(&task, &recorded)),
                paths: paths.map(|(task, recorded)| path_states(run, &task, recorded)),
                seconds_per_step: averages.seconds_per_step(),
                averages,
            });
        }
        Ok(Comparison {
            run: run.clone(),
            truth,
            arms,
        })
    }

    /// Whether every chain of some dynamics escaped, so that there is nothing to show of it.
    pub fn some_arm_is_lost(&self) -> bool {
        let n = self.run.n_chains;
        self.arms.iter().any(|arm| arm.escapes.len() == n)
    }
}

/// The truth of every observable: exact, typed, or the mean of the reference run.
fn truth(run: &Run, reference: Option<Recorded>) -> Vec<Option<Estimate>> {
    let known = |value: f64| Estimate { value, se: 0.0 };
    match &run.measure.truth {
        Truth::None => vec![None; run.measure.observables.len()],
        Truth::Exact(values) => values.iter().map(|x| Some(known(*x))).collect(),
        Truth::Numbers(values) => values.iter().map(|x| x.map(known)).collect(),
        Truth::Reference(long) => {
            let recorded = reference.unwrap_or_default();
            let n_marks = if long.burn_in > 0 { 2 } else { 1 };
            let count = (long.n_steps - long.burn_in) as f64;
            let mean = |i: usize| {
                let means: Vec<f64> = recorded
                    .healthy()
                    .map(|c| c.sums[i][n_marks - 1] / count)
                    .collect();
                estimate::mean_of(&means)
            };
            (0..run.measure.observables.len()).map(mean).collect()
        }
    }
}

fn observables(
    run: &Run,
    arm: &Arm,
    recorded: &Recorded,
    truth: &[Option<Estimate>],
    first: Option<&ArmResult>,
) -> langevin::Result<Vec<ObservableResult>> {
    let marks = Marks::new(run);
    let exact = match run.measure.theory {
        true => Exact::new(run, arm)?,
        false => Exact::Unknown,
    };
    let measure = &run.measure;
    let mut results = vec![];
    for (i, observable) in measure.observables.iter().enumerate() {
        let variances = match arm.step_size {
            StepSize::Constant(h) => marks.batch_variances(recorded, i, h),
            StepSize::Decreasing { .. } => vec![],
        };
        let values: Vec<f64> = variances.iter().map(|(_, v)| *v).collect();
        let base = first.map_or(&variances, |arm| &arm.observables[i].variances);
        let running = marks.running(recorded, i, arm.step_size);
        let known = truth[i].map(|t| t.value);
        let mut curve = estimate::curve(&running, &measure.checkpoints, known)?;
        // From the first state on; theory knows nothing of averages that begin later.
        for point in curve.iter_mut().filter(|_| measure.origin == 0) {
            let known = observable.exact.as_ref();
            let moments = known.and_then(|o| exact.running_average(o, point.n_steps));
            if let Some(moments) = moments.transpose()? {
                point.exact = Some((moments.bias * moments.bias, moments.variance));
            }
        }
        results.push(ObservableResult {
            mean: estimate::mean_of(&marks.means(run, recorded, i, arm.step_size)),
            variance: Spread::new(&values).ok(),
            ratio: estimate::ratio(&variances, base),
            exact: match &observable.exact {
                Some(observable) => exact.variances(
                    observable,
                    measure.n_batches,
                    measure.batch_steps,
                    marks.batches[0],
                )?,
                None => Variances::default(),
            },
            variances,
            curve,
            averages: recorded
                .healthy()
                .zip(&running)
                .filter_map(|(chain, curve)| Some((chain.number, *curve.last()?)))
                .collect(),
        });
    }
    Ok(results)
}

fn ksd_points(task: &Task, recorded: &Recorded) -> Vec<KsdPoint> {
    let Some(Ksd { checkpoints, .. }) = &task.recording.ksd else {
        return vec![];
    };
    let point = |(k, n): (usize, &usize)| {
        let values: Vec<f64> = recorded.healthy().map(|chain| chain.ksd[k]).collect();
        KsdPoint {
            n: *n,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            se: estimate::mean_of(&values).map(|e| e.se),
        }
    };
    checkpoints.iter().enumerate().map(point).collect()
}

fn path_states(run: &Run, task: &Task, recorded: Recorded) -> Paths {
    let draws = task.recording.draws;
    let (thin, count) = draws.map_or((1, 0), |d| (d.thin, d.count as u64));
    Paths {
        dim: run.target.dim(),
        steps: (0..count).map(|k| k * thin).collect(),
        chains: recorded.chains.into_iter().map(|c| c.states).collect(),
    }
}
