//! What was typed under `[measure]`.

use super::reader::Value;
use super::source::{At, Result};
use super::typed::{Ksd, Measure, Trajectories, Truth, at, maybe};

/// Reads the section.
pub fn measure(value: Value) -> Result<Measure> {
    let mut section = value.section("[measure]")?;
    let names = |value: Value| {
        let list = value.list("a list of names of observables")?;
        let list: Result<Vec<_>> = list.iter().map(Value::text).collect();
        Ok(at(value.place(), list?))
    };
    let measure = Measure {
        observables: maybe(section.optional("observables"), names)?,
        n_batches: maybe(section.optional("n_batches"), |v| v.positive_count())?,
        checkpoints_per_decade: maybe(section.optional("checkpoints_per_decade"), |v| {
            v.positive_count()
        })?,
        running_from: maybe(section.optional("running_from"), |v| {
            v.word(&["start", "burn-in"])
        })?
        .map(|word| word.value),
        truth: maybe(section.optional("truth"), truth)?,
        ksd: maybe(section.optional("ksd"), ksd)?,
        trajectories: maybe(section.optional("trajectories"), trajectories)?,
        theory: maybe(section.optional("theory"), |v| v.flag())?.map(|flag| flag.value),
    };
    section.finish()?;
    Ok(measure)
}

fn truth(value: Value) -> Result<At<Truth>> {
    if !value.is_table() {
        let word = value.word(&["exact", "none"])?;
        return Ok(word.map(|word| match word {
            "exact" => Truth::Exact,
            _ => Truth::None,
        }));
    }
    let mut section = value.section("`truth`")?;
    if let Some(reference) = section.optional("reference") {
        section.finish()?;
        return Ok(at(value.place(), reference_run(reference)?));
    }
    let number = |(name, value): (At<String>, Value)| Ok((name, value.number()?.value));
    let numbers: Result<Vec<_>> = section.entries().into_iter().map(number).collect();
    Ok(at(value.place(), Truth::Numbers(numbers?)))
}

fn reference_run(value: Value) -> Result<Truth> {
    let mut section = value.section("a reference run")?;
    let truth = Truth::Reference {
        dynamics: section
            .required("dynamics", "the name of one of the dynamics")?
            .text()?,
        n_chains: section
            .required("n_chains", "the number of chains")?
            .positive_count()?,
        n_steps: section
            .required("n_steps", "the number of states of each chain")?
            .positive_count()?,
        burn_in: section
            .required("burn_in", "the number of states to leave out")?
            .count()?,
        step_size: maybe(section.optional("step_size"), |v| v.positive())?,
    };
    section.finish()?;
    Ok(truth)
}

fn ksd(value: Value) -> Result<At<Ksd>> {
    let mut section = value.section("`ksd`")?;
    let or = |typed: Option<At<u64>>, default| typed.unwrap_or(at(value.place(), default));
    let ksd = Ksd {
        n_points: section
            .required("n_points", "the number of points")?
            .positive_count()?,
        n_chains: section
            .required("n_chains", "the number of chains")?
            .positive_count()?,
        thin: or(maybe(section.optional("thin"), |v| v.positive_count())?, 1),
        burn_in: or(maybe(section.optional("burn_in"), |v| v.count())?, 0),
        c: maybe(section.optional("c"), |v| v.positive())?.map_or(1.0, |x| x.value),
        exponent: maybe(section.optional("exponent"), |v| v.number())?.map_or(-0.5, |x| x.value),
        step_size: maybe(section.optional("step_size"), |v| v.positive())?.map(|x| x.value),
    };
    section.finish()?;
    Ok(at(value.place(), ksd))
}

fn trajectories(value: Value) -> Result<At<Trajectories>> {
    let mut section = value.section("`trajectories`")?;
    let trajectories = Trajectories {
        n_chains: section
            .required("n_chains", "the number of chains")?
            .positive_count()?,
        n_steps: section
            .required("n_steps", "the number of states")?
            .positive_count()?,
        thin: maybe(section.optional("thin"), |v| v.positive_count())?.map_or(1, |n| n.value),
        coordinates: maybe(section.optional("coordinates"), |v| v.texts())?,
    };
    section.finish()?;
    Ok(at(value.place(), trajectories))
}
