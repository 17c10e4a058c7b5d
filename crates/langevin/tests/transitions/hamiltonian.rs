//! Hamiltonian moves: contract, reversal, volume, exact rotation, order, and mistakes that go red.

use langevin::contract;
use langevin::metric::Constant;
use langevin::real::{Lanes, Real};
use langevin::rng::{Rng, Stream};
use langevin::target::{Target, score_at};
use langevin::transition::{
    Course, Hamiltonian, Integrator, Needs, Next, Report, Sizes, State, StateScore, StepKey,
    Transition,
};
use nalgebra::DMatrix;

use super::common::*;
use super::dense;

/// Every kind of move, with angles at which some proposals are rejected.
fn all_kinds(metric: &Constant) -> Vec<Hamiltonian> {
    let d = dim_of(metric);
    let centre: Vec<f64> = (0..d).map(|i| 0.4 - 0.3 * i as f64).collect();
    let kinds = [
        Integrator::Leapfrog,
        Integrator::Rotation,
        Integrator::McLachlan,
        Integrator::Harmonic { centre },
    ];
    let new = |angle| Hamiltonian::new(metric.clone(), angle).unwrap();
    let each = kinds.into_iter().flat_map(|kind| {
        let one = new(1.1).with_integrator(kind.clone()).unwrap();
        let kept = one.with_persistence(0.6).unwrap().with_jitter(0.3).unwrap();
        let many = new(0.6).with_integrator(kind).unwrap();
        let many = many.with_time(1.6).unwrap().with_jitter(0.2).unwrap();
        [kept, many]
    });
    each.collect()
}

fn dim_of(metric: &Constant) -> usize {
    langevin::metric::Metric::dim(metric)
}

#[test]
fn every_kind_keeps_the_contract() {
    for d in [1, 3] {
        for tuning in all_kinds(&dense(d)) {
            contract::check(&tuning).unwrap_or_else(|e| panic!("{tuning:?}: {e}"));
        }
    }
    let diagonal = Constant::diagonal(vec![0.7, 1.6, 2.5, 0.4]).unwrap();
    let two = all_kinds(&diagonal).swap_remove(2);
    contract::check(&two).unwrap();
    contract::check(&Hamiltonian::new(Constant::identity(2), 2.0).unwrap()).unwrap();
}

/// Not Gaussian in any direction.
struct Bent;

impl Target for Bent {
    fn dim(&self) -> usize {
        3
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, t: &[R]) -> R {
        let bend = t[1] - t[0] * t[0] * 0.3;
        -(t[0] * t[0] + bend * bend * 2.0 + (t[2] * 0.7).exp() + t[2] * t[2]) * 0.5
    }
}

/// N(mean, S Sᵀ) for the S of a metric, and its mean.
struct Matching {
    metric: Constant,
    mean: Vec<f64>,
}

impl Target for Matching {
    fn dim(&self) -> usize {
        self.mean.len()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut z: Vec<R> = theta.iter().zip(&self.mean).map(|(x, m)| *x - *m).collect();
        self.metric.sqrt_solve(&mut z);
        let mut sum = R::zero();
        for z in z {
            sum = z.mul_add(z, sum);
        }
        sum * -0.5
    }
}

/// A step by hand with a uniform number that accepts (0) or rejects (1): where it leads from (θ, p),
/// without refreshment, and the log of the ratio.
fn step(
    tuning: &Hamiltonian,
    target: &impl Target,
    (theta, p): (&[f64], &[f64]),
    u: f64,
) -> (Vec<f64>, Vec<f64>, f64) {
    let d = theta.len();
    let (mut theta, mut score) = (theta.to_vec(), vec![f64::NAN; d]);
    let mut carried = vec![target.log_density(&theta)];
    carried.extend(score_at(target, &theta));
    // Refreshed with p itself, since no momentum is kept.
    carried.extend(vec![0.0; d]);
    let mut scratch = vec![f64::NAN; tuning.sizes().scratch];
    let mut report = Report::default();
    let course = tuning.shared(StepKey::new(5, 8));
    let mut z = State {
        theta: &mut theta,
        log_density: f64::NAN,
        score: &mut score,
        carried: &mut carried,
        normals: p,
        uniforms: &[u],
        scratch: &mut scratch,
        given: &mut [],
        report: &mut report,
    };
    let mut next = tuning.begin(&course, &mut z);
    let mut stage = 0;
    while next == Next::Evaluate {
        z.log_density = target.log_density(z.theta);
        let score = score_at(target, z.theta);
        z.score.copy_from_slice(&score);
        next = tuning.resume(stage, &course, &mut z);
        stage += 1;
    }
    assert_eq!(stage, course.evaluations());
    let p = carried[1 + d..].to_vec();
    (theta, p, -report.energy_error)
}

/// The leaps undo themselves once the momentum changes its sign, and the ratio back is the inverse of the
/// ratio there: π(x) min(1, r) = π(y) min(1, 1/r) in the extended space. They keep volume: the determinant
/// of (θ, p) → (θ', p') is 1, here by differences of fifth order.
#[test]
fn leaps_can_be_undone_and_keep_volume() {
    let mut rng = Rng::new(31, 0, Stream::Setup);
    let mut draw = || (0..3).map(|_| rng.normal()).collect::<Vec<f64>>();
    for tuning in all_kinds(&dense(3)) {
        let tuning = tuning.with_persistence(0.0).unwrap();
        for _ in 0..40 {
            let (x, p) = (draw(), draw());
            let (y, q, there) = step(&tuning, &Bent, (&x, &p), 1e-300);
            let back: Vec<f64> = q.iter().map(|q| -q).collect();
            let (again, p_again, return_ratio) = step(&tuning, &Bent, (&y, &back), 1e-300);
            assert_close("the way back", &again, &x, 1e-9);
            let p_again: Vec<f64> = p_again.iter().map(|p| -p).collect();
            assert_close("the momentum", &p_again, &p, 1e-9);
            assert!((there + return_ratio).abs() < 1e-8 * (1.0 + there.abs()));
            // The ratio, written out.
            let half = |p: &[f64]| 0.5 * p.iter().map(|p| p * p).sum::<f64>();
            let written_out = Bent.log_density(&y) - half(&q) - Bent.log_density(&x) + half(&p);
            assert!((there - written_out).abs() < 1e-10 * (1.0 + there.abs()));
            // Rejected, the momentum turns.
            if there < 0.0 {
                let (stays, turned, _) = step(&tuning, &Bent, (&x, &p), 1.0);
                assert_eq!(stays, x);
                assert!(turned.iter().zip(&p).all(|(a, b)| *a == -b));
            }
        }
        let at = [0.3, -0.4, 0.2, 0.5, -0.7, 0.9];
        let moved = |i: usize, e: f64| {
            let mut from = at;
            from[i] += e;
            let (y, q, _) = step(&tuning, &Bent, (&from[..3], &from[3..]), 1e-300);
            [y, q].concat()
        };
        let e = 1e-3;
        let columns = (0..6).map(|i| {
            let (a, b) = (moved(i, e), moved(i, -e));
            let (c, d) = (moved(i, 2.0 * e), moved(i, -2.0 * e));
            let slope = |k: usize| (8.0 * (a[k] - b[k]) - (c[k] - d[k])) / (12.0 * e);
            nalgebra::DVector::from_fn(6, |k, _| slope(k))
        });
        let jacobian = DMatrix::from_columns(&columns.collect::<Vec<_>>());
        let determinant = jacobian.determinant();
        assert!(
            (determinant - 1.0).abs() < 1e-7,
            "{tuning:?}: {determinant}"
        );
    }
}

/// Where the metric is the covariance, the rotation form turns (z, p) by the angle, whatever the mean, and
/// exact-harmonic moves do with the right centre: no proposal is ever rejected.
#[test]
fn a_gaussian_with_the_metric_as_covariance_is_rotated() {
    let metric = dense(3);
    let target = Matching {
        metric: metric.clone(),
        mean: vec![3.0, -2.0, 0.5],
    };
    let centre = target.mean.clone();
    let mut rng = Rng::new(32, 0, Stream::Setup);
    let new = |angle| Hamiltonian::new(metric.clone(), angle).unwrap();
    for (tuning, total) in [
        (new(1.3), 1.3),
        (new(2.9), 2.9),
        (
            new(2.0)
                .with_integrator(Integrator::Harmonic { centre })
                .unwrap(),
            2.0,
        ),
    ] {
        for _ in 0..20 {
            let z: Vec<f64> = (0..3).map(|_| rng.normal()).collect();
            let p: Vec<f64> = (0..3).map(|_| rng.normal()).collect();
            let mut theta = vec![0.0; 3];
            metric.sqrt(&z, &mut theta);
            (0..3).for_each(|i| theta[i] += target.mean[i]);
            let (theta, q, log_ratio) = step(&tuning, &target, (&theta, &p), 1e-300);
            assert!(log_ratio.abs() < 1e-12);
            let mut turned: Vec<f64> = (0..3).map(|i| theta[i] - target.mean[i]).collect();
            metric.sqrt_solve(&mut turned);
            let (sin, cos) = f64::sin_cos(total);
            for i in 0..3 {
                assert!((turned[i] - (cos * z[i] + sin * p[i])).abs() < 1e-11);
                assert!((q[i] - (cos * p[i] - sin * z[i])).abs() < 1e-11);
            }
        }
    }
}

/// The error of the energy over a fixed time falls as h², for all integrators.
#[test]
fn energy_errors_are_of_second_order() {
    let metric = dense(3);
    let (x, p) = ([0.3, -0.4, 0.2], [0.5, -0.7, 0.9]);
    for kind in [
        Integrator::Leapfrog,
        Integrator::Rotation,
        Integrator::McLachlan,
        Integrator::Harmonic {
            centre: vec![0.0; 3],
        },
    ] {
        let error = |h: f64| {
            let tuning = Hamiltonian::new(metric.clone(), h).unwrap();
            let tuning = tuning.with_integrator(kind.clone()).unwrap();
            // As many leaps as the key of the step gives: the time is that of all of them.
            let tuning = tuning.with_time(2.0).unwrap();
            let leaps = tuning.shared(StepKey::new(5, 8)).evaluations();
            (step(&tuning, &Bent, (&x, &p), 1e-300).2.abs(), leaps)
        };
        let ((a, n), (b, m)) = (error(0.08), error(0.04));
        assert!(m.abs_diff(2 * n) <= 2, "{n} and {m} leaps");
        let order = (a / b).log2();
        assert!((1.6..2.4).contains(&order), "{kind:?} has order {order}");
    }
}

/// One mistake each.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    None,
    /// The kinetic energy is not in the ratio.
    NoKinetic,
    /// The last kick is half as strong, in the momentum that the ratio sees.
    WrongKick,
    /// Accepted with the root of the ratio.
    Lenient,
}

struct Wrong(Hamiltonian, Mistake);

impl Transition for Wrong {
    type Shared = Course;
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn sizes(&self) -> Sizes {
        self.0.sizes()
    }
    fn needs(&self) -> Needs {
        Needs::Density
    }
    fn state_score(&self) -> StateScore {
        self.0.state_score()
    }
    fn shared(&self, key: StepKey) -> Course {
        self.0.shared(key)
    }
    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        self.0.start(z);
    }
    #[inline(always)]
    fn begin<L: Lanes>(&self, course: &Course, z: &mut State<'_, L>) -> Next {
        self.0.begin(course, z)
    }
    #[inline(always)]
    fn resume<L: Lanes>(&self, stage: usize, course: &Course, z: &mut State<'_, L>) -> Next {
        let d = z.theta.len();
        let square = [z.uniforms[0] * z.uniforms[0]];
        // The momentum of the trajectory comes second in scratch space.
        match self.1 {
            Mistake::None => {}
            Mistake::NoKinetic => {
                // As if log π of the end made up for what the kinetic energy gains.
                let (mut sum, mut work) = (L::zero(), vec![L::zero(); d]);
                self.0.metric().sqrt_transposed(z.score, &mut work);
                for i in 0..d {
                    let p = work[i].mul_add(L::of((0.6_f64).tan()), z.scratch[1 + d + i]);
                    let old = z.carried[1 + d + i];
                    sum += (old - p) * (old + p) * 0.5;
                }
                z.log_density -= sum;
            }
            Mistake::WrongKick => {
                for i in 0..d {
                    z.scratch[1 + d + i] = z.scratch[1 + d + i] * 1.1;
                }
            }
            Mistake::Lenient => {}
        }
        let uniforms = match self.1 {
            Mistake::Lenient => &square[..],
            _ => z.uniforms,
        };
        let normals = z.normals;
        let mut own = State {
            theta: &mut *z.theta,
            log_density: z.log_density,
            score: &mut *z.score,
            carried: &mut *z.carried,
            normals,
            uniforms,
            scratch: &mut *z.scratch,
            given: &mut [],
            report: &mut *z.report,
        };
        let next = self.0.resume(stage, course, &mut own);
        if self.1 == Mistake::NoKinetic {
            // What is told stays true.
            let mut sum = L::zero();
            for x in z.theta.iter() {
                sum = x.mul_add(*x, sum);
            }
            z.carried[0] = sum * -0.5;
            z.report.log_density = z.carried[0];
        }
        next
    }
}

#[test]
fn mistakes_in_the_ratio_go_red() {
    let check = |mistake| {
        // A metric that does not match: the angle leads to rejections.
        let metric = Constant::diagonal(vec![1.6, 0.5]).unwrap();
        let tuning = Hamiltonian::new(metric, 1.2).unwrap();
        contract::check(&Wrong(tuning.with_persistence(0.4).unwrap(), mistake))
    };
    check(Mistake::None).unwrap();
    for mistake in [Mistake::NoKinetic, Mistake::WrongKick, Mistake::Lenient] {
        let broken = check(mistake).unwrap_err();
        assert_eq!(broken.promise, "exact draws stay exact", "{mistake:?}");
    }
}

#[test]
fn wrong_tunings_are_refused() {
    let new = |angle| Hamiltonian::new(Constant::identity(2), angle);
    assert!(new(0.0).is_err() && new(f64::NAN).is_err());
    assert!(new(3.2).is_err() && new(3.0).unwrap().with_jitter(0.1).is_err());
    let one = new(1.0).unwrap();
    assert!(one.clone().with_jitter(1.0).is_err());
    assert!(one.clone().with_persistence(1.0).is_err());
    assert!(one.clone().with_persistence(-0.1).is_err());
    assert!(one.clone().with_time(0.0).is_err());
    let centre = vec![0.0; 3];
    assert!(
        one.with_integrator(Integrator::Harmonic { centre })
            .is_err()
    );
}
