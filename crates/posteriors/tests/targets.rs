//! Scores against dual numbers, and answers against quadrature.

use langevin::real::{Dual, gradient};
use langevin::rng::{Rng, Stream};
use langevin::target::Target;
use langevin_posteriors::curved::Banana;
use langevin_posteriors::hierarchy::Hierarchy;
use langevin_posteriors::intercepts::Intercepts;
use langevin_posteriors::mixture::TwoModes;
use langevin_posteriors::quadrature::Grid;
use langevin_posteriors::series::Autoregression;
use langevin_posteriors::simplex::Dirichlet;
use langevin_posteriors::tails::StudentT;
use langevin_posteriors::{Moments, Set, Truth, Visit, bad_names, for_each, for_each_bad, names};

/// Compares log π and score of every way to get them, at random states.
struct Scores;

impl Visit for Scores {
    fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
        let (d, name) = (target.dim(), truth.name);
        let mut rng = Rng::new(1, 0, Stream::Setup);
        for spread in [0.1, 0.4, 0.9] {
            let theta: Vec<f64> = (0..d).map(|_| spread * rng.normal()).collect();
            let mut scratch = vec![f64::NAN; target.scratch_len()];
            let [mut alone, mut together, mut dual] = [(); 3].map(|_| vec![f64::NAN; d]);
            target.score(&theta, &mut scratch, &mut alone);
            scratch.fill(f64::NAN);
            let value = target.log_density_and_score(&theta, &mut scratch, &mut together);
            gradient(&theta, &mut dual, |x: &[Dual<f64>]| target.log_density(x));
            let want = target.log_density(theta.as_slice());
            let size = dual.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
            assert!(
                (value - want).abs() <= 1e-11 * want.abs().max(1.0),
                "{name}: log π {value}, not {want}"
            );
            for i in 0..d {
                // (Both in one pass may round in an order of its own.)
                assert!(
                    (alone[i] - together[i]).abs() <= 1e-12 * size,
                    "{name}[{i}]: {}, {}",
                    alone[i],
                    together[i]
                );
                assert!(
                    (alone[i] - dual[i]).abs() <= 1e-11 * size,
                    "{name}[{i}]: score {}, not {}",
                    alone[i],
                    dual[i]
                );
            }
            // Dual numbers are checked in their turn, by central differences along a direction.
            let along: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
            let at = |h: f64| {
                let moved: Vec<f64> = (0..d).map(|i| theta[i] + h * along[i]).collect();
                target.log_density(moved.as_slice())
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            let slope: f64 = along.iter().zip(&dual).map(|(a, g)| a * g).sum();
            let tolerance = 1e-5 * (size * (d as f64).sqrt() + want.abs() * 1e-3);
            assert!(
                (difference - slope).abs() < tolerance,
                "{name}: {difference}, {slope}"
            );
        }
    }
}

#[test]
fn scores_are_the_gradients_of_log_densities() {
    for_each(&mut Scores);
}

/// Negative control: the target that lies about its score is caught.
#[test]
#[should_panic(expected = "wrong-score")]
fn a_wrong_score_is_seen() {
    langevin_posteriors::visit("wrong-score", &mut Scores);
}

#[derive(Default)]
struct Sets(Vec<(&'static str, Set)>);

impl Visit for Sets {
    fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
        assert_eq!(truth.dim, target.dim());
        if let Some(Moments { means, sds }) = &truth.moments {
            assert_eq!((means.len(), sds.len()), (truth.dim, truth.dim));
            let good = |sd: &langevin_posteriors::Known| sd.value > 0.0 && sd.value.is_finite();
            assert!(sds.iter().all(good), "{}", truth.name);
        }
        self.0.push((truth.name, truth.set));
    }
}

#[test]
fn half_of_the_targets_are_held_out() {
    let mut seen = Sets::default();
    for_each(&mut seen);
    let n = seen.0.len();
    let held_out = seen.0.iter().filter(|x| x.1 == Set::HeldOut).count();
    assert!(
        n >= 22 && held_out.abs_diff(n - held_out) <= 1,
        "{n} {held_out}"
    );
    assert!(seen.0.iter().zip(names()).all(|(a, b)| a.0 == *b));
    let mut seen = Sets::default();
    for_each_bad(&mut seen);
    assert!(seen.0.iter().all(|x| x.1 == Set::Bad));
    assert_eq!(seen.0.len(), bad_names().len());
}

fn assert_same(name: &str, got: &Moments, want: &Moments, tolerance: f64) {
    let pairs = got.means.iter().zip(&want.means);
    for (i, (a, b)) in pairs.chain(got.sds.iter().zip(&want.sds)).enumerate() {
        let close = (a.value - b.value).abs() < tolerance;
        assert!(close, "{name}, number {i}: {} {}", a.value, b.value);
    }
}

#[test]
fn closed_formulas_agree_with_quadrature() {
    for banana in [(0.3, 1.0), (1.0, 1.0), (2.0, 2.0)] {
        let (bend, width) = banana;
        let banana = Banana { bend, width };
        let grid = Grid::new(&banana, &[0.0; 2], &[1.0; 2], 30.0, 0.1).unwrap();
        assert_same("banana", &grid.moments(), &banana.moments(), 1e-8);
    }
    let dirichlet = Dirichlet::new(vec![1.5, 0.8, 3.0]);
    let grid = Grid::new(&dirichlet, &[0.0; 2], &[1.0; 2], 25.0, 0.25).unwrap();
    assert_same("simplex", &grid.moments(), &dirichlet.moments(), 1e-8);
    // Slow tails need another check: Var = ∫ x² is that of a t with many degrees of freedom.
    for joint in [false, true] {
        let t = StudentT {
            dim: 2,
            nu: 40.0,
            joint,
        };
        let grid = Grid::new(&t, &[-3.0, -2.0], &[0.5, 0.8], 20.0, 0.2).unwrap();
        assert_same("student", &grid.moments(), &t.moments(), 1e-8);
    }
}

#[test]
fn two_modes_by_a_plain_sum() {
    let (mut mass, mut mean, mut square) = (0.0, 0.0, 0.0);
    let nodes: Vec<f64> = (-80..=80).map(|k| 0.2 * f64::from(k)).collect();
    for x in &nodes {
        for y in &nodes {
            let weight = TwoModes.log_density(&[*x, *y]).exp();
            mass += weight;
            mean += weight * x;
            square += weight * x * x;
        }
    }
    let truth = TwoModes.moments();
    assert!((mean / mass - truth.means[0].value).abs() < 1e-10);
    let sd = (square / mass - (mean / mass).powi(2)).sqrt();
    assert!((sd - truth.sds[1].value).abs() < 1e-10);
}

/// Both forms of a hierarchy with a single group, in which quadrature can do everything.
#[test]
fn hierarchies_agree_with_quadrature() {
    let (y, s) = ([1.3], [1.5]);
    let free = Hierarchy::<false>::new(&y, &s, 2.0, 0.5);
    let centred = Hierarchy::<true>::new(&y, &s, 2.0, 0.5);
    let grid = Grid::new(&free, &[0.0, -1.0, 0.0], &[1.0; 3], 16.0, 0.2).unwrap();
    assert_same("hierarchy", &grid.moments(), &free.moments(), 1e-5);
    let effect = |x: &[f64]| x[0] + x[1].exp() * x[2];
    let mean = grid.mean(effect);
    let sd = grid.mean(|x| (effect(x) - mean).powi(2)).sqrt();
    let truth = centred.moments();
    assert!((mean - truth.means[2].value).abs() < 1e-5);
    assert!((sd - truth.sds[2].value).abs() < 1e-5);
}

/// Centred and not, densities differ by the Jacobian of the change of coordinates.
#[test]
fn both_forms_of_a_hierarchy_are_one_distribution() {
    let mut rng = Rng::new(2, 0, Stream::Setup);
    let schools: (_, _) = (
        Hierarchy::<false>::eight_schools(),
        Hierarchy::<true>::eight_schools(),
    );
    let radon: (_, _) = (Intercepts::<false>::radon(), Intercepts::<true>::radon());
    let mut check = |free: &dyn Fn(&[f64]) -> f64, centred: &dyn Fn(&[f64]) -> f64, d, k| {
        let z: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let log_tau = if k == 2 { z[1] } else { z[2] };
        let mut theta = z.clone();
        for x in &mut theta[k..] {
            *x = z[0] + log_tau.exp() * *x;
        }
        let jacobian = log_tau * (d - k) as f64;
        let (a, b) = (free(&z), centred(&theta) + jacobian);
        assert!((a - b).abs() < 1e-11 * a.abs(), "{a} {b}");
    };
    for _ in 0..5 {
        check(
            &|x| schools.0.log_density(x),
            &|x| schools.1.log_density(x),
            10,
            2,
        );
        check(
            &|x| radon.0.log_density(x),
            &|x| radon.1.log_density(x),
            34,
            4,
        );
    }
}

struct Answered<'a>(&'a str, Option<Moments>);

impl Visit for Answered<'_> {
    fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
        if truth.name == self.0 {
            self.1.clone_from(&truth.moments);
        }
        assert_eq!(truth.dim, target.dim());
    }
}

fn answers(name: &str) -> Moments {
    let mut found = Answered(name, None);
    assert!(langevin_posteriors::visit(name, &mut found));
    found.1.unwrap()
}

/// Committed numbers are those of the targets as they are; this grid is off by a few 1e-4.
#[test]
fn committed_numbers_agree_with_quadrature() {
    let target = Autoregression::<1>::simulated();
    let grid = Grid::new(&target, &[0.0; 3], &[0.7; 3], 9.0, 0.4).unwrap();
    let known = answers("autoregression-1");
    assert_same("autoregression", &grid.moments(), &known, 1e-3);
}

#[test]
fn every_distribution_has_answers() {
    for name in names() {
        answers(name);
    }
    // What both forms of a hierarchy have in common.
    let (free, centred) = (answers("radon"), answers("radon-centred"));
    assert_eq!(free.means[..4], centred.means[..4]);
}
