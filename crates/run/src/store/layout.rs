//! How a flat vector of parameters splits into named scalars and arrays.

use super::{CHAIN, DRAW, Result, StoreError};

/// The labels along a dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// The numbers 0, 1, …, n − 1.
    Index(usize),
    /// One text for each position.
    Names(Vec<String>),
}

/// A named dimension of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dim {
    name: String,
    labels: Labels,
}

impl Dim {
    /// A dimension of this length, labelled 0, 1, ….
    pub fn indexed(name: impl Into<String>, len: usize) -> Self {
        Self {
            name: name.into(),
            labels: Labels::Index(len),
        }
    }

    /// A dimension with these labels.
    pub fn named<S: Into<String>>(
        name: impl Into<String>,
        labels: impl IntoIterator<Item = S>,
    ) -> Self {
        Self {
            name: name.into(),
            labels: Labels::Names(labels.into_iter().map(Into::into).collect()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Number of positions.
    #[expect(clippy::len_without_is_empty, reason = "a layout refuses empty ones")]
    pub fn len(&self) -> usize {
        match &self.labels {
            Labels::Index(n) => *n,
            Labels::Names(names) => names.len(),
        }
    }

    fn label(&self, i: usize) -> String {
        match &self.labels {
            Labels::Index(_) => i.to_string(),
            Labels::Names(names) => names[i].clone(),
        }
    }
}

/// A named parameter: a scalar, or an array stored row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    name: String,
    dims: Vec<Dim>,
}

impl Param {
    /// A single number.
    pub fn scalar(name: impl Into<String>) -> Self {
        Self::array(name, Vec::new())
    }

    /// An array with these dimensions.
    pub fn array(name: impl Into<String>, dims: Vec<Dim>) -> Self {
        let name = name.into();
        Self { name, dims }
    }

    /// An array of this shape, its dimensions named as ArviZ does: `w_dim_0`, `w_dim_1`, ….
    pub fn of_shape(name: impl Into<String>, shape: &[usize]) -> Self {
        let name = name.into();
        let dims = shape.iter().enumerate();
        let dims = dims.map(|(i, n)| Dim::indexed(format!("{name}_dim_{i}"), *n));
        let dims = dims.collect();
        Self { name, dims }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its dimensions; none for a scalar.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// Number of numbers in it.
    #[expect(clippy::len_without_is_empty, reason = "a layout refuses empty ones")]
    pub fn len(&self) -> usize {
        self.dims.iter().map(Dim::len).product()
    }

    /// Name of one of its numbers, by flat position: `mu`, `w[age]`, `W[0, 2]`.
    pub(super) fn label(&self, flat: usize) -> String {
        let mut rest = flat;
        let mut index: Vec<String> = Vec::with_capacity(self.dims.len());
        for dim in self.dims.iter().rev() {
            index.push(dim.label(rest % dim.len()));
            rest /= dim.len();
        }
        if index.is_empty() {
            return self.name.clone();
        }
        index.reverse();
        format!("{}[{}]", self.name, index.join(", "))
    }
}

/// The parameters of a model, in the order in which they lie in its flat vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    params: Vec<Param>,
}

impl Layout {
    /// Checks that the parameters can stand side by side in one group of a store.
    ///
    /// ```
    /// use langevin_run::store::{Layout, Param};
    /// let layout = Layout::new(vec![Param::scalar("mu"), Param::of_shape("W", &[2, 2])])?;
    /// assert_eq!(layout.dim(), 5);
    /// assert_eq!(layout.labels(), ["mu", "W[0, 0]", "W[0, 1]", "W[1, 0]", "W[1, 1]"]);
    /// assert!(Layout::new(vec![Param::scalar("chain")]).is_err());
    /// # Ok::<(), langevin_run::store::StoreError>(())
    /// ```
    pub fn new(params: Vec<Param>) -> Result<Self> {
        if params.is_empty() {
            let what = "parameter".into();
            return Err(StoreError::None { what });
        }
        for (i, param) in params.iter().enumerate() {
            check_name("parameter", &param.name)?;
            if params[..i].iter().any(|p| p.name == param.name) {
                return refuse("parameter", &param.name, "another parameter has it");
            }
            check_dims(param, &params)?;
        }
        Ok(Self { params })
    }

    /// The parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Length of the flat vector.
    pub fn dim(&self) -> usize {
        self.params.iter().map(Param::len).sum()
    }

    /// Names of all entries of the flat vector.
    pub fn labels(&self) -> Vec<String> {
        let label = |param: &Param| (0..param.len()).map(|i| param.label(i)).collect();
        self.params.iter().flat_map::<Vec<_>, _>(label).collect()
    }

    /// Each parameter with the position of its first number in the flat vector.
    pub fn offsets(&self) -> impl Iterator<Item = (usize, &Param)> {
        self.params.iter().scan(0, |next, param| {
            let offset = *next;
            *next += param.len();
            Some((offset, param))
        })
    }

    /// Every dimension once, in order of first use.
    pub(super) fn dims(&self) -> Vec<&Dim> {
        let mut dims: Vec<&Dim> = Vec::new();
        for dim in self.params.iter().flat_map(|p| &p.dims) {
            if !dims.iter().any(|d| d.name == dim.name) {
                dims.push(dim);
            }
        }
        dims
    }
}

/// Checks the dimensions of a parameter, on their own and against those of all parameters.
fn check_dims(param: &Param, all: &[Param]) -> Result<()> {
    for (i, dim) in param.dims.iter().enumerate() {
        check_name("dimension", &dim.name)?;
        if dim.len() == 0 {
            let what = format!("entry along dimension \"{}\"", dim.name);
            return Err(StoreError::None { what });
        }
        if param.dims[..i].iter().any(|d| d.name == dim.name) {
            return refuse("dimension", &dim.name, "its parameter has it twice");
        }
        // A coordinate array has the name of its dimension and would overwrite the parameter.
        if all.iter().any(|p| p.name == dim.name) {
            return refuse("dimension", &dim.name, "a parameter has it");
        }
        let mut others = all.iter().flat_map(|p| &p.dims);
        if others.any(|d| d.name == dim.name && d.labels != dim.labels) {
            return Err(StoreError::DimConflict {
                dim: dim.name.clone(),
                param: param.name.clone(),
            });
        }
    }
    Ok(())
}

/// The rules of Zarr for the name of a node, and the two names that every array uses.
pub(super) fn check_name(what: &'static str, name: &str) -> Result<()> {
    if name.is_empty() {
        return refuse(what, name, "it is empty");
    }
    if name.contains(['/', '\\', '\0']) {
        return refuse(what, name, "it contains a slash, backslash or zero byte");
    }
    if name.chars().all(|c| c == '.') {
        return refuse(what, name, "it consists of dots");
    }
    if name.starts_with("__") {
        return refuse(what, name, "names that begin with \"__\" belong to Zarr");
    }
    if name == "zarr.json" {
        return refuse(what, name, "Zarr keeps its metadata under it");
    }
    if [CHAIN, DRAW].contains(&name) {
        return refuse(
            what,
            name,
            "every array of draws has a dimension of this name",
        );
    }
    Ok(())
}

pub(super) fn refuse<T>(what: &'static str, name: &str, why: &'static str) -> Result<T> {
    let name = name.to_string();
    Err(StoreError::BadName { what, name, why })
}
