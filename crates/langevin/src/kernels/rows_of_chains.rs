//! Sums over minibatches for models in which a row enters through its product with the state.
//!
//! Each chain has rows of its own. Instead of bringing the rows of all chains into lanes, number by
//! number, a row is multiplied with the state of its chain eight features at a time. A product is
//! the sum of eight partial sums, combined in pairs, whatever the registers of the processor.

use crate::real::{BitLanes, Lanes, OCTET, Real};
use crate::rows::{Picked, Rows};

/// Rows of a chain whose weights are made together.
const ROWS: usize = 16;
/// Features up to which this pays: what belongs to a chain stays in registers.
pub(crate) const MOST_FEATURES: usize = 8 * OCTET;

/// From x·θ to the weight of x in the score.
pub(crate) trait Weight {
    fn weight<R: Real>(product: R) -> R;
}

/// Number of scratch entries for a dimension.
pub(crate) fn scratch_len(dim: usize) -> usize {
    2 * dim.next_multiple_of(OCTET) + ROWS
}

/// `out = Σ weight(x·θ) x` over the rows of each chain.
#[inline(always)]
pub(crate) fn weighted_rows<L: Lanes, W: Weight>(
    data: &Rows,
    index: &[L::Bits],
    theta: &[L],
    scratch: &mut [L],
    out: &mut [L],
) {
    let stride = theta.len().next_multiple_of(OCTET);
    let (states, rest) = scratch.split_at_mut(stride);
    let (sums, rest) = rest.split_at_mut(stride);
    let products = L::numbers_mut(&mut rest[..ROWS]);
    // The numbers of one chain after those of another, padded as rows are.
    let (states, sums) = (L::numbers_mut(states), L::numbers_mut(sums));
    to_chains(theta, stride, states);
    sums.fill(0.0);
    for index in index.chunks(ROWS) {
        // The compiler knows `stride` where it knows the dimension.
        let rows = data.pick(stride, L::Bits::words(index));
        let products = &mut products[..index.len() * L::WIDTH];
        // Each product is the sum of eight partial sums. (Those stay in registers: stores between
        // the loads of rows would slow them.)
        let (eights, rest) = products.as_chunks_mut::<OCTET>();
        let first_of_rest = eights.len() * OCTET;
        for (group, products) in eights.iter_mut().enumerate() {
            let mut partial = [L::Octet::zero(); OCTET];
            for i in 0..OCTET {
                partial[i] = partial_sums::<L>(&rows, group * OCTET + i, states, stride);
            }
            L::Octet::sum_each(&partial).store(products);
        }
        if !rest.is_empty() {
            let mut partial = [L::Octet::zero(); OCTET];
            for i in 0..rest.len() {
                partial[i] = partial_sums::<L>(&rows, first_of_rest + i, states, stride);
            }
            let mut eight = [0.0; OCTET];
            L::Octet::sum_each(&partial).store(&mut eight);
            rest.copy_from_slice(&eight[..rest.len()]);
        }
        for weights in products.chunks_exact_mut(L::WIDTH) {
            W::weight(L::load(weights)).store(weights);
        }
        // Two chains at once: the additions to one sum wait for each other.
        if L::WIDTH > 1 {
            for (pair, sums) in sums.chunks_exact_mut(2 * stride).enumerate() {
                add_rows::<L, 2>(&rows, products, 2 * pair, sums);
            }
        } else {
            add_rows::<L, 1>(&rows, products, 0, sums);
        }
    }
    from_chains(sums, stride, out);
}

/// Eight partial sums of the product of row `i` with the state of its chain.
#[inline(always)]
fn partial_sums<L: Lanes>(rows: &Picked, i: usize, states: &[f64], stride: usize) -> L::Octet {
    let state = &states[i % L::WIDTH * stride..][..stride];
    let mut sum = rows.octet::<L::Octet>(i, 0) * L::Octet::load(state);
    for c in 1..stride / OCTET {
        let state = L::Octet::load(&state[c * OCTET..]);
        sum = rows.octet::<L::Octet>(i, c).mul_add(state, sum);
    }
    sum
}

/// Adds the rows of some chains, each times its weight, to their sums.
#[inline(always)]
fn add_rows<L: Lanes, const CHAINS: usize>(
    rows: &Picked,
    weights: &[f64],
    first: usize,
    sums: &mut [f64],
) {
    let n_octets = sums.len() / (CHAINS * OCTET);
    let mut octets = [[L::Octet::zero(); MOST_FEATURES / OCTET]; CHAINS];
    for (octets, sums) in octets.iter_mut().zip(sums.chunks_exact(n_octets * OCTET)) {
        for (octet, sums) in octets.iter_mut().zip(sums.chunks_exact(OCTET)) {
            *octet = L::Octet::load(sums);
        }
    }
    for row in (first..weights.len()).step_by(L::WIDTH) {
        for (k, octets) in octets.iter_mut().enumerate() {
            let weight = L::Octet::of(weights[row + k]);
            for c in 0..n_octets {
                octets[c] = rows
                    .octet::<L::Octet>(row + k, c)
                    .mul_add(weight, octets[c]);
            }
        }
    }
    for (octets, sums) in octets.iter().zip(sums.chunks_exact_mut(n_octets * OCTET)) {
        for (octet, sums) in octets.iter().zip(sums.chunks_exact_mut(OCTET)) {
            octet.store(sums);
        }
    }
}

/// From [feature][chain] to [chain][feature], with zeros up to `stride` features.
#[inline(always)]
fn to_chains<L: Lanes>(from: &[L], stride: usize, to: &mut [f64]) {
    let (d, from) = (from.len(), L::numbers(from));
    for first in (0..L::WIDTH).step_by(OCTET) {
        for feature in (0..stride).step_by(OCTET) {
            if L::WIDTH < OCTET {
                for (i, to) in to.chunks_exact_mut(stride).enumerate() {
                    for r in feature..feature + OCTET {
                        to[r] = if r < d { from[r * L::WIDTH + i] } else { 0.0 };
                    }
                }
                continue;
            }
            let mut square = [L::Octet::zero(); OCTET];
            for r in feature..d.min(feature + OCTET) {
                square[r - feature] = L::Octet::load(&from[r * L::WIDTH + first..]);
            }
            L::Octet::transpose(&mut square);
            for (r, chain) in square.iter().enumerate() {
                chain.store(&mut to[(first + r) * stride + feature..]);
            }
        }
    }
}

/// From [chain][feature] to [feature][chain], without what `stride` has too many.
#[inline(always)]
fn from_chains<L: Lanes>(from: &[f64], stride: usize, to: &mut [L]) {
    let (d, to) = (to.len(), L::numbers_mut(to));
    for first in (0..L::WIDTH).step_by(OCTET) {
        for feature in (0..d).step_by(OCTET) {
            let last = d.min(feature + OCTET);
            if L::WIDTH < OCTET {
                for (i, from) in from.chunks_exact(stride).enumerate() {
                    for r in feature..last {
                        to[r * L::WIDTH + i] = from[r];
                    }
                }
                continue;
            }
            let mut square = [L::Octet::zero(); OCTET];
            for (r, chain) in square.iter_mut().enumerate() {
                *chain = L::Octet::load(&from[(first + r) * stride + feature..]);
            }
            L::Octet::transpose(&mut square);
            for r in feature..last {
                square[r - feature].store(&mut to[r * L::WIDTH + first..]);
            }
        }
    }
}
