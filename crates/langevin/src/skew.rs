//! Skew-symmetric matrices J, and the skew fields C(θ) built from them.

use nalgebra::DMatrix;

use crate::Result;
use crate::check;
use crate::real::{Isa, Kernel, Lanes, OCTET, Real};
use crate::rng::{Rng, Stream};

/// A constant skew-symmetric matrix J.
///
/// ```
/// use langevin::skew::SkewMatrix;
/// let j = SkewMatrix::sign_pattern(3, 0.5)?;
/// assert_eq!(j.get(0, 2), 0.5);
/// assert_eq!(j.get(2, 0), -0.5);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SkewMatrix {
    dim: usize,
    /// One column after the other.
    by_columns: Vec<f64>,
    /// Row by row, the places that are not 0: many useful J are sparse.
    columns: Vec<u32>,
    values: Vec<f64>,
    row_ends: Vec<usize>,
}

/// Up to this dimension, to look for zeros takes longer than to multiply by them.
const DENSE: usize = 4;

impl SkewMatrix {
    /// J as given; refused unless it is square, finite and skew-symmetric.
    pub fn new(j: &DMatrix<f64>) -> Result<Self> {
        check::skew("J", j, j.nrows())?;
        Ok(Self::from_checked(j))
    }

    fn from_checked(j: &DMatrix<f64>) -> Self {
        let dim = j.nrows();
        let (mut columns, mut values, mut row_ends) = (vec![], vec![], vec![]);
        for row in 0..dim {
            for col in 0..dim {
                if j[(row, col)] != 0.0 {
                    columns.push(col as u32);
                    values.push(j[(row, col)]);
                }
            }
            row_ends.push(values.len());
        }
        SkewMatrix {
            dim,
            by_columns: j.as_slice().to_vec(),
            columns,
            values,
            row_ends,
        }
    }

    /// δ times the sign pattern of the paper: +1 above the diagonal and −1 below it (section 3.2).
    pub fn sign_pattern(dim: usize, delta: f64) -> Result<Self> {
        check::all_finite("delta", &[delta])?;
        check::at_least("the dimension of J", dim, 1)?;
        Ok(Self::from_checked(&signs(dim, delta)))
    }

    /// Random signs, scaled to spectral norm 1 (section 3.4).
    pub fn random_signs(dim: usize, seed: u64) -> Result<Self> {
        check::at_least("the dimension of a random J", dim, 2)?;
        let mut rng = Rng::new(seed, 0, Stream::Setup);
        let mut j = DMatrix::zeros(dim, dim);
        for row in 0..dim {
            for col in 0..row {
                let sign = rng.sign();
                j[(row, col)] = sign;
                j[(col, row)] = -sign;
            }
        }
        Self::from_checked(&j).with_norm(1.0)
    }

    /// I ⊗ C₀ + C₀ ⊗ I for the sign pattern C₀ of size `m`, scaled to spectral norm 1
    /// (section 3.5). It acts on column-major `vec` of `m × m` matrices.
    pub fn kronecker_signs(m: usize) -> Result<Self> {
        check::at_least("the size of C0", m, 2)?;
        let (c0, id) = (signs(m, 1.0), DMatrix::<f64>::identity(m, m));
        Self::from_checked(&(id.kronecker(&c0) + c0.kronecker(&id))).with_norm(1.0)
    }

    /// The same matrix, scaled to the given spectral norm.
    pub fn with_norm(&self, norm: f64) -> Result<Self> {
        check::positive("the norm of J", norm)?;
        let own = self.norm();
        check::positive("the norm of the matrix to scale", own)?;
        Ok(self.scaled(norm / own))
    }

    /// The same matrix times a number.
    pub fn scaled(&self, factor: f64) -> Self {
        Self::from_checked(&(self.matrix() * factor))
    }

    /// Spectral norm.
    pub fn norm(&self) -> f64 {
        self.matrix().singular_values().max()
    }

    /// Number of rows.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Entry (row, col).
    #[inline(always)]
    pub fn get(&self, row: usize, col: usize) -> f64 {
        self.by_columns[col * self.dim + row]
    }

    /// As a dense matrix.
    pub fn matrix(&self) -> DMatrix<f64> {
        DMatrix::from_column_slice(self.dim, self.dim, &self.by_columns)
    }

    /// `out = J v`.
    #[inline(always)]
    pub fn apply<R: Real>(&self, v: &[R], out: &mut [R]) {
        let d = v.len();
        if d <= DENSE {
            // All entries: where the compiler knows the dimension, nothing is left of these loops.
            let columns = &self.by_columns[..d * d];
            for i in 0..d {
                let mut sum = R::zero();
                for j in (0..d).filter(|j| *j != i) {
                    sum = v[j].mul_add(R::of(columns[j * d + i]), sum);
                }
                out[i] = sum;
            }
            return;
        }
        let mut start = 0;
        for (out, &end) in out.iter_mut().zip(&self.row_ends) {
            let mut sum = R::zero();
            for k in start..end {
                sum = v[self.columns[k] as usize].mul_add(R::of(self.values[k]), sum);
            }
            *out = sum;
            start = end;
        }
    }

    /// J times each row of a square matrix, four rows at a time: they share the entries of J and
    /// do not wait for each other.
    #[inline(always)]
    pub(crate) fn apply_to_rows<R: Real>(&self, rows: &[R], out: &mut [R]) {
        const TILE: usize = 4;
        let d = self.dim;
        if d >= OCTET
            && let (Some(rows), Some(out)) = (R::single(rows), R::single_mut(&mut *out))
        {
            Isa::run_octets(ToRows { j: self, rows, out });
            return;
        }
        let whole = d / TILE * TILE * d;
        let (tiles, rest) = out.split_at_mut(whole);
        for (four, out) in rows
            .chunks_exact(TILE * d)
            .zip(tiles.chunks_exact_mut(TILE * d))
        {
            let mut start = 0;
            for (i, &end) in self.row_ends.iter().enumerate() {
                let mut sums = [R::zero(); TILE];
                for k in start..end {
                    let (column, value) = (self.columns[k] as usize, R::of(self.values[k]));
                    for t in 0..TILE {
                        sums[t] = four[t * d + column].mul_add(value, sums[t]);
                    }
                }
                for t in 0..TILE {
                    out[t * d + i] = sums[t];
                }
                start = end;
            }
        }
        for (row, out) in rows[whole..].chunks_exact(d).zip(rest.chunks_exact_mut(d)) {
            self.apply(row, out);
        }
    }
}

/// J times each row of a square matrix for a chain that is alone: rows of the product are in lanes.
struct ToRows<'a> {
    j: &'a SkewMatrix,
    rows: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for ToRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let d = self.j.dim;
        let rows = self.rows.chunks_exact(d);
        for (row, out) in rows.zip(self.out.chunks_exact_mut(d)) {
            for first in (0..d).step_by(OCTET) {
                // The last eight overlap the ones before; they are the same numbers again.
                let first = first.min(d - OCTET);
                let mut sum = L::Octet::zero();
                for (x, column) in row.iter().zip(self.j.by_columns.chunks_exact(d)) {
                    let column = L::Octet::load(&column[first..first + OCTET]);
                    sum = L::Octet::of(*x).mul_add(column, sum);
                }
                sum.store(&mut out[first..first + OCTET]);
            }
        }
    }
}

fn signs(dim: usize, delta: f64) -> DMatrix<f64> {
    DMatrix::from_fn(dim, dim, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => delta,
        std::cmp::Ordering::Equal => 0.0,
        std::cmp::Ordering::Greater => -delta,
    })
}

/// The irreversible part of a dynamics.
#[derive(Clone, Debug, PartialEq)]
pub enum Skew {
    /// C = 0: a reversible diffusion.
    None,
    /// C = J.
    Constant(SkewMatrix),
    /// C(θ) = ½(J B(θ) + B(θ) J), the geometry-informed field (equation `Girrp` of the paper).
    Geometric(SkewMatrix),
}

impl Skew {
    /// J, where there is one.
    pub fn matrix(&self) -> Option<&SkewMatrix> {
        match self {
            Skew::None => None,
            Skew::Constant(j) | Skew::Geometric(j) => Some(j),
        }
    }

    /// Refuses a J that does not fit the dimension.
    pub fn check_dim(&self, dim: usize) -> Result<()> {
        match self.matrix() {
            Some(j) => check::size("J", j.dim(), dim),
            None => Ok(()),
        }
    }
}
