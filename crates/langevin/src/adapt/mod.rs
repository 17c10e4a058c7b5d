//! Warm-up: from nothing but a target to chains in its typical set and a transition tuned to it.
//!
//! An ordinary caller of [`Chains::advance`]. Everything is learnt from all chains together, in the
//! order of the chains, so that neither threads nor the width of packs change a bit; then it is frozen.
//!
//! ```
//! use langevin::adapt::{Settings, Starts, warm_up};
//! use langevin::chain::{How, Records};
//! use langevin::models::LogisticRegression;
//! use langevin::oracle::Exact;
//! use langevin::record::Moments;
//!
//! let model = LogisticRegression::new(vec![1.0, -1.0, 0.3, 2.0], 1, &[1.0, 0.0, 0.0, 1.0], 0.5)?;
//! let (oracle, how) = (Exact::new(&model), How::default());
//! let (starts, settings) = (Starts::Scattered(16), Settings::default());
//! let Some(mut warm) = warm_up(&oracle, 7, 0, &starts, &settings, &how)? else {
//!     unreachable!("nobody asked it to stop")
//! };
//! assert!(warm.record.converged);
//! let first = warm.chains.step();
//! let mut records = Records::new(&warm.chains, &oracle, || Moments::new(first));
//! warm.chains.advance(&oracle, &warm.tuned, 500, &mut records, &how)?;
//! # Ok::<(), langevin::RunError>(())
//! ```
//!
//! **Superchains.** Chains that share a start are neighbours: chain `i` of a warm-up with scattered
//! starts belongs to superchain `i / superchain_size(n)`. There are as many starts as a pack has lanes,
//! sixteen, or one for each chain if there are fewer: every start is paid for by a descent, more chains
//! than that are for speed, and with sixteen means the variance between superchains is known to a
//! third. With given starts each chain is a superchain of its own.

mod descent;
mod sampler;
mod seen;
mod shape;
mod start;
mod told;
mod windows;

pub use sampler::Sampler;
pub use start::Starts;

use crate::chain::{Chains, How, Records};
use crate::oracle::Oracle;
use crate::record::Draws;
use crate::transition::Hamiltonian;
use crate::{Error, RunError, check};

/// What can be chosen about a warm-up; nothing has to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The mean acceptance that the angle is tuned to.
    pub target_accept: f64,
    /// Most iterations; it ends earlier where it can.
    pub tune: u64,
    /// Most gradients of each chain.
    pub max_gradients: u64,
    /// Most gradients of the descent from each start; with 0, chains begin where they start.
    pub descent: u32,
    /// Largest dimension in which the metric is dense.
    pub dense_up_to: usize,
    /// Whether the draws of the warm-up are kept.
    pub keep_draws: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            target_accept: 0.8,
            tune: 1500,
            max_gradients: 100_000,
            descent: 100,
            dense_up_to: 300,
            keep_draws: false,
        }
    }
}

/// One window of a warm-up.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Window {
    /// Steps of each chain.
    pub iterations: u64,
    /// Gradients of each chain.
    pub gradients: u64,
    /// Mean acceptance over all chains.
    pub acceptance: f64,
    /// That of the chain with the lowest.
    pub lowest_acceptance: f64,
    /// Angle of a leap at its end.
    pub angle: f64,
    /// Gradients of a step at its end, on average.
    pub leaps: f64,
    /// Largest R-hat of all coordinates, over the window.
    pub rhat: f64,
    /// Largest eigenvalue of the covariance of the whitened scores: near 1 for a Gaussian.
    pub curvature: f64,
    /// Chains that were stuck and moved to where another was.
    pub relocated: usize,
    /// Proposals at which log π or the score was not finite.
    pub non_finite: u64,
}

/// What a warm-up went through.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// Window after window; the last is the one in which the frozen metric got its angle.
    pub windows: Vec<Window>,
    /// Gradients for each start before the first step.
    pub start_gradients: u64,
    /// Gradients of each chain in all, those included.
    pub gradients: u64,
    /// Chains whose own start was not found, so that they share another's.
    pub borrowed_starts: usize,
    /// Evaluations that were not finite before the first step.
    pub non_finite_starts: u64,
    /// Number of neighbouring chains that share a start.
    pub superchain_size: usize,
    /// Whether it ended because all was well, not because its limit was reached.
    pub converged: bool,
    /// Whether some chains accept much less than others: narrow places.
    pub hard: bool,
}

impl Report {
    /// Chains that were moved, in all windows.
    pub fn relocated(&self) -> usize {
        self.windows.iter().map(|w| w.relocated).sum()
    }

    /// Evaluations that were not finite, from the first on.
    pub fn non_finite(&self) -> u64 {
        self.non_finite_starts + self.windows.iter().map(|w| w.non_finite).sum::<u64>()
    }
}

/// What a warm-up ends with.
#[derive(Clone, Debug)]
pub struct WarmUp {
    /// The chains, ready to go on.
    pub chains: Chains,
    /// The transition, frozen.
    pub tuned: Hamiltonian,
    /// What it went through.
    pub record: Report,
    /// The draws of each window, if they were to be kept.
    pub draws: Vec<Records<Draws>>,
}

/// Number of neighbouring chains that share a scattered start: the largest power of two that leaves
/// sixteen starts or more.
///
/// ```
/// use langevin::adapt::superchain_size;
/// assert_eq!([4, 16, 24, 32, 64].map(superchain_size), [1, 1, 1, 2, 4]);
/// ```
pub fn superchain_size(n_chains: usize) -> usize {
    let mut size = 1;
    while n_chains.is_multiple_of(2 * size) && n_chains / (2 * size) >= 16 {
        size *= 2;
    }
    size
}

/// What an evaluation costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Arithmetic in lanes: a gradient of one chain costs as much as of sixteen.
    Lanes,
    /// A call of foreign code, whose price grows with the number of chains.
    Call,
}

/// The number of chains that serves best, if nobody chooses.
///
/// The warm-up is paid once for each chain, so that few chains are cheaper in all: German credit from
/// cold to 10 000 effective draws took 55 ms of one core with 16 chains and 72 ms with 64. More of them
/// keep more cores busy, sixteen in each, and see more starts. Where the metric has many coordinates, its
/// products cost d² for each chain and gradient, and where each gradient is a call, its price counts.
///
/// ```
/// use langevin::adapt::{Cost, default_n_chains};
/// assert_eq!(default_n_chains(20, Cost::Lanes), 64);
/// assert_eq!(default_n_chains(20, Cost::Call), 16);
/// ```
pub fn default_n_chains(dim: usize, cost: Cost) -> usize {
    match cost {
        Cost::Lanes if dim <= 50 => 64,
        Cost::Lanes if dim <= 200 => 32,
        Cost::Call if dim > 1000 => 8,
        _ => 16,
    }
}

/// Warms up chains `first_chain`, `first_chain + 1`, … on a target; none if it was asked to stop.
///
/// Starts are found ([`Starts`]) and led up to where the mass is by a descent that is ended on the way.
/// Then come windows of steps, each longer than the one before: the angle follows the acceptance within
/// a window, the metric is that of the window before. In a window chains that are stuck are moved to
/// others, later never. Once the chains agree and the angle is at rest, the metric is taken from the
/// last window, the angle once more from some steps with it, and nothing changes any more.
pub fn warm_up<O: Oracle>(
    oracle: &O,
    seed: u64,
    first_chain: u64,
    starts: &Starts,
    settings: &Settings,
    how: &How<'_>,
) -> Result<Option<WarmUp>, RunError> {
    let (name, value) = ("target_accept", settings.target_accept);
    if !(value > 0.2 && value < 0.999) {
        let (low, high) = (0.2, 0.999);
        let error = Error::OutOfRange {
            name,
            value,
            low,
            high,
        };
        return Err(error.into());
    }
    let transition = "a warm-up";
    if oracle.batches().is_some() {
        return Err(Error::NotExact { transition }.into());
    }
    if !oracle.has_log_density() {
        return Err(Error::NoDensity { transition }.into());
    }
    let run = |how: &How<'_>| {
        let found = start::find(oracle, seed, first_chain, starts, settings, how)?;
        let Some(found) = found else { return Ok(None) };
        windows::run(oracle, seed, first_chain, found, starts, settings, how)
    };
    // One pool for all its calls.
    let Some(threads) = how.threads else {
        return run(how);
    };
    check::at_least("the number of threads", threads, 1)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Error::Threads {
        threads,
        reason: e.to_string(),
    })?;
    let how = How {
        threads: None,
        ..*how
    };
    pool.install(|| run(&how))
}
