//! Mean and standard deviation of normal data.

use langevin::theory::*;
use nalgebra::{DMatrix, DVector};

use crate::{assert_close, five, number, reference, two_observables};

/// The names of the five systems in (μ, σ).
fn five_normal(delta: f64) -> [(&'static str, NormalMetric, NormalSkew); 5] {
    use NormalMetric::{Identity, Natural};
    [
        ("LD", Identity, NormalSkew::None),
        ("RM", Natural, NormalSkew::None),
        ("Irr", Identity, NormalSkew::Constant(delta)),
        ("RMIrr", Natural, NormalSkew::Constant(delta)),
        ("GiIrr", Natural, NormalSkew::Geometric(delta)),
    ]
}

fn normal_posterior(mean: f64) -> NormalPosterior {
    NormalPosterior::new(30, mean, 10.0).unwrap()
}

#[test]
fn normal_moments_are_met() {
    let expected = &reference()["normal"]["moments"];
    let posterior = normal_posterior(0.0);
    for (name, phi) in two_observables(2) {
        let mean = posterior.expectation(&phi).unwrap();
        let variance = posterior.variance(&phi).unwrap();
        assert_close(name, mean, number(&expected[format!("E_{name}")]), 1e-13);
        assert_close(
            name,
            variance,
            number(&expected[format!("Var_{name}")]),
            1e-12,
        );
    }
}

#[test]
fn normal_values_are_met() {
    let case = reference()["normal"].clone();
    let input = &case["inputs"];
    let batch_time = number(&input["T_batch"]);
    let n_batches = input["n_batches"].as_u64().unwrap() as usize;
    for (name, metric, skew) in five_normal(number(&input["delta"])) {
        let expected = &case["avar"][name];
        let diffusion = |mean| {
            NormalDiffusion::new(normal_posterior(mean), metric, skew, number(&input["beta"]))
        };
        let centred = diffusion(0.0).unwrap();
        for (phi_name, phi) in two_observables(2) {
            let avar = centred.asymptotic_variance(&phi).unwrap();
            let batch = centred.batch_means_expectation(&phi, n_batches, batch_time);
            let key = |kind: &str| number(&expected[format!("{kind}_{phi_name}")]);
            assert_close(name, avar, key("avar"), 2e-12);
            // Heavy tails: with the identity metric the basis resolves e^{−tL} less well.
            let tolerance = match metric {
                NormalMetric::Identity => 1e-10,
                NormalMetric::Natural => 1e-12,
            };
            assert_close(name, batch.unwrap(), key("batch"), tolerance);
        }
        // AVar φ₂ = a0 + a1 m + a2 m², with a1 = 0.
        let shifted = diffusion(3.0).unwrap();
        let avar = shifted.asymptotic_variance(&Observable::sum_of_squares(2));
        let [a0, a1, a2] = ["phi2_a0", "phi2_a1", "phi2_a2"].map(|k| number(&expected[k]));
        assert!(a1.abs() < 1e-12);
        assert_close(name, avar.unwrap(), a0 + 9.0 * a2, 2e-12);
    }
}

/// The table of errors in the documentation of `NormalDiffusion`, which is neither too bright nor
/// too dark.
#[test]
fn normal_values_converge_as_the_basis_grows() {
    let expected = &reference()["normal"]["avar"];
    for (n_hermite, n_laguerre, stated) in [
        (8, 8, 2e-6),
        (12, 12, 2e-8),
        (16, 16, 1e-9),
        (16, 24, 2e-11),
        (16, 32, 1e-12),
    ] {
        let mut worst = 0.0f64;
        for (name, metric, skew) in five_normal(2.0) {
            let posterior = normal_posterior(0.0);
            let diffusion =
                NormalDiffusion::with_basis(posterior, metric, skew, 0.5, n_hermite, n_laguerre)
                    .unwrap();
            for (phi_name, phi) in two_observables(2) {
                let avar = diffusion.asymptotic_variance(&phi).unwrap();
                let value = number(&expected[name][format!("avar_{phi_name}")]);
                worst = worst.max((avar / value - 1.0).abs());
            }
        }
        assert!(
            worst < stated && worst > 0.1 * stated,
            "{n_hermite} × {n_laguerre}: {worst:e}, but {stated:e} is stated"
        );
    }
}

/// Many data make the posterior Gaussian: with s² = N it tends to precision diag(1, 2) and metric
/// diag(1, ½), and the asymptotic variances tend to those of the Gaussian like 1/N.
#[test]
fn normal_posterior_of_many_data_is_gaussian() {
    let precision = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 2.0]));
    let metric = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 0.5]));
    let skew = DMatrix::from_row_slice(2, 2, &[0.0, 2.0, -2.0, 0.0]);
    let phi = Observable::sum(2);
    for ((name, b, c), (_, normal_metric, normal_skew)) in
        five(&metric, &skew).into_iter().zip(five_normal(2.0))
    {
        let gaussian = LinearDiffusion::new(&precision, &DVector::zeros(2), &b, &c, 0.5).unwrap();
        let limit = gaussian.asymptotic_variance(&phi).unwrap();
        let error = |n: usize| {
            let posterior = NormalPosterior::new(n, 0.0, (n as f64).sqrt()).unwrap();
            let normal = NormalDiffusion::new(posterior, normal_metric, normal_skew, 0.5).unwrap();
            normal.asymptotic_variance(&phi).unwrap() - limit
        };
        let (few, many) = (error(2000), error(4000));
        assert!((few / many - 2.0).abs() < 0.05, "{name}: {few:e}, {many:e}");
        assert!(many.abs() < 0.02 * limit, "{name}: {many:e}");
    }
}

#[test]
fn data_enter_the_normal_posterior_through_two_moments() {
    let from_data = NormalPosterior::from_data(&[1.0, 2.0, 4.0, 5.0]).unwrap();
    let direct = NormalPosterior::new(4, 3.0, f64::sqrt(2.5)).unwrap();
    assert_eq!(from_data, direct);
}
