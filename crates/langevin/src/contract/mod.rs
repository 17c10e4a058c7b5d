//! What every transition promises, as checks that can fail. A transition written elsewhere passes
//! them by one call of [`check`], and [`same_bits`] holds it to its target as well.
//!
//! ```
//! use langevin::contract;
//! use langevin::dynamics::Dynamics;
//! use langevin::transition::Mala;
//! contract::check(&Mala::new(&Dynamics::ld(3), 0.9)?).unwrap();
//! # Ok::<(), langevin::Error>(())
//! ```

mod law;
mod poisoned;

use std::fmt;

use law::{exact_draws_stay_exact, support_is_kept};
use poisoned::Poisoned;

use crate::RunError;
use crate::chain::{Advanced, Chains, How, Records};
use crate::oracle::{Exact, Oracle};
use crate::real::{Isa, Real};
use crate::record::{Averages, Draws, Marks, Moments, Observable, Told};
use crate::rng::{Rng, Stream};
use crate::target::Target;
use crate::transition::{Needs, Transition};

/// A promise that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The promise.
    pub promise: &'static str,
    /// How it was broken.
    pub how: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.promise, self.how)
    }
}

impl std::error::Error for Broken {}

fn broken<T>(promise: &'static str, how: impl fmt::Display) -> Result<T, Broken> {
    let how = how.to_string();
    Err(Broken { promise, how })
}

/// N(0, I).
struct Standard(usize);

impl Target for Standard {
    fn dim(&self) -> usize {
        self.0
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for x in theta {
            sum = x.mul_add(*x, sum);
        }
        sum * -0.5
    }
}

/// N(0, I) where the first coordinate is above 0.
struct Half(usize);

impl Target for Half {
    fn dim(&self) -> usize {
        self.0
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        Standard(self.0).log_density(theta)
    }

    fn positive_coordinates(&self) -> &[usize] {
        &[0]
    }
}

/// Everything that can be checked without knowing the transition's target: bits on N(0, I), scratch
/// space, and for a transition that needs log densities the support and stationarity.
///
/// The statistical part has a fixed seed and a false-alarm rate of 10⁻⁴ over seeds.
pub fn check<X: Transition>(transition: &X) -> Result<(), Broken> {
    let d = transition.dim();
    let target = Standard(d);
    let oracle = Exact::new(&target);
    let starts = exact_draws(d, N_CHAINS, 3);
    same_bits(&oracle, transition, &starts)?;
    scratch_is_free(&oracle, transition, &starts)?;
    if transition.needs() == Needs::Density {
        reports_are_true(&oracle, transition, &starts)?;
        support_is_kept(transition)?;
        exact_draws_stay_exact(&oracle, transition)?;
    }
    Ok(())
}

/// A full pack, and a few chains that fill none.
const N_CHAINS: usize = 19;
/// Two rounds of random numbers, and a part of a third.
const N_STEPS: u64 = 150;

/// Independent draws of N(0, I).
fn exact_draws(d: usize, n: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(seed, 0, Stream::Setup);
    (0..n)
        .map(|_| (0..d).map(|_| rng.normal()).collect())
        .collect()
}

type Everything = (Draws, Moments, Averages);

/// The bits of all that was recorded of a chain, and its number.
type Bits = Vec<(u64, Vec<u64>)>;

/// Records of everything, from a run in pieces.
struct Run<'a, O, X> {
    oracle: &'a O,
    transition: &'a X,
    starts: &'a [Vec<f64>],
}

impl<O: Oracle, X: Transition> Run<'_, O, X> {
    /// Chains `first..first + n`, advanced by each number of steps in turn; each piece goes on from a
    /// snapshot, on the next of the instruction sets.
    fn pieces(
        &self,
        first: usize,
        n: usize,
        pieces: &[u64],
        how: &[How<'_>],
    ) -> Result<Bits, Broken> {
        let failed = |e: RunError| Broken {
            promise: "a transition runs",
            how: e.to_string(),
        };
        let starts = self.starts[first..first + n].to_vec();
        let refused = |e: crate::Error| failed(e.into());
        let mut chains = Chains::new(11, first as u64, starts).map_err(refused)?;
        let marks = Marks::new([50, N_STEPS]).map_err(refused)?;
        let mut records: Records<Everything> = Records::new(&chains, self.oracle, || {
            let draws = Draws::new(0, 1, usize::MAX).with_reports().with_scores();
            let sums = vec![Observable::Sum, Observable::SumOfSquares];
            let averages = Averages::new(sums.into(), marks.clone());
            (draws, Moments::new(7), averages)
        });
        for (piece, how) in pieces.iter().zip(how.iter().cycle()) {
            chains = Chains::restore(chains.snapshot()).map_err(refused)?;
            let done = chains
                .advance(self.oracle, self.transition, *piece, &mut records, how)
                .map_err(failed)?;
            if done != Advanced::Done {
                return broken("a transition runs", "it was cancelled");
            }
        }
        let last: Vec<&[f64]> = chains.states().collect();
        let bits = records.chains().zip(last);
        Ok(bits
            .map(|((chain, record, lane), last)| {
                (chain, bits_of(record, lane, self.transition.dim(), last))
            })
            .collect())
    }
}

fn bits_of(
    (draws, moments, averages): &Everything,
    lane: usize,
    d: usize,
    last: &[f64],
) -> Vec<u64> {
    let mut values = draws.chain(lane);
    values.extend_from_slice(last);
    values.extend(draws.scores(lane).unwrap_or_default());
    for told in draws.reports(lane).unwrap_or_default() {
        values.extend([told.log_density, told.acceptance, told.energy_error]);
    }
    for i in 0..d {
        values.extend([moments.mean(i, lane), moments.variance(i, lane)]);
    }
    for k in 0..2 {
        values.extend(averages.running(k, lane));
    }
    values.into_iter().map(f64::to_bits).collect()
}

/// The states of a chain, what is told about them, their scores and what goes on recording them depend
/// on the seed, the transition and the chain's number alone: not on the instruction set, the number of
/// threads, the other chains, or on where the work was cut.
///
/// There must be 19 initial states.
pub fn same_bits<O: Oracle, X: Transition>(
    oracle: &O,
    transition: &X,
    starts: &[Vec<f64>],
) -> Result<(), Broken> {
    const PROMISE: &str = "the same bits, however they are computed";
    if starts.len() != N_CHAINS {
        return broken(PROMISE, format!("{N_CHAINS} initial states are needed"));
    }
    let run = Run {
        oracle,
        transition,
        starts,
    };
    let how = |isa, threads| How {
        isa: Some(isa),
        threads: Some(threads),
        ..How::default()
    };
    let best = Isa::detect();
    let whole = run.pieces(0, N_CHAINS, &[N_STEPS], &[how(best, 2)])?;
    let all: Vec<How<'_>> = Isa::available()
        .into_iter()
        .map(|isa| how(isa, 1))
        .collect();
    for (isa, how) in Isa::available().into_iter().zip(&all) {
        if run.pieces(0, N_CHAINS, &[N_STEPS], &[*how])? != whole {
            return broken(PROMISE, format!("on {isa:?} they differ"));
        }
        for chain in [0, 7, 17] {
            if run.pieces(chain, 1, &[N_STEPS], &[*how])? != whole[chain..chain + 1] {
                return broken(PROMISE, format!("chain {chain} alone differs on {isa:?}"));
            }
        }
    }
    for cuts in [
        vec![1, 2, 5, 8, 13, 64, 57],
        vec![63, 1, 1, 85],
        vec![130, 20],
        vec![3; 50],
    ] {
        if run.pieces(0, N_CHAINS, &cuts, &all)? != whole {
            return broken(PROMISE, format!("cut into {cuts:?} steps they differ"));
        }
        if run.pieces(17, 1, &cuts, &all)? != whole[17..18] {
            let how = format!("chain 17 alone, cut into {cuts:?} steps, differs");
            return broken(PROMISE, how);
        }
    }
    if run.pieces(5, 12, &[N_STEPS], &[how(best, 1)])? != whole[5..17] {
        return broken(PROMISE, "other chains beside them change them");
    }
    if whole[0].1 == whole[1].1 {
        return broken(PROMISE, "two chains are the same");
    }
    Ok(())
}

/// Nothing is found in scratch space, or in the last step's evaluation, that a step has not put there.
fn scratch_is_free<O: Oracle, X: Transition>(
    oracle: &O,
    transition: &X,
    starts: &[Vec<f64>],
) -> Result<(), Broken> {
    let how = [How::default()];
    let plain = Run {
        oracle,
        transition,
        starts,
    };
    let poisoned = Run {
        oracle,
        transition: &Poisoned(transition),
        starts,
    };
    let steps = [N_STEPS];
    if plain.pieces(0, N_CHAINS, &steps, &how)? != poisoned.pieces(0, N_CHAINS, &steps, &how)? {
        return broken(
            "a step finds what it needs in what is carried",
            "with other numbers in its scratch space it does something else",
        );
    }
    Ok(())
}

/// What is told of a state is so.
fn reports_are_true<X: Transition>(
    oracle: &Exact<'_, Standard>,
    transition: &X,
    starts: &[Vec<f64>],
) -> Result<(), Broken> {
    const PROMISE: &str = "what is told of a state is true";
    let d = transition.dim();
    let draws = draws_of(oracle, transition, starts, N_STEPS)?;
    for (states, told) in draws {
        for (k, (state, told)) in states.chunks_exact(d).zip(told).enumerate() {
            let log_density = Standard(d).log_density(state);
            let off = (told.log_density - log_density).abs();
            if transition.reports() && (off.is_nan() || off > 1e-12 * (1.0 + log_density.abs())) {
                let how = format!("log π is {log_density}, not {}", told.log_density);
                return broken(PROMISE, how);
            }
            if !(0.0..=1.0).contains(&told.acceptance) {
                return broken(PROMISE, format!("acceptance is {}", told.acceptance));
            }
            let from = if k == 0 {
                state
            } else {
                &states[(k - 1) * d..k * d]
            };
            if told.acceptance == 0.0 && from != state {
                return broken(PROMISE, "a state was accepted with probability 0");
            }
        }
    }
    Ok(())
}

/// The states of a chain, and what was told about them.
type Chain = (Vec<f64>, Vec<Told>);

/// Those of every chain.
fn draws_of<O: Oracle, X: Transition>(
    oracle: &O,
    transition: &X,
    starts: &[Vec<f64>],
    n_steps: u64,
) -> Result<Vec<Chain>, Broken> {
    let failed = |e: RunError| Broken {
        promise: "a transition runs",
        how: e.to_string(),
    };
    let chains = Chains::new(5, 0, starts.to_vec());
    let mut chains = chains.map_err(|e| failed(e.into()))?;
    let record = || Draws::new(0, 1, usize::MAX).with_reports();
    let mut records = Records::new(&chains, oracle, record);
    let done = chains.advance(oracle, transition, n_steps, &mut records, &How::default());
    done.map_err(failed)?;
    let chain = |(_, draws, lane): (u64, &Draws, usize)| {
        (draws.chain(lane), draws.reports(lane).unwrap_or_default())
    };
    Ok(records.chains().map(chain).collect())
}
