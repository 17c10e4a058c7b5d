//! Fewer points with the same picture, for traces far longer than the page is wide.

/// Width of a column in pixels: finer than a printed dot at 17 cm and 300 dpi.
const COLUMN: f64 = 0.5;

/// Keeps, of each run of consecutive points in one pixel column, the first, the lowest, the
/// highest and the last, in their order.
///
/// The polyline through the result covers the same pixels, because within a column only the
/// vertical extent can be seen.
pub(super) fn polyline(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let column = |&(x, _): &(f64, f64)| (x / COLUMN).floor();
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        keep_extremes(run, &mut kept);
    }
    kept
}

fn keep_extremes(run: &[(f64, f64)], kept: &mut Vec<(f64, f64)>) {
    if run.len() <= 4 {
        kept.extend_from_slice(run);
        return;
    }
    let (mut low, mut high) = (0, 0);
    for (index, &(_, y)) in run.iter().enumerate() {
        if y < run[low].1 {
            low = index;
        }
        if y > run[high].1 {
            high = index;
        }
    }
    let mut chosen = [0, low.min(high), low.max(high), run.len() - 1].to_vec();
    chosen.dedup();
    kept.extend(chosen.into_iter().map(|index| run[index]));
}

/// Keeps one point of each half-pixel cell, for clouds of points that hide one another.
pub(super) fn scatter(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let cell = |(x, y): (f64, f64)| ((x / COLUMN).floor() as i64, (y / COLUMN).floor() as i64);
    let mut seen = std::collections::HashSet::new();
    let new = |point: &&(f64, f64)| seen.insert(cell(**point));
    points.iter().filter(new).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deterministic, jagged trace of `n` points over `width` pixels.
    fn trace(n: usize, width: f64) -> Vec<(f64, f64)> {
        (0..n)
            .map(|k| {
                let x = k as f64 * width / n as f64;
                (x, 50.0 * (k as f64 * 12.9898).sin() + 0.1 * x)
            })
            .collect()
    }

    #[test]
    fn a_long_trace_shrinks_to_four_points_per_column() {
        let points = trace(100_000, 300.0);
        let kept = polyline(&points);
        assert!(kept.len() <= 4 * 600, "{}", kept.len());
        assert_eq!(kept.first(), points.first());
        assert_eq!(kept.last(), points.last());
    }

    #[test]
    fn every_column_keeps_its_extent() {
        let points = trace(100_000, 300.0);
        let kept = polyline(&points);
        let extent = |points: &[(f64, f64)], c: f64| {
            let inside = points.iter().filter(|p| (p.0 / COLUMN).floor() == c);
            inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| {
                (low.min(p.1), high.max(p.1))
            })
        };
        for c in 0..600 {
            let c = f64::from(c);
            assert_eq!(extent(&points, c), extent(&kept, c), "column {c}");
        }
    }

    #[test]
    fn the_order_of_points_is_kept() {
        let kept = polyline(&trace(100_000, 300.0));
        assert!(kept.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn short_and_empty_series_are_untouched() {
        let points = trace(50, 300.0);
        assert_eq!(polyline(&points), points);
        assert!(polyline(&[]).is_empty());
        assert_eq!(polyline(&[(1.0, 2.0)]), [(1.0, 2.0)]);
    }

    #[test]
    fn scatter_keeps_one_point_per_cell() {
        let points = [(0.1, 0.1), (0.2, 0.3), (0.6, 0.1), (0.1, 0.1)];
        assert_eq!(scatter(&points), [(0.1, 0.1), (0.6, 0.1)]);
    }
}
