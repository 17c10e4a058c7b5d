//! Figures for print and screen: a plain data model, drawn as SVG and rasterised as PNG.
//!
//! A [`Figure`] is a grid of [`Panel`]s with one legend below. It is 17 cm wide in print.
//!
//! ```
//! use langevin_page::figure::{Axis, Colour, Figure, Line, Mark, Panel};
//!
//! let points = (1..100).map(|n| [f64::from(n), 1.0 / f64::from(n)]).collect();
//! let panel = Panel::new(Axis::log("steps"), Axis::log("MSE"))
//!     .title("First moment")
//!     .mark(Line::new("ours", Colour::BLUE, points));
//! let svg = Figure::new("mse", "MSE of the running average").panel(panel).to_svg();
//! assert!(svg.starts_with("<svg") && svg.contains("First moment"));
//! ```

mod binning;
mod colour;
mod decimate;
mod layout;
mod legend;
mod marks;
mod model;
mod pair_plot;
mod panel;
mod range;
mod reference;
mod render;
mod scale;
mod svg;
mod ticks;

pub mod markup;
pub mod number;
pub mod text;

pub use colour::{Colour, Dash, Marker, Style, sequential};
pub use model::{
    Anchor, Axis, Band, Figure, Heatmap, Histogram, Line, Mark, Panel, Points, ReferenceSlope,
    Rule, Scale, TickLabels,
};
pub use pair_plot::pair_plot;
pub use svg::escape;
