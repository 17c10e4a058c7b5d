//! Scores by hand, against dual numbers; and of minibatches.

use langevin::models::LinearGaussian;
use langevin::oracle::scores_at;
use langevin::real::{Isa, Kernel, Lanes};
use langevin::target::{Subsampled, Target, score_at};

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

/// Log density and score in one pass, against one after the other: any number of rows and features, and
/// products from a thousandth to ±700, rounded to 1 or all but 0.
#[test]
fn logistic_density_and_score_in_one_pass() {
    let mut rng = Rng::new(22, 0, Stream::Setup);
    for (n, dim) in [(1, 1), (7, 3), (8, 20), (9, 5), (21, 1), (64, 2), (400, 20)] {
        let features: Vec<f64> = (0..n * dim).map(|_| rng.normal()).collect();
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
        let largest = features
            .chunks(dim)
            .map(|x| x.iter().map(|x| x.abs()).sum());
        let largest = largest.fold(0.0, f64::max);
        let model = LogisticRegression::new(features.clone(), dim, &labels, 1e-6).unwrap();
        for size in [1e-3, 1.0, 30.0, 300.0, 700.0] {
            let signs = (0..dim).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 });
            let theta: Vec<f64> = signs.map(|s| s * size / largest).collect();
            let mut scratch = vec![f64::NAN; model.scratch_len()];
            let (mut alone, mut both) = (vec![0.0; dim], vec![0.0; dim]);
            model.score(&theta, &mut scratch, &mut alone);
            let value = model.log_density_and_score(&theta, &mut scratch, &mut both);
            let known = model.log_density(&theta);
            // A sum of n terms that are rounded as numbers near 1 are.
            let scale = known.abs().max(n as f64);
            assert!(
                (value - known).abs() < 1e-13 * scale,
                "{n} × {dim}, {size}: {value}, {known}"
            );
            for i in 0..dim {
                let terms = features.iter().skip(i).step_by(dim).map(|x| x.abs());
                let scale: f64 = terms.sum();
                let apart = (both[i] - alone[i]).abs();
                assert!(apart < 1e-13 * scale, "{n} × {dim}, {size}: {apart}");
            }
        }
    }
}

/// Far beyond what an exponential can hold, and where there is no number.
#[test]
fn logistic_density_and_score_far_out() {
    let model = LogisticRegression::new(vec![1.0, -2.0, 3.0], 1, &[1.0, 1.0, 0.0], 1e-9).unwrap();
    let at = |theta: f64| {
        let mut score = [0.0];
        let mut scratch = vec![0.0; model.scratch_len()];
        let value = model.log_density_and_score(&[theta], &mut scratch, &mut score);
        (value, score[0])
    };
    for theta in [709.0, 1e4, 1e100] {
        // −log(1 + e^(−x·θ)) of rows 1, −2 and −3 (with the signs of the labels) is 0, −2θ and −3θ.
        let (value, score) = at(theta);
        let prior = 0.5e-9 * theta * theta;
        assert!((value + 5.0 * theta + prior).abs() < 1e-13 * (5.0 * theta + prior));
        assert!((score + 5.0 + 1e-9 * theta).abs() < 1e-13 * (5.0 + 1e-9 * theta));
        let (value, score) = at(-theta);
        assert!((value + theta + prior).abs() < 1e-13 * (theta + prior));
        assert!((score - 1.0 - 1e-9 * theta).abs() < 1e-13 * (1.0 + 1e-9 * theta));
    }
    let (value, score) = at(f64::NAN);
    assert!(value.is_nan() && score.is_nan());
}

/// The same bits one chain at a time and in lanes, on every instruction set.
#[test]
fn logistic_density_and_score_have_the_same_bits_everywhere() {
    /// All states, as many at once as there are lanes.
    struct Both<'a>(&'a LogisticRegression, &'a [Vec<f64>]);
    impl Kernel for Both<'_> {
        type Output = Vec<u64>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<u64> {
            let d = self.1[0].len();
            let mut bits = vec![];
            for states in self.1.chunks_exact(L::WIDTH) {
                let lanes = |i: usize| states.iter().map(|s| s[i]).collect::<Vec<f64>>();
                let theta: Vec<L> = (0..d).map(|i| L::load(&lanes(i))).collect();
                let mut score = vec![L::zero(); d];
                let mut scratch = vec![L::of(f64::NAN); self.0.scratch_len()];
                let value = self
                    .0
                    .log_density_and_score(&theta, &mut scratch, &mut score);
                for lane in 0..L::WIDTH {
                    bits.push(value.lane(lane).to_bits());
                    bits.extend(score.iter().map(|s| s.lane(lane).to_bits()));
                }
            }
            bits
        }
    }
    let mut rng = Rng::new(23, 0, Stream::Setup);
    for (n, dim) in [(3, 1), (13, 4), (40, 20)] {
        let features = (0..n * dim).map(|_| rng.normal()).collect();
        let labels: Vec<f64> = (0..n).map(|i| f64::from(i % 3 == 0)).collect();
        let model = LogisticRegression::new(features, dim, &labels, 0.7).unwrap();
        let mut state = |k: i32| -> Vec<f64> {
            let size = 2f64.powi(k % 8 - 2);
            (0..dim).map(|_| size * rng.normal()).collect()
        };
        let states: Vec<Vec<f64>> = (0..32).map(&mut state).collect();
        let known = Isa::Portable.run(1, Both(&model, &states));
        assert_eq!(known.len(), 32 * (dim + 1));
        for isa in Isa::available() {
            for width in [1, 8, 16] {
                assert_eq!(isa.run(width, Both(&model, &states)), known, "{isa:?}");
            }
        }
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
