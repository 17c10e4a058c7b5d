//! `langevin ksd`: kernel Stein discrepancy of draws whose scores are known.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use langevin::stat::ksd::{Kernel, ksd_curve};
use langevin::stat::running::log_spaced;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{Done, Global, beside};
use crate::files::write_report;
use crate::terminal;
use crate::waiting::Waiting;
use langevin_page::figure::{Anchor, Axis, Colour, Figure, Line, Panel, ReferenceSlope};
use langevin_page::report::{Cell, Column, FigureItem, Report, Row, Section, Table};
use langevin_run::csv_data::{self, Selection};
use langevin_run::run_file::Run;
use langevin_run::shown::quoted;
use langevin_run::store;
use langevin_run::target::Target;

/// Columns of scores are named after those of coordinates.
const SCORE: &str = "score_";
/// Columns that count and do not measure.
const COUNTERS: [&str; 2] = ["chain", "draw"];
/// Room for tables and figures, in bytes.
const ROOM: u64 = 2_000_000;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  langevin ksd draws.csv                      # columns x, y, score_x, score_y\n  \
                  langevin ksd draws.csv --target normal.toml  # scores from a model\n  \
                  langevin ksd out/normal/draws.zarr --target normal.toml"
)]
pub(super) struct Arguments {
    /// A CSV file with a column per coordinate, or a Zarr store of draws.
    #[arg(value_name = "DRAWS")]
    draws: PathBuf,
    /// Take scores from the target of this run file.
    #[arg(long, value_name = "RUN.toml")]
    target: Option<PathBuf>,
    /// Use at most this many draws of each chain (the cost grows with its square).
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    points: usize,
    /// Length c of the kernel (c² + |x − y|²)^e.
    #[arg(long, default_value_t = 1.0)]
    c: f64,
    /// Exponent e of the kernel, between −1 and 0.
    #[arg(long, default_value_t = -0.5, allow_negative_numbers = true)]
    exponent: f64,
}

/// Points of one chain with their scores.
struct Chain {
    points: Vec<f64>,
    scores: Vec<f64>,
    dim: usize,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let kernel = Kernel::new(arguments.c, arguments.exponent)?;
    ensure!(arguments.points > 0, "--points must be at least 1");
    let target = match &arguments.target {
        Some(path) => Some(Run::load(path, global.asked(&global.out(PathBuf::new())))?.target),
        None => None,
    };
    let chains = match arguments.draws.is_dir() {
        true => from_store(arguments, target.as_deref())?,
        false => vec![from_csv(&arguments.draws, target.as_deref())?],
    };
    let folder = global.folder(beside(&arguments.draws, "ksd"), ROOM)?;
    let waiting = Waiting::new(
        "Discrepancies of chains",
        chains.len(),
        global.shows_nothing(),
    );
    let curve = |chain: &Chain| {
        let n = (chain.points.len() / chain.dim).min(arguments.points) * chain.dim;
        let curve = ksd_curve(&chain.points[..n], &chain.scores[..n], chain.dim, kernel);
        waiting.one_more();
        curve
    };
    let curves: langevin::Result<Vec<Vec<f64>>> = chains.par_iter().map(curve).collect();
    let curves = curves?;
    drop(waiting);
    ensure!(
        curves.iter().any(|curve| !curve.is_empty()),
        "{}: there are no draws",
        arguments.draws.display()
    );
    let checkpoints = log_spaced(curves[0].len(), 10)?;
    let table = table(&curves, &checkpoints);
    let figure = figure(&curves, &checkpoints);
    let section = Section::new("ksd", "Kernel Stein discrepancy")
        .item(table.clone())
        .item(FigureItem::new("Discrepancies", &figure));
    let report = Report::new(format!("Discrepancy of {}", arguments.draws.display()))
        .fact("Program", format!("langevin {}", env!("CARGO_PKG_VERSION")))
        .fact(
            "Kernel",
            format!("c = {}, e = {}", kernel.c(), kernel.exponent()),
        )
        .section(section);
    write_report(&folder, &report, std::slice::from_ref(&figure), &[])?;
    let results = json(&curves, &checkpoints, kernel);
    folder.write_json("results.json", &results)?;
    let report = folder.path().join("report.html");
    Ok(Done {
        text: format!("{}Report: {}\n", terminal::text(&table), report.display()),
        json: results,
        good: true,
    })
}

/// Coordinates and scores from the columns `x` and `score_x`, or scores from a target.
fn from_csv(path: &Path, target: Option<&Target>) -> anyhow::Result<Chain> {
    let header = csv_data::header(path)?;
    let is_score = |name: &&String| name.starts_with(SCORE);
    let coordinates: Vec<String> = header
        .iter()
        .filter(|name| !is_score(name) && !COUNTERS.contains(&name.as_str()))
        .cloned()
        .collect();
    let read = |columns: Vec<String>| {
        let columns = Some(columns);
        let selection = Selection {
            columns,
            ..Selection::default()
        };
        csv_data::Table::read(path, &selection)
    };
    let dim = coordinates.len();
    ensure!(dim > 0, "{}: there are no coordinates", path.display());
    let Some(target) = target else {
        let scores: Vec<String> = coordinates.iter().map(|c| format!("{SCORE}{c}")).collect();
        if let Some(missing) = scores.iter().find(|name| !header.contains(name)) {
            bail!(
                "{}: there is no column {}; give scores in columns or a --target",
                path.display(),
                quoted(missing)
            );
        }
        return Ok(Chain {
            points: read(coordinates)?.values().to_vec(),
            scores: read(scores)?.values().to_vec(),
            dim,
        });
    };
    // By name where the names are those of the model, else in the order of the file.
    let labels = target.coordinates.clone();
    let columns = match labels.iter().all(|label| coordinates.contains(label)) {
        true => labels,
        false => coordinates,
    };
    ensure!(
        columns.len() == target.dim(),
        "{}: {} columns of coordinates, but the target has {}",
        path.display(),
        columns.len(),
        target.dim()
    );
    with_scores(read(columns)?.values(), target)
}

fn from_store(arguments: &Arguments, target: Option<&Target>) -> anyhow::Result<Vec<Chain>> {
    let path = &arguments.draws;
    let target = target.context("a store has no scores; give the run file of its --target")?;
    let draws = store::read(path)?;
    draws
        .require_finite()
        .with_context(|| path.display().to_string())?;
    let dim = draws.layout().dim();
    ensure!(
        dim == target.dim(),
        "{}: {dim} coordinates, but the target has {}",
        path.display(),
        target.dim()
    );
    let chains = draws.values().chunks_exact(draws.n_draws() * dim);
    chains.map(|chain| with_scores(chain, target)).collect()
}

/// Points in the order of a target's layout become θ with scores.
fn with_scores(values: &[f64], target: &Target) -> anyhow::Result<Chain> {
    let dim = target.dim();
    let mut points = vec![0.0; values.len()];
    for (row, theta) in values.chunks_exact(dim).zip(points.chunks_exact_mut(dim)) {
        for (x, i) in row.iter().zip(&target.order) {
            theta[*i] = *x;
        }
    }
    Ok(Chain {
        scores: target.scores(&points)?,
        points,
        dim,
    })
}

/// Mean over chains at a checkpoint.
fn mean(curves: &[Vec<f64>], k: usize) -> f64 {
    curves.iter().map(|curve| curve[k - 1]).sum::<f64>() / curves.len() as f64
}

fn table(curves: &[Vec<f64>], checkpoints: &[usize]) -> Table {
    let title = format!(
        "Kernel Stein discrepancy, mean over {} chains",
        curves.len()
    );
    let mut table = Table::new("ksd-values", title)
        .column(Column::new("points"))
        .column(Column::new("KSD"));
    for k in checkpoints {
        let values: Vec<f64> = curves.iter().map(|curve| curve[k - 1]).collect();
        let cell = match langevin::stat::Spread::new(&values) {
            Ok(spread) => Cell::estimate(spread.mean, spread.mean_se),
            Err(_) => Cell::number(values[0]),
        };
        table = table.row(Row::new([Cell::number(*k as f64), cell]));
    }
    table
}

fn figure(curves: &[Vec<f64>], checkpoints: &[usize]) -> Figure {
    let points = checkpoints.iter().map(|k| [*k as f64, mean(curves, *k)]);
    let line = Line::new("KSD", Colour::BLUE, points.collect());
    let slope = ReferenceSlope {
        label: "slope −1/2".into(),
        slope: -0.5,
        anchor: Anchor::Below,
    };
    let panel = Panel::new(Axis::log("points"), Axis::log("KSD"));
    Figure::new("ksd-curve", "Kernel Stein discrepancy of the first points.")
        .panel(panel.mark(line).mark(slope))
}

fn json(curves: &[Vec<f64>], checkpoints: &[usize], kernel: Kernel) -> Value {
    let point = |k: &usize| {
        let chains: Vec<f64> = curves.iter().map(|curve| curve[k - 1]).collect();
        json!({ "points": k, "value": mean(curves, *k), "chains": chains })
    };
    json!({
        "kernel": { "c": kernel.c(), "exponent": kernel.exponent() },
        "ksd": checkpoints.iter().map(point).collect::<Vec<_>>(),
    })
}
