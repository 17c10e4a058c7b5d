//! Exact answers: what a sampler must return, computed without sampling.
//!
//! | question | answer |
//! |---|---|
//! | Gaussian target, continuous time | [`LinearDiffusion`] |
//! | Gaussian target, Euler–Maruyama chain, minibatch gradients | [`EulerChain`] |
//! | mean and standard deviation of normal data | [`NormalPosterior`], [`NormalDiffusion`] |
//! | isotropic Gaussian in the plane, closed forms | [`PlanarChain`] |
//!
//! Two quantities recur. The *asymptotic variance* of an observable φ is
//! `lim T · Var(φ̄_T)`, with φ̄_T the average over a time T. The *batch means* estimator of it
//! takes the empirical variance (divisor `n_batches − 1`) of the averages over consecutive
//! batches, times the length of a batch; for batches of finite length it is biased, and its exact
//! expectation is what a simulation has to be compared with.

mod discretization;
mod euler;
mod galerkin;
mod gaussian;
mod krylov;
mod matrix;
mod noise;
mod normal;
mod observable;
mod path_sum;

pub use discretization::PlanarChain;
pub use euler::{EulerChain, Moments, Start};
pub use galerkin::{NormalDiffusion, NormalMetric, NormalSkew};
pub use gaussian::LinearDiffusion;
pub use noise::{GradientNoise, Sampling};
pub use normal::NormalPosterior;
pub use observable::Observable;
