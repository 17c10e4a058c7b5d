//! What was typed under `[run]` and `[[dynamics]]`.

use langevin::catalog::System;

use super::reader::{Section, Value};
use super::source::{At, Result};
use super::typed::{Batch, Choices, Dynamics, Metric, Run, Skew, Start, StepSize, at, maybe};

/// Reads `[run]`.
pub fn run(value: Value) -> Result<Run> {
    let mut section = value.section("[run]")?;
    let zero = at(value.place(), 0);
    let run = Run {
        place: value.place(),
        n_chains: section
            .required("n_chains", "the number of chains")?
            .positive_count()?,
        n_steps: section
            .required("n_steps", "the number of states of each chain")?
            .positive_count()?,
        step_size: step_size(section.required("step_size", "a number or { a, b, gamma }")?)?,
        burn_in: maybe(section.optional("burn_in"), |v| v.count())?.unwrap_or(zero),
        thin: maybe(section.optional("thin"), |v| v.positive_count())?.map_or(1, |n| n.value),
        seed: maybe(section.optional("seed"), |v| v.count())?.map(|n| n.value),
        batch: batch(&mut section)?,
        start: maybe(section.optional("start"), start)?,
        defaults: choices(&mut section)?,
    };
    section.finish()?;
    Ok(run)
}

fn step_size(value: Value) -> Result<At<StepSize>> {
    if value.is_number() {
        return Ok(value.positive()?.map(StepSize::Constant));
    }
    if !value.is_table() {
        return value.refuse("a number or { a, b, gamma }");
    }
    let mut section = value.section("decreasing step sizes")?;
    let size = StepSize::Decreasing {
        a: section.required("a", "a number above 0")?.positive()?.value,
        b: section.required("b", "a number above 0")?.positive()?.value,
        gamma: section
            .required("gamma", "a number in (0, 1]")?
            .positive()?
            .value,
    };
    section.finish()?;
    Ok(at(value.place(), size))
}

fn batch(section: &mut Section) -> Result<Batch> {
    let size = |value: Value| match value.as_text() {
        Some("all") => Ok(at(value.place(), None)),
        Some(_) => value.refuse("a whole number or \"all\""),
        None => Ok(value.positive_count()?.map(Some)),
    };
    Ok(Batch {
        size: maybe(section.optional("batch_size"), size)?,
        with_replacement: maybe(section.optional("with_replacement"), |v| v.flag())?
            .map(|flag| flag.value),
    })
}

fn start(value: Value) -> Result<At<Start>> {
    let expected = "a state, a list of states, \"random-signs\" or { mean, sd }";
    if value.as_text() == Some("random-signs") {
        return Ok(at(value.place(), Start::RandomSigns));
    }
    if value.is_table() {
        let mut section = value.section("a normal start")?;
        let mean = section.required("mean", "a number or one per coordinate")?;
        let sd = section.required("sd", "a number above 0")?.positive()?;
        section.finish()?;
        let start = Start::Normal {
            mean: number_or_numbers(mean)?.value,
            sd: sd.value,
        };
        return Ok(at(value.place(), start));
    }
    if !value.is_list() {
        return value.refuse(expected);
    }
    if value.list(expected)?.first().is_some_and(Value::is_list) {
        return Ok(value.rows()?.map(Start::PerChain));
    }
    Ok(value.numbers()?.map(Start::Fixed))
}

/// A number as a list of one, or a list of numbers.
pub fn number_or_numbers(value: Value) -> Result<At<Vec<f64>>> {
    if value.is_number() {
        return Ok(value.number()?.map(|x| vec![x]));
    }
    if !value.is_list() {
        return value.refuse("a number or a list of numbers");
    }
    value.numbers()
}

fn choices(section: &mut Section) -> Result<Choices> {
    Ok(Choices {
        metric: maybe(section.optional("metric"), metric)?,
        skew: maybe(section.optional("skew"), skew)?,
        beta: maybe(section.optional("beta"), |v| v.positive())?,
    })
}

fn metric(value: Value) -> Result<At<Metric>> {
    if value.is_table() {
        let mut section = value.section("a constant metric")?;
        let diagonal = maybe(section.optional("diagonal"), |v| v.numbers())?;
        let entries = maybe(section.optional("entries"), |v| v.rows())?;
        section.finish()?;
        return match (diagonal, entries) {
            (Some(entries), None) => Ok(at(value.place(), Metric::Diagonal(entries.value))),
            (None, Some(rows)) => Ok(at(value.place(), Metric::Entries(rows.value))),
            _ => value.refuse("either `diagonal` or `entries`"),
        };
    }
    let names = ["identity", "natural", "natural+identity"];
    Ok(value.word(&names)?.map(Metric::Named))
}

fn skew(value: Value) -> Result<At<Skew>> {
    let mut section = value.section("a skew matrix")?;
    let kinds = ["sign-pattern", "random-signs", "kronecker", "matrix"];
    let kind = section
        .required("kind", "the kind of matrix")?
        .word(&kinds)?;
    let one = |value: Option<At<f64>>| value.map_or(1.0, |x| x.value);
    let skew = match kind.value {
        "sign-pattern" => Skew::SignPattern {
            delta: section.required("delta", "a number")?.number()?.value,
        },
        "random-signs" => Skew::RandomSigns {
            seed: section.required("seed", "a whole number")?.count()?.value,
            norm: one(maybe(section.optional("norm"), |v| v.positive())?),
        },
        "kronecker" => Skew::Kronecker {
            norm: one(maybe(section.optional("norm"), |v| v.positive())?),
        },
        _ => Skew::Entries(
            section
                .required("entries", "rows of numbers")?
                .rows()?
                .value,
        ),
    };
    section.finish()?;
    Ok(at(value.place(), skew))
}

/// Reads one entry of `[[dynamics]]`.
pub fn dynamics(value: Value) -> Result<At<Dynamics>> {
    if value.as_text().is_some() {
        let system = value.word(&System::NAMES)?;
        let entry = Dynamics {
            name: None,
            system: Some(system),
            field: None,
            choices: Choices::default(),
            step_size: None,
            batch: Batch::default(),
        };
        return Ok(at(value.place(), entry));
    }
    let mut section = value.section("[[dynamics]]")?;
    let fields = ["none", "constant", "geometric"];
    let entry = Dynamics {
        name: maybe(section.optional("name"), |v| v.text())?,
        system: maybe(section.optional("system"), |v| v.word(&System::NAMES))?,
        field: maybe(section.optional("field"), |v| v.word(&fields))?,
        choices: choices(&mut section)?,
        step_size: maybe(section.optional("step_size"), step_size)?,
        batch: batch(&mut section)?,
    };
    section.finish()?;
    Ok(at(value.place(), entry))
}
