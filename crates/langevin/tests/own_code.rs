//! What people write themselves: posteriors and metrics run in lanes as the library's own do, and the
//! examples run.

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::*;
use langevin::batch::Gradient;
use langevin::chain::{Control, Plan, Start, run};
use langevin::dynamics::Dynamics;
use langevin::metric::{Field, MatrixField};
use langevin::models::LogisticRegression;
use langevin::oracle::{Exact, Minibatch, Oracle};
use langevin::real::{Isa, Real};
use langevin::record::Draws;
use langevin::rng::{Rng, Stream};
use langevin::skew::SkewMatrix;
use langevin::target::{Posterior, Rows};

/// Logistic regression by its two formulas alone.
struct Own {
    rows: Rows,
    dim: usize,
}

impl Posterior for Own {
    fn dim(&self) -> usize {
        self.dim
    }
    fn rows(&self) -> &Rows {
        &self.rows
    }
    #[inline(always)]
    fn log_prior<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for w in theta {
            sum += *w * *w;
        }
        sum * -0.25
    }
    #[inline(always)]
    fn log_likelihood<R: Real>(&self, theta: &[R], row: &[R]) -> R {
        let mut product = R::zero();
        for (w, x) in theta.iter().zip(row) {
            product += *w * *x;
        }
        -(-product).softplus()
    }
}

/// B(θ) = (1 + |θ|²/10) I + aaᵀ, as a formula.
struct Growing(usize);

impl MatrixField for Growing {
    fn dim(&self) -> usize {
        self.0
    }
    #[inline(always)]
    fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
        let mut size = R::one();
        for x in theta {
            size = (*x * 0.1).mul_add(*x, size);
        }
        for i in 0..self.0 {
            for j in 0..self.0 {
                let both = R::of(0.1 * (1 + i) as f64 * (1 + j) as f64);
                out[i * self.0 + j] = if i == j { both + size } else { both };
            }
        }
    }
}

const N: usize = 40;
const D: usize = 3;

fn features() -> (Vec<f64>, Vec<f64>) {
    let mut rng = Rng::new(3, 0, Stream::Setup);
    let x: Vec<f64> = (0..N * D).map(|_| rng.normal()).collect();
    let labels = (0..N).map(|i| f64::from(i % 3 == 0)).collect();
    (x, labels)
}

fn states(oracle: &impl Oracle, plan: &Plan) -> Vec<(u64, Vec<f64>)> {
    let j = SkewMatrix::random_signs(D, 1).unwrap();
    let dynamics = Dynamics::gi_irr(Field::new(Growing(D)), j).unwrap();
    let record = || Draws::new(0, 1, usize::MAX);
    let outcome = run(oracle, &dynamics, plan, record, Control::default()).unwrap();
    let chains = outcome.chains();
    chains
        .map(|(chain, draws, lane)| (chain, draws.chain(lane)))
        .collect()
}

#[test]
fn an_own_posterior_with_an_own_metric_runs_in_lanes() {
    let (x, labels) = features();
    let signed = x.chunks(D).zip(&labels);
    let signed = signed.flat_map(|(x, t)| x.iter().map(move |x| (2.0 * t - 1.0) * x));
    let own = Own {
        rows: Rows::new(signed.collect(), D).unwrap(),
        dim: D,
    };
    let model = LogisticRegression::new(x, D, &labels, 0.5).unwrap();
    let plan = Plan::new(151, 0.01)
        .chains(19)
        .start(Start::Fixed(vec![0.1; D]))
        .seed(5);
    let gradient = Gradient::minibatch(7);
    let minibatch = Minibatch::<_>::new(&own, gradient).unwrap();
    let exact = states(&Exact::new(&own), &plan);
    let some = states(&minibatch, &plan);
    assert_ne!(exact, some);
    // Lanes equal the chain by itself, on every instruction set.
    for isa in Isa::available() {
        let plan = plan.clone().isa(isa);
        assert!(states(&Exact::new(&own), &plan) == exact, "{isa:?}");
        assert!(states(&minibatch, &plan) == some, "{isa:?}");
        let alone = plan.first_chain(17).chains(1);
        assert!(states(&minibatch, &alone)[0] == some[17], "{isa:?}, alone");
    }
    // And they are those of the library's own formulas, to rounding.
    let by_hand = Minibatch::<_>::new(&model, gradient).unwrap();
    for ((_, a), (_, b)) in some.iter().zip(states(&by_hand, &plan)) {
        assert_close("states", a, &b, 1e-10);
    }
}

/// Runs an example that cargo built beside the tests.
fn example(name: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let folder: PathBuf = tests.parent().unwrap().parent().unwrap().join("examples");
    let output = Command::new(folder.join(name)).output().unwrap();
    assert!(output.status.success(), "{name}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_run() {
    let text = example("own_transition");
    assert!(
        text.contains("dual numbers") && text.contains("foreign code"),
        "{text}"
    );
    // Close to the line y = 1 + 2x, in spite of a point far off.
    let text = example("own_posterior");
    assert!(
        text.contains("intercept: 0.9") && text.contains("slope: 2.1"),
        "{text}"
    );
}
