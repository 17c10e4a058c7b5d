//! Draws as the program stores them.

use std::path::PathBuf;

use langevin_run::store::{self, Dim, Draws, Existing, Labels, Layout, Param, Stat};
use numpy::{
    PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::errors::refused_or_io;

/// (name, length, labels if they are not 0, 1, …) of a dimension.
type DimRow = (String, usize, Option<Vec<String>>);
/// (name, dimensions) of a parameter.
type ParameterRow = (String, Vec<DimRow>);

/// Draws with what is known about each of them.
#[pyclass(frozen, module = "langevin._core")]
pub struct Stored {
    pub draws: Draws,
}

/// A number for each draw.
#[derive(FromPyObject)]
enum StatArray<'py> {
    Real(PyReadonlyArray2<'py, f64>),
    Whole(PyReadonlyArray2<'py, i64>),
}

#[pymethods]
impl Stored {
    /// Arrays of shape (chain, draw, …); `attributes` is a JSON object.
    #[new]
    fn new(
        parameters: Vec<ParameterRow>,
        draws: PyReadonlyArray3<'_, f64>,
        diverging: PyReadonlyArray2<'_, bool>,
        stats: Vec<(String, StatArray<'_>)>,
        attributes: &str,
    ) -> PyResult<Self> {
        let shape = draws.shape();
        let values = draws.as_array().iter().copied().collect();
        let layout = layout(parameters)?;
        let mut made = Draws::new(layout, shape[0], shape[1], values)
            .and_then(|d| d.with_diverging(diverging.as_array().iter().copied().collect()))
            .map_err(refused_or_io)?;
        for (name, stat) in stats {
            let stat = match stat {
                StatArray::Real(x) => Stat::Real(x.as_array().iter().copied().collect()),
                StatArray::Whole(x) => Stat::Whole(x.as_array().iter().copied().collect()),
            };
            made = made.with_stat(name, stat).map_err(refused_or_io)?;
        }
        let attributes: Map<String, Value> = serde_json::from_str(attributes)
            .map_err(|e| PyValueError::new_err(format!("attributes: {e}")))?;
        for (name, value) in attributes {
            made = made.with_attribute(&name, value).map_err(refused_or_io)?;
        }
        Ok(Stored { draws: made })
    }

    /// Reads a store.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let draws = py.detach(|| store::read(path)).map_err(refused_or_io)?;
        Ok(Stored { draws })
    }

    /// Writes a store, in place of another one if `replace`.
    fn write(&self, py: Python<'_>, path: PathBuf, replace: bool) -> PyResult<()> {
        let existing = match replace {
            true => Existing::Replace,
            false => Existing::Refuse,
        };
        py.detach(|| store::write(path, &self.draws, existing))
            .map_err(refused_or_io)
    }

    #[getter]
    fn parameters(&self) -> Vec<ParameterRow> {
        let dim = |dim: &Dim| {
            let labels = match dim.labels() {
                Labels::Index(_) => None,
                Labels::Names(names) => Some(names.clone()),
            };
            (dim.name().to_string(), dim.len(), labels)
        };
        let parameters = self.draws.layout().params().iter();
        parameters
            .map(|p| (p.name().to_string(), p.dims().iter().map(dim).collect()))
            .collect()
    }

    /// Draws of shape (chain, draw, coordinate).
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let dim = self.draws.layout().dim();
        let shape = [self.draws.n_chains(), self.draws.n_draws(), dim];
        PyArray1::from_slice(py, self.draws.values()).reshape(shape)
    }

    /// Marks of escape, if the store has them.
    fn diverging<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<bool>>>> {
        let marks = self.draws.diverging();
        marks
            .map(|marks| PyArray1::from_slice(py, marks).reshape(self.shape()))
            .transpose()
    }

    /// The numbers per draw by name.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let stats = self.draws.stats().iter();
        stats
            .map(|(name, stat)| {
                let array = match stat {
                    Stat::Real(x) => PyArray1::from_slice(py, x)
                        .reshape(self.shape())?
                        .into_any(),
                    Stat::Whole(x) => PyArray1::from_slice(py, x)
                        .reshape(self.shape())?
                        .into_any(),
                };
                Ok((name.clone(), array))
            })
            .collect()
    }

    /// The attributes as JSON.
    #[getter]
    fn attributes(&self) -> String {
        Value::Object(self.draws.attributes().clone()).to_string()
    }
}

impl Stored {
    fn shape(&self) -> [usize; 2] {
        [self.draws.n_chains(), self.draws.n_draws()]
    }
}

fn layout(parameters: Vec<ParameterRow>) -> PyResult<Layout> {
    let dim = |(name, len, labels): DimRow| match labels {
        Some(labels) => Dim::named(name, labels),
        None => Dim::indexed(name, len),
    };
    let parameters = parameters.into_iter();
    let parameters =
        parameters.map(|(name, dims)| Param::array(name, dims.into_iter().map(dim).collect()));
    Layout::new(parameters.collect()).map_err(refused_or_io)
}
