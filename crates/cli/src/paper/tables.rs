//! Tables of asymptotic variances beside the printed ones, and of what was run at what cost.

use std::collections::BTreeMap;

use langevin::stat::running::Estimate;

use super::claim::{Comparisons, time};
use super::embedded::{Experiment, time_in_paper};
use crate::view::settings;
use langevin_page::figure::number::concise;
use langevin_page::report::{Cell, Column, Row, Table};
use langevin_run::compare::{ArmResult, Comparison};
use langevin_run::run_file::Run;

/// What a table of variances needs beside the numbers.
pub struct Heading<'a> {
    /// Anchor.
    pub id: &'a str,
    /// Name of the run file.
    pub run: &'a str,
    /// Title.
    pub title: &'a str,
    /// Printed numbers; empty for none.
    pub printed: &'a BTreeMap<String, Vec<f64>>,
    /// Remarks.
    pub notes: &'a [String],
}

/// Mean and standard deviation over chains of the batch-means estimate, its ratio to the first
/// system and the exact asymptotic variance, for every observable.
pub fn variances(comparison: &Comparison, heading: &Heading) -> Table {
    let first = comparison.arms.first().map_or("", |arm| &arm.arm.name);
    let n = comparison.run.measure.observables.len();
    let known = comparison.arms.iter().flat_map(|arm| &arm.observables);
    let has_exact = known.clone().any(|o| o.exact.diffusion.is_some());
    let mut table = Table::new(heading.id, heading.title).column(Column::new("system"));
    for i in 0..n {
        let group = comparison.run.measure.observables[i].symbol();
        let mut labels = vec![
            "mean".into(),
            "std over chains".into(),
            format!("ratio to {first}"),
        ];
        if has_exact {
            labels.push("exact AVar".into());
        }
        for label in labels {
            table = table.column(Column::grouped(group.clone(), label));
        }
    }
    let best = smallest(comparison);
    for arm in &comparison.arms {
        let printed = |system: &str, column: usize| {
            heading
                .printed
                .get(system)
                .and_then(|row| row.get(column))
                .copied()
        };
        let mut cells = vec![Cell::text(&arm.arm.name)];
        for i in 0..n {
            let theirs = |k: usize| printed(&arm.arm.name, 2 * i + k);
            let base = printed(first, 2 * i);
            let ratio = theirs(0).zip(base).map(|(x, base)| x / base);
            cells.extend(observable_cells(
                comparison,
                arm,
                i,
                [theirs(0), theirs(1), ratio],
            ));
            if has_exact {
                let exact = arm.observables[i].exact;
                let exact = exact.chain.or(exact.diffusion);
                cells.push(exact.map(Cell::number).unwrap_or_default());
            }
        }
        let row = Row::new(cells);
        table = table.row(if best == Some(arm.arm.name.as_str()) {
            row.best()
        } else {
            row
        });
    }
    let mut table = table.note(estimator(comparison, heading.run));
    if has_exact {
        table = table.note(exact_note(comparison));
    }
    if let Some(sentence) = escapes(comparison) {
        table = table.note(sentence);
    }
    table.notes.extend(heading.notes.iter().cloned());
    table
}

/// Mean, standard deviation and ratio, each with the printed number.
fn observable_cells(
    comparison: &Comparison,
    arm: &ArmResult,
    i: usize,
    printed: [Option<f64>; 3],
) -> [Cell; 3] {
    let result = &arm.observables[i];
    let spread = result.variance.as_ref();
    let with = |cell: Option<Cell>, paper: Option<f64>, exact: Option<f64>| {
        let cell = cell.unwrap_or_default();
        let cell = paper.map_or(cell.clone(), |p| cell.paper(p));
        exact.map_or(cell.clone(), |e| cell.exact(e))
    };
    let expected = |arm: &ArmResult| arm.observables[i].exact.batch_means;
    let exact_ratio = || Some(expected(arm)? / expected(comparison.arms.first()?)?);
    [
        with(
            spread.map(|s| Cell::estimate(s.mean, s.mean_se)),
            printed[0],
            result.exact.batch_means,
        ),
        with(
            spread.map(|s| Cell::estimate(s.sd, s.sd_se)),
            printed[1],
            None,
        ),
        with(result.ratio.map(ratio_cell), printed[2], exact_ratio()),
    ]
}

/// The ratio of a system to itself has no error.
fn ratio_cell(ratio: Estimate) -> Cell {
    match ratio.se == 0.0 {
        true => Cell::number(ratio.value),
        false => Cell::estimate(ratio.value, ratio.se),
    }
}

/// The system with the smallest variance of the first observable.
fn smallest(comparison: &Comparison) -> Option<&str> {
    let mean = |arm: &ArmResult| arm.observables.first()?.variance.map(|s| s.mean);
    let known = comparison
        .arms
        .iter()
        .filter_map(|arm| Some((arm, mean(arm)?)));
    let best = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(best.0.arm.name.as_str())
}

fn estimator(comparison: &Comparison, name: &str) -> String {
    let run = &comparison.run;
    let n = run.measure.n_batches;
    let ours = time(comparison) / n as f64;
    let text = format!(
        "Mean ± standard error over {} chains of the batch-means estimate ({n} batches of {} steps, \
         time {} each), and its standard deviation over chains, as the paper prints them.",
        run.n_chains,
        run.measure.batch_steps,
        concise(ours, 4)
    );
    match time_in_paper(name).map(|time| time / n as f64) {
        Some(theirs) if (ours / theirs - 1.0).abs() > 0.01 => format!(
            "{text} The paper's batches last {}: shorter ones see less of the slow changes, and \
             give smaller variances.",
            concise(theirs, 4)
        ),
        _ => text,
    }
}

fn exact_note(comparison: &Comparison) -> String {
    let mut known = comparison.arms.iter().flat_map(|arm| &arm.observables);
    let which = match known.any(|o| o.exact.chain.is_some()) {
        true => "of the chain with its step size and gradient noise",
        false => "of the diffusion in continuous time, from a stationary start",
    };
    format!(
        "“exact” below a mean is the expectation of this estimator, and “exact AVar” the \
         asymptotic variance itself, both {which}."
    )
}

fn escapes(comparison: &Comparison) -> Option<String> {
    let lost = comparison.arms.iter().filter(|arm| !arm.escapes.is_empty());
    let lost: Vec<String> = lost
        .map(|arm| format!("{} of {}", arm.escapes.len(), arm.arm.name))
        .collect();
    let text = format!(
        "Chains that left the support or the finite numbers are left out: {}.",
        lost.join(", ")
    );
    (!lost.is_empty()).then_some(text)
}

/// What was run, and what was changed from the paper.
pub fn runs(list: &[(Experiment, &Run)]) -> Table {
    let mut table = Table::new("runs", "Runs")
        .column(Column::new("run file"))
        .column(Column::new("chains M"))
        .column(Column::new("steps K"))
        .column(Column::new("burn-in"))
        .column(Column::new("step size and gradients"))
        .column(Column::new("seed"))
        .column(Column::new("changed from the paper"));
    for (experiment, run) in list {
        let changes: Vec<String> = experiment
            .changes
            .iter()
            .map(|(field, old, new)| format!("{field} {old} → {new}"))
            .collect();
        table = table.row(Row::new([
            Cell::text(format!("`{}`", experiment.name)),
            Cell::number(run.n_chains as f64),
            Cell::number(run.n_steps as f64),
            Cell::number(run.burn_in as f64),
            Cell::text(run.arms.first().map_or(String::new(), settings)),
            Cell::number(run.seed as f64),
            Cell::text(if changes.is_empty() {
                "nothing".into()
            } else {
                changes.join("; ")
            }),
        ]));
    }
    table.note(
        "The run files as they were used, and the data, are in the folders `experiments` and \
         `data` of the output.",
    )
}

/// Time of one thread per step of one chain.
pub fn cost(comparisons: &Comparisons) -> Option<Table> {
    let timed = |c: &&Comparison| c.arms.len() == 5 && c.run.n_chains > 0;
    let shown: Vec<(&String, &Comparison)> = comparisons.iter().filter(|(_, c)| timed(c)).collect();
    let (_, first) = shown.first()?;
    let mut table = Table::new("cost", "Time per step of one chain on one thread [µs]")
        .column(Column::new("run file"));
    for arm in &first.arms {
        table = table.column(Column::new(arm.arm.name.clone()));
    }
    for (name, comparison) in shown {
        let mut cells = vec![Cell::text(format!("`{name}`"))];
        cells.extend(
            comparison
                .arms
                .iter()
                .map(|arm| Cell::number(arm.seconds_per_step * 1e6)),
        );
        table = table.row(Row::new(cells));
    }
    Some(table.note(
        "Several chains run side by side. Times vary from run to run and with what else the \
         machine does.",
    ))
}
