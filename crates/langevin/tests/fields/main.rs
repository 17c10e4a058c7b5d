//! Metrics, skew fields and models: every term against references, finite differences and the
//! generator.

#[path = "../common/mod.rs"]
mod common;
mod generator;
mod metrics;
mod scores;

use common::*;
use langevin::metric::MatrixField;
use langevin::models::{Ica, LogisticRegression, NormalParameters};
use langevin::real::Real;
use langevin::rng::{Rng, Stream};
use langevin::skew::SkewMatrix;

/// A metric that couples all coordinates, given only as a formula.
#[derive(Clone)]
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
