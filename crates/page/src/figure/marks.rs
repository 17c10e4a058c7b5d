//! How each kind of mark is drawn inside its panel.

use super::colour::{Colour, Dash, Marker, Style, sequential};
use super::decimate;
use super::layout::Placed;
use super::model::{Heatmap, Histogram, Line, Mark, Points, ReferenceSlope, Rule};
use super::reference;
use super::svg::{Attribute, Path, Px, Writer};

/// Steps of the colour map; finer ones cannot be told apart.
const LEVELS: u32 = 24;

/// Least distance of the markers on a line, in pixels.
const MARKER_SPACING: f64 = 16.0;

/// Draws all marks of the panel: areas first, then lines, points and guides.
pub(super) fn draw(svg: &mut Writer, placed: &Placed<'_>) {
    let marks = &placed.panel.marks;
    for mark in marks {
        match mark {
            Mark::Heatmap(map) => heatmap(svg, placed, map),
            Mark::Histogram(bars) => histogram(svg, placed, bars),
            _ => {}
        }
    }
    for mark in marks {
        match mark {
            Mark::HorizontalLine(rule) => horizontal(svg, placed, rule),
            Mark::VerticalLine(rule) => vertical(svg, placed, rule),
            Mark::Line(line) => band(svg, placed, line),
            _ => {}
        }
    }
    for mark in marks {
        match mark {
            Mark::Line(line) => polyline(svg, placed, line),
            Mark::Points(points) => scatter(svg, placed, points),
            _ => {}
        }
    }
    for mark in marks {
        if let Mark::ReferenceSlope(slope) = mark {
            reference_slope(svg, placed, slope);
        }
    }
}

/// Draws an open path; the dash lengths grow with the width.
pub(super) fn stroke(svg: &mut Writer, path: &Path, colour: Colour, width: f64, dash: Dash) {
    if path.is_empty() {
        return;
    }
    let width_px = Px(width);
    let mut attributes: Vec<Attribute<'_>> = vec![
        ("d", path),
        ("fill", &"none"),
        ("stroke", &colour),
        ("stroke-width", &width_px),
        ("stroke-linejoin", &"round"),
    ];
    let dashes = dash.pattern().map(|pattern| {
        let lengths = pattern
            .iter()
            .map(|part| Px(part * width.max(1.0)).to_string());
        lengths.collect::<Vec<_>>().join(" ")
    });
    if let Some(dashes) = &dashes {
        attributes.push(("stroke-dasharray", dashes));
    }
    svg.element("path", &attributes);
}

/// Runs of consecutive points that can be shown.
fn segments(placed: &Placed<'_>, points: &[[f64; 2]]) -> Vec<Vec<(f64, f64)>> {
    let pixel = |p: &[f64; 2]| Some((placed.x.pixel(p[0])?, placed.y.pixel(p[1])?));
    let mut segments = vec![Vec::new()];
    for point in points {
        match (pixel(point), segments.last_mut()) {
            (Some(pixel), Some(segment)) => segment.push(pixel),
            (None, Some(segment)) if !segment.is_empty() => segments.push(Vec::new()),
            _ => {}
        }
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}

fn polyline(svg: &mut Writer, placed: &Placed<'_>, line: &Line) {
    let mut path = Path::default();
    let mut lonely = Vec::new();
    let segments = segments(placed, &line.points);
    for segment in &segments {
        match segment.as_slice() {
            [point] => lonely.push(*point),
            points => path.polyline(&decimate::polyline(points)),
        }
    }
    stroke(svg, &path, line.style.colour, line.width, line.style.dash);
    if line.markers {
        draw_markers(svg, &spaced(&segments.concat()), line.style, 5.0);
    } else {
        let dot = Style {
            marker: Marker::Circle,
            ..line.style
        };
        draw_markers(svg, &decimate::scatter(&lonely), dot, 2.5 * line.width);
    }
}

/// Some of the points, far enough apart that their markers can be told apart.
fn spaced(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in points {
        let far = |&(a, b): &(f64, f64)| (x - a).hypot(y - b) >= MARKER_SPACING;
        if kept.last().is_none_or(far) {
            kept.push((x, y));
        }
    }
    kept
}

/// The area between the edges; on a logarithmic axis what is not positive lies on the frame.
fn band(svg: &mut Writer, placed: &Placed<'_>, line: &Line) {
    let Some(band) = &line.band else { return };
    let mut path = Path::default();
    let mut edges: Vec<(f64, f64, f64)> = Vec::new();
    let mut flush = |edges: &mut Vec<(f64, f64, f64)>| {
        if edges.len() > 1 {
            let upper: Vec<_> = edges.iter().map(|e| (e.0, e.2)).collect();
            let lower: Vec<_> = edges.iter().rev().map(|e| (e.0, e.1)).collect();
            let mut outline = decimate::polyline(&upper);
            outline.extend(decimate::polyline(&lower));
            path.polyline(&outline);
            path.close();
        }
        edges.clear();
    };
    for ((point, &lower), &upper) in line.points.iter().zip(&band.lower).zip(&band.upper) {
        let edge = || {
            let x = placed.x.pixel(point[0])?;
            placed.y.pixel(point[1])?;
            Some((
                x,
                placed.y.pixel_or_low(lower)?,
                placed.y.pixel_or_low(upper)?,
            ))
        };
        match edge() {
            Some(edge) => edges.push(edge),
            None => flush(&mut edges),
        }
    }
    flush(&mut edges);
    fill(svg, &path, line.style.colour, "0.2");
}

fn fill(svg: &mut Writer, path: &Path, colour: Colour, opacity: &str) {
    if !path.is_empty() {
        svg.element(
            "path",
            &[("d", path), ("fill", &colour), ("fill-opacity", &opacity)],
        );
    }
}

fn scatter(svg: &mut Writer, placed: &Placed<'_>, points: &Points) {
    let pixels = segments(placed, &points.points).concat();
    draw_markers(svg, &decimate::scatter(&pixels), points.style, points.size);
}

/// All markers of a series in one path.
pub(super) fn draw_markers(svg: &mut Writer, at: &[(f64, f64)], style: Style, size: f64) {
    if at.is_empty() {
        return;
    }
    let half = size / 2.0;
    let corners: &[(f64, f64)] = match style.marker {
        Marker::Circle => &[],
        Marker::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        Marker::Triangle => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        Marker::Diamond => &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
        Marker::Cross => &[(-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)],
    };
    let mut path = Path::default();
    for &(x, y) in at {
        let corners: Vec<_> = corners
            .iter()
            .map(|(dx, dy)| (x + dx * half, y + dy * half))
            .collect();
        match style.marker {
            Marker::Circle => path.dot(x, y),
            Marker::Cross => corners.chunks(2).for_each(|bar| path.polyline(bar)),
            _ => {
                path.polyline(&corners);
                path.close();
            }
        }
    }
    let width = match style.marker {
        Marker::Circle => size,
        Marker::Cross => (0.3 * size).max(0.8),
        _ => return fill(svg, &path, style.colour, "1"),
    };
    svg.element(
        "path",
        &[
            ("d", &path),
            ("stroke", &style.colour),
            ("stroke-width", &Px(width)),
            ("stroke-linecap", &"round"),
        ],
    );
}

fn histogram(svg: &mut Writer, placed: &Placed<'_>, bars: &Histogram) {
    let Some(base) = placed.y.pixel_or_low(0.0) else {
        return;
    };
    let mut outline = vec![];
    for (edge, &height) in bars.edges.windows(2).zip(&bars.heights) {
        let (Some(left), Some(right)) = (placed.x.pixel(edge[0]), placed.x.pixel(edge[1])) else {
            continue;
        };
        let top = placed.y.pixel_or_low(height).unwrap_or(base);
        if outline.is_empty() {
            outline.push((left, base));
        }
        outline.extend([(left, top), (right, top)]);
    }
    if let Some(&(right, _)) = outline.last() {
        outline.push((right, base));
    }
    let mut path = Path::default();
    path.polyline(&outline);
    if bars.filled {
        fill(svg, &path, bars.colour, "0.3");
    }
    stroke(svg, &path, bars.colour, 1.0, Dash::Solid);
}

/// Draws, for each level, the cells at or above it over those of the level below. No two colours
/// ever share an edge with nothing beneath, so renderers leave no hairlines between cells.
fn heatmap(svg: &mut Writer, placed: &Placed<'_>, map: &Heatmap) {
    let Some(rows) = map.values.len().checked_div(map.columns).filter(|n| *n > 0) else {
        return;
    };
    let ends = || {
        let x = (
            placed.x.pixel(map.x_range.0)?,
            placed.x.pixel(map.x_range.1)?,
        );
        let y = (
            placed.y.pixel(map.y_range.0)?,
            placed.y.pixel(map.y_range.1)?,
        );
        Some((x, y))
    };
    let largest = map
        .values
        .iter()
        .copied()
        .filter(|v| v.is_finite())
        .fold(0.0, f64::max);
    let Some((x, y)) = ends().filter(|_| largest > 0.0) else {
        return;
    };
    let transform = format!(
        "matrix({} 0 0 {} {} {})",
        (x.1 - x.0) / map.columns as f64,
        (y.1 - y.0) / rows as f64,
        Px(x.0),
        Px(y.0)
    );
    svg.open("g", &[("transform", &transform)]);
    for level in 1..=LEVELS {
        let threshold = largest * (f64::from(level) - 0.5) / f64::from(LEVELS);
        let inside =
            |column: usize, row: usize| map.values[row * map.columns + column] >= threshold;
        let path = rectangles(map.columns, rows, inside);
        let colour = sequential(f64::from(level) / f64::from(LEVELS));
        if !path.is_empty() {
            svg.element("path", &[("d", &path), ("fill", &colour)]);
        }
    }
    svg.close();
}

/// Path data, in units of cells, that covers the cells `inside`; equal runs of neighbouring rows
/// become one rectangle.
fn rectangles(columns: usize, rows: usize, inside: impl Fn(usize, usize) -> bool) -> String {
    let mut path = String::new();
    // Open rectangles: first column, end column, first row.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    for row in 0..=rows {
        let runs = if row < rows {
            runs(columns, |column| inside(column, row))
        } else {
            Vec::new()
        };
        open.retain(|&(start, end, first)| {
            let goes_on = runs.contains(&(start, end));
            if !goes_on {
                let (width, height) = (end - start, row - first);
                path.push_str(&format!("M{start} {first}h{width}v{height}h-{width}z"));
            }
            goes_on
        });
        for (start, end) in runs {
            if !open.iter().any(|r| (r.0, r.1) == (start, end)) {
                open.push((start, end, row));
            }
        }
    }
    path
}

/// Maximal intervals `start..end` of columns that are inside.
fn runs(columns: usize, inside: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for column in (0..columns).filter(|c| inside(*c)) {
        match runs.last_mut() {
            Some((_, end)) if *end == column => *end += 1,
            _ => runs.push((column, column + 1)),
        }
    }
    runs
}

fn reference_slope(svg: &mut Writer, placed: &Placed<'_>, slope: &ReferenceSlope) {
    let points = reference::points(slope, placed.panel, placed.x.range);
    let mut path = Path::default();
    for segment in segments(placed, &points) {
        path.polyline(&segment);
    }
    stroke(svg, &path, Colour::BLACK, 1.2, Dash::Solid);
}

fn horizontal(svg: &mut Writer, placed: &Placed<'_>, rule: &Rule) {
    if let Some(y) = placed.y.pixel(rule.value) {
        let mut path = Path::default();
        path.polyline(&[(placed.x.pixels.0, y), (placed.x.pixels.1, y)]);
        stroke(svg, &path, rule.colour, 1.1, rule.dash);
    }
}

fn vertical(svg: &mut Writer, placed: &Placed<'_>, rule: &Rule) {
    if let Some(x) = placed.x.pixel(rule.value) {
        let mut path = Path::default();
        path.polyline(&[(x, placed.y.pixels.0), (x, placed.y.pixels.1)]);
        stroke(svg, &path, rule.colour, 1.1, rule.dash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_cover_each_cell_once() {
        let grid = ["##..#", "##..#", "#...#", ".###."];
        let path = rectangles(5, 4, |c, r| grid[r].as_bytes()[c] == b'#');
        let expected = [
            "M0 0h2v2h-2z",
            "M0 2h1v1h-1z",
            "M4 0h1v3h-1z",
            "M1 3h3v1h-3z",
        ];
        for part in expected {
            assert!(path.contains(part), "{path}");
        }
        assert_eq!(path.matches('z').count(), expected.len());
    }

    #[test]
    fn markers_on_a_line_keep_their_distance() {
        let points: Vec<(f64, f64)> = (0..1000).map(|k| (f64::from(k), 0.0)).collect();
        let kept = spaced(&points);
        assert_eq!(kept.len(), 63);
        assert!(kept.windows(2).all(|p| p[1].0 - p[0].0 >= MARKER_SPACING));
    }
}
