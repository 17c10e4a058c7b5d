//! A chain depends on the seed, the run and its number only.

mod common;

use common::*;
use langevin::batch::Gradient;
use langevin::catalog::{Measure, MetricChoice, Model, System, run};
use langevin::chain::{Control, Plan, Start};
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::real::Isa;
use langevin::record::Observable;
use langevin::rng::{Rng, Stream};
use langevin::skew::SkewMatrix;

/// Every model with a start and a J that fits.
fn models() -> Vec<(Model, Vec<f64>, f64)> {
    let r = reference();
    let g = &r["gaussian"]["inputs"];
    let gamma_x = matrix(&g["GX"]);
    let gaussian = LinearGaussian::new(
        rows(&g["X"]),
        &gamma_x,
        &(matrix(&g["Gamma"]) - &gamma_x * 10.0),
    )
    .unwrap();
    let l = &r["logistic"];
    let logistic = LogisticRegression::new(rows(&l["X"]), 4, &vector(&l["t"]), 0.5).unwrap();
    let ica = Ica::new(rows(&r["ica"]["X"]), 3, 1.0).unwrap();
    let normal = NormalParameters::new(rows(&g["X"])).unwrap();
    let identity: Vec<f64> = (0..9).map(|i| (i % 4 == 0) as u8 as f64).collect();
    vec![
        (Model::LinearGaussian(gaussian), vec![0.0; 3], 0.01),
        (Model::Normal(normal), vec![1.0, 2.0], 0.001),
        (Model::Logistic(logistic), vec![0.0; 4], 0.01),
        (Model::Ica(ica), identity, 0.001),
    ]
}

/// The bits of everything recorded of each chain.
fn bits(model: &Model, system: &System, gradient: Gradient, plan: &Plan) -> Vec<(u64, Vec<u64>)> {
    let measure = Measure {
        observables: vec![Observable::Sum, Observable::SumOfSquares],
        marks: vec![50, 301],
        moments_from: Some(10),
        draws: Some((0, 3, usize::MAX)),
    };
    let outcome = run(model, system, gradient, plan, &measure, Control::default()).unwrap();
    outcome
        .chains()
        .map(|(chain, record, lane)| {
            let mut values = record.draws.as_ref().unwrap().chain(lane);
            for k in 0..2 {
                values.extend(record.averages.as_ref().unwrap().running(k, lane));
            }
            values.push(record.moments.as_ref().unwrap().variance(0, lane));
            (chain, values.into_iter().map(f64::to_bits).collect())
        })
        .collect()
}

#[test]
fn results_depend_on_the_seed_the_run_and_the_chain_only() {
    for (model, start, h) in models() {
        let j = SkewMatrix::random_signs(model.dim(), 1).unwrap();
        for name in System::NAMES {
            for gradient in [Gradient::Exact, Gradient::minibatch(3)] {
                let system =
                    System::named(name, MetricChoice::of_paper(&model), j.clone()).unwrap();
                let plan = Plan::new(301, h)
                    .chains(37)
                    .start(Start::Fixed(start.clone()))
                    .seed(6);
                let what = format!("{} {name} {gradient:?}", model.name());
                let all = bits(&model, &system, gradient, &plan);
                assert_eq!(all.len(), 37);
                for threads in [1, 2] {
                    assert!(
                        bits(&model, &system, gradient, &plan.clone().threads(threads)) == all,
                        "{what}: {threads} threads"
                    );
                }
                for isa in Isa::available() {
                    assert!(
                        bits(&model, &system, gradient, &plan.clone().isa(isa)) == all,
                        "{what}: {isa:?}"
                    );
                }
                let alone = bits(
                    &model,
                    &system,
                    gradient,
                    &plan.clone().first_chain(17).chains(1),
                );
                assert!(alone[0] == all[17], "{what}: chain 17 alone");
                let mut split = vec![];
                for (first, n) in [(0, 5), (5, 3), (8, 22), (30, 7)] {
                    split.extend(bits(
                        &model,
                        &system,
                        gradient,
                        &plan.clone().first_chain(first).chains(n),
                    ));
                }
                assert!(split == all, "{what}: split into groups");
                // Negative controls: another seed, another chain.
                assert!(bits(&model, &system, gradient, &plan.clone().seed(7)) != all);
                assert!(all[0].1 != all[1].1);
            }
        }
    }
}

#[test]
fn chain_17_alone_equals_chain_17_among_1000() {
    let (model, start, h) = models().remove(1);
    let system = System::named(
        "GiIrr",
        MetricChoice::Natural,
        SkewMatrix::sign_pattern(2, 2.0).unwrap(),
    )
    .unwrap();
    let gradient = Gradient::minibatch(6);
    let plan = Plan::new(2000, h).chains(1000).start(Start::Normal {
        mean: start,
        sd: 0.1,
    });
    let among = bits(&model, &system, gradient, &plan);
    let alone = bits(
        &model,
        &system,
        gradient,
        &plan.clone().first_chain(17).chains(1),
    );
    assert!(among[17] == alone[0]);
}

#[test]
fn every_kind_of_minibatch_is_the_same_alone_and_among_others() {
    let entry = |k: usize| 4.0 * (k as f64 * 0.618_033_988_749_894_9).fract() - 2.0;
    let data = |n: usize| (0..n).map(entry).collect::<Vec<f64>>();
    let labels: Vec<f64> = (0..100).map(|i| f64::from(i % 3 == 0)).collect();
    let identity: Vec<f64> = (0..9).map(|i| (i % 4 == 0) as u8 as f64).collect();
    let five = nalgebra::DMatrix::identity(5, 5);
    let models = [
        (
            Model::LinearGaussian(LinearGaussian::new(data(500), &five, &five).unwrap()),
            vec![0.0; 5],
        ),
        (
            Model::Normal(NormalParameters::new(data(100)).unwrap()),
            vec![0.0, 1.0],
        ),
        (
            Model::Logistic(LogisticRegression::new(data(700), 7, &labels, 1.0).unwrap()),
            vec![0.0; 7],
        ),
        (Model::Ica(Ica::new(data(300), 3, 1.0).unwrap()), identity),
    ];
    for (model, start) in models {
        let j = SkewMatrix::random_signs(model.dim(), 1).unwrap();
        let system = System::named("LD", MetricChoice::of_paper(&model), j).unwrap();
        // Few rows, packed ones, shuffled ones; and repeated ones.
        for (batch_size, with_replacement) in
            [(5, false), (21, false), (70, false), (9, true), (80, true)]
        {
            let gradient = Gradient::Minibatch {
                batch_size,
                with_replacement,
            };
            let plan = Plan::new(301, 1e-4)
                .chains(17)
                .start(Start::Fixed(start.clone()))
                .seed(3);
            let all = bits(&model, &system, gradient, &plan);
            for isa in Isa::available() {
                let plan = plan.clone().isa(isa);
                let what = format!("{} {gradient:?} {isa:?}", model.name());
                assert!(bits(&model, &system, gradient, &plan) == all, "{what}");
                let alone = bits(&model, &system, gradient, &plan.first_chain(11).chains(1));
                assert!(alone[0] == all[11], "{what}: chain 11 alone");
            }
        }
    }
}

/// Blocks and tiles of data, and what is left over, for chains in lanes and for data in lanes.
#[test]
fn metrics_over_many_data_are_the_same_alone_and_among_others() {
    let mut rng = Rng::new(8, 0, Stream::Setup);
    for (n, d) in [(237, 7), (107, 20)] {
        let features = (0..n * d).map(|_| rng.normal()).collect();
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
        let model = Model::Logistic(LogisticRegression::new(features, d, &labels, 1.0).unwrap());
        let j = SkewMatrix::random_signs(d, 1).unwrap();
        for name in ["RM", "GiIrr"] {
            let system = System::named(name, MetricChoice::of_paper(&model), j.clone()).unwrap();
            let gradient = Gradient::minibatch(5);
            let plan = Plan::new(301, 1e-3)
                .chains(17)
                .start(Start::Fixed(vec![0.0; d]))
                .seed(3);
            let all = bits(&model, &system, gradient, &plan);
            for isa in Isa::available() {
                let plan = plan.clone().isa(isa);
                let what = format!("{name}, {n} × {d}, {isa:?}");
                assert!(bits(&model, &system, gradient, &plan) == all, "{what}");
                let alone = bits(&model, &system, gradient, &plan.first_chain(11).chains(1));
                assert!(alone[0] == all[11], "{what}: chain 11 alone");
            }
        }
    }
}
