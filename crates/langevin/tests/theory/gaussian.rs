//! Gaussian targets, in continuous time and discretised.

use std::collections::BTreeMap;

use langevin::Result;
use langevin::theory::*;
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

use crate::{assert_close, five, matrix, number, reference, two_observables, vector};

/// One Gaussian reference case: everything but the metric and the skew matrix.
struct GaussianCase {
    precision: DMatrix<f64>,
    mean: DVector<f64>,
    metric: DMatrix<f64>,
    skew: DMatrix<f64>,
    beta: f64,
    step_size: f64,
    /// Gradient noises under the names that the reference gives them.
    noises: Vec<(&'static str, Option<GradientNoise>)>,
    outputs: Value,
}

impl GaussianCase {
    fn printed() -> Self {
        let case = reference()["gaussian"].clone();
        let input = &case["inputs"];
        let minibatch = |sampling| {
            let (data, precision) = (matrix(&input["X"]), matrix(&input["GX"]));
            let n = input["n"].as_u64().unwrap() as usize;
            Some(GradientNoise::minibatch(&data, &precision, n, sampling).unwrap())
        };
        let noises = vec![
            ("exact", None),
            ("sg_rep", minibatch(Sampling::WithReplacement)),
            ("sg_norep", minibatch(Sampling::WithoutReplacement)),
        ];
        Self {
            precision: matrix(&input["Gamma"]),
            mean: vector(&input["mu"]),
            metric: matrix(&input["B"]),
            skew: matrix(&input["J"]),
            beta: number(&input["beta"]),
            step_size: number(&input["h"]),
            noises,
            outputs: case["outputs"].clone(),
        }
    }

    fn implied_by_the_table() -> Self {
        let case = reference()["gaussian_as_table2_implies"].clone();
        let input = &case["inputs"];
        let precision = matrix(&input["Gamma_p"]);
        Self {
            metric: precision.clone().try_inverse().unwrap(),
            precision,
            mean: vector(&input["mu_p"]),
            skew: matrix(&input["J"]),
            beta: number(&input["beta"]),
            step_size: number(&input["h"]),
            noises: vec![("exact", None)],
            outputs: case["outputs"].clone(),
        }
    }

    fn systems(&self) -> Vec<(&'static str, LinearDiffusion)> {
        five(&self.metric, &self.skew)
            .into_iter()
            .map(|(name, b, c)| {
                let made = LinearDiffusion::new(&self.precision, &self.mean, &b, &c, self.beta);
                (name, made.unwrap())
            })
            .collect()
    }

    /// Every number that the reference lists for one system and observable.
    fn answers(&self, diffusion: &LinearDiffusion, phi: &Observable) -> BTreeMap<String, f64> {
        let origin = DVector::zeros(diffusion.dim());
        let (n_batches, batch_steps) = (20, 5000);
        let batch_time = self.step_size * batch_steps as f64;
        let mut answers = BTreeMap::new();
        let mut put = |key: String, value: Result<f64>| answers.insert(key, value.unwrap());
        put("avar_cont".into(), diffusion.asymptotic_variance(phi));
        put(
            "batch20_cont".into(),
            diffusion.batch_means_expectation(phi, n_batches, batch_time),
        );
        for (noise_name, noise) in &self.noises {
            let chain = diffusion
                .euler_maruyama(self.step_size, noise.as_ref())
                .unwrap();
            put(
                format!("avar_em_{noise_name}"),
                chain.asymptotic_variance(phi),
            );
            put(format!("mean_em_{noise_name}"), chain.mean(phi));
            for (start_name, start) in [
                ("stationary", Start::Stationary),
                ("theta0_zero_noburn", Start::At(origin.clone())),
            ] {
                put(
                    format!("batch20_em_{noise_name}_{start_name}"),
                    chain.batch_means_expectation(phi, n_batches, batch_steps, &start),
                );
            }
            for n_steps in [1000, 10_000, 100_000] {
                let moments = chain.running_average(phi, n_steps, &origin);
                let moments = moments.unwrap();
                put(format!("bias_K{n_steps}_{noise_name}"), Ok(moments.bias));
                put(format!("var_K{n_steps}_{noise_name}"), Ok(moments.variance));
            }
        }
        answers
    }

    /// Every listed number must be met.
    ///
    /// One step rounds F = I − hM to ε, which the chain's memory of 1/(h·rate) < 1000 steps
    /// amplifies to 2.2e-13; the tolerance leaves a factor of four.
    fn compare(&self) {
        for (name, diffusion) in self.systems() {
            for (phi_name, phi) in two_observables(diffusion.dim()) {
                let answers = self.answers(&diffusion, &phi);
                let expected = self.outputs[name][phi_name].as_object().unwrap();
                assert_eq!(answers.len(), expected.len(), "some value is not compared");
                let level = diffusion.expectation(&phi).unwrap().abs();
                for (key, value) in expected {
                    let value = number(value);
                    // The reference forms a bias as a difference of two numbers of this level.
                    let scale = if key.starts_with("bias") {
                        level
                    } else {
                        value
                    };
                    let error = ((answers[key] - value) / scale).abs();
                    assert!(error <= 1e-12, "{name} {phi_name} {key}: {error:e}");
                }
            }
        }
    }
}

#[test]
fn gaussian_values_are_met() {
    GaussianCase::printed().compare();
}

#[test]
fn gaussian_values_that_table_2_implies_are_met() {
    GaussianCase::implied_by_the_table().compare();
}

/// h · AVar of the chain = AVar in continuous time + h · 1ᵀΓ⁻¹ Cov(g) Γ⁻¹ 1, at every stable h.
#[test]
fn linear_observables_feel_the_step_through_the_gradient_noise_only() {
    let case = GaussianCase::printed();
    let phi = Observable::sum(3);
    for (name, diffusion) in case.systems() {
        let continuous = diffusion.asymptotic_variance(&phi).unwrap();
        let pull = diffusion.covariance() * DVector::from_element(3, 1.0);
        for (_, noise) in &case.noises {
            for fraction in [0.001, 0.1, 0.9] {
                let h = fraction * diffusion.largest_stable_step();
                let chain = diffusion.euler_maruyama(h, noise.as_ref()).unwrap();
                let added = noise
                    .as_ref()
                    .map_or(0.0, |g| h * (g.covariance() * &pull).dot(&pull));
                let actual = chain.asymptotic_variance(&phi).unwrap();
                assert_close(name, actual, continuous + added, 1e-12);
            }
        }
    }
}

/// The error of the chain against continuous time is of first order in h.
#[test]
fn small_steps_approach_continuous_time() {
    let case = GaussianCase::printed();
    let phi = Observable::square_of_sum(3);
    for (name, diffusion) in case.systems() {
        let (n_batches, batch_time) = (20, 25.0);
        let limits = [
            diffusion.asymptotic_variance(&phi).unwrap(),
            diffusion.expectation(&phi).unwrap(),
            diffusion
                .batch_means_expectation(&phi, n_batches, batch_time)
                .unwrap(),
        ];
        let errors = |batch_steps: usize| {
            let h = batch_time / batch_steps as f64;
            let chain = diffusion.euler_maruyama(h, None).unwrap();
            let stationary = Start::Stationary;
            let batch = chain.batch_means_expectation(&phi, n_batches, batch_steps, &stationary);
            let values = [
                chain.asymptotic_variance(&phi).unwrap(),
                chain.mean(&phi).unwrap(),
                batch.unwrap(),
            ];
            [0, 1, 2].map(|i| values[i] - limits[i])
        };
        let (coarse, fine) = (errors(500), errors(1000));
        for i in 0..3 {
            // Halving h halves the error, up to terms of second order: h · rate < 0.1.
            let ratio = coarse[i] / fine[i];
            assert!((ratio - 2.0).abs() < 0.2, "{name} {i}: ratio {ratio}");
            assert!(fine[i].abs() < 0.05 * limits[i], "{name} {i}: {}", fine[i]);
        }
    }
}

/// One dimension, rate a: batch means are too low by the factor 1 − (1 − e^{−ab})/(ab), up to the
/// correlation between batches, which the exact sum over pairs contains.
#[test]
fn batch_means_of_a_scalar_process() {
    let scalar = |x: f64| DMatrix::from_element(1, 1, x);
    let (a, b, n) = (0.3, 4.0, 7);
    let diffusion = LinearDiffusion::new(
        &scalar(1.0),
        &DVector::zeros(1),
        &scalar(a),
        &scalar(0.0),
        1.0,
    )
    .unwrap();
    // Average of e^{−a|t−s|} over t, s in batches k apart, from its double integral.
    let within = 2.0 * (a * b - 1.0 + (-a * b).exp()) / (a * b).powi(2);
    let apart = |k: f64| ((1.0 - (-a * b).exp()) / (a * b)).powi(2) * (-a * b * (k - 1.0)).exp();
    let pairs: f64 = (1..n).map(|k| (n - k) as f64 * apart(k as f64)).sum();
    let expected = b * (within - 2.0 * pairs / (n * (n - 1)) as f64);
    let actual = diffusion.batch_means_expectation(&Observable::sum(1), n, b);
    assert_close("scalar batch means", actual.unwrap(), expected, 1e-13);
}

/// Batches of a time b are biased by O(1/b): here 1/b is 1e-6, and the relaxation time at most 5.
#[test]
fn batch_means_of_long_batches_are_unbiased() {
    let case = GaussianCase::printed();
    for (name, diffusion) in case.systems() {
        for (_, phi) in two_observables(3) {
            let batch = diffusion.batch_means_expectation(&phi, 20, 1e6);
            let avar = diffusion.asymptotic_variance(&phi).unwrap();
            assert_close(name, batch.unwrap(), avar, 5e-6);
        }
    }
}

/// The law of the noise beyond its covariance is seen by quadratic observables only.
#[test]
fn gaussian_noise_of_the_same_covariance_differs_for_quadratic_observables_only() {
    let case = GaussianCase::printed();
    let minibatch = case.noises[1].1.clone().unwrap();
    let gaussian = GradientNoise::gaussian(minibatch.covariance().clone()).unwrap();
    for (name, diffusion) in case.systems() {
        let avar = |noise: &GradientNoise, phi: &Observable| {
            let chain = diffusion.euler_maruyama(case.step_size, Some(noise));
            chain.unwrap().asymptotic_variance(phi).unwrap()
        };
        let linear = Observable::sum(3);
        assert_close(
            name,
            avar(&gaussian, &linear),
            avar(&minibatch, &linear),
            1e-14,
        );
        let squares = Observable::sum_of_squares(3);
        let excess = avar(&gaussian, &squares) / avar(&minibatch, &squares) - 1.0;
        assert!(excess > 1e-8 && excess < 1e-6, "{name}: {excess:e}");
    }
}

/// In twenty dimensions a chain of independent components is the sum of its parts.
#[test]
fn twenty_independent_dimensions_add_up() {
    let d = 20;
    let rates: Vec<f64> = (0..d).map(|i| 0.5 + 0.1 * i as f64).collect();
    let diffusion_of = |rates: &[f64]| {
        let d = rates.len();
        let precision = DMatrix::from_diagonal(&DVector::from_column_slice(rates));
        let identity = DMatrix::identity(d, d);
        let zero = DMatrix::zeros(d, d);
        LinearDiffusion::new(&precision, &DVector::zeros(d), &identity, &zero, 0.5).unwrap()
    };
    let moments = |rates: &[f64]| {
        let chain = diffusion_of(rates).euler_maruyama(0.05, None).unwrap();
        let phi = Observable::sum_of_squares(rates.len());
        let theta0 = DVector::from_element(rates.len(), 1.5);
        chain.running_average(&phi, 300, &theta0).unwrap()
    };
    let whole = moments(&rates);
    let parts: Vec<Moments> = rates.iter().map(|&r| moments(&[r])).collect();
    let bias: f64 = parts.iter().map(|m| m.bias).sum();
    let variance: f64 = parts.iter().map(|m| m.variance).sum();
    assert_close("bias", whole.bias, bias, 1e-12);
    assert_close("variance", whole.variance, variance, 1e-12);
}
