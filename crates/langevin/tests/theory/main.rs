//! The exact answers of `langevin::theory` against reference values that were computed
//! independently, and against identities that hold between them.

mod gaussian;
mod normal;
mod planar;
mod refusals;

use langevin::theory::Observable;
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

fn reference() -> Value {
    serde_json::from_str(include_str!("../data/reference.json")).unwrap()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

fn vector(value: &Value) -> DVector<f64> {
    DVector::from_vec(value.as_array().unwrap().iter().map(number).collect())
}

fn matrix(value: &Value) -> DMatrix<f64> {
    let rows = value.as_array().unwrap();
    let rows: Vec<_> = rows.iter().map(|r| vector(r).transpose()).collect();
    DMatrix::from_rows(&rows)
}

#[track_caller]
fn assert_close(what: &str, actual: f64, expected: f64, relative: f64) {
    let error = (actual / expected - 1.0).abs();
    assert!(
        error <= relative,
        "{what}: {actual:e} against {expected:e}, relative error {error:e} > {relative:e}"
    );
}

/// The five systems as pairs of a metric and a skew matrix.
fn five(b: &DMatrix<f64>, j: &DMatrix<f64>) -> Vec<(&'static str, DMatrix<f64>, DMatrix<f64>)> {
    let d = b.nrows();
    let identity = DMatrix::identity(d, d);
    let zero = DMatrix::zeros(d, d);
    vec![
        ("LD", identity.clone(), zero.clone()),
        ("RM", b.clone(), zero),
        ("Irr", identity, j.clone()),
        ("RMIrr", b.clone(), j.clone()),
        ("GiIrr", b.clone(), (j * b + b * j) * 0.5),
    ]
}

fn two_observables(d: usize) -> [(&'static str, Observable); 2] {
    [
        ("phi1", Observable::sum(d)),
        ("phi2", Observable::sum_of_squares(d)),
    ]
}
