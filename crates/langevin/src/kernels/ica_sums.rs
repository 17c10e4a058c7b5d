//! Σ tanh(½ y) xᵀ, y = W x, over rows: nearly all the work of independent component analysis.

use crate::real::{BitLanes, Isa, Kernel, Lanes, OCTET, Real};
use crate::rows::Rows;

/// Up to so many signals, scratch space are variables of the kernel, and a chain that is alone has
/// rows in lanes.
const FEW_SIGNALS: usize = 3;

/// Scratch entries for [`FEW_SIGNALS`].
pub(crate) const SMALL: usize = scratch_len(FEW_SIGNALS);

/// Number of scratch entries for `m` signals.
pub(crate) const fn scratch_len(m: usize) -> usize {
    m * m + 2 * m
}

/// The parts of the scratch space.
pub(crate) struct Space<'a, R> {
    /// The sums, column by column, so far 0.
    sum: &'a mut [R],
    /// A row.
    x: &'a mut [R],
    /// Its tangents.
    t: &'a mut [R],
}

impl<'a, R: Real> Space<'a, R> {
    /// For `m` signals, in `small` if they fit there; `scratch` has at least [`scratch_len`] entries.
    #[inline(always)]
    pub fn new(m: usize, small: &'a mut [R; SMALL], scratch: &'a mut [R]) -> Self {
        let space = if m <= FEW_SIGNALS { small } else { scratch };
        let (sum, rest) = space.split_at_mut(m * m);
        let (x, rest) = rest.split_at_mut(m);
        sum.fill(R::zero());
        Space {
            sum,
            x,
            t: &mut rest[..m],
        }
    }

    /// Adds tanh(½ y) xᵀ for the row `x`.
    #[inline(always)]
    fn add(&mut self, w: &[R]) {
        let Space { sum, x, t } = self;
        let m = x.len();
        for row in 0..m {
            t[row] = w[row] * x[0];
            for col in 1..m {
                t[row] = w[col * m + row].mul_add(x[col], t[row]);
            }
        }
        R::tanh_half_all(t);
        for col in 0..m {
            for row in 0..m {
                sum[col * m + row] = t[row].mul_add(x[col], sum[col * m + row]);
            }
        }
    }
}

/// The sum over all rows.
#[inline(always)]
pub(crate) fn sum_all<'a, R: Real>(data: &Rows, w: &[R], mut space: Space<'a, R>) -> &'a [R] {
    for row in data.iter() {
        for (x, value) in space.x.iter_mut().zip(row) {
            *x = R::of(*value);
        }
        space.add(w);
    }
    space.sum
}

/// The sum over rows `index[k][lane]` in each lane.
#[inline(always)]
pub(crate) fn sum_some<'a, L: Lanes>(
    data: &Rows,
    index: &[L::Bits],
    w: &[L],
    mut space: Space<'a, L>,
) -> &'a [L] {
    let m = space.x.len();
    if L::WIDTH == 1 && m <= FEW_SIGNALS {
        Isa::run_octets(OneChain {
            data,
            index: L::Bits::words(index),
            w: L::numbers(w),
            sum: L::numbers_mut(space.sum),
        });
    } else if m == 3 && data.are_padded() {
        sum_by_register(data, L::Bits::words(index), w, space.sum);
    } else {
        for index in index {
            data.gather(index, space.x);
            space.add(w);
        }
    }
    space.sum
}

/// Rows whose tangents are made together.
const TOGETHER: usize = 4;

/// For three signals: register by register, so that the sums of one stay in registers.
#[inline(always)]
fn sum_by_register<L: Lanes>(data: &Rows, index: &[u64], w: &[L], sum: &mut [L]) {
    let (w, sum) = (L::numbers(w), L::numbers_mut(sum));
    for first in (0..L::WIDTH).step_by(L::Register::WIDTH) {
        let mut own_w = [L::Register::zero(); 9];
        for (i, own) in own_w.iter_mut().enumerate() {
            *own = L::Register::load(&w[i * L::WIDTH + first..]);
        }
        let mut own_sum = [L::Register::zero(); 9];
        let mut groups = index.chunks_exact(TOGETHER * L::WIDTH);
        for group in &mut groups {
            add_rows::<L, TOGETHER>(data, &group[first..], &own_w, &mut own_sum);
        }
        for row in groups.remainder().chunks_exact(L::WIDTH) {
            add_rows::<L, 1>(data, &row[first..], &own_w, &mut own_sum);
        }
        for (i, own) in own_sum.iter().enumerate() {
            own.store(&mut sum[i * L::WIDTH + first..]);
        }
    }
}

/// Adds tanh(½ y) xᵀ for K rows; their indices are `L::WIDTH` words apart.
#[inline(always)]
fn add_rows<L: Lanes, const K: usize>(
    data: &Rows,
    index: &[u64],
    w: &[L::Register; 9],
    sum: &mut [L::Register; 9],
) {
    let mut x = [[L::Register::zero(); 3]; K];
    let mut t = [[L::Register::zero(); 3]; K];
    for k in 0..K {
        data.gather_padded(&index[k * L::WIDTH..], &mut x[k]);
    }
    for k in 0..K {
        for row in 0..3 {
            t[k][row] = w[row] * x[k][0];
            for col in 1..3 {
                t[k][row] = w[3 * col + row].mul_add(x[k][col], t[k][row]);
            }
        }
    }
    L::Register::tanh_half_all(t.as_flattened_mut());
    for (x, t) in x.iter().zip(&t) {
        for col in 0..3 {
            for row in 0..3 {
                sum[3 * col + row] = t[row].mul_add(x[col], sum[3 * col + row]);
            }
        }
    }
}

/// The sum for one chain. Eight rows are in lanes for their tangents, and enter the sums one by one,
/// as they do where chains are in lanes.
struct OneChain<'a> {
    data: &'a Rows,
    index: &'a [u64],
    w: &'a [f64],
    sum: &'a mut [f64],
}

impl Kernel for OneChain<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        match self.data.width() {
            1 => self.add_rows::<L::Octet, 1>(),
            2 => self.add_rows::<L::Octet, 2>(),
            _ => self.add_rows::<L::Octet, FEW_SIGNALS>(),
        }
    }
}

impl OneChain<'_> {
    /// Eights of rows whose tangents are made together: 40 rows, as in the paper, at once.
    const EIGHTS: usize = 5;

    /// For M signals, with L eight numbers wide.
    #[inline(always)]
    fn add_rows<L: Lanes, const M: usize>(self) {
        let mut sums = [[0.0; M]; M];
        for index in self.index.chunks(Self::EIGHTS * OCTET) {
            let mut x = [[L::zero(); M]; Self::EIGHTS];
            let mut t = [[L::zero(); M]; Self::EIGHTS];
            let n = index.len().div_ceil(OCTET);
            for (x, rows) in x.iter_mut().zip(index.chunks(OCTET)) {
                *x = self.columns(rows);
            }
            for (t, x) in t[..n].iter_mut().zip(&x) {
                for row in 0..M {
                    t[row] = x[0] * self.w[row];
                    for col in 1..M {
                        t[row] = L::of(self.w[col * M + row]).mul_add(x[col], t[row]);
                    }
                }
            }
            // Only the three of one row share a division, as where chains are in lanes.
            if M == 3 {
                L::tanh_half_all(t[..n].as_flattened_mut());
            } else {
                for t in &mut t[..n] {
                    L::tanh_half_all(t);
                }
            }
            for ((x, t), rows) in x.iter().zip(&t).zip(index.chunks(OCTET)) {
                let (mut columns, mut tangents) = ([[0.0; OCTET]; M], [[0.0; OCTET]; M]);
                for i in 0..M {
                    x[i].store(&mut columns[i]);
                    t[i].store(&mut tangents[i]);
                }
                for k in 0..rows.len() {
                    for col in 0..M {
                        for row in 0..M {
                            sums[col][row] =
                                Real::mul_add(tangents[row][k], columns[col][k], sums[col][row]);
                        }
                    }
                }
            }
        }
        for (out, sum) in self.sum.iter_mut().zip(sums.as_flattened()) {
            *out = *sum;
        }
    }

    /// The columns of up to eight rows.
    #[inline(always)]
    fn columns<L: Lanes, const M: usize>(&self, rows: &[u64]) -> [L; M] {
        let mut x = [L::zero(); M];
        if rows.len() == OCTET && M == 3 && self.data.are_padded() {
            self.data.gather_padded(rows, &mut x);
            return x;
        }
        let mut columns = [[0.0; OCTET]; M];
        for (k, row) in rows.iter().enumerate() {
            let row = self.data.row(*row as usize);
            for col in 0..M {
                columns[col][k] = row[col];
            }
        }
        for (x, column) in x.iter_mut().zip(&columns) {
            *x = L::load(column);
        }
        x
    }
}
