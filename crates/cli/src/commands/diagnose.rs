//! `langevin diagnose`: has this store of draws converged?

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::{Done, Global, beside};
use crate::files::write_report;
use crate::terminal;
use crate::view::summary::summary;
use crate::waiting::Waiting;
use langevin_page::figure::{Axis, Colour, Figure, Histogram, Line, Panel, TickLabels};
use langevin_page::report::{FigureItem, Report, Section};
use langevin_run::store::{self, Draws};
use langevin_run::summary::{Summaries, coordinate, healthy_chains};

/// More parameters than this do not fit into one figure.
const SHOWN_PARAMETERS: usize = 12;
/// More chains than this cannot be told apart.
const SHOWN_CHAINS: usize = 4;
/// Bars of a rank histogram.
const RANK_BINS: usize = 20;
/// Room for tables and figures, in bytes.
const ROOM: u64 = 5_000_000;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  langevin diagnose out/normal/draws.zarr\n\n\
                  The output folder gets tables/summary.csv, figures/trace and figures/rank as \
                  *.svg and *.png, results.json, report.html and the same as report.md.")]
pub(super) struct Arguments {
    /// A Zarr store in ArviZ's layout, such as `langevin sample` writes.
    #[arg(value_name = "STORE")]
    store: PathBuf,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let what = format!("Diagnosis of {}", arguments.store.display());
    let waiting = Waiting::new(what.clone(), 3, global.shows_nothing());
    let draws = store::read(&arguments.store)?;
    waiting.one_more();
    let folder = global.folder(beside(&arguments.store, "diagnosis"), ROOM)?;
    let summaries = Summaries::new(&draws)?;
    waiting.one_more();
    let figures = match healthy_chains(&draws) {
        chains if chains.is_empty() => vec![],
        chains => vec![trace(&draws, &chains), rank(&draws, &chains)],
    };
    let table = summary(&summaries);
    let mut section = Section::new("diagnosis", "Diagnosis").item(table.clone());
    for (name, figure) in ["Traces", "Ranks"].into_iter().zip(&figures) {
        section = section.item(FigureItem::new(name, figure));
    }
    let report = Report::new(what)
        .fact("Program", format!("langevin {}", env!("CARGO_PKG_VERSION")))
        .fact("Chains", draws.n_chains().to_string())
        .fact("Draws", draws.n_draws().to_string())
        .section(section);
    write_report(&folder, &report, &figures, &[])?;
    let results = json!({ "store": arguments.store, "summary": summaries.json() });
    folder.write_json("results.json", &results)?;
    drop(waiting);
    let text = format!(
        "{}{}\nReport: {}\n",
        terminal::text(&table),
        summaries.sentence(),
        folder.path().join("report.html").display()
    );
    Ok(Done {
        text,
        json: results,
        good: summaries.n_escaped < summaries.n_chains,
    })
}

/// Colours of chains.
const CHAIN_COLOURS: [Colour; SHOWN_CHAINS] =
    [Colour::BLUE, Colour::ORANGE, Colour::GREEN, Colour::PURPLE];

/// One panel per parameter, made by `panel` from its name and the draws of each shown chain.
fn grid(
    id: &str,
    caption: &str,
    draws: &Draws,
    chains: &[usize],
    panel: impl Fn(String, Vec<f64>) -> Panel,
) -> Figure {
    let labels = draws.layout().labels();
    let shown = labels.len().min(SHOWN_PARAMETERS);
    let more = match labels.len() > shown {
        true => format!(" The first {shown} of {} parameters.", labels.len()),
        false => String::new(),
    };
    let mut figure = Figure::new(id, format!("{caption}{more}"))
        .columns(shown.min(3))
        .aspect(0.7);
    for (i, label) in labels.into_iter().take(shown).enumerate() {
        figure = figure.panel(panel(label, coordinate(draws, chains, i)));
    }
    figure
}

fn trace(draws: &Draws, chains: &[usize]) -> Figure {
    let chains = &chains[..chains.len().min(SHOWN_CHAINS)];
    let caption = format!("Traces of {} chains.", chains.len());
    grid("trace", &caption, draws, chains, |label, values| {
        let mut panel = Panel::new(Axis::linear("draw"), Axis::linear("")).title(label);
        let series = values.chunks_exact(draws.n_draws()).zip(chains);
        for ((series, chain), colour) in series.zip(CHAIN_COLOURS) {
            let points = series.iter().enumerate().map(|(k, x)| [k as f64, *x]);
            let line = Line::new(format!("chain {chain}"), colour, points.collect());
            panel = panel.mark(line.width(0.6));
        }
        panel
    })
}

/// Histograms of the ranks of each chain's draws among all draws (Vehtari and others, 2021): flat
/// where the chains sample one distribution.
fn rank(draws: &Draws, chains: &[usize]) -> Figure {
    let shown = chains.len().min(SHOWN_CHAINS);
    let caption = format!(
        "Ranks of the draws of {shown} chains among those of all {} chains: flat if they sample \
         one distribution.",
        chains.len()
    );
    grid("rank", &caption, draws, chains, |label, values| {
        let y = Axis::linear("").tick_labels(TickLabels::NoTicks);
        let mut panel = Panel::new(Axis::linear("rank"), y).title(label);
        let ranks = ranks(&values);
        let series = ranks.chunks_exact(draws.n_draws()).zip(chains);
        for ((series, chain), colour) in series.zip(CHAIN_COLOURS).take(shown) {
            panel = panel.mark(Histogram {
                label: format!("chain {chain}"),
                colour,
                filled: false,
                edges: edges(values.len()),
                heights: heights(series, values.len()),
            });
        }
        panel
    })
}

/// Position of every value in the sorted list.
fn ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    for (rank, i) in order.into_iter().enumerate() {
        ranks[i] = rank;
    }
    ranks
}

fn edges(n: usize) -> Vec<f64> {
    (0..=RANK_BINS)
        .map(|bin| (bin * n) as f64 / RANK_BINS as f64)
        .collect()
}

fn heights(ranks: &[usize], n: usize) -> Vec<f64> {
    let mut heights = vec![0.0; RANK_BINS];
    for rank in ranks {
        heights[rank * RANK_BINS / n] += 1.0;
    }
    heights
}
