//! What several tests share: reference numbers and small statistics.
#![allow(dead_code)] // each test program uses its own part

use nalgebra::DMatrix;
use serde_json::Value;

/// The numbers in `data/reference.json`.
pub fn reference() -> Value {
    serde_json::from_str(include_str!("../data/reference.json")).unwrap()
}

pub fn vector(v: &Value) -> Vec<f64> {
    v.as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect()
}

/// A JSON list of rows, flattened row by row.
pub fn rows(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().flat_map(vector).collect()
}

pub fn matrix(v: &Value) -> DMatrix<f64> {
    let n = v.as_array().unwrap().len();
    let data = rows(v);
    DMatrix::from_row_slice(n, data.len() / n, &data)
}

/// A JSON list of rows as `vec`, column by column.
pub fn column_major(v: &Value) -> Vec<f64> {
    matrix(v).as_slice().to_vec()
}

pub fn assert_close(what: &str, actual: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(actual.len(), expected.len(), "{what}: length");
    let scale = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    for (i, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= relative * scale,
            "{what}[{i}]: {a} differs from {e}"
        );
    }
}

/// Mean and its standard error.
pub fn mean_and_error(x: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Standard normal distribution function, by the series of erf below 3 and the continued fraction
/// of erfc beyond.
pub fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let tail = if z < 2.2 {
        let (mut term, mut sum) = (z, z);
        for k in 1..200 {
            term *= -z * z / k as f64;
            sum += term / (2 * k + 1) as f64;
        }
        0.5 - sum / std::f64::consts::PI.sqrt()
    } else {
        let mut f = 0.0;
        for k in (1..=60).rev() {
            f = k as f64 / 2.0 / (z + f);
        }
        0.5 * (-z * z).exp() / (z + f) / std::f64::consts::PI.sqrt()
    };
    if x > 0.0 { 1.0 - tail } else { tail }
}
