//! A posterior of your own in 20 lines: robust regression with Student-t errors.
//!
//! Its Python twin is `examples/own_posterior.py`.  Run with
//! `cargo run --release -p langevin --example own_posterior`.

use langevin::chain::{Control, Plan, RunError, run};
use langevin::dynamics::Dynamics;
use langevin::oracle::Exact;
use langevin::real::Real;
use langevin::record::Moments;
use langevin::skew::SkewMatrix;
use langevin::target::Target;

/// Points (x, y); the errors of y have a Student t distribution with 3 degrees of freedom.
struct Line {
    points: Vec<(f64, f64)>,
}

impl Target for Line {
    fn dim(&self) -> usize {
        2
    }

    /// Written once, for every number type; the score comes from dual numbers.
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = -(theta[0] * theta[0] + theta[1] * theta[1]) * 0.005;
        for &(x, y) in &self.points {
            let residual = (theta[1] * -x - theta[0] + y) / 0.2;
            sum -= (residual * residual / 3.0).ln_1p() * 2.0;
        }
        sum
    }
}

fn main() -> Result<(), RunError> {
    // Ten points on the line y = 1 + 2x, one of them far off.
    let point = |i: usize| {
        let x = i as f64 / 9.0;
        let off = if i == 7 { 5.0 } else { 0.0 };
        (x, 1.0 + 2.0 * x + 0.1 * (50.0 * x).sin() + off)
    };
    let target = Line {
        points: (0..10).map(point).collect(),
    };
    let dynamics = Dynamics::irr(SkewMatrix::sign_pattern(2, 1.0)?);
    let plan = Plan::new(20_000, 0.002).chains(200);
    let record = || Moments::new(2_000);
    let oracle = Exact::new(&target);
    let outcome = run(&oracle, &dynamics, &plan, record, Control::default())?;
    for (i, name) in ["intercept", "slope"].iter().enumerate() {
        let means: Vec<f64> = outcome
            .healthy()
            .map(|(_, moments, lane)| moments.mean(i, lane))
            .collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        println!("{name}: {mean:.4}");
    }
    Ok(())
}
