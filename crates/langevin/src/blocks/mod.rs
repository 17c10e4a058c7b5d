//! Random numbers for blocks of steps: normal and uniform numbers, and the rows of minibatches.
//!
//! A chain draws from eight strands, each a generator of its own. A strand serves eight steps, a
//! turn; then the next has its turn. Chains in lanes all draw from the same strand at a time. A chain
//! that is alone has its strands in lanes instead, draws whole rounds of 64 steps at once, and gets
//! the same numbers.
//!
//! Work can stop after any step and go on later, in packs of another width. What is kept of a strand
//! is its state at the start of the turn that it is in or that comes next ([`Strands`]): the numbers
//! of a turn that was cut are drawn again. Blocks begin with a turn and never draw beyond the turn
//! of the last step that is asked for.

mod rounds;

use rounds::{NumbersRound, RowsRound, SumsRound};

use crate::batch::BatchSampler;
use crate::real::{BitLanes, Isa, Lanes, Work};
use crate::rng::{Rng, STRANDS, Stream, initial_state};
use crate::target::Sums;

/// Steps that a strand serves in a turn.
pub(crate) const TURN: usize = 8;
/// Steps until the first strand has its turn again.
pub(crate) const ROUND: usize = STRANDS * TURN;
// The numbers of a turn are turned into their order by squares of strands.
const _: () = assert!(TURN.is_multiple_of(STRANDS));

/// The strand that serves a step, counted from where the streams began.
fn strand_of(step: u64) -> usize {
    (step / TURN as u64) as usize % STRANDS
}

/// The strands of one chain for one purpose, between two steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strands([[u64; 4]; STRANDS]);

impl Strands {
    /// Those of a chain that has not begun.
    pub(crate) fn new(seed: u64, chain: u64, stream: Stream) -> Self {
        Strands(std::array::from_fn(|s| {
            initial_state(seed, chain, stream, s as u64)
        }))
    }

    /// Leaves out what is left of the turn that `step` is in, each of whose steps takes `words`:
    /// whoever draws other numbers from here on never meets one that was used.
    pub(crate) fn end_turn(&mut self, step: u64, words_per_turn: usize) {
        if !step.is_multiple_of(TURN as u64) {
            let state = &mut self.0[strand_of(step)];
            let mut rng = Rng::<f64>::from_states(&[*state]);
            for _ in 0..words_per_turn {
                rng.next_word();
            }
            *state = rng.state();
        }
    }
}

/// What is drawn for each step.
pub(crate) trait Fill<L: Lanes> {
    /// What a chain remembers beside its strands, for all chains of the pack.
    type Memory: Clone;

    /// Draws the numbers of `n` steps from step `first` of the block on.
    fn turn(&mut self, rng: &mut Rng<L>, first: usize, n: usize);

    /// For one chain: draws a round from step `first` of the block on, all strands at once.
    fn round(&mut self, strands: &mut [[u64; 4]; STRANDS], first: usize);

    /// What is remembered.
    fn memory(&self) -> Self::Memory;
}

/// Draws block after block for the chains of one pack.
pub(crate) struct Blocks<L: Lanes, F: Fill<L>> {
    strands: [Rng<L>; STRANDS],
    pub fill: F,
    /// The strand of the turn that was cut by the end of the work, as it was before, with the memory.
    cut: Option<(usize, Rng<L>, F::Memory)>,
}

impl<L: Lanes, F: Fill<L>> Blocks<L, F> {
    /// Goes on from the strands of the chains in the lanes.
    pub fn new(chains: &[Strands], fill: F) -> Self {
        let strand = |s: usize| {
            let states: Vec<[u64; 4]> = chains.iter().map(|chain| chain.0[s]).collect();
            Rng::from_states(&states)
        };
        Blocks {
            strands: std::array::from_fn(strand),
            fill,
            cut: None,
        }
    }

    /// Draws for the first `needed` steps of a block. The block begins with step `first` of the
    /// streams, which begins a turn.
    #[inline(always)]
    pub fn draw(&mut self, first: u64, needed: usize) {
        L::enter(Draw {
            blocks: self,
            first,
            needed,
        });
    }

    /// The same strands, from which something else is drawn.
    pub fn with_fill<G: Fill<L>>(&self, fill: G) -> Blocks<L, G> {
        Blocks {
            strands: self.strands,
            fill,
            cut: None,
        }
    }

    /// Lets other numbers go on from where these stopped.
    pub fn give_back<G: Fill<L>>(self, to: &mut Blocks<L, G>) {
        to.strands = self.strands;
        let cut = self.cut;
        to.cut = cut.map(|(strand, before, _)| (strand, before, to.fill.memory()));
    }

    #[inline(always)]
    fn round(&mut self, first: usize) {
        let mut states = [[0; 4]; STRANDS];
        for (strand, state) in self.strands.iter().zip(&mut states) {
            strand.states(std::slice::from_mut(state));
        }
        self.fill.round(&mut states, first);
        for (strand, state) in self.strands.iter_mut().zip(&states) {
            *strand = Rng::from_states(std::slice::from_ref(state));
        }
    }

    /// The strands of the first chains, and what they remember.
    pub fn finish(mut self, chains: &mut [Strands]) -> F::Memory {
        let memory = match self.cut.take() {
            Some((strand, before, memory)) => {
                self.strands[strand] = before;
                memory
            }
            None => self.fill.memory(),
        };
        let mut states = vec![[0; 4]; chains.len()];
        for (s, strand) in self.strands.iter().enumerate() {
            strand.states(&mut states);
            for (chain, state) in chains.iter_mut().zip(&states) {
                chain.0[s] = *state;
            }
        }
        memory
    }
}

/// The work of [`Blocks::draw`].
struct Draw<'a, L: Lanes, F: Fill<L>> {
    blocks: &'a mut Blocks<L, F>,
    first: u64,
    needed: usize,
}

impl<L: Lanes, F: Fill<L>> Work for Draw<'_, L, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Draw {
            blocks,
            first,
            needed,
        } = self;
        let mut at = 0;
        while at < needed {
            let step = first + at as u64;
            if L::WIDTH == 1 && step.is_multiple_of(ROUND as u64) && needed - at >= ROUND {
                blocks.round(at);
                at += ROUND;
                continue;
            }
            let strand = strand_of(step);
            let mut rng = blocks.strands[strand];
            if needed - at < TURN {
                blocks.cut = Some((strand, rng, blocks.fill.memory()));
            }
            blocks.fill.turn(&mut rng, at, TURN);
            blocks.strands[strand] = rng;
            at += TURN;
        }
    }
}

/// Normal or uniform numbers.
pub(crate) struct Numbers<L, const NORMAL: bool> {
    per_step: usize,
    values: Vec<L>,
}

/// Standard normal numbers.
pub(crate) type Normals<L> = Numbers<L, true>;
/// Numbers between 0 and 1.
pub(crate) type Uniforms<L> = Numbers<L, false>;

impl<L: Lanes, const NORMAL: bool> Numbers<L, NORMAL> {
    /// `per_step` numbers for each of `block_len` steps.
    pub fn new(per_step: usize, block_len: usize) -> Self {
        Numbers {
            per_step,
            values: vec![L::zero(); per_step * block_len],
        }
    }

    /// The numbers of all steps of the block.
    #[inline(always)]
    pub fn all(&self) -> &[L] {
        &self.values
    }

    /// The numbers of step `i` of the block.
    #[inline(always)]
    pub fn at(&self, i: usize) -> &[L] {
        &self.values[i * self.per_step..(i + 1) * self.per_step]
    }

    /// Whether no step takes any.
    pub fn is_empty(&self) -> bool {
        self.per_step == 0
    }

    /// Random words that a turn takes: two for each pair of normal numbers.
    pub fn words_per_turn(per_step: usize) -> usize {
        TURN * per_step
    }
}

impl<L: Lanes, const NORMAL: bool> Fill<L> for Numbers<L, NORMAL> {
    type Memory = ();

    #[inline(always)]
    fn turn(&mut self, rng: &mut Rng<L>, first: usize, n: usize) {
        let steps = first * self.per_step..(first + n) * self.per_step;
        match NORMAL {
            true => rng.fill_normals(&mut self.values[steps]),
            false => rng.fill_uniforms(&mut self.values[steps]),
        }
    }

    #[inline(always)]
    fn round(&mut self, strands: &mut [[u64; 4]; STRANDS], first: usize) {
        let steps = first * self.per_step..(first + ROUND) * self.per_step;
        Isa::run_octets(NumbersRound::<NORMAL> {
            strands,
            out: L::numbers_mut(&mut self.values[steps]),
        });
    }

    fn memory(&self) {}
}

/// The rows of minibatches.
pub(crate) struct RowNumbers<L: Lanes> {
    batches: BatchSampler,
    rows: Vec<L::Bits>,
}

impl<L: Lanes> RowNumbers<L> {
    /// For `block_len` steps.
    pub fn new(batches: BatchSampler, block_len: usize) -> Self {
        RowNumbers {
            rows: vec![L::Bits::of(0); batches.batch_size() * block_len],
            batches,
        }
    }

    /// What draws them.
    pub fn batches(&self) -> &BatchSampler {
        &self.batches
    }

    /// The rows of all steps of the block.
    #[inline(always)]
    pub fn all(&self) -> &[L::Bits] {
        &self.rows
    }

    /// The rows of step `i` of the block.
    #[inline(always)]
    pub fn at(&self, i: usize) -> &[L::Bits] {
        let size = self.batches.batch_size();
        &self.rows[i * size..(i + 1) * size]
    }
}

impl<L: Lanes> Fill<L> for RowNumbers<L> {
    /// Where shuffles left off.
    type Memory = Vec<u32>;

    #[inline(always)]
    fn turn(&mut self, rng: &mut Rng<L>, first: usize, n: usize) {
        let size = self.batches.batch_size();
        let rows = &mut self.rows[first * size..(first + n) * size];
        self.batches.fill::<L>(rng, rows);
    }

    #[inline(always)]
    fn round(&mut self, strands: &mut [[u64; 4]; STRANDS], first: usize) {
        if self.batches.remembers() {
            for (turn, state) in strands.iter_mut().enumerate() {
                let mut rng = Rng::from_states(std::slice::from_ref(state));
                self.turn(&mut rng, first + turn * TURN, TURN);
                rng.states(std::slice::from_mut(state));
            }
            return;
        }
        let size = self.batches.batch_size();
        let rows = &mut self.rows[first * size..(first + ROUND) * size];
        Isa::run_octets(RowsRound {
            strands,
            batches: &mut self.batches,
            out: L::Bits::words_mut(rows),
        });
    }

    fn memory(&self) -> Vec<u32> {
        self.batches.permutations().to_vec()
    }
}

/// Sums over the rows of minibatches, in place of the rows, for a chain that is alone.
pub(crate) struct RowSums<'a, L: Lanes, T> {
    target: &'a T,
    batches: BatchSampler,
    rows: Vec<L::Bits>,
    scratch: Vec<L>,
    sums: Vec<L>,
}

impl<'a, L: Lanes, T: Sums> RowSums<'a, L, T> {
    /// For `block_len` steps. Batches that depend on those before them have no sums.
    pub fn new(target: &'a T, batches: BatchSampler, block_len: usize) -> Self {
        RowSums {
            rows: vec![L::Bits::of(0); batches.batch_size()],
            scratch: vec![L::zero(); target.scratch_len()],
            sums: vec![L::zero(); target.n_sums() * block_len],
            target,
            batches,
        }
    }

    /// The sums of all steps of the block.
    #[inline(always)]
    pub fn all(&self) -> &[L] {
        &self.sums
    }
}

impl<L: Lanes, T: Sums> Fill<L> for RowSums<'_, L, T> {
    type Memory = ();

    #[inline(always)]
    fn turn(&mut self, rng: &mut Rng<L>, first: usize, n: usize) {
        let n_sums = self.target.n_sums();
        for sums in self.sums[first * n_sums..(first + n) * n_sums].chunks_exact_mut(n_sums) {
            self.batches.fill::<L>(rng, &mut self.rows);
            self.target.batch_sums(&self.rows, &mut self.scratch, sums);
        }
    }

    #[inline(always)]
    fn round(&mut self, strands: &mut [[u64; 4]; STRANDS], first: usize) {
        let n_sums = self.target.n_sums();
        let sums = &mut self.sums[first * n_sums..(first + ROUND) * n_sums];
        Isa::run_octets(SumsRound {
            strands,
            batches: &mut self.batches,
            target: self.target,
            out: L::numbers_mut(sums),
        });
    }

    fn memory(&self) {}
}
