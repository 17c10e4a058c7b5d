//! The report as Markdown, for places that show no HTML: the same words, tables and verdicts, and
//! links to the figures.

use crate::figure::markup::{self, Script};
use crate::figure::number::concise;

use super::html_table::estimate;
use super::model::{Item, Outcome, Report, Section, Verdict, VerdictList};
use super::table::{Cell, Column, Row, Table};

impl Report {
    /// The report as Markdown with tables; figures are links to `figures/ID.svg`.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("# {}\n\n", text(&self.title));
        if !self.subtitle.is_empty() {
            out += &format!("{}\n\n", text(&self.subtitle));
        }
        if !self.facts.is_empty() {
            out += "| | |\n|---|---|\n";
            for (label, value) in &self.facts {
                out += &format!("| {} | {} |\n", cell_text(label), cell_text(value));
            }
            out.push('\n');
        }
        if self.verdicts().next().is_some() {
            let count = |outcome: Outcome| {
                format!("{} {}", self.count(outcome), outcome.name().to_lowercase())
            };
            let counts: Vec<String> = Outcome::ALL.into_iter().map(count).collect();
            let total = self.verdicts().count();
            out += &format!("{total} claims: {}.\n\n", counts.join(", "));
        }
        for part in &self.sections {
            out += &section(part);
        }
        out.trim_end().to_owned() + "\n"
    }
}

fn section(section: &Section) -> String {
    let mut out = format!("## {}\n\n", text(&section.title));
    for paragraph in &section.paragraphs {
        out += &format!("{}\n\n", text(paragraph));
    }
    for item in &section.items {
        out += &match item {
            Item::Table(item) => table(item),
            Item::Figure(figure) => {
                let file = format!("figures/{}.svg", figure.id);
                let label = match figure.name.as_str() {
                    "" => figure.id.as_str(),
                    name => name,
                };
                let note = match figure.note.as_str() {
                    "" => String::new(),
                    note => format!(" {}", text(note)),
                };
                let caption = text(&figure.caption);
                format!("[{}]({file}). {caption}{note}\n\n", text(label))
            }
            Item::Verdicts(list) => verdicts(list),
        };
    }
    out
}

fn table(table: &Table) -> String {
    let mut out = String::new();
    if !table.title.is_empty() {
        out += &format!("### {}\n\n", text(&table.title));
    }
    let beside: Vec<Vec<Part>> = (0..table.columns.len()).map(|i| parts(table, i)).collect();
    let mut heads = vec![];
    for (column, parts) in table.columns.iter().zip(&beside) {
        heads.extend(parts.iter().map(|part| head(column, *part)));
    }
    out += &line(&heads);
    out += &format!("|{}\n", "---|".repeat(heads.len()));
    for row in &table.rows {
        let mut cells = vec![];
        for (i, parts) in beside.iter().enumerate() {
            let cell = row.cells.get(i).unwrap_or(&Cell::Empty);
            cells.extend(parts.iter().map(|part| content(cell, *part, row, i)));
        }
        out += &line(&cells);
    }
    out.push('\n');
    for note in &table.notes {
        out += &format!("{}\n\n", text(note));
    }
    out
}

/// What a column of the report becomes a column of its own for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Ours,
    Paper,
    Exact,
}

/// Printed and exact values stand in columns beside ours, where there are any.
fn parts(table: &Table, index: usize) -> Vec<Part> {
    let mut parts = vec![Part::Ours];
    let cells = || table.rows.iter().filter_map(|row| row.cells.get(index));
    if cells().any(|cell| matches!(cell, Cell::Number { paper: Some(_), .. })) {
        parts.push(Part::Paper);
    }
    if cells().any(|cell| matches!(cell, Cell::Number { exact: Some(_), .. })) {
        parts.push(Part::Exact);
    }
    parts
}

fn head(column: &Column, part: Part) -> String {
    let group = column.group.split(" = ").next().unwrap_or("");
    let name = [group, &column.label].join(" ");
    let name = cell_text(name.trim());
    match part {
        Part::Ours => name,
        Part::Paper => format!("{name}, paper"),
        Part::Exact => format!("{name}, exact"),
    }
}

fn content(cell: &Cell, part: Part, row: &Row, index: usize) -> String {
    let text = match (cell, part) {
        (Cell::Number { value, error, .. }, Part::Ours) => cell_text(&estimate(*value, *error)),
        (Cell::Number { paper, .. }, Part::Paper) => number(*paper),
        (Cell::Number { exact, .. }, Part::Exact) => number(*exact),
        (Cell::Text(text), Part::Ours) => cell_text(text),
        _ => "–".into(),
    };
    match row.best && index == 0 {
        true => format!("**{text}**"),
        false => text,
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or("–".into(), |v| cell_text(&concise(v, 4)))
}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn verdicts(list: &VerdictList) -> String {
    let mut out = String::from("| claim | verdict | measured |\n|---|---|---|\n");
    for verdict in &list.verdicts {
        out += &line(&verdict_cells(verdict));
    }
    out + "\n"
}

fn verdict_cells(verdict: &Verdict) -> [String; 3] {
    let measured: Vec<String> = verdict
        .measured
        .iter()
        .map(|m| {
            let value = estimate(m.value, m.error);
            format!("{}: {}", cell_text(&m.name), cell_text(&value))
        })
        .collect();
    let explanation = match (verdict.explanation.as_str(), measured.is_empty()) {
        ("", _) => String::new(),
        (words, true) => cell_text(words),
        (words, false) => format!(". {}", cell_text(words)),
    };
    [
        cell_text(&verdict.claim),
        format!("**{}**", verdict.outcome.name().to_lowercase()),
        measured.join("; ") + &explanation,
    ]
}

/// Text inside a table: no line breaks, no bars that end a cell.
fn cell_text(words: &str) -> String {
    text(words).replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Text with `<sup>` and `<sub>`, which Markdown passes on; `` `code` `` stays as it is.
fn text(words: &str) -> String {
    let mut out = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, tail)) = after.split_once('`') else {
            break;
        };
        out += &format!("{}`{code}`", scripts(before));
        rest = tail;
    }
    out + &scripts(rest)
}

fn scripts(words: &str) -> String {
    let piece = |run: markup::Run| {
        let plain = escape(&run.text);
        match run.script {
            Script::Normal => plain,
            Script::Super => format!("<sup>{plain}</sup>"),
            Script::Sub => format!("<sub>{plain}</sub>"),
        }
    };
    markup::parse(words).into_iter().map(piece).collect()
}

/// Characters that Markdown would read as markup.
fn escape(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '*' | '_' | '[' | ']' | '`' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::FigureItem;
    use super::*;
    use crate::figure::Figure;

    fn report() -> Report {
        let table = Table::new("t", "Table 3. Variances")
            .column(Column::new("system"))
            .column(Column::grouped("φ₁ = Σ θᵢ", "mean"))
            .row(Row::new([
                Cell::text("LD"),
                Cell::estimate(2.0, 0.5).paper(1.25),
            ]))
            .row(Row::new([Cell::text("a|b"), Cell::number(1.0).exact(2.5)]).best())
            .note("A note with `code_here`.");
        let list = VerdictList {
            id: "v".into(),
            title: "Claims".into(),
            verdicts: vec![
                Verdict::new("LD > RM", Outcome::Holds)
                    .measured("RM / LD", 0.5, Some(0.01))
                    .explanation("Ratios have to be below 1."),
            ],
        };
        let figure = FigureItem::new("Figure 1", &Figure::new("figure1", "K^{2} steps"));
        Report::new("Title").fact("Machine", "a|b").section(
            Section::new("s", "Section")
                .paragraph("Text")
                .item(table)
                .item(figure)
                .item(list),
        )
    }

    #[test]
    fn every_part_is_there() {
        let text = report().to_markdown();
        for part in [
            "# Title\n",
            "| Machine | a\\|b |",
            "1 claims: 1 holds, 0 fails, 0 undecided.",
            "### Table 3. Variances",
            "| system | φ<sub>1</sub> mean | φ<sub>1</sub> mean, paper | φ<sub>1</sub> mean, exact |",
            "| LD | 2.00 ± 0.50 | 1.25 | – |",
            "| **a\\|b** | 1 | – | 2.5 |",
            "A note with `code_here`.",
            "[Figure 1](figures/figure1.svg). K<sup>2</sup> steps",
            "| LD &gt; RM | **holds** | RM / LD: 0.500 ± 0.010. Ratios have to be below 1. |",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }

    #[test]
    fn all_rows_of_a_table_are_equally_long() {
        let text = report().to_markdown();
        let rows: Vec<usize> = text
            .lines()
            .skip_while(|line| !line.starts_with("| system"))
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.replace("\\|", "").matches('|').count())
            .collect();
        assert_eq!(rows, [5, 5, 5, 5]);
    }
}
