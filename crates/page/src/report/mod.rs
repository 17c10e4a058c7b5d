//! A report as one self-contained HTML page or as Markdown, and its tables as CSV.
//!
//! ```
//! use langevin_page::report::{Cell, Column, Report, Row, Section, Table};
//!
//! let table = Table::new("table1", "Asymptotic variance")
//!     .column(Column::new("system"))
//!     .column(Column::new("variance"))
//!     .row(Row::new([Cell::text("LD"), Cell::estimate(1.25, 0.02)]));
//! assert_eq!(table.to_csv(), "system,variance,variance: standard error\r\nLD,1.25,0.02\r\n");
//!
//! let section = Section::new("gauss", "Linear Gaussian example").item(table);
//! let html = Report::new("Results").section(section).to_html();
//! assert!(html.starts_with("<!DOCTYPE html>") && html.contains("1.250 ± 0.020"));
//! ```

mod csv;
mod html;
mod html_table;
mod html_verdict;
mod markdown;
mod model;
mod table;

pub use model::{FigureItem, Item, Measured, Outcome, Report, Section, Verdict, VerdictList};
pub use table::{Cell, Column, Row, Table};
