//! The bias meter against exact stationary laws of Euler–Maruyama.

use langevin::batch::Gradient;
use langevin::bias::{Bias, BiasMeter, Doubled, Estimate, Quantity};
use langevin::catalog::{MetricChoice, Model, System};
use langevin::chain::{Control, Plan, Start};
use langevin::contract;
use langevin::dynamics::Dynamics;
use langevin::foreign::{
    DoubledTarget, Foreign, ForeignTarget, Native, Worker, bias_of_model, bias_of_target,
};
use langevin::metric::Metric;
use langevin::models::{LinearGaussian, LogisticRegression, NormalParameters};
use langevin::oracle::{Exact, Minibatch, Oracle};
use langevin::record::Observable;
use langevin::rng::{Rng, Stream};
use langevin::skew::{Skew, SkewMatrix};
use langevin::theory::{GradientNoise, LinearDiffusion, Sampling};
use langevin::transition::{CoupledEuler, StepSize};
use nalgebra::{DMatrix, DVector};

/// Posterior N(0, diag(1, ¼)) from one row of data that hardly counts.
fn gaussian() -> LinearGaussian {
    let tiny = DMatrix::identity(2, 2) * 1e-12;
    let precision = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 4.0]));
    LinearGaussian::new(vec![0.0, 0.0], &tiny, &(precision - &tiny)).unwrap()
}

fn meter(observables: &[Observable]) -> BiasMeter {
    let both = |f: &Observable| [Quantity::Mean(f.clone()), Quantity::Sd(f.clone())];
    BiasMeter {
        quantities: observables.iter().flat_map(both).collect(),
        burn_in: 200,
        n_batches: 5,
    }
}

fn biases<M: Metric>(oracle: &impl Oracle, dynamics: &Dynamics<M>, plan: &Plan) -> Vec<Bias> {
    let observables = [Observable::Coordinate(0), Observable::Sum];
    let measured = meter(&observables)
        .run(oracle, dynamics, plan, Control::default())
        .unwrap();
    assert!(measured.escapes.is_empty() && !measured.cancelled);
    measured.biases
}

fn plan(h: f64, n_chains: usize) -> Plan {
    Plan::new(2200, h)
        .chains(n_chains)
        .start(Start::Fixed(vec![0.1; 2]))
        .seed(3)
}

/// Off by how many standard errors.
fn errors_off(estimate: Estimate, exact: f64) -> f64 {
    (estimate.value - exact).abs() / estimate.error
}

/// Sixteen numbers in each of two tests: below 4.5 standard errors but for one seed in some 5000.
const ERRORS: f64 = 4.5;

#[test]
fn langevin_dynamics_on_a_gaussian() {
    let model = gaussian();
    let ld = Dynamics::ld(2);
    let doubled = Doubled::new(&model);
    let h = 0.4;
    let found = biases(&Exact::new(&doubled), &ld, &plan(h, 64));
    // With β = ½ a coordinate of precision λ has the variance (1/λ)/(1 − hλ/4).
    let variance = |h: f64, l: f64| 1.0 / l / (1.0 - h * l / 4.0);
    let sd = |h: f64| {
        [
            variance(h, 1.0).sqrt(),
            (variance(h, 1.0) + variance(h, 4.0)).sqrt(),
        ]
    };
    for (k, name) in ["theta[0]", "sum"].into_iter().enumerate() {
        let (mean, spread) = (&found[2 * k], &found[2 * k + 1]);
        assert_eq!(mean.name, format!("mean of {name}"));
        assert_eq!(spread.name, format!("sd of {name}"));
        for estimate in [mean.coarse, mean.fine, mean.extrapolated, mean.bias] {
            assert!(errors_off(estimate, 0.0) < ERRORS, "{mean:?}");
        }
        let (coarse, fine) = (sd(h)[k], sd(h / 2.0)[k]);
        for (estimate, exact) in [
            (spread.coarse, coarse),
            (spread.fine, fine),
            (spread.extrapolated, 2.0 * fine - coarse),
            (spread.bias, 2.0 * (coarse - fine)),
        ] {
            assert!(errors_off(estimate, exact) < ERRORS, "{spread:?}: {exact}");
        }
        // Negative control: it can tell this step size from one a fifth longer.
        let other = 2.0 * (sd(1.2 * h)[k] - sd(0.6 * h)[k]);
        assert!(
            errors_off(spread.bias, other) > 2.0 * ERRORS,
            "{spread:?}: {other}"
        );
        // What is extrapolated is nearer to the truth than either chain by an order of h.
        let truth = sd(0.0)[k];
        assert!((2.0 * fine - coarse - truth).abs() < 0.5 * (fine - truth));
        // Shared noise pays: without it the error of the bias would be that of 2(coarse) and 2(fine).
        let apart = 2.0 * spread.coarse.error.hypot(spread.fine.error);
        assert!(spread.bias.error < 0.3 * apart, "{spread:?}");
        assert!(
            (spread.relative().value - spread.bias.value / spread.extrapolated.value).abs() < 1e-15
        );
    }
}

/// Minibatches, a dense metric and a skew field: both chains have their exact laws.
#[test]
fn minibatches_and_all_dynamics_on_a_gaussian() {
    let mut rng = Rng::new(1, 0, Stream::Setup);
    let (n, batch_size) = (20, 4);
    let data: Vec<f64> = (0..2 * n).map(|_| rng.normal()).collect();
    let of_row = DMatrix::from_row_slice(2, 2, &[0.2, 0.05, 0.05, 0.1]);
    let model = LinearGaussian::new(data.clone(), &of_row, &DMatrix::identity(2, 2)).unwrap();
    let precision = &of_row * n as f64 + DMatrix::identity(2, 2);
    let b = precision.clone().try_inverse().unwrap();
    let j = SkewMatrix::sign_pattern(2, 0.7).unwrap();
    let dynamics = Dynamics::gi_irr(model.natural().unwrap(), j.clone()).unwrap();
    let j = DMatrix::from_fn(2, 2, |r, c| j.get(r, c));
    let c = (&j * &b + &b * &j) * 0.5;
    let diffusion = LinearDiffusion::new(&precision, model.mean(), &b, &c, 0.5).unwrap();
    let rows = DMatrix::from_row_slice(n, 2, &data);
    let sampling = Sampling::WithoutReplacement;
    let noise = GradientNoise::minibatch(&rows, &of_row, batch_size, sampling).unwrap();
    let sd = |h: f64| {
        let chain = diffusion.euler_maruyama(h, Some(&noise)).unwrap();
        let v = chain.stationary_covariance();
        [v[(0, 0)].sqrt(), v.sum().sqrt()]
    };
    let doubled = Doubled::new(&model);
    let oracle = Minibatch::<_>::new(&doubled, Gradient::minibatch(batch_size)).unwrap();
    let h = 0.4;
    let found = biases(&oracle, &dynamics, &plan(h, 64));
    for k in 0..2 {
        let spread = &found[2 * k + 1];
        let (coarse, fine) = (sd(h)[k], sd(h / 2.0)[k]);
        for (estimate, exact) in [
            (spread.coarse, coarse),
            (spread.fine, fine),
            (spread.extrapolated, 2.0 * fine - coarse),
            (spread.bias, 2.0 * (coarse - fine)),
        ] {
            assert!(errors_off(estimate, exact) < ERRORS, "{spread:?}: {exact}");
        }
        assert!(spread.bias.value > 10.0 * spread.bias.error);
    }
}

/// Standard errors are what they say: over 100 runs the squares of the deviations have mean 1, to within
/// a factor that is left by chance once in 10⁴ seeds (and their numbers of degrees of freedom).
#[test]
fn standard_errors_are_honest() {
    let model = gaussian();
    let ld = Dynamics::ld(2);
    let doubled = Doubled::new(&model);
    let exact = |h: f64| (1.0 / (1.0 - h / 4.0)).sqrt();
    let (mut squares, runs) = ([0.0; 2], 100);
    for seed in 0..runs {
        let found = biases(&Exact::new(&doubled), &ld, &plan(0.4, 8).seed(seed));
        let spread = &found[1];
        squares[0] += errors_off(spread.bias, 2.0 * (exact(0.4) - exact(0.2))).powi(2);
        squares[1] += errors_off(spread.extrapolated, 2.0 * exact(0.2) - exact(0.4)).powi(2);
    }
    for square in squares {
        let mean = square / runs as f64;
        println!("mean square {mean:.2}");
        assert!((0.5..1.75).contains(&mean), "{mean}");
    }
}

#[test]
fn pairs_keep_the_contract() {
    let j = SkewMatrix::random_signs(3, 1).unwrap();
    let labels: Vec<f64> = (0..40).map(|i| f64::from(i % 3 == 0)).collect();
    let mut rng = Rng::new(3, 0, Stream::Setup);
    let x = (0..120).map(|_| rng.normal()).collect();
    let model = LogisticRegression::new(x, 3, &labels, 0.5).unwrap();
    let natural = Dynamics::gi_irr(model.natural(), j).unwrap();
    let pair = CoupledEuler::new(&natural, 0.1).unwrap();
    let doubled = Doubled::new(&model);
    let starts: Vec<_> = (0..19).map(|i| vec![0.02 * f64::from(i); 6]).collect();
    contract::same_bits(&Exact::new(&doubled), &pair, &starts).unwrap();
    let oracle = Minibatch::<_>::new(&doubled, Gradient::minibatch(7)).unwrap();
    contract::same_bits(&oracle, &pair, &starts).unwrap();
    contract::check(&CoupledEuler::new(&Dynamics::ld(3), 0.3).unwrap()).unwrap();
}

/// A foreign copy gives the same numbers, with minibatches too, on any number of threads and lanes.
#[test]
fn foreign_targets_and_threads_give_the_same_numbers() {
    let model = NormalParameters::new((0..30).map(|i| f64::from(i * i % 17)).collect()).unwrap();
    let free = model.free().unwrap();
    let ld = Dynamics::ld(2);
    let plan = Plan::new(300, 0.05)
        .chains(19)
        .start(Start::Fixed(vec![7.0, 1.6]))
        .seed(1);
    for gradient in [Gradient::Exact, Gradient::minibatch(6)] {
        let worker = || Worker {
            target: Box::new(DoubledTarget::new(Box::new(Native::new(&free)))),
            metric: None,
        };
        let foreign = Foreign::new(vec![worker(), worker()], gradient, &Skew::None).unwrap();
        let doubled = Doubled::new(&free);
        let native = match gradient {
            Gradient::Exact => biases(&Exact::new(&doubled), &ld, &plan),
            _ => biases(
                &Minibatch::<_>::new(&doubled, gradient).unwrap(),
                &ld,
                &plan,
            ),
        };
        assert_eq!(biases(&foreign, &ld, &plan), native);
        if gradient == Gradient::Exact {
            for isa in langevin::real::Isa::available() {
                let plan = plan.clone().isa(isa).threads(2);
                assert_eq!(biases(&Exact::new(&doubled), &ld, &plan), native);
            }
        }
    }
}

#[test]
fn chains_that_escape_do_not_count() {
    let model = gaussian();
    let doubled = Doubled::new(&model);
    let ld = Dynamics::ld(2);
    // 4 · h/2 = 2.4 for the coarse chain.
    let plan = Plan::new(4000, 1.2)
        .chains(3)
        .start(Start::Fixed(vec![0.1; 2]));
    let meter = meter(&[Observable::Sum]);
    let measured = meter
        .run(&Exact::new(&doubled), &ld, &plan, Control::default())
        .unwrap();
    assert_eq!(measured.escapes.len(), 3);
    assert!(measured.biases[0].coarse.value.is_nan() && measured.biases[1].bias.error.is_nan());
    let stop = std::sync::atomic::AtomicBool::new(true);
    let control = Control {
        cancel: Some(&stop),
        ..Control::default()
    };
    let measured = meter
        .run(&Exact::new(&doubled), &ld, &plan, control)
        .unwrap();
    assert!(measured.cancelled && measured.biases.is_empty());
}

#[test]
fn refusals() {
    let model = gaussian();
    let doubled = Doubled::new(&model);
    let ld = Dynamics::ld(2);
    let good = (meter(&[Observable::Sum]), plan(0.1, 2));
    let refused = |change: &dyn Fn(&mut (BiasMeter, Plan))| {
        let mut both = good.clone();
        change(&mut both);
        let (meter, plan) = both;
        meter
            .run(&Exact::new(&doubled), &ld, &plan, Control::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(&|x| x.0.quantities.clear()),
        "the number of quantities must be at least 1, but is 0"
    );
    assert_eq!(
        refused(&|x| x.0.n_batches = 1),
        "the number of batches must be at least 2, but is 1"
    );
    assert_eq!(
        refused(&|x| x.0.burn_in = 2196),
        "the number of steps in a batch must be at least 1, but is 0"
    );
    assert_eq!(
        refused(&|x| x.1.n_chains = 0),
        "the number of chains must be at least 1, but is 0"
    );
    assert_eq!(
        refused(&|x| x.1.start = Some(Start::Fixed(vec![1.0]))),
        "the initial state has size 1, but 2 was expected"
    );
    assert_eq!(
        refused(&|x| x.1.start = Some(Start::Fixed(vec![1.0, f64::NAN]))),
        "the initial state holds NaN at position 1; every entry must be finite"
    );
    assert_eq!(
        refused(&|x| x.1.step_size = StepSize::Constant(-1.0)),
        "the step size must be finite and greater than 0, but is -1"
    );
    let decreasing = StepSize::Decreasing {
        a: 0.1,
        b: 1.0,
        gamma: 0.5,
    };
    assert_eq!(
        refused(&|x| x.1.step_size = decreasing),
        "a decreasing step size does not fit these chains: a bias is measured at a constant one"
    );
    let single = good
        .0
        .run(&Exact::new(&model), &ld, &good.1, Control::default());
    assert_eq!(
        single.unwrap_err().to_string(),
        "the doubled target has size 2, but 4 was expected"
    );
}

/// By names: every model under every metric that it has, and the numbers of the library's own oracle.
#[test]
fn models_by_name() {
    let normal = NormalParameters::new((0..30).map(|i| f64::from(i * i % 17)).collect()).unwrap();
    let doubled = Doubled::new(&normal);
    let plan = Plan::new(300, 0.05)
        .chains(19)
        .start(Start::Fixed(vec![7.0, 5.0]))
        .threads(2);
    let observables = [Observable::Coordinate(0), Observable::Sum];
    let j = SkewMatrix::sign_pattern(2, 0.5).unwrap();
    let dynamics = Dynamics::gi_irr(normal.natural(), j.clone()).unwrap();
    let expected = biases(&Exact::new(&doubled), &dynamics, &plan);
    let model = Model::Normal(normal.clone());
    let named = |metric| System::named("GiIrr", metric, j.clone()).unwrap();
    let run = |system: &System| {
        let (meter, control) = (meter(&observables), Control::default());
        bias_of_model(&model, system, Gradient::Exact, &plan, &meter, control)
    };
    assert_eq!(run(&named(MetricChoice::Natural)).unwrap().biases, expected);
    assert_eq!(run(&named(MetricChoice::Identity)).unwrap().biases.len(), 4);
    let refused = run(&named(MetricChoice::NaturalPlusIdentity)).unwrap_err();
    let message = "the model \"normal\" has no metric \"natural+identity\"";
    assert_eq!(refused.to_string(), message);
    let foreign = |metric| {
        let target: Box<dyn ForeignTarget + Send> = Box::new(Native::new(&normal));
        let (meter, control) = (meter(&observables), Control::default());
        let system = named(metric);
        bias_of_target(
            vec![target],
            &system,
            Gradient::Exact,
            &plan,
            &meter,
            control,
        )
    };
    let constant = run(&named(MetricChoice::Identity)).unwrap();
    assert_eq!(foreign(MetricChoice::Identity).unwrap(), constant);
    let refused = foreign(MetricChoice::Natural).unwrap_err().to_string();
    assert_eq!(refused, "the model \"foreign\" has no metric \"natural\"");
}
