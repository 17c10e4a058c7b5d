//! Where a reference slope lies relative to the data of its panel.

use super::model::{Anchor, Mark, Panel, ReferenceSlope, Scale};

/// Free space between the line and the data, as a part of the data's height.
const CLEARANCE: f64 = 0.05;

/// The points (x, c·x^slope) of the line over `x_range`; empty where nothing can be drawn.
///
/// The power law is a line in (log x, log y) whatever the axes are, so it is anchored there.
pub(super) fn points(
    reference: &ReferenceSlope,
    panel: &Panel,
    x_range: (f64, f64),
) -> Vec<[f64; 2]> {
    let Some(intercept) = intercept(reference, panel) else {
        return Vec::new();
    };
    let (Some(first), Some(last)) = (
        Scale::Log10.forward(x_range.0.max(x_range.1 * 1e-12)),
        Scale::Log10.forward(x_range.1),
    ) else {
        return Vec::new();
    };
    // Straight on log-log axes, a curve on others.
    let pieces = match (panel.x.scale, panel.y.scale) {
        (Scale::Log10, Scale::Log10) => 1,
        _ => 128,
    };
    (0..=pieces)
        .map(|k| first + (last - first) * f64::from(k) / f64::from(pieces))
        .map(|log_x| [log_x, intercept + reference.slope * log_x].map(|v| 10f64.powf(v)))
        .collect()
}

/// log₁₀ c.
fn intercept(reference: &ReferenceSlope, panel: &Panel) -> Option<f64> {
    let slope = reference.slope;
    if let Anchor::At(point) = reference.anchor {
        let [log_x, log_y] = logs(point)?;
        return Some(log_y - slope * log_x);
    }
    let data: Vec<[f64; 2]> = panel.marks.iter().flat_map(log_points).collect();
    let low = |f: fn(&[f64; 2]) -> f64| data.iter().map(f).fold(f64::INFINITY, f64::min);
    let high = |f: fn(&[f64; 2]) -> f64| data.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
    let height = high(|p| p[1]) - low(|p| p[1]);
    let offsets = data.iter().map(|p| p[1] - slope * p[0]);
    let intercept = match reference.anchor {
        Anchor::Above => offsets.fold(f64::NEG_INFINITY, f64::max) + CLEARANCE * height,
        _ => offsets.fold(f64::INFINITY, f64::min) - CLEARANCE * height,
    };
    intercept.is_finite().then_some(intercept)
}

fn log_points(mark: &Mark) -> Vec<[f64; 2]> {
    let points = match mark {
        Mark::Line(line) => &line.points,
        Mark::Points(points) => &points.points,
        _ => return Vec::new(),
    };
    points.iter().copied().filter_map(logs).collect()
}

fn logs([x, y]: [f64; 2]) -> Option<[f64; 2]> {
    Some([Scale::Log10.forward(x)?, Scale::Log10.forward(y)?])
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Colour, Line};
    use super::*;

    fn panel(points: Vec<[f64; 2]>) -> Panel {
        Panel::new(Axis::log(""), Axis::log("")).mark(Line::new("", Colour::BLACK, points))
    }

    fn reference(anchor: Anchor) -> ReferenceSlope {
        ReferenceSlope {
            label: String::new(),
            slope: -0.5,
            anchor,
        }
    }

    #[test]
    fn has_the_slope_and_goes_through_its_anchor() {
        let line = points(
            &reference(Anchor::At([100.0, 3.0])),
            &panel(vec![]),
            (1.0, 1e4),
        );
        assert!((line[0][1] - 30.0).abs() < 1e-9, "{line:?}");
        assert!((line[1][1] - 0.3).abs() < 1e-9, "{line:?}");
    }

    #[test]
    fn below_and_above_keep_clear_of_the_data() {
        let data: Vec<[f64; 2]> = (1..50)
            .map(|k| [f64::from(k), (2.0 + f64::from(k).sin()) / f64::from(k)])
            .collect();
        let panel = panel(data.clone());
        let at = |anchor, x: f64| {
            let line = points(&reference(anchor), &panel, (1.0, 100.0));
            line[0][1] * x.powf(-0.5)
        };
        assert!(data.iter().all(|p| at(Anchor::Below, p[0]) < p[1]));
        assert!(data.iter().all(|p| at(Anchor::Above, p[0]) > p[1]));
    }

    #[test]
    fn without_data_there_is_no_line() {
        let empty = panel(vec![[f64::NAN, 1.0], [-1.0, 2.0]]);
        assert!(points(&reference(Anchor::Below), &empty, (1.0, 10.0)).is_empty());
        assert!(points(&reference(Anchor::At([0.0, 1.0])), &empty, (1.0, 10.0)).is_empty());
    }
}
