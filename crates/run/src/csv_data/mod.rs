//! Numeric tables from CSV files, with errors that name the file, the line and the column.
//!
//! The first row must be a header: names separated by commas, none empty, none twice. A first
//! row in which every cell is a number is taken for data and refused, since its first
//! observation would otherwise be lost as names. Cells may be quoted, blanks around them are
//! ignored, blank lines are skipped, and a byte-order mark is dropped. Only the columns that are
//! asked for have to be numbers; `NaN`, infinities and numbers too large for `f64` are refused.

mod error;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use error::{CsvError, Result};

use crate::utf8;

/// Keeps the rows in which a column has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFilter {
    /// Name of the column, which need not be among those that are read.
    pub column: String,
    /// The value: compared as a number where both this and the cell are numbers, else as text.
    pub value: String,
}

/// What to take from a file; the default is every column and every row as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Columns to read, in this order; all of them if `None`.
    pub columns: Option<Vec<String>>,
    /// Columns of these to standardise over all rows of the file, before any is filtered out.
    pub z_score: Vec<String>,
    /// Rows to keep; all of them if `None`.
    pub filter: Option<RowFilter>,
}

/// A table of finite numbers with named columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    file: PathBuf,
    columns: Vec<String>,
    n_rows: usize,
    values: Vec<f64>,
}

/// The names in the header of a file.
pub fn header(path: impl AsRef<Path>) -> Result<Vec<String>> {
    Ok(Source::open(path.as_ref())?.header)
}

impl Table {
    /// Reads a file.
    ///
    /// ```
    /// use langevin_run::csv_data::{RowFilter, Selection, Table};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = dir.path().join("crabs.csv");
    /// # std::fs::write(&path, "species,FL,RW\nB,8.1,6.7\nO,9.1,6.9\n").unwrap();
    /// let table = Table::read(&path, &Selection {
    ///     columns: Some(vec!["FL".into(), "RW".into()]),
    ///     filter: Some(RowFilter { column: "species".into(), value: "O".into() }),
    ///     ..Selection::default()
    /// })?;
    /// assert_eq!(table.columns(), ["FL", "RW"]);
    /// assert_eq!(table.values(), [9.1, 6.9]);
    /// # Ok::<(), langevin_run::csv_data::CsvError>(())
    /// ```
    pub fn read(path: impl AsRef<Path>, selection: &Selection) -> Result<Self> {
        let mut source = Source::open(path.as_ref())?;
        let chosen = match &selection.columns {
            Some(names) => source.positions(names)?,
            None => (0..source.header.len()).collect(),
        };
        let filter = match &selection.filter {
            Some(filter) => Some((source.position(&filter.column)?, filter)),
            None => None,
        };
        let mut keep = Vec::new();
        let mut values = Vec::new();
        let mut row = csv::StringRecord::new();
        while source.next(&mut row)? {
            for &i in &chosen {
                values.push(source.number(&row, i)?);
            }
            keep.push(filter.is_none_or(|(i, filter)| same(&row[i], &filter.value)));
        }
        let mut table = Self {
            columns: chosen.iter().map(|&i| source.header[i].clone()).collect(),
            n_rows: keep.len(),
            values,
            file: source.file,
        };
        if table.n_rows == 0 {
            return Err(CsvError::NoRows { file: table.file });
        }
        table.z_score(&selection.z_score)?;
        if let Some((_, filter)) = filter {
            table.retain(&keep, filter)?;
        }
        Ok(table)
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns.
    pub fn n_columns(&self) -> usize {
        self.columns.len()
    }

    /// The numbers, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Shifts and scales columns to mean 0 and variance 1 over all rows of the table, where the
    /// variance has the divisor n − 1.
    pub fn z_score<S: AsRef<str>>(&mut self, columns: &[S]) -> Result<()> {
        for name in columns {
            let name = name.as_ref();
            let at = find(&self.file, &self.columns, name)?;
            let column = || self.values.iter().skip(at).step_by(self.columns.len());
            let n = self.n_rows as f64;
            let mean = column().sum::<f64>() / n;
            let squares: f64 = column().map(|x| (x - mean).powi(2)).sum();
            let sd = (squares / (n - 1.0)).sqrt();
            // Sums of equal numbers can leave a rest of rounding, so ask the numbers themselves.
            let constant = column().all(|x| Some(x) == column().next());
            if constant || !sd.is_finite() {
                return Err(CsvError::NoSpread {
                    file: self.file.clone(),
                    column: name.into(),
                    rows: self.n_rows,
                    sd: if sd.is_finite() { 0.0 } else { sd },
                });
            }
            let width = self.columns.len();
            for x in self.values.iter_mut().skip(at).step_by(width) {
                *x = (*x - mean) / sd;
            }
        }
        Ok(())
    }

    fn retain(&mut self, keep: &[bool], filter: &RowFilter) -> Result<()> {
        let width = self.columns.len();
        let rows = self.values.chunks(width).zip(keep);
        self.values = rows
            .filter(|(_, kept)| **kept)
            .flat_map(|(row, _)| row.iter().copied())
            .collect();
        self.n_rows = keep.iter().filter(|kept| **kept).count();
        if self.n_rows == 0 {
            return Err(CsvError::NothingLeft {
                file: self.file.clone(),
                column: filter.column.clone(),
                value: filter.value.clone(),
            });
        }
        Ok(())
    }
}

/// A file that is being read, behind its header.
struct Source {
    file: PathBuf,
    header: Vec<String>,
    reader: csv::Reader<io::Cursor<Vec<u8>>>,
}

impl Source {
    fn open(path: &Path) -> Result<Self> {
        let file = path.to_path_buf();
        let bytes = fs::read(path).map_err(|source| CsvError::Io {
            file: file.clone(),
            source,
        })?;
        if let Err(not_text) = utf8::text(&bytes) {
            return Err(CsvError::NotText { file, not_text });
        }
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true) // the length of rows is checked here, with a better message
            .trim(csv::Trim::All)
            .from_reader(io::Cursor::new(bytes));
        let mut source = Self {
            file,
            header: Vec::new(),
            reader,
        };
        let mut row = csv::StringRecord::new();
        if !source.next(&mut row)? {
            return Err(CsvError::Empty { file: source.file });
        }
        source.check_header(&row)?;
        source.header = row.iter().map(String::from).collect();
        Ok(source)
    }

    fn check_header(&self, row: &csv::StringRecord) -> Result<()> {
        let file = self.file.clone();
        if row.iter().all(|cell| cell.parse::<f64>().is_ok()) {
            let line = self.line(row.position());
            return Err(CsvError::NoHeader { file, line });
        }
        for (i, name) in row.iter().enumerate() {
            if name.is_empty() {
                let position = i + 1;
                return Err(CsvError::UnnamedColumn { file, position });
            }
            if row.iter().take(i).any(|earlier| earlier == name) {
                let column = name.into();
                return Err(CsvError::RepeatedColumn { file, column });
            }
        }
        Ok(())
    }

    /// Reads the next row; false at the end of the file.
    fn next(&mut self, row: &mut csv::StringRecord) -> Result<bool> {
        let more = self.reader.read_record(row).map_err(|e| CsvError::Io {
            file: self.file.clone(),
            source: e.into(),
        })?;
        if more && !self.header.is_empty() && row.len() != self.header.len() {
            return Err(CsvError::Ragged {
                file: self.file.clone(),
                line: self.line(row.position()),
                actual: row.len(),
                expected: self.header.len(),
            });
        }
        Ok(more)
    }

    fn number(&self, row: &csv::StringRecord, i: usize) -> Result<f64> {
        let refuse = |expected| CsvError::BadCell {
            file: self.file.clone(),
            line: self.line(row.position()),
            column: self.header[i].clone(),
            expected,
            text: row[i].into(),
        };
        let number: f64 = row[i].parse().map_err(|_| refuse("number"))?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(refuse("finite number"))
        }
    }

    /// Line of the row at this position, counted from 1. The position that the parser gives is
    /// the end of the row before, so the blank lines between the two have to be added.
    fn line(&self, position: Option<&csv::Position>) -> u64 {
        let Some(position) = position else { return 0 };
        let bytes = self.reader.get_ref().get_ref();
        let rest = bytes.get(position.byte() as usize..).unwrap_or(&[]);
        let blank = rest.iter().take_while(|b| matches!(b, b'\r' | b'\n'));
        position.line() + blank.filter(|b| **b == b'\n').count() as u64
    }

    fn position(&self, name: &str) -> Result<usize> {
        find(&self.file, &self.header, name)
    }

    fn positions(&self, names: &[String]) -> Result<Vec<usize>> {
        names.iter().map(|name| self.position(name)).collect()
    }
}

fn find(file: &Path, columns: &[String], name: &str) -> Result<usize> {
    let unknown = || CsvError::UnknownColumn {
        file: file.to_path_buf(),
        column: name.into(),
        known: columns.to_vec(),
    };
    columns.iter().position(|c| c == name).ok_or_else(unknown)
}

/// Whether a cell has the value of a filter: `1`, `1.0` and `1e0` are one number.
fn same(cell: &str, value: &str) -> bool {
    match (cell.parse::<f64>(), value.trim().parse::<f64>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => cell == value.trim(),
    }
}
