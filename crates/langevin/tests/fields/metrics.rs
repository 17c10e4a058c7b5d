//! Metrics and their divergences, against finite differences and references.

use langevin::metric::{Constant, Field, Metric, Solve, dense};
use langevin::target::score_at;
use nalgebra::{DMatrix, DVector};

use super::*;

/// The metric of the normal model as a formula, to be compared with the one by hand.
struct NaturalFormula;

impl MatrixField for NaturalFormula {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn matrix<R: Real>(&self, theta: &[R], out: &mut [R]) {
        let s = theta[1] * theta[1] / 30.0;
        out.copy_from_slice(&[s, R::zero(), R::zero(), s * 0.5]);
    }
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
fn check_metric<M: Solve>(name: &str, metric: &M, point: impl Fn(&mut Rng<f64>) -> Vec<f64>) {
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
        check_solve(name, metric, &theta, &b, &mut rng);
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

/// B⁻¹ undoes B, and log det B is that of the matrix.
fn check_solve<M: Solve>(name: &str, metric: &M, theta: &[f64], b: &[f64], rng: &mut Rng<f64>) {
    let d = metric.dim();
    let mut scratch = vec![f64::NAN; metric.scratch_len()];
    metric.prepare(theta, &mut scratch);
    let v: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
    let (mut bv, mut back) = (vec![0.0; d], vec![f64::NAN; d]);
    metric.apply(theta, &mut scratch, &v, &mut bv);
    metric.solve(theta, &mut scratch, &bv, &mut back);
    assert_close(&format!("{name}: B⁻¹ B v"), &back, &v, 1e-9);
    let log_det = DMatrix::from_row_slice(d, d, b).determinant().ln();
    let ours = metric.log_det(theta, &mut scratch);
    assert!(
        (ours - log_det).abs() < 1e-9 * (1.0 + log_det.abs()),
        "{name}: log det B is {log_det}, not {ours}"
    );
}

#[test]
fn every_metric_agrees_with_finite_differences() {
    let normal = normal_model();
    check_metric("normal", &normal.natural(), |rng| {
        vec![rng.normal(), 0.5 + 3.0 * rng.uniform()]
    });
    let (logistic, ..) = logistic_reference();
    check_metric("logistic G⁻¹", &logistic.natural(), around(4, 1.0));
    check_metric(
        "logistic I + G⁻¹",
        &logistic.natural_plus_identity(),
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
    let (by_hand, formula) = (normal_model().natural(), Field::new(NaturalFormula));
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
    let metric = model.natural_plus_identity();
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
