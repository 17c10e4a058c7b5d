//! Control variates: exact where they must be, and with errors that cover elsewhere.

use langevin::Error;
use langevin::rng::{Rng, Stream};
use langevin::stat::Sample;
use langevin::stat::control_variates::{ControlVariates, MAX_REGRESSORS, Order};

const CHAINS: usize = 8;
const DIM: usize = 3;
/// Lower triangular, so that θ = m + Lz has covariance L Lᵀ.
const L: [[f64; 3]; 3] = [[2.0, 0.0, 0.0], [1.0, 0.5, 0.0], [-30.0, 10.0, 20.0]];
const MEAN: [f64; 3] = [1.0, -2.0, 40.0];

/// AR(1) chains of a correlated Gaussian with its scores −L⁻ᵀz.
fn gaussian(rng: &mut Rng<f64>, n_draws: usize, phi: f64) -> (Vec<f64>, Vec<f64>) {
    let (mut draws, mut scores) = (vec![], vec![]);
    for _ in 0..CHAINS {
        let mut z = [0.0; DIM].map(|_: f64| rng.normal());
        for _ in 0..n_draws {
            z = z.map(|z| phi * z + (1.0 - phi * phi).sqrt() * rng.normal());
            for i in 0..DIM {
                draws.push(MEAN[i] + (0..=i).map(|k| L[i][k] * z[k]).sum::<f64>());
            }
            let mut g = [0.0; DIM];
            for i in (0..DIM).rev() {
                let later: f64 = (i + 1..DIM).map(|k| L[k][i] * g[k]).sum();
                g[i] = (-z[i] - later) / L[i][i];
            }
            scores.extend(g);
        }
    }
    (draws, scores)
}

fn rng(seed: u64) -> Rng<f64> {
    Rng::new(seed, 0, Stream::Setup)
}

#[test]
fn on_a_gaussian_nothing_is_left() {
    let (draws, scores) = gaussian(&mut rng(1), 500, 0.5);
    let sample = Sample::new(&draws, CHAINS, 500, DIM).unwrap();
    let sample = sample.with_scores(&scores).unwrap();
    let first = ControlVariates::new(&sample, Order::First).unwrap();
    let second = ControlVariates::new(&sample, Order::Second).unwrap();
    assert_eq!((first.n_regressors(), second.n_regressors()), (3, 9));
    let linear = |x: &[f64]| 3.0 * x[0] - x[1] + 0.2 * x[2];
    let truth = linear(&MEAN);
    for controlled in [&first, &second] {
        let found = controlled.mean(linear).unwrap();
        assert!((found.value - truth).abs() < 1e-6 && found.error < 1e-6);
        assert!(found.plain_error > 0.05 && found.gain() > 1e9);
    }
    let quadratic = |x: &[f64]| x[0] * x[2] + 0.1 * x[2] * x[2] + x[1];
    // E θᵢθⱼ = mᵢmⱼ + (L Lᵀ)ᵢⱼ.
    let truth = 40.0 - 60.0 + 0.1 * (1600.0 + 900.0 + 100.0 + 400.0) - 2.0;
    let found = second.mean(quadratic).unwrap();
    assert!((found.value - truth).abs() < 1e-4, "{found:?}");
    let variance = second.variance(|x| x[2]).unwrap();
    assert!((variance.value - 1400.0).abs() < 1e-4, "{variance:?}");
    // Order one explains no squares about the mean: what is left is at least half.
    let found = first.variance(|x| x[2]).unwrap();
    assert!(found.gain() < 2.0, "{found:?}");
}

/// Coordinates log X with X ~ Gamma(3): score 3 − eˣ, mean ψ(3) and variance ψ'(3).
fn log_gamma(rng: &mut Rng<f64>, n_draws: usize) -> (Vec<f64>, Vec<f64>) {
    let draws: Vec<f64> = (0..CHAINS * n_draws * DIM)
        .map(|_| rng.gamma(3.0).ln())
        .collect();
    let scores = draws.iter().map(|x| 3.0 - x.exp()).collect();
    (draws, scores)
}

/// Of 400 runs each, intervals of ±1.96 errors cover 95 %, within 4.5 binomial errors (5 %), at both
/// orders, for mean and variance; the plain ones too. Negative control: with scores that have a
/// drift the intervals miss.
#[test]
fn intervals_cover() {
    // ψ(3) = 3/2 − γ, ψ'(3) = π²/6 − 5/4.
    let mean = 1.5 - 0.577_215_664_901_532_9;
    let variance = std::f64::consts::PI.powi(2) / 6.0 - 1.25;
    let mut rng = rng(2);
    for order in [Order::First, Order::Second] {
        let (mut covered, mut gains) = ([0; 5], [0.0; 2]);
        for _ in 0..400 {
            let (draws, scores) = log_gamma(&mut rng, 100);
            let sample = Sample::new(&draws, CHAINS, 100, DIM).unwrap();
            let controlled = ControlVariates::new(&sample.with_scores(&scores).unwrap(), order);
            let controlled = controlled.unwrap();
            let m = controlled.mean(|x| x[1]).unwrap();
            let v = controlled.variance(|x| x[1]).unwrap();
            let hit = |value: f64, truth: f64, error: f64| {
                usize::from((value - truth).abs() < 1.96 * error)
            };
            covered[0] += hit(m.value, mean, m.error);
            covered[1] += hit(m.plain, mean, m.plain_error);
            covered[2] += hit(v.value, variance, v.error);
            covered[3] += hit(v.plain, variance, v.plain_error);
            gains[0] += m.gain() / 400.0;
            gains[1] += v.gain() / 400.0;
            let wrong: Vec<f64> = scores.iter().map(|g| g + 0.3).collect();
            let wrong = sample.with_scores(&wrong).unwrap();
            let wrong = ControlVariates::new(&wrong, order).unwrap();
            let m = wrong.mean(|x| x[1]).unwrap();
            covered[4] += hit(m.value, mean, m.error);
        }
        println!("{order:?}: {covered:?} of 400, gains {gains:.1?}");
        for hits in &covered[..4] {
            assert!(
                (*hits as f64 / 400.0 - 0.95).abs() < 0.05,
                "{order:?} {covered:?}"
            );
        }
        assert!(covered[4] < 200 && gains[0] > 4.0, "{covered:?} {gains:?}");
    }
}

#[test]
fn what_cannot_be_controlled_is_refused() {
    let (mut draws, scores) = gaussian(&mut rng(3), 12, 0.0);
    let sample = Sample::new(&draws, CHAINS, 12, DIM).unwrap();
    let refused = |s: &Sample, order| ControlVariates::new(s, order).unwrap_err();
    assert!(matches!(
        refused(&sample, Order::First),
        Error::NoScores { .. }
    ));
    let with = sample.with_scores(&scores).unwrap();
    // Forty-eight draws in each half are enough for three regressors, and too few for nine.
    assert!(ControlVariates::new(&with, Order::First).is_ok());
    assert!(matches!(
        refused(&with, Order::Second),
        Error::TooFew { min: 90, .. }
    ));
    let observable = ControlVariates::new(&with, Order::First).unwrap();
    assert!(observable.mean(|_| f64::NAN).is_err());
    let mut holed = scores.clone();
    holed[17] = f64::INFINITY;
    let bad = sample.with_scores(&holed).unwrap();
    assert!(matches!(
        refused(&bad, Order::First),
        Error::NotFinite { index: 17, .. }
    ));
    // d(d + 3)/2 regressors of 50 coordinates.
    let many = vec![0.5; 50 * 4];
    let wide = Sample::new(&many, 2, 2, 50)
        .unwrap()
        .with_scores(&many)
        .unwrap();
    let too_many = Error::TooMany {
        name: "the number of regressors",
        value: 1325,
        max: MAX_REGRESSORS,
    };
    assert_eq!(refused(&wide, Order::Second), too_many);
    let one = Sample::new(&draws, 1, 96, DIM)
        .unwrap()
        .with_scores(&scores)
        .unwrap();
    assert!(matches!(
        refused(&one, Order::First),
        Error::TooFew { value: 1, .. }
    ));
    draws.iter_mut().step_by(DIM).for_each(|x| *x = 1.0);
    let still = Sample::new(&draws, CHAINS, 12, DIM)
        .unwrap()
        .with_scores(&scores)
        .unwrap();
    assert!(matches!(
        refused(&still, Order::First),
        Error::NoSpread { .. }
    ));
}
