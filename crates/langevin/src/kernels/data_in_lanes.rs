//! Sums over all data for a chain that is alone: data or features are in lanes, eight at a time.
//!
//! Every number goes through the same operations as it does where chains are in lanes.

use crate::real::{Kernel, Lanes, OCTET, Real};
use crate::rows::Line;

/// `products[n] = xₙ·θ`.
pub(crate) struct Products<'a> {
    /// Rows by octets.
    pub rows: &'a [Line],
    pub theta: &'a [f64],
    pub products: &'a mut [f64],
}

impl Kernel for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let n_octets = self.theta.len().div_ceil(OCTET);
        let tiles = self.rows.chunks_exact(OCTET * n_octets);
        let rest = tiles.remainder().chunks_exact(n_octets);
        let mut products = self.products.chunks_exact_mut(OCTET);
        for (rows, products) in tiles.zip(&mut products) {
            let mut sum = L::Octet::zero();
            for (c, theta) in self.theta.chunks(OCTET).enumerate() {
                let columns = transposed::<L::Octet>(&rows[c..], n_octets);
                for (column, theta) in columns.iter().zip(theta) {
                    sum = L::Octet::of(*theta).mul_add(*column, sum);
                }
            }
            sum.store(products);
        }
        for (row, product) in rest.zip(products.into_remainder()) {
            let row = row.iter().flat_map(|line| &line.0);
            *product = 0.0;
            for (x, theta) in row.zip(self.theta) {
                *product = Real::mul_add(*theta, *x, *product);
            }
        }
    }
}

/// Eight octets, `stride` apart, as eight packs of one number of each.
#[inline(always)]
fn transposed<L: Lanes>(octets: &[Line], stride: usize) -> [L; OCTET] {
    let mut square = [L::zero(); OCTET];
    for (k, pack) in square.iter_mut().enumerate() {
        *pack = L::load(&octets[k * stride].0);
    }
    L::transpose(&mut square);
    square
}

/// `sums = Σ weights[n] xₙ`, padded as rows are.
pub(crate) struct Pull<'a> {
    pub rows: &'a [Line],
    pub weights: &'a [f64],
    pub sums: &'a mut [f64],
}

impl Kernel for Pull<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        const MOST: usize = 4;
        let n_octets = self.sums.len() / OCTET;
        for (group, sums) in self.sums.chunks_mut(MOST * OCTET).enumerate() {
            let first = group * MOST;
            match sums.len() / OCTET {
                1 => pull::<L::Octet, 1>(self.rows, n_octets, first, self.weights, sums),
                2 => pull::<L::Octet, 2>(self.rows, n_octets, first, self.weights, sums),
                3 => pull::<L::Octet, 3>(self.rows, n_octets, first, self.weights, sums),
                _ => pull::<L::Octet, MOST>(self.rows, n_octets, first, self.weights, sums),
            }
        }
    }
}

/// K octets of the sums, from octet `first` of each row on.
#[inline(always)]
fn pull<L: Lanes, const K: usize>(
    rows: &[Line],
    n_octets: usize,
    first: usize,
    weights: &[f64],
    out: &mut [f64],
) {
    let mut sums = [L::zero(); K];
    for (row, weight) in rows.chunks_exact(n_octets).zip(weights) {
        let weight = L::of(*weight);
        for (sum, x) in sums.iter_mut().zip(&row[first..first + K]) {
            *sum = weight.mul_add(L::load(&x.0), *sum);
        }
    }
    for (sum, out) in sums.iter().zip(out.chunks_exact_mut(OCTET)) {
        sum.store(out);
    }
}

/// Adds `Σ weights[n] row[n]` of each panel to the panel's entries; rows are octets.
pub(crate) struct PanelSums<'a> {
    /// [panel][datum].
    pub block: &'a [Line],
    pub weights: &'a [f64],
    pub packed: &'a mut [f64],
}

impl Kernel for PanelSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        /// Panels at once, so that sums do not wait for each other.
        const PANELS: usize = 9;
        let n = self.weights.len();
        let groups = self.block.chunks(PANELS * n);
        for (panels, packed) in groups.zip(self.packed.chunks_mut(PANELS * OCTET)) {
            if packed.len() == PANELS * OCTET {
                add_panels::<L::Octet, PANELS>(panels, self.weights, packed);
            } else {
                for (panel, packed) in panels.chunks(n).zip(packed.chunks_mut(OCTET)) {
                    add_panels::<L::Octet, 1>(panel, self.weights, packed);
                }
            }
        }
    }
}

#[inline(always)]
fn add_panels<L: Lanes, const P: usize>(panels: &[Line], weights: &[f64], packed: &mut [f64]) {
    let mut sums = [L::zero(); P];
    for p in 0..P {
        sums[p] = L::load(&packed[p * OCTET..]);
    }
    for (k, weight) in weights.iter().enumerate() {
        let weight = L::of(*weight);
        for p in 0..P {
            sums[p] = weight.mul_add(L::load(&panels[p * weights.len() + k].0), sums[p]);
        }
    }
    for p in 0..P {
        sums[p].store(&mut packed[p * OCTET..]);
    }
}

/// `forms[s][n] = Σ packed[s][c] row[n][c]` over all panels, for one or two packed matrices.
pub(crate) struct Forms<'a, const S: usize> {
    /// [panel][datum].
    pub block: &'a [Line],
    /// Data in the block.
    pub n: usize,
    pub packed: [&'a [f64]; S],
    pub forms: [&'a mut [f64]; S],
}

impl<const S: usize> Kernel for Forms<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let mut first = 0;
        // Two tiles at once, so that sums do not wait for each other.
        while first + 2 * OCTET <= self.n {
            self.tiles::<L::Octet, 2>(first);
            first += 2 * OCTET;
        }
        if first + OCTET <= self.n {
            self.tiles::<L::Octet, 1>(first);
            first += OCTET;
        }
        for datum in first..self.n {
            for (packed, forms) in self.packed.iter().zip(&mut self.forms) {
                let rows = self.block.iter().skip(datum).step_by(self.n);
                forms[datum] = 0.0;
                for (entry, x) in packed.iter().zip(rows.flat_map(|row| &row.0)) {
                    forms[datum] = Real::mul_add(*entry, *x, forms[datum]);
                }
            }
        }
    }
}

impl<const S: usize> Forms<'_, S> {
    #[inline(always)]
    fn tiles<L: Lanes, const T: usize>(&mut self, first: usize) {
        let mut sums = [[L::zero(); T]; S];
        for (p, panel) in self.block.chunks_exact(self.n).enumerate() {
            for t in 0..T {
                let columns = transposed::<L>(&panel[first + t * OCTET..], 1);
                for c in 0..OCTET {
                    for s in 0..S {
                        let entry = L::of(self.packed[s][p * OCTET + c]);
                        sums[s][t] = entry.mul_add(columns[c], sums[s][t]);
                    }
                }
            }
        }
        for s in 0..S {
            for t in 0..T {
                sums[s][t].store(&mut self.forms[s][first + t * OCTET..]);
            }
        }
    }
}
