//! The frame, the axes and the texts of one panel.

use super::layout::{Placed, Theme, axis_title};
use super::marks;
use super::model::{Axis, Mark, TickLabels};
use super::svg::{Attribute, Path, Px, Writer};
use super::text::{Align, Label, width};
use super::ticks::Ticks;

const INK: &str = "#222222";
const GRID: &str = "#e6e6e6";

/// Draws the panel.
pub(super) fn draw(svg: &mut Writer, placed: &Placed<'_>, theme: &Theme) {
    let (left, right) = placed.x.pixels;
    let (bottom, top) = placed.y.pixels;
    let (x, y, w, h) = (Px(left), Px(top), Px(right - left), Px(bottom - top));
    let has_cells = placed
        .panel
        .marks
        .iter()
        .any(|m| matches!(m, Mark::Heatmap(_)));
    if theme.grid && !has_cells {
        grid(svg, placed);
    }
    // A nested viewport clips the marks without an id that could clash within a page.
    let view = format!("{x} {y} {w} {h}");
    svg.open(
        "svg",
        &[
            ("x", &x),
            ("y", &y),
            ("width", &w),
            ("height", &h),
            ("viewBox", &view),
        ],
    );
    marks::draw(svg, placed);
    svg.close();
    let frame: [Attribute<'_>; 7] = [
        ("x", &x),
        ("y", &y),
        ("width", &w),
        ("height", &h),
        ("fill", &"none"),
        ("stroke", &INK),
        ("stroke-width", &"0.8"),
    ];
    svg.element("rect", &frame);
    ticks(svg, placed, theme);
    labels(svg, placed, theme);
}

fn grid(svg: &mut Writer, placed: &Placed<'_>) {
    let mut path = Path::default();
    let (left, right) = placed.x.pixels;
    let (bottom, top) = placed.y.pixels;
    for (value, _) in visible(&placed.panel.x, &placed.x_ticks) {
        if let Some(x) = placed.x.pixel(value) {
            path.polyline(&[(x, top), (x, bottom)]);
        }
    }
    for (value, _) in visible(&placed.panel.y, &placed.y_ticks) {
        if let Some(y) = placed.y.pixel(value) {
            path.polyline(&[(left, y), (right, y)]);
        }
    }
    if !path.is_empty() {
        let attributes: [Attribute<'_>; 3] =
            [("d", &path), ("stroke", &GRID), ("stroke-width", &"0.7")];
        svg.element("path", &attributes);
    }
}

/// The labelled ticks of an axis that has any.
fn visible<'a>(axis: &Axis, ticks: &'a Ticks) -> Vec<(f64, &'a str)> {
    match axis.tick_labels {
        TickLabels::NoTicks => Vec::new(),
        TickLabels::Shown | TickLabels::Hidden => ticks.labelled().collect(),
    }
}

/// Ticks point outwards; minor ones are half as long.
fn ticks(svg: &mut Writer, placed: &Placed<'_>, theme: &Theme) {
    let mut path = Path::default();
    let length = |major: bool| match (major, theme.minor) {
        (true, _) => Some(theme.tick),
        (false, true) => Some(0.5 * theme.tick),
        (false, false) => None,
    };
    let (left, bottom) = (placed.x.pixels.0, placed.y.pixels.0);
    if placed.panel.x.tick_labels != TickLabels::NoTicks {
        for tick in &placed.x_ticks.ticks {
            if let (Some(x), Some(l)) = (placed.x.pixel(tick.value), length(tick.label.is_some())) {
                path.polyline(&[(x, bottom), (x, bottom + l)]);
            }
        }
    }
    if placed.panel.y.tick_labels != TickLabels::NoTicks {
        for tick in &placed.y_ticks.ticks {
            if let (Some(y), Some(l)) = (placed.y.pixel(tick.value), length(tick.label.is_some())) {
                path.polyline(&[(left, y), (left - l, y)]);
            }
        }
    }
    if !path.is_empty() {
        let attributes: [Attribute<'_>; 3] =
            [("d", &path), ("stroke", &INK), ("stroke-width", &"0.7")];
        svg.element("path", &attributes);
    }
}

fn labels(svg: &mut Writer, placed: &Placed<'_>, theme: &Theme) {
    let panel = placed.panel;
    let (left, right) = placed.x.pixels;
    let (bottom, top) = placed.y.pixels;
    let font = theme.tick_font;
    let numbers = bottom + theme.tick + 2.0 + 0.85 * font;
    if panel.x.tick_labels == TickLabels::Shown {
        for (value, label) in placed.x_ticks.labelled() {
            if let Some(x) = placed.x.pixel(value) {
                Label::new(label, font, Align::Middle).draw(svg, x, numbers);
            }
        }
    }
    if panel.y.tick_labels == TickLabels::Shown {
        for (value, label) in placed.y_ticks.labelled() {
            if let Some(y) = placed.y.pixel(value) {
                let x = left - theme.tick - 3.0;
                Label::new(label, font, Align::End).draw(svg, x, y + 0.36 * font);
            }
        }
    }
    let middle = (left + right) / 2.0;
    let x_title = axis_title(&panel.x, &placed.x_ticks);
    let below = match panel.x.tick_labels {
        TickLabels::Shown => numbers + 4.0 + theme.label_font,
        _ => bottom + theme.tick + 3.0 + theme.label_font,
    };
    let title = Label::new(&x_title, theme.label_font, Align::Middle);
    fitted(title, placed.column_width).draw_if_any(svg, middle, below);
    let y_title = axis_title(&panel.y, &placed.y_ticks);
    let title = Label::new(&y_title, theme.label_font, Align::Middle).upright();
    let x = placed.column_left + 0.95 * theme.label_font;
    fitted(title, 1.15 * (bottom - top)).draw_if_any(svg, x, (top + bottom) / 2.0);
    let title = Label::new(&panel.title, theme.label_font, Align::Middle);
    fitted(title, 1.1 * (right - left)).draw_if_any(svg, middle, top - 5.0);
}

/// Shrinks a label that is longer than `room`, down to where it is still legible.
fn fitted(mut label: Label<'_>, room: f64) -> Label<'_> {
    let length = width(label.text, label.size);
    if length > room {
        label.size = (label.size * room / length).max(0.65 * label.size);
    }
    label
}

impl Label<'_> {
    fn draw_if_any(&self, svg: &mut Writer, x: f64, y: f64) {
        if !self.text.is_empty() {
            self.draw(svg, x, y);
        }
    }
}
