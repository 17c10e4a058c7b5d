//! Sums over minibatches for models in which a row enters through its product with the state.
//!
//! Each chain has rows of its own. Instead of bringing the rows of all chains into lanes, number by
//! number, a row is multiplied with the state of its chain eight features at a time. A product is
//! the sum of eight partial sums, combined in pairs, whatever the registers of the processor.

use crate::real::{BitLanes, Lanes, MAX_WIDTH, Real};
use crate::target::Rows;

/// Features that are multiplied at once.
const OCTET: usize = 8;
/// Rows of a chain whose weights are made together.
const ROWS: usize = 16;
/// Features up to which this pays: what belongs to a chain stays in registers.
pub(super) const MOST_FEATURES: usize = 8 * OCTET;

/// From x·θ to the weight of x in the score.
pub(super) trait Weight {
    fn weight<R: Real>(product: R) -> R;
}

/// Number of scratch entries for a dimension.
pub(super) fn scratch_len(dim: usize) -> usize {
    2 * dim.next_multiple_of(OCTET)
}

/// `out = Σ weight(x·θ) x` over the rows of each chain.
#[inline(always)]
pub(super) fn weighted_rows<L: Lanes, W: Weight>(
    data: &Rows,
    index: &[L::Bits],
    theta: &[L],
    scratch: &mut [L],
    out: &mut [L],
) {
    let d = theta.len();
    let stride = d.next_multiple_of(OCTET);
    let n_octets = stride / OCTET;
    let (states, sums) = scratch[..2 * stride].split_at_mut(stride);
    states[..d].copy_from_slice(theta);
    states[d..].fill(L::zero());
    // From here on `states` and `sums` hold the numbers of one chain after those of another.
    swap_layout::<L>(states, sums, stride);
    states.copy_from_slice(sums);
    sums.fill(L::zero());
    let (states, sums) = (L::numbers(states), L::numbers_mut(sums));

    for index in index.chunks(ROWS) {
        let words = L::Bits::words(index);
        let row = |k: usize, lane: usize| data.padded_row(words[k * L::WIDTH + lane] as usize);
        // Row after row of chain after chain: the products are eight sums of eight at a time.
        let mut products = [0.0; ROWS * MAX_WIDTH];
        let mut partial = [L::Octet::zero(); OCTET];
        let mut n = 0;
        for lane in 0..L::WIDTH {
            let state = octets::<L>(&states[lane * stride..(lane + 1) * stride]);
            for k in 0..index.len() {
                let x = row(k, lane);
                let mut sum = L::Octet::load(x) * state[0];
                for c in 1..n_octets {
                    sum = L::Octet::load(&x[c * OCTET..]).mul_add(state[c], sum);
                }
                partial[n % OCTET] = sum;
                n += 1;
                if n.is_multiple_of(OCTET) {
                    L::Octet::sum_each(&partial).store(&mut products[n - OCTET..]);
                }
            }
        }
        if !n.is_multiple_of(OCTET) {
            L::Octet::sum_each(&partial).store(&mut products[n - n % OCTET..]);
        }
        // A weight needs no neighbours: packs of products will do in any order.
        for weights in products[..n].chunks_exact_mut(L::WIDTH) {
            W::weight(L::load(weights)).store(weights);
        }
        for lane in 0..L::WIDTH {
            let sum = &mut sums[lane * stride..(lane + 1) * stride];
            let mut octets = octets::<L>(sum);
            for k in 0..index.len() {
                let x = row(k, lane);
                let weight = L::Octet::of(products[lane * index.len() + k]);
                for c in 0..n_octets {
                    octets[c] = L::Octet::load(&x[c * OCTET..]).mul_add(weight, octets[c]);
                }
            }
            for (c, sum) in sum.chunks_exact_mut(OCTET).enumerate() {
                octets[c].store(sum);
            }
        }
    }
    let (states, sums) = scratch[..2 * stride].split_at_mut(stride);
    swap_back::<L>(sums, states, stride);
    out.copy_from_slice(&states[..d]);
}

/// Up to eight packs of eight.
#[inline(always)]
fn octets<L: Lanes>(numbers: &[f64]) -> [L::Octet; MOST_FEATURES / OCTET] {
    let mut out = [L::Octet::zero(); MOST_FEATURES / OCTET];
    for (out, eight) in out.iter_mut().zip(numbers.chunks_exact(OCTET)) {
        *out = L::Octet::load(eight);
    }
    out
}

/// From [feature][chain] to [chain][feature].
#[inline(always)]
fn swap_layout<L: Lanes>(from: &[L], to: &mut [L], stride: usize) {
    let (from, to) = (L::numbers(from), L::numbers_mut(to));
    transpose::<L>(from, L::WIDTH, to, stride);
}

/// From [chain][feature] to [feature][chain].
#[inline(always)]
fn swap_back<L: Lanes>(from: &[L], to: &mut [L], stride: usize) {
    let (from, to) = (L::numbers(from), L::numbers_mut(to));
    transpose::<L>(from, stride, to, L::WIDTH);
}

/// Transposes a matrix with `width` columns into one with `height` columns.
#[inline(always)]
fn transpose<L: Lanes>(from: &[f64], width: usize, to: &mut [f64], height: usize) {
    if width.min(height) < OCTET {
        for i in 0..height {
            for j in 0..width {
                to[j * height + i] = from[i * width + j];
            }
        }
        return;
    }
    for i in (0..height).step_by(OCTET) {
        for j in (0..width).step_by(OCTET) {
            let mut square = [L::Octet::zero(); OCTET];
            for r in 0..OCTET {
                square[r] = L::Octet::load(&from[(i + r) * width + j..]);
            }
            L::Octet::transpose(&mut square);
            for r in 0..OCTET {
                square[r].store(&mut to[(j + r) * height + i..]);
            }
        }
    }
}
