//! Detailed balance, pair by pair, and the law that comes of it.

use langevin::chain::{Chains, How, Records};
use langevin::dynamics::Dynamics;
use langevin::metric::Constant;
use langevin::models::NormalParameters;
use langevin::oracle::Exact;
use langevin::real::Real;
use langevin::record::Moments;
use langevin::rng::{Rng, Stream};
use langevin::target::Target;
use langevin::transition::{Mala, Next, Report, State, Transition};

use super::common::*;
use super::dense;

/// One step by hand: the state that is proposed, and the log of the Metropolis ratio.
fn propose(mala: &Mala<'_>, target: &impl Target, x: &[f64], xi: &[f64]) -> (Vec<f64>, f64) {
    let d = x.len();
    let (mut theta, mut score) = (x.to_vec(), vec![0.0; d]);
    let mut carried = vec![target.log_density(x)];
    carried.extend(langevin::target::score_at(target, x));
    let mut scratch = vec![f64::NAN; mala.sizes().scratch];
    let mut report = Report::default();
    let mut z = State {
        theta: &mut theta,
        log_density: f64::NAN,
        score: &mut score,
        carried: &mut carried,
        normals: xi,
        uniforms: &[0.5],
        scratch: &mut scratch,
        given: &mut [],
        report: &mut report,
    };
    assert_eq!(mala.begin(&(), &mut z), Next::Evaluate);
    let proposal = z.theta.to_vec();
    z.log_density = target.log_density(&proposal);
    z.score
        .copy_from_slice(&langevin::target::score_at(target, &proposal));
    assert_eq!(mala.resume(0, &(), &mut z), Next::Done);
    (proposal, -report.energy_error)
}

/// π(x) q(y|x) min(1, r) = π(y) q(x|y) min(1, 1/r) at random pairs: the ratio there is the inverse of
/// the ratio back, and it is the one that densities written out give.
#[test]
fn mala_balances_in_detail() {
    let (d, h) = (3, 0.4);
    let metric = dense(d);
    let b = metric.matrix();
    let inverse = b.clone().try_inverse().unwrap();
    let dynamics = Dynamics::rm(metric).with_beta(0.8).unwrap();
    let mala = Mala::new(&dynamics, h).unwrap();
    struct Bent;
    impl Target for Bent {
        fn dim(&self) -> usize {
            3
        }
        #[inline(always)]
        fn log_density<R: Real>(&self, t: &[R]) -> R {
            let bend = t[1] - t[0] * t[0] * 0.3;
            -(t[0] * t[0] + bend * bend * 2.0 + (t[2] * 0.7).exp() + t[2] * t[2]) * 0.5
        }
    }
    // log q(y|x) of N(x + hβB∇log π(x), 2βhB), up to what cancels.
    let log_q = |from: &[f64], to: &[f64]| {
        let s = langevin::target::score_at(&Bent, from);
        let s = nalgebra::DVector::from_vec(s);
        let gap = nalgebra::DVector::from_column_slice(to)
            - nalgebra::DVector::from_column_slice(from)
            - (&b * s) * (h * 0.8);
        -gap.dot(&(&inverse * &gap)) / (4.0 * 0.8 * h)
    };
    let factor = b.clone().cholesky().unwrap().l();
    let mut rng = Rng::new(31, 0, Stream::Setup);
    for _ in 0..200 {
        let draw = |rng: &mut Rng<f64>| (0..d).map(|_| rng.normal()).collect::<Vec<f64>>();
        let (x, xi) = (draw(&mut rng), draw(&mut rng));
        let (y, there) = propose(&mala, &Bent, &x, &xi);
        let written_out =
            Bent.log_density(&y) + log_q(&y, &x) - Bent.log_density(&x) - log_q(&x, &y);
        assert!((there - written_out).abs() < 1e-10 * (1.0 + there.abs()));
        // The noise that leads back.
        let s = nalgebra::DVector::from_vec(langevin::target::score_at(&Bent, &y));
        let back = nalgebra::DVector::from_column_slice(&x)
            - nalgebra::DVector::from_column_slice(&y)
            - (&b * s) * (h * 0.8);
        let xi = factor.solve_lower_triangular(&back).unwrap() / (2.0_f64 * 0.8 * h).sqrt();
        let (again, return_ratio) = propose(&mala, &Bent, &y, xi.as_slice());
        assert_close("the way back", &again, &x, 1e-12);
        assert!((there + return_ratio).abs() < 1e-9 * (1.0 + there.abs()));
    }
}

/// Adjusted chains have the moments of the target itself, at a step where Euler's are 10 % off.
#[test]
fn mala_draws_the_posterior_itself() {
    let model = NormalParameters::new((0..30).map(|i| f64::from(i * i % 17)).collect()).unwrap();
    let metric = Constant::diagonal(vec![0.8, 0.4]).unwrap();
    let dynamics = Dynamics::rm(metric);
    let mala = Mala::new(&dynamics, 1.5).unwrap();
    let oracle = Exact::new(&model);
    let mut rng = Rng::new(8, 0, Stream::Setup);
    let starts: Vec<Vec<f64>> = (0..2000)
        .map(|_| model.exact_draw(&mut rng).to_vec())
        .collect();
    let mut chains = Chains::new(6, 0, starts).unwrap();
    let mut records = Records::new(&chains, &oracle, || Moments::new(0));
    chains
        .advance(&oracle, &mala, 3000, &mut records, &How::default())
        .unwrap();
    assert_eq!(chains.escapes().count(), 0, "σ stays above 0");
    let exact: Vec<[f64; 2]> = (0..400_000).map(|_| model.exact_draw(&mut rng)).collect();
    for i in 0..2 {
        let means: Vec<f64> = records
            .chains()
            .map(|(_, m, lane)| m.mean(i, lane))
            .collect();
        let (mean, error) = mean_and_error(&means);
        let (want, other) = mean_and_error(&exact.iter().map(|x| x[i]).collect::<Vec<_>>());
        let z = (mean - want) / error.hypot(other);
        assert!(z.abs() < 4.5, "mean of coordinate {i}: z = {z}");
        let squares = records
            .chains()
            .map(|(_, m, lane)| m.variance(i, lane) + (m.mean(i, lane) - want).powi(2));
        let (square, error) = mean_and_error(&squares.collect::<Vec<_>>());
        let of_exact: Vec<f64> = exact.iter().map(|x| (x[i] - want).powi(2)).collect();
        let (want, other) = mean_and_error(&of_exact);
        let z = (square - want) / error.hypot(other);
        assert!(
            z.abs() < 4.5,
            "spread of coordinate {i}: {square}, {want}, z = {z}"
        );
        assert!(error / want < 0.01, "the test must resolve 5 %");
    }
}
