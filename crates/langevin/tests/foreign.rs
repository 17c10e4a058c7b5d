//! Foreign targets and metrics give the chains of the library's own, and fail cleanly.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use common::*;
use langevin::batch::Gradient;
use langevin::catalog::{Measure, Measurement, MetricChoice, Model, System, run, run_job};
use langevin::chain::{Control, Outcome, Plan, RunError, Start};
use langevin::foreign::{self, Failure, ForeignMetric, ForeignTarget, Worker, divergence_check};
use langevin::models::{LogisticRegression, NormalParameters};
use langevin::record::Observable;
use langevin::skew::{Skew, SkewMatrix};

const N_DATA: f64 = 6.0;

fn normal() -> Model {
    Model::Normal(NormalParameters::new(vec![-1.0, 0.0, 1.0, 3.0, 4.0, 2.0]).unwrap())
}

fn logistic() -> Model {
    let l = &reference()["logistic"];
    Model::Logistic(LogisticRegression::new(rows(&l["X"]), 4, &vector(&l["t"]), 0.5).unwrap())
}

fn system(metric: MetricChoice, skew: Skew) -> System {
    System {
        name: "test".into(),
        metric,
        skew,
        beta: 0.5,
    }
}

fn measure() -> Measure {
    Measure {
        observables: vec![Observable::Sum],
        marks: vec![50, 301],
        moments_from: None,
        draws: Some((0, 1, usize::MAX)),
    }
}

fn draws(outcome: &Outcome<Measurement>) -> Vec<(u64, Vec<f64>)> {
    let mut all: Vec<_> = outcome
        .chains()
        .map(|(chain, record, lane)| {
            let mut values = record.draws.as_ref().unwrap().chain(lane);
            values.extend(record.averages.as_ref().unwrap().running(0, lane));
            (chain, values)
        })
        .collect();
    all.sort_by_key(|(chain, _)| *chain);
    all
}

/// Runs foreign functions.
fn run_foreign(
    workers: Vec<Worker<'_>>,
    system: &System,
    gradient: Gradient,
    plan: &Plan,
    measure: &Measure,
    control: Control<'_>,
) -> Result<Outcome<Measurement>, RunError> {
    let job = foreign::euler(workers, system, gradient, plan.step_size)?;
    run_job(job.as_ref(), plan, measure, control)
}

fn workers(model: &Model, n: usize) -> Vec<Worker<'_>> {
    (0..n)
        .map(|_| Worker {
            target: foreign::native(model),
            metric: None,
        })
        .collect()
}

#[test]
fn a_foreign_copy_gives_the_same_bits_for_any_number_of_workers() {
    let model = logistic();
    let j = SkewMatrix::sign_pattern(4, 0.5).unwrap();
    let diagonal = MetricChoice::Diagonal(vec![1.0, 2.0, 0.5, 1.5]);
    for gradient in [Gradient::Exact, Gradient::minibatch(5)] {
        for system in [
            system(MetricChoice::Identity, Skew::None),
            system(diagonal.clone(), Skew::Geometric(j.clone())),
        ] {
            let plan = Plan::new(301, 0.01)
                .chains(21)
                .first_chain(3)
                .start(Start::Normal {
                    mean: vec![0.0; 4],
                    sd: 0.3,
                })
                .seed(9);
            let native = run(
                &model,
                &system,
                gradient,
                &plan,
                &measure(),
                Control::default(),
            )
            .unwrap();
            for n in [1, 2, 5] {
                let foreign = run_foreign(
                    workers(&model, n),
                    &system,
                    gradient,
                    &plan,
                    &measure(),
                    Control::default(),
                );
                assert_eq!(draws(&foreign.unwrap()), draws(&native), "{n} workers");
            }
        }
    }
}

/// B = (σ²/N) diag(1, ½), and its escapes where they are to be given, times a factor.
struct Fisher {
    own: Option<f64>,
}

impl ForeignMetric for Fisher {
    fn matrix(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        for (theta, b) in thetas.chunks_exact(2).zip(out.chunks_exact_mut(4)) {
            let scale = theta[1] * theta[1] / N_DATA;
            b.copy_from_slice(&[scale, 0.0, 0.0, 0.5 * scale]);
        }
        Ok(())
    }

    fn divergence(
        &mut self,
        thetas: &[f64],
        j: Option<&SkewMatrix>,
        div_b: &mut [f64],
        div_bj: &mut [f64],
    ) -> Result<bool, Failure> {
        let Some(factor) = self.own else {
            return Ok(false);
        };
        for (i, theta) in thetas.chunks_exact(2).enumerate() {
            let slope = factor * theta[1] / N_DATA;
            div_b[2 * i..2 * i + 2].copy_from_slice(&[0.0, slope]);
            if let Some(j) = j {
                div_bj[2 * i..2 * i + 2].copy_from_slice(&[2.0 * slope * j.get(0, 1), 0.0]);
            }
        }
        Ok(true)
    }
}

#[test]
fn a_foreign_metric_follows_the_native_one() {
    let model = normal();
    let plan = Plan::new(301, 0.02)
        .chains(11)
        .start(Start::Fixed(vec![1.0, 2.0]));
    let j = SkewMatrix::sign_pattern(2, 1.0).unwrap();
    for skew in [
        Skew::None,
        Skew::Constant(j.scaled(0.1)),
        Skew::Geometric(j),
    ] {
        let system = system(MetricChoice::Natural, skew);
        let native = run(
            &model,
            &system,
            Gradient::Exact,
            &plan,
            &measure(),
            Control::default(),
        )
        .unwrap();
        assert!(native.escapes.is_empty());
        // Rounding aside, differences are off by their truncation error only, which is 0 for a
        // quadratic function; both grow along the path.
        for own in [Some(1.0), None] {
            let worker = Worker {
                target: foreign::native(&model),
                metric: Some(Box::new(Fisher { own })),
            };
            let foreign = run_foreign(
                vec![worker],
                &system,
                Gradient::Exact,
                &plan,
                &measure(),
                Control::default(),
            );
            for ((_, a), (_, b)) in draws(&foreign.unwrap()).iter().zip(draws(&native)) {
                assert_close("states", a, &b, 1e-8);
            }
        }
    }
}

#[test]
fn the_divergence_check_tells_right_from_wrong() {
    let j = SkewMatrix::sign_pattern(2, 1.0).unwrap();
    let thetas = [1.0, 2.0, -3.0, 0.7];
    let error = |own| divergence_check(&mut Fisher { own }, &thetas, 2, Some(&j)).unwrap();
    assert!(error(Some(1.0)) < 1e-8);
    assert!(error(None) < 1e-8);
    // Relative to the larger of the two, 5 % too much is 1/21 off.
    assert!((error(Some(1.05)) - 0.05 / 1.05).abs() < 1e-8);
}

/// The score of N(0, 1) that turns NaN beyond a bound, and remembers what it saw.
struct Bounded<'a> {
    bound: f64,
    seen: &'a Mutex<Vec<f64>>,
}

impl ForeignTarget for Bounded<'_> {
    fn dim(&self) -> usize {
        1
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        self.seen.lock().unwrap().extend(thetas);
        for (out, theta) in out.iter_mut().zip(thetas) {
            *out = if theta.abs() < self.bound {
                -theta
            } else {
                f64::NAN
            };
        }
        Ok(())
    }
}

#[test]
fn a_score_that_is_not_finite_ends_its_chain_only() {
    let seen = Mutex::new(vec![]);
    let worker = Worker {
        target: Box::new(Bounded {
            bound: 2.5,
            seen: &seen,
        }),
        metric: None,
    };
    let plan = Plan::new(400, 0.1).chains(50);
    let system = system(MetricChoice::Identity, Skew::None);
    let outcome = run_foreign(
        vec![worker],
        &system,
        Gradient::Exact,
        &plan,
        &measure(),
        Control::default(),
    )
    .unwrap();
    // A chain leaves [−2.5, 2.5] within T = 40 in roughly half of all cases.
    let n = outcome.escapes.len();
    assert!((5..45).contains(&n), "{n} escapes");
    assert!(seen.lock().unwrap().iter().all(|x| x.is_finite()));
    for (chain, record, lane) in outcome.chains() {
        let states = record.draws.as_ref().unwrap().chain(lane);
        let stopped = outcome.escapes.iter().find(|d| d.chain == chain);
        let end = stopped.map_or(400, |d| d.step as usize);
        assert!(states[..end].iter().all(|x| x.is_finite()));
        assert!(states[end..].iter().all(|x| x.is_nan()));
        if end < 400 {
            assert!(states[end - 1].abs() >= 2.5);
        }
    }
}

/// Fails at the given call.
struct Failing<'a> {
    calls: usize,
    cancel: Option<&'a AtomicBool>,
}

impl ForeignTarget for Failing<'_> {
    fn dim(&self) -> usize {
        1
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        if self.calls == 0 {
            if let Some(cancel) = self.cancel {
                cancel.store(true, Ordering::Relaxed);
            }
            return Err("no more".into());
        }
        self.calls -= 1;
        for (out, theta) in out.iter_mut().zip(thetas) {
            *out = -theta;
        }
        Ok(())
    }
}

#[test]
fn a_failure_is_returned_and_one_after_a_cancel_ends_the_run() {
    let system = system(MetricChoice::Identity, Skew::None);
    let plan = Plan::new(1000, 0.1).chains(3);
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: Some(&cancel),
        ..Control::default()
    };
    let failing = |cancel| {
        let target = Box::new(Failing { calls: 301, cancel });
        vec![Worker {
            target,
            metric: None,
        }]
    };
    let error = run_foreign(
        failing(None),
        &system,
        Gradient::Exact,
        &plan,
        &measure(),
        control,
    )
    .unwrap_err();
    assert!(matches!(error, RunError::Call(_)) && error.to_string() == "no more");

    // One call checks the initial states, so 300 states are complete.
    let outcome = run_foreign(
        failing(Some(&cancel)),
        &system,
        Gradient::Exact,
        &plan,
        &measure(),
        control,
    );
    let outcome = outcome.unwrap();
    assert!(outcome.cancelled);
    for (_, record, _) in outcome.chains() {
        assert_eq!(record.draws.as_ref().unwrap().len(), 300);
    }
}

#[test]
fn bad_starts_are_refused() {
    let seen = Mutex::new(vec![]);
    let system = system(MetricChoice::Identity, Skew::None);
    let start = |theta: f64| {
        let worker = Worker {
            target: Box::new(Bounded {
                bound: 2.5,
                seen: &seen,
            }),
            metric: None,
        };
        let plan = Plan::new(10, 0.1)
            .chains(2)
            .start(Start::Fixed(vec![theta]));
        run_foreign(
            vec![worker],
            &system,
            Gradient::Exact,
            &plan,
            &measure(),
            Control::default(),
        )
        .unwrap_err()
    };
    assert!(matches!(start(3.0), RunError::Start { chain: 0, .. }));
    assert!(start(f64::NAN).to_string().contains("initial state"));
    let no_workers = run_foreign(
        vec![],
        &system,
        Gradient::Exact,
        &Plan::new(10, 0.1),
        &measure(),
        Control::default(),
    );
    assert!(matches!(no_workers, Err(RunError::Input(_))));
}

#[test]
fn an_observable_of_many_states_equals_one_of_single_states() {
    let model = normal();
    let plan = Plan::new(301, 0.02)
        .chains(11)
        .start(Start::Fixed(vec![1.0, 2.0]));
    let many = Observable::Vectorised {
        name: "product".into(),
        function: std::sync::Arc::new(|states: &[f64], out: &mut [f64]| {
            for (theta, out) in states.chunks_exact(2).zip(out) {
                *out = theta[0] * theta[1];
            }
        }),
    };
    let single = Observable::custom("product", |theta| theta[0] * theta[1]);
    let measure = Measure {
        observables: vec![many, single],
        ..measure()
    };
    let system = system(MetricChoice::Natural, Skew::None);
    let outcome = run(
        &model,
        &system,
        Gradient::Exact,
        &plan,
        &measure,
        Control::default(),
    )
    .unwrap();
    for (_, record, lane) in outcome.chains() {
        let averages = record.averages.as_ref().unwrap();
        assert_eq!(averages.running(0, lane), averages.running(1, lane));
        assert!(averages.running(0, lane)[1].is_finite());
    }
}
