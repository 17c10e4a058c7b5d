//! The maps themselves: Jacobians, scores, round trips, extremes, lanes.

use langevin::contract;
use langevin::dynamics::Dynamics;
use langevin::models::NormalParameters;
use langevin::oracle::{Exact, Minibatch, log_densities_at, scores_at};
use langevin::real::{Dual, along_axis, gradient};
use langevin::scale::{Constrained, Scale};
use langevin::target::{Posterior, Rows, Subsampled, score_at};
use langevin::transition::{EulerMaruyama, Mala, StepSize};
use nalgebra::DMatrix;

use super::common::assert_close;
use super::*;

/// x and log |J| at u, in numbers of any type.
fn constrain<R: Real>(layout: &Layout, u: &[R]) -> (Vec<R>, R) {
    let mut slopes = vec![R::of(f64::NAN); layout.free_size()];
    let mut x = vec![R::of(f64::NAN); layout.size()];
    let log_jacobian = layout.constrain(u, &mut slopes, &mut x);
    (x, log_jacobian)
}

/// ∂x/∂u by dual numbers.
fn derivatives(layout: &Layout, u: &[f64]) -> DMatrix<f64> {
    let mut j = DMatrix::zeros(layout.size(), layout.free_size());
    for axis in 0..u.len() {
        let mut f = |u: &[Dual<f64>]| constrain(layout, u).0;
        let column = along_axis(u, axis, &mut f);
        for (i, x) in column.iter().enumerate() {
            j[(i, axis)] = x.tangent;
        }
    }
    j
}

/// The elements that the volume of a scale is measured in.
fn measured(scale: Scale, shape: &[usize]) -> Vec<usize> {
    let n: usize = shape.iter().product();
    let last = shape.last().copied().unwrap_or(1);
    let (row, column) = (|i: usize| i / last % last, |i: usize| i % last);
    (0..n)
        .filter(|i| match scale {
            Scale::Simplex => i % last < last - 1,
            Scale::CorrelationCholesky => column(*i) < row(*i),
            _ => true,
        })
        .collect()
}

#[test]
fn jacobians_are_determinants() {
    let mut rng = random(1);
    for text in EACH {
        let layout = layout(text);
        let block = &layout.blocks()[0];
        for sd in [0.0, 0.5, 2.0] {
            let u = normals(&mut rng, layout.free_size(), sd);
            if block.scale == Scale::UnitVector {
                continue;
            }
            let j = derivatives(&layout, &u);
            let kept = measured(block.scale, &block.parameter.shape);
            let log_det = j.select_rows(&kept).determinant().abs().ln();
            let (_, log_jacobian) = constrain(&layout, &u);
            let off = (log_jacobian - log_det).abs();
            assert!(
                off < 1e-11 * (1.0 + log_det.abs()),
                "{text}: {log_jacobian}, {log_det}"
            );
        }
    }
}

/// du = rᴷ⁻¹ dr dS and dS = dx₁ … dx_{K−1} / |x_K|, and the density of r is rᴷ⁻¹ exp(−½r²).
#[test]
fn directions_and_lengths_are_independent() {
    let layout = layout("v[3]: unit_vector");
    let mut rng = random(2);
    for _ in 0..5 {
        let u = normals(&mut rng, 3, 1.0);
        let r = u.iter().map(|u| u * u).sum::<f64>().sqrt();
        let mut j = derivatives(&layout, &u);
        for axis in 0..3 {
            j[(2, axis)] = u[axis] / r;
        }
        let (x, value) = constrain(&layout, &u);
        let log_det = j.determinant().abs().ln();
        assert!((log_det - (x[2].abs().ln() - 2.0 * r.ln())).abs() < 1e-12);
        assert!((value + 0.5 * r * r).abs() < 1e-14 * r * r);
    }
}

#[test]
fn scores_equal_dual_numbers() {
    let mut rng = random(3);
    for text in EACH.into_iter().chain([ALL]) {
        let layout = layout(text);
        let target = Constrained::new(Uneven(layout.size()), layout).unwrap();
        for sd in [0.0, 0.5, 2.0] {
            let mut u = normals(&mut rng, target.dim(), sd);
            if sd == 0.0 {
                // (0 has no direction.)
                u.fill(1e-3);
            }
            let mut by_duals = vec![0.0; u.len()];
            gradient(&u, &mut by_duals, |u: &[Dual<f64>]| target.log_density(u));
            assert_close(text, &score_at(&target, &u), &by_duals, 1e-12);
            let mut scratch = vec![f64::NAN; target.scratch_len()];
            let mut score = vec![f64::NAN; u.len()];
            let value = target.log_density_and_score(&u, &mut scratch, &mut score);
            assert_eq!(score, score_at(&target, &u), "{text}");
            let alone = target.log_density(&u);
            assert!((value - alone).abs() <= 1e-13 * alone.abs(), "{text}");
        }
    }
}

/// At the origin, too, where chains start if nothing else is said.
#[test]
fn scores_at_the_origin() {
    let layout = layout(
        "s: positive, c: interval(0, 1), d[3]: ordered, p[3]: simplex, l[2,2]: correlation_cholesky",
    );
    let target = Constrained::new(Uneven(layout.size()), layout).unwrap();
    let u = vec![0.0; target.dim()];
    let mut by_duals = vec![0.0; u.len()];
    gradient(&u, &mut by_duals, |u: &[Dual<f64>]| target.log_density(u));
    assert_close("origin", &score_at(&target, &u), &by_duals, 1e-13);
}

#[test]
fn round_trips() {
    let mut rng = random(4);
    for text in EACH.into_iter().chain([ALL]) {
        let layout = layout(text);
        for sd in [0.01, 1.0, 4.0] {
            let u = normals(&mut rng, layout.free_size(), sd);
            let x = layout.constrain_state(&u).unwrap();
            let again = layout.free_state(&x).unwrap();
            assert_close(text, &layout.constrain_state(&again).unwrap(), &x, 1e-12);
            // (The length of a free direction is without meaning.)
            if !text.contains("unit_vector") {
                assert_close(text, &again, &u, if sd > 2.0 { 1e-6 } else { 1e-12 });
            }
        }
    }
}

/// Free coordinates far out: x stays inside, and nothing becomes NaN.
#[test]
fn extremes() {
    let sizes = [0.0, 1e-300, 1e-9, 20.0, 37.0, 300.0, 690.0, 705.0, 709.0];
    let far = [711.0, 745.0, 1e4, 1e15, 1e100];
    let signed = |u: &[f64]| u.iter().flat_map(|u| [*u, -*u]).collect::<Vec<_>>();
    // A density as steep as they come: log x + log(1 − x) and the like have scores of 1/distance.
    let check = |text: &str, u: f64, v: f64| {
        let layout = layout(text);
        let all = vec![[u, v]; layout.free_size()].concat();
        let u = &all[..layout.free_size()];
        let (x, log_jacobian) = constrain(&layout, u);
        assert!(log_jacobian.is_finite(), "{text} at {u:?}: {log_jacobian}");
        let scale = layout.blocks()[0].scale;
        let (mut slopes, mut again) = (vec![0.0; u.len()], x.clone());
        layout.constrain(u, &mut slopes, &mut again);
        let score: Vec<f64> = x
            .iter()
            .map(|x| match scale {
                Scale::Interval(low, high) => {
                    assert!(low < *x && *x < high, "{text} at {u:?}: {x:e}");
                    3.0 / (x - low) - 5.0 / (high - x)
                }
                Scale::Positive | Scale::Simplex => {
                    assert!(*x > 0.0 && x.is_finite(), "{text} at {u:?}: {x:e}");
                    3.0 / x
                }
                Scale::Above(low) => {
                    assert!(*x > low, "{text} at {u:?}: {x:e}");
                    3.0 / (x - low)
                }
                Scale::Below(high) => {
                    assert!(*x < high, "{text} at {u:?}: {x:e}");
                    -3.0 / (high - x)
                }
                _ => 1.0,
            })
            .collect();
        let mut out = vec![f64::NAN; u.len()];
        layout.pull_back(u, &slopes, &x, &score, &mut out);
        assert!(
            out.iter().all(|g| g.is_finite()),
            "{text} at {u:?}: {out:?}"
        );
    };
    let everywhere = [
        "a: interval(0, 1)",
        "a: interval(-1, 0)",
        "a[2]: interval(3, 4)",
        "p[2]: simplex",
        "p[5]: simplex",
        "l[4,4]: correlation_cholesky",
    ];
    for text in everywhere {
        for u in signed(&sizes).into_iter().chain(signed(&far)) {
            for v in signed(&[0.0, 2.0, 800.0]).into_iter().chain([u]) {
                check(text, u, v);
            }
        }
    }
    for text in [
        "a: positive",
        "a: above(-2)",
        "a: above(5)",
        "a: below(-2)",
        "a: below(0)",
        "a[3]: ordered",
    ] {
        for u in signed(&sizes).into_iter().chain(far.map(|u| -u)) {
            check(text, u, u);
        }
    }
}

/// Far out the numbers are right to their last digits, not only finite.
#[test]
fn digits_far_out() {
    let at = |text: &str, u: f64| {
        let (x, log_jacobian) = constrain(&layout(text), &[u]);
        (x[0], log_jacobian)
    };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 4e-16;
    // e⁻⁴⁰ and log(1 + e⁻⁴⁰).
    let tiny = 4.248354255291589e-18;
    assert!(near(at("a: interval(0, 1)", -40.0).0, tiny));
    assert!(near(at("a: interval(-1, 0)", 40.0).0, -tiny));
    assert!(near(at("a: interval(0, 1)", -40.0).1, -40.0));
    assert!(near(at("a: interval(0, 8)", 1e6).1, -1e6 + 8f64.ln()));
    // (The exponent is rounded to some 10⁻¹⁴.)
    let p = at("p[2]: simplex", -40.0 / 2f64.sqrt()).0;
    assert!((p / tiny - 1.0).abs() < 2e-14);
    assert!(near(
        at("p[2]: simplex", -400.0).1,
        0.5 * 2f64.ln() - 400.0 * 2f64.sqrt()
    ));
    let (x, _) = constrain(&layout("l[2,2]: correlation_cholesky"), &[40.0]);
    assert!((x[3] / (2.0 * tiny) - 1.0).abs() < 2e-14 && x[2] == 1.0);
    // At the middle of the simplex log |J| = ½ log K − K log K.
    let (x, log_jacobian) = constrain(&layout("p[4]: simplex"), &[0.0; 3]);
    assert_close("the middle", &x, &[0.25; 4], 4e-16);
    assert!(near(log_jacobian, -3.5 * 4f64.ln()));
}

#[test]
fn lanes_equal_the_scalar_on_every_scale() {
    let layout = layout(ALL);
    let target = Constrained::new(Uneven(layout.size()), layout.clone()).unwrap();
    let mut rng = random(5);
    let starts: Vec<_> = (0..19)
        .map(|_| normals(&mut rng, target.dim(), 0.8))
        .collect();
    let ld = Dynamics::ld(target.dim());
    let mala = Mala::new(&ld, 0.02).unwrap();
    contract::same_bits(&Exact::new(&target), &mala, &starts).unwrap();
    let all = starts.concat();
    let one_by_one = |u: &Vec<f64>| score_at(&target, u);
    assert_eq!(
        scores_at(&target, &all),
        starts.iter().flat_map(one_by_one).collect::<Vec<_>>()
    );
    // Stored draws are mapped to the states that the target saw.
    let draws = layout.constrain_draws(&all).unwrap();
    let seen = |u: &Vec<f64>| constrain(&layout, u).0;
    assert_eq!(draws, starts.iter().flat_map(seen).collect::<Vec<_>>());
}

/// The free chart of the normal model is what its formula says: with l = log σ,
/// log π = −N l − ½ e⁻²ˡ Σ(x − μ)² − ½N log 2π + l.
#[test]
fn the_free_chart_of_the_normal_model() {
    let data: Vec<f64> = (0..30).map(|i| f64::from(i * i % 17)).collect();
    let model = NormalParameters::new(data.clone()).unwrap();
    let (m, s) = (model.sample_mean(), model.sample_sd());
    let free = model.free().unwrap();
    assert_eq!(free.layout().to_string(), "mu, sigma: positive");
    let names: Vec<String> = free.parameters().into_iter().map(|p| p.name).collect();
    assert_eq!(names, ["mu", "sigma (free)"]);
    assert!(free.positive_coordinates().is_empty());
    for u in [[m, s.ln()], [m + 1.0, -1.0], [-3.0, 2.5]] {
        let squares: f64 = data.iter().map(|x| (x - u[0]).powi(2)).sum();
        let precision = (-2.0 * u[1]).exp();
        let log_2_pi = (2.0 * std::f64::consts::PI).ln();
        let expected = -29.0 * u[1] - 0.5 * precision * squares - 15.0 * log_2_pi;
        let value = log_densities_at(&free, &u)[0];
        assert!(
            (value - expected).abs() < 1e-13 * expected.abs(),
            "{value}, {expected}"
        );
        let sum: f64 = data.iter().map(|x| x - u[0]).sum();
        let score = [precision * sum, precision * squares - 29.0];
        assert_close("score", &score_at(&free, &u), &score, 1e-12);
    }
}

/// A posterior of a positive rate, subsampled through its scale.
struct Waiting(Rows);

impl Posterior for Waiting {
    fn dim(&self) -> usize {
        1
    }
    fn rows(&self) -> &Rows {
        &self.0
    }
    #[inline(always)]
    fn log_prior<R: Real>(&self, rate: &[R]) -> R {
        -rate[0]
    }
    #[inline(always)]
    fn log_likelihood<R: Real>(&self, rate: &[R], row: &[R]) -> R {
        rate[0].ln() - rate[0] * row[0]
    }
    fn positive_coordinates(&self) -> &[usize] {
        &[0]
    }
}

#[test]
fn minibatches_go_through_scales() {
    let data: Vec<f64> = (0..40).map(|i| 0.1 + f64::from(i % 7)).collect();
    let target = Constrained::by_itself(Waiting(Rows::new(data, 1).unwrap())).unwrap();
    let (n, u) = (target.n_data(), [0.4]);
    let mut mean = 0.0;
    for row in 0..n as u64 {
        let mut scratch = vec![f64::NAN; target.scratch_len()];
        let mut out = [0.0];
        target.minibatch_score::<f64>(&u, &[langevin::real::Word(row)], &mut scratch, &mut out);
        mean += out[0] / n as f64;
    }
    assert_close(
        "mean of minibatches",
        &[mean],
        &score_at(&target, &u),
        1e-12,
    );
    let ld = Dynamics::ld(1);
    let euler = EulerMaruyama::<_>::new(&ld, StepSize::Constant(0.001)).unwrap();
    let gradient = langevin::batch::Gradient::minibatch(5);
    let oracle = Minibatch::<_>::new(&target, gradient).unwrap();
    let starts: Vec<_> = (0..19).map(|i| vec![0.1 * f64::from(i) - 1.0]).collect();
    contract::same_bits(&oracle, &euler, &starts).unwrap();
}
