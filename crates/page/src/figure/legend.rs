//! The legend below the panels: one entry for each label, whatever the number of panels.

use super::colour::{Colour, sequential};
use super::layout::{OUTER, WIDTH};
use super::marks::{draw_markers, stroke};
use super::model::{Figure, Line, Mark};
use super::svg::{Path, Px, Writer};
use super::text::{Align, Label, width};

const FONT: f64 = 11.0;
const SWATCH: f64 = 28.0;
/// Width of the sample of a point.
const DOT: f64 = 8.0;
const SPACE: f64 = 6.0;
const BETWEEN: f64 = 20.0;
const ROW: f64 = FONT + 7.0;

/// The marks that give the entries: the first one of each label.
fn entries(figure: &Figure) -> Vec<(&str, &Mark)> {
    let mut entries: Vec<(&str, &Mark)> = Vec::new();
    for mark in figure.panels.iter().flatten().flat_map(|p| &p.marks) {
        let label = label(mark);
        if !label.is_empty() && entries.iter().all(|(known, _)| *known != label) {
            entries.push((label, mark));
        }
    }
    entries
}

fn label(mark: &Mark) -> &str {
    match mark {
        Mark::Line(line) => &line.label,
        Mark::Points(points) => &points.label,
        Mark::Histogram(bars) => &bars.label,
        Mark::Heatmap(map) => &map.label,
        Mark::ReferenceSlope(slope) => &slope.label,
        Mark::HorizontalLine(rule) | Mark::VerticalLine(rule) => &rule.label,
    }
}

fn swatch_width(mark: &Mark) -> f64 {
    match mark {
        Mark::Points(_) => DOT,
        _ => SWATCH,
    }
}

fn entry_width((label, mark): &(&str, &Mark)) -> f64 {
    swatch_width(mark) + SPACE + width(label, FONT)
}

/// Breaks the entries into rows that fit the figure.
fn rows<'a>(entries: &[(&'a str, &'a Mark)]) -> Vec<Vec<(&'a str, &'a Mark)>> {
    let mut rows: Vec<Vec<(&str, &Mark)>> = Vec::new();
    let mut used = f64::INFINITY;
    for entry in entries {
        let needed = entry_width(entry) + BETWEEN;
        if used + needed - BETWEEN > WIDTH - 2.0 * OUTER {
            rows.push(Vec::new());
            used = 0.0;
        }
        used += needed;
        if let Some(row) = rows.last_mut() {
            row.push(*entry);
        }
    }
    rows
}

/// Draws the legend below `top` and returns its lower edge.
pub(super) fn draw(svg: &mut Writer, figure: &Figure, top: f64) -> f64 {
    let rows = rows(&entries(figure));
    if rows.is_empty() {
        return top;
    }
    let mut baseline = top + 10.0 + FONT;
    for row in &rows {
        let total: f64 = row.iter().map(entry_width).sum();
        let total = total + BETWEEN * (row.len() as f64 - 1.0);
        let mut left = ((WIDTH - total) / 2.0).max(OUTER);
        for entry in row {
            let (label, mark) = entry;
            swatch(svg, mark, left, baseline - 0.36 * FONT);
            let start = left + swatch_width(mark) + SPACE;
            Label::new(label, FONT, Align::Start).draw(svg, start, baseline);
            left += entry_width(entry) + BETWEEN;
        }
        baseline += ROW;
    }
    baseline - ROW + 4.0
}

/// A sample of the mark, [`swatch_width`] wide and centred on `y`.
fn swatch(svg: &mut Writer, mark: &Mark, x: f64, y: f64) {
    match mark {
        Mark::Line(line) => line_swatch(svg, line, x, y),
        Mark::Points(points) => {
            let size = points.size.clamp(4.0, 7.0);
            draw_markers(svg, &[(x + DOT / 2.0, y)], points.style, size);
        }
        Mark::Histogram(bars) => {
            let opacity = if bars.filled { "0.3" } else { "0" };
            box_swatch(svg, x, y, SWATCH, &bars.colour, opacity, &bars.colour);
        }
        Mark::Heatmap(_) => {
            let steps = 7;
            let part = SWATCH / f64::from(steps);
            for k in 0..steps {
                let colour = sequential(f64::from(k) / f64::from(steps - 1));
                let left = x + part * f64::from(k);
                box_swatch(svg, left, y, part, &colour, "1", &colour);
            }
            box_swatch(svg, x, y, SWATCH, &Colour::GREY, "0", &Colour::GREY);
        }
        Mark::ReferenceSlope(_) => {
            let black = Line::new("", Colour::BLACK, Vec::new()).width(1.2);
            line_swatch(svg, &black, x, y);
        }
        Mark::HorizontalLine(rule) | Mark::VerticalLine(rule) => {
            let line = Line::new("", rule.colour, Vec::new()).dash(rule.dash);
            line_swatch(svg, &line.width(1.1), x, y);
        }
    }
}

fn line_swatch(svg: &mut Writer, line: &Line, x: f64, y: f64) {
    if line.band.is_some() {
        let colour = line.style.colour;
        svg.element(
            "rect",
            &[
                ("x", &Px(x)),
                ("y", &Px(y - 4.0)),
                ("width", &Px(SWATCH)),
                ("height", &Px(8.0)),
                ("fill", &colour),
                ("fill-opacity", &"0.2"),
            ],
        );
    }
    let mut path = Path::default();
    path.polyline(&[(x, y), (x + SWATCH, y)]);
    stroke(
        svg,
        &path,
        line.style.colour,
        line.width.max(1.1),
        line.style.dash,
    );
    if line.markers {
        draw_markers(svg, &[(x + SWATCH / 2.0, y)], line.style, 5.0);
    }
}

fn box_swatch(
    svg: &mut Writer,
    x: f64,
    y: f64,
    width: f64,
    fill: &Colour,
    opacity: &str,
    edge: &Colour,
) {
    svg.element(
        "rect",
        &[
            ("x", &Px(x)),
            ("y", &Px(y - 4.5)),
            ("width", &Px(width)),
            ("height", &Px(9.0)),
            ("fill", fill),
            ("fill-opacity", &opacity),
            ("stroke", edge),
            ("stroke-width", &"0.6"),
        ],
    );
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Panel};
    use super::*;

    fn figure(labels: &[&str]) -> Figure {
        let panel = labels.iter().fold(
            Panel::new(Axis::linear(""), Axis::linear("")),
            |panel, label| panel.mark(Line::new(*label, Colour::BLUE, vec![])),
        );
        Figure::new("f", "").panel(panel.clone()).panel(panel)
    }

    #[test]
    fn labels_appear_once_and_in_order() {
        let figure = figure(&["LD", "RM", "", "LD"]);
        let labels: Vec<&str> = entries(&figure).iter().map(|e| e.0).collect();
        assert_eq!(labels, ["LD", "RM"]);
    }

    #[test]
    fn long_legends_wrap_inside_the_figure() {
        let names: Vec<String> = (0..30).map(|k| format!("a system called {k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let figure = figure(&names);
        let entries = entries(&figure);
        let rows = rows(&entries);
        assert!(rows.len() > 3);
        assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), 30);
        for row in rows {
            let total: f64 = row.iter().map(|e| entry_width(e) + BETWEEN).sum();
            assert!(total - BETWEEN <= WIDTH);
        }
    }

    #[test]
    fn without_labels_there_is_no_legend() {
        let mut svg = Writer::default();
        assert_eq!(draw(&mut svg, &figure(&[""]), 10.0), 10.0);
        assert_eq!(svg.finish(), "");
    }
}
