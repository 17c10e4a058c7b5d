//! What was typed under `[target.data]`.

use super::reader::{Section, Value};
use super::source::{At, Result};
use super::typed::{CsvFile, Data, Generate, at, maybe};
use super::typed_run::number_or_numbers;

/// Laws that a signal of independent component analysis can have.
pub const SIGNALS: [&str; 2] = ["laplace", "logistic"];

/// Reads the section.
pub fn data(value: Value) -> Result<At<Data>> {
    let mut section = value.section("[target.data]")?;
    let ways = ["values", "generate", "file"].map(|key| section.optional(key));
    let data = match ways {
        [Some(values), None, None] => Data::Values {
            rows: rows(values)?,
            labels: maybe(section.optional("labels"), |v| v.numbers())?,
        },
        [None, Some(value), None] => Data::Generate(generate(value)?),
        [None, None, Some(file)] => Data::File(csv_file(file.text()?, &mut section)?),
        _ => {
            return section
                .place()
                .refuse("[target.data] needs exactly one of `values`, `generate` and `file`");
        }
    };
    section.finish()?;
    Ok(at(value.place(), data))
}

/// Rows of numbers, or plain numbers as rows of one.
fn rows(value: Value) -> Result<At<Vec<Vec<f64>>>> {
    let list = value.list("a list of numbers or of rows")?;
    if list.first().is_some_and(Value::is_list) {
        return value.rows();
    }
    Ok(value
        .numbers()?
        .map(|numbers| numbers.into_iter().map(|x| vec![x]).collect()))
}

fn generate(value: Value) -> Result<Generate> {
    let mut section = value.section("generated data")?;
    let signals = |value: Value| {
        let words = value.full_list("a list of the signals' laws, one or more")?;
        let words: Result<Vec<_>> = words
            .iter()
            .map(|word| Ok(word.word(&SIGNALS)?.value))
            .collect();
        Ok(at(value.place(), words?))
    };
    let generate = Generate {
        n: section
            .required("n", "the number of rows")?
            .positive_count()?,
        seed: section.required("seed", "a whole number")?.count()?.value,
        mean: maybe(section.optional("mean"), number_or_numbers)?,
        sd: maybe(section.optional("sd"), |v| v.positive())?,
        dim: maybe(section.optional("dim"), |v| v.positive_count())?,
        weights: maybe(section.optional("weights"), |v| v.numbers())?,
        signals: maybe(section.optional("signals"), signals)?,
    };
    section.finish()?;
    Ok(generate)
}

fn csv_file(file: At<String>, section: &mut Section) -> Result<CsvFile> {
    let filter = |value: Value| {
        let mut section = value.section("`where`")?;
        let column = section.required("column", "the name of a column")?.text()?;
        let equals = section.required("equals", "a number or a text")?;
        let wanted = match equals.as_text() {
            Some(text) => text.to_owned(),
            None if equals.is_number() => equals.number()?.value.to_string(),
            None => return equals.refuse("a number or a text"),
        };
        section.finish()?;
        Ok((column.value, wanted))
    };
    Ok(CsvFile {
        file,
        columns: maybe(section.optional("columns"), |v| v.texts())?.map(|list| list.value),
        label: maybe(section.optional("label"), |v| v.text())?,
        filter: maybe(section.optional("where"), filter)?,
        standardize: maybe(section.optional("standardize"), |v| v.flag())?
            .is_some_and(|flag| flag.value),
    })
}
