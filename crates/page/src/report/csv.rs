//! Tables as comma-separated values (RFC 4180).

use crate::figure::markup::plain;

use super::table::{Cell, Column, Table};

/// A number of a cell: its suffix in the column's head, and how to get it.
type Part = (&'static str, fn(&Cell) -> Option<f64>);

/// The numbers that get columns of their own, after the value itself.
const PARTS: [Part; 3] = [
    (": standard error", |cell| match cell {
        Cell::Number { error, .. } => *error,
        _ => None,
    }),
    (": paper", |cell| match cell {
        Cell::Number { paper, .. } => *paper,
        _ => None,
    }),
    (": exact", |cell| match cell {
        Cell::Number { exact, .. } => *exact,
        _ => None,
    }),
];

/// The whole table, with a line of column heads.
pub(super) fn table(table: &Table) -> String {
    let needed: Vec<Vec<Part>> = (0..table.columns.len())
        .map(|index| parts_of_column(table, index))
        .collect();
    let mut out = String::new();
    let heads = table
        .columns
        .iter()
        .zip(&needed)
        .flat_map(|(column, parts)| {
            let head = head(column);
            let more: Vec<String> = parts
                .iter()
                .map(|part| format!("{head}{}", part.0))
                .collect();
            std::iter::once(head).chain(more)
        });
    push_line(&mut out, heads);
    for row in &table.rows {
        let fields = needed.iter().enumerate().flat_map(|(index, parts)| {
            let cell = row.cells.get(index).unwrap_or(&Cell::Empty);
            let more: Vec<String> = parts.iter().map(|part| number(part.1(cell))).collect();
            std::iter::once(main(cell)).chain(more)
        });
        push_line(&mut out, fields);
    }
    out
}

fn parts_of_column(table: &Table, index: usize) -> Vec<Part> {
    let cells = || table.rows.iter().filter_map(|row| row.cells.get(index));
    let used = |part: &Part| cells().any(|cell| part.1(cell).is_some());
    PARTS.into_iter().filter(used).collect()
}

fn head(column: &Column) -> String {
    let label = plain(&column.label);
    match column.group.as_str() {
        "" => label,
        group => format!("{} / {label}", plain(group)),
    }
}

fn main(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Text(text) => plain(text),
        Cell::Number { value, .. } => number(Some(*value)),
    }
}

/// The shortest text that reads back as the same number.
fn number(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(v) if v != 0.0 && !(1e-4..1e15).contains(&v.abs()) && v.is_finite() => {
            format!("{v:e}")
        }
        Some(v) => v.to_string(),
    }
}

fn push_line(out: &mut String, fields: impl Iterator<Item = String>) {
    let fields: Vec<String> = fields.map(|field| quote(&field)).collect();
    out.push_str(&fields.join(","));
    out.push_str("\r\n");
}

fn quote(field: &str) -> String {
    let plain = !field.contains([',', '"', '\n', '\r']);
    let trimmed = field.trim() == field;
    if plain && trimmed {
        field.to_owned()
    } else {
        format!("\"{}\"", field.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Row, Table};
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        assert_eq!(quote("plain text"), "plain text");
        assert_eq!(quote("a,b"), "\"a,b\"");
        assert_eq!(quote("say \"x\""), "\"say \"\"x\"\"\"");
        assert_eq!(quote("two\nlines"), "\"two\nlines\"");
        assert_eq!(quote(" space"), "\" space\"");
    }

    #[test]
    fn numbers_read_back_exactly() {
        for value in [0.1, 1.0 / 3.0, 1e-300, 6.02e23, 0.0, -2.5, f64::INFINITY] {
            let text = number(Some(value));
            assert_eq!(text.parse::<f64>().unwrap(), value, "{text}");
        }
        assert_eq!(number(None), "");
    }

    #[test]
    fn comparisons_get_columns_of_their_own() {
        let table = Table::new("t", "")
            .column(Column::new("system"))
            .column(Column::grouped("φ_{1}", "variance"))
            .row(Row::new([
                Cell::text("LD"),
                Cell::estimate(1.0, 0.5).paper(1.25),
            ]))
            .row(Row::new([
                Cell::text("RM, new"),
                Cell::number(2.0).exact(2.5),
            ]))
            .row(Row::new([Cell::text("short")]));
        let lines: Vec<String> = table.to_csv().lines().map(str::to_owned).collect();
        assert_eq!(
            lines[0],
            "system,φ1 / variance,φ1 / variance: standard error,\
             φ1 / variance: paper,φ1 / variance: exact"
        );
        assert_eq!(
            lines[1..],
            ["LD,1,0.5,1.25,", "\"RM, new\",2,,,2.5", "short,,,,"]
        );
    }
}
