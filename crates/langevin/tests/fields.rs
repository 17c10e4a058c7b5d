//! Metrics, skew fields and models: every term against references, finite differences and the
//! generator.

mod common;

use common::*;
use langevin::dynamics::Dynamics;
use langevin::integrator::{EulerMaruyama, Integrator, Score};
use langevin::metric::{Constant, Field, MatrixField, Metric, dense};
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::real::Real;
use langevin::rng::{Rng, Stream};
use langevin::skew::{Skew, SkewMatrix};
use langevin::target::{Posterior, Target, score_at, scores_at};
use nalgebra::{DMatrix, DVector};

/// A metric that couples all coordinates, given only as a formula.
struct Coupled(usize);

impl MatrixField for Coupled {
    fn dim(&self) -> usize {
        self.0
    }
    #[inline(always)]
    fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
        let n = self.0;
        for i in 0..n {
            for j in 0..n {
                // I + a aᵀ with a_i = sin(θ_i + ½ θ_{i+1}).
                let a = (theta[i] + theta[(i + 1) % n] * 0.5).sin();
                let b = (theta[j] + theta[(j + 1) % n] * 0.5).sin();
                out[i * n + j] = a * b + if i == j { 1.0 } else { 0.0 };
            }
        }
    }
}

/// The metric of the normal model as a formula, to be compared with the one by hand.
struct FisherFormula;

impl MatrixField for FisherFormula {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
        let s = theta[1] * theta[1] / 30.0;
        out.copy_from_slice(&[s, R::zero(), R::zero(), s * 0.5]);
    }
}

fn logistic_reference() -> (LogisticRegression, Vec<f64>, SkewMatrix) {
    let r = &reference()["logistic"];
    let model = LogisticRegression::new(
        rows(&r["X"]),
        4,
        &vector(&r["t"]),
        r["alpha"].as_f64().unwrap(),
    )
    .unwrap();
    (
        model,
        vector(&r["w"]),
        SkewMatrix::new(&matrix(&r["J"])).unwrap(),
    )
}

fn ica_reference() -> (Ica, Vec<f64>) {
    let r = &reference()["ica"];
    (
        Ica::new(rows(&r["X"]), 3, 1.0).unwrap(),
        column_major(&r["W"]),
    )
}

fn normal_model() -> NormalParameters {
    let mut rng = Rng::new(2, 0, Stream::Setup);
    NormalParameters::new((0..30).map(|_| 3.0 + 2.0 * rng.normal()).collect()).unwrap()
}

/// div B and div(B J) of a metric.
fn divergences<M: Metric>(
    metric: &M,
    theta: &[f64],
    j: Option<&SkewMatrix>,
) -> (Vec<f64>, Vec<f64>) {
    let d = theta.len();
    let mut scratch = vec![f64::NAN; metric.scratch_len()];
    metric.prepare(theta, &mut scratch);
    let (mut div_b, mut div_bj) = (vec![0.0; d], vec![0.0; d]);
    metric.div(theta, &mut scratch, j, &mut div_b, &mut div_bj);
    (div_b, div_bj)
}

/// div(B W)_i = Σ_jk ∂_j B_ik W_kj by central differences of fourth order.
fn difference_divergence<M: Metric>(metric: &M, theta: &[f64], w: &DMatrix<f64>) -> Vec<f64> {
    let d = theta.len();
    let mut out = vec![0.0; d];
    for axis in 0..d {
        let h = 1e-3 * (1.0 + theta[axis].abs());
        let at = |shift: f64| {
            let mut x = theta.to_vec();
            x[axis] += shift * h;
            dense(metric, &x)
        };
        let (m2, m1, p1, p2) = (at(-2.0), at(-1.0), at(1.0), at(2.0));
        for i in 0..d {
            for k in 0..d {
                let at = i * d + k;
                let slope = (m2[at] - 8.0 * m1[at] + 8.0 * p1[at] - p2[at]) / (12.0 * h);
                out[i] += slope * w[(k, axis)];
            }
        }
    }
    out
}

/// S Sᵀ from the action of S on unit vectors.
fn root_squared<M: Metric>(metric: &M, theta: &[f64]) -> Vec<f64> {
    let (d, n) = (metric.dim(), metric.n_noise());
    let mut scratch = vec![f64::NAN; metric.scratch_len()];
    metric.prepare(theta, &mut scratch);
    let mut s = DMatrix::zeros(d, n);
    for k in 0..n {
        let mut unit = vec![0.0; n];
        unit[k] = 1.0;
        let mut column = vec![0.0; d];
        metric.sqrt_apply(theta, &mut scratch, &unit, &mut column);
        s.set_column(k, &DVector::from_vec(column));
    }
    (&s * s.transpose()).transpose().as_slice().to_vec()
}

/// Everything that a metric claims, at random points.
fn check_metric<M: Metric>(name: &str, metric: &M, point: impl Fn(&mut Rng<f64>) -> Vec<f64>) {
    let d = metric.dim();
    let mut rng = Rng::new(7, 0, Stream::Setup);
    let j = SkewMatrix::random_signs(d, 3).unwrap();
    for _ in 0..5 {
        let theta = point(&mut rng);
        let b = dense(metric, &theta);
        assert_close(
            &format!("{name}: S Sᵀ"),
            &root_squared(metric, &theta),
            &b,
            1e-13,
        );
        let (div_b, div_bj) = divergences(metric, &theta, Some(&j));
        let b_scale = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let identity = DMatrix::identity(d, d);
        for (what, ours, w) in [("div B", &div_b, identity), ("div BJ", &div_bj, j.matrix())] {
            let expected = difference_divergence(metric, &theta, &w);
            for i in 0..d {
                // Truncation h⁴ ~ 10⁻¹² and rounding 10⁻¹⁶/h ~ 10⁻¹³, times the size of B and d.
                let allowed = 1e-9 * b_scale * d as f64;
                assert!(
                    (ours[i] - expected[i]).abs() < allowed,
                    "{name}: {what}[{i}]: {} differs from {}",
                    ours[i],
                    expected[i]
                );
            }
        }
        // Without J the first divergence is the same.
        assert_eq!(divergences(metric, &theta, None).0, div_b, "{name}");
    }
}

fn around(d: usize, sd: f64) -> impl Fn(&mut Rng<f64>) -> Vec<f64> {
    move |rng| (0..d).map(|_| sd * rng.normal()).collect()
}

fn near_identity(m: usize) -> impl Fn(&mut Rng<f64>) -> Vec<f64> {
    move |rng| {
        (0..m * m)
            .map(|i| (i % (m + 1) == 0) as u8 as f64 + 0.4 * rng.normal())
            .collect()
    }
}

#[test]
fn every_metric_agrees_with_finite_differences() {
    let normal = normal_model();
    check_metric("normal", &normal.metric(), |rng| {
        vec![rng.normal(), 0.5 + 3.0 * rng.uniform()]
    });
    let (logistic, ..) = logistic_reference();
    check_metric("logistic G⁻¹", &logistic.fisher(), around(4, 1.0));
    check_metric(
        "logistic I + G⁻¹",
        &logistic.fisher_plus_identity(),
        around(4, 1.0),
    );
    let (ica, _) = ica_reference();
    check_metric("ICA WᵀW", &ica.natural(), near_identity(3));
    check_metric(
        "ICA I + WᵀW",
        &ica.natural_plus_identity(),
        near_identity(3),
    );
    let ica4 = Ica::new(rows(&reference()["logistic"]["X"]), 4, 1.0).unwrap();
    check_metric(
        "ICA, four signals",
        &ica4.natural_plus_identity(),
        near_identity(4),
    );
    check_metric("formula", &Field::new(Coupled(3)), around(3, 1.0));
    check_metric(
        "formula in 40 dimensions",
        &Field::new(Coupled(40)),
        around(40, 1.0),
    );
    check_metric("identity", &Constant::identity(3), around(3, 1.0));
    check_metric(
        "diagonal",
        &Constant::diagonal(vec![1.0, 2.0, 0.5]).unwrap(),
        around(3, 1.0),
    );
    let b = DMatrix::from_row_slice(2, 2, &[2.0, 0.3, 0.3, 1.0]);
    check_metric("dense", &Constant::dense(&b).unwrap(), around(2, 1.0));
}

#[test]
fn a_formula_equals_the_metric_by_hand() {
    let (by_hand, formula) = (normal_model().metric(), Field::new(FisherFormula));
    let j = SkewMatrix::sign_pattern(2, 2.0).unwrap();
    let theta = [1.0, 2.5];
    let (a, b) = (
        divergences(&by_hand, &theta, Some(&j)),
        divergences(&formula, &theta, Some(&j)),
    );
    assert_close("div B", &b.0, &a.0, 1e-15);
    assert_close("div BJ", &b.1, &a.1, 1e-15);
    // Equation of section 3.3: div B = (0, σ/N), div C = (3δσ/2N, 0).
    assert_close("div B", &a.0, &[0.0, 2.5 / 30.0], 1e-15);
    let jd = j.matrix() * DVector::from_column_slice(&a.0);
    let div_c: Vec<f64> = (0..2).map(|i| 0.5 * (jd[i] + a.1[i])).collect();
    assert_close("div C", &div_c, &[3.0 * 2.0 * 2.5 / 60.0, 0.0], 1e-15);
}

#[test]
fn logistic_and_ica_meet_the_reference() {
    let r = reference();
    let half_sum = |j: &SkewMatrix, b: &[f64], bj: &[f64]| -> Vec<f64> {
        let mut jb = vec![0.0; b.len()];
        j.apply(b, &mut jb);
        jb.iter().zip(bj).map(|(x, y)| 0.5 * (x + y)).collect()
    };
    let geometric = |j: &SkewMatrix, b: &[f64]| {
        let b = DMatrix::from_row_slice(j.dim(), j.dim(), b);
        let c = (j.matrix() * &b + &b * j.matrix()) * 0.5;
        c.transpose().as_slice().to_vec()
    };

    let (model, w, j) = logistic_reference();
    let l = &r["logistic"];
    assert_close(
        "logistic score",
        &score_at(&model, &w),
        &vector(&l["grad"]),
        1e-13,
    );
    let metric = model.fisher_plus_identity();
    let b = dense(&metric, &w);
    assert_close("logistic B", &b, &rows(&l["B"]), 1e-13);
    assert_close("logistic C", &geometric(&j, &b), &rows(&l["C"]), 1e-13);
    let (div_b, div_bj) = divergences(&metric, &w, Some(&j));
    assert_close("logistic div B", &div_b, &vector(&l["divB"]), 1e-12);
    assert_close(
        "logistic div C",
        &half_sum(&j, &div_b, &div_bj),
        &vector(&l["divC"]),
        1e-12,
    );

    let (model, w) = ica_reference();
    let i = &r["ica"];
    assert_close(
        "ICA score",
        &score_at(&model, &w),
        &column_major(&i["grad"]),
        1e-12,
    );
    let j = SkewMatrix::kronecker_signs(3).unwrap();
    assert!((j.norm() - 1.0).abs() < 1e-14);
    assert!((j.get(0, 1) - i["C0"][0][1].as_f64().unwrap()).abs() < 1e-15);
    let metric = model.natural_plus_identity();
    let b = dense(&metric, &w);
    assert_close("ICA B", &b, &rows(&i["B"]), 1e-14);
    assert_close("ICA C", &geometric(&j, &b), &rows(&i["C"]), 1e-14);
    let (div_b, div_bj) = divergences(&metric, &w, Some(&j));
    assert_close("ICA div B", &div_b, &column_major(&i["divB"]), 1e-14);
    assert_close(
        "ICA div C",
        &half_sum(&j, &div_b, &div_bj),
        &column_major(&i["divC"]),
        1e-13,
    );
}

/// The score by hand equals the one by dual numbers, and the mean of all minibatches of one row
/// equals the exact score.
fn check_score<P: Posterior>(name: &str, model: &P, theta: &[f64]) {
    let by_hand = score_at(model, theta);
    // Many at once are the same bits as one by one.
    let many = scores_at(model, &theta.repeat(19));
    assert_eq!(many, by_hand.repeat(19));
    let mut by_duals = vec![0.0; theta.len()];
    langevin::real::gradient(theta, &mut by_duals, |x: &[langevin::real::Dual<f64>]| {
        model.log_density(x)
    });
    assert_close(&format!("{name}: score"), &by_hand, &by_duals, 1e-12);
    let n = model.rows().len();
    let mut mean = vec![0.0; theta.len()];
    let mut scratch = vec![f64::NAN; Posterior::scratch_len(model)];
    for row in 0..n as u64 {
        let mut out = vec![0.0; theta.len()];
        let rows = [langevin::real::Word(row)];
        Posterior::minibatch_score::<f64>(model, theta, &rows, &mut scratch, &mut out);
        for (mean, out) in mean.iter_mut().zip(&out) {
            *mean += out / n as f64;
        }
    }
    assert_close(
        &format!("{name}: mean of minibatches"),
        &mean,
        &by_hand,
        1e-12,
    );
    let all: Vec<_> = (0..n as u64).map(langevin::real::Word).collect();
    let mut out = vec![0.0; theta.len()];
    Posterior::minibatch_score::<f64>(model, theta, &all, &mut scratch, &mut out);
    assert_close(&format!("{name}: all rows"), &out, &by_hand, 1e-12);
}

/// Few, many and very many features take different ways.
#[test]
fn logistic_scores_of_any_dimension() {
    let mut rng = Rng::new(21, 0, Stream::Setup);
    for dim in [1, 4, 5, 8, 19, 64, 70] {
        let n = 13;
        let features = (0..n * dim).map(|_| rng.normal()).collect();
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
        let model = LogisticRegression::new(features, dim, &labels, 0.7).unwrap();
        let theta: Vec<f64> = (0..dim).map(|_| 0.3 * rng.normal()).collect();
        check_score(&format!("logistic, {dim} features"), &model, &theta);
    }
}

#[test]
fn scores_by_hand_equal_dual_numbers_and_minibatches_are_unbiased() {
    let (logistic, w, _) = logistic_reference();
    check_score("logistic", &logistic, &w);
    let (ica, w) = ica_reference();
    check_score("ICA", &ica, &w);
    let ica4 = Ica::new(rows(&reference()["logistic"]["X"]), 4, 0.7).unwrap();
    check_score(
        "ICA, four signals",
        &ica4,
        &near_identity(4)(&mut Rng::new(1, 0, Stream::Setup)),
    );
    let ica2 = Ica::new(vec![1.0, 0.5, -0.3, 2.0], 2, 0.7).unwrap();
    check_score("ICA, two signals", &ica2, &[1.0, 0.2, -0.4, 0.9]);
    check_score("normal", &normal_model(), &[2.0, 1.5]);
    let g = &reference()["gaussian"]["inputs"];
    let gamma_x = matrix(&g["GX"]);
    let prior = matrix(&g["Gamma"]) - &gamma_x * 10.0;
    let gaussian = LinearGaussian::new(rows(&g["X"]), &gamma_x, &prior).unwrap();
    check_score("Gaussian", &gaussian, &[0.3, -0.2, 1.0]);
    assert_close(
        "posterior mean",
        gaussian.mean().as_slice(),
        &vector(&g["mu"]),
        1e-13,
    );
    assert_close(
        "B",
        gaussian.metric().unwrap().matrix().as_slice(),
        &rows(&g["B"]),
        1e-12,
    );
}

/// The score of N(0, I).
struct Standard;

impl Score<f64> for Standard {
    fn score(&mut self, theta: &[f64], out: &mut [f64]) {
        for i in 0..theta.len() {
            out[i] = -theta[i];
        }
    }
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

/// The drift that the integrator uses: a step of size 1 without noise.
fn drift<M: Metric>(
    scheme: &EulerMaruyama<M>,
    score: &mut impl Score<f64>,
    theta: &[f64],
) -> Vec<f64> {
    let mut moved = theta.to_vec();
    let mut scratch = vec![f64::NAN; scheme.scratch_len()];
    let xi = vec![0.0; scheme.n_noise()];
    scheme.step(&mut moved, score, 1.0, &xi, &mut scratch);
    moved.iter().zip(theta).map(|(a, b)| a - b).collect()
}

/// z of the mean of L f over independent exact draws, for test functions f = sin(a·θ + c):
/// L f = drift·a cos(a·θ + c) − β aᵀBa sin(a·θ + c), whose mean under π is 0.
fn generator_z<M: Metric>(
    dynamics: &Dynamics<M>,
    mut draw: impl FnMut(&mut Rng<f64>) -> Vec<f64>,
    score: &mut impl Score<f64>,
    n_draws: usize,
    extra: impl Fn(&[f64]) -> Vec<f64>,
) -> f64 {
    let d = dynamics.dim();
    let scheme = EulerMaruyama::new(dynamics);
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
        let drift = drift(&scheme, score, &theta);
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
                &mut Standard,
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
                &mut Standard,
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
    check_generator("logistic G⁻¹", &logistic.fisher());
    check_generator("logistic I + G⁻¹", &logistic.fisher_plus_identity());
    let (ica, _) = ica_reference();
    check_generator("ICA WᵀW", &ica.natural());
    check_generator("ICA I + WᵀW", &ica.natural_plus_identity());
    check_generator("formula", &Field::new(Coupled3));
    check_generator("identity", &Constant::identity(3));
    check_generator(
        "diagonal",
        &Constant::diagonal(vec![1.0, 2.0, 0.5]).unwrap(),
    );
    let b = DMatrix::from_row_slice(3, 3, &[2.0, 0.3, 0.1, 0.3, 1.0, -0.2, 0.1, -0.2, 0.7]);
    check_generator("dense", &Constant::dense(&b).unwrap());
}

/// `Coupled` in three dimensions.
#[derive(Clone)]
struct Coupled3;

impl MatrixField for Coupled3 {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
        Coupled(3).matrix(theta, out);
    }
}

/// The normal model has exact draws of its own posterior, and a metric that needs σ > 0.
#[test]
fn the_generator_of_the_normal_model_has_mean_zero() {
    struct NormalScore(NormalParameters);
    impl Score<f64> for NormalScore {
        fn score(&mut self, theta: &[f64], out: &mut [f64]) {
            Target::score(&self.0, theta, &mut [], out);
        }
    }
    let model = normal_model();
    // B is of size σ²/N ≈ 0.1: a J of that size leaves the test the power to see div B.
    let j = SkewMatrix::sign_pattern(2, 0.1).unwrap();
    let draw = |rng: &mut Rng<f64>| model.exact_draw(rng).to_vec();
    let mut score = NormalScore(model.clone());
    for skew in [
        Skew::None,
        Skew::Constant(j.clone()),
        Skew::Geometric(j.clone()),
    ] {
        let dynamics = Dynamics::new(model.metric(), skew.clone()).unwrap();
        let z = generator_z(&dynamics, draw, &mut score, 200_000, no_extra);
        assert!(z < 5.2, "{skew:?}: z = {z}");
        let wrong = Dynamics::new(NoDivergence(model.metric()), skew.clone()).unwrap();
        let z = generator_z(&wrong, draw, &mut score, 200_000, no_extra);
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
    assert!(generator_z(&dynamics, draw, &mut score, 200_000, no_extra) < 5.2);
    assert!(generator_z(&dynamics, draw, &mut score, 200_000, symmetric) > 6.0);
}
