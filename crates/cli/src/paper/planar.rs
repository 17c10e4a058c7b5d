//! The appendix: exact curves against δ, and sampled points beside them.

use langevin::theory::PlanarChain;
use serde_json::{Value, json};

use super::printed::{Curve, Item, Kind};
use crate::view::style::points as points_of;
use langevin_page::figure::{Axis, Colour, Figure, Line, Panel};
use langevin_page::report::{Cell, Column, Row, Table};
use langevin_run::compare::json::estimate as estimate_json;
use langevin_run::compare::{Comparison, Point};

/// Rate a, step size h and number of steps K of both figures.
const RATE: f64 = 1.0;
const STEP_SIZE: f64 = 1e-3;
const N_STEPS: usize = 200_000;
/// Largest δ, and points of a curve from one whole δ to the next.
const LARGEST: u32 = 10;
const PER_UNIT: u32 = 20;

/// Exact points (δ, value) of a curve; none where theory refuses, which these numbers do not make
/// it do.
pub fn curve(curve: Curve) -> Vec<[f64; 2]> {
    let deltas = (0..=LARGEST * PER_UNIT).map(|i| f64::from(i) / f64::from(PER_UNIT));
    let point = |delta: f64| {
        let chain = PlanarChain::new(RATE, STEP_SIZE, delta)?;
        Ok([delta, at(&chain, curve)?])
    };
    let points: langevin::Result<Vec<[f64; 2]>> = deltas.map(point).collect();
    points.unwrap_or_default()
}

fn at(chain: &PlanarChain, curve: Curve) -> langevin::Result<f64> {
    let norm = chain.squared_norm(N_STEPS)?;
    match curve {
        Curve::LinearVariance => chain.running_mean_variance(N_STEPS),
        Curve::NormBias => Ok(norm.bias * norm.bias),
        Curve::NormVariance => Ok(norm.variance),
    }
}

/// A sampled point: δ, value, standard error.
type Sampled = (f64, f64, f64);

/// The sampled points of a curve, if they were sampled with the K of the curve.
fn sampled(comparison: &Comparison, curve: Curve) -> Vec<Sampled> {
    let (observable, part): (usize, fn(&Point) -> _) = match curve {
        Curve::LinearVariance => (0, |p| Some(p.variance)),
        Curve::NormBias => (1, |p| p.bias_squared),
        Curve::NormVariance => (1, |p| Some(p.variance)),
    };
    let point = |arm: &langevin_run::compare::ArmResult| {
        let delta: f64 = arm.arm.name.strip_prefix("δ = ")?.parse().ok()?;
        let last = arm.observables[observable].curve.last()?;
        let estimate = part(last).filter(|_| last.n_steps == N_STEPS as u64)?;
        Some((delta, estimate.value, estimate.se))
    };
    comparison.arms.iter().filter_map(point).collect()
}

/// One of the two figures.
pub fn figure(item: &Item, comparison: Option<&Comparison>) -> Figure {
    let panels: &[(Curve, &str)] = match item.kind {
        Kind::LinearAgainstDelta => &[(Curve::LinearVariance, "variance")],
        _ => &[
            (Curve::NormBias, "squared bias"),
            (Curve::NormVariance, "variance"),
        ],
    };
    let mut figure = Figure::new(item.id.clone(), item.title.clone())
        .columns(panels.len())
        .aspect(if panels.len() == 1 { 0.55 } else { 0.8 });
    for (curve_name, title) in panels {
        let exact = curve(*curve_name);
        let y_is_linear = *curve_name == Curve::NormVariance;
        let y = match curve_name {
            Curve::NormVariance => Axis::linear(*title),
            _ => Axis::log(*title),
        };
        let mut panel = Panel::new(Axis::linear("δ"), y)
            .title(*title)
            .mark(Line::new("exact", Colour::BLUE, exact));
        // On a logarithmic axis, a point that its error reaches says nothing.
        let clear = |(_, value, se): &Sampled| y_is_linear || value > se;
        let points = comparison.map_or(vec![], |c| sampled(c, *curve_name));
        for (delta, value, se) in points.into_iter().filter(clear) {
            let bar = vec![[delta, value - se], [delta, value + se]];
            panel = panel.mark(Line::new("", Colour::VERMILLION, bar));
            let mut point = points_of("GiIrr", vec![[delta, value]]);
            point.label = "sampled ± standard error".into();
            panel = panel.mark(point);
        }
        figure = figure.panel(panel);
    }
    figure
}

/// Exact and sampled values at the sampled δ.
pub fn table(id: &str, comparison: Option<&Comparison>) -> Table {
    let curves = [Curve::LinearVariance, Curve::NormBias, Curve::NormVariance];
    let mut table = Table::new(
        id,
        "The appendix in numbers: h = 0.001, K = 2·10^{5}, a = 1",
    )
    .column(Column::new("δ"))
    .column(Column::new("variance, linear observable"))
    .column(Column::new("squared bias, ‖θ‖²"))
    .column(Column::new("variance, ‖θ‖²"));
    for delta in (0..=LARGEST).step_by(2).map(f64::from) {
        let mut cells = vec![Cell::number(delta)];
        for name in curves {
            let exact = curve(name).into_iter().find(|p| p[0] == delta);
            let ours = comparison.map_or(vec![], |c| sampled(c, name));
            let ours = ours.into_iter().find(|(d, ..)| *d == delta);
            cells.push(match (ours, exact) {
                (Some((_, value, se)), Some(exact)) => Cell::estimate(value, se).exact(exact[1]),
                (None, Some(exact)) => Cell::number(exact[1]),
                _ => Cell::Empty,
            });
        }
        table = table.row(Row::new(cells));
    }
    table
}

/// The curves for machines.
pub fn json(comparison: Option<&Comparison>) -> Value {
    let of = |name: Curve| {
        let sampled = comparison.map_or(vec![], |c| sampled(c, name));
        let sampled = sampled.into_iter().map(|(delta, value, se)| {
            let mut point = estimate_json(langevin::stat::running::Estimate { value, se });
            point["delta"] = json!(delta);
            point
        });
        json!({ "exact": curve(name), "sampled": sampled.collect::<Vec<_>>() })
    };
    json!({
        "rate": RATE,
        "step_size": STEP_SIZE,
        "n_steps": N_STEPS,
        "linear_variance": of(Curve::LinearVariance),
        "norm_squared_bias": of(Curve::NormBias),
        "norm_variance": of(Curve::NormVariance),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values for δ = 0 and δ = 10 of an independent program.
    #[test]
    fn curves_have_the_known_ends() {
        let known = [
            (Curve::LinearVariance, 9.925012506e-3, 9.926078761e-5),
            (Curve::NormBias, 4.009012e-6, 2.541459e-3),
            (Curve::NormVariance, 4.971239999e-3, 5.797036360e-3),
        ];
        for (name, first, last) in known {
            let points = curve(name);
            assert_eq!(points.len(), 201);
            assert!((points[0][1] / first - 1.0).abs() < 1e-6, "{name:?}");
            assert!((points[200][1] / last - 1.0).abs() < 1e-6, "{name:?}");
        }
    }
}
