//! A transition of your own: random-walk Metropolis in 53 lines, on three kinds of target.
//!
//! Run with `cargo run --release -p langevin --example own_transition`.

use langevin::batch::Gradient;
use langevin::chain::{Chains, How, Records, RunError};
use langevin::contract;
use langevin::foreign::{Foreign, Native, Worker};
use langevin::models::NormalParameters;
use langevin::oracle::{Exact, Oracle};
use langevin::real::{Lanes, Real};
use langevin::record::Moments;
use langevin::skew::Skew;
use langevin::target::Target;
use langevin::transition::{Needs, Next, Report, Sizes, State, StepKey, Transition};

/// θ + s ξ is accepted with probability min(1, π(θ + s ξ)/π(θ)); log π(θ) is carried.
struct RandomWalk {
    dim: usize,
    spread: f64,
}

impl Transition for RandomWalk {
    type Shared = ();

    fn name(&self) -> &'static str {
        "random-walk"
    }
    fn dim(&self) -> usize {
        self.dim
    }
    fn sizes(&self) -> Sizes {
        Sizes {
            normals: self.dim,
            uniforms: 1,
            carried: 1,
            scratch: self.dim,
        }
    }
    fn needs(&self) -> Needs {
        Needs::Density
    }
    fn shared(&self, _: StepKey) {}

    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        z.carried[0] = z.log_density;
        z.report.log_density = z.log_density;
    }
    #[inline(always)]
    fn begin<L: Lanes>(&self, _: &(), z: &mut State<'_, L>) -> Next {
        z.scratch.copy_from_slice(z.theta);
        for (x, xi) in z.theta.iter_mut().zip(z.normals) {
            *x += *xi * self.spread;
        }
        Next::Evaluate
    }
    #[inline(always)]
    fn resume<L: Lanes>(&self, _: usize, _: &(), z: &mut State<'_, L>) -> Next {
        let log_ratio = z.log_density - z.carried[0];
        let log_u = z.uniforms[0].ln();
        for (x, old) in z.theta.iter_mut().zip(z.scratch.iter()) {
            *x = L::if_less(log_u, log_ratio, *x, *old);
        }
        z.carried[0] = L::if_less(log_u, log_ratio, z.log_density, z.carried[0]);
        *z.report = Report::adjusted(z.carried[0], log_ratio);
        Next::Done
    }
}

/// A banana in the plane, differentiated by dual numbers.
struct Banana;

impl Target for Banana {
    fn dim(&self) -> usize {
        2
    }
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let bend = theta[1] - theta[0] * theta[0];
        -(theta[0] * theta[0] + bend * bend * 4.0) * 0.5
    }
}

/// Means of both coordinates over 64 chains, from one state.
fn means(oracle: &impl Oracle, spread: f64, start: [f64; 2]) -> Result<[f64; 2], RunError> {
    let walk = RandomWalk { dim: 2, spread };
    let mut chains = Chains::new(1, 0, vec![start.to_vec(); 64])?;
    let mut records = Records::new(&chains, oracle, || Moments::new(1000));
    chains.advance(oracle, &walk, 11_000, &mut records, &How::default())?;
    let mean = |i| {
        records
            .chains()
            .map(|(_, m, lane)| m.mean(i, lane))
            .sum::<f64>()
            / 64.0
    };
    Ok([mean(0), mean(1)])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    contract::check(&RandomWalk {
        dim: 2,
        spread: 1.3,
    })?;
    let model = NormalParameters::new((0..30).map(f64::from).collect())?;
    let native = means(&Exact::new(&model), 2.0, [14.0, 9.0])?;
    println!("a model of the library: {native:.2?}");
    println!(
        "dual numbers: {:.2?}",
        means(&Exact::new(&Banana), 0.8, [0.0, 0.0])?
    );
    let worker = Worker {
        target: Box::new(Native::new(&model)),
        metric: None,
    };
    let foreign = Foreign::new(vec![worker], Gradient::Exact, &Skew::None)?;
    let foreign = means(&foreign, 2.0, [14.0, 9.0])?;
    println!("the model as foreign code: {foreign:.2?}");
    assert_eq!(foreign, native);
    Ok(())
}
