//! Comparisons as JSON: every number with its standard error, and the settings that made it.
//!
//! Times are kept apart, so that the rest is the same, byte for byte, whenever the same thing is
//! run again.

use langevin::batch::Gradient;
use langevin::skew::Skew;
use langevin::stat::running::Estimate;
use langevin::transition::StepSize;
use serde_json::{Value, json};

use super::{ArmResult, Comparison, ObservableResult};
use crate::output::{Folder, OutputError};
use crate::run_file::{Arm, Run};
use crate::starts::Total;

/// Settings and numbers, without times.
pub fn results(comparison: &Comparison) -> Value {
    let observables = comparison.run.measure.observables.iter();
    let truth: Vec<Value> = observables
        .zip(&comparison.truth)
        .map(|(o, truth)| json!({ "observable": o.name, "truth": truth.map(estimate) }))
        .collect();
    let names: Vec<&str> = comparison
        .run
        .measure
        .observables
        .iter()
        .map(|o| o.name.as_str())
        .collect();
    json!({
        "settings": settings(&comparison.run),
        "truth": truth,
        "dynamics": comparison.arms.iter().map(|a| arm_result(a, &names)).collect::<Vec<_>>(),
    })
}

/// Writes `timing.json` and then `results.json`, the last of all files of a comparison; returns what
/// is in them. It took `total`.
pub fn save(
    comparison: &Comparison,
    folder: &Folder,
    total: Total,
) -> Result<(Value, Value), OutputError> {
    let (results, mut timing) = (results(comparison), timing(comparison));
    timing["wall_seconds"] = json!(total.this);
    timing["starts"] = json!(total.starts);
    timing["wall_seconds_of_all_starts"] = json!(total.seconds);
    folder.write_json("timing.json", &timing)?;
    folder.write_json("results.json", &results)?;
    Ok((results, timing))
}

/// Cost per step and what follows from it.
pub fn timing(comparison: &Comparison) -> Value {
    let arm = |arm: &ArmResult| {
        let per_second: Vec<Value> = (0..arm.observables.len())
            .map(|i| {
                let value = arm.variance_per_second(i);
                json!({
                    "observable": comparison.run.measure.observables[i].name,
                    "variance_times_second": value.map(|(value, se)| estimate(Estimate { value, se })),
                })
            })
            .collect();
        json!({
            "name": arm.arm.name,
            "seconds_per_step": arm.seconds_per_step,
            "observables": per_second,
        })
    };
    json!({ "dynamics": comparison.arms.iter().map(arm).collect::<Vec<_>>() })
}

/// Everything that the numbers depend on.
pub fn settings(run: &Run) -> Value {
    let target = &run.target;
    json!({
        "title": run.title,
        "version": env!("CARGO_PKG_VERSION"),
        "run_file": run.source.as_ref().map(|s| s.text()),
        "model": target.name(),
        "n_data": target.n_data(),
        "coordinates": target.coordinates,
        "n_chains": run.n_chains,
        "n_steps": run.n_steps,
        "burn_in": run.burn_in,
        "seed": run.seed,
        "start": run.start_text,
        "n_batches": run.measure.n_batches,
        "batch_steps": run.measure.batch_steps,
        "dynamics": run.arms.iter().map(arm_settings).collect::<Vec<_>>(),
    })
}

/// The choices of one dynamics.
pub fn arm_settings(arm: &Arm) -> Value {
    let step_size = match arm.step_size {
        StepSize::Constant(h) => json!(h),
        StepSize::Decreasing { a, b, gamma } => json!({ "a": a, "b": b, "gamma": gamma }),
    };
    let (batch_size, with_replacement) = match arm.gradient {
        Gradient::Exact => (None, None),
        Gradient::Minibatch {
            batch_size,
            with_replacement,
        } => (Some(batch_size), Some(with_replacement)),
    };
    let field = match arm.system.skew {
        Skew::None => "none",
        Skew::Constant(_) => "constant",
        Skew::Geometric(_) => "geometric",
    };
    let rows = |matrix: nalgebra::DMatrix<f64>| -> Vec<Vec<f64>> {
        let row = |r: nalgebra::RowDVector<f64>| r.iter().copied().collect();
        matrix.row_iter().map(|r| row(r.into_owned())).collect()
    };
    json!({
        "name": arm.name,
        "metric": arm.system.metric.name(),
        "field": field,
        "skew": arm.system.skew.matrix().map(|j| rows(j.matrix())),
        "beta": arm.system.beta,
        "step_size": step_size,
        "batch_size": batch_size,
        "with_replacement": with_replacement,
    })
}

fn arm_result(arm: &ArmResult, names: &[&str]) -> Value {
    let escapes: Vec<Value> = arm
        .escapes
        .iter()
        .map(|(chain, step)| json!({ "chain": chain, "step": step }))
        .collect();
    let ksd = arm.ksd.as_ref().map(|points| {
        let point = |p: &super::KsdPoint| json!({ "points": p.n, "value": p.mean, "se": p.se });
        points.iter().map(point).collect::<Vec<_>>()
    });
    let observables = arm.observables.iter().zip(names);
    json!({
        "name": arm.arm.name,
        "escapes": escapes,
        "observables": observables.map(|(o, name)| observable(o, name)).collect::<Vec<_>>(),
        "ksd": ksd,
    })
}

fn observable(result: &ObservableResult, name: &str) -> Value {
    let variance = result.variance.map(
        |s| json!({ "value": s.mean, "se": s.mean_se, "sd_over_chains": s.sd, "sd_se": s.sd_se }),
    );
    let curve: Vec<Value> = result
        .curve
        .iter()
        .map(|p| {
            json!({
                "n_steps": p.n_steps,
                "mean": p.mean,
                "bias_squared": p.bias_squared.map(estimate),
                "variance": estimate(p.variance),
                "mse": p.mse.map(estimate),
                "exact_bias_squared": p.exact.map(|e| e.0),
                "exact_variance": p.exact.map(|e| e.1),
            })
        })
        .collect();
    json!({
        "name": name,
        "mean": result.mean.map(estimate),
        "asymptotic_variance": variance,
        "ratio_to_first": result.ratio.map(estimate),
        "exact": result.exact,
        "running_averages": curve,
    })
}

/// A number with its standard error.
pub fn estimate(estimate: Estimate) -> Value {
    json!({ "value": estimate.value, "se": estimate.se })
}
