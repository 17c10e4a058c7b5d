//! Kernel Stein discrepancy of fixed point sets against stored reference values.

use langevin::stat::ksd::{Kernel, ksd, ksd_curve};
use serde_json::Value;

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array()
        .unwrap()
        .iter()
        .map(|x| x.as_f64().unwrap())
        .collect()
}

#[test]
fn agrees_with_the_reference_to_1e_12() {
    let data: Value = serde_json::from_str(include_str!("data/ksd.json")).unwrap();
    let cases = data["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let rows: Vec<Vec<f64>> = case["points"]
            .as_array()
            .unwrap()
            .iter()
            .map(numbers)
            .collect();
        let k0: Vec<Vec<f64>> = case["k0"].as_array().unwrap().iter().map(numbers).collect();
        let points = rows.concat();
        let scores: Vec<f64> = points.iter().map(|x| -x).collect();
        let (dim, want) = (rows[0].len(), case["ksd"].as_f64().unwrap());
        let got = ksd(&points, &scores, dim, Kernel::default()).unwrap();
        assert!(
            (got - want).abs() <= 1e-12 * want,
            "{}: {got} {want}",
            case["name"]
        );
        let curve = ksd_curve(&points, &scores, dim, Kernel::default()).unwrap();
        for n in 1..=rows.len() {
            let sum: f64 = k0[..n].iter().flat_map(|row| &row[..n]).sum();
            let want = sum.sqrt() / n as f64;
            assert!(
                (curve[n - 1] - want).abs() <= 1e-12 * want,
                "{} prefix {n}",
                case["name"]
            );
        }
    }
}
