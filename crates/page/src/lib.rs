//! Pages: figures as SVG, tables, and reports as HTML and Markdown. Nothing here knows what is shown.

pub mod figure;
pub mod report;
