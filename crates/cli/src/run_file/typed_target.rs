//! What was typed under `[target]`.

use langevin::catalog::Model;

use super::kind::Kind;
use super::reader::Value;
use super::source::{At, Result};
use super::typed::{Matrix, Target, at, maybe};

/// Reads the section.
pub fn target(value: Value) -> Result<Target> {
    let mut section = value.section("[target]")?;
    let target = Target {
        model: kind(section.required("model", "the name of a model")?)?,
        noise_precision: maybe(section.optional("noise_precision"), matrix)?,
        prior_precision: maybe(section.optional("prior_precision"), matrix)?,
        data: super::typed_data::data(section.required("data", "the section [target.data]")?)?,
    };
    section.finish()?;
    Ok(target)
}

fn kind(value: Value) -> Result<At<Kind>> {
    let word = value.word(&Model::LIST.map(|(name, _)| name))?;
    match Kind::named(word.value) {
        Some(kind) => Ok(at(word.place, kind)),
        None => word.place.refuse(format!(
            "run files cannot ask for the model {:?}",
            word.value
        )),
    }
}

fn matrix(value: Value) -> Result<At<Matrix>> {
    if value.is_number() {
        return Ok(value.number()?.map(Matrix::Number));
    }
    if value.is_list() {
        return Ok(value.rows()?.map(Matrix::Entries));
    }
    if !value.is_table() {
        return value.refuse("a number, a matrix or { eigenvalues, eigenvector_seed }");
    }
    let mut section = value.section("a matrix by its spectrum")?;
    let spectrum = Matrix::Spectrum {
        eigenvalues: section
            .required("eigenvalues", "a list of numbers")?
            .numbers()?
            .value,
        eigenvector_seed: section
            .required("eigenvector_seed", "a whole number")?
            .count()?
            .value,
    };
    section.finish()?;
    Ok(at(value.place(), spectrum))
}
