//! Sampled chains against exact answers: running averages, batch means, moments, escapes.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::*;
use langevin::batch::Gradient;
use langevin::catalog::{Measure, Measurement, MetricChoice, Model, System, run};
use langevin::chain::{Control, Outcome, Plan, Start};
use langevin::models::{LinearGaussian, NormalParameters};
use langevin::record::Observable;
use langevin::rng::{Rng, Stream};
use langevin::skew::SkewMatrix;
use langevin::stat::{Batches, DEFAULT_BATCHES};
use langevin::transition::StepSize;
use serde_json::Value;

fn gaussian_model(inputs: &Value) -> LinearGaussian {
    let gamma_x = matrix(&inputs["GX"]);
    let prior = matrix(&inputs["Gamma"]) - &gamma_x * 10.0;
    LinearGaussian::new(rows(&inputs["X"]), &gamma_x, &prior).unwrap()
}

/// Mean of the batch-means estimate over healthy chains, and its error.
fn batch_means(outcome: &Outcome<Measurement>, observable: usize, batches: &Batches) -> (f64, f64) {
    let chains = outcome
        .healthy()
        .map(|(_, record, lane)| (record.averages.as_ref().unwrap(), lane));
    let spread = batches.over_chains(chains, observable).unwrap();
    (spread.mean, spread.mean_se)
}

fn two_observables() -> Vec<Observable> {
    vec![Observable::Sum, Observable::SumOfSquares]
}

/// Five systems, minibatches without replacement, from 0 without burn-in. Each of the 70
/// comparisons is within 4 standard errors (6·10⁻⁵ each, 0.4 % for all); 4096 chains resolve the
/// batch means to 0.5 %.
#[test]
fn gaussian_chains_meet_the_reference() {
    let reference = reference();
    let (inputs, outputs) = (
        &reference["gaussian"]["inputs"],
        &reference["gaussian"]["outputs"],
    );
    let model = Model::LinearGaussian(gaussian_model(inputs));
    let j = SkewMatrix::new(&matrix(&inputs["J"])).unwrap();
    let h = 0.005;
    let batches = Batches::new(0, 100_000, DEFAULT_BATCHES, h).unwrap();
    let checkpoints = [1000, 10_000, 100_000];
    let measure = Measure {
        observables: two_observables(),
        marks: batches.edges().iter().copied().chain(checkpoints).collect(),
        ..Measure::default()
    };
    for name in System::NAMES {
        let system = System::named(name, MetricChoice::Natural, j.clone()).unwrap();
        let plan = Plan::new(100_000, h).chains(4096).seed(1);
        let gradient = Gradient::minibatch(2);
        let control = Control::default();
        let outcome = run(&model, &system, gradient, &plan, &measure, control).unwrap();
        for (k, phi) in ["phi1", "phi2"].into_iter().enumerate() {
            let expected = |key: &str| outputs[name][phi][key].as_f64().unwrap();
            let within = |what: String, value: f64, error: f64, exact: f64| {
                let z = (value - exact) / error;
                assert!(
                    z.abs() < 4.0,
                    "{name} {phi} {what}: {value} ± {error}, exact {exact}, z = {z}"
                );
            };
            // The target's own expectation; `mean_em` would include the bias of the step.
            let truth = match k {
                0 => expected("mean_em_exact"),
                _ => exact_second_moment(&model),
            };
            for n in checkpoints {
                let values: Vec<f64> = outcome
                    .healthy()
                    .map(|(_, r, lane)| {
                        r.averages.as_ref().unwrap().between(0, n, k, lane).unwrap()
                    })
                    .collect();
                let (mean, error) = mean_and_error(&values);
                within(
                    format!("bias at {n}"),
                    mean - truth,
                    error,
                    expected(&format!("bias_K{n}_sg_norep")),
                );
                let squares: Vec<f64> = values.iter().map(|v| (v - mean).powi(2)).collect();
                let (variance, error) = mean_and_error(&squares);
                within(
                    format!("variance at {n}"),
                    variance * 4096.0 / 4095.0,
                    error,
                    expected(&format!("var_K{n}_sg_norep")),
                );
            }
            let (mean, error) = batch_means(&outcome, k, &batches);
            assert!(error / mean < 0.01, "the test must resolve 2 %");
            within(
                "batch means".into(),
                mean,
                error,
                expected("batch20_em_sg_norep_theta0_zero_noburn"),
            );
        }
    }
}

/// E Σθᵢ² under the posterior.
fn exact_second_moment(model: &Model) -> f64 {
    let Model::LinearGaussian(model) = model else {
        unreachable!()
    };
    let covariance = model.precision().try_inverse().unwrap();
    covariance.trace() + model.mean().norm_squared()
}

/// 30 numbers with mean 0 and standard deviation 10 (divisor N), the reference case.
fn normal_model() -> NormalParameters {
    let mut rng = Rng::new(4, 0, Stream::Setup);
    let x: Vec<f64> = (0..30).map(|_| rng.normal()).collect();
    let mean = x.iter().sum::<f64>() / 30.0;
    let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 30.0).sqrt();
    NormalParameters::new(x.iter().map(|x| 10.0 * (x - mean) / sd).collect()).unwrap()
}

/// Five systems from a stationary start. Each comparison is within 4 standard errors of the exact
/// continuous-time expectation of the estimator. The bias of the step h = 10⁻³ is not subtracted: it
/// counts against the test.
#[test]
fn normal_chains_meet_the_reference() {
    let reference = &reference()["normal"]["avar"];
    let target = normal_model();
    let model = Model::Normal(target.clone());
    let h = 1e-3;
    let batches = Batches::new(0, 990_000, DEFAULT_BATCHES, h).unwrap();
    let measure = Measure {
        observables: two_observables(),
        marks: batches.edges().to_vec(),
        ..Measure::default()
    };
    let start = Start::Function(Arc::new(move |seed, chain| {
        target
            .exact_draw(&mut Rng::new(seed, chain, Stream::Start))
            .to_vec()
    }));
    for name in System::NAMES {
        let system = System::named(
            name,
            MetricChoice::Natural,
            SkewMatrix::sign_pattern(2, 2.0).unwrap(),
        )
        .unwrap();
        let plan = Plan::new(990_000, h)
            .chains(2048)
            .start(start.clone())
            .seed(3);
        let outcome = run(
            &model,
            &system,
            Gradient::Exact,
            &plan,
            &measure,
            Control::default(),
        )
        .unwrap();
        assert!(outcome.escapes.is_empty(), "{name}: {:?}", outcome.escapes);
        for (k, key) in ["batch_phi1", "batch_phi2"].into_iter().enumerate() {
            let exact = reference[name][key].as_f64().unwrap();
            let (mean, error) = batch_means(&outcome, k, &batches);
            let z = (mean - exact) / error;
            println!("{name} {key}: {mean:.4} ± {error:.4}, exact {exact:.4}, z = {z:.2}");
            assert!(
                z.abs() < 4.0 && error / mean < 0.02,
                "{name} {key}: {mean} ± {error}, exact {exact}"
            );
        }
    }
}

/// Running averages of the exact posterior draws: E φ1 and E φ2 of the reference.
#[test]
fn exact_draws_of_the_normal_posterior_have_the_exact_moments() {
    let target = normal_model();
    let mut rng = Rng::new(8, 0, Stream::Setup);
    let draws: Vec<[f64; 2]> = (0..400_000).map(|_| target.exact_draw(&mut rng)).collect();
    let moments = &reference()["normal"]["moments"];
    for (key, f) in [
        ("E_phi1", Observable::Sum),
        ("E_phi2", Observable::SumOfSquares),
    ] {
        let values: Vec<f64> = draws.iter().map(|x| f.value(x)).collect();
        let (mean, error) = mean_and_error(&values);
        let z = (mean - moments[key].as_f64().unwrap()) / error;
        assert!(z.abs() < 4.0, "{key}: z = {z}");
    }
}

fn small_gaussian() -> Model {
    Model::LinearGaussian(gaussian_model(&reference()["gaussian"]["inputs"]))
}

fn ld() -> System {
    System::named(
        "LD",
        MetricChoice::Natural,
        SkewMatrix::sign_pattern(3, 1.0).unwrap(),
    )
    .unwrap()
}

#[test]
fn recorders_agree_with_each_other_on_the_same_states() {
    let n = 1000;
    let measure = Measure {
        observables: vec![
            Observable::Coordinate(1),
            Observable::Sum,
            Observable::SumOfSquares,
            Observable::SquareOfSum,
            Observable::custom("product", |x| x[0] * x[2]),
        ],
        marks: vec![7, 400, n],
        moments_from: Some(100),
        draws: Some((0, 1, usize::MAX)),
    };
    let plan = Plan::new(n, 0.1).chains(5);
    let outcome = run(
        &small_gaussian(),
        &ld(),
        Gradient::minibatch(2),
        &plan,
        &measure,
        Control::default(),
    )
    .unwrap();
    for (_, record, lane) in outcome.chains() {
        let draws = record.draws.as_ref().unwrap().chain(lane);
        let states: Vec<&[f64]> = draws.chunks_exact(3).collect();
        assert_eq!(states.len(), n as usize);
        assert_eq!(states[0], [0.0; 3], "the initial state is number 0");
        let averages = record.averages.as_ref().unwrap();
        for (k, observable) in measure.observables.iter().enumerate() {
            let values: Vec<f64> = states.iter().map(|x| observable.value(x)).collect();
            let running = averages.running(k, lane);
            for (mark, ours) in [7, 400, n as usize].into_iter().zip(running) {
                let direct = values[..mark].iter().sum::<f64>() / mark as f64;
                assert!(
                    (ours - direct).abs() < 1e-13 * (1.0 + direct.abs()),
                    "{observable:?} at {mark}"
                );
            }
            let direct = values[7..400].iter().sum::<f64>() / 393.0;
            assert!(
                (averages.between(7, 400, k, lane).unwrap() - direct).abs()
                    < 1e-13 * (1.0 + direct.abs())
            );
        }
        let moments = record.moments.as_ref().unwrap();
        for i in 0..3 {
            let column: Vec<f64> = states[100..].iter().map(|x| x[i]).collect();
            let (mean, error) = mean_and_error(&column);
            assert!((moments.mean(i, lane) - mean).abs() < 1e-13);
            assert!((moments.variance(i, lane) - error * error * 900.0).abs() < 1e-12);
        }
    }
}

#[test]
fn thinned_draws_are_every_nth_state() {
    let all = Measure {
        draws: Some((0, 1, usize::MAX)),
        ..Measure::default()
    };
    let some = Measure {
        draws: Some((130, 7, 50)),
        ..Measure::default()
    };
    let plan = Plan::new(2000, 0.1).chains(3);
    let draws = |measure: &Measure| {
        let outcome = run(
            &small_gaussian(),
            &ld(),
            Gradient::Exact,
            &plan,
            measure,
            Control::default(),
        )
        .unwrap();
        let (_, record, lane) = outcome.chains().nth(2).unwrap();
        record.draws.as_ref().unwrap().chain(lane)
    };
    let (all, some) = (draws(&all), draws(&some));
    assert_eq!(some.len(), 50 * 3);
    for (i, state) in some.chunks_exact(3).enumerate() {
        assert_eq!(state, &all[(130 + 7 * i) * 3..][..3]);
    }
}

/// With step sizes a(b+k)^(−γ), averages are weighted by the step sizes.
#[test]
fn decreasing_steps_weight_the_averages() {
    let schedule = StepSize::Decreasing {
        a: 0.4,
        b: 10.0,
        gamma: 0.5,
    };
    assert!((schedule.at(6) - 0.1).abs() < 1e-15);
    let measure = Measure {
        observables: vec![Observable::Sum],
        marks: vec![500],
        draws: Some((0, 1, usize::MAX)),
        ..Measure::default()
    };
    let plan = Plan::new(500, 1.0).step_sizes(schedule).chains(2);
    let outcome = run(
        &small_gaussian(),
        &ld(),
        Gradient::Exact,
        &plan,
        &measure,
        Control::default(),
    )
    .unwrap();
    let (_, record, lane) = outcome.chains().nth(1).unwrap();
    let draws = record.draws.as_ref().unwrap().chain(lane);
    let (mut sum, mut weight) = (0.0, 0.0);
    for (k, state) in draws.chunks_exact(3).enumerate() {
        sum += schedule.at(k as u64) * state.iter().sum::<f64>();
        weight += schedule.at(k as u64);
    }
    let ours = record.averages.as_ref().unwrap().running(0, lane)[0];
    assert!((ours - sum / weight).abs() < 1e-13);
}

/// With a huge step some chains cross σ = 0 and some do not.
#[test]
fn a_escaped_chain_is_reported_and_left_out() {
    let model = Model::Normal(normal_model());
    let system = System::named(
        "LD",
        MetricChoice::Natural,
        SkewMatrix::sign_pattern(2, 1.0).unwrap(),
    )
    .unwrap();
    let plan = Plan::new(2000, 10.5)
        .chains(100)
        .start(Start::Fixed(vec![0.0, 9.0]))
        .seed(5);
    let measure = Measure {
        observables: two_observables(),
        marks: vec![2000],
        draws: Some((0, 1, usize::MAX)),
        ..Measure::default()
    };
    let outcome = run(
        &model,
        &system,
        Gradient::Exact,
        &plan,
        &measure,
        Control::default(),
    )
    .unwrap();
    let escaped = outcome.escapes.len();
    assert!(escaped > 5 && escaped < 95, "{escaped} chains escaped");
    assert_eq!(outcome.healthy().count(), 100 - escaped);
    for (chain, record, lane) in outcome.chains() {
        let draws = record.draws.as_ref().unwrap().chain(lane);
        let first_bad = draws
            .chunks_exact(2)
            .position(|x| !(x[0].is_finite() && x[1] > 0.0));
        let reported = outcome.escapes.iter().find(|d| d.chain == chain);
        assert_eq!(
            first_bad.map(|s| s as u64),
            reported.map(|d| d.step),
            "chain {chain}"
        );
        let average = record.averages.as_ref().unwrap().running(0, lane);
        // A group whose chains have all stopped ends early and closes no segment.
        assert!(
            average
                .first()
                .is_none_or(|a| a.is_nan() == reported.is_some())
        );
        if let Some(bad) = first_bad {
            assert!(
                draws[2 * bad..].iter().all(|x| x.is_nan()),
                "chain {chain} goes on"
            );
        }
    }
}

#[test]
fn progress_counts_all_steps_and_cancellation_is_prompt() {
    let steps = AtomicU64::new(0);
    let count = |n| {
        steps.fetch_add(n, Ordering::Relaxed);
    };
    let plan = Plan::new(10_000, 0.1).chains(20);
    let control = Control {
        progress: Some(&count),
        ..Control::default()
    };
    let outcome = run(
        &small_gaussian(),
        &ld(),
        Gradient::Exact,
        &plan,
        &Measure::default(),
        control,
    )
    .unwrap();
    assert_eq!(steps.load(Ordering::Relaxed), 200_000);
    assert!(!outcome.cancelled);

    let cancel = AtomicBool::new(false);
    let stop = |_| cancel.store(true, Ordering::Relaxed);
    let control = Control {
        progress: Some(&stop),
        cancel: Some(&cancel),
        ..Control::default()
    };
    let plan = Plan::new(1 << 40, 0.1).chains(20);
    let outcome = run(
        &small_gaussian(),
        &ld(),
        Gradient::Exact,
        &plan,
        &Measure::default(),
        control,
    )
    .unwrap();
    assert!(outcome.cancelled);
}
