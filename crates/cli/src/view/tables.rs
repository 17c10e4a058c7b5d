//! Tables of a comparison.

use super::{dynamics, settings};
use langevin_page::report::{Cell, Column, Row, Table};
use langevin_run::compare::{Comparison, Point};

/// Asymptotic variances of every observable, their spread over chains, and ratios to the first
/// dynamics.
pub fn variances(comparison: &Comparison, id: &str) -> Table {
    let run = &comparison.run;
    let first = &run.arms[0].name;
    let mut table =
        Table::new(id, "Asymptotic variances by batch means").column(Column::new("dynamics"));
    for observable in &run.measure.observables {
        let symbol = observable.symbol();
        let column = |label: String| Column::grouped(symbol.clone(), label);
        table = table
            .column(column("variance".into()))
            .column(column("std over chains".into()))
            .column(column(format!("ratio to {first}")))
            .column(column("exact variance".into()));
    }
    table = table.column(Column::new("escaped chains"));
    for arm in &comparison.arms {
        let mut cells = vec![Cell::text(&arm.arm.name)];
        for result in &arm.observables {
            let (mut variance, mut sd) = (Cell::Empty, Cell::Empty);
            if let Some(spread) = &result.variance {
                variance = Cell::estimate(spread.mean, spread.mean_se);
                sd = Cell::estimate(spread.sd, spread.sd_se);
            }
            if let Some(exact) = result.exact.batch_means {
                variance = variance.exact(exact);
            }
            let ratio = result.ratio.map(|r| match r.se {
                // The first dynamics beside itself.
                0.0 => Cell::number(r.value),
                se => Cell::estimate(r.value, se),
            });
            let exact = result.exact.chain.or(result.exact.diffusion);
            cells.extend([
                variance,
                sd,
                ratio.unwrap_or_default(),
                exact.map(Cell::number).unwrap_or_default(),
            ]);
        }
        cells.push(Cell::number(arm.escapes.len() as f64));
        table = table.row(Row::new(cells));
    }
    table
        .note(format!(
            "Variance of {} batch averages of {} steps each, times the time of a batch: mean over \
             chains ± standard error. Chains of one number share their random numbers between \
             dynamics, which the errors of the ratios account for.",
            run.measure.n_batches, run.measure.batch_steps
        ))
        .note(exact_note(comparison))
}

fn exact_note(comparison: &Comparison) -> String {
    let known = || comparison.arms.iter().flat_map(|arm| &arm.observables);
    if known().any(|o| o.exact.chain.is_some()) {
        return "Exact beside the variance: the expectation of the batch-means estimator. Exact \
                variance: that of the chain with its step size and gradient noise."
            .into();
    }
    if known().any(|o| o.exact.diffusion.is_some()) {
        return "Exact values are those of the diffusion in continuous time with exact gradients: \
                beside the variance the expectation of the batch-means estimator, in the last \
                column the asymptotic variance."
            .into();
    }
    "No exact values are known for this model.".into()
}

/// Cost per step, and the variance that one second of computing leaves.
pub fn cost(comparison: &Comparison, id: &str) -> Table {
    let mut table = Table::new(id, "Cost")
        .column(Column::new("dynamics"))
        .column(Column::new("settings"))
        .column(Column::new("choices"))
        .column(Column::new("time per step [µs]"));
    for observable in &comparison.run.measure.observables {
        let label = format!("variance × second, {}", observable.symbol());
        table = table.column(Column::new(label));
    }
    for arm in &comparison.arms {
        let mut cells = vec![
            Cell::text(&arm.arm.name),
            Cell::text(settings(&arm.arm)),
            Cell::text(dynamics(&arm.arm)),
            Cell::number(arm.seconds_per_step * 1e6),
        ];
        for i in 0..arm.observables.len() {
            let cell = arm
                .variance_per_second(i)
                .map(|(v, se)| Cell::estimate(v, se));
            cells.push(cell.unwrap_or_default());
        }
        table = table.row(Row::new(cells));
    }
    table.note(
        "Time of one thread per step of one chain, several chains running side by side. Variance \
         × second: the variance of the average after one second of computing on one thread.",
    )
}

/// The numbers behind the figures.
pub fn long(comparison: &Comparison, prefix: &str) -> Vec<Table> {
    let mut tables = vec![curves(comparison, &format!("{prefix}running-averages"))];
    if comparison.run.measure.ksd.is_some() {
        tables.push(discrepancies(comparison, &format!("{prefix}ksd")));
    }
    if comparison.run.measure.trajectories.is_some() {
        tables.push(mean_paths(comparison, &format!("{prefix}trajectories")));
    }
    tables
}

fn curves(comparison: &Comparison, id: &str) -> Table {
    let labels = [
        "dynamics",
        "observable",
        "steps",
        "mean",
        "bias²",
        "variance",
        "MSE",
    ];
    let mut table = Table::new(id, "Errors of running averages");
    for label in labels {
        table = table.column(Column::new(label));
    }
    for arm in &comparison.arms {
        let observables = comparison.run.measure.observables.iter();
        for (observable, result) in observables.zip(&arm.observables) {
            for point in &result.curve {
                table = table.row(curve_row(&arm.arm.name, &observable.name, point));
            }
        }
    }
    table
}

fn curve_row(arm: &str, observable: &str, point: &Point) -> Row {
    let cell = |estimate: langevin::stat::running::Estimate, exact: Option<f64>| {
        let cell = Cell::estimate(estimate.value, estimate.se);
        match exact {
            Some(exact) => cell.exact(exact),
            None => cell,
        }
    };
    let bias = point.exact.map(|e| e.0);
    let variance = point.exact.map(|e| e.1);
    let mse = point.exact.map(|e| e.0 + e.1);
    Row::new([
        Cell::text(arm),
        Cell::text(observable),
        Cell::number(point.n_steps as f64),
        Cell::number(point.mean),
        point.bias_squared.map_or(Cell::Empty, |e| cell(e, bias)),
        cell(point.variance, variance),
        point.mse.map_or(Cell::Empty, |e| cell(e, mse)),
    ])
}

fn discrepancies(comparison: &Comparison, id: &str) -> Table {
    let mut table = Table::new(id, "Kernel Stein discrepancies")
        .column(Column::new("dynamics"))
        .column(Column::new("points"))
        .column(Column::new("KSD"));
    for arm in &comparison.arms {
        for point in arm.ksd.iter().flatten() {
            let value = match point.se {
                Some(se) => Cell::estimate(point.mean, se),
                None => Cell::number(point.mean),
            };
            let n = Cell::number(point.n as f64);
            table = table.row(Row::new([Cell::text(&arm.arm.name), n, value]));
        }
    }
    table
}

fn mean_paths(comparison: &Comparison, id: &str) -> Table {
    let mut table = Table::new(id, "Trajectories")
        .column(Column::new("dynamics"))
        .column(Column::new("step"));
    let shown = comparison.run.measure.trajectories.as_ref();
    let coordinates = shown.map_or(&[][..], |t| &t.coordinates);
    for (name, _) in coordinates {
        table = table
            .column(Column::grouped(name.clone(), format!("{name} of chain 0")))
            .column(Column::grouped(name.clone(), format!("{name}, mean")));
    }
    for arm in &comparison.arms {
        let Some(paths) = &arm.paths else { continue };
        let columns: Vec<Vec<f64>> = coordinates
            .iter()
            .flat_map(|(_, i)| [paths.path(0, *i), paths.mean_path(*i)])
            .collect();
        for (k, step) in paths.steps.iter().enumerate() {
            let mut cells = vec![Cell::text(&arm.arm.name), Cell::number(*step as f64)];
            cells.extend(columns.iter().map(|column| Cell::number(column[k])));
            table = table.row(Row::new(cells));
        }
    }
    table
}
