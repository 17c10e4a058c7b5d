//! Laws: exact draws, mapped to free coordinates and moved by an exact sampler, are still draws of their
//! law. Without the Jacobian they are not.

use std::sync::Arc;

use langevin::chain::{Chains, How, Records};
use langevin::dynamics::Dynamics;
use langevin::oracle::Exact;
use langevin::real::Isa;
use langevin::record::{Draws, Moments, OnScale};
use langevin::scale::Constrained;
use langevin::transition::{EulerMaruyama, Mala, StepSize};

use super::*;

/// Independent chains, and steps of each.
const N: usize = 20_000;
const STEPS: u64 = 40;
/// The false-alarm rate of one test over seeds.
const RATE: f64 = 1e-5;

/// A law with exact draws, as a density of x without Jacobian.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    /// Gamma(3, 2).
    Gamma,
    /// 2 − Exponential(1).
    Below,
    /// Beta(2, 3) on (−1, 3).
    Beta,
    /// Two normal numbers and the larger one after the smaller.
    Sorted,
    /// Dirichlet(1, 2, 4).
    Dirichlet,
    /// Uniform directions in space.
    Direction,
    /// Correlations of three variables, with density det(R)^(η − 1) and η = 1.5.
    Correlation,
}

const DIRICHLET: [f64; 3] = [1.0, 2.0, 4.0];

impl Law {
    fn layout(self) -> Layout {
        layout(match self {
            Law::Gamma => "x: positive",
            Law::Below => "x: below(2)",
            Law::Beta => "x: interval(-1, 3)",
            Law::Sorted => "x[2]: ordered",
            Law::Dirichlet => "x[3]: simplex",
            Law::Direction => "x[3]: unit_vector",
            Law::Correlation => "x[3,3]: correlation_cholesky",
        })
    }

    fn step_size(self) -> f64 {
        match self {
            Law::Gamma | Law::Correlation | Law::Dirichlet => 0.25,
            _ => 0.5,
        }
    }

    fn draw(self, rng: &mut Rng<f64>) -> Vec<f64> {
        match self {
            Law::Gamma => vec![rng.gamma(3.0) / 2.0],
            Law::Below => vec![2.0 - rng.gamma(1.0)],
            Law::Beta => {
                let (a, b) = (rng.gamma(2.0), rng.gamma(3.0));
                vec![4.0 * a / (a + b) - 1.0]
            }
            Law::Sorted => {
                let (a, b) = (rng.normal(), rng.normal());
                vec![a.min(b), a.max(b)]
            }
            Law::Dirichlet => {
                let parts = DIRICHLET.map(|a| rng.gamma(a));
                let sum: f64 = parts.iter().sum();
                parts.iter().map(|p| p / sum).collect()
            }
            Law::Direction => {
                let v = normals(rng, 3, 1.0);
                let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
                v.iter().map(|x| x / length).collect()
            }
            Law::Correlation => {
                // Partial correlations are (1 + z)/2 ~ Beta(b, b): b = η + ½ for the two of the first
                // variable, η for the other one.
                let mut z = |b: f64| {
                    let (x, y) = (rng.gamma(b), rng.gamma(b));
                    (x - y) / (x + y)
                };
                let (a, b, c) = (z(2.0), z(2.0), z(1.5));
                let (ra, rb) = ((1.0 - a * a).sqrt(), (1.0 - b * b).sqrt());
                vec![
                    1.0,
                    0.0,
                    0.0,
                    a,
                    ra,
                    0.0,
                    b,
                    rb * c,
                    rb * (1.0 - c * c).sqrt(),
                ]
            }
        }
    }
}

impl Target for Law {
    fn dim(&self) -> usize {
        self.layout().size()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, x: &[R]) -> R {
        match self {
            Law::Gamma => x[0].ln() * 2.0 - x[0] * 2.0,
            Law::Below => x[0],
            Law::Beta => (x[0] + 1.0).ln() + (-x[0] + 3.0).ln() * 2.0,
            Law::Sorted => (x[0] * x[0] + x[1] * x[1]) * -0.5,
            Law::Dirichlet => {
                let mut sum = R::zero();
                for (x, a) in x.iter().zip(DIRICHLET) {
                    sum += x.ln() * (a - 1.0);
                }
                sum
            }
            Law::Direction => R::zero(),
            // det(R)^(η − 1) = Π Lᵢᵢ^(2η − 2), and ∂R/∂L has determinant L₁₁ (Lᵢᵢ^(n − 1 − i) in all).
            Law::Correlation => x[4].ln() * 2.0 + x[8].ln(),
        }
    }
}

/// The same without the Jacobian.
struct Dropped(Constrained<Law>);

impl Target for Dropped {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, u: &[R]) -> R {
        let layout = self.0.layout();
        let (mut x, mut slopes) = (vec![R::zero(); layout.size()], vec![R::zero(); u.len()]);
        layout.constrain(u, &mut slopes, &mut x);
        self.0.target().log_density(&x)
    }
}

/// The largest √n-scaled Kolmogorov distance of an element between moved and fresh exact draws, and the
/// value exceeded with probability `RATE`.
fn distance<T: Target>(law: Law, target: &T) -> (f64, f64) {
    let layout = law.layout();
    let (mut rng, mut others) = (random(11), random(12));
    let starts: Vec<_> = (0..N)
        .map(|_| layout.free_state(&law.draw(&mut rng)).unwrap())
        .collect();
    let fresh: Vec<_> = (0..N).map(|_| law.draw(&mut others)).collect();
    let oracle = Exact::new(target);
    let ld = Dynamics::ld(target.dim());
    let mala = Mala::new(&ld, law.step_size()).unwrap();
    let mut chains = Chains::new(13, 0, starts.clone()).unwrap();
    let mut records = Records::new(&chains, &oracle, || ());
    chains
        .advance(&oracle, &mala, STEPS, &mut records, &How::default())
        .unwrap();
    let moved = chains.states().zip(&starts).filter(|(a, b)| a != b).count();
    assert!(moved > N * 9 / 10, "{law:?}: only {moved} chains moved");
    let states: Vec<f64> = chains.states().flatten().copied().collect();
    let draws = layout.constrain_draws(&states).unwrap();
    let size = layout.size();
    let largest = (0..size)
        .map(|i| {
            let moved = draws.iter().skip(i).step_by(size).copied().collect();
            kolmogorov(moved, fresh.iter().map(|x| x[i]).collect())
        })
        .fold(0.0_f64, f64::max);
    // P(√(n/2) D > λ) ≈ 2 exp(−2λ²), for each element.
    (largest, (0.5 * (2.0 * size as f64 / RATE).ln()).sqrt())
}

/// √(n/2) times the largest distance of two empirical distribution functions.
fn kolmogorov(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (mut i, mut j, mut largest) = (0, 0, 0_i64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        while i < a.len() && a[i] <= x {
            i += 1;
        }
        while j < b.len() && b[j] <= x {
            j += 1;
        }
        largest = largest.max((i as i64 - j as i64).abs());
    }
    largest as f64 / (2.0 * a.len() as f64).sqrt()
}

const LAWS: [Law; 7] = [
    Law::Gamma,
    Law::Below,
    Law::Beta,
    Law::Sorted,
    Law::Dirichlet,
    Law::Direction,
    Law::Correlation,
];

#[test]
fn exact_draws_stay_exact_on_every_scale() {
    for law in LAWS {
        let target = Constrained::new(law, law.layout()).unwrap();
        let (distance, largest) = distance(law, &target);
        println!("{law:?}: {distance:.2} of {largest:.2}");
        assert!(distance < largest, "{law:?}: {distance} > {largest}");
    }
}

/// Negative control: the Jacobian counts.
#[test]
fn without_the_jacobian_they_do_not() {
    for law in LAWS {
        let target = Dropped(Constrained::new(law, law.layout()).unwrap());
        let (distance, largest) = distance(law, &target);
        println!("{law:?}: {distance:.2} of {largest:.2}");
        // (Of a direction the Jacobian holds the length, which does not show.)
        assert!(
            distance > 2.0 * largest || law == Law::Direction,
            "{law:?}: {distance}"
        );
    }
}

/// Records on the scale see the states that stored draws are mapped to, bit for bit, whatever the
/// lanes; a chain that has escaped stays NaN.
#[test]
fn records_see_constrained_states() {
    let layout = Arc::new(layout(ALL));
    let target = Constrained::new(Uneven(layout.size()), (*layout).clone()).unwrap();
    let mut rng = random(8);
    let mut starts: Vec<_> = (0..19)
        .map(|_| normals(&mut rng, target.dim(), 0.5))
        .collect();
    starts[3] = vec![1e200; target.dim()];
    let ld = Dynamics::ld(target.dim());
    let euler = EulerMaruyama::<_>::new(&ld, StepSize::Constant(0.01)).unwrap();
    let oracle = Exact::new(&target);
    for isa in Isa::available() {
        let mut chains = Chains::new(3, 0, starts.clone()).unwrap();
        let all = || Draws::new(0, 1, usize::MAX);
        let both = || {
            (
                all(),
                OnScale::new(layout.clone(), (all(), Moments::new(0))),
            )
        };
        let mut records = Records::new(&chains, &oracle, both);
        let how = How {
            isa: Some(isa),
            ..How::default()
        };
        chains
            .advance(&oracle, &euler, 70, &mut records, &how)
            .unwrap();
        assert_eq!(chains.escapes().count(), 1);
        for (chain, (free, on_scale), lane) in records.chains() {
            let (draws, moments) = on_scale.record();
            let mapped = layout.constrain_draws(&free.chain(lane)).unwrap();
            let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            let x = draws.chain(lane);
            assert_eq!(x.len(), 70 * layout.size());
            if chain == 3 {
                assert!(x[layout.size()..].iter().all(|x| x.is_nan()));
                assert!(moments.mean(1, lane).is_nan());
            } else {
                assert!(bits(&x) == bits(&mapped), "chain {chain} on {isa:?}");
                let mean = x.iter().skip(1).step_by(layout.size()).sum::<f64>() / 70.0;
                assert!((moments.mean(1, lane) - mean).abs() < 1e-13);
            }
        }
    }
}
