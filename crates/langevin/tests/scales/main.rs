//! Parameters on scales of their own: Jacobians, scores, round trips, extremes, laws, declarations.

#[path = "../common/mod.rs"]
mod common;
mod declarations;
mod foreign;
mod laws;
mod maps;

use langevin::real::Real;
use langevin::rng::{Rng, Stream};
use langevin::scale::Layout;
use langevin::target::Target;

/// One layout for each scale, several vectors where they have any.
const EACH: [&str; 11] = [
    "a[2]",
    "a: positive",
    "a[2,2]: above(-1.5)",
    "a[3]: below(2)",
    "a[2]: interval(-1, 3)",
    "a: interval(0, 1)",
    "a[2,4]: ordered",
    "a[2,4]: simplex",
    "a[2]: simplex",
    "a[2,3]: unit_vector",
    "a[2,4,4]: correlation_cholesky",
];

/// All scales at once.
const ALL: &str = "mu, sigma: positive, a[2,2]: above(-1.5), b: below(2), c[2]: interval(-1, 3), \
                   d[2,3]: ordered, p[2,3]: simplex, v[3]: unit_vector, l[3,3]: correlation_cholesky";

fn layout(text: &str) -> Layout {
    text.parse().unwrap()
}

fn random(seed: u64) -> Rng<f64> {
    Rng::new(seed, 0, Stream::Setup)
}

fn normals(rng: &mut Rng<f64>, n: usize, sd: f64) -> Vec<f64> {
    (0..n).map(|_| sd * rng.normal()).collect()
}

/// A smooth density with no symmetry, of any number of coordinates.
struct Uneven(usize);

impl Target for Uneven {
    fn dim(&self) -> usize {
        self.0
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, x: &[R]) -> R {
        let mut sum = R::zero();
        let mut before = R::of(0.3);
        for (i, x) in x.iter().enumerate() {
            let shifted = *x - 0.1 * (i % 7) as f64;
            sum += (shifted * before).sin() - shifted * shifted * (0.2 + 0.01 * (i % 5) as f64);
            before = *x;
        }
        sum
    }
}
