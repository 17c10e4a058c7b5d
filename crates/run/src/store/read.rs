//! Reads draws back from a Zarr store, ours or one that xarray or ArviZ has written.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use zarrs::array::{Array, ArrayMetadata, ArraySubset, DataType, ElementOwned, data_type};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::{Group, GroupCreateError};
use zarrs::metadata::v2::DataTypeMetadataV2;
use zarrs::metadata::{FillValueMetadata, NodeMetadata};
use zarrs::plugin::ExtensionName;

use super::place::is_zarr;
use super::{
    CHAIN, DIVERGING, DRAW, Dim, Draws, Labels, Layout, PARAMETERS, POSTERIOR, Param, Result,
    SAMPLE_STATS, Stat, StoreError,
};

/// Reads all draws of a store.
///
/// Parameters are the arrays of the group `posterior` whose dimensions begin with (chain, draw);
/// they must hold `f64` numbers and agree in the number of chains and draws. Their order is the
/// one in which [`write()`](super::write()) had them, else that of the alphabet. Of the group
/// `sample_stats`, which may be missing, `diverging` and the `f64` and `i64` arrays of dimensions
/// (chain, draw) are read. The attributes are those of the store and of its posterior.
///
/// NaN is a legal draw here; ask [`Draws::require_finite`] where it is not.
pub fn read(path: impl AsRef<Path>) -> Result<Draws> {
    Reader::open(path.as_ref())?.read()
}

/// An array that was found in a group but not opened: its name, dimensions and metadata.
pub(super) struct Found {
    name: String,
    dims: Vec<String>,
    metadata: ArrayMetadata,
}

impl Found {
    fn is_per_draw(&self) -> bool {
        self.dims.iter().take(2).eq([CHAIN, DRAW])
    }
}

/// A parameter, opened.
pub(super) struct Variable<'f> {
    found: &'f Found,
    array: Array<FilesystemStore>,
    /// Chains, draws, and the lengths of its own dimensions.
    pub shape: Vec<usize>,
    pub param: Param,
}

pub(super) struct Reader<'a> {
    path: &'a Path,
    store: Arc<FilesystemStore>,
    root: Group<FilesystemStore>,
}

impl<'a> Reader<'a> {
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        // To tell a missing folder from one that holds something else.
        std::fs::read_dir(path).map_err(StoreError::io("open the store", path))?;
        let not_a_store = || StoreError::NotAStore { path: path.into() };
        if !is_zarr(path) {
            return Err(not_a_store());
        }
        let store = FilesystemStore::new(path).map_err(|e| StoreError::zarr(path, "/", e))?;
        let store = Arc::new(store.sorted());
        let root = match Group::open(store.clone(), "/") {
            Err(GroupCreateError::MissingMetadata) => return Err(not_a_store()),
            other => other.map_err(|e| StoreError::zarr(path, "/", e))?,
        };
        Ok(Self { path, store, root })
    }

    fn read(&self) -> Result<Draws> {
        let posterior = self.posterior()?;
        let found = self.arrays(&posterior)?;
        let variables = self.variables(&posterior, &found)?;
        let columns: Result<Vec<Vec<f64>>> = variables
            .iter()
            .map(|variable| self.draws(variable, &variable.array.subset_all()))
            .collect();
        let size = variables
            .first()
            .map_or([0, 0], |v| [v.shape[0], v.shape[1]]);
        let [n_chains, n_draws] = size;
        let values = interleave(&columns?, n_chains * n_draws);
        let layout = Layout::new(variables.into_iter().map(|v| v.param).collect())?;
        let draws = Draws::new(layout, n_chains, n_draws, values)?;
        let mut draws = self.with_stats(draws)?;
        draws.set_attributes(self.attributes(&posterior));
        Ok(draws)
    }

    pub(super) fn posterior(&self) -> Result<Group<FilesystemStore>> {
        self.group(POSTERIOR)?.ok_or_else(|| self.no_posterior())
    }

    /// The parameters of a posterior in their order.
    pub(super) fn variables<'f>(
        &self,
        posterior: &Group<FilesystemStore>,
        found: &'f [Found],
    ) -> Result<Vec<Variable<'f>>> {
        let mut size = None;
        let mut variables = vec![];
        for own in self.per_draw(posterior, found)? {
            let array = self.array(POSTERIOR, own)?;
            let shape = self.shape(POSTERIOR, own, &array, &mut size)?;
            let dims = own.dims[2..].iter().zip(&shape[2..]);
            let dims = dims.map(|(dim, n)| self.dim(found, dim, *n)).collect();
            let param = Param::array(own.name.clone(), dims);
            variables.push(Variable {
                found: own,
                array,
                shape,
                param,
            });
        }
        Ok(variables)
    }

    /// Some draws of a parameter.
    pub(super) fn draws(&self, variable: &Variable<'_>, subset: &ArraySubset) -> Result<Vec<f64>> {
        let (real, name) = (data_type::float64(), "float64");
        let Variable { found, array, .. } = variable;
        self.values(POSTERIOR, found, array, (&real, name), subset)
    }

    fn group(&self, name: &str) -> Result<Option<Group<FilesystemStore>>> {
        match Group::open(self.store.clone(), &format!("/{name}")) {
            Err(GroupCreateError::MissingMetadata) => Ok(None),
            other => Ok(Some(other.map_err(|e| self.zarr(name, e))?)),
        }
    }

    fn no_posterior(&self) -> StoreError {
        let groups = self.root.child_group_paths().unwrap_or_default();
        let groups = groups.iter().map(|p| p.as_str().trim_start_matches('/'));
        StoreError::MissingGroup {
            path: self.path.into(),
            group: POSTERIOR,
            found: groups.map(String::from).collect(),
        }
    }

    /// The arrays of a group. None is opened, since one that we do not need may be of a type or
    /// have a codec that we do not know.
    pub(super) fn arrays(&self, group: &Group<FilesystemStore>) -> Result<Vec<Found>> {
        let children = group
            .children(false)
            .map_err(|e| self.zarr(group.path().as_str(), e))?;
        let found = children.iter().filter_map(|node| match node.metadata() {
            NodeMetadata::Group(_) => None,
            NodeMetadata::Array(metadata) => Some(Found {
                name: node.name().as_str().to_string(),
                dims: dims(metadata),
                metadata: with_fill_value(metadata.clone()),
            }),
        });
        let mut found: Vec<Found> = found.collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// The arrays that are parameters, in order.
    fn per_draw<'f>(
        &self,
        posterior: &Group<FilesystemStore>,
        found: &'f [Found],
    ) -> Result<Vec<&'f Found>> {
        for array in found {
            let has = |dim: &str| array.dims.iter().any(|d| d == dim);
            let is_coordinate = array.dims == [array.name.as_str()];
            if (has(CHAIN) || has(DRAW)) && !is_coordinate && !array.is_per_draw() {
                return Err(StoreError::WrongDims {
                    path: self.path.into(),
                    variable: format!("{POSTERIOR}/{}", array.name),
                    found: format!("({})", array.dims.join(", ")),
                    expected: "(chain, draw, …)".into(),
                });
            }
        }
        let mut variables: Vec<&Found> = found.iter().filter(|f| f.is_per_draw()).collect();
        if variables.is_empty() {
            let path = self.path.into();
            return Err(StoreError::NoVariables { path });
        }
        if let Some(order) = posterior
            .attributes()
            .get(PARAMETERS)
            .and_then(Value::as_array)
        {
            // Arrays that were added later have no place in the list and go to the end.
            let place = |f: &&Found| order.iter().position(|name| *name == *f.name);
            variables.sort_by_key(|f| place(f).unwrap_or(usize::MAX));
        }
        Ok(variables)
    }

    fn array(&self, group: &str, found: &Found) -> Result<Array<FilesystemStore>> {
        let node = format!("/{group}/{}", found.name);
        Array::new_with_metadata(self.store.clone(), &node, found.metadata.clone())
            .map_err(|e| self.zarr(&node, e))
    }

    fn values<T: ElementOwned>(
        &self,
        group: &str,
        found: &Found,
        array: &Array<FilesystemStore>,
        (data_type, expected): (&DataType, &'static str),
        subset: &ArraySubset,
    ) -> Result<Vec<T>> {
        let node = format!("{group}/{}", found.name);
        if array.data_type() != data_type {
            return Err(StoreError::WrongType {
                path: self.path.into(),
                variable: node,
                found: type_name(array.data_type()),
                expected,
            });
        }
        array
            .retrieve_array_subset(subset)
            .map_err(|e| self.zarr(&node, e))
    }

    /// The shape of an array of draws. The first one decides the number of chains and draws
    /// (`size`), which all others must have.
    fn shape(
        &self,
        group: &str,
        found: &Found,
        array: &Array<FilesystemStore>,
        size: &mut Option<[usize; 2]>,
    ) -> Result<Vec<usize>> {
        let shape: Vec<usize> = array.shape().iter().map(|n| *n as usize).collect();
        let first = shape.first_chunk().copied();
        *size = size.or(first);
        if shape.len() == found.dims.len() && first == *size {
            return Ok(shape);
        }
        let [chains, draws] = size.unwrap_or_default();
        Err(StoreError::WrongDims {
            path: self.path.into(),
            variable: format!("{group}/{}", found.name),
            found: format!("({}) of shape {shape:?}", found.dims.join(", ")),
            expected: format!("{chains} chains and {draws} draws"),
        })
    }

    /// A dimension with the labels of its coordinate array; 0, 1, … where there is none or where
    /// it is of a kind that cannot be a label.
    fn dim(&self, found: &[Found], name: &str, len: usize) -> Dim {
        let coordinate = found.iter().find(|f| f.name == name && f.dims == [name]);
        let labels = coordinate
            .and_then(|f| self.array(POSTERIOR, f).ok())
            .and_then(|array| labels(&array));
        match labels {
            Some(Labels::Names(names)) if names.len() == len => Dim::named(name, names),
            _ => Dim::indexed(name, len),
        }
    }

    fn with_stats(&self, mut draws: Draws) -> Result<Draws> {
        let Some(group) = self.group(SAMPLE_STATS)? else {
            return Ok(draws);
        };
        let mut size = Some([draws.n_chains(), draws.n_draws()]);
        for found in self.arrays(&group)?.iter().filter(|f| f.is_per_draw()) {
            if found.name != DIVERGING && found.dims.len() > 2 {
                continue;
            }
            let Ok(array) = self.array(SAMPLE_STATS, found) else {
                continue;
            };
            self.shape(SAMPLE_STATS, found, &array, &mut size)?;
            let (real, whole) = (data_type::float64(), data_type::int64());
            let name = found.name.clone();
            if name == DIVERGING && is_bool_as_int8(&array) {
                let marks: Vec<i8> = self.stat(found, &array, (&data_type::int8(), "bool"))?;
                draws = draws.with_diverging(marks.iter().map(|m| *m != 0).collect())?;
            } else if name == DIVERGING {
                let marks = self.stat(found, &array, (&data_type::bool(), "bool"))?;
                draws = draws.with_diverging(marks)?;
            } else if *array.data_type() == real {
                let x = self.stat(found, &array, (&real, "float64"))?;
                draws = draws.with_stat(name, Stat::Real(x))?;
            } else if *array.data_type() == whole {
                let x = self.stat(found, &array, (&whole, "int64"))?;
                draws = draws.with_stat(name, Stat::Whole(x))?;
            }
        }
        Ok(draws)
    }

    /// All numbers of a statistic.
    fn stat<T: ElementOwned>(
        &self,
        found: &Found,
        array: &Array<FilesystemStore>,
        wanted: (&DataType, &'static str),
    ) -> Result<Vec<T>> {
        self.values(SAMPLE_STATS, found, array, wanted, &array.subset_all())
    }

    fn attributes(&self, posterior: &Group<FilesystemStore>) -> Map<String, Value> {
        let mut attributes = self.root.attributes().clone();
        attributes.extend(posterior.attributes().clone());
        attributes.shift_remove(PARAMETERS);
        attributes
    }

    fn zarr(&self, node: &str, error: impl ToString) -> StoreError {
        StoreError::zarr(self.path, node, error)
    }
}

/// The names of an array's dimensions: a field of the metadata in format 3, in format 2 an
/// attribute by the custom of xarray.
fn dims(metadata: &ArrayMetadata) -> Vec<String> {
    match metadata {
        ArrayMetadata::V3(metadata) => {
            let names = metadata.dimension_names.iter().flatten();
            names.map(|n| n.clone().unwrap_or_default()).collect()
        }
        ArrayMetadata::V2(metadata) => {
            let names = metadata.attributes.get("_ARRAY_DIMENSIONS");
            let names = names.and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(String::from).collect()
        }
    }
}

/// Texts of fixed length in format 2 have no fill value as a rule, but zarrs wants one.
fn with_fill_value(mut metadata: ArrayMetadata) -> ArrayMetadata {
    if let ArrayMetadata::V2(metadata) = &mut metadata
        && metadata.fill_value == FillValueMetadata::Null
        && let DataTypeMetadataV2::Simple(name) = &metadata.dtype
        && name.trim_start_matches(['<', '>']).starts_with('U')
    {
        metadata.fill_value = FillValueMetadata::String(String::new());
    }
    metadata
}

/// xarray before 2025 writes truth values as whole numbers and says so in an attribute.
fn is_bool_as_int8(array: &Array<FilesystemStore>) -> bool {
    let note = array.attributes().get("dtype");
    *array.data_type() == data_type::int8() && note.is_some_and(|n| n == "bool")
}

/// The labels in a coordinate array, if it holds texts or whole numbers.
fn labels(array: &Array<FilesystemStore>) -> Option<Labels> {
    let all = array.subset_all();
    if let Ok(names) = array.retrieve_array_subset::<Vec<String>>(&all) {
        return Some(Labels::Names(names));
    }
    if let Ok(names) = array.retrieve_array_subset::<Vec<Vec<char>>>(&all) {
        let names = names.into_iter().map(String::from_iter);
        return Some(Labels::Names(names.collect()));
    }
    let numbers = array.retrieve_array_subset::<Vec<i64>>(&all).ok()?;
    if numbers.iter().copied().eq(0..numbers.len() as i64) {
        return Some(Labels::Index(numbers.len()));
    }
    let names = numbers.iter().map(ToString::to_string);
    Some(Labels::Names(names.collect()))
}

fn type_name(data_type: &DataType) -> String {
    let name = data_type.name_v3().or_else(|| data_type.name_v2());
    name.map_or_else(|| data_type.to_string(), Into::into)
}

/// One flat vector per draw from one array per parameter.
fn interleave(columns: &[Vec<f64>], n: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(columns.iter().map(Vec::len).sum());
    for i in 0..n {
        for column in columns {
            let len = column.len() / n;
            values.extend_from_slice(&column[i * len..(i + 1) * len]);
        }
    }
    values
}
