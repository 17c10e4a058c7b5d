//! Tables on the terminal: aligned columns of plain text.

use langevin_page::figure::number::{concise, with_error};
use langevin_page::report::{Cell, Table};

/// A table as lines of text; exact values follow in brackets.
///
/// ```
/// use langevin_page::report::{Cell, Column, Row, Table};
/// let table = Table::new("t", "Mass")
///     .column(Column::new("of"))
///     .column(Column::new("in kg"))
///     .row(Row::new([Cell::text("goose"), Cell::estimate(3.25, 0.25)]));
/// let text = langevin_cli::terminal::text(&table);
/// assert_eq!(text, "Mass\nof           in kg\ngoose  3.25 ± 0.25\n");
/// ```
pub fn text(table: &Table) -> String {
    let n = table.columns.len();
    let mut lines = vec![table.columns.iter().map(|c| bare(&c.label)).collect()];
    for row in &table.rows {
        let cells = (0..n).map(|i| row.cells.get(i).map_or(String::new(), cell));
        lines.push(cells.collect::<Vec<String>>());
    }
    let length = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..n)
        .map(|i| lines.iter().map(|line| length(&line[i])).max().unwrap_or(0))
        .collect();
    let mut out = format!("{}\n{}", bare(&table.title), groups(table, &widths));
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(i, (text, width))| match i {
            0 => format!("{text:<width$}"),
            _ => format!("{text:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A line with the headings of groups, each above its first column; nothing without groups.
fn groups(table: &Table, widths: &[usize]) -> String {
    let mut line = String::new();
    let mut start = 0;
    let mut before = "";
    for (column, width) in table.columns.iter().zip(widths) {
        if column.group != before && !column.group.is_empty() {
            let missing = start - line.chars().count().min(start);
            line.push_str(&" ".repeat(missing));
            line.push_str(&bare(&column.group));
            line.push(' ');
        }
        before = &column.group;
        start += width + 2;
    }
    match line.trim_end() {
        "" => String::new(),
        line => format!("{line}\n"),
    }
}

/// Text without the markup of reports; superscripts of Unicode stay.
fn bare(text: &str) -> String {
    let text = text.replace("^{", "^").replace("_{", "_");
    text.replace(['}', '`'], "")
}

fn cell(cell: &Cell) -> String {
    let Cell::Number {
        value,
        error,
        exact,
        ..
    } = cell
    else {
        return match cell {
            Cell::Text(text) => bare(text),
            _ => "–".into(),
        };
    };
    let number = match error {
        Some(error) => with_error(*value, *error),
        None => concise(*value, 4),
    };
    match exact {
        Some(exact) => format!("{number} [{}]", concise(*exact, 4)),
        None => number,
    }
}
