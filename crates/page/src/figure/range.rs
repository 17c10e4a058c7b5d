//! The range of data that the axes of a panel show.

use super::model::{Axis, Line, Mark, Panel, Scale};
use super::reference;

/// Free space at the ends of an axis, as a part of its length.
const PADDING: f64 = 0.03;

/// Beyond this, differences and powers of ten overflow.
const LARGEST: f64 = 1e290;

/// How far reference lines may stretch an axis, as a part of the data's length.
const REFERENCE_ROOM: f64 = 0.2;

/// Ranges of the two axes of `panel`.
pub(super) fn of_panel(panel: &Panel) -> ((f64, f64), (f64, f64)) {
    let fixed = fixed(&panel.x);
    let x = fixed.unwrap_or_else(|| x_extent(panel).range(padding(panel, true)));
    let y = self::fixed(&panel.y).unwrap_or_else(|| {
        let mut extent = y_extent(panel, x);
        extent.stretch(&reference_extent(panel, x));
        let (mut low, high) = extent.range(padding(panel, false));
        if panel.y.scale == Scale::Linear && stands_on_zero(panel) {
            low = low.max(0.0).min(high / 2.0);
        }
        (low, high)
    });
    (x, y)
}

/// The range that the axis asks for, if it makes sense.
fn fixed(axis: &Axis) -> Option<(f64, f64)> {
    let (low, high) = axis.range?;
    let (from, to) = (axis.scale.forward(low)?, axis.scale.forward(high)?);
    let usable = low < high && high <= LARGEST && low >= -LARGEST;
    let wide = to - from > 1e-12 * from.abs().max(to.abs());
    (usable && wide).then_some((low, high))
}

/// Bars and cells reach the frame; lines and points keep a distance.
fn padding(panel: &Panel, is_x: bool) -> f64 {
    let flush = |mark: &Mark| match mark {
        Mark::Heatmap(_) => true,
        Mark::Histogram(_) => is_x,
        _ => false,
    };
    if panel.marks.iter().any(flush) {
        0.0
    } else {
        PADDING
    }
}

/// Whether the panel holds bars and nothing below zero.
fn stands_on_zero(panel: &Panel) -> bool {
    let is_bars = |mark: &Mark| matches!(mark, Mark::Histogram(_));
    let positive = |mark: &Mark| match mark {
        Mark::Line(line) => !line.points.iter().any(|p| p[1] < 0.0),
        Mark::Histogram(bars) => !bars.heights.iter().any(|h| *h < 0.0),
        _ => true,
    };
    panel.marks.iter().any(is_bars) && panel.marks.iter().all(positive)
}

/// Smallest and largest value, in the coordinate in which the axis is even.
#[derive(Debug, Clone, Copy)]
struct Extent {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Extent {
    fn new(scale: Scale) -> Self {
        Extent {
            scale,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }

    fn add(&mut self, value: f64) {
        let least = match self.scale {
            Scale::Linear => 0.0,
            Scale::Log10 => 1.0 / LARGEST,
        };
        let usable = (least..=LARGEST).contains(&value.abs());
        if let Some(v) = self.scale.forward(value).filter(|_| usable) {
            self.low = self.low.min(v);
            self.high = self.high.max(v);
        }
    }

    fn is_empty(&self) -> bool {
        self.low > self.high
    }

    /// Grows towards `other`, but not by more than [`REFERENCE_ROOM`] on either side.
    fn stretch(&mut self, other: &Extent) {
        if self.is_empty() || other.is_empty() {
            return;
        }
        let room = REFERENCE_ROOM * (self.high - self.low);
        let (low, high) = (self.low - room, self.high + room);
        self.low = self.low.min(other.low.max(low));
        self.high = self.high.max(other.high.min(high));
    }

    /// The padded range in data; a usable one also for no value and for a single value.
    fn range(&self, padding: f64) -> (f64, f64) {
        let (low, high) = match (self.is_empty(), self.scale) {
            (true, _) => (0.0, 1.0),
            (false, scale) if self.is_single() => {
                let half = match scale {
                    Scale::Linear if self.low != 0.0 => 0.1 * self.low.abs(),
                    Scale::Linear => 1.0,
                    Scale::Log10 => 0.5,
                };
                (self.low - half, self.high + half)
            }
            _ => {
                let room = padding * (self.high - self.low);
                (self.low - room, self.high + room)
            }
        };
        (self.scale.backward(low), self.scale.backward(high))
    }

    /// Whether all values agree to rounding.
    fn is_single(&self) -> bool {
        let tolerance = match self.scale {
            Scale::Linear => 1e-12 * self.low.abs().max(self.high.abs()),
            Scale::Log10 => 1e-9,
        };
        self.high - self.low <= tolerance
    }
}

fn x_extent(panel: &Panel) -> Extent {
    let mut extent = Extent::new(panel.x.scale);
    let shown = |y: f64| panel.y.scale.forward(y).is_some();
    for mark in &panel.marks {
        match mark {
            Mark::Line(line) => add_points(&mut extent, &line.points, shown),
            Mark::Points(points) => add_points(&mut extent, &points.points, shown),
            Mark::Histogram(bars) => bars.edges.iter().for_each(|e| extent.add(*e)),
            Mark::Heatmap(map) => [map.x_range.0, map.x_range.1]
                .iter()
                .for_each(|e| extent.add(*e)),
            Mark::VerticalLine(rule) => extent.add(rule.value),
            Mark::ReferenceSlope(_) | Mark::HorizontalLine(_) => {}
        }
    }
    extent
}

fn add_points(extent: &mut Extent, points: &[[f64; 2]], shown: impl Fn(f64) -> bool) {
    for [x, _] in points.iter().filter(|p| shown(p[1])) {
        extent.add(*x);
    }
}

fn y_extent(panel: &Panel, x: (f64, f64)) -> Extent {
    let mut extent = Extent::new(panel.y.scale);
    let inside = |p: &&[f64; 2]| p[0] >= x.0 && p[0] <= x.1;
    for mark in &panel.marks {
        match mark {
            Mark::Line(line) => add_line(&mut extent, line, inside),
            Mark::Points(points) => {
                let points = points.points.iter().filter(inside);
                points.for_each(|p| extent.add(p[1]));
            }
            Mark::Histogram(bars) => {
                extent.add(0.0);
                bars.heights.iter().for_each(|h| extent.add(*h));
            }
            Mark::Heatmap(map) => [map.y_range.0, map.y_range.1]
                .iter()
                .for_each(|e| extent.add(*e)),
            Mark::HorizontalLine(rule) => extent.add(rule.value),
            Mark::ReferenceSlope(_) | Mark::VerticalLine(_) => {}
        }
    }
    extent
}

/// Adds a line and its band. On a logarithmic axis a lower edge close to zero would swallow the
/// panel, so it counts only down to a third of its point.
fn add_line(extent: &mut Extent, line: &Line, inside: impl Fn(&&[f64; 2]) -> bool) {
    for (index, point) in line.points.iter().enumerate() {
        if !inside(&point) {
            continue;
        }
        extent.add(point[1]);
        let Some(band) = &line.band else { continue };
        if let (Some(&lower), Some(&upper)) = (band.lower.get(index), band.upper.get(index)) {
            extent.add(upper);
            if extent.scale == Scale::Linear || lower > point[1] / 3.0 {
                extent.add(lower);
            }
        }
    }
}

fn reference_extent(panel: &Panel, x: (f64, f64)) -> Extent {
    let mut extent = Extent::new(panel.y.scale);
    for mark in &panel.marks {
        if let Mark::ReferenceSlope(slope) = mark {
            let points = reference::points(slope, panel, x);
            points.iter().for_each(|p| extent.add(p[1]));
        }
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::super::{Colour, Histogram};
    use super::*;

    fn ranges(x: Axis, y: Axis, points: Vec<[f64; 2]>) -> ((f64, f64), (f64, f64)) {
        of_panel(&Panel::new(x, y).mark(Line::new("", Colour::BLACK, points)))
    }

    #[test]
    fn unusable_values_do_not_count() {
        let points = vec![[1.0, 1.0], [-5.0, 3.0], [10.0, 0.0], [100.0, 10.0]];
        let (x, y) = ranges(Axis::log(""), Axis::log(""), points);
        // Only (1, 1) and (100, 10) can be shown; padding is 3 % of 2 and of 1 decades.
        assert!((x.0.log10() + 0.06).abs() < 1e-12 && (x.1.log10() - 2.06).abs() < 1e-12);
        assert!((y.0.log10() + 0.03).abs() < 1e-12 && (y.1.log10() - 1.03).abs() < 1e-12);
    }

    #[test]
    fn empty_and_single_data_give_usable_ranges() {
        for points in [vec![], vec![[2.0, 0.0]], vec![[f64::NAN, 1.0]]] {
            for (x, y) in [
                (Axis::linear(""), Axis::linear("")),
                (Axis::log(""), Axis::log("")),
            ] {
                let (x, y) = ranges(x, y, points.clone());
                for (low, high) in [x, y] {
                    assert!(low < high && low.is_finite() && high.is_finite());
                }
            }
        }
    }

    #[test]
    fn senseless_fixed_ranges_are_ignored() {
        for bad in [
            (1.0, 0.0),
            (f64::NAN, 1.0),
            (-1.0, 1.0),
            (1.0, f64::INFINITY),
        ] {
            let axis = Axis::log("").range(bad.0, bad.1);
            assert_eq!(fixed(&axis), None, "{bad:?}");
        }
        assert_eq!(fixed(&Axis::log("").range(1.0, 2.0)), Some((1.0, 2.0)));
    }

    #[test]
    fn a_fixed_x_range_limits_what_y_must_show() {
        let points = vec![[0.0, 0.0], [1.0, 1.0], [2.0, 100.0]];
        let (_, y) = ranges(Axis::linear("").range(0.0, 1.5), Axis::linear(""), points);
        assert!(y.1 < 1.1, "{y:?}");
    }

    #[test]
    fn bars_stand_on_zero() {
        let bars = Histogram {
            label: String::new(),
            colour: Colour::BLUE,
            filled: true,
            edges: vec![-1.0, 0.0, 1.0],
            heights: vec![2.0, 3.0],
        };
        let (x, y) = of_panel(&Panel::new(Axis::linear(""), Axis::linear("")).mark(bars));
        assert_eq!((x, y.0), ((-1.0, 1.0), 0.0));
        assert!(y.1 > 3.0);
    }

    #[test]
    fn a_band_that_reaches_zero_does_not_swallow_a_log_axis() {
        let line = Line::new("", Colour::BLUE, vec![[1.0, 1.0], [2.0, 2.0]])
            .band(vec![1e-12, -1.0], vec![2.0, 5.0]);
        let (_, y) = of_panel(&Panel::new(Axis::log(""), Axis::log("")).mark(line));
        assert!(y.0 > 0.9 && y.1 > 5.0, "{y:?}");
    }
}
