//! Draws counted into bars and cells, as densities.

use super::colour::Colour;
use super::model::{Heatmap, Histogram};

/// Equal bins between the smallest and the largest finite value.
struct Bins {
    low: f64,
    high: f64,
    count: usize,
}

impl Bins {
    fn new(values: &[f64], count: usize) -> Self {
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match high - low {
            width if width > 0.0 && width.is_finite() => (low, high),
            _ if low.is_finite() => (low - 0.5, low + 0.5),
            _ => (0.0, 1.0),
        };
        Bins {
            low,
            high,
            count: count.max(1),
        }
    }

    fn width(&self) -> f64 {
        (self.high - self.low) / self.count as f64
    }

    /// The bin of `value`; the last one holds its upper end.
    fn find(&self, value: f64) -> Option<usize> {
        let index = ((value - self.low) / self.width()).floor();
        let inside = value >= self.low && value <= self.high;
        inside.then(|| (index as usize).min(self.count - 1))
    }

    fn edges(&self) -> Vec<f64> {
        let edge = |k: usize| self.low + self.width() * k as f64;
        (0..=self.count).map(edge).collect()
    }
}

impl Histogram {
    /// The density of `values` in equal bins over their range; values that are not finite are
    /// left out.
    ///
    /// ```
    /// use langevin_page::figure::{Colour, Histogram};
    /// let bars = Histogram::of("", Colour::BLUE, &[0.0, 1.0, 1.5, 2.0], 2);
    /// assert_eq!(bars.edges, [0.0, 1.0, 2.0]);
    /// assert_eq!(bars.heights, [0.25, 0.75]);
    /// ```
    pub fn of(label: impl Into<String>, colour: Colour, values: &[f64], bins: usize) -> Self {
        let bins = Bins::new(values, bins);
        let mut counts = vec![0_u32; bins.count];
        for index in values.iter().filter_map(|v| bins.find(*v)) {
            counts[index] += 1;
        }
        let total: u32 = counts.iter().sum();
        let unit = 1.0 / (f64::from(total.max(1)) * bins.width());
        Histogram {
            label: label.into(),
            colour,
            filled: true,
            edges: bins.edges(),
            heights: counts.iter().map(|n| f64::from(*n) * unit).collect(),
        }
    }
}

impl Heatmap {
    /// The density of the pairs of `x` and `y` in `bins` × `bins` cells over their range; pairs
    /// that are not finite are left out.
    pub fn of(label: impl Into<String>, x: &[f64], y: &[f64], bins: usize) -> Self {
        let (columns, rows) = (Bins::new(x, bins), Bins::new(y, bins));
        let mut counts = vec![0_u32; columns.count * rows.count];
        for (x, y) in x.iter().zip(y) {
            if let (Some(column), Some(row)) = (columns.find(*x), rows.find(*y)) {
                counts[row * columns.count + column] += 1;
            }
        }
        let total: u32 = counts.iter().sum();
        let unit = 1.0 / (f64::from(total.max(1)) * columns.width() * rows.width());
        Heatmap {
            label: label.into(),
            x_range: (columns.low, columns.high),
            y_range: (rows.low, rows.high),
            columns: columns.count,
            values: counts.iter().map(|n| f64::from(*n) * unit).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_have_mass_one() {
        let x: Vec<f64> = (0..1000).map(|k| f64::from(k).sin()).collect();
        let y: Vec<f64> = (0..1000).map(|k| f64::from(k).sqrt()).collect();
        let bars = Histogram::of("", Colour::BLUE, &x, 17);
        let width = bars.edges[1] - bars.edges[0];
        assert!((bars.heights.iter().sum::<f64>() * width - 1.0).abs() < 1e-12);
        let map = Heatmap::of("", &x, &y, 13);
        let cell = (map.x_range.1 - map.x_range.0) * (map.y_range.1 - map.y_range.0) / 169.0;
        assert!((map.values.iter().sum::<f64>() * cell - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rows_run_from_the_bottom() {
        let map = Heatmap::of("", &[0.0, 1.0, 1.0], &[0.0, 0.0, 1.0], 2);
        // Lower left, lower right, upper left, upper right.
        let unit = 4.0 / 3.0;
        assert_eq!(map.values, [unit, unit, 0.0, unit]);
    }

    #[test]
    fn odd_values_do_not_panic() {
        let all_bad = [f64::NAN, f64::INFINITY];
        assert_eq!(
            Histogram::of("", Colour::BLUE, &all_bad, 3).heights,
            [0.0; 3]
        );
        assert_eq!(Histogram::of("", Colour::BLUE, &[], 0).heights, [0.0]);
        assert_eq!(Histogram::of("", Colour::BLUE, &[2.0], 1).heights, [1.0]);
        assert_eq!(Heatmap::of("", &[1.0, f64::NAN], &[1.0], 1).values, [1.0]);
    }
}
