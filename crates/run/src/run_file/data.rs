//! From `[target.data]` to rows of numbers: inline, generated from a seed, or from a CSV file.

use langevin::rng::{Rng, Stream};
use nalgebra::DMatrix;

use super::kind::Kind;
use super::needs::{Size, of_model};
use super::source::{AtPlace, Place, Result};
use super::typed::{CsvFile, Data, Generate};
use crate::csv_data::{self, RowFilter, Selection, Table};
use crate::shown;

/// Data of a model: rows of numbers, perhaps with names of the columns and labels of the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// The numbers, row by row.
    pub values: Vec<f64>,
    /// Numbers in a row.
    pub width: usize,
    /// Names of the columns, where they have any.
    pub columns: Option<Vec<String>>,
    /// A label for each row.
    pub labels: Option<Vec<f64>>,
}

/// What the model wants of its data.
pub struct Wanted<'a> {
    /// The model.
    pub model: Kind,
    /// Whether every row needs a label.
    pub labels: bool,
    /// Covariance of the data of the linear Gaussian model, where its size is known already.
    pub covariance: &'a dyn Fn(usize) -> Result<DMatrix<f64>>,
    /// Where `[target.data]` is.
    pub place: &'a Place,
}

/// Numbers of independent streams: the data themselves, and what they are made with.
const DATA: u64 = 0;
const MADE_WITH: u64 = 1;

/// Takes or makes the data.
pub fn rows(data: &Data, wanted: &Wanted) -> Result<Rows> {
    match data {
        Data::Values { rows, labels } => {
            let found = Rows {
                values: rows.value.concat(),
                width: rows.value.first().map_or(0, Vec::len),
                columns: None,
                labels: labels.as_ref().map(|l| l.value.clone()),
            };
            check_labels(found, wanted, "`labels` with one 0 or 1 for each row")
        }
        Data::File(file) => {
            let found = read_csv(file)?;
            check_labels(found, wanted, "`label`, the name of the column of labels")
        }
        Data::Generate(how) => {
            check_fields(how, wanted.model)?;
            match wanted.model {
                Kind::Normal => normal(how),
                Kind::LinearGaussian => linear_gaussian(how, wanted),
                Kind::Logistic => logistic(how, wanted.place),
                Kind::Ica => ica(how, wanted.place),
            }
        }
    }
}

/// Refuses what the data of another model are made with.
fn check_fields(how: &Generate, model: Kind) -> Result<()> {
    let known: &[&str] = match model {
        Kind::Normal => &["mean", "sd"],
        Kind::LinearGaussian => &["dim", "mean"],
        Kind::Logistic => &["dim", "weights"],
        Kind::Ica => &["signals"],
    };
    let typed = [
        ("mean", how.mean.as_ref().map(|x| &x.place)),
        ("sd", how.sd.as_ref().map(|x| &x.place)),
        ("dim", how.dim.as_ref().map(|x| &x.place)),
        ("weights", how.weights.as_ref().map(|x| &x.place)),
        ("signals", how.signals.as_ref().map(|x| &x.place)),
    ];
    for (field, place) in typed {
        if let (Some(place), false) = (place, known.contains(&field)) {
            return place.refuse(format!(
                "the model {:?} has no `{field}` in `generate`; expected n, seed, {}",
                model.name(),
                known.join(", ")
            ));
        }
    }
    Ok(())
}

fn check_labels(found: Rows, wanted: &Wanted, expected: &str) -> Result<Rows> {
    let model = wanted.model.name();
    match (&found.labels, wanted.labels) {
        (None, true) => wanted
            .place
            .refuse(format!("the model {model:?} needs {expected}")),
        (Some(_), false) => wanted
            .place
            .refuse(format!("the model {model:?} has no labels")),
        _ => Ok(found),
    }
}

fn read_csv(typed: &CsvFile) -> Result<Rows> {
    let place = &typed.file.place;
    let path = place.source().relative(&typed.file.value);
    let columns = match &typed.columns {
        Some(columns) => columns.clone(),
        None => {
            // All columns but those with another purpose; the filter's column may hold text.
            let header = csv_data::header(&path).at(place)?;
            let label = typed.label.as_ref().map(|l| &l.value);
            let filter = typed.filter.as_ref().map(|f| &f.0);
            let other = |name: &&String| Some(*name) != label && Some(*name) != filter;
            header.iter().filter(other).cloned().collect()
        }
    };
    if columns.is_empty() {
        return place.refuse(format!(
            "{}: no column is left for data beside those of `label` and `where`",
            shown::path(&path)
        ));
    }
    let mut selected = columns.clone();
    selected.extend(typed.label.as_ref().map(|l| l.value.clone()));
    let selection = Selection {
        columns: Some(selected),
        z_score: match typed.standardize {
            true => columns.clone(),
            false => vec![],
        },
        filter: typed
            .filter
            .clone()
            .map(|(column, value)| RowFilter { column, value }),
    };
    let table = Table::read(&path, &selection).at(place)?;
    let width = columns.len();
    let cells = table.values().chunks_exact(table.n_columns());
    let labels = cells.clone().map(|row| row[row.len() - 1]).collect();
    Ok(Rows {
        values: cells.flat_map(|row| &row[..width]).copied().collect(),
        width,
        columns: Some(columns),
        labels: typed.label.as_ref().map(|_| labels),
    })
}

fn plain(values: Vec<f64>, width: usize) -> Rows {
    Rows {
        values,
        width,
        columns: None,
        labels: None,
    }
}

/// Refuses more data than this machine can hold.
fn check_size(how: &Generate, model: Kind, width: &Size) -> Result<()> {
    let n_rows = Size::of("generate.n", &how.n);
    of_model(model, n_rows, width.clone()).check_memory()
}

fn normals(rng: &mut Rng<f64>, n: usize) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

/// N(mean, sd²).
fn normal(how: &Generate) -> Result<Rows> {
    let mean = match &how.mean {
        None => 0.0,
        Some(mean) => match mean.value.as_slice() {
            [x] => *x,
            list => {
                let n = list.len();
                return mean.place.refuse(format!(
                    "expected one number, the mean, found a list of {n}"
                ));
            }
        },
    };
    let sd = how.sd.as_ref().map_or(1.0, |s| s.value);
    let width = Size::counted("the number of columns", 1, &how.n.place);
    check_size(how, Kind::Normal, &width)?;
    let mut rng = Rng::new(how.seed, DATA, Stream::Setup);
    let z = normals(&mut rng, how.n.value as usize);
    Ok(plain(z.iter().map(|z| mean + sd * z).collect(), 1))
}

/// N(mean, Γ_X⁻¹).
fn linear_gaussian(how: &Generate, wanted: &Wanted) -> Result<Rows> {
    let typed = how.mean.as_ref().map(|m| m.value.len()).filter(|n| *n > 1);
    let dim = how.dim.as_ref().map(|d| d.value as usize).or(typed);
    let covariance = (wanted.covariance)(dim.unwrap_or(0))?;
    let dim = covariance.nrows();
    let mean = spread(how.mean.as_ref().map(|m| m.value.as_slice()), dim, 0.0);
    let Some(mean) = mean else {
        return wanted
            .place
            .refuse(format!("`mean` must be a number or a list of {dim}"));
    };
    // A factor exists, since the covariance is the inverse of a positive definite matrix.
    let Some(factor) = covariance.cholesky() else {
        return wanted
            .place
            .refuse("the noise precision is not positive definite");
    };
    let mut rng = Rng::new(how.seed, DATA, Stream::Setup);
    let mut values = vec![];
    for _ in 0..how.n.value {
        let x = factor.l() * DMatrix::from_vec(dim, 1, normals(&mut rng, dim));
        values.extend(x.iter().zip(&mean).map(|(x, m)| x + m));
    }
    Ok(plain(values, dim))
}

/// One number for all coordinates, or one for each.
fn spread(typed: Option<&[f64]>, dim: usize, default: f64) -> Option<Vec<f64>> {
    match typed {
        None => Some(vec![default; dim]),
        Some([x]) => Some(vec![*x; dim]),
        Some(list) => (list.len() == dim).then(|| list.to_vec()),
    }
}

/// Standard normal features; a label is 1 with probability logistic(x·w).
fn logistic(how: &Generate, place: &Place) -> Result<Rows> {
    let width = match (&how.weights, &how.dim) {
        (Some(w), _) => Size::counted("the number of weights", w.value.len() as u64, &w.place),
        (None, Some(dim)) => Size::of("generate.dim", dim),
        (None, None) => return place.refuse("generated data need `dim` or `weights`"),
    };
    if let (Some(w), Some(dim)) = (&how.weights, &how.dim)
        && width.value != dim.value
    {
        let (n, dim) = (width.value, dim.value);
        return w.place.refuse(format!("{n} weights, but `dim` is {dim}"));
    }
    check_size(how, Kind::Logistic, &width)?;
    let mut setup = Rng::new(how.seed, MADE_WITH, Stream::Setup);
    let weights = match &how.weights {
        Some(weights) => weights.value.clone(),
        None => normals(&mut setup, width.value as usize),
    };
    let mut rng = Rng::new(how.seed, DATA, Stream::Setup);
    let (mut values, mut labels) = (vec![], vec![]);
    for _ in 0..how.n.value {
        let x = normals(&mut rng, weights.len());
        let score: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
        labels.push(f64::from(rng.uniform() < 1.0 / (1.0 + (-score).exp())));
        values.extend(x);
    }
    Ok(Rows {
        labels: Some(labels),
        ..plain(values, weights.len())
    })
}

/// Independent signals of the given laws, mixed by a random orthogonal matrix.
fn ica(how: &Generate, place: &Place) -> Result<Rows> {
    let Some(signals) = &how.signals else {
        return place
            .refuse("generated data need `signals`, a list of \"laplace\" or \"logistic\"");
    };
    let m = signals.value.len();
    let width = Size::counted("the number of signals", m as u64, &signals.place);
    check_size(how, Kind::Ica, &width)?;
    let mixing = random_orthogonal(m, how.seed);
    let mut rng = Rng::new(how.seed, DATA, Stream::Setup);
    let mut values = vec![];
    for _ in 0..how.n.value {
        let draw = |law: &&str| {
            let u = rng.uniform();
            match *law {
                // Inverses of the distribution functions.
                "laplace" if u < 0.5 => (2.0 * u).ln(),
                "laplace" => -(2.0 * (1.0 - u)).ln(),
                _ => (u / (1.0 - u)).ln(),
            }
        };
        let s = DMatrix::from_vec(m, 1, signals.value.iter().map(draw).collect());
        values.extend((&mixing * s).iter());
    }
    Ok(plain(values, m))
}

/// A random orthogonal matrix: Q of the QR factors of a matrix of standard normal numbers, with
/// the signs that make its law uniform (Mezzadri 2007).
pub fn random_orthogonal(dim: usize, seed: u64) -> DMatrix<f64> {
    let mut rng = Rng::new(seed, MADE_WITH, Stream::Setup);
    let gaussian = DMatrix::from_row_slice(dim, dim, &normals(&mut rng, dim * dim));
    let qr = gaussian.qr();
    let (mut q, r) = (qr.q(), qr.r());
    for i in 0..dim {
        if r[(i, i)] < 0.0 {
            q.column_mut(i).neg_mut();
        }
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_orthogonal_matrices_are_orthogonal_and_keyed_by_the_seed() {
        let q = random_orthogonal(4, 7);
        assert!((q.tr_mul(&q) - DMatrix::identity(4, 4)).amax() < 1e-14);
        assert_eq!(q, random_orthogonal(4, 7));
        assert!((q - random_orthogonal(4, 8)).amax() > 0.1);
    }
}
