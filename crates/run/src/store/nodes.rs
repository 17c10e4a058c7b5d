//! The nodes of a store that is being written: arrays, their indices, groups and their metadata.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use serde_json::{Map, Value, json};
use zarrs::filesystem::FilesystemStore;

use super::array::{Entry, PerDraw, other, write_labels};
use super::write::{ChainDraws, Shape};
use super::{CHAIN, DIVERGING, DRAW, Labels, Layout, PARAMETERS, POSTERIOR, SAMPLE_STATS, Stat};

/// The arrays of a store.
pub struct Arrays {
    folder: PathBuf,
    store: Arc<FilesystemStore>,
    /// One for each parameter.
    posterior: Vec<PerDraw<f64>>,
    diverging: Option<PerDraw<bool>>,
    stats: Vec<StatArray>,
}

enum StatArray {
    Real(PerDraw<f64>),
    Whole(PerDraw<i64>),
}

impl Arrays {
    /// Begins them in a folder, with chunks of so many chains and draws.
    pub fn new(folder: PathBuf, shape: &Shape, chunk: (usize, usize)) -> io::Result<Self> {
        let store = Arc::new(FilesystemStore::new(&folder).map_err(other)?);
        let mut posterior = vec![];
        for param in shape.layout.params() {
            let mut dims = vec![CHAIN, DRAW];
            dims.extend(param.dims().iter().map(|d| d.name()));
            let mut sizes = vec![shape.n_chains, shape.n_draws];
            sizes.extend(param.dims().iter().map(|d| d.len()));
            let node = node(POSTERIOR, param.name());
            posterior.push(PerDraw::new(&store, &node, &dims, &sizes, chunk)?);
        }
        let sizes = [shape.n_chains, shape.n_draws];
        let dims = [CHAIN, DRAW];
        let mut stats = vec![];
        for (name, kind) in &shape.stats {
            let node = node(SAMPLE_STATS, name);
            stats.push(match kind {
                Stat::Real(_) => {
                    StatArray::Real(PerDraw::new(&store, &node, &dims, &sizes, chunk)?)
                }
                Stat::Whole(_) => {
                    StatArray::Whole(PerDraw::new(&store, &node, &dims, &sizes, chunk)?)
                }
            });
        }
        let diverging = match shape.diverging {
            true => {
                let node = node(SAMPLE_STATS, DIVERGING);
                Some(PerDraw::new(&store, &node, &dims, &sizes, chunk)?)
            }
            false => None,
        };
        Ok(Arrays {
            folder,
            store,
            posterior,
            diverging,
            stats,
        })
    }

    /// Stores the first `n` draws of chains as one chunk of every array.
    pub fn store(
        &self,
        place: [usize; 2],
        layout: &Layout,
        chains: &[ChainDraws],
        n: usize,
    ) -> io::Result<()> {
        let dim = layout.dim();
        for (array, (offset, param)) in self.posterior.iter().zip(layout.offsets()) {
            array.store(place, chains.len(), n, |chain, draw| {
                let start = draw * dim + offset;
                &chains[chain].values[start..start + param.len()]
            })?;
        }
        if let Some(array) = &self.diverging {
            let at = |chain: usize, draw| std::slice::from_ref(&chains[chain].diverging[draw]);
            array.store(place, chains.len(), n, at)?;
        }
        for (i, array) in self.stats.iter().enumerate() {
            match array {
                StatArray::Real(array) => array.store(place, chains.len(), n, |chain, draw| {
                    chains[chain].stats[i].real(draw)
                })?,
                StatArray::Whole(array) => array.store(place, chains.len(), n, |chain, draw| {
                    chains[chain].stats[i].whole(draw)
                })?,
            }
        }
        Ok(())
    }

    /// Labels, and the metadata of groups.
    pub fn finish(&self, shape: &Shape, attributes: Map<String, Value>) -> io::Result<()> {
        let attributes = with_library(attributes);
        let mut root = Map::new();
        let mut posterior = Group::new(self, POSTERIOR);
        for (array, param) in self.posterior.iter().zip(shape.layout.params()) {
            posterior.insert(param.name(), array.metadata()?);
        }
        posterior.indices(shape)?;
        for dim in shape.layout.dims() {
            match dim.labels() {
                Labels::Index(n) => posterior.index(dim.name(), *n)?,
                Labels::Names(names) => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    posterior.labels(dim.name(), &names)?;
                }
            }
        }
        let names = shape.layout.params().iter().map(|p| p.name());
        let mut with_order = attributes.clone();
        with_order.insert(PARAMETERS.into(), names.collect());
        posterior.finish(&with_order, &mut root)?;
        if shape.diverging || !shape.stats.is_empty() {
            let mut group = Group::new(self, SAMPLE_STATS);
            if let Some(array) = &self.diverging {
                group.insert(DIVERGING, array.metadata()?);
            }
            for (array, (name, _)) in self.stats.iter().zip(&shape.stats) {
                group.insert(
                    name,
                    match array {
                        StatArray::Real(array) => array.metadata()?,
                        StatArray::Whole(array) => array.metadata()?,
                    },
                );
            }
            group.indices(shape)?;
            group.finish(&attributes, &mut root)?;
        }
        write_json(&self.folder, &group_metadata(&attributes, &root))
    }
}

fn node(group: &str, name: &str) -> String {
    format!("/{group}/{name}")
}

/// A group whose arrays are written, and the metadata of the nodes in it by name.
struct Group<'a> {
    arrays: &'a Arrays,
    name: &'static str,
    nodes: Map<String, Value>,
}

impl<'a> Group<'a> {
    fn new(arrays: &'a Arrays, name: &'static str) -> Self {
        let nodes = Map::new();
        Group {
            arrays,
            name,
            nodes,
        }
    }

    fn insert(&mut self, name: &str, metadata: Value) {
        self.nodes.insert(name.into(), metadata);
    }

    /// The labels of the two dimensions that all arrays have.
    fn indices(&mut self, shape: &Shape) -> io::Result<()> {
        self.index(CHAIN, shape.n_chains)?;
        self.index(DRAW, shape.n_draws)
    }

    fn index(&mut self, dim: &str, n: usize) -> io::Result<()> {
        let numbers: Vec<i64> = (0..n as i64).collect();
        self.labels(dim, &numbers)
    }

    fn labels<T: Entry>(&mut self, dim: &str, labels: &[T]) -> io::Result<()> {
        let node = node(self.name, dim);
        let metadata = write_labels(&self.arrays.store, &node, dim, labels)?;
        self.insert(dim, metadata);
        Ok(())
    }

    /// Writes the metadata of the group and repeats it, and that of its arrays, in the root.
    fn finish(
        self,
        attributes: &Map<String, Value>,
        root: &mut Map<String, Value>,
    ) -> io::Result<()> {
        root.insert(self.name.into(), group_metadata(attributes, &Map::new()));
        for (array, metadata) in &self.nodes {
            root.insert(format!("{}/{array}", self.name), metadata.clone());
        }
        let folder = self.arrays.folder.join(self.name);
        write_json(&folder, &group_metadata(attributes, &self.nodes))
    }
}

/// The metadata of a group. That of the nodes below it is repeated inside ("consolidated"), so
/// that one file tells all there is to know, and in the order in which it was written.
fn group_metadata(attributes: &Map<String, Value>, nodes: &Map<String, Value>) -> Value {
    json!({
        "zarr_format": 3,
        "node_type": "group",
        "attributes": attributes,
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": false,
            "metadata": nodes,
        },
    })
}

fn write_json(folder: &Path, metadata: &Value) -> io::Result<()> {
    let path = folder.join("zarr.json");
    fs::write(&path, serde_json::to_vec_pretty(metadata)?)?;
    fs::File::open(&path)?.sync_all()
}

/// The settings of the run and, as ArviZ asks for, what wrote them and when.
fn with_library(mut attributes: Map<String, Value>) -> Map<String, Value> {
    let now = humantime::format_rfc3339_seconds(SystemTime::now());
    attributes.insert("inference_library".into(), "langevin".into());
    let version = env!("CARGO_PKG_VERSION");
    attributes.insert("inference_library_version".into(), version.into());
    attributes.insert("created_at".into(), now.to_string().into());
    attributes
}
