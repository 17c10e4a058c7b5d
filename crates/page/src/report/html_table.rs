//! Tables in the page.

use crate::figure::number::{concise, fixed, with_error};
use crate::figure::{escape, markup};

use super::html::{anchor, rich};
use super::table::{Cell, Row, Table};

/// The table with its title, its notes and a link to its CSV form.
pub(super) fn table(table: &Table) -> String {
    let mut out = format!(
        "<figure class=\"table\" id=\"{}\">\n<figcaption>{}{}</figcaption>\n",
        anchor(&table.id),
        rich(&table.title),
        csv_link(table)
    );
    let label = escape(&markup::plain(&table.title));
    out.push_str(&format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n"
    ));
    out.push_str(&head(table));
    out.push_str("<tbody>\n");
    for row in &table.rows {
        out.push_str(&body_row(row, table.columns.len()));
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
    if !table.notes.is_empty() {
        let notes = table
            .notes
            .iter()
            .map(|note| format!("<p>{}</p>", rich(note)));
        out.push_str(&format!(
            "<div class=\"notes\">{}</div>\n",
            notes.collect::<String>()
        ));
    }
    out.push_str("</figure>\n");
    out
}

/// The file is part of the link, so that the page stays whole when it is sent around.
fn csv_link(table: &Table) -> String {
    let encoded: String = table.to_csv().bytes().map(percent).collect();
    format!(
        " <a class=\"csv\" download=\"{}.csv\" href=\"data:text/csv;charset=utf-8,{encoded}\">CSV</a>",
        anchor(&table.id)
    )
}

/// Percent-encoding (RFC 3986) of everything but unreserved characters and commas.
fn percent(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~,".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// Whether the column holds words, which start at the left.
fn is_text(table: &Table, index: usize) -> bool {
    let cells = || table.rows.iter().filter_map(|row| row.cells.get(index));
    let words = |cell: &Cell| matches!(cell, Cell::Text(_));
    let numbers = |cell: &Cell| matches!(cell, Cell::Number { .. });
    cells().any(words) && !cells().any(numbers)
}

/// One line of heads, or two if there are groups; columns without a group span both.
fn head(table: &Table) -> String {
    let columns = &table.columns;
    let class = |index| {
        if is_text(table, index) {
            " class=\"text\""
        } else {
            ""
        }
    };
    let mut index = 0;
    let grouped = columns.iter().any(|column| !column.group.is_empty());
    let mut upper = String::new();
    let mut lower = String::new();
    for run in columns.chunk_by(|a, b| !a.group.is_empty() && a.group == b.group) {
        let group = &run[0].group;
        if group.is_empty() {
            let rows = if grouped { " rowspan=\"2\"" } else { "" };
            let label = rich(&run[0].label);
            let class = class(index);
            upper.push_str(&format!("<th scope=\"col\"{rows}{class}>{label}</th>"));
            index += 1;
            continue;
        }
        let span = run.len();
        let label = rich(group);
        upper.push_str(&format!(
            "<th scope=\"colgroup\" class=\"group\" colspan=\"{span}\">{label}</th>"
        ));
        for column in run {
            let (class, label) = (class(index), rich(&column.label));
            lower.push_str(&format!("<th scope=\"col\"{class}>{label}</th>"));
            index += 1;
        }
    }
    let lower = if grouped {
        format!("<tr>{lower}</tr>\n")
    } else {
        String::new()
    };
    format!("<thead>\n<tr>{upper}</tr>\n{lower}</thead>\n")
}

fn body_row(row: &Row, columns: usize) -> String {
    let mut out = if row.best {
        "<tr class=\"best\">".to_owned()
    } else {
        "<tr>".to_owned()
    };
    for index in 0..columns {
        let cell = row.cells.get(index).unwrap_or(&Cell::Empty);
        let mark = if row.best && index == 0 {
            " <span class=\"badge\">best</span>"
        } else {
            ""
        };
        out.push_str(&match (index, cell) {
            (0, cell) => format!("<th scope=\"row\">{}{mark}</th>", content(cell)),
            (_, Cell::Text(_)) => format!("<td class=\"text\">{}</td>", content(cell)),
            (_, cell) => format!("<td>{}</td>", content(cell)),
        });
    }
    out.push_str("</tr>\n");
    out
}

fn content(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "<span class=\"none\">–</span>".to_owned(),
        Cell::Text(text) => rich(text),
        Cell::Number {
            value,
            error,
            paper,
            exact,
        } => {
            let own = rich(&estimate(*value, *error));
            let beside = |name: &str, value: &Option<f64>| {
                value.map(|v| format!("{name} {}", rich(&concise(v, 4))))
            };
            let others: Vec<String> = [beside("paper", paper), beside("exact", exact)]
                .into_iter()
                .flatten()
                .map(|text| format!("<span class=\"beside\">{text}</span>"))
                .collect();
            own + &others.concat()
        }
    }
}

/// A number with its standard error, if it has one.
pub(super) fn estimate(value: f64, error: Option<f64>) -> String {
    match error {
        // What has no error by its nature needs none beside it.
        Some(error) if error != 0.0 => with_error(value, error),
        _ if value.fract() == 0.0 && value.abs() < 1e6 => fixed(value, 0),
        _ => concise(value, 4),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    #[test]
    fn groups_span_their_columns() {
        let mut table = Table::new("t", "").row(Row::new([Cell::text("LD")]));
        table.columns = vec![
            Column::new("system"),
            Column::grouped("φ", "a"),
            Column::grouped("φ", "b"),
            Column::grouped("ψ", "a"),
        ];
        let head = head(&table);
        assert!(head.contains("<th scope=\"col\" rowspan=\"2\" class=\"text\">system</th>"));
        assert!(head.contains("colspan=\"2\">φ</th>") && head.contains("colspan=\"1\">ψ</th>"));
        assert_eq!(head.matches("<tr>").count(), 2);
    }

    #[test]
    fn every_row_has_as_many_cells_as_columns() {
        for cells in [vec![], vec![Cell::Empty; 9]] {
            let row = body_row(&Row::new(cells), 3);
            assert_eq!(row.matches("<td").count() + row.matches("<th").count(), 3);
        }
    }

    #[test]
    fn ours_stands_beside_the_paper_and_the_exact_value() {
        let cell = content(&Cell::estimate(1.5e-7, 2e-9).paper(1.4e-7).exact(0.25));
        assert!(
            cell.starts_with("(1.500 ± 0.020)×10<sup>−7</sup>"),
            "{cell}"
        );
        assert!(cell.contains("paper 1.4×10<sup>−7</sup>"), "{cell}");
        assert!(cell.contains("exact 0.25"), "{cell}");
    }

    #[test]
    fn counts_are_written_without_decimals() {
        assert_eq!(estimate(1000.0, None), "1000");
        assert_eq!(estimate(-3.0, None), "−3");
        assert_eq!(estimate(0.5, None), "0.5");
        assert_eq!(estimate(f64::NAN, None), "NaN");
    }

    #[test]
    fn the_csv_link_decodes_to_the_csv() {
        let table = Table::new("t", "").column(Column::new("a \"b\", ±"));
        let link = csv_link(&table);
        let encoded = link
            .split("utf-8,")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let mut bytes = Vec::new();
        let mut rest = encoded.as_bytes().iter();
        while let Some(&byte) = rest.next() {
            if byte == b'%' {
                let pair = [*rest.next().unwrap(), *rest.next().unwrap()];
                let hex = std::str::from_utf8(&pair).unwrap();
                bytes.push(u8::from_str_radix(hex, 16).unwrap());
            } else {
                bytes.push(byte);
            }
        }
        assert_eq!(String::from_utf8(bytes).unwrap(), table.to_csv());
    }
}
