//! What was typed under `[target]`.

use langevin::catalog;

use super::kind::Kind;
use super::reader::{Section, Value};
use super::source::{At, Result};
use super::typed::{Matrix, Model, Stan, Target, at, maybe};

/// What a model is called that is none of the library.
const STAN: &str = "stan";

/// Reads the section.
pub fn target(value: Value) -> Result<Target> {
    let mut section = value.section("[target]")?;
    let model = section.required("model", "the name of a model")?;
    let target = match model.as_text() {
        Some(STAN) => Target::Stan(stan(&mut section)?),
        _ => Target::Model(Box::new(of_library(model, &mut section)?)),
    };
    section.finish()?;
    Ok(target)
}

fn stan(section: &mut Section) -> Result<Stan> {
    let library = section.required("library", "the library that BridgeStan built")?;
    let data = |value: Value| {
        let mut section = value.section("[target.data]")?;
        let file = section.required("file", "a file with the data in JSON")?;
        section.finish()?;
        file.text()
    };
    Ok(Stan {
        library: library.text()?,
        data: maybe(section.optional("data"), data)?,
    })
}

fn of_library(model: Value, section: &mut Section) -> Result<Model> {
    Ok(Model {
        model: kind(model)?,
        noise_precision: maybe(section.optional("noise_precision"), matrix)?,
        prior_precision: maybe(section.optional("prior_precision"), matrix)?,
        data: super::typed_data::data(section.required("data", "the section [target.data]")?)?,
    })
}

fn kind(value: Value) -> Result<At<Kind>> {
    let names = catalog::Model::LIST.map(|(name, _)| name);
    let word = value.word(&[&names[..], &[STAN]].concat())?;
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
