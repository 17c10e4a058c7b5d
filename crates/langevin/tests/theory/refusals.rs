//! Input that violates a condition is refused by that condition's name.

use langevin::theory::*;
use langevin::{Error, Result};
use nalgebra::{DMatrix, DVector};

#[test]
fn bad_input_is_refused_by_the_condition_it_violates() {
    let identity = DMatrix::<f64>::identity(2, 2);
    let zero = DMatrix::<f64>::zeros(2, 2);
    let origin = DVector::<f64>::zeros(2);
    let upper = DMatrix::from_row_slice(2, 2, &[1.0, 0.5, 0.0, 1.0]);
    let indefinite = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
    let make = |p: &DMatrix<f64>, m: &DVector<f64>, b: &DMatrix<f64>, c: &DMatrix<f64>, beta| {
        LinearDiffusion::new(p, m, b, c, beta)
    };
    let refused = |made: Result<LinearDiffusion>| made.unwrap_err();

    let e = refused(make(&upper, &origin, &identity, &zero, 0.5));
    assert!(
        matches!(
            e,
            Error::NotSymmetric {
                name: "precision",
                ..
            }
        ),
        "{e}"
    );
    let e = refused(make(&indefinite, &origin, &identity, &zero, 0.5));
    assert!(
        matches!(
            e,
            Error::NotPositiveDefinite {
                name: "precision",
                ..
            }
        ),
        "{e}"
    );
    let e = refused(make(&identity, &origin, &indefinite, &zero, 0.5));
    assert!(
        matches!(e, Error::NotPositiveDefinite { name: "metric", .. }),
        "{e}"
    );
    let e = refused(make(&identity, &origin, &identity, &upper, 0.5));
    assert!(matches!(e, Error::NotSkew { .. }), "{e}");
    let e = refused(make(&identity, &DVector::zeros(3), &identity, &zero, 0.5));
    assert!(
        matches!(
            e,
            Error::WrongSize {
                actual: 2,
                expected: 3,
                ..
            }
        ),
        "{e}"
    );
    let e = refused(make(
        &identity,
        &(&origin * f64::NAN),
        &identity,
        &zero,
        0.5,
    ));
    assert!(
        matches!(
            e,
            Error::NotFinite {
                name: "mean",
                index: 0,
                ..
            }
        ),
        "{e}"
    );
    let e = refused(make(&identity, &origin, &identity, &zero, 0.0));
    assert!(matches!(e, Error::NotPositive { name: "beta", .. }), "{e}");

    let diffusion = make(&identity, &origin, &identity, &zero, 0.5).unwrap();
    let e = diffusion
        .asymptotic_variance(&Observable::sum(3))
        .unwrap_err();
    assert!(
        matches!(
            e,
            Error::WrongSize {
                actual: 3,
                expected: 2,
                ..
            }
        ),
        "{e}"
    );
    let e = diffusion
        .batch_means_expectation(&Observable::sum(2), 1, 1.0)
        .unwrap_err();
    assert!(
        matches!(
            e,
            Error::TooFew {
                value: 1,
                min: 2,
                ..
            }
        ),
        "{e}"
    );
    // M = ½I, so the chain is stable below h = 4, and not at 4.
    let e = diffusion.euler_maruyama(4.0, None).unwrap_err();
    assert!(matches!(e, Error::UnstableStep { largest, .. } if (largest - 4.0).abs() < 1e-12));
    assert!(diffusion.euler_maruyama(3.999, None).is_ok());
    let noise = GradientNoise::gaussian(DMatrix::identity(3, 3)).unwrap();
    let e = diffusion.euler_maruyama(0.1, Some(&noise)).unwrap_err();
    assert!(
        matches!(
            e,
            Error::WrongSize {
                actual: 3,
                expected: 2,
                ..
            }
        ),
        "{e}"
    );
    let chain = diffusion.euler_maruyama(0.1, None).unwrap();
    let e = chain
        .running_average(&Observable::sum(2), 0, &origin)
        .unwrap_err();
    assert!(
        matches!(
            e,
            Error::TooFew {
                name: "n_steps",
                ..
            }
        ),
        "{e}"
    );

    let e = GradientNoise::gaussian(DMatrix::zeros(0, 0)).unwrap_err();
    assert!(matches!(e, Error::TooFew { min: 1, .. }), "{e}");
    let e = GradientNoise::gaussian(indefinite).unwrap_err();
    assert!(matches!(e, Error::NotPositiveDefinite { .. }), "{e}");
    let e = GradientNoise::minibatch(&identity, &identity, 3, Sampling::WithoutReplacement);
    assert!(matches!(
        e.unwrap_err(),
        Error::TooMany {
            value: 3,
            max: 2,
            ..
        }
    ));
    let e = Observable::new(origin, upper).unwrap_err();
    assert!(matches!(e, Error::NotSymmetric { .. }), "{e}");

    let e = PlanarChain::new(1.0, 0.4, 2.0).unwrap_err();
    assert!(matches!(e, Error::UnstableStep { .. }), "{e}");
    let e = NormalPosterior::from_data(&[1.0; 5]).unwrap_err();
    assert!(matches!(e, Error::NotPositive { .. }), "{e}");
    let small = NormalPosterior::new(5, 0.0, 1.0).unwrap();
    let e = small.variance(&Observable::sum_of_squares(2)).unwrap_err();
    assert!(
        matches!(
            e,
            Error::TooFew {
                name: "n_data",
                min: 7,
                ..
            }
        ),
        "{e}"
    );
    let e = NormalDiffusion::new(small, NormalMetric::Natural, NormalSkew::None, 0.5);
    assert!(matches!(
        e.err(),
        Some(Error::TooFew {
            name: "n_data",
            min: 11,
            ..
        })
    ));
}
