//! Answers that are neither closed formulas nor quick to compute.

use crate::Moments;

/// Mean, its error, standard deviation, its error, for each coordinate of the named target.
pub(crate) fn moments(name: &str) -> Option<Moments> {
    let (_, rows) = ROWS.iter().find(|(known, _)| *known == name)?;
    Some(Moments::from_rows(rows))
}

const ROWS: &[(&str, &[[f64; 4]])] = &[];
