//! Figures of a comparison.

use langevin::catalog::System;
use langevin::stat::running::Estimate;

use super::style::style;
use langevin_page::figure::{
    Anchor, Axis, Dash, Figure, Line, Panel, Points, ReferenceSlope, Style,
};
use langevin_run::compare::{ArmResult, Comparison, Point};

/// Every figure that the comparison has numbers for.
pub fn all(comparison: &Comparison, prefix: &str) -> Vec<Figure> {
    let mut figures = vec![];
    for observable in 0..comparison.run.measure.observables.len() {
        figures.push(running_averages(comparison, observable, prefix));
    }
    figures.extend(discrepancies(comparison, prefix));
    figures.extend(trajectories(comparison, prefix));
    figures
}

/// A style for each dynamics: the five of the paper have their own, others take what is left.
pub fn styles(comparison: &Comparison) -> Vec<Style> {
    let names: Vec<&str> = comparison
        .arms
        .iter()
        .map(|a| a.arm.name.as_str())
        .collect();
    let unused = System::NAMES.iter().filter(|name| !names.contains(name));
    let mut unused = unused.cycle();
    let style = |name: &&str| match System::NAMES.contains(name) {
        true => style(name),
        false => style(unused.next().unwrap_or(name)),
    };
    names.iter().map(style).collect()
}

/// A line in the style of a dynamics.
fn line(arm: &ArmResult, style: Style, points: Vec<[f64; 2]>) -> Line {
    Line::styled(&arm.arm.name, style, points)
}

/// MSE, squared bias and variance of the running averages of an observable; the variance alone
/// where the truth is not known.
pub fn running_averages(comparison: &Comparison, observable: usize, prefix: &str) -> Figure {
    let named = &comparison.run.measure.observables[observable];
    type Part = fn(&Point) -> Option<Estimate>;
    let parts: [(&str, Part); 3] = [
        ("MSE", |p| p.mse),
        ("bias^{2}", |p| p.bias_squared),
        ("variance", |p| Some(p.variance)),
    ];
    let shown = match comparison.truth[observable] {
        Some(_) => &parts[..],
        None => &parts[2..],
    };
    let caption = match shown.len() {
        3 => "MSE, squared bias and variance",
        _ => "Variance",
    };
    let mut figure = Figure::new(
        format!("{prefix}running-{}", slug(&named.name)),
        format!(
            "{caption} of the running average of {} against the number of steps K, with bands of \
             one standard error.",
            named.symbol()
        ),
    )
    .columns(shown.len())
    .aspect(if shown.len() == 3 { 1.0 } else { 0.62 });
    for (title, part) in shown {
        let mut panel = Panel::new(Axis::log("K"), Axis::log(*title)).title(*title);
        for (arm, style) in comparison.arms.iter().zip(styles(comparison)) {
            let curve = &arm.observables[observable].curve;
            let at = |p: &Point| part(p).map(|e| (p.n_steps as f64, e));
            let known: Vec<(f64, Estimate)> = curve.iter().filter_map(at).collect();
            let points = known.iter().map(|(k, e)| [*k, e.value]).collect();
            let errors: Vec<f64> = known.iter().map(|(_, e)| e.se).collect();
            panel = panel.mark(line(arm, style, points).errors(&errors));
        }
        figure = figure.panel(panel);
    }
    figure
}

/// Kernel Stein discrepancies with the slope −½.
pub fn discrepancies(comparison: &Comparison, prefix: &str) -> Option<Figure> {
    let ksd = comparison.run.measure.ksd.as_ref()?;
    let mut panel = Panel::new(Axis::log("K"), Axis::log("KSD"));
    for (arm, style) in comparison.arms.iter().zip(styles(comparison)) {
        let curve = arm.ksd.as_deref().unwrap_or(&[]);
        let points = curve.iter().map(|p| [p.n as f64, p.mean]).collect();
        let errors: Vec<f64> = curve.iter().map(|p| p.se.unwrap_or(0.0)).collect();
        panel = panel.mark(line(arm, style, points).errors(&errors));
    }
    let slope = ReferenceSlope {
        label: "slope −1/2".into(),
        slope: -0.5,
        anchor: Anchor::Below,
    };
    let caption = format!(
        "Kernel Stein discrepancy of the first K points, mean over {} chains, with bands of one \
         standard error.",
        ksd.n_chains
    );
    let figure = Figure::new(format!("{prefix}ksd-curve"), caption);
    Some(figure.panel(panel.mark(slope)))
}

/// Paths in the plane of the first two coordinates, of chain 0 and of the mean over chains; with
/// one coordinate, against the number of the step.
pub fn trajectories(comparison: &Comparison, prefix: &str) -> Option<Figure> {
    let shown = comparison.run.measure.trajectories.as_ref()?;
    let (name, first) = shown.coordinates.first()?;
    let second = shown.coordinates.get(1);
    let axes = || match second {
        Some((other, _)) => (Axis::linear(name), Axis::linear(other)),
        None => (Axis::linear("step"), Axis::linear(name)),
    };
    let panel = |title: &str| Panel::new(axes().0, axes().1).title(title);
    let mut panels = [panel("chain 0"), panel("mean over chains")];
    for (arm, style) in comparison.arms.iter().zip(styles(comparison)) {
        let Some(paths) = &arm.paths else { continue };
        let zip = |x: Vec<f64>, y: Vec<f64>| -> Vec<[f64; 2]> {
            x.into_iter().zip(y).map(|(x, y)| [x, y]).collect()
        };
        let steps = || paths.steps.iter().map(|k| *k as f64).collect();
        let both = match second {
            Some((_, second)) => [
                zip(paths.path(0, *first), paths.path(0, *second)),
                zip(paths.mean_path(*first), paths.mean_path(*second)),
            ],
            None => [
                zip(steps(), paths.path(0, *first)),
                zip(steps(), paths.mean_path(*first)),
            ],
        };
        for (i, points) in both.into_iter().enumerate() {
            let end = points.last().copied();
            let path = line(arm, style, points).width(0.8).dash(Dash::Solid);
            let end = Points::styled(&arm.arm.name, style, end.into_iter().collect());
            panels[i] = std::mem::take(&mut panels[i]).mark(path).mark(end);
        }
    }
    let caption = format!(
        "The first {} steps of {} chains: chain 0 on the left, the mean of all on the right. Marks \
         are ends.",
        shown.n_steps, shown.n_chains
    );
    let mut figure = Figure::new(format!("{prefix}trajectories-figure"), caption)
        .columns(2)
        .aspect(0.9);
    for panel in panels {
        figure = figure.panel(panel);
    }
    Some(figure)
}

/// A name that can stand in a file name.
pub fn slug(name: &str) -> String {
    let dashed = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let text: String = name.chars().map(dashed).collect();
    let parts: Vec<&str> = text.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}
