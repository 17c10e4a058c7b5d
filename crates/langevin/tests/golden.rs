//! Golden draws: the first and the last states of chains of every model, dynamics and kind of
//! gradient, in packs and alone, on every instruction set that the processor has.
//!
//! `LANGEVIN_BLESS=1 cargo test --release --test golden` writes `data/golden.txt` anew. A change of
//! that file is a change of everybody's results: say why in the commit.

use std::collections::{BTreeMap, BTreeSet};

use langevin::batch::Gradient;
use langevin::catalog::{Measure, Measurement, MetricChoice, Model, System, run, run_job};
use langevin::chain::{Control, Outcome, Plan, Start};
use langevin::foreign::{self, Failure, ForeignMetric, Worker};
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::real::Isa;
use langevin::record::Observable;
use langevin::skew::{Skew, SkewMatrix};
use langevin::transition::StepSize;
use nalgebra::DMatrix;

/// Two blocks and a part of a third, of whatever length.
const STEPS: u64 = 150;
/// A full pack, and a few chains that fill none.
const CHAINS: usize = 19;
/// Chains that are kept: of the full pack and of the rest.
const KEPT: [u64; 2] = [1, 17];

/// Numbers between −2 and 2.
fn numbers(n: usize) -> Vec<f64> {
    (0..n)
        .map(|k| 4.0 * (k as f64 * 0.618_033_988_749_894_9).fract() - 2.0)
        .collect()
}

fn logistic(n: usize, d: usize) -> Model {
    let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
    Model::Logistic(LogisticRegression::new(numbers(n * d), d, &labels, 0.5).unwrap())
}

fn gaussian(n: usize, d: usize) -> Model {
    let noise = DMatrix::from_fn(d, d, |i, j| if i == j { 0.5 } else { 0.1 });
    let prior = DMatrix::identity(d, d);
    Model::LinearGaussian(LinearGaussian::new(numbers(n * d), &noise, &prior).unwrap())
}

/// Models with the step size, metrics and sizes of minibatches that they are run with. Dimensions
/// that have kernels of their own, and others; few data, and many.
fn models() -> Vec<(String, Model, f64, Vec<usize>)> {
    let ica = |n, m| Model::Ica(Ica::new(numbers(n * m), m, 1.0).unwrap());
    let normal = |n| Model::Normal(NormalParameters::new(numbers(n)).unwrap());
    [
        ("gaussian-3", gaussian(10, 3), 0.01, vec![2]),
        ("gaussian-5", gaussian(100, 5), 0.0002, vec![3, 21, 70]),
        ("normal-30", normal(30), 0.001, vec![6]),
        ("normal-90", normal(90), 0.0005, vec![5, 13, 66]),
        ("logistic-20", logistic(120, 20), 0.01, vec![10]),
        ("logistic-7", logistic(100, 7), 0.01, vec![4, 70]),
        ("logistic-3", logistic(30, 3), 0.01, vec![3]),
        ("ica-3", ica(90, 3), 0.0002, vec![40]),
        ("ica-2", ica(20, 2), 0.001, vec![5]),
        ("ica-4", ica(60, 4), 0.0002, vec![7]),
    ]
    .into_iter()
    .map(|(name, model, h, sizes)| (name.to_string(), model, h, sizes))
    .collect()
}

fn start(model: &Model) -> Vec<f64> {
    match model {
        Model::Normal(_) => vec![0.1, 1.2],
        Model::Ica(m) => {
            let m = m.n_signals();
            let place = |i: usize| if i / m == i % m { 1.0 } else { 0.1 * i as f64 };
            (0..m * m).map(place).collect()
        }
        _ => vec![0.1; model.dim()],
    }
}

/// Every case with its name.
fn cases() -> Vec<(String, Model, System, Gradient, Plan)> {
    let mut cases = vec![];
    for (name, model, h, sizes) in models() {
        let d = model.dim();
        let plan = Plan::new(STEPS, h)
            .start(Start::Normal {
                mean: start(&model),
                sd: 0.01,
            })
            .seed(11);
        let minibatch = |batch_size, with_replacement| Gradient::Minibatch {
            batch_size,
            with_replacement,
        };
        let mut gradients = vec![("exact".to_string(), Gradient::Exact)];
        for n in sizes {
            gradients.push((format!("{n}"), minibatch(n, false)));
            gradients.push((format!("{n}-with-replacement"), minibatch(n, true)));
        }
        let j = SkewMatrix::random_signs(d, 1).unwrap();
        let natural = MetricChoice::of_paper(&model);
        let diagonal = MetricChoice::Diagonal((0..d).map(|i| 1.0 + 0.1 * i as f64).collect());
        let dense = DMatrix::from_fn(d, d, |i, j| if i == j { 1.5 } else { 0.1 });
        let mut systems: Vec<System> = System::NAMES
            .map(|name| System::named(name, natural.clone(), j.clone()).unwrap())
            .into();
        for (name, metric) in [
            ("diagonal", diagonal),
            ("dense", MetricChoice::Dense(dense)),
            ("plain-natural", MetricChoice::Natural),
        ] {
            systems.push(System {
                name: name.into(),
                metric,
                skew: Skew::Geometric(j.clone()),
                beta: 0.7,
            });
        }
        for system in &systems {
            for (label, gradient) in &gradients {
                let case = format!("{name} {} {label}", system.name);
                let plan = plan.clone();
                cases.push((case, model.clone(), system.clone(), *gradient, plan));
            }
        }
        let decreasing = plan.step_sizes(StepSize::Decreasing {
            a: h,
            b: 1.0,
            gamma: 0.3,
        });
        let case = format!("{name} GiIrr decreasing");
        cases.push((case, model, systems[4].clone(), Gradient::Exact, decreasing));
    }
    cases
}

fn measure() -> Measure {
    Measure {
        observables: vec![Observable::Sum, Observable::SumOfSquares],
        marks: vec![50, STEPS],
        moments_from: Some(10),
        draws: Some((0, 1, usize::MAX)),
    }
}

fn hex(values: &[f64]) -> String {
    let words: Vec<String> = values
        .iter()
        .map(|x| format!("{:016x}", x.to_bits()))
        .collect();
    words.join(" ")
}

/// A hash of all bits (FNV-1a).
fn hash(values: &[f64]) -> u64 {
    values
        .iter()
        .flat_map(|x| x.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// What is kept of each chain that is: its first two coordinates after the first step and at the
/// end, and a hash of all its states and of what was recorded of them.
fn lines(case: &str, dim: usize, outcome: &Outcome<Measurement>) -> Vec<String> {
    let kept = outcome.chains().filter(|(chain, ..)| KEPT.contains(chain));
    kept.map(|(chain, record, lane)| {
        let mut values = record.draws.as_ref().unwrap().chain(lane);
        let few = dim.min(2);
        let first = hex(&values[dim..dim + few]);
        let last = hex(&values[values.len() - dim..][..few]);
        for k in 0..2 {
            values.extend(record.averages.as_ref().unwrap().running(k, lane));
        }
        for i in 0..dim {
            values.push(record.moments.as_ref().unwrap().mean(i, lane));
            values.push(record.moments.as_ref().unwrap().variance(i, lane));
        }
        let hash = hash(&values);
        format!("{case} | {chain} | {first} | {last} | {hash:016x}")
    })
    .collect()
}

/// A metric in foreign code.
struct Growing(usize);

impl ForeignMetric for Growing {
    fn matrix(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let d = self.0;
        for (theta, b) in thetas.chunks_exact(d).zip(out.chunks_exact_mut(d * d)) {
            for i in 0..d {
                for j in 0..d {
                    b[i * d + j] = 0.1 * theta[i] * theta[j] + f64::from(u8::from(i == j));
                }
            }
        }
        Ok(())
    }
}

/// Foreign copies of models, with constant metrics and with one in foreign code.
fn foreign_lines(isa: Isa) -> Vec<String> {
    let mut all = vec![];
    for (name, model, h, sizes) in models() {
        let d = model.dim();
        if !["gaussian-5", "logistic-7"].contains(&name.as_str()) {
            continue;
        }
        for foreign_metric in [false, true] {
            for gradient in [Gradient::Exact, Gradient::minibatch(sizes[0])] {
                let system = System {
                    name: "test".into(),
                    metric: MetricChoice::Diagonal(vec![1.3; d]),
                    skew: Skew::Geometric(SkewMatrix::random_signs(d, 1).unwrap()),
                    beta: 0.5,
                };
                let mut plan = Plan::new(STEPS, h).chains(CHAINS).seed(2);
                plan.isa = Some(isa);
                let worker = || Worker {
                    target: foreign::native(&model),
                    metric: match foreign_metric {
                        true => Some(Box::new(Growing(d))),
                        false => None,
                    },
                };
                let workers = vec![worker(), worker()];
                let job = foreign::euler(workers, &system, gradient, plan.step_size).unwrap();
                let outcome = run_job(job.as_ref(), &plan, &measure(), Control::default()).unwrap();
                let kind = if foreign_metric { "metric" } else { "target" };
                let case = format!("foreign-{kind} {name} {}", gradient.batch_size());
                all.extend(lines(&case, d, &outcome));
            }
        }
    }
    all
}

#[test]
fn draws_are_the_golden_ones() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden.txt");
    let bless = std::env::var_os("LANGEVIN_BLESS").is_some();
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    // What follows a case and a chain; blessed by whatever is run first.
    let mut expected: BTreeMap<String, String> = BTreeMap::new();
    let split = |line: &str| {
        let mut parts = line.splitn(3, " | ");
        let mut part = || parts.next().unwrap_or_default().to_string();
        (format!("{} | {}", part(), part()), part())
    };
    if !bless {
        expected.extend(golden.lines().map(split));
    }
    let mut seen = BTreeSet::new();
    let mut check = |what: &str, lines: Vec<String>| {
        for line in lines {
            let (case, states) = split(&line);
            if bless {
                expected.entry(case.clone()).or_insert(states.clone());
            }
            assert_eq!(expected.get(&case), Some(&states), "{what}: {case}");
            seen.insert(case);
        }
    };
    for (case, model, system, gradient, plan) in cases() {
        let d = model.dim();
        let lines_of = |plan: &Plan| {
            let outcome = run(
                &model,
                &system,
                gradient,
                plan,
                &measure(),
                Control::default(),
            )
            .unwrap();
            lines(&case, d, &outcome)
        };
        for isa in Isa::available() {
            let plan = plan.clone().isa(isa);
            check(&format!("{isa:?}"), lines_of(&plan.clone().chains(CHAINS)));
            for chain in KEPT {
                let alone = plan.clone().first_chain(chain).chains(1);
                check(&format!("{isa:?}, alone"), lines_of(&alone));
            }
        }
    }
    for isa in Isa::available() {
        check(&format!("{isa:?}"), foreign_lines(isa));
    }
    let missing: Vec<&String> = expected.keys().filter(|k| !seen.contains(*k)).collect();
    assert!(
        missing.is_empty(),
        "golden draws without a case: {missing:?}"
    );
    if bless {
        let lines = expected
            .iter()
            .map(|(case, states)| format!("{case} | {states}\n"));
        std::fs::write(path, lines.collect::<String>()).unwrap();
    }
}
