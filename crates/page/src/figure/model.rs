//! What a figure is made of: panels, axes and marks, as plain data.

use super::colour::{Colour, Dash, Marker, Style};

/// How an axis is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By powers of ten; values that are not positive are left out.
    Log10,
}

/// Whether an axis says its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TickLabels {
    /// Ticks with numbers.
    #[default]
    Shown,
    /// Ticks without numbers, for inner panels of a grid with shared axes.
    Hidden,
    /// No ticks at all, for densities whose height means nothing.
    NoTicks,
}

/// One axis of a panel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Text beside the axis; may hold `^{…}` and `_{…}`. Empty for none.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Lower and upper end; `None`, or a range that makes no sense, fits the data.
    pub range: Option<(f64, f64)>,
    /// Whether numbers are written.
    pub tick_labels: TickLabels,
}

impl Axis {
    /// A linear axis that fits the data.
    pub fn linear(label: impl Into<String>) -> Self {
        Axis {
            label: label.into(),
            ..Axis::default()
        }
    }

    /// A logarithmic axis that fits the data.
    pub fn log(label: impl Into<String>) -> Self {
        Axis {
            label: label.into(),
            scale: Scale::Log10,
            ..Axis::default()
        }
    }

    /// Fixes the range.
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// Chooses whether numbers are written.
    pub fn tick_labels(mut self, tick_labels: TickLabels) -> Self {
        self.tick_labels = tick_labels;
        self
    }
}

/// A band around a line, such as plus or minus one standard error.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Lower edge, one value for each point of the line.
    pub lower: Vec<f64>,
    /// Upper edge, one value for each point of the line.
    pub upper: Vec<f64>,
}

/// A polyline; it is interrupted where a point cannot be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Entry in the legend; empty for none.
    pub label: String,
    /// Colour and dash; the marker counts only with `markers`.
    pub style: Style,
    /// Width in pixels.
    pub width: f64,
    /// Whether to mark the points.
    pub markers: bool,
    /// The points `[x, y]`.
    pub points: Vec<[f64; 2]>,
    /// Standard errors.
    pub band: Option<Band>,
}

impl Line {
    /// A solid line.
    pub fn new(label: impl Into<String>, colour: Colour, points: Vec<[f64; 2]>) -> Self {
        Line {
            label: label.into(),
            style: Style {
                colour,
                dash: Dash::Solid,
                marker: Marker::Circle,
            },
            width: 1.5,
            markers: false,
            points,
            band: None,
        }
    }

    /// A line of some style.
    pub fn styled(label: impl Into<String>, style: Style, points: Vec<[f64; 2]>) -> Self {
        Line {
            style,
            ..Line::new(label, Colour::BLACK, points)
        }
    }

    /// Sets the dash.
    pub fn dash(mut self, dash: Dash) -> Self {
        self.style.dash = dash;
        self
    }

    /// Sets the width in pixels.
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Marks the points, too.
    pub fn with_markers(mut self) -> Self {
        self.markers = true;
        self
    }

    /// Adds a band; values beyond the number of points are ignored.
    pub fn band(mut self, lower: Vec<f64>, upper: Vec<f64>) -> Self {
        self.band = Some(Band { lower, upper });
        self
    }

    /// Adds a band of plus or minus `errors` around the points.
    pub fn errors(self, errors: &[f64]) -> Self {
        let pairs = || self.points.iter().zip(errors);
        let lower = pairs().map(|(p, e)| p[1] - e).collect();
        let upper = pairs().map(|(p, e)| p[1] + e).collect();
        self.band(lower, upper)
    }
}

/// Separate points.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// Entry in the legend; empty for none.
    pub label: String,
    /// Colour and marker.
    pub style: Style,
    /// Diameter in pixels.
    pub size: f64,
    /// The points `[x, y]`.
    pub points: Vec<[f64; 2]>,
}

impl Points {
    /// Points of some style.
    pub fn styled(label: impl Into<String>, style: Style, points: Vec<[f64; 2]>) -> Self {
        Points {
            label: label.into(),
            style,
            size: 4.5,
            points,
        }
    }

    /// Sets the diameter in pixels.
    pub fn size(mut self, size: f64) -> Self {
        self.size = size;
        self
    }
}

/// A one-dimensional marginal as bars of given heights.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Entry in the legend; empty for none.
    pub label: String,
    /// Colour of the outline and, paler, of the bars.
    pub colour: Colour,
    /// Whether bars are filled; otherwise only their outline is drawn.
    pub filled: bool,
    /// Edges of the bars, rising; one more than heights.
    pub edges: Vec<f64>,
    /// Heights of the bars.
    pub heights: Vec<f64>,
}

/// A two-dimensional marginal on a regular grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Heatmap {
    /// Entry in the legend; empty for none.
    pub label: String,
    /// First and last edge in x. On a logarithmic axis the cells are even in log x.
    pub x_range: (f64, f64),
    /// First and last edge in y.
    pub y_range: (f64, f64),
    /// Number of cells in x.
    pub columns: usize,
    /// Densities, row after row from the bottom; an incomplete last row is ignored.
    pub values: Vec<f64>,
}

/// Where a [`ReferenceSlope`] lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    /// Just below all lines and points of the panel.
    Below,
    /// Just above all lines and points of the panel.
    Above,
    /// Through this point.
    At([f64; 2]),
}

/// The power law `y = c·x^slope`, a straight line on log-log axes.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceSlope {
    /// Entry in the legend; empty for none.
    pub label: String,
    /// The exponent.
    pub slope: f64,
    /// Where the line lies.
    pub anchor: Anchor,
}

/// A straight line at one value of one axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Entry in the legend; empty for none.
    pub label: String,
    /// Where the line lies.
    pub value: f64,
    /// Its colour.
    pub colour: Colour,
    /// Its dash.
    pub dash: Dash,
}

impl Rule {
    /// A dashed grey rule.
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Rule {
            label: label.into(),
            value,
            colour: Colour::GREY,
            dash: Dash::Dashed,
        }
    }
}

/// Anything drawn in a panel.
#[derive(Debug, Clone, PartialEq)]
pub enum Mark {
    /// A polyline, with a band where asked.
    Line(Line),
    /// A scatter plot.
    Points(Points),
    /// Bars.
    Histogram(Histogram),
    /// Coloured cells.
    Heatmap(Heatmap),
    /// A power law.
    ReferenceSlope(ReferenceSlope),
    /// A line at one y.
    HorizontalLine(Rule),
    /// A line at one x.
    VerticalLine(Rule),
}

macro_rules! mark_from {
    ($($kind:ident),*) => {$(
        impl From<$kind> for Mark {
            fn from(mark: $kind) -> Self {
                Mark::$kind(mark)
            }
        }
    )*};
}
mark_from!(Line, Points, Histogram, Heatmap, ReferenceSlope);

/// One pair of axes and what is drawn in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// Text above the panel; empty for none.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The marks, drawn in this order within each kind.
    pub marks: Vec<Mark>,
}

impl Panel {
    /// An empty panel.
    pub fn new(x: Axis, y: Axis) -> Self {
        Panel {
            x,
            y,
            ..Panel::default()
        }
    }

    /// Sets the title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Adds a mark.
    pub fn mark(mut self, mark: impl Into<Mark>) -> Self {
        self.marks.push(mark.into());
        self
    }
}

/// A grid of panels with one legend below.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Anchor in a page and stem of a file name.
    pub id: String,
    /// What the figure shows; not drawn, but kept as its description.
    pub caption: String,
    /// Panels in a row; 0 counts as 1.
    pub columns: usize,
    /// The panels row by row; `None` leaves a place empty.
    pub panels: Vec<Option<Panel>>,
    /// Height of a panel's plotting area relative to its width.
    pub aspect: f64,
}

impl Figure {
    /// An empty figure with one column.
    pub fn new(id: impl Into<String>, caption: impl Into<String>) -> Self {
        Figure {
            id: id.into(),
            caption: caption.into(),
            columns: 1,
            panels: Vec::new(),
            aspect: 0.62,
        }
    }

    /// Sets the number of panels in a row.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// Sets the height of the plotting areas relative to their width.
    pub fn aspect(mut self, aspect: f64) -> Self {
        self.aspect = aspect;
        self
    }

    /// Adds a panel.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(Some(panel));
        self
    }

    /// Leaves a place of the grid empty.
    pub fn gap(mut self) -> Self {
        self.panels.push(None);
        self
    }
}
