//! Scores by hand, against dual numbers; and of minibatches.

use langevin::models::LinearGaussian;
use langevin::oracle::scores_at;
use langevin::target::{Subsampled, score_at};

use super::*;

/// The score by hand equals the one by dual numbers, and the mean of all minibatches of one row
/// equals the exact score.
fn check_score<T: Subsampled>(name: &str, model: &T, theta: &[f64]) {
    let by_hand = score_at(model, theta);
    // Many at once are the same bits as one by one.
    let many = scores_at(model, &theta.repeat(19));
    assert_eq!(many, by_hand.repeat(19));
    let mut by_duals = vec![0.0; theta.len()];
    langevin::real::gradient(theta, &mut by_duals, |x: &[langevin::real::Dual<f64>]| {
        model.log_density(x)
    });
    assert_close(&format!("{name}: score"), &by_hand, &by_duals, 1e-12);
    let mut scratch = vec![f64::NAN; model.scratch_len()];
    let mut together = vec![0.0; theta.len()];
    let value = model.log_density_and_score(theta, &mut scratch, &mut together);
    let alone = model.log_density(theta);
    assert!(
        (value - alone).abs() < 1e-12 * alone.abs(),
        "{name}: {value}, {alone}"
    );
    assert_close(&format!("{name}: both at once"), &together, &by_hand, 1e-12);
    let n = model.n_data();
    let mut mean = vec![0.0; theta.len()];
    for row in 0..n as u64 {
        let mut out = vec![0.0; theta.len()];
        let rows = [langevin::real::Word(row)];
        model.minibatch_score::<f64>(theta, &rows, &mut scratch, &mut out);
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
    model.minibatch_score::<f64>(theta, &all, &mut scratch, &mut out);
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
        gaussian.natural().unwrap().matrix().as_slice(),
        &rows(&g["B"]),
        1e-12,
    );
}
