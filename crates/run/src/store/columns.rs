//! The draws of one number of a layout after the other, however many there are.

use std::ops::Range;
use std::path::Path;

use zarrs::array::ArraySubset;

use super::read::{Reader, Variable};
use super::{Result, StoreError};

/// Most numbers of a store that are read at a time.
const AT_ONCE: usize = 1 << 23;
/// Fewest draws of a chain that are handed on where not all are.
const FEWEST: usize = 100;

/// Draws of one number of a layout.
pub struct Column<'a> {
    /// Its label.
    pub label: String,
    /// Its values, chain after chain.
    pub values: &'a [f64],
    /// Number of chains.
    pub n_chains: usize,
    /// Number of draws of each chain that are among the values.
    pub n_draws: usize,
    /// Every so many of the store's draws is among them.
    pub every: usize,
}

/// Hands on the draws of every number of the layout; every k-th draw where all would be more than
/// `most`, so that what is in memory does not grow with the length of chains.
pub fn each_number<E: From<StoreError>>(
    path: impl AsRef<Path>,
    most: usize,
    mut each: impl FnMut(Column<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let reader = Reader::open(path.as_ref())?;
    let posterior = reader.posterior()?;
    let found = reader.arrays(&posterior)?;
    for variable in reader.variables(&posterior, &found)? {
        let [n_chains, n_draws] = [variable.shape[0], variable.shape[1]];
        let longest = (n_draws / FEWEST).max(1);
        let every = (n_chains * n_draws).div_ceil(most).clamp(1, longest);
        let kept = n_draws.div_ceil(every);
        let rest: usize = variable.shape[2..].iter().skip(1).product();
        let n_rows = variable.shape.get(2).copied().unwrap_or(1);
        let at_once = (AT_ONCE / (n_chains * kept * rest).max(1)).clamp(1, n_rows.max(1));
        for first in (0..n_rows).step_by(at_once) {
            let rows = first..n_rows.min(first + at_once);
            let columns = reader.columns(&variable, rows, every)?;
            for (i, values) in columns.iter().enumerate() {
                each(Column {
                    label: variable.param.label(first * rest + i),
                    values,
                    n_chains,
                    n_draws: kept,
                    every,
                })?;
            }
        }
    }
    Ok(())
}

impl Reader<'_> {
    /// Every `every`-th draw of the numbers in some rows of a variable, some draws at a time.
    fn columns(
        &self,
        variable: &Variable<'_>,
        rows: Range<usize>,
        every: usize,
    ) -> Result<Vec<Vec<f64>>> {
        let shape = &variable.shape;
        let [n_chains, n_draws] = [shape[0], shape[1]];
        let width = rows.len() * shape[2..].iter().skip(1).product::<usize>();
        let kept = n_draws.div_ceil(every);
        let mut columns = vec![vec![0.0; n_chains * kept]; width];
        let at_once = (AT_ONCE / (n_chains * width).max(1))
            .max(1)
            .next_multiple_of(every);
        for first in (0..n_draws).step_by(at_once) {
            let draws = first..n_draws.min(first + at_once);
            let mut ranges: Vec<_> = shape.iter().map(|n| 0..*n as u64).collect();
            ranges[1] = draws.start as u64..draws.end as u64;
            if let Some(range) = ranges.get_mut(2) {
                *range = rows.start as u64..rows.end as u64;
            }
            let values = self.draws(variable, &ArraySubset::new_with_ranges(&ranges))?;
            for (chain, values) in values.chunks_exact(draws.len() * width).enumerate() {
                let chosen = values.chunks_exact(width).step_by(every).enumerate();
                for (k, draw) in chosen {
                    let at = chain * kept + first / every + k;
                    for (column, value) in columns.iter_mut().zip(draw) {
                        column[at] = *value;
                    }
                }
            }
        }
        Ok(columns)
    }
}
