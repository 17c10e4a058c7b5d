//! From `[target]` to a model with named coordinates.

use std::sync::Arc;

use langevin::catalog::Model;
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use nalgebra::DMatrix;

use super::data::{Rows, Wanted, random_orthogonal, rows};
use super::kind::Kind;
use super::needs::{Size, of_model};
use super::source::{At, AtPlace, Result};
use super::typed;
use crate::identity;
use crate::shown::quoted;
use crate::stan;
use crate::store::{Dim, Layout, Param};
use crate::target::{Sampled, Target};

/// Builds the target, reading or making its data. Libraries run code of their own: they are loaded
/// only where that is allowed.
pub fn target(typed: &typed::Target, libraries: bool) -> Result<Target> {
    match typed {
        typed::Target::Model(model) => of_library(model),
        typed::Target::Stan(stan) => of_stan(stan, libraries),
    }
}

fn of_stan(typed: &typed::Stan, libraries: bool) -> Result<Target> {
    let At { value, place } = &typed.library;
    if !libraries {
        return place.refuse(format!(
            "the library {} would run code of its own in this program; if you trust it, say so \
             with --allow-libraries",
            quoted(value)
        ));
    }
    let beside = |file: &str| place.source().relative(file);
    let data = typed.data.as_ref().map(|data| beside(&data.value));
    stan::target(&beside(value), data.as_deref()).at(place)
}

fn of_library(typed: &typed::Model) -> Result<Target> {
    match typed.model.value {
        Kind::LinearGaussian => linear_gaussian(typed),
        Kind::Normal => normal(typed),
        Kind::Logistic => logistic(typed),
        Kind::Ica => ica(typed),
    }
}

/// A model whose layout has the order of its coordinates.
fn in_order(
    model: Model,
    params: Vec<Param>,
    fingerprint: String,
    place: &At<typed::Data>,
) -> Result<Target> {
    let order = (0..model.dim()).collect();
    of_model_in(model, params, order, fingerprint, place)
}

fn of_model_in(
    model: Model,
    params: Vec<Param>,
    order: Vec<usize>,
    fingerprint: String,
    place: &At<typed::Data>,
) -> Result<Target> {
    let layout = Layout::new(params).at(&place.place)?;
    Ok(Target {
        coordinates: layout.labels(),
        layout,
        sampled: Sampled::Model(Arc::new(model)),
        order,
        fingerprint: Some(fingerprint),
    })
}

fn data(typed: &typed::Model, labels: bool) -> Result<Rows> {
    let place = &typed.data.place;
    let found = rows(
        &typed.data.value,
        &Wanted {
            model: typed.model.value,
            labels,
            covariance: &|dim| covariance(typed, dim),
            place,
        },
    )?;
    let n_rows = found.values.len().checked_div(found.width).unwrap_or(0);
    let sizes = [
        ("the number of rows", n_rows),
        ("the number of columns", found.width),
    ];
    let [n_rows, width] = sizes.map(|(name, n)| Size::counted(name, n as u64, place));
    of_model(typed.model.value, n_rows, width).check_memory()?;
    Ok(found)
}

/// The identity of a model: what it was made of, whatever the library made of that.
fn fingerprint(typed: &typed::Model, data: &Rows, more: &[(&str, &[f64])]) -> String {
    let labels = data.labels.as_deref().unwrap_or(&[]);
    let own: [(&str, &[f64]); 2] = [("data", &data.values), ("labels", labels)];
    let parts = [own.as_slice(), more].concat();
    identity::of_model(typed.model.value.name(), data.width, &parts)
}

/// Γ_X⁻¹ for data that are to be made; `dim` is 0 where nobody has said it.
fn covariance(typed: &typed::Model, dim: usize) -> Result<DMatrix<f64>> {
    let known = |m: &Option<At<typed::Matrix>>| m.as_ref().and_then(|m| size(&m.value));
    let dim = match dim {
        0 => known(&typed.noise_precision).or(known(&typed.prior_precision)),
        _ => Some(dim),
    };
    let Some(dim) = dim else {
        return typed.data.place.refuse("generated data need `dim`");
    };
    if let typed::Data::Generate(how) = &typed.data.value {
        let width = match &how.dim {
            Some(dim) => Size::of("generate.dim", dim),
            None => Size::counted("the number of columns", dim as u64, &typed.data.place),
        };
        let n_rows = Size::of("generate.n", &how.n);
        of_model(Kind::LinearGaussian, n_rows, width).check_memory()?;
    }
    let precision = required(typed, &typed.noise_precision, "noise_precision")?;
    let matrix = matrix(precision, dim)?;
    match matrix.try_inverse() {
        Some(covariance) => Ok(covariance),
        None => precision.place.refuse("the noise precision is singular"),
    }
}

fn required<'a, T>(
    typed: &typed::Model,
    field: &'a Option<At<T>>,
    name: &str,
) -> Result<&'a At<T>> {
    let model = typed.model.value.name();
    let missing = || {
        typed
            .model
            .place
            .error(format!("the model {model:?} needs `{name}` in [target]"))
    };
    field.as_ref().ok_or_else(missing)
}

fn forbidden<T>(typed: &typed::Model, field: &Option<At<T>>, name: &str) -> Result<()> {
    let model = typed.model.value.name();
    match field {
        Some(found) => found
            .place
            .refuse(format!("the model {model:?} has no `{name}`")),
        None => Ok(()),
    }
}

/// The size of a matrix, where its spelling has one.
fn size(typed: &typed::Matrix) -> Option<usize> {
    match typed {
        typed::Matrix::Number(_) => None,
        typed::Matrix::Entries(rows) => Some(rows.len()),
        typed::Matrix::Spectrum { eigenvalues, .. } => Some(eigenvalues.len()),
    }
}

fn matrix(typed: &At<typed::Matrix>, dim: usize) -> Result<DMatrix<f64>> {
    let place = &typed.place;
    if let Some(found) = size(&typed.value)
        && found != dim
    {
        return place.refuse(format!(
            "a matrix of size {found}, but the model has {dim} coordinates"
        ));
    }
    match &typed.value {
        typed::Matrix::Number(x) => Ok(DMatrix::identity(dim, dim) * *x),
        typed::Matrix::Entries(rows) => square(rows, place),
        typed::Matrix::Spectrum {
            eigenvalues,
            eigenvector_seed,
        } => {
            let q = random_orthogonal(dim, *eigenvector_seed);
            let diagonal = DMatrix::from_diagonal(&eigenvalues.clone().into());
            let matrix = &q * diagonal * q.transpose();
            // Rounding must not make it asymmetric.
            Ok((&matrix + matrix.transpose()) * 0.5)
        }
    }
}

/// Rows as a square matrix.
pub(super) fn square(rows: &[Vec<f64>], place: &super::source::Place) -> Result<DMatrix<f64>> {
    let (n, width) = (rows.len(), rows.first().map_or(0, Vec::len));
    if n == 0 || n != width {
        return place.refuse(format!("expected a square matrix, found {n} × {width}"));
    }
    Ok(DMatrix::from_row_slice(n, n, &rows.concat()))
}

fn linear_gaussian(typed: &typed::Model) -> Result<Target> {
    let noise = required(typed, &typed.noise_precision, "noise_precision")?;
    let prior = required(typed, &typed.prior_precision, "prior_precision")?;
    let data = data(typed, false)?;
    let (noise, prior) = (matrix(noise, data.width)?, matrix(prior, data.width)?);
    let parts = [
        ("noise_precision", noise.as_slice()),
        ("prior_precision", prior.as_slice()),
    ];
    let fingerprint = fingerprint(typed, &data, &parts);
    let model = LinearGaussian::new(data.values, &noise, &prior).at(&typed.data.place)?;
    let param = match data.columns {
        Some(names) => Param::array("theta", vec![Dim::named("coordinate", names)]),
        None => Param::array("theta", vec![Dim::indexed("coordinate", data.width)]),
    };
    let model = Model::LinearGaussian(model);
    in_order(model, vec![param], fingerprint, &typed.data)
}

fn normal(typed: &typed::Model) -> Result<Target> {
    forbidden(typed, &typed.noise_precision, "noise_precision")?;
    forbidden(typed, &typed.prior_precision, "prior_precision")?;
    let data = data(typed, false)?;
    if data.width != 1 {
        let width = data.width;
        return typed
            .data
            .place
            .refuse(format!("normal data have one column, found {width}"));
    }
    let fingerprint = fingerprint(typed, &data, &[]);
    let model = NormalParameters::new(data.values).at(&typed.data.place)?;
    let params = vec![Param::scalar("mu"), Param::scalar("sigma")];
    in_order(Model::Normal(model), params, fingerprint, &typed.data)
}

/// A prior precision that is a single number.
fn scalar_prior(typed: &typed::Model) -> Result<f64> {
    forbidden(typed, &typed.noise_precision, "noise_precision")?;
    let prior = required(typed, &typed.prior_precision, "prior_precision")?;
    match prior.value {
        typed::Matrix::Number(x) => Ok(x),
        _ => prior.place.refuse("expected a number above 0"),
    }
}

fn logistic(typed: &typed::Model) -> Result<Target> {
    let prior = scalar_prior(typed)?;
    let data = data(typed, true)?;
    let fingerprint = fingerprint(typed, &data, &[("prior_precision", &[prior])]);
    let labels = data.labels.unwrap_or_default();
    let model =
        LogisticRegression::new(data.values, data.width, &labels, prior).at(&typed.data.place)?;
    let dim = match data.columns {
        Some(names) => Dim::named("feature", names),
        None => Dim::indexed("feature", data.width),
    };
    let params = vec![Param::array("w", vec![dim])];
    in_order(Model::Logistic(model), params, fingerprint, &typed.data)
}

fn ica(typed: &typed::Model) -> Result<Target> {
    let prior = scalar_prior(typed)?;
    let data = data(typed, false)?;
    let m = data.width;
    let fingerprint = fingerprint(typed, &data, &[("prior_precision", &[prior])]);
    let model = Ica::new(data.values, m, prior).at(&typed.data.place)?;
    let dims = vec![Dim::indexed("row", m), Dim::indexed("column", m)];
    let params = vec![Param::array("W", dims)];
    // θ is W column by column, arrays on disk are row by row.
    let order = (0..m * m).map(|i| (i % m) * m + i / m).collect();
    of_model_in(Model::Ica(model), params, order, fingerprint, &typed.data)
}
