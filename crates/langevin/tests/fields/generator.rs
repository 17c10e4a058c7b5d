//! The mean of L f under the target is 0 for the generator L of every dynamics.

use langevin::dynamics::Dynamics;
use langevin::metric::{Constant, Field, Metric, dense};
use langevin::skew::Skew;
use langevin::target::score_at;
use nalgebra::DMatrix;

use super::*;

/// The score of N(0, I).
fn standard(theta: &[f64]) -> Vec<f64> {
    theta.iter().map(|x| -x).collect()
}

/// A metric with its divergences dropped: the mistake that plausible plots do not show.
struct NoDivergence<M>(M);

impl<M: Metric> Metric for NoDivergence<M> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn scratch_len(&self) -> usize {
        self.0.scratch_len()
    }
    fn n_noise(&self) -> usize {
        self.0.n_noise()
    }
    fn prepare<R: Real>(&self, theta: &[R], scratch: &mut [R]) {
        self.0.prepare(theta, scratch);
    }
    fn apply<R: Real>(&self, theta: &[R], scratch: &mut [R], v: &[R], out: &mut [R]) {
        self.0.apply(theta, scratch, v, out);
    }
    fn sqrt_apply<R: Real>(&self, theta: &[R], scratch: &mut [R], xi: &[R], out: &mut [R]) {
        self.0.sqrt_apply(theta, scratch, xi, out);
    }
    fn div<R: Real>(
        &self,
        _: &[R],
        _: &mut [R],
        _: Option<&SkewMatrix>,
        b: &mut [R],
        bj: &mut [R],
    ) {
        b.fill(R::zero());
        bj.fill(R::zero());
    }
}

/// Both parts of the drift.
fn drift<M: Metric>(dynamics: &Dynamics<M>, score: &[f64], theta: &[f64]) -> Vec<f64> {
    let mut drift = vec![f64::NAN; theta.len()];
    let mut metric = vec![f64::NAN; dynamics.metric().scratch_len()];
    let mut scratch = vec![f64::NAN; dynamics.scratch_len()];
    let mut point = dynamics.at(theta, score, &mut metric, &mut scratch);
    dynamics.reversible(&point, &mut drift);
    dynamics.add_skew(&mut point, &mut drift);
    drift
}

/// z of the mean of L f over independent exact draws, for test functions f = sin(a·θ + c):
/// L f = drift·a cos(a·θ + c) − β aᵀBa sin(a·θ + c), whose mean under π is 0.
fn generator_z<M: Metric>(
    dynamics: &Dynamics<M>,
    mut draw: impl FnMut(&mut Rng<f64>) -> Vec<f64>,
    score: impl Fn(&[f64]) -> Vec<f64>,
    n_draws: usize,
    extra: impl Fn(&[f64]) -> Vec<f64>,
) -> f64 {
    let d = dynamics.dim();
    let mut rng = Rng::new(21, 0, Stream::Setup);
    let functions: Vec<(Vec<f64>, f64)> = (0..4)
        .map(|k| {
            (
                (0..d).map(|_| rng.normal() / (d as f64).sqrt()).collect(),
                0.5 + 0.7 * k as f64,
            )
        })
        .collect();
    let mut values = vec![vec![]; functions.len()];
    for _ in 0..n_draws {
        let theta = draw(&mut rng);
        let drift = drift(dynamics, &score(&theta), &theta);
        let more = extra(&theta);
        let b = dense(dynamics.metric(), &theta);
        for ((a, c), values) in functions.iter().zip(&mut values) {
            let u: f64 = a.iter().zip(&theta).map(|(a, x)| a * x).sum::<f64>() + c;
            let mut first = 0.0;
            let mut second = 0.0;
            for i in 0..d {
                first += a[i] * (drift[i] + more[i]);
                for k in 0..d {
                    second += a[i] * b[i * d + k] * a[k];
                }
            }
            values.push(first * u.cos() - dynamics.beta() * second * u.sin());
        }
    }
    let z = values.iter().map(|v| {
        let (mean, error) = mean_and_error(v);
        (mean / error).abs()
    });
    z.fold(0.0, f64::max)
}

fn no_extra(theta: &[f64]) -> Vec<f64> {
    vec![0.0; theta.len()]
}

/// All skew fields with one metric, on N(0, I) in its dimension: a metric's terms do not depend
/// on which target it is used for, so that exact draws are at hand for every one.
fn check_generator<M: Metric + Clone>(name: &str, metric: &M) {
    let d = metric.dim();
    let j = SkewMatrix::random_signs(d, 5).unwrap().scaled(1.7);
    let n_draws = 40_000;
    for (what, skew) in [
        ("none", Skew::None),
        ("constant", Skew::Constant(j.clone())),
        ("geometric", Skew::Geometric(j)),
    ] {
        for beta in [0.5, 1.3] {
            let dynamics = Dynamics::new(metric.clone(), skew.clone())
                .unwrap()
                .with_beta(beta)
                .unwrap();
            let z = generator_z(
                &dynamics,
                |rng| around(d, 1.0)(rng),
                standard,
                n_draws,
                no_extra,
            );
            // Four functions, 72 settings in all: 5.2 is a false-alarm rate of 6·10⁻⁵ for the test.
            assert!(z < 5.2, "{name}, {what}, β = {beta}: z = {z}");
        }
        if metric.constant().is_none() {
            let wrong = Dynamics::new(NoDivergence(metric.clone()), skew).unwrap();
            let z = generator_z(
                &wrong,
                |rng| around(d, 1.0)(rng),
                standard,
                n_draws,
                no_extra,
            );
            assert!(
                z > 6.0,
                "{name}, {what}: dropping the divergence goes unnoticed, z = {z}"
            );
        }
    }
}

#[test]
fn the_generator_of_every_dynamics_has_mean_zero() {
    let (logistic, ..) = logistic_reference();
    check_generator("logistic G⁻¹", &logistic.natural());
    check_generator("logistic I + G⁻¹", &logistic.natural_plus_identity());
    let (ica, _) = ica_reference();
    check_generator("ICA WᵀW", &ica.natural());
    check_generator("ICA I + WᵀW", &ica.natural_plus_identity());
    check_generator("formula", &Field::new(Coupled(3)));
    check_generator("identity", &Constant::identity(3));
    check_generator(
        "diagonal",
        &Constant::diagonal(vec![1.0, 2.0, 0.5]).unwrap(),
    );
    let b = DMatrix::from_row_slice(3, 3, &[2.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 0.7]);
    check_generator("dense", &Constant::dense(&b).unwrap());
}

/// The normal model has exact draws of its own posterior, and a metric that needs σ > 0.
#[test]
fn the_generator_of_the_normal_model_has_mean_zero() {
    let model = normal_model();
    // B is of size σ²/N ≈ 0.1: a J of that size leaves the test the power to see div B.
    let j = SkewMatrix::sign_pattern(2, 0.1).unwrap();
    let draw = |rng: &mut Rng<f64>| model.exact_draw(rng).to_vec();
    let score = |theta: &[f64]| score_at(&model, theta);
    for skew in [
        Skew::None,
        Skew::Constant(j.clone()),
        Skew::Geometric(j.clone()),
    ] {
        let dynamics = Dynamics::new(model.natural(), skew.clone()).unwrap();
        let z = generator_z(&dynamics, draw, score, 200_000, no_extra);
        assert!(z < 5.2, "{skew:?}: z = {z}");
        let wrong = Dynamics::new(NoDivergence(model.natural()), skew.clone()).unwrap();
        let z = generator_z(&wrong, draw, score, 200_000, no_extra);
        assert!(
            z > 6.0,
            "{skew:?}: dropping the divergence goes unnoticed, z = {z}"
        );
    }
    // A matrix that is not skew cannot be made, and would be noticed: add ½ S ∇log π with S
    // symmetric.
    assert!(SkewMatrix::new(&DMatrix::from_row_slice(2, 2, &[0.0, 1.0, 1.0, 0.0])).is_err());
    let dynamics = Dynamics::ld(2);
    let symmetric = |theta: &[f64]| {
        let s = score_at(&model, theta);
        vec![0.5 * s[1], 0.5 * s[0]]
    };
    assert!(generator_z(&dynamics, draw, score, 200_000, no_extra) < 5.2);
    assert!(generator_z(&dynamics, draw, score, 200_000, symmetric) > 6.0);
}
