//! Posteriors with known answers, to try samplers on.
//!
//! Each target lives on unconstrained coordinates: positive numbers are sampled as their logarithms,
//! probabilities as their logits, and the Jacobian is in the density. Its [`Truth`] has the mean and
//! the standard deviation of every coordinate: exact, by quadrature, or from long runs of another
//! sampler with their standard errors. Data are made in code from fixed seeds.
//!
//! Half of the targets are for tuning, half are [held out](Set::HeldOut): a default that was chosen
//! on the first is judged on the second. Targets that are no distributions have a list of their own.
//!
//! ```
//! use langevin::target::Target;
//! use langevin_posteriors::{Set, Truth, Visit, for_each};
//!
//! /// Counts the coordinates of the targets for tuning.
//! struct Count(usize);
//! impl Visit for Count {
//!     fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
//!         if truth.set == Set::Tuning {
//!             self.0 += target.dim();
//!         }
//!     }
//! }
//! let mut count = Count(0);
//! for_each(&mut count);
//! assert!(count.0 > 1000);
//! ```

/// The two methods of a target whose density and score are one pass, `both`.
macro_rules! in_one_pass {
    () => {
        #[inline(always)]
        fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
            self.both(theta, scratch, out);
        }
        #[inline(always)]
        fn log_density_and_score<R: Real>(
            &self,
            theta: &[R],
            scratch: &mut [R],
            out: &mut [R],
        ) -> R {
            self.both(theta, scratch, out)
        }
    };
}

pub mod bad;
pub mod calibrate;
mod catalogue;
pub mod curved;
mod data;
pub mod explore;
pub mod gaussian;
pub mod hierarchy;
pub mod intercepts;
pub mod items;
pub mod mixture;
pub mod own;
pub mod process;
pub mod quadrature;
mod reference;
pub mod regression;
pub mod series;
pub mod simplex;
pub mod tails;
pub mod trial;
mod truth;
pub mod volatility;

pub use catalogue::{Visit, bad_names, for_each, for_each_bad, names, visit};
pub use truth::{Expect, Known, Moments, Set, Truth};
