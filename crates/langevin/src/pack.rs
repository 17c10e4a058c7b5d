//! Chains as plain numbers, and as many of them as there are lanes.

use crate::batch::{BatchSampler, Gradient};
use crate::blocks::{Blocks, Normals, RowNumbers, Strands, Uniforms};
use crate::real::{Lanes, MAX_WIDTH};
use crate::rng::Stream;
use crate::transition::{Report, Sizes, State};

/// Minibatches that an oracle wants drawn for each step and chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Batches {
    /// How rows are drawn.
    pub gradient: Gradient,
    /// Number of rows to draw from.
    pub n_data: usize,
}

/// The points of one pack of chains, and the place for the answer.
pub struct Query<'a, L: Lanes> {
    /// Number of the chain in the first lane.
    pub first_chain: u64,
    /// Number of chains; lanes beyond are spare.
    pub n_chains: usize,
    /// Where to evaluate.
    pub theta: &'a [L],
    /// The rows of the step, one set per lane; none where no minibatches are drawn.
    pub rows: &'a [L::Bits],
    /// What the oracle remembers of the chains.
    pub memory: &'a mut [L],
    /// Space to work in, of any value.
    pub scratch: &'a mut [L],
    /// Takes log π, where it is wanted.
    pub log_density: &'a mut L,
    /// Takes the score.
    pub score: &'a mut [L],
    /// Takes what is given beyond.
    pub given: &'a mut [L],
}

/// One chain.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ChainState {
    pub theta: Vec<f64>,
    /// Number of its first bad state, if it has left the finite numbers or the support.
    pub ended: Option<u64>,
    /// What the transition carries.
    pub carried: Vec<f64>,
    /// What it told about the state.
    pub report: [f64; 3],
    /// Generators; none before the first step.
    pub normals: Option<Box<Strands>>,
    pub uniforms: Option<Box<Strands>>,
    pub rows: Option<Box<Strands>>,
    /// Where the shuffle of its rows left off.
    pub permutation: Vec<u32>,
    /// What the oracle remembers.
    pub memory: Vec<f64>,
}

impl ChainState {
    pub fn new(theta: &[f64]) -> Self {
        ChainState {
            theta: theta.to_vec(),
            ended: None,
            carried: vec![],
            report: [f64::NAN, 1.0, 0.0],
            normals: None,
            uniforms: None,
            rows: None,
            permutation: vec![],
            memory: vec![],
        }
    }
}

/// What the packs of a team have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub seed: u64,
    pub dim: usize,
    pub sizes: Sizes,
    pub batches: Option<Batches>,
    pub memory: usize,
    pub given: usize,
    /// Steps in a block; a multiple of a turn.
    pub block_len: usize,
    pub reports: bool,
    pub scores: bool,
}

/// The chains of a pack, and all that belongs to them.
pub(crate) struct Pack<L: Lanes> {
    /// Number of the chain in the first lane.
    pub first_chain: u64,
    pub n_chains: usize,
    /// Lane of the record that the first chain has.
    pub lane: usize,
    pub theta: Vec<L>,
    pub log_density: L,
    pub score: Vec<L>,
    pub carried: Vec<L>,
    pub report: Report<L>,
    pub given: Vec<L>,
    memory: Vec<L>,
    pub scratch: Vec<L>,
    pub normals: Blocks<L, Normals<L>>,
    pub uniforms: Blocks<L, Uniforms<L>>,
    pub rows: Option<Blocks<L, RowNumbers<L>>>,
    /// The states of the block, what was told about them, and their scores.
    pub states: Vec<L>,
    pub reports: Vec<Report<L>>,
    pub scores: Vec<L>,
}

/// Numbers of chains in lanes; spare lanes repeat the last chain.
pub(crate) fn pack<L: Lanes>(
    chains: &[ChainState],
    len: usize,
    numbers: impl Fn(&ChainState) -> &[f64],
) -> Vec<L> {
    let mut lanes = [0.0; MAX_WIDTH];
    let last = chains.len() - 1;
    (0..len)
        .map(|i| {
            for (lane, value) in lanes.iter_mut().enumerate() {
                *value = numbers(&chains[lane.min(last)])
                    .get(i)
                    .copied()
                    .unwrap_or(0.0);
            }
            L::load(&lanes)
        })
        .collect()
}

/// Copies a few packs without a call: states are short.
#[inline(always)]
fn copy<L: Lanes>(from: &[L], to: &mut [L]) {
    let (fours, rest) = from.as_chunks::<4>();
    let (places, last) = to.as_chunks_mut::<4>();
    for (x, place) in fours.iter().zip(places) {
        // (One by one: the compiler would make a call of a loop over fours.)
        let [a, b, c, d] = *x;
        place[0] = a;
        place[1] = b;
        place[2] = c;
        place[3] = d;
    }
    for (x, place) in rest.iter().zip(last) {
        *place = *x;
    }
}

/// The numbers of the chain in a lane.
fn lane_of<L: Lanes>(packs: &[L], lane: usize) -> Vec<f64> {
    let lanes = L::numbers(packs).iter().skip(lane).step_by(L::WIDTH);
    lanes.copied().collect()
}

/// The strands of chains, those that have not begun included.
fn strands(
    layout: &Layout,
    first: u64,
    chains: &[ChainState],
    stream: Stream,
    of: impl Fn(&ChainState) -> &Option<Box<Strands>>,
) -> Vec<Strands> {
    let new = |i: usize| Strands::new(layout.seed, first + i as u64, stream);
    let one = |(i, chain)| match of(chain) {
        Some(strands) => (**strands).clone(),
        None => new(i),
    };
    chains.iter().enumerate().map(one).collect()
}

/// The minibatches of some chains, from where their shuffles left off.
fn batches<L: Lanes>(batches: &Batches, chains: &[ChainState]) -> Option<BatchSampler> {
    let sampler = BatchSampler::new(batches.gradient, batches.n_data)?;
    if chains.iter().all(|chain| chain.permutation.is_empty()) {
        return Some(sampler);
    }
    let all = (0..L::WIDTH).flat_map(|lane| {
        let given = &chains[lane.min(chains.len() - 1)].permutation;
        match given.is_empty() {
            true => (0..batches.n_data as u32).collect(),
            false => given.clone(),
        }
    });
    Some(sampler.with_permutations(all.collect()))
}

impl<L: Lanes> Pack<L> {
    /// Packs up to [`Lanes::WIDTH`] chains.
    pub fn new(layout: &Layout, first_chain: u64, lane: usize, chains: &[ChainState]) -> Self {
        let (d, sizes, len) = (layout.dim, layout.sizes, layout.block_len);
        let of = |stream, of: fn(&ChainState) -> &Option<Box<Strands>>| {
            strands(layout, first_chain, chains, stream, of)
        };
        let rows = layout.batches.as_ref().and_then(|wanted| {
            let rows = RowNumbers::new(batches::<L>(wanted, chains)?, len);
            Some(Blocks::new(&of(Stream::Batch, |c| &c.rows), rows))
        });
        let told = pack::<L>(chains, 3, |chain| &chain.report);
        Pack {
            first_chain,
            n_chains: chains.len(),
            lane,
            theta: pack(chains, d, |chain| &chain.theta),
            log_density: L::zero(),
            score: vec![L::zero(); d],
            carried: pack(chains, sizes.carried, |chain| &chain.carried),
            report: Report {
                log_density: told[0],
                acceptance: told[1],
                energy_error: told[2],
            },
            given: vec![L::zero(); layout.given],
            memory: pack(chains, layout.memory, |chain| &chain.memory),
            scratch: vec![L::zero(); sizes.scratch],
            normals: Blocks::new(
                &of(Stream::Noise, |c| &c.normals),
                Normals::new(sizes.normals, len),
            ),
            uniforms: Blocks::new(
                &of(Stream::Uniform, |c| &c.uniforms),
                Uniforms::new(sizes.uniforms, len),
            ),
            rows,
            states: vec![L::zero(); len * d],
            reports: vec![Report::default(); if layout.reports { len } else { 0 }],
            scores: vec![L::zero(); if layout.scores { len * d } else { 0 }],
        }
    }

    /// A pack of plain states, for evaluations alone.
    pub fn at_states(states: &[f64], dim: usize, given: usize) -> Self {
        let layout = Layout {
            seed: 0,
            dim,
            sizes: Sizes::default(),
            batches: None,
            memory: 0,
            given,
            block_len: 0,
            reports: false,
            scores: false,
        };
        let chains: Vec<ChainState> = states.chunks_exact(dim).map(ChainState::new).collect();
        Self::new(&layout, 0, 0, &chains)
    }

    /// Appends log π and the score of each chain.
    pub fn read_answers(&self, values: &mut Vec<f64>, scores: &mut Vec<f64>) {
        for lane in 0..self.n_chains {
            values.push(self.log_density.lane(lane));
            scores.extend(lane_of(&self.score, lane));
        }
    }

    /// What an oracle sees at step `i` of the block.
    #[inline(always)]
    pub fn query<'a>(&'a mut self, i: usize, scratch: &'a mut [L]) -> Query<'a, L> {
        Query {
            first_chain: self.first_chain,
            n_chains: self.n_chains,
            theta: &self.theta,
            rows: match &self.rows {
                Some(rows) => rows.fill.at(i),
                None => &[],
            },
            memory: &mut self.memory,
            scratch,
            log_density: &mut self.log_density,
            score: &mut self.score,
            given: &mut self.given,
        }
    }

    /// What a transition sees at step `i` of the block.
    #[inline(always)]
    pub fn state(&mut self, i: usize) -> State<'_, L> {
        State {
            theta: &mut self.theta,
            log_density: self.log_density,
            score: &mut self.score,
            carried: &mut self.carried,
            normals: self.normals.fill.at(i),
            uniforms: self.uniforms.fill.at(i),
            scratch: &mut self.scratch,
            given: &mut self.given,
            report: &mut self.report,
        }
    }

    /// Draws the random numbers of the first `needed` steps of a block that begins with step `first`
    /// of the streams.
    #[inline(always)]
    pub fn draw(&mut self, first: u64, needed: usize) {
        self.normals.draw(first, needed);
        if !self.uniforms.fill.is_empty() {
            self.uniforms.draw(first, needed);
        }
        if let Some(rows) = &mut self.rows {
            rows.draw(first, needed);
        }
    }

    /// Keeps the present state, and what was told about it, as number `i` of the block.
    #[inline(always)]
    pub fn keep(&mut self, i: usize) {
        let d = self.theta.len();
        copy(&self.theta, &mut self.states[i * d..(i + 1) * d]);
        if let Some(report) = self.reports.get_mut(i) {
            *report = self.report;
        }
    }

    /// Keeps the score that was just evaluated as that of state `i` of the block.
    #[inline(always)]
    pub fn keep_score(&mut self, i: usize) {
        let d = self.theta.len();
        if let Some(place) = self.scores.get_mut(i * d..(i + 1) * d) {
            place.copy_from_slice(&self.score);
        }
    }

    /// The same for a score that is carried.
    #[inline(always)]
    pub fn keep_carried_score(&mut self, i: usize, from: usize) {
        let d = self.theta.len();
        if let Some(place) = self.scores.get_mut(i * d..(i + 1) * d) {
            place.copy_from_slice(&self.carried[from..from + d]);
        }
    }

    /// log π is −∞ and the score 0 wherever the state, log π or the score is not finite or a
    /// coordinate that must be above 0 is not.
    #[inline(always)]
    pub fn close_support(&mut self, positive: &[usize]) {
        // x·0 is NaN for every x that is not finite, and NaN stays in the sum.
        let mut zero = self.log_density * L::zero();
        for x in self.score.iter().chain(&self.theta) {
            zero = x.mul_add(L::zero(), zero);
        }
        for &i in positive {
            zero = L::if_less(L::zero(), self.theta[i], zero, L::of(f64::NAN));
        }
        let (one, outside) = (L::one(), L::of(f64::NEG_INFINITY));
        self.log_density = L::if_less(zero, one, self.log_density, outside);
        for s in &mut self.score {
            *s = L::if_less(zero, one, *s, L::zero());
        }
    }

    /// Writes everything back to the chains.
    pub fn finish(self, chains: &mut [ChainState]) {
        let n = chains.len();
        for (lane, chain) in chains.iter_mut().enumerate() {
            chain.theta = lane_of(&self.theta, lane);
            chain.carried = lane_of(&self.carried, lane);
            chain.memory = lane_of(&self.memory, lane);
            let told = self.report;
            let told = [told.log_density, told.acceptance, told.energy_error];
            chain.report = told.map(|x| x.lane(lane));
        }
        let mut strands = vec![Strands::default(); n];
        self.normals.finish(&mut strands);
        put(&strands, chains, |chain| &mut chain.normals);
        if !self.uniforms.fill.is_empty() {
            self.uniforms.finish(&mut strands);
            put(&strands, chains, |chain| &mut chain.uniforms);
        }
        if let Some(rows) = self.rows {
            let permutations = rows.finish(&mut strands);
            put(&strands, chains, |chain| &mut chain.rows);
            let each = permutations.len() / L::WIDTH;
            for (lane, chain) in chains.iter_mut().enumerate() {
                chain.permutation = permutations[lane * each..(lane + 1) * each].to_vec();
            }
        }
    }
}

fn put(
    strands: &[Strands],
    chains: &mut [ChainState],
    place: impl Fn(&mut ChainState) -> &mut Option<Box<Strands>>,
) {
    for (strands, chain) in strands.iter().zip(chains) {
        *place(chain) = Some(Box::new(strands.clone()));
    }
}
