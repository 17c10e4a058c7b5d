//! Tests of the kernel Stein discrepancy that need no stored numbers.

use super::pairs::{Differences, Sums};
use super::rows::{row_sums, rows_of};
use super::*;
use crate::real::Isa;
use crate::stat::testing::{TestRng, z_score};

fn negated(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| -x).collect()
}

/// `k₀(x, y)` through the public function: the double sum of two points has four terms.
fn stein_kernel(x: [&[f64]; 2], b: [&[f64]; 2], kernel: Kernel) -> f64 {
    let dim = x[0].len();
    let alone = |i: usize| ksd(x[i], b[i], dim, kernel).unwrap().powi(2);
    let both = ksd(&x.concat(), &b.concat(), dim, kernel).unwrap();
    (4.0 * both * both - alone(0) - alone(1)) / 2.0
}

/// `k₀` from its definition, with finite differences of the kernel.
fn by_differences(x: [&[f64]; 2], b: [&[f64]; 2], c: f64, e: f64) -> f64 {
    let h = 1e-4;
    let k = |i: usize, dx: f64, dy: f64| {
        let step = |v: f64, at: usize, d: f64| if at == i { v + d } else { v };
        let squares =
            (0..x[0].len()).map(|j| (step(x[0][j], j, dx) - step(x[1][j], j, dy)).powi(2));
        (c * c + squares.sum::<f64>()).powf(e)
    };
    (0..x[0].len())
        .map(|i| {
            let in_x = (k(i, h, 0.0) - k(i, -h, 0.0)) / (2.0 * h);
            let in_y = (k(i, 0.0, h) - k(i, 0.0, -h)) / (2.0 * h);
            let mixed = (k(i, h, h) - k(i, h, -h) - k(i, -h, h) + k(i, -h, -h)) / (4.0 * h * h);
            b[0][i] * b[1][i] * k(i, 0.0, 0.0) + b[0][i] * in_y + b[1][i] * in_x + mixed
        })
        .sum()
}

#[test]
fn formula_agrees_with_finite_differences_of_the_kernel() {
    let mut rng = TestRng::new(1);
    for (c, e) in [
        (1.0, -0.5),
        (0.7, -0.5),
        (1.0, -0.3),
        (1.6, -0.9),
        (0.8, -0.05),
    ] {
        let kernel = Kernel::new(c, e).unwrap();
        for dim in 1..=4 {
            let v: Vec<_> = (0..4).map(|_| rng.normals(dim)).collect();
            let (x, b) = ([&v[0][..], &v[1]], [&v[2][..], &v[3]]);
            let (got, want) = (stein_kernel(x, b, kernel), by_differences(x, b, c, e));
            // Fourth derivatives of k are below 1e3 for c ≥ 0.7, so truncation is h² 1e3 / 6 ≈ 2e-6
            // at worst in each of at most 4 components; rounding is ε/h² ≈ 2e-8.
            assert!(
                (got - want).abs() < 1e-5,
                "c {c} e {e} d {dim}: {got} {want}"
            );
        }
    }
}

#[test]
fn inverse_root_exponent_is_continuous_with_its_neighbours() {
    let x = TestRng::new(2).normals(3 * 50);
    let b = negated(&x);
    let at = |e| ksd(&x, &b, 3, Kernel::new(1.3, e).unwrap()).unwrap();
    // The special case and the general power differ by the slope times 1e-10.
    assert!((at(-0.5) - at(-0.5 + 1e-10)).abs() < 1e-9);
    assert!((at(-0.5) - at(-0.5 - 1e-10)).abs() < 1e-9);
}

#[test]
fn curve_holds_the_value_of_every_prefix() {
    let dim = 3;
    let x = TestRng::new(3).normals(dim * 100);
    let b = negated(&x);
    let curve = ksd_curve(&x, &b, dim, Kernel::default()).unwrap();
    assert_eq!(curve.len(), 100);
    for n in 1..=100 {
        let prefix = ksd(&x[..n * dim], &b[..n * dim], dim, Kernel::default()).unwrap();
        // Points are counted from the mean of all, so the two round differently: each term, of size
        // about 1, by some 10 ε. There are n² of them, and they add up to about 2dn.
        let error = 10.0 * f64::EPSILON * n as f64 / (2 * dim) as f64;
        let relative = curve[n - 1] / prefix - 1.0;
        assert!(
            relative.abs() < error + 3.0 * f64::EPSILON,
            "{n}: {relative:e}"
        );
    }
}

#[test]
fn curve_agrees_with_the_plain_double_sum() {
    let (dim, n) = (2, 45);
    let x = TestRng::new(4).normals(dim * n);
    let b = negated(&x);
    let mut sum = 0.0;
    for i in 0..n {
        for j in 0..n {
            let row = |v: &[f64], k: usize| [v[k * dim], v[k * dim + 1]];
            let (xi, xj, bi, bj) = (row(&x, i), row(&x, j), row(&b, i), row(&b, j));
            let d = [xi[0] - xj[0], xi[1] - xj[1]];
            let q = d[0] * d[0] + d[1] * d[1];
            let rho: f64 = 1.0 + q;
            let along = (bi[0] - bj[0]) * d[0] + (bi[1] - bj[1]) * d[1];
            sum += (bi[0] * bj[0] + bi[1] * bj[1]) * rho.powf(-0.5)
                + (along + dim as f64) * rho.powf(-1.5)
                - 3.0 * q * rho.powf(-2.5);
        }
    }
    let got = ksd(&x, &b, dim, Kernel::default()).unwrap();
    // 2025 terms of size about 2, each with a few roundings: absolute error of the sum ≤ 1e-11.
    assert!((got * n as f64 - sum.sqrt()).abs() < 1e-11, "{got}");
}

#[test]
fn order_of_the_points_does_not_matter() {
    let (dim, n) = (9, 333);
    let x = TestRng::new(5).normals(dim * n);
    let reversed: Vec<f64> = x.chunks(dim).rev().flatten().copied().collect();
    let value = |x: &[f64]| ksd(x, &negated(x), dim, Kernel::default()).unwrap();
    // Another order changes each row sum by at most (n/16) ε times its absolute terms. Those add
    // up to about n² (off the diagonal |k₀| is about 1), the sum itself to 2dn: relative error
    // (n/16) ε n / 2d = 385 ε of the sum, half of it after the root.
    let (a, b) = (value(&x), value(&reversed));
    assert!((a - b).abs() < n as f64 * f64::EPSILON * a, "{a} {b}");
    assert_ne!(curve_head(&x, dim), curve_head(&reversed, dim));
}

fn curve_head(x: &[f64], dim: usize) -> f64 {
    ksd_curve(x, &negated(x), dim, Kernel::default()).unwrap()[10]
}

#[test]
fn repeated_and_close_points_lose_no_digits() {
    // Far from the origin, where expanding |x − y|² would leave no correct digit.
    let (x, b) = ([1e8, 1e8, 1e8 + 1e-3], [0.3, 0.3, -0.2]);
    let got = ksd(&x, &b, 1, Kernel::default()).unwrap();
    let d = 1e8_f64 + 1e-3 - 1e8;
    let rho = 1.0 + d * d;
    let near =
        -0.06 / rho.sqrt() + (-0.5 * d + 1.0) * rho.powf(-1.5) - 3.0 * d * d * rho.powf(-2.5);
    let sum = 4.0 * 1.09 + 1.04 + 4.0 * near;
    assert!((got - f64::sqrt(sum) / 3.0).abs() < 1e-15);
}

/// Points within the reach of sums, one of them well out: both ways give the same row sums.
#[test]
fn sums_equal_differences() {
    for (dim, n) in [(1, 70), (2, 33), (9, 200), (13, 97)] {
        for (c, e) in [(1.0, -0.5), (0.3, -0.5), (2.5, -0.8)] {
            let kernel = Kernel::new(c, e).unwrap();
            let mut rng = TestRng::new(9);
            let mut x: Vec<f64> = rng.normals(dim * n).iter().map(|x| 2.0 * c * x).collect();
            // Far from the origin, as sums count from the mean, and one point apart from the others.
            x[0] += 9.0 * c;
            x.iter_mut().for_each(|x| *x += 1e3 * c);
            let b: Vec<f64> = rng.normals(dim * n).iter().map(|b| b / c).collect();
            let level = (Isa::Portable, 1);
            let sums = Sums::new(&x, &b, dim, kernel).expect("within reach");
            let sums = rows_of(&sums, n, kernel, level);
            let differences = rows_of(&Differences::new(&x, &b, dim, kernel), n, kernel, level);
            for (i, (s, d)) in sums.iter().zip(&differences).enumerate() {
                // ε d 16² for each term (and ε 10³ for the place), in units of k₀(x, x) or more.
                let unit = (dim * (256 * dim + 1000)) as f64 * c.powf(2.0 * e - 2.0);
                let error = unit * f64::EPSILON;
                assert!((s.diagonal - d.diagonal).abs() < error, "c {c} d {dim} {i}");
                let below = (s.below - d.below).abs();
                assert!(below <= i as f64 * error, "c {c} d {dim} {i}: {below:e}");
                // The bound is far below the size of what it bounds.
                assert!(error < 1e-7 * d.diagonal);
            }
        }
    }
}

/// Two pairs of close points 16 lengths from their mean: the most that cancels.
#[test]
fn sums_reach_to_their_edge() {
    let kernel = Kernel::default();
    let at = |reach: f64| [-reach, -reach + 1e-3, reach - 1e-3, reach];
    let b = [0.4, -0.3, 0.2, -0.6];
    assert!(Sums::new(&at(16.01), &b, 1, kernel).is_none());
    let x = at(15.99);
    let level = (Isa::Portable, 1);
    let sums = rows_of(&Sums::new(&x, &b, 1, kernel).unwrap(), 4, kernel, level);
    let differences = rows_of(&Differences::new(&x, &b, 1, kernel), 4, kernel, level);
    for (s, d) in sums.iter().zip(&differences) {
        // A few roundings of numbers of 16² and more, in at most three terms.
        assert!((s.below - d.below).abs() < 3.0 * 4.0 * 256.0 * f64::EPSILON);
    }
}

#[test]
fn points_that_lie_apart_are_not_for_sums() {
    // Two far clusters: the mean is far from both, and ρ of close points would have no digit left.
    let x = [0.0, 0.0, 1e8, 1e8 + 1e-3];
    let b = [0.1, -0.4, 0.3, -0.2];
    assert!(Sums::new(&x, &b, 1, Kernel::default()).is_none());
    let rows = row_sums(&x, &b, 1, Kernel::default(), (Isa::Portable, 1));
    let d = x[3] - x[2];
    let rho = 1.0 + d * d;
    let near =
        -0.06 / rho.sqrt() + (-0.5 * d + 1.0) * rho.powf(-1.5) - 3.0 * d * d * rho.powf(-2.5);
    // The other cluster adds terms of 1e-8 and less: b b' / |D|, and (b − b') D / |D|³ of 1e-16.
    let far = -0.2 * (0.1 - 0.4) / 1e8;
    assert!((rows[3].below - near - far).abs() < 1e-14);
}

/// Points in units of `c` have the discrepancy of `c = 1` over `c^(3/2)`, for any `c`.
#[test]
fn extreme_lengths_change_the_units_alone() {
    let x = TestRng::new(10).normals(60);
    let want = ksd(&x, &negated(&x), 2, Kernel::default()).unwrap();
    for c in [1e-60, 1e-20, 1e20, 1e60, 1e90] {
        let points: Vec<f64> = x.iter().map(|x| x * c).collect();
        let scores: Vec<f64> = x.iter().map(|x| -x / c).collect();
        let kernel = Kernel::new(c, -0.5).unwrap();
        let got = ksd(&points, &scores, 2, kernel).unwrap() * c * c.sqrt();
        assert!((got / want - 1.0).abs() < 1e-12, "c {c}: {got} {want}");
    }
    // (c²)^(−3/2) would be 0.
    let kernel = Kernel::new(1e120, -0.5).unwrap();
    assert!(Sums::new(&x, &x, 2, kernel).is_none());
    // Scores whose squares would overflow in units of c, but not as they are.
    let steep: Vec<f64> = x.iter().map(|x| x * 1e150).collect();
    assert!(Sums::new(&x, &steep, 2, Kernel::new(1e50, -0.5).unwrap()).is_none());
}

#[test]
fn every_instruction_set_and_thread_count_gives_the_same_bits() {
    for (dim, n) in [(1, 70), (2, 33), (9, 200), (13, 97)] {
        let mut rng = TestRng::new(6);
        let (x, b) = (rng.normals(dim * n), rng.normals(dim * n));
        // The last kernel is too short for sums.
        for (c, e) in [(1.0, -0.5), (0.9, -0.3), (0.05, -0.5)] {
            let kernel = Kernel::new(c, e).unwrap();
            assert_eq!(Sums::new(&x, &b, dim, kernel).is_none(), c < 0.1);
            let want = row_sums(&x, &b, dim, kernel, (Isa::Portable, 1));
            let widths = [1, 4, 8, 16];
            let levels = Isa::available()
                .into_iter()
                .flat_map(|isa| widths.map(|width| (isa, width)));
            for level in levels {
                for threads in [1, 2, 5] {
                    let pool = rayon::ThreadPoolBuilder::new()
                        .num_threads(threads)
                        .build()
                        .unwrap();
                    let got = pool.install(|| row_sums(&x, &b, dim, kernel, level));
                    assert!(got == want, "{level:?}, {threads} threads, dim {dim}");
                }
            }
        }
    }
}

/// z-score of `K · KSD²` of normal draws against `E k₀(x, x) = 2d`, its mean if they are exact.
fn z_of_scaled_square(k: usize, shift: f64, seed: u64) -> f64 {
    let dim = 2;
    let mut rng = TestRng::new(seed);
    let values: Vec<f64> = (0..200)
        .map(|_| {
            let x = rng.normals(dim * k);
            let score: Vec<f64> = x.iter().map(|x| shift - x).collect();
            let d = ksd(&x, &score, dim, Kernel::default()).unwrap();
            k as f64 * d * d
        })
        .collect();
    z_score(&values, 2.0 * dim as f64)
}

/// False-alarm rate: two tests at |z| < 4.5, 1.4e-5 in all (normal tails; the mean of 200
/// replications is close to normal).
#[test]
fn exact_draws_converge_at_the_root_rate_and_a_wrong_target_does_not() {
    for k in [50, 800] {
        let z = z_of_scaled_square(k, 0.0, 7);
        assert!(z.abs() < 4.5, "K {k}: z = {z}");
        // Negative control: the score of a normal with mean 0.3 in both coordinates.
        let z = z_of_scaled_square(k, 0.3, 7);
        assert!(z > 10.0, "K {k}, wrong target: z = {z}");
    }
}

#[test]
fn inverse_root_is_accurate_over_the_whole_range() {
    let mut rng = TestRng::new(8);
    for _ in 0..20_000 {
        let x = 2f64.powf(2000.0 * rng.uniform() - 1000.0);
        let relative = super::rows::inverse_root(x) * x.sqrt() - 1.0;
        // 2 ulp of the function, and half an ulp each of the root and the product.
        assert!(relative.abs() <= 3.0 * f64::EPSILON, "{x:e}: {relative:e}");
    }
}

#[test]
fn bad_input_is_refused_with_its_reason() {
    let k = Kernel::default();
    let text = |r: Result<f64>| r.unwrap_err().to_string();
    assert!(text(ksd(&[], &[], 1, k)).contains("number of points"));
    assert!(text(ksd(&[1.0], &[1.0], 0, k)).contains("dimension"));
    assert!(text(ksd(&[1.0; 3], &[1.0; 3], 2, k)).contains("points"));
    assert!(text(ksd(&[1.0; 4], &[1.0; 3], 2, k)).contains("scores has size 3, but 4"));
    assert!(
        text(ksd(&[1.0, f64::NAN], &[0.0; 2], 1, k)).contains("points holds NaN at position 1")
    );
    assert!(text(ksd(&[1.0], &[f64::INFINITY], 1, k)).contains("scores holds inf"));
    assert!(text(ksd(&[1e200, -1e200], &[0.0; 2], 1, k)).contains("too large"));
    for c in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200, 1e-200] {
        assert!(Kernel::new(c, -0.5).is_err(), "c = {c}");
    }
    for e in [0.0, -1.0, 0.5, -1.5, f64::NAN] {
        assert!(Kernel::new(1.0, e).is_err(), "e = {e}");
    }
}
