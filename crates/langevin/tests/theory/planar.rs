//! Closed forms of the isotropic Gaussian in the plane.

use langevin::theory::*;
use nalgebra::{DMatrix, DVector};

use crate::{assert_close, number, reference};

#[test]
fn discretization_curves_are_met() {
    for curve in reference()["discretization"]["curves"].as_array().unwrap() {
        let [a, h, delta] = ["a", "h", "delta"].map(|k| number(&curve[k]));
        let k = curve["K"].as_u64().unwrap() as usize;
        let chain = PlanarChain::new(a, h, delta).unwrap();
        let norm = chain.squared_norm(k).unwrap();
        let variance = chain.running_mean_variance(k).unwrap();
        let expectation = chain.squared_norm_expectation(k).unwrap();
        let per_run = chain.squared_norm_asymptotic_variance() / k as f64;
        // The reference rounds s to ε before it forms 1 − s, of which the expectation of ‖θ‖²
        // holds the first power and its variance the third; its bias is a difference from 1.
        let gap = a * h * (2.0 - a * h * (1.0 + delta * delta));
        let rounding = f64::EPSILON / gap;
        let of_bias = 2.0 * rounding / norm.bias.abs();
        for (key, actual, tolerance) in [
            ("trvar_inf", chain.stationary_variance(), 1e-14),
            ("trvar_thetabar", variance, rounding),
            // The components are uncorrelated and alike, so their sum has this variance too.
            ("var_theta1_plus_theta2", variance, rounding),
            ("E_phi", expectation, rounding),
            ("bias2_phi", norm.bias.powi(2), of_bias),
            ("var_phi", norm.variance, 3.0 * rounding),
            ("asympt_var_phi_over_K", per_run, 3.0 * rounding),
            // These come from a recursion over the steps.
            ("rec_trvar", variance, rounding),
            ("rec_bias2", norm.bias.powi(2), of_bias),
            ("rec_var", norm.variance, 3.0 * rounding),
        ] {
            assert_close(key, actual, number(&curve[key]), tolerance);
        }
    }
}

/// The same formulas evaluated with fifty digits: squared bias and variance of ‖θ‖², and variance
/// of the running mean, where double precision is easily lost to cancellation.
#[test]
fn closed_forms_do_not_cancel() {
    for (delta, bias, variance, linear) in [
        (
            0.0,
            4.009012075136416e-6,
            0.004971239999374058,
            0.009925012506253127,
        ),
        (
            2.0,
            3.945557866690144e-11,
            0.005001149104075817,
            0.002001012531328321,
        ),
        (
            10.0,
            0.0025414590774747375,
            0.005797036360204625,
            9.926078760567155e-5,
        ),
    ] {
        let chain = PlanarChain::new(1.0, 0.001, delta).unwrap();
        let norm = chain.squared_norm(200_000).unwrap();
        // At δ = 2 the bias is 1e-5/2, the difference of two terms of size 5e-3, each with a few
        // roundings: 2 · (a few ε) · 5e-3/1e-5.
        assert_close("squared bias", norm.bias.powi(2), bias, 1e-12);
        assert_close("variance", norm.variance, variance, 1e-14);
        let running = chain.running_mean_variance(200_000).unwrap();
        assert_close("variance of the running mean", running, linear, 1e-14);
    }
}

/// The closed forms are those of the general chain, also far from the paper's parameters.
#[test]
fn planar_chain_is_an_euler_chain() {
    let (a, h, delta, k) = (0.7, 0.11, 1.3, 37);
    let planar = PlanarChain::new(a, h, delta).unwrap();
    let identity = DMatrix::identity(2, 2);
    let mean = DVector::from_vec(vec![0.4, -1.1]);
    let skew = DMatrix::from_row_slice(2, 2, &[0.0, delta, -delta, 0.0]) * 0.5;
    let diffusion =
        LinearDiffusion::new(&(&identity * (2.0 * a)), &mean, &identity, &skew, 0.5).unwrap();
    let chain = diffusion.euler_maruyama(h, None).unwrap();
    let largest = 2.0 / (a * (1.0 + delta * delta));
    assert_close("step", diffusion.largest_stable_step(), largest, 1e-14);

    let trace = chain.stationary_covariance().trace();
    assert_close("trace", planar.stationary_variance(), trace, 1e-13);

    let component = |i: usize| {
        let phi = Observable::new(identity.column(i).into_owned(), DMatrix::zeros(2, 2)).unwrap();
        chain.running_average(&phi, k, &DVector::zeros(2)).unwrap()
    };
    let (first, second) = (component(0), component(1));
    let bias = planar.running_mean_squared_bias(k, mean.norm()).unwrap();
    assert_close(
        "bias",
        bias,
        first.bias.powi(2) + second.bias.powi(2),
        1e-12,
    );
    let variance = planar.running_mean_variance(k).unwrap();
    assert_close(
        "variance",
        variance,
        first.variance + second.variance,
        1e-12,
    );

    // ‖θ − μ‖² differs from ‖θ‖² − 2μ·θ by a constant, which neither bias nor variance see.
    let distance = Observable::new(&mean * -2.0, identity.clone()).unwrap();
    let expected = chain.running_average(&distance, k, &mean).unwrap();
    let actual = planar.squared_norm(k).unwrap();
    assert_close("bias of the norm", actual.bias, expected.bias, 1e-12);
    assert_close(
        "variance of the norm",
        actual.variance,
        expected.variance,
        1e-12,
    );
    let per_time = h * planar.squared_norm_asymptotic_variance();
    assert_close(
        "asymptotic",
        per_time,
        chain.asymptotic_variance(&distance).unwrap(),
        1e-12,
    );
}
