//! How a sampler earns its name: contract, order of its bias, balance, and mistakes that go red.

mod balance;
#[path = "../common/mod.rs"]
mod common;
mod hamiltonian;
mod mistakes;
mod order;

use langevin::RunError;
use langevin::batch::Gradient;
use langevin::chain::{Chains, How, Records};
use langevin::contract;
use langevin::dynamics::Dynamics;
use langevin::foreign::{Failure, Foreign, ForeignDensity, ForeignTarget, Worker};
use langevin::metric::Constant;
use langevin::models::{LogisticRegression, NormalParameters};
use langevin::oracle::{Exact, Minibatch, Oracle};
use langevin::real::Real;
use langevin::record::Draws;
use langevin::rng::{Rng, Stream};
use langevin::skew::{Skew, SkewMatrix};
use langevin::target::Target;
use langevin::transition::{EulerMaruyama, LeimkuhlerMatthews, Mala, StepSize, Transition};
use nalgebra::DMatrix;

fn dense(d: usize) -> Constant {
    let matrix = DMatrix::from_fn(d, d, |i, j| {
        if i == j {
            1.2
        } else {
            0.3 / (1 + i + j) as f64
        }
    });
    Constant::dense(&matrix).unwrap()
}

#[test]
fn every_transition_keeps_the_contract() {
    for d in [1, 3, 4] {
        let rm = Dynamics::rm(dense(d)).with_beta(0.7).unwrap();
        let euler = EulerMaruyama::<_>::new(&rm, StepSize::Constant(0.1)).unwrap();
        contract::check(&euler).unwrap();
        contract::check(&LeimkuhlerMatthews::new(&rm, 0.1).unwrap()).unwrap();
        contract::check(&Mala::new(&rm, 0.8).unwrap()).unwrap();
        let ld = Dynamics::ld(d);
        contract::check(&Mala::new(&ld, 1.5).unwrap()).unwrap();
    }
    let decreasing = StepSize::Decreasing {
        a: 0.1,
        b: 2.0,
        gamma: 0.4,
    };
    let irr = Dynamics::irr(SkewMatrix::sign_pattern(5, 0.3).unwrap());
    contract::check(&EulerMaruyama::<_>::new(&irr, decreasing).unwrap()).unwrap();
}

/// Nineteen states near one.
fn around(centre: &[f64], sd: f64) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(4, 0, Stream::Setup);
    let near = |x: &f64| x + sd * rng.normal();
    let mut near = near;
    (0..19)
        .map(|_| centre.iter().map(&mut near).collect())
        .collect()
}

/// A banana, differentiated by dual numbers.
struct Banana;

impl Target for Banana {
    fn dim(&self) -> usize {
        2
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let bend = theta[1] - theta[0] * theta[0];
        -(theta[0] * theta[0] + bend * bend * 4.0) * 0.5
    }
}

/// The same in foreign code.
struct ForeignBanana;

impl ForeignTarget for ForeignBanana {
    fn dim(&self) -> usize {
        2
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        for (theta, score) in thetas.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
            Banana.score(theta, &mut [], score);
        }
        Ok(())
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl ForeignDensity for ForeignBanana {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        self.score(thetas, scores)?;
        for (theta, value) in thetas.chunks_exact(2).zip(values) {
            *value = Banana.log_density(theta);
        }
        Ok(())
    }
}

fn foreign_banana(workers: usize) -> Foreign<'static> {
    let worker = |_| Worker {
        target: Box::new(ForeignBanana),
        metric: None,
    };
    Foreign::new(
        (0..workers).map(worker).collect(),
        Gradient::Exact,
        &Skew::None,
    )
    .unwrap()
}

/// Native models, minibatches, dual numbers and foreign code, with transitions that carry something.
#[test]
fn chains_go_on_with_the_same_bits_on_every_kind_of_oracle() {
    let logistic = |n: usize, d: usize| {
        let mut rng = Rng::new(9, 0, Stream::Setup);
        let x = (0..n * d).map(|_| rng.normal()).collect();
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
        LogisticRegression::new(x, d, &labels, 0.5).unwrap()
    };
    // An odd number of normal numbers, and rows that are shuffled.
    let model = logistic(100, 7);
    let starts = around(&[0.0; 7], 0.3);
    let dynamics = Dynamics::rm(dense(7));
    let lm = LeimkuhlerMatthews::new(&dynamics, 0.05).unwrap();
    let mala = Mala::new(&dynamics, 0.02).unwrap();
    contract::same_bits(&Exact::new(&model), &lm, &starts).unwrap();
    contract::same_bits(&Exact::new(&model), &mala, &starts).unwrap();
    for (size, with_replacement) in [(5, false), (21, false), (70, false), (9, true)] {
        let gradient = Gradient::Minibatch {
            batch_size: size,
            with_replacement,
        };
        let oracle = Minibatch::<_>::new(&model, gradient).unwrap();
        contract::same_bits(&oracle, &lm, &starts).unwrap();
    }
    let natural =
        Dynamics::gi_irr(model.natural(), SkewMatrix::random_signs(7, 1).unwrap()).unwrap();
    let euler = EulerMaruyama::<_>::new(&natural, StepSize::Constant(0.01)).unwrap();
    let oracle = Minibatch::<_>::new(&model, Gradient::minibatch(4)).unwrap();
    contract::same_bits(&oracle, &euler, &starts).unwrap();
    let starts = around(&[0.1, 0.2], 0.3);
    let plane = Dynamics::ld(2);
    let mala = Mala::new(&plane, 0.3).unwrap();
    contract::same_bits(&Exact::new(&Banana), &mala, &starts).unwrap();
    for workers in [1, 2, 5] {
        contract::same_bits(&foreign_banana(workers), &mala, &starts).unwrap();
        let lm = LeimkuhlerMatthews::new(&plane, 0.05).unwrap();
        contract::same_bits(&foreign_banana(workers), &lm, &starts).unwrap();
    }
    let normal = NormalParameters::new((0..30).map(|i| f64::from(i * i % 17)).collect()).unwrap();
    let starts = around(&[7.0, 5.0], 0.5);
    contract::same_bits(&Exact::new(&normal), &mala, &starts).unwrap();
}

/// States after some steps, of a native and of a foreign copy of one target.
fn last_states(oracle: &impl Oracle, transition: &impl Transition) -> Vec<Vec<u64>> {
    let mut chains = Chains::new(3, 0, around(&[0.1, 0.2], 0.3)).unwrap();
    let mut records = Records::new(&chains, oracle, || ());
    chains
        .advance(oracle, transition, 77, &mut records, &How::default())
        .unwrap();
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect();
    chains.states().map(bits).collect()
}

#[test]
fn foreign_code_gives_the_chains_of_its_native_copy() {
    let plane = Dynamics::ld(2);
    let mala = Mala::new(&plane, 0.3).unwrap();
    let native = last_states(&Exact::new(&Banana), &mala);
    assert_eq!(native, last_states(&foreign_banana(2), &mala));
}

/// A change of transition, of gradient and back: no random number serves twice, and what comes out does
/// not depend on where a turn was cut.
#[test]
fn transitions_can_take_turns() {
    let model = NormalParameters::new((0..30).map(|i| f64::from(i * i % 17)).collect()).unwrap();
    let exact = Exact::new(&model);
    let few = Minibatch::<_>::new(&model, Gradient::minibatch(6)).unwrap();
    let plane = Dynamics::ld(2);
    let euler = EulerMaruyama::<_>::new(&plane, StepSize::Constant(0.01)).unwrap();
    let mala = Mala::new(&plane, 0.3).unwrap();
    let natural = Dynamics::rm(model.natural());
    let wide = EulerMaruyama::<_>::new(&natural, StepSize::Constant(0.01)).unwrap();
    let run = |cut: u64| {
        let mut chains = Chains::new(3, 0, around(&[7.0, 5.0], 0.5)).unwrap();
        let mut records = Records::new(&chains, &exact, || Draws::new(0, 1, usize::MAX));
        let how = How::default();
        for _ in 0..3 {
            for n in [13 - cut, cut] {
                chains
                    .advance(&exact, &euler, n, &mut records, &how)
                    .unwrap();
            }
            for n in [21 - cut, cut] {
                chains.advance(&few, &wide, n, &mut records, &how).unwrap();
            }
            for n in [5 - cut.min(4), cut.min(4)] {
                chains
                    .advance(&exact, &mala, n, &mut records, &how)
                    .unwrap();
            }
        }
        let (_, draws, lane) = records.chains().nth(2).unwrap();
        assert_eq!(chains.step(), 3 * (13 + 21 + 5));
        draws.chain(lane)
    };
    let whole = run(0);
    assert!(whole.iter().all(|x| x.is_finite()));
    for cut in [1, 3, 4] {
        assert_eq!(run(cut), whole, "cut {cut} steps before the change");
    }
}

/// A target that gives a score and no density.
struct ScoreOnly;

impl ForeignTarget for ScoreOnly {
    fn dim(&self) -> usize {
        2
    }
    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        ForeignBanana.score(thetas, out)
    }
}

#[test]
fn what_cannot_be_adjusted_is_told_so() {
    let plane = Dynamics::ld(2);
    let mala = Mala::new(&plane, 0.3).unwrap();
    let worker = Worker {
        target: Box::new(ScoreOnly),
        metric: None,
    };
    let foreign = Foreign::new(vec![worker], Gradient::Exact, &Skew::None).unwrap();
    let mut chains = Chains::new(3, 0, around(&[0.1, 0.2], 0.3)).unwrap();
    let before = chains.clone();
    let mut records = Records::new(&chains, &foreign, || ());
    let how = How::default();
    let text = |r: Result<_, RunError>| r.map(|_| ()).unwrap_err().to_string();
    let refused = text(chains.advance(&foreign, &mala, 10, &mut records, &how));
    assert!(
        refused.contains("mala") && refused.contains("scores only"),
        "{refused}"
    );
    let euler = EulerMaruyama::<_>::new(&plane, StepSize::Constant(0.01)).unwrap();
    chains
        .advance(&foreign, &euler, 10, &mut records, &how)
        .unwrap();
    let model = NormalParameters::new(vec![1.0, 2.0, 4.0]).unwrap();
    let few = Minibatch::<_>::new(&model, Gradient::minibatch(2)).unwrap();
    let mut chains = before;
    let refused = text(chains.advance(&few, &mala, 10, &mut records, &how));
    assert!(
        refused.contains("mala") && refused.contains("minibatches"),
        "{refused}"
    );
    let exact = Exact::new(&model);
    let refused = text(chains.advance(&exact, &mala, 10, &mut records, &how));
    assert!(
        refused.contains("log π is -inf") && refused.contains("chain"),
        "{refused}"
    );
    let irr = Dynamics::new(
        Constant::identity(2),
        Skew::Constant(SkewMatrix::sign_pattern(2, 1.0).unwrap()),
    );
    let irr = irr.unwrap();
    let text = LeimkuhlerMatthews::new(&irr, 0.1).unwrap_err().to_string();
    assert!(text.contains("reversible"), "{text}");
    assert!(Mala::new(&irr, 0.1).is_err());
}
