//! Warm-up: the same bits everywhere, starts that are helped in or refused, limits, and draws that are
//! those of the target.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::mean_and_error;
use langevin::adapt::{Settings, Starts, WarmUp, superchain_size, warm_up};
use langevin::batch::Gradient;
use langevin::chain::{Chains, Control, How, Records};
use langevin::foreign::{Failure, Foreign, ForeignDensity, ForeignTarget, Worker};
use langevin::models::LinearGaussian;
use langevin::oracle::{Exact, Oracle};
use langevin::real::{Isa, Real};
use langevin::record::Moments;
use langevin::skew::Skew;
use langevin::target::Target;
#[cfg(feature = "serde")]
use langevin::transition::Transition;

/// A banana, differentiated by dual numbers.
struct Banana;

impl Target for Banana {
    fn dim(&self) -> usize {
        2
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let bend = theta[1] - theta[0] * theta[0] * 0.5;
        -(theta[0] * theta[0] + bend * bend * 4.0) * 0.5
    }
}

/// Independent normal coordinates around 1, scales from 0.01 to 100.
struct Scales(usize);

impl Target for Scales {
    fn dim(&self) -> usize {
        self.0
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for (i, x) in theta.iter().enumerate() {
            let z = (*x - 1.0) * scale(i, self.0).recip();
            sum = z.mul_add(z, sum);
        }
        sum * -0.5
    }
}

fn scale(i: usize, d: usize) -> f64 {
    10.0_f64.powf(4.0 * i as f64 / (d - 1) as f64 - 2.0)
}

fn run<O: Oracle>(oracle: &O, starts: &Starts, settings: &Settings, how: &How<'_>) -> WarmUp {
    let warm = warm_up(oracle, 5, 0, starts, settings, how).unwrap();
    warm.expect("nobody asked it to stop")
}

fn bits(chains: &Chains) -> Vec<u64> {
    chains.states().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn a_warm_up_is_the_same_on_any_threads_and_width() {
    let oracle = Exact::new(&Banana);
    let starts = Starts::Scattered(36);
    let settings = Settings::default();
    let first = run(&oracle, &starts, &settings, &How::default());
    for isa in Isa::available() {
        for threads in [1, 3] {
            let how = How {
                isa: Some(isa),
                threads: Some(threads),
                ..How::default()
            };
            let again = run(&oracle, &starts, &settings, &how);
            assert_eq!(bits(&again.chains), bits(&first.chains), "{isa:?}");
            assert_eq!(again.tuned, first.tuned);
            assert_eq!(again.record, first.record);
            assert_eq!(again.chains, first.chains);
        }
    }
}

/// The same in foreign code, in workers.
struct Calls<T>(T);

impl<T: Target> ForeignTarget for Calls<T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let mut values = vec![0.0; thetas.len() / self.0.dim()];
        self.log_density_and_score(thetas, &mut values, out)
    }
    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl<T: Target> ForeignDensity for Calls<T> {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        let d = self.0.dim();
        let places = values.iter_mut().zip(scores.chunks_exact_mut(d));
        for (theta, (value, score)) in thetas.chunks_exact(d).zip(places) {
            *value = self.0.log_density_and_score(theta, &mut [], score);
        }
        Ok(())
    }
}

fn foreign<T: Target + 'static>(target: impl Fn() -> T, workers: usize) -> Foreign<'static> {
    let worker = |_| Worker {
        target: Box::new(Calls(target())),
        metric: None,
    };
    let workers = (0..workers).map(worker).collect();
    Foreign::new(workers, Gradient::Exact, &Skew::None).unwrap()
}

#[test]
fn foreign_code_is_warmed_up_to_the_same_chains() {
    let starts = Starts::Scattered(10);
    let settings = Settings::default();
    let native = run(&Exact::new(&Banana), &starts, &settings, &How::default());
    for workers in [1, 2, 3] {
        let oracle = foreign(|| Banana, workers);
        let warm = run(&oracle, &starts, &settings, &How::default());
        assert_eq!(bits(&warm.chains), bits(&native.chains));
        assert_eq!(warm.record, native.record);
    }
}

/// After the warm-up draws have the moments of the target: the largest of 60 deviations over 8 seeds is
/// beyond 5 standard errors with probability 3·10⁻⁴.
#[test]
fn draws_after_a_warm_up_are_those_of_the_target() {
    let target = Scales(30);
    let oracle = Exact::new(&target);
    for seed in 0..8 {
        let starts = Starts::Scattered(32);
        let how = How::default();
        let warm = warm_up(&oracle, seed, 0, &starts, &Settings::default(), &how).unwrap();
        let mut warm = warm.unwrap();
        assert!(warm.record.converged && !warm.record.hard);
        assert!(warm.record.gradients < 250, "{}", warm.record.gradients);
        assert!(warm.tuned.angle() > 1.0);
        let first = warm.chains.step();
        let mut records = Records::new(&warm.chains, &oracle, || Moments::new(first));
        warm.chains
            .advance(&oracle, &warm.tuned, 600, &mut records, &how)
            .unwrap();
        for i in 0..30 {
            let sd = scale(i, 30);
            let of = |f: &dyn Fn(&Moments, usize) -> f64| -> Vec<f64> {
                records.chains().map(|(_, m, lane)| f(m, lane)).collect()
            };
            let (mean, error) = mean_and_error(&of(&|m, lane| m.mean(i, lane)));
            assert!(
                ((mean - 1.0) / error).abs() < 5.0,
                "mean of {i}: {mean} ± {error}"
            );
            assert!(error < 0.03 * sd);
            let square = |m: &Moments, lane: usize| {
                let n = m.count() as f64;
                m.variance(i, lane) * (n - 1.0) / n + (m.mean(i, lane) - 1.0).powi(2)
            };
            let (square, error) = mean_and_error(&of(&square));
            assert!(((square - sd * sd) / error).abs() < 5.0, "square of {i}");
            assert!(error < 0.06 * sd * sd);
        }
    }
}

/// A correlated Gaussian beyond the largest dense dimension: the time of trajectories grows to what its
/// slow directions need.
#[test]
fn without_a_dense_metric_trajectories_become_long() {
    let d = 12;
    let precision = nalgebra::DMatrix::from_fn(d, d, |i, j| {
        // Neighbours strongly tied: a chain whose slowest wave is some 10 times wider than the fastest.
        match i.abs_diff(j) {
            0 => 2.02,
            1 => -1.0,
            _ => 0.0,
        }
    });
    struct Tied(nalgebra::DMatrix<f64>);
    impl Target for Tied {
        fn dim(&self) -> usize {
            self.0.nrows()
        }
        #[inline(always)]
        fn log_density<R: Real>(&self, x: &[R]) -> R {
            let mut sum = R::zero();
            for i in 0..x.len() {
                for j in 0..x.len() {
                    sum += x[i] * x[j] * self.0[(i, j)];
                }
            }
            sum * -0.5
        }
    }
    let target = Tied(precision);
    let oracle = Exact::new(&target);
    let settings = Settings {
        dense_up_to: 3,
        ..Settings::default()
    };
    let starts = Starts::Scattered(16);
    let warm = run(&oracle, &starts, &settings, &How::default());
    let time = warm.tuned.time().unwrap_or(warm.tuned.angle());
    assert!(time > 2.0, "{time}");
    let dense = run(&oracle, &starts, &Settings::default(), &How::default());
    assert!(dense.tuned.time().is_none() && dense.tuned.angle() > 1.2);
}

/// N(0, I) where the first coordinate is between 1.5 and 1.9, and not a number elsewhere.
struct Slit;

impl Target for Slit {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let edges = (theta[0] - 1.5).ln() + (theta[0] * -1.0 + 1.9).ln();
        edges - theta[1] * theta[1] * 0.5
    }
}

/// Not a number anywhere.
struct Nowhere;

impl Target for Nowhere {
    fn dim(&self) -> usize {
        1
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        (theta[0] * theta[0] * -1.0 - 1.0).ln()
    }
}

#[test]
fn starts_are_helped_into_the_support_or_refused_with_the_reason() {
    let (settings, how) = (Settings::default(), How::default());
    let warm = run(&Exact::new(&Slit), &Starts::Scattered(16), &settings, &how);
    assert!(warm.record.non_finite_starts > 0);
    assert!(warm.chains.states().all(|x| x[0] > 1.5 && x[0] < 1.9));
    let near = Starts::At(vec![vec![1.0, 0.0]; 8]);
    let warm = run(&Exact::new(&Slit), &near, &settings, &how);
    let states: Vec<&[f64]> = warm.chains.states().collect();
    assert!(states.iter().all(|x| x[0] > 1.5) && states[0] != states[1]);
    let refused = warm_up(
        &Exact::new(&Nowhere),
        1,
        4,
        &Starts::Scattered(4),
        &settings,
        &how,
    );
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("no start was found for chain 4"), "{text}");
    let empty = warm_up(
        &Exact::new(&Banana),
        1,
        0,
        &Starts::Scattered(0),
        &settings,
        &how,
    );
    assert!(empty.is_err());
    let wrong = Starts::At(vec![vec![1.0]]);
    assert!(warm_up(&Exact::new(&Banana), 1, 0, &wrong, &settings, &how).is_err());
    let target_accept = 1.0;
    let settings = Settings {
        target_accept,
        ..settings
    };
    assert!(
        warm_up(
            &Exact::new(&Banana),
            1,
            0,
            &Starts::Scattered(4),
            &settings,
            &how
        )
        .is_err()
    );
}

#[test]
fn superchains_share_their_start_and_nothing_else() {
    let settings = Settings {
        tune: 1,
        ..Settings::default()
    };
    let n = 64;
    let warm = run(
        &Exact::new(&Banana),
        &Starts::Scattered(n),
        &settings,
        &How::default(),
    );
    assert_eq!((superchain_size(n), warm.record.superchain_size), (4, 4));
    let states = bits(&warm.chains);
    let mut each: Vec<&[u64]> = states.chunks(2).collect();
    each.sort_unstable();
    each.dedup();
    assert_eq!(each.len(), n, "no two chains are at one point");
}

#[test]
fn a_warm_up_can_be_stopped_and_has_limits() {
    let cancel = AtomicBool::new(false);
    let seen = AtomicU64::new(0);
    let stop_after = AtomicU64::new(0);
    let progress = |n: u64| {
        if seen.fetch_add(n, Ordering::Relaxed) + n >= stop_after.load(Ordering::Relaxed) {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let how = How {
        control: Control {
            cancel: Some(&cancel),
            progress: Some(&progress),
            escapes: None,
        },
        ..How::default()
    };
    let oracle = foreign(|| Banana, 2);
    let settings = Settings::default();
    for limit in [1, 60, 700] {
        cancel.store(false, Ordering::Relaxed);
        seen.store(0, Ordering::Relaxed);
        stop_after.store(limit, Ordering::Relaxed);
        let stopped = warm_up(&oracle, 5, 0, &Starts::Scattered(8), &settings, &how);
        assert!(stopped.unwrap().is_none());
        assert!(seen.load(Ordering::Relaxed) < limit + 300);
    }
    for limited in [
        Settings {
            tune: 30,
            ..Settings::default()
        },
        Settings {
            max_gradients: 40,
            ..Settings::default()
        },
    ] {
        let warm = run(&oracle, &Starts::Scattered(8), &limited, &How::default());
        assert!(!warm.record.converged);
        assert!(warm.record.gradients < 150, "{}", warm.record.gradients);
    }
    let keeps = Settings {
        keep_draws: true,
        ..Settings::default()
    };
    let warm = run(&oracle, &Starts::Scattered(8), &keeps, &How::default());
    let kept = warm
        .draws
        .iter()
        .map(|w| w.chains().next().unwrap().1.len());
    assert_eq!(kept.sum::<usize>() as u64, warm.chains.step());
    assert_eq!(warm.draws.len(), warm.record.windows.len());
}

/// Scores alone, or minibatches, cannot be warmed up.
#[test]
fn a_warm_up_needs_exact_densities() {
    let covariance = nalgebra::DMatrix::identity(1, 1);
    let data = vec![0.1, 0.7, -0.2];
    let model = LinearGaussian::new(data, &covariance, &covariance).unwrap();
    let few = langevin::oracle::Minibatch::<_>::new(&model, Gradient::minibatch(2)).unwrap();
    let (settings, how) = (Settings::default(), How::default());
    let refused = warm_up(&few, 1, 0, &Starts::Scattered(4), &settings, &how);
    assert!(refused.unwrap_err().to_string().contains("minibatches"));
}

/// The frozen tuning can be saved, and goes on with the same bits.
#[cfg(feature = "serde")]
#[test]
fn a_tuning_can_be_saved() {
    let oracle = Exact::new(&Banana);
    let starts = Starts::Scattered(16);
    let warm = run(&oracle, &starts, &Settings::default(), &How::default());
    let text = serde_json::to_string(&warm.tuned).unwrap();
    let again: langevin::transition::Hamiltonian = serde_json::from_str(&text).unwrap();
    assert_eq!(again.angle(), warm.tuned.angle());
    assert_eq!(again.metric(), warm.tuned.metric());
    assert_eq!(again.name(), warm.tuned.name());
    assert_eq!(again, warm.tuned);
    let broken = text.replacen("\"angle\":", "\"angle\":-", 1);
    assert!(serde_json::from_str::<langevin::transition::Hamiltonian>(&broken).is_err());
}
