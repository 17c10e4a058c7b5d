//! What can be wrong with a data file.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::shown::{path, quoted, quoted_names, short};
use crate::utf8::NotText;

/// What can be wrong with a data file; the message names the place and what was found there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CsvError {
    /// The file cannot be opened or read.
    #[error("{}: cannot be read: {source}", path(file))]
    Io {
        /// The file.
        file: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// It is not UTF-8 text.
    #[error("{}, line {}: {not_text}", path(file), not_text.line)]
    NotText {
        /// The file.
        file: PathBuf,
        /// The first byte that is none.
        not_text: NotText,
    },
    /// There is no header row.
    #[error("{}: the file is empty; a header row was expected", path(file))]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// There are no rows below the header.
    #[error("{}: there is no row below the header", path(file))]
    NoRows {
        /// The file.
        file: PathBuf,
    },
    /// The first row consists of numbers.
    #[error(
        "{}, line {line}: every cell is a number; a header row was expected",
        path(file)
    )]
    NoHeader {
        /// The file.
        file: PathBuf,
        /// Line of the row, counted from 1.
        line: u64,
    },
    /// A column has no name.
    #[error("{}: column {position} of the header has no name", path(file))]
    UnnamedColumn {
        /// The file.
        file: PathBuf,
        /// Position of the column, counted from 1.
        position: usize,
    },
    /// Two columns have one name.
    #[error("{}: the header names the column {} twice", path(file), quoted(column))]
    RepeatedColumn {
        /// The file.
        file: PathBuf,
        /// The name.
        column: String,
    },
    /// A row is longer or shorter than the header.
    #[error(
        "{}, line {line}: {actual} cells, but the header has {expected}",
        path(file)
    )]
    Ragged {
        /// The file.
        file: PathBuf,
        /// Line of the row, counted from 1.
        line: u64,
        /// Number of cells in the row.
        actual: usize,
        /// Number of cells in the header.
        expected: usize,
    },
    /// A cell is not a finite number.
    #[error(
        "{}, line {line}, column {}: expected a {expected}, found {}",
        path(file),
        quoted(column),
        quoted(text)
    )]
    BadCell {
        /// The file.
        file: PathBuf,
        /// Line of the row, counted from 1.
        line: u64,
        /// Name of the column.
        column: String,
        /// What the cell should have held.
        expected: &'static str,
        /// What it holds.
        text: String,
    },
    /// A column that is asked for is not in the header.
    #[error(
        "{}: there is no column {}; the columns are {}",
        path(file),
        quoted(column),
        quoted_names(known)
    )]
    UnknownColumn {
        /// The file.
        file: PathBuf,
        /// The name that was asked for.
        column: String,
        /// The names in the header.
        known: Vec<String>,
    },
    /// The row filter leaves nothing.
    #[error("{}: no row has {} == {}", path(file), short(column), short(value))]
    NothingLeft {
        /// The file.
        file: PathBuf,
        /// Column of the filter.
        column: String,
        /// Value of the filter.
        value: String,
    },
    /// A column cannot be scaled to unit variance.
    #[error(
        "{}: column {} cannot be standardised: its standard deviation over {rows} rows is {sd}",
        path(file),
        quoted(column)
    )]
    NoSpread {
        /// The file.
        file: PathBuf,
        /// Name of the column.
        column: String,
        /// Number of rows.
        rows: usize,
        /// The standard deviation: 0, or NaN for a single row.
        sd: f64,
    },
}

/// Result with this module's [`CsvError`].
pub type Result<T> = std::result::Result<T, CsvError>;
