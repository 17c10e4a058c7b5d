//! Statistics of draws that are already in memory.
//!
//! | question | answer |
//! |---|---|
//! | Have the chains converged to one distribution? | [`rhat()`] |
//! | Do chains that started apart agree? | [`nested_rhat`] |
//! | How many independent draws are they worth? | [`ess_bulk`], [`ess_tail`], [`ess_mean`], … |
//! | How far may an estimate be off? | [`mcse_mean`], [`mcse_sd`], [`mcse_quantile`] |
//! | All of this for one parameter | [`Summary`] |
//! | Is this run to be believed, and how far? | [`Verdict`] |
//! | The same answers with less noise, from scores | [`ControlVariates`] |
//! | Asymptotic variance of a time average | [`batch_means()`] |
//! | Bias and variance of running averages | [`running`] |
//! | Distance to the target, when its score is known | [`ksd`] |

mod autocov;
mod moments;
mod ranks;
mod scale;
mod special;

pub mod batch_means;
mod batches;
pub mod control_variates;
pub mod draws;
pub mod ess;
pub mod ksd;
pub mod mcse;
pub mod nested;
pub mod quantile;
pub mod rhat;
pub mod running;
pub mod summary;
pub mod tail_index;
#[cfg(test)]
mod testing;
pub mod verdict;

pub use batch_means::{DEFAULT_BATCHES, batch_means, batch_means_over_chains, variance_of_batches};
pub use batches::Batches;
pub use control_variates::ControlVariates;
pub use draws::Draws;
pub use ess::{ess_bulk, ess_mean, ess_quantile, ess_sd, ess_tail};
pub use mcse::{mcse_mean, mcse_quantile, mcse_sd};
pub use moments::Spread;
pub use nested::{nested_rhat, nested_rhat_threshold};
pub use quantile::quantile;
pub use rhat::rhat;
pub use summary::Summary;
pub use tail_index::{TailIndex, tail_index_of_squares};
pub use verdict::{Sample, Verdict, Warning};
