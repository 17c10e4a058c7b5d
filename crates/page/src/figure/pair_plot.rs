//! All one- and two-dimensional marginals of a sample in one figure.

use super::colour::Colour;
use super::model::{Axis, Figure, Heatmap, Histogram, Panel, TickLabels};

/// Histograms on the diagonal, heatmaps below it.
///
/// `draws[i]` holds the draws of the variable called `names[i]`; the shorter list counts. The axes
/// leave out the outermost 0.05 % of the draws at either end, which would shrink all the rest.
///
/// ```
/// let draws = [vec![1.0, 2.0, 4.0], vec![0.0, 1.0, 0.5]];
/// let figure = langevin_page::figure::pair_plot("pairs", "Marginals", &["a", "b"], &draws, 8);
/// assert_eq!(figure.panels.iter().flatten().count(), 3);
/// ```
pub fn pair_plot<S: AsRef<str>>(
    id: &str,
    caption: &str,
    names: &[S],
    draws: &[Vec<f64>],
    bins: usize,
) -> Figure {
    let count = names.len().min(draws.len());
    let draws: Vec<Vec<f64>> = draws[..count].iter().map(|d| without_tails(d)).collect();
    let mut figure = Figure::new(id, caption).columns(count).aspect(1.0);
    for row in 0..count {
        for column in 0..count {
            if column > row {
                figure = figure.gap();
                continue;
            }
            let (x, y) = axes(names, row, column, count);
            let panel = Panel::new(x, y);
            figure = figure.panel(if row == column {
                panel.mark(Histogram::of("", Colour::BLUE, &draws[row], bins))
            } else {
                panel.mark(Heatmap::of("density", &draws[column], &draws[row], bins))
            });
        }
    }
    figure
}

/// The draws with those beyond the central 99.9 % replaced by NaN, which no bin counts; the others
/// keep their places, because places pair up the variables.
fn without_tails(draws: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = draws.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let cut = (5e-4 * sorted.len() as f64) as usize;
    let (Some(&low), Some(&high)) = (sorted.get(cut), sorted.iter().rev().nth(cut)) else {
        return draws.to_vec();
    };
    let keep = |v: &f64| {
        if (low..=high).contains(v) {
            *v
        } else {
            f64::NAN
        }
    };
    draws.iter().map(keep).collect()
}

/// Only the outermost panels have numbers and names. A density has no numbers: its height says
/// nothing beyond its shape.
fn axes<S: AsRef<str>>(names: &[S], row: usize, column: usize, count: usize) -> (Axis, Axis) {
    let axis = |outer: bool, name: &str| {
        if outer {
            Axis::linear(name)
        } else {
            Axis::linear("").tick_labels(TickLabels::Hidden)
        }
    };
    let x = axis(row + 1 == count, names[column].as_ref());
    let y = if row == column {
        let name = if row == 0 { names[0].as_ref() } else { "" };
        Axis::linear(name).tick_labels(TickLabels::NoTicks)
    } else {
        axis(column == 0, names[row].as_ref())
    };
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::super::model::Mark;
    use super::*;

    #[test]
    fn an_outlier_does_not_set_the_range() {
        let mut draws: Vec<f64> = (0..4000).map(|k| f64::from(k) / 4000.0).collect();
        draws[17] = 1e6;
        let figure = pair_plot("p", "", &["a", "b"], &[draws.clone(), draws], 10);
        for panel in figure.panels.iter().flatten() {
            match &panel.marks[0] {
                Mark::Histogram(bars) => assert!(bars.edges[10] < 1.0),
                Mark::Heatmap(map) => assert!(map.x_range.1 < 1.0 && map.y_range.1 < 1.0),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn few_draws_are_all_kept() {
        let draws = [3.0, f64::NAN, 1.0];
        let kept = without_tails(&draws);
        assert_eq!((kept[0], kept[2]), (3.0, 1.0));
        assert!(kept[1].is_nan() && without_tails(&[]).is_empty());
    }
}
