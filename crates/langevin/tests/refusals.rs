//! Bad input is refused before any work starts, with the value and what was expected.

mod common;

use langevin::Error;
use langevin::batch::Gradient;
use langevin::catalog::{Measure, MetricChoice, Model, System, run};
use langevin::chain::{Control, Plan, Start};
use langevin::dynamics::Dynamics;
use langevin::metric::{Constant, Field, MatrixField};
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::oracle::Exact;
use langevin::real::Real;
use langevin::skew::SkewMatrix;
use langevin::transition::StepSize;
use nalgebra::DMatrix;

/// The message of an error.
fn message<T: std::fmt::Debug, E: std::fmt::Debug + std::fmt::Display>(
    result: Result<T, E>,
) -> String {
    result.unwrap_err().to_string()
}

fn normal() -> Model {
    Model::Normal(NormalParameters::new(vec![1.0, 2.0, 4.0, 8.0]).unwrap())
}

fn good_plan() -> Plan {
    Plan::new(10, 0.01).start(Start::Fixed(vec![1.0, 2.0]))
}

fn refused(model: &Model, name: &str, plan: Plan) -> String {
    refused_with(model, name, Gradient::Exact, plan)
}

fn refused_with(model: &Model, name: &str, gradient: Gradient, plan: Plan) -> String {
    let j = SkewMatrix::sign_pattern(model.dim(), 1.0).unwrap();
    let system = System::named(name, MetricChoice::of_paper(model), j).unwrap();
    message(
        run(
            model,
            &system,
            gradient,
            &plan,
            &Measure::default(),
            Control::default(),
        )
        .map(|_| ()),
    )
}

#[test]
fn skew_matrices() {
    let j = DMatrix::from_row_slice(2, 2, &[0.0, 1.0, -0.75, 0.0]);
    let text = message(SkewMatrix::new(&j));
    assert!(
        text.contains("not skew-symmetric")
            && text.contains("2.5e-1 ")
            && (text.contains("(0, 1)") || text.contains("(1, 0)")),
        "{text}"
    );
    assert!(message(SkewMatrix::new(&DMatrix::zeros(2, 3))).contains("size 3"));
    let nan = DMatrix::from_row_slice(1, 1, &[f64::NAN]);
    assert!(message(SkewMatrix::new(&nan)).contains("NaN"));
    let wrong_size = SkewMatrix::sign_pattern(3, 1.0).unwrap();
    let text = message(Dynamics::rm_irr(Constant::identity(2), wrong_size));
    assert!(
        text.contains("size 3") && text.contains("2 was expected"),
        "{text}"
    );
    assert!(message(SkewMatrix::random_signs(1, 0)).contains("at least 2"));
    assert!(message(SkewMatrix::sign_pattern(2, f64::INFINITY)).contains("inf"));
}

#[test]
fn metrics() {
    let indefinite = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
    let text = message(Constant::dense(&indefinite));
    assert!(
        text.contains("not positive definite") && text.contains("-1"),
        "{text}"
    );
    let lopsided = DMatrix::from_row_slice(2, 2, &[1.0, 0.2, 0.1, 1.0]);
    assert!(message(Constant::dense(&lopsided)).contains("not symmetric"));
    assert!(message(Constant::diagonal(vec![1.0, 0.0])).contains("greater than 0, but is 0"));

    /// diag(θ₁, 1): not positive definite where θ₁ ≤ 0.
    struct Sometimes;
    impl MatrixField for Sometimes {
        fn dim(&self) -> usize {
            2
        }
        fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
            out.copy_from_slice(&[theta[0], R::zero(), R::zero(), R::one()]);
        }
    }
    let model = NormalParameters::new(vec![1.0, 2.0, 4.0]).unwrap();
    let plan = Plan::new(10, 0.01).start(Start::Fixed(vec![-3.0, 1.0]));
    let dynamics = Dynamics::rm(Field::new(Sometimes));
    let result = langevin::chain::run(
        &Exact::new(&model),
        &dynamics,
        &plan,
        || (),
        Control::default(),
    );
    let text = message(result.map(|_| ()));
    assert!(
        text.contains("initial state") && text.contains("-3"),
        "{text}"
    );
    // A metric that the model does not have.
    let system = System::named(
        "RM",
        MetricChoice::NaturalPlusIdentity,
        SkewMatrix::sign_pattern(2, 1.0).unwrap(),
    )
    .unwrap();
    let text = message(
        run(
            &normal(),
            &system,
            Gradient::Exact,
            &good_plan(),
            &Measure::default(),
            Control::default(),
        )
        .map(|_| ()),
    );
    assert!(
        text.contains("normal") && text.contains("natural+identity"),
        "{text}"
    );
}

#[test]
fn plans() {
    let model = normal();
    assert!(
        refused_with(&model, "LD", Gradient::minibatch(5), good_plan())
            .contains("5 rows cannot be drawn from 4")
    );
    assert!(refused_with(&model, "LD", Gradient::minibatch(0), good_plan()).contains("0 rows"));
    for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        let text = refused(&model, "LD", good_plan().step_sizes(StepSize::Constant(h)));
        assert!(
            text.contains("step size") && text.contains(&h.to_string()),
            "{text}"
        );
    }
    let decay = StepSize::Decreasing {
        a: 1.0,
        b: 1.0,
        gamma: 1.5,
    };
    assert!(refused(&model, "LD", good_plan().step_sizes(decay)).contains("1.5"));
    assert!(
        refused(&model, "LD", good_plan().chains(0))
            .contains("number of chains must be at least 1")
    );
    let mut no_steps = good_plan();
    no_steps.n_steps = 0;
    assert!(refused(&model, "LD", no_steps).contains("number of steps must be at least 1"));
    assert!(refused(&model, "LD", good_plan().threads(0)).contains("threads"));
    assert!(
        refused(&model, "LD", good_plan().start(Start::Fixed(vec![1.0]))).contains("size 1, but 2")
    );
    assert!(
        refused(
            &model,
            "LD",
            good_plan().start(Start::Fixed(vec![f64::NAN, 1.0]))
        )
        .contains("NaN at position 0")
    );
    assert!(
        refused(
            &model,
            "LD",
            good_plan().start(Start::PerChain(vec![])).chains(2)
        )
        .contains("at least 2")
    );
    let text = refused(
        &model,
        "GiIrr",
        good_plan().start(Start::Fixed(vec![1.0, -2.0])),
    );
    assert!(
        text.contains("coordinate 1") && text.contains("-2"),
        "{text}"
    );
}

#[test]
fn steps_beyond_the_stable_one_are_refused_where_it_is_known() {
    // Γ = 1 + 4 = 5 and β = ½: stable below 2/(½·5) = 0.8.
    let one = DMatrix::identity(1, 1);
    let gaussian = LinearGaussian::new(vec![1.0; 4], &one, &one).unwrap();
    let run = |h: f64| {
        langevin::chain::run(
            &Exact::new(&gaussian),
            &Dynamics::ld(1),
            &Plan::new(10, h),
            || (),
            Control::default(),
        )
    };
    let text = message(run(0.81).map(|_| ()));
    assert!(
        text.contains("step size 0.81 ") && text.ends_with("below 0.8"),
        "{text}"
    );
    assert!(run(0.79).is_ok());
}

#[test]
fn data() {
    assert_eq!(
        message(Ica::new(vec![], 3, 1.0)),
        Error::EmptyData.to_string()
    );
    assert!(message(Ica::new(vec![1.0, f64::NAN], 2, 1.0)).contains("NaN at position 1"));
    assert!(message(Ica::new(vec![1.0, 2.0, 3.0], 2, 1.0)).contains("last row"));
    assert!(message(Ica::new(vec![1.0, 2.0], 2, -1.0)).contains("prior precision"));
    assert!(message(NormalParameters::new(vec![])).contains("at least 3"));
    assert!(message(NormalParameters::new(vec![2.5; 5])).contains("equal to 2.5"));
    let text = message(LogisticRegression::new(
        vec![1.0, 2.0, 3.0],
        1,
        &[0.0, 2.0, 1.0],
        1.0,
    ));
    assert!(text.contains("label 2 in row 1"), "{text}");
    assert!(
        message(LogisticRegression::new(vec![1.0, 2.0], 1, &[0.0], 1.0)).contains("size 1, but 2")
    );
    assert!(
        message(LogisticRegression::new(vec![1.0], 1, &[0.0], 0.0)).contains("prior precision")
    );
    let one = DMatrix::identity(1, 1);
    let two = DMatrix::identity(2, 2);
    assert!(message(LinearGaussian::new(vec![1.0], &one, &two)).contains("size 2, but 1"));
    assert!(message(LinearGaussian::new(vec![1.0], &(-&one), &one)).contains("positive definite"));
    assert!(message(LinearGaussian::new(vec![f64::INFINITY], &one, &one)).contains("inf"));
}

#[test]
fn a_singular_initial_w() {
    let model = Model::Ica(Ica::new(vec![1.0, 0.5, -0.2, 0.8], 2, 1.0).unwrap());
    let text = refused(
        &model,
        "LD",
        Plan::new(10, 1e-3).start(Start::Fixed(vec![1.0, 2.0, 2.0, 4.0])),
    );
    assert!(text.contains("singular"), "{text}");
    // The origin, where chains start unless told otherwise, is singular too.
    assert!(refused(&model, "LD", Plan::new(10, 1e-3)).contains("singular"));
}

#[test]
fn names() {
    let text = message(System::named(
        "GIIRR",
        MetricChoice::Identity,
        SkewMatrix::sign_pattern(2, 1.0).unwrap(),
    ));
    assert!(text.contains("GIIRR") && text.contains("GiIrr"), "{text}");
}
