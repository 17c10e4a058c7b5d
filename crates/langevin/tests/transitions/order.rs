//! Biases of unadjusted schemes, against exact answers.

use langevin::chain::{Chains, How, Records};
use langevin::dynamics::Dynamics;
use langevin::models::LinearGaussian;
use langevin::oracle::{Exact, Oracle};
use langevin::real::Real;
use langevin::record::Moments;
use langevin::target::Target;
use langevin::transition::{EulerMaruyama, LeimkuhlerMatthews, StepSize, Transition};
use nalgebra::DMatrix;

use super::common::*;

/// The bias of a scheme's variance on N(0, 1), by a long run: h for Euler–Maruyama, none for the scheme
/// of Leimkuhler and Matthews.
#[test]
fn schemes_have_their_order() {
    // Euler with drift −βx: the stationary variance is 1/(1 − βh/2), exact for this linear chain.
    // The Leimkuhler–Matthews chain has variance 1 for every h. 4096 chains × 4000 steps resolve
    // variances to about 5·10⁻⁴; 4.5 standard errors are a false-alarm rate of 7·10⁻⁶ each.
    let one = DMatrix::identity(1, 1);
    let gaussian = LinearGaussian::new(vec![0.0, 0.0], &(&one * 0.25), &(&one * 0.5)).unwrap();
    let ld = Dynamics::ld(1).with_beta(1.0).unwrap();
    let oracle = Exact::new(&gaussian);
    for h in [0.1, 0.4] {
        let euler = EulerMaruyama::<_>::new(&ld, StepSize::Constant(h)).unwrap();
        let lm = LeimkuhlerMatthews::new(&ld, h).unwrap();
        let (variance, error) = stationary_variance(&oracle, &euler, 4000);
        let exact = 1.0 / (1.0 - h / 2.0);
        assert!(
            (variance - exact).abs() < 4.5 * error,
            "Euler, h = {h}: {variance} ± {error}"
        );
        assert!(
            (variance - 1.0).abs() > 10.0 * error,
            "the test must see Euler's bias"
        );
        let (variance, error) = stationary_variance(&oracle, &lm, 4000);
        assert!(
            (variance - 1.0).abs() < 4.5 * error,
            "LM, h = {h}: {variance} ± {error}"
        );
    }
}

/// Mean square of the states after a burn-in, and its error over chains.
fn stationary_variance(
    oracle: &impl Oracle,
    transition: &impl Transition,
    n_steps: u64,
) -> (f64, f64) {
    let mut chains = Chains::new(1, 0, vec![vec![0.0]; 4096]).unwrap();
    let mut records = Records::new(&chains, oracle, || Moments::new(300));
    chains
        .advance(
            oracle,
            transition,
            300 + n_steps,
            &mut records,
            &How::default(),
        )
        .unwrap();
    let square = |(_, m, lane): (u64, &Moments, usize)| {
        let n = m.count() as f64;
        m.variance(0, lane) * (n - 1.0) / n + m.mean(0, lane).powi(2)
    };
    mean_and_error(&records.chains().map(square).collect::<Vec<_>>())
}

/// A rippled normal density, on which no scheme is exact: the bias of E θ² falls as h for Euler–Maruyama
/// and as h² for Leimkuhler–Matthews.
#[test]
fn biases_fall_with_the_order_of_the_scheme() {
    struct Rippled;
    impl Target for Rippled {
        fn dim(&self) -> usize {
            1
        }
        #[inline(always)]
        fn log_density<R: Real>(&self, theta: &[R]) -> R {
            (theta[0] * 2.0).cos() * 0.7 - theta[0] * theta[0] * 0.5
        }
    }
    // E θ² by quadrature.
    let (mut mass, mut square) = (0.0, 0.0);
    for i in -10_000..=10_000 {
        let x = f64::from(i) * 1e-3;
        let p = Rippled.log_density(&[x]).exp();
        mass += p;
        square += p * x * x;
    }
    let exact = square / mass;
    let ld = Dynamics::ld(1).with_beta(1.0).unwrap();
    let oracle = Exact::new(&Rippled);
    // 4096 chains of these lengths resolve the slopes to about 0.1.
    let slope = |bias: &dyn Fn(f64, u64) -> (f64, f64)| {
        let ((a, error), (b, other)) = (bias(0.2, 40_000), bias(0.1, 160_000));
        let (a, b) = (a - exact, b - exact);
        assert!(
            a.abs() > 8.0 * error && b.abs() > 8.0 * other,
            "biases must be seen: {a} ± {error}, {b} ± {other}"
        );
        (a / b).log2()
    };
    let first = slope(&|h, n| {
        let euler = EulerMaruyama::<_>::new(&ld, StepSize::Constant(h)).unwrap();
        stationary_variance(&oracle, &euler, n / 20)
    });
    let second = slope(&|h, n| {
        let lm = LeimkuhlerMatthews::new(&ld, h).unwrap();
        stationary_variance(&oracle, &lm, n)
    });
    assert!((0.7..1.4).contains(&first), "Euler falls as h^{first}");
    assert!(
        (1.4..2.3).contains(&second),
        "Leimkuhler–Matthews falls as h^{second}"
    );
}
