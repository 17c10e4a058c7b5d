//! One style per dynamics, the same in every figure.

use langevin::catalog::System;
use langevin_page::figure::{Line, Points, Style};

/// The style of a dynamics: the five of the paper have their own.
pub fn style(name: &str) -> Style {
    Style::of(name, &System::NAMES)
}

/// A line in the style of a dynamics, whose name is its label.
pub fn line(name: &str, points: Vec<[f64; 2]>) -> Line {
    Line::styled(name, style(name), points)
}

/// Points in the style of a dynamics, whose name is their label.
pub fn points(name: &str, points: Vec<[f64; 2]>) -> Points {
    Points::styled(name, style(name), points)
}
