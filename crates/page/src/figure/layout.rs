//! Where the panels of a figure lie: margins are measured from the labels, never guessed.

use super::model::{Axis, Figure, Panel, TickLabels};
use super::number::power_of_ten;
use super::range;
use super::scale::Map;
use super::text::width;
use super::ticks::{Ticks, fit};

/// Width of every figure in CSS pixels: 17 cm at 96 pixels per inch.
pub(super) const WIDTH: f64 = 642.5;

/// Free space around the whole figure.
pub(super) const OUTER: f64 = 3.0;

/// The tallest plotting area: a single panel is drawn narrower than the page rather than huge.
const TALLEST: f64 = 290.0;

/// Sizes that depend on how small the panels are, in pixels (1 px is 0.75 pt in print).
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    pub tick_font: f64,
    pub label_font: f64,
    pub tick: f64,
    pub gap: f64,
    pub grid: bool,
    pub minor: bool,
}

impl Theme {
    /// The theme for a grid with this many columns.
    pub fn for_columns(columns: usize) -> Self {
        let (tick_font, label_font, tick, gap) = match columns {
            0..=3 => (10.5, 11.5, 4.0, 10.0),
            4..=5 => (8.8, 9.6, 3.0, 9.0),
            _ => (7.6, 8.6, 2.0, 4.0),
        };
        Theme {
            tick_font,
            label_font,
            tick,
            gap,
            grid: columns <= 3,
            minor: columns <= 3,
        }
    }
}

/// A panel with its axes in place.
#[derive(Debug)]
pub(super) struct Placed<'a> {
    pub panel: &'a Panel,
    pub x: Map,
    pub y: Map,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
    /// Left edge of the column, where the label of the y axis stands.
    pub column_left: f64,
    /// Room for the title and for the label of the x axis: the column without its neighbours.
    pub column_width: f64,
}

/// All panels of a figure in place.
#[derive(Debug)]
pub(super) struct Layout<'a> {
    pub panels: Vec<Placed<'a>>,
    /// Lower edge of the lowest panel with its labels.
    pub bottom: f64,
    pub theme: Theme,
}

/// Free space around a plotting area.
#[derive(Debug, Clone, Copy, Default)]
struct Margins {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Margins {
    fn union(self, other: Margins) -> Margins {
        Margins {
            left: self.left.max(other.left),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// Places the panels of `figure`.
pub(super) fn place(figure: &Figure) -> Layout<'_> {
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let theme = Theme::for_columns(columns);
    let aspect = match figure.aspect {
        a if a.is_finite() && a > 0.0 => a.clamp(0.05, 5.0),
        _ => 0.62,
    };
    let grid = Grid {
        columns,
        panels: &figure.panels,
        theme,
    };
    // Margins depend on the labels, labels on the size of the panels: twice is enough to settle.
    let mut plot_width = (WIDTH - 2.0 * OUTER) / columns as f64 - 5.0 * theme.label_font;
    let mut plot_height = 0.0;
    let mut margins = Vec::new();
    for _ in 0..2 {
        plot_height = plot_width * aspect;
        margins = grid.column_margins(plot_width, plot_height);
        let taken: f64 = margins.iter().map(|m| m.left + m.right).sum();
        let room = (WIDTH - 2.0 * OUTER - taken) / columns as f64;
        plot_width = room.min(TALLEST / aspect).max(10.0);
    }
    grid.place(plot_width, plot_height, &margins)
}

struct Grid<'a> {
    columns: usize,
    panels: &'a [Option<Panel>],
    theme: Theme,
}

impl<'a> Grid<'a> {
    fn column_margins(&self, width: f64, height: f64) -> Vec<Margins> {
        let mut margins = vec![Margins::default(); self.columns];
        for (index, panel) in self.panels.iter().enumerate() {
            if let Some(panel) = panel {
                let needed = self.measure(panel, width, height);
                let column = &mut margins[index % self.columns];
                *column = column.union(needed);
            }
        }
        margins
    }

    fn measure(&self, panel: &Panel, width: f64, height: f64) -> Margins {
        let (x, y, x_ticks, y_ticks) = self.axes(panel, (0.0, width), (height, 0.0));
        let theme = &self.theme;
        let below = outside(&panel.x, &x_ticks, theme, theme.tick_font);
        let beside = outside(&panel.y, &y_ticks, theme, widest(&y_ticks, theme.tick_font));
        let (left_over, right_over) = overhang(&panel.x, &x, &x_ticks, theme);
        let above = overhang_y(&panel.y, &y, &y_ticks, theme);
        let title = if panel.title.is_empty() {
            0.0
        } else {
            theme.label_font + 5.0
        };
        Margins {
            left: beside.max(left_over + 1.0),
            right: (right_over + 1.0).max(theme.gap),
            top: title.max(above),
            bottom: below,
        }
    }

    fn axes(&self, panel: &Panel, xs: (f64, f64), ys: (f64, f64)) -> (Map, Map, Ticks, Ticks) {
        let (x_range, y_range) = range::of_panel(panel);
        let map = |axis: &Axis, range, pixels| Map {
            scale: axis.scale,
            range,
            pixels,
        };
        let (x, y) = (map(&panel.x, x_range, xs), map(&panel.y, y_range, ys));
        let font = self.theme.tick_font;
        let x_ticks = fit(&x, |label| width(label, font), 0.8 * font);
        let y_ticks = fit(&y, |_| font, 0.7 * font);
        (x, y, x_ticks, y_ticks)
    }

    fn place(&self, plot_width: f64, plot_height: f64, columns: &[Margins]) -> Layout<'a> {
        let mut layout = Layout {
            panels: Vec::new(),
            bottom: OUTER,
            theme: self.theme,
        };
        let taken: f64 = columns.iter().map(|m| m.left + m.right).sum();
        let total = taken + plot_width * columns.len() as f64;
        for row in self.panels.chunks(self.columns) {
            let measured = row.iter().flatten();
            let margins = measured
                .map(|panel| self.measure(panel, plot_width, plot_height))
                .fold(Margins::default(), Margins::union);
            let top = layout.bottom + margins.top;
            let mut left = ((WIDTH - total) / 2.0).max(OUTER);
            for (panel, column) in row.iter().zip(columns) {
                let column_width = column.left + plot_width + column.right;
                if let Some(panel) = panel {
                    let start = left + column.left;
                    let (x, y, x_ticks, y_ticks) =
                        self.axes(panel, (start, start + plot_width), (top + plot_height, top));
                    layout.panels.push(Placed {
                        panel,
                        x,
                        y,
                        x_ticks,
                        y_ticks,
                        column_left: left,
                        column_width,
                    });
                }
                left += column_width;
            }
            layout.bottom = top + plot_height + margins.bottom + self.theme.gap;
        }
        layout.bottom = (layout.bottom - self.theme.gap).max(OUTER);
        layout
    }
}

/// The label of an axis, with the power of ten taken out of its numbers.
pub(super) fn axis_title(axis: &Axis, ticks: &Ticks) -> String {
    match (axis.tick_labels, ticks.exponent) {
        (TickLabels::Shown, Some(exponent)) if axis.label.is_empty() => {
            format!("×{}", power_of_ten(exponent))
        }
        (TickLabels::Shown, Some(exponent)) => {
            format!("{} (×{})", axis.label, power_of_ten(exponent))
        }
        _ => axis.label.clone(),
    }
}

/// Room outside the frame for ticks, numbers of extent `number`, and the label of the axis.
fn outside(axis: &Axis, ticks: &Ticks, theme: &Theme, number: f64) -> f64 {
    let numbers = match axis.tick_labels {
        TickLabels::Shown => theme.tick + 3.0 + number,
        TickLabels::Hidden => theme.tick + 1.0,
        TickLabels::NoTicks => 1.0,
    };
    let label = if axis_title(axis, ticks).is_empty() {
        0.0
    } else {
        1.2 * theme.label_font + 4.0
    };
    numbers + label
}

fn widest(ticks: &Ticks, font: f64) -> f64 {
    let widths = ticks.labelled().map(|(_, label)| width(label, font));
    widths.fold(0.0, f64::max)
}

/// How far the numbers of the x axis stick out to the left and to the right.
fn overhang(axis: &Axis, map: &Map, ticks: &Ticks, theme: &Theme) -> (f64, f64) {
    if axis.tick_labels != TickLabels::Shown {
        return (0.0, 0.0);
    }
    let (left, right) = map.pixels;
    let mut over = (0.0_f64, 0.0_f64);
    for (value, label) in ticks.labelled() {
        if let Some(pixel) = map.pixel(value) {
            let half = width(label, theme.tick_font) / 2.0;
            over = (
                over.0.max(left - pixel + half),
                over.1.max(pixel + half - right),
            );
        }
    }
    over
}

/// How far the topmost number of the y axis sticks out.
fn overhang_y(axis: &Axis, map: &Map, ticks: &Ticks, theme: &Theme) -> f64 {
    if axis.tick_labels != TickLabels::Shown {
        return 1.0;
    }
    let pixels = ticks.labelled().filter_map(|(value, _)| map.pixel(value));
    let top = pixels.fold(f64::INFINITY, f64::min);
    (0.6 * theme.tick_font - (top - map.pixels.1)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(columns: usize, count: usize) -> Figure {
        let panel = Panel::new(
            Axis::log("a long label").range(1e-5, 1e5),
            Axis::linear("another label").range(-1234.5, 1234.5),
        );
        let figure = Figure::new("f", "").columns(columns);
        (0..count).fold(figure, |figure, _| figure.panel(panel.clone()))
    }

    #[test]
    fn panels_stay_inside_and_apart() {
        for (columns, count) in [(1, 1), (2, 3), (3, 9), (9, 81), (0, 2), (5, 3)] {
            let figure = grid(columns, count);
            let layout = place(&figure);
            assert_eq!(layout.panels.len(), count);
            for placed in &layout.panels {
                let numbers = widest(&placed.y_ticks, layout.theme.tick_font);
                assert!(
                    placed.x.pixels.0 - numbers >= placed.column_left,
                    "{columns}"
                );
                assert!(placed.x.pixels.1 <= WIDTH - OUTER);
                assert!(placed.y.pixels.0 < layout.bottom);
                assert!(placed.x.pixels.0 < placed.x.pixels.1);
            }
        }
    }

    #[test]
    fn all_panels_have_one_size() {
        let figure = grid(3, 6);
        let layout = place(&figure);
        let size = |p: &Placed<'_>| (p.x.pixels.1 - p.x.pixels.0, p.y.pixels.0 - p.y.pixels.1);
        let first = size(&layout.panels[0]);
        for placed in &layout.panels {
            let other = size(placed);
            assert!((other.0 - first.0).abs() < 1e-9 && (other.1 - first.1).abs() < 1e-9);
        }
    }

    #[test]
    fn powers_of_ten_move_to_the_label() {
        let ticks = Ticks {
            exponent: Some(-4),
            ..Ticks::default()
        };
        assert_eq!(axis_title(&Axis::linear("t"), &ticks), "t (×10⁻⁴)");
        assert_eq!(axis_title(&Axis::linear(""), &ticks), "×10⁻⁴");
    }
}
