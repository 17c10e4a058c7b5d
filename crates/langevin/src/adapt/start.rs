//! Where chains begin: scattered, helped into the support, and led to where the mass is.

use super::descent::Descent;
use super::{Settings, superchain_size};
use crate::chain::How;
use crate::oracle::{Oracle, evaluate_together};
use crate::real::Isa;
use crate::rng::{Rng, Stream};
use crate::{Error, RunError, check};

/// Where the chains of a warm-up start.
#[derive(Clone, Debug, PartialEq)]
pub enum Starts {
    /// Each superchain at its own draw from U(−2, 2) in every coordinate (its absolute value where
    /// the coordinate must be above 0), for so many chains.
    Scattered(usize),
    /// Each chain at a given state.
    At(Vec<Vec<f64>>),
}

impl Starts {
    /// Number of chains.
    pub fn n_chains(&self) -> usize {
        match self {
            Starts::Scattered(n) => *n,
            Starts::At(states) => states.len(),
        }
    }
}

/// States tried before a start is given up.
const TRIES: usize = 100;

/// The starts of all chains, and what it took to find them.
pub(super) struct Found {
    pub states: Vec<Vec<f64>>,
    pub scores: Vec<Vec<f64>>,
    /// The variances of the coordinates, as far as the way to there tells them.
    pub variances: Option<Vec<f64>>,
    /// Evaluations for each start.
    pub gradients: u64,
    /// Chains whose own start was not found, and that share another's.
    pub borrowed: usize,
    /// Evaluations that were not finite.
    pub non_finite: u64,
}

/// log π and the score at each of some states.
type Values = (Vec<f64>, Vec<Vec<f64>>);

/// One evaluation of all starts, unless it was asked to stop.
pub(super) struct Look<'a, O> {
    pub oracle: &'a O,
    pub how: &'a How<'a>,
}

impl<O: Oracle> Look<'_, O> {
    /// log π and the score at every state; none if it was asked to stop.
    fn at(&self, states: &[Vec<f64>]) -> Result<Option<Values>, RunError> {
        if self.how.control.cancelled() {
            return Ok(None);
        }
        let isa = self.how.isa.unwrap_or_else(Isa::detect);
        let answer = evaluate_together(self.oracle, &states.concat(), isa);
        let (values, scores) = match answer {
            Ok(answer) => answer,
            // A failure after a request to stop is a way to stop.
            Err(_) if self.how.control.cancelled() => return Ok(None),
            Err(failure) => return Err(RunError::Call(failure)),
        };
        if let Some(progress) = self.how.control.progress {
            progress(states.len() as u64);
        }
        let scores = scores.chunks_exact(self.oracle.dim());
        Ok(Some((values, scores.map(<[f64]>::to_vec).collect())))
    }
}

/// A draw from U(−r, r) around a centre, inside the coordinates' bounds.
fn scatter(rng: &mut Rng<f64>, centre: &[f64], r: f64, positive: &[usize]) -> Vec<f64> {
    let mut state: Vec<f64> = centre
        .iter()
        .map(|c| c + r * (2.0 * rng.uniform() - 1.0))
        .collect();
    for &i in positive {
        state[i] = state[i].abs();
    }
    state
}

/// Finds a start for every chain; none if it was asked to stop.
pub(super) fn find<O: Oracle>(
    oracle: &O,
    seed: u64,
    first_chain: u64,
    starts: &Starts,
    settings: &Settings,
    how: &How<'_>,
) -> Result<Option<Found>, RunError> {
    let (d, n) = (oracle.dim(), starts.n_chains());
    check::at_least("the number of chains", n, 1)?;
    let each = match starts {
        Starts::Scattered(_) => superchain_size(n),
        Starts::At(states) => {
            for state in states {
                check::size("the initial state", state.len(), d)?;
                check::all_finite("the initial state", state)?;
            }
            1
        }
    };
    let positive = oracle.positive_coordinates();
    let look = Look { oracle, how };
    let chain_of = |k: usize| first_chain + (k * each) as u64;
    let mut streams: Vec<Rng<f64>> = (0..n / each)
        .map(|k| Rng::new(seed, chain_of(k), Stream::Start))
        .collect();
    let origin = vec![0.0; d];
    let mut states: Vec<Vec<f64>> = match starts {
        Starts::At(states) => states.clone(),
        Starts::Scattered(_) => streams
            .iter_mut()
            .map(|rng| scatter(rng, &origin, 2.0, positive))
            .collect(),
    };
    let given = states.clone();
    let Some((mut values, mut scores)) = look.at(&states)? else {
        return Ok(None);
    };
    let (mut tries, mut non_finite) = (1, 0);
    loop {
        let bad: Vec<usize> = (0..states.len())
            .filter(|k| !values[*k].is_finite())
            .collect();
        non_finite += bad.len() as u64;
        if bad.is_empty() || tries == TRIES {
            break;
        }
        // From new draws: wide and narrow ones around the origin, or ever wider ones around what was
        // given.
        let share = tries as f64 / TRIES as f64;
        for &k in &bad {
            states[k] = match starts {
                Starts::Scattered(_) => {
                    let r = [2.0, 0.5, 5.0][tries % 3];
                    scatter(&mut streams[k], &origin, r, positive)
                }
                Starts::At(_) => {
                    let r = 0.01 * (2000.0_f64).powf(share);
                    scatter(&mut streams[k], &given[k], r, positive)
                }
            };
        }
        let Some(found) = look.at(&states)? else {
            return Ok(None);
        };
        (values, scores) = found;
        tries += 1;
    }
    let good: Vec<usize> = (0..states.len())
        .filter(|k| values[*k].is_finite())
        .collect();
    let borrowed = states.len() - good.len();
    if good.len() < 2.min(states.len()) || 2 * borrowed > states.len() {
        let at = (0..states.len()).find(|k| !values[*k].is_finite());
        let k = at.unwrap_or(0);
        let (chain, log_density) = (chain_of(k), values[k]);
        let error = Error::NoStart {
            chain,
            tries,
            log_density,
        };
        return Err(error.into());
    }
    let mut turn = good.iter().cycle();
    for k in 0..states.len() {
        if !values[k].is_finite()
            && let Some(&from) = turn.next()
        {
            states[k] = states[from].clone();
            values[k] = values[from];
            scores[k] = scores[from].clone();
        }
    }
    let mut descent = Descent::new(states, values, scores);
    let mut gradients = tries as u64;
    while descent.goes_on() && gradients < u64::from(settings.descent) + tries as u64 {
        let Some((values, scores)) = look.at(&descent.propose())? else {
            return Ok(None);
        };
        non_finite += values.iter().filter(|v| !v.is_finite()).count() as u64;
        descent.take(&values, &scores);
        gradients += 1;
    }
    let variances = descent.variances();
    let (states, scores) = descent.into_points();
    let repeat = |points: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        points
            .into_iter()
            .flat_map(|point| std::iter::repeat_n(point, each))
            .collect()
    };
    Ok(Some(Found {
        states: repeat(states),
        scores: repeat(scores),
        variances,
        gradients,
        borrowed: borrowed * each,
        non_finite,
    }))
}
