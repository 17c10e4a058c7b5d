//! Figures of the paper from comparisons and draws.

use anyhow::Context as _;

use super::printed::{Item, Kind};
use super::{Draws, planar};
use crate::view::figures as view;
use crate::view::style::line;
use langevin_page::figure::{Axis, Colour, Dash, Figure, Line, Mark, Panel, pair_plot};
use langevin_run::compare::Comparison;

/// Cells along each axis of the marginals.
const BINS: usize = 24;

/// The figure of an item.
pub fn figure(
    item: &Item,
    comparison: Option<&Comparison>,
    draws: Option<&Draws>,
) -> anyhow::Result<Figure> {
    let missing = || format!("{}: the run {} has no such numbers", item.id, item.run);
    let have = || comparison.with_context(missing);
    let mut figure = match item.kind {
        Kind::Running => {
            let comparison = have()?;
            let name = item.observable.as_deref().unwrap_or("sum");
            let observables = &comparison.run.measure.observables;
            let observable = observables.iter().position(|o| o.name == name);
            running(comparison, observable.with_context(missing)?)
        }
        Kind::Variances => variances(have()?),
        Kind::Ksd => discrepancies(have()?).with_context(missing)?,
        Kind::Paths => paths(have()?).with_context(missing)?,
        Kind::Trace => traces(have()?).with_context(missing)?,
        Kind::Marginals => marginals(item, draws.with_context(missing)?),
        Kind::LinearAgainstDelta | Kind::NormAgainstDelta => planar::figure(item, comparison),
        Kind::Table => anyhow::bail!("{} is a table", item.id),
    };
    figure.id = item.id.clone();
    figure.caption = item.title.clone();
    Ok(figure)
}

/// MSE, squared bias and variance. The squared bias is the plug-in estimate that the paper shows,
/// whose floor is the variance divided by the number of chains; thin lines are exact.
fn running(comparison: &Comparison, observable: usize) -> Figure {
    let mut figure = view::running_averages(comparison, observable, "");
    let last = comparison
        .run
        .measure
        .checkpoints
        .last()
        .copied()
        .unwrap_or(1) as f64;
    for panel in figure.panels.iter_mut().flatten() {
        panel.x.range = Some((1.0, last));
        if panel.title.starts_with("bias") {
            panel.marks = biases(comparison, observable);
        }
    }
    figure
}

fn biases(comparison: &Comparison, observable: usize) -> Vec<Mark> {
    let truth = comparison.truth[observable].map_or(f64::NAN, |t| t.value);
    let mut marks = vec![];
    for arm in &comparison.arms {
        let curve = &arm.observables[observable].curve;
        let points = curve
            .iter()
            .map(|p| [p.n_steps as f64, (p.mean - truth).powi(2)]);
        let exact = curve
            .iter()
            .filter_map(|p| Some([p.n_steps as f64, p.exact?.0]));
        let mut exact = line(&arm.arm.name, exact.collect())
            .dash(Dash::Solid)
            .width(0.6);
        exact.label.clear();
        marks.push(Mark::Line(exact));
        marks.push(Mark::Line(line(&arm.arm.name, points.collect())));
    }
    marks
}

/// A single trajectory and the mean of all.
fn paths(comparison: &Comparison) -> Option<Figure> {
    let mut figure = view::trajectories(comparison, "")?;
    let greek = |label: &str| match label {
        "mu" => "μ".into(),
        "sigma" => "σ".into(),
        other => other.to_owned(),
    };
    let titles = ["single trajectories", "mean paths"];
    for (panel, title) in figure.panels.iter_mut().flatten().zip(titles) {
        panel.title = title.into();
        panel.x.label = greek(&panel.x.label);
        panel.y.label = greek(&panel.y.label);
    }
    Some(figure)
}

/// Variances of the running averages of all observables side by side.
fn variances(comparison: &Comparison) -> Figure {
    let n = comparison.run.measure.observables.len();
    let mut figure = Figure::new("", "").columns(n).aspect(1.0);
    for i in 0..n {
        let title = comparison.run.measure.observables[i].symbol();
        for panel in view::running_averages(comparison, i, "")
            .panels
            .into_iter()
            .flatten()
        {
            figure = figure.panel(panel.title(title.clone()));
        }
    }
    figure
}

/// Discrepancies against the number of steps, whatever the distance between points.
fn discrepancies(comparison: &Comparison) -> Option<Figure> {
    let ksd = comparison.run.measure.ksd.as_ref()?;
    let mut panel = Panel::new(Axis::log("K"), Axis::log("KSD"));
    for arm in &comparison.arms {
        let curve = arm.ksd.as_deref().unwrap_or(&[]);
        let steps = |n: usize| (n as u64 * ksd.thin) as f64;
        let points = curve.iter().map(|p| [steps(p.n), p.mean]).collect();
        let errors: Vec<f64> = curve.iter().map(|p| p.se.unwrap_or(0.0)).collect();
        panel = panel.mark(line(&arm.arm.name, points).errors(&errors));
    }
    let ends = comparison
        .arms
        .iter()
        .filter_map(|arm| arm.ksd.as_ref()?.last());
    let lowest = ends.map(|p| p.mean).fold(f64::INFINITY, f64::min);
    let last = ksd.n_points as f64 * ksd.thin as f64;
    // Just below the last part of all curves.
    let end = [last, 0.8 * lowest];
    let begin = [last / 30.0, end[1] * 30.0_f64.sqrt()];
    let slope = Line::new("slope −1/2", Colour::BLACK, vec![begin, end]);
    Some(Figure::new("", "").panel(panel.mark(slope)))
}

/// The first chosen coordinate of chain 0 against time, a panel for each system.
fn traces(comparison: &Comparison) -> Option<Figure> {
    let shown = comparison.run.measure.trajectories.as_ref()?;
    let (_, coordinate) = shown.coordinates.first()?;
    let mut figure = Figure::new("", "").columns(1).aspect(0.16);
    let last = comparison.arms.len() - 1;
    for (i, arm) in comparison.arms.iter().enumerate() {
        let paths = arm.paths.as_ref()?;
        let h = arm.arm.step_size.largest();
        let values = paths.path(0, *coordinate);
        let times = paths.steps.iter().map(|k| *k as f64 * h);
        let points = times.zip(values).map(|(t, w)| [t, w]).collect();
        let mut line = line(&arm.arm.name, points).dash(Dash::Solid).width(0.7);
        // The title says it.
        line.label.clear();
        let x = Axis::linear(if i == last { "time" } else { "" });
        let y = Axis::linear("W_{11}").range(-1.4, 1.4);
        let panel = Panel::new(x, y).title(arm.arm.name.clone());
        figure = figure.panel(panel.mark(line));
    }
    Some(figure)
}

/// All marginals of the draws.
fn marginals(item: &Item, draws: &Draws) -> Figure {
    pair_plot(&item.id, &item.title, &draws.names, &draws.columns, BINS)
}
