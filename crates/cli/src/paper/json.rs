//! The reproduction for machines: every number with its standard error, times apart.

use langevin::stat::{Draws as Sample, Summary};
use serde_json::{Map, Value, json};

use super::embedded::Scale;
use super::page::{Judged, Page};
use super::printed::{Kind, Paper};
use super::{Draws, Gathered, planar};
use langevin_page::report::Verdict;
use langevin_run::compare::json as compare_json;

/// Everything but times.
pub fn results(paper: &Paper, scale: Scale, gathered: &Gathered, judged: &[Judged]) -> Value {
    let mut items = Map::new();
    for item in paper.items() {
        let claims = judged.iter().filter(|j| j.item == item.id && !j.is_time);
        items.insert(
            item.id.clone(),
            json!({
                "runs": item.runs().collect::<Vec<_>>(),
                "title": item.title,
                "printed": item.printed,
                "printed_chains": item.printed_chains,
                "notes": item.notes,
                "claims": claims.map(|j| verdict(&j.verdict)).collect::<Vec<_>>(),
            }),
        );
    }
    let comparisons = gathered.comparisons.iter();
    let runs: Map<String, Value> = comparisons
        .map(|(name, c)| (name.clone(), compare_json::results(c)))
        .collect();
    let draws = gathered.draws.iter();
    let draws: Map<String, Value> = draws
        .map(|(name, d)| (name.clone(), marginals(d)))
        .collect();
    let mut all = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scale": scale.name(),
        "standard_errors_that_decide": paper.z,
        "items": items,
        "runs": runs,
        "draws": draws,
    });
    let planar_kinds = [Kind::LinearAgainstDelta, Kind::NormAgainstDelta];
    if let Some(item) = paper.items().find(|item| planar_kinds.contains(&item.kind)) {
        all["appendix"] = planar::json(gathered.comparisons.get(&item.run));
    }
    all
}

/// Times, and verdicts about them.
pub fn timing(page: &Page, gathered: &Gathered, judged: &[Judged]) -> Value {
    let comparisons = gathered.comparisons.iter();
    let timed = comparisons.filter(|(_, c)| c.run.n_chains > 0);
    let runs: Map<String, Value> = timed
        .map(|(name, c)| (name.clone(), compare_json::timing(c)))
        .collect();
    let claims = judged.iter().filter(|j| j.is_time);
    json!({
        "wall_seconds": page.wall_seconds,
        "starts": page.total.starts,
        "wall_seconds_of_all_starts": page.total.seconds,
        "unit_seconds": gathered.unit_seconds,
        "machine": langevin_run::machine::words(),
        "threads": page.threads,
        "forecast_seconds": page.forecast_seconds,
        "runs": runs,
        "claims": claims.map(|j| verdict(&j.verdict)).collect::<Vec<_>>(),
    })
}

fn verdict(verdict: &Verdict) -> Value {
    let measured: Vec<Value> = verdict
        .measured
        .iter()
        .map(|m| json!({ "name": m.name, "value": m.value, "se": m.error }))
        .collect();
    json!({
        "claim": verdict.claim,
        "outcome": verdict.outcome.name(),
        "measured": measured,
        "explanation": verdict.explanation,
    })
}

/// Mean and standard deviation of every coordinate, with the error of the mean.
fn marginals(draws: &Draws) -> Value {
    let one = |(name, column): (&String, &Vec<f64>)| {
        let n_draws = column.len() / draws.n_chains.max(1);
        let summary = Sample::new(column, draws.n_chains, n_draws)
            .map(Summary::new)
            .ok();
        json!({
            "coordinate": name,
            "mean": summary.as_ref().map(|s| json!({ "value": s.mean, "se": s.mcse_mean })),
            "sd": summary.as_ref().map(|s| json!({ "value": s.sd, "se": s.mcse_sd })),
        })
    };
    draws.names.iter().zip(&draws.columns).map(one).collect()
}
