//! Chains that can stop after any step and go on.

use crate::blocks::{Normals, TURN};
use crate::oracle::Oracle;
use crate::pack::{Batches, ChainState, Layout};
use crate::transition::{Moves, Needs, Sizes};
use crate::{Error, Result, batch::BatchSampler, check};

/// Chains between two steps: plain numbers of each chain, nothing of how they are computed.
///
/// [`advance`](Self::advance) goes on by any number of steps. The states depend on the seed, the
/// transition and the chain's number alone: not on where the work was cut, on the width of packs or
/// on the number of threads.
///
/// ```
/// use langevin::chain::{Chains, How, Records};
/// use langevin::dynamics::Dynamics;
/// use langevin::models::NormalParameters;
/// use langevin::oracle::Exact;
/// use langevin::record::Moments;
/// use langevin::transition::{EulerMaruyama, StepSize};
///
/// let target = NormalParameters::new((0..30).map(f64::from).collect())?;
/// let dynamics = Dynamics::rm(target.natural());
/// let euler = EulerMaruyama::<_>::new(&dynamics, StepSize::Constant(0.1))?;
/// let oracle = Exact::new(&target);
/// let mut chains = Chains::new(7, 0, vec![vec![10.0, 9.0]; 4])?;
/// let mut records = Records::new(&chains, &oracle, || Moments::new(100));
/// chains.advance(&oracle, &euler, 1001, &mut records, &How::default())?;
/// let saved = chains.snapshot();
/// let mut again = Chains::restore(saved)?;
/// again.advance(&oracle, &euler, 999, &mut records, &How::default())?;
/// assert_eq!(again.step(), 2000);
/// let (_, moments, lane) = records.chains().next().unwrap();
/// assert_eq!(moments.count(), 1900);
/// assert!((moments.mean(0, lane) - 14.5).abs() < 5.0);
/// # Ok::<(), langevin::chain::RunError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Chains(Snapshot);

/// Everything that chains need to go on, as plain data.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot {
    pub(super) seed: u64,
    pub(super) first_chain: u64,
    pub(super) dim: usize,
    /// Number of the present state.
    pub(super) step: u64,
    /// The step at which the streams of random numbers last changed their purpose.
    pub(super) origin: u64,
    /// The transition that moves the chains, once one does.
    pub(super) transition: Option<Moved>,
    /// What was drawn for each step.
    pub(super) batches: Option<Batches>,
    pub(super) chains: Vec<ChainState>,
}

/// By what chains are moved.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Moved {
    pub name: String,
    pub sizes: Sizes,
    /// Whether what is carried has been filled in.
    pub started: bool,
}

impl Chains {
    /// Chains `first_chain`, `first_chain + 1`, … at their initial states.
    pub fn new(seed: u64, first_chain: u64, starts: Vec<Vec<f64>>) -> Result<Self> {
        check::at_least("the number of chains", starts.len(), 1)?;
        let dim = starts[0].len();
        check::at_least("the number of coordinates", dim, 1)?;
        for theta in &starts {
            check::size("the initial state", theta.len(), dim)?;
            check::all_finite("the initial state", theta)?;
        }
        Ok(Chains(Snapshot {
            seed,
            first_chain,
            dim,
            step: 0,
            origin: 0,
            transition: None,
            batches: None,
            chains: starts.iter().map(|theta| ChainState::new(theta)).collect(),
        }))
    }

    /// Number of chains.
    pub fn n_chains(&self) -> usize {
        self.0.chains.len()
    }

    /// Number of the first chain.
    pub fn first_chain(&self) -> u64 {
        self.0.first_chain
    }

    /// Number of coordinates.
    pub fn dim(&self) -> usize {
        self.0.dim
    }

    /// Number of steps taken.
    pub fn step(&self) -> u64 {
        self.0.step
    }

    /// The present states.
    pub fn states(&self) -> impl Iterator<Item = &[f64]> {
        self.0.chains.iter().map(|chain| chain.theta.as_slice())
    }

    /// The first bad state of each chain that has left the finite numbers or the support.
    pub fn escapes(&self) -> impl Iterator<Item = super::Escape> {
        let chains = (self.0.first_chain..).zip(&self.0.chains);
        chains.filter_map(|(chain, state)| {
            let step = state.ended?;
            Some(super::Escape { chain, step })
        })
    }

    /// Everything that is needed to go on elsewhere.
    pub fn snapshot(&self) -> Snapshot {
        self.0.clone()
    }

    /// Goes on from a snapshot, whose parts must be of one piece.
    pub fn restore(snapshot: Snapshot) -> Result<Self> {
        let wrong = |reason: String| {
            let name = "a snapshot";
            Err(Error::Mismatch { name, reason })
        };
        let Snapshot { dim, step, .. } = snapshot;
        check::at_least("the number of chains", snapshot.chains.len(), 1)?;
        if dim == 0 || snapshot.origin > step {
            return wrong(format!(
                "dimension {dim}, streams from step {} at step {step}",
                snapshot.origin
            ));
        }
        let carried = snapshot.transition.as_ref().map_or(0, |m| m.sizes.carried);
        let rows = snapshot.batches.map_or(0, |batches| batches.n_data);
        for (i, chain) in snapshot.chains.iter().enumerate() {
            let good = chain.theta.len() == dim
                && chain.carried.len() == carried
                && (chain.permutation.is_empty() || is_permutation(&chain.permutation, rows));
            if !good {
                return wrong(format!("chain {i} of it is of another size"));
            }
        }
        if let Some(batches) = snapshot.batches {
            batches.gradient.check(batches.n_data)?;
        }
        Ok(Chains(snapshot))
    }

    /// Makes the streams and what is carried ready for a transition and an oracle; returns whether
    /// the transition has to be started. To do so twice is to do so once.
    pub(super) fn prepare(&mut self, oracle: &dyn Oracle, moves: &Moves) -> Result<bool> {
        let d = self.dim();
        check::size("the transition", moves.dim, d)?;
        check::size("the target", oracle.dim(), d)?;
        let (name, sizes) = (moves.name, moves.sizes);
        if moves.needs == Needs::Density {
            if oracle.batches().is_some() {
                return Err(Error::NotExact { transition: name });
            }
            if !oracle.has_log_density() {
                return Err(Error::NoDensity { transition: name });
            }
        }
        let now = &mut self.0;
        let kept = |s: &Sizes| (s.normals, s.uniforms, s.carried);
        let same = now
            .transition
            .as_ref()
            .is_some_and(|m| m.name == name && kept(&m.sizes) == kept(&sizes));
        let batches = oracle.batches();
        if !same || now.batches != batches {
            now.end_turns();
            now.origin = now.step;
        }
        if now.batches != batches {
            for chain in &mut now.chains {
                chain.permutation.clear();
            }
            now.batches = batches;
        }
        for chain in &mut now.chains {
            chain.memory.resize(oracle.memory_len(), 0.0);
            if !same {
                chain.carried = vec![0.0; sizes.carried];
                chain.report = [f64::NAN, 1.0, 0.0];
            }
        }
        if !same {
            now.transition = Some(Moved {
                name: name.into(),
                sizes,
                started: false,
            });
        }
        Ok(now.transition.as_ref().is_some_and(|m| !m.started))
    }

    /// Moves a chain (by its place) to where another is, with what that one carries of its state: the
    /// first numbers of what the transition keeps.
    pub(crate) fn relocate(&mut self, chain: usize, to: usize, carried: usize) {
        let there = self.0.chains[to].clone();
        let chain = &mut self.0.chains[chain];
        chain.theta = there.theta;
        chain.carried[..carried].copy_from_slice(&there.carried[..carried]);
        chain.report = there.report;
        chain.ended = None;
    }

    pub(super) fn parts(&self) -> &Snapshot {
        &self.0
    }

    pub(super) fn parts_mut(&mut self) -> &mut Snapshot {
        &mut self.0
    }

    /// What all packs of these chains have in common.
    pub(super) fn layout(&self, oracle: &dyn Oracle, moves: &Moves, scores: bool) -> Layout {
        Layout {
            seed: self.0.seed,
            dim: self.0.dim,
            sizes: moves.sizes,
            batches: oracle.batches(),
            memory: oracle.memory_len(),
            given: oracle.given_len(),
            block_len: 0,
            reports: moves.reports,
            scores,
        }
    }
}

impl Snapshot {
    /// Leaves out what is left of the turn that the streams are in.
    fn end_turns(&mut self) {
        let at = self.step - self.origin;
        let sizes = self
            .transition
            .as_ref()
            .map_or(Sizes::default(), |m| m.sizes);
        let words = self
            .batches
            .and_then(|b| BatchSampler::new(b.gradient, b.n_data))
            .map_or(0, |sampler| sampler.words_per_batch() * TURN);
        for chain in &mut self.chains {
            let normals = Normals::<f64>::words_per_turn(sizes.normals);
            let uniforms = Normals::<f64>::words_per_turn(sizes.uniforms);
            for (strands, words) in [
                (&mut chain.normals, normals),
                (&mut chain.uniforms, uniforms),
                (&mut chain.rows, words),
            ] {
                if let Some(strands) = strands {
                    strands.end_turn(at, words);
                }
            }
        }
    }
}

/// Whether a list holds every number below `n` once.
fn is_permutation(list: &[u32], n: usize) -> bool {
    let mut seen = vec![false; n];
    list.len() == n
        && list.iter().all(|i| {
            seen.get_mut(*i as usize)
                .is_some_and(|s| !std::mem::replace(s, true))
        })
}
