//! Data as rows, laid out so that the rows of several chains are quick to fetch.

use crate::check;
use crate::real::{BitLanes, Lanes};
use crate::{Error, Result};

/// A cache line of eight numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Line(pub [f64; 8]);

/// Numbers that begin with a cache line: a register of them then never lies in two.
#[derive(Clone, Debug, PartialEq)]
struct AlignedNumbers {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedNumbers {
    fn new(numbers: &[f64]) -> Self {
        let mut lines = vec![Line([0.0; 8]); numbers.len().div_ceil(8)];
        for (line, eight) in lines.iter_mut().zip(numbers.chunks(8)) {
            line.0[..eight.len()].copy_from_slice(eight);
        }
        AlignedNumbers {
            lines,
            len: numbers.len(),
        }
    }

    #[inline(always)]
    fn numbers(&self) -> &[f64] {
        // SAFETY: a line is eight numbers, and there are at least `len` in all lines.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

/// Data as rows of numbers.
///
/// Rows of three and more numbers are padded to a multiple of four, those of five and more to a
/// multiple of eight, so that they can be fetched by whole registers.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    len: usize,
    width: usize,
    stride: usize,
    data: AlignedNumbers,
    columns: Columns,
}

/// The same by columns, where rows are few: a column then fits into registers, and to fetch an
/// entry is to permute them.
#[derive(Clone, Debug, PartialEq)]
enum Columns {
    Sixteen(Vec<[f64; 16]>),
    ThirtyTwo(Vec<[f64; 32]>),
    /// Too many rows.
    Long,
}

impl Columns {
    fn new(data: &[f64], width: usize) -> Self {
        match data.len() / width {
            0..=16 => Columns::Sixteen(padded_columns(data, width)),
            17..=32 => Columns::ThirtyTwo(padded_columns(data, width)),
            _ => Columns::Long,
        }
    }
}

fn padded_columns<const N: usize>(data: &[f64], width: usize) -> Vec<[f64; N]> {
    let mut columns = vec![[0.0; N]; width];
    for (i, x) in data.iter().enumerate() {
        columns[i % width][i / width] = *x;
    }
    columns
}

impl Rows {
    /// Rows of `width` numbers each; refuses empty, ragged and non-finite data.
    pub fn new(data: Vec<f64>, width: usize) -> Result<Self> {
        if width == 0 || data.is_empty() {
            return Err(Error::EmptyData);
        }
        check::size("the last row of the data", data.len() % width, 0)?;
        check::all_finite("the data", &data)?;
        let stride = match width {
            1 | 2 => width,
            3 | 4 => 4,
            _ => width.next_multiple_of(8),
        };
        let n = data.len() / width;
        let mut padded = vec![0.0; n * stride];
        for (row, out) in data.chunks(width).zip(padded.chunks_mut(stride)) {
            out[..width].copy_from_slice(row);
        }
        Ok(Rows {
            len: n,
            width,
            stride,
            data: AlignedNumbers::new(&padded),
            columns: Columns::new(&data, width),
        })
    }

    /// Number of rows.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows (never true for a value made by [`new`](Self::new)).
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Numbers per row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data.numbers()[i * self.stride..][..self.width]
    }

    /// The rows that the words name, `stride` numbers apart, to be read by octets.
    ///
    /// # Panics
    /// If there is no such row, or rows are not padded to `stride` numbers.
    #[inline(always)]
    pub(crate) fn pick<'a>(&'a self, stride: usize, words: &'a [u64]) -> Picked<'a> {
        let largest = words.iter().fold(0, |largest, word| largest.max(*word));
        assert!(largest < self.len as u64, "row {largest} of {}", self.len);
        assert_eq!(stride, self.stride);
        Picked {
            table: self.data.numbers(),
            stride,
            words,
        }
    }

    /// All rows by octets, where they are padded to such.
    pub(crate) fn octets(&self) -> Option<&[Line]> {
        self.stride.is_multiple_of(8).then_some(&self.data.lines)
    }

    /// All rows, one after the other.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        let width = self.width;
        self.data
            .numbers()
            .chunks_exact(self.stride)
            .map(move |row| &row[..width])
    }

    /// Row `index[lane]` in each lane; `out` has the width of a row.
    #[inline(always)]
    pub fn gather<L: Lanes>(&self, index: &L::Bits, out: &mut [L]) {
        match &self.columns {
            Columns::Sixteen(columns) if L::WIDTH > 1 => entries(columns, *index, out),
            Columns::ThirtyTwo(columns) if L::WIDTH > 1 => entries(columns, *index, out),
            _ if self.stride <= 2 => {
                let start = index.mul_low(L::Bits::of(self.stride as u64));
                for c in 0..out.len() {
                    out[c] = L::gather(&self.data.numbers()[c..], start);
                }
            }
            _ => self.gather_padded(L::Bits::words(std::slice::from_ref(index)), out),
        }
    }

    /// Whether rows are many, and long enough to be padded.
    #[inline(always)]
    pub(crate) fn are_padded(&self) -> bool {
        self.stride > 2 && matches!(self.columns, Columns::Long)
    }

    /// [`gather`](Self::gather) for padded rows, from the words of the index.
    #[inline(always)]
    pub(crate) fn gather_padded<L: Lanes>(&self, index: &[u64], out: &mut [L]) {
        // Rows of three and four numbers are padded to four: a constant, once the length of `out` is.
        let stride = if out.len() <= 4 { 4 } else { self.stride };
        L::gather_row(self.data.numbers(), stride, index, out);
    }

    /// `weight` times the sum of rows `indices[k][lane]` in each lane; `out` and the scratch space
    /// `row` have the width of a row.
    #[inline(always)]
    pub fn weighted_sum<L: Lanes>(
        &self,
        weight: f64,
        indices: &[L::Bits],
        row: &mut [L],
        out: &mut [L],
    ) {
        match &self.columns {
            Columns::Sixteen(columns) => return column_sums(columns, weight, indices, out),
            Columns::ThirtyTwo(columns) => return column_sums(columns, weight, indices, out),
            Columns::Long => {}
        }
        out.fill(L::zero());
        for index in indices {
            self.gather(index, row);
            for i in 0..out.len() {
                out[i] += row[i];
            }
        }
        for sum in out {
            *sum *= L::of(weight);
        }
    }

    /// For rows of one number x: `weight` times the sums of x and of x² over rows
    /// `indices[k][lane]` in each lane.
    #[inline(always)]
    pub(crate) fn weighted_moments<L: Lanes>(&self, weight: f64, indices: &[L::Bits]) -> [L; 2] {
        let [first, second] = match &self.columns {
            Columns::Sixteen(columns) => moments(&columns[0], indices),
            Columns::ThirtyTwo(columns) => moments(&columns[0], indices),
            Columns::Long => {
                let mut sums = [L::zero(); 2];
                for index in indices {
                    let mut x = [L::zero()];
                    self.gather(index, &mut x);
                    add_moments(x[0], &mut sums);
                }
                sums
            }
        };
        [first * weight, second * weight]
    }
}

/// An entry of each column.
#[inline(always)]
fn entries<L: Lanes, const N: usize>(columns: &[[f64; N]], index: L::Bits, out: &mut [L]) {
    for (column, out) in columns.iter().zip(out) {
        *out = L::lookup(column, index);
    }
}

/// Column by column, so that a sum stays in a register, and the column too.
#[inline(always)]
fn column_sums<L: Lanes, const N: usize>(
    columns: &[[f64; N]],
    weight: f64,
    indices: &[L::Bits],
    out: &mut [L],
) {
    for (column, out) in columns.iter().zip(out) {
        let mut sum = L::zero();
        for index in indices {
            sum += L::lookup(column, *index);
        }
        *out = sum * weight;
    }
}

/// Sums of entries of a column, and of their squares.
#[inline(always)]
fn moments<L: Lanes, const N: usize>(column: &[f64; N], indices: &[L::Bits]) -> [L; 2] {
    let mut sums = [L::zero(); 2];
    for index in indices {
        add_moments(L::lookup(column, *index), &mut sums);
    }
    sums
}

#[inline(always)]
fn add_moments<L: Lanes>(x: L, sums: &mut [L; 2]) {
    sums[0] += x;
    sums[1] = x.mul_add(x, sums[1]);
}

/// Rows that are known to exist.
#[derive(Clone, Copy)]
pub(crate) struct Picked<'a> {
    table: &'a [f64],
    stride: usize,
    words: &'a [u64],
}

impl Picked<'_> {
    /// The `c`-th eight numbers of the row that word `i` names.
    #[inline(always)]
    pub fn octet<L: Lanes>(&self, i: usize, c: usize) -> L {
        assert!(8 * (c + 1) <= self.stride);
        let start = self.words[i] as usize * self.stride + 8 * c;
        // SAFETY: every word is the number of a row, and a row has `stride` numbers.
        L::load(unsafe { self.table.get_unchecked(start..start + 8) })
    }
}
