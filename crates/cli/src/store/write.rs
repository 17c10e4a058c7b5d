//! Writes draws as a Zarr store.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use serde_json::{Map, Value, json};
use zarrs::filesystem::FilesystemStore;

use super::array::{Entry, other, write_labels, write_per_draw};
use super::place::{Existing, place};
use super::{
    CHAIN, DIVERGING, DRAW, Draws, Labels, PARAMETERS, POSTERIOR, Result, SAMPLE_STATS, Stat,
    StoreError,
};

/// Writes draws to a new store at `path`, creating the folders above it where they are missing.
///
/// The store appears whole or not at all: it is written to a hidden folder beside `path`, brought
/// to the disk and then renamed. On Linux, replacing a store is a single step, too.
pub fn write(path: impl AsRef<Path>, draws: &Draws, existing: Existing) -> Result<()> {
    let path = path.as_ref();
    place(path, existing, |folder| {
        write_groups(folder, draws).map_err(StoreError::io("write", path))
    })
}

fn write_groups(folder: &Path, draws: &Draws) -> io::Result<()> {
    let attributes = attributes(draws);
    let mut root = GroupWriter::new(folder, "")?;

    let mut posterior = GroupWriter::new(folder, POSTERIOR)?;
    posterior.parameters(draws)?;
    let names = draws.layout().params().iter().map(|p| p.name());
    let mut with_order = attributes.clone();
    with_order.insert(PARAMETERS.into(), names.collect());
    posterior.finish(&with_order, &mut root)?;

    if draws.diverging().is_some() || !draws.stats().is_empty() {
        let mut stats = GroupWriter::new(folder, SAMPLE_STATS)?;
        stats.stats(draws)?;
        stats.finish(&attributes, &mut root)?;
    }
    write_json(folder, &group_metadata(&attributes, &root.nodes))
}

/// A group that is being written, and the metadata of the nodes in it by name.
struct GroupWriter<'a> {
    folder: &'a Path,
    name: &'static str,
    store: Arc<FilesystemStore>,
    nodes: Map<String, Value>,
}

impl<'a> GroupWriter<'a> {
    fn new(folder: &'a Path, name: &'static str) -> io::Result<Self> {
        Ok(Self {
            folder,
            name,
            store: Arc::new(FilesystemStore::new(folder).map_err(other)?),
            nodes: Map::new(),
        })
    }

    fn parameters(&mut self, draws: &Draws) -> io::Result<()> {
        let (dim, values) = (draws.layout().dim(), draws.values());
        for (offset, param) in draws.layout().offsets() {
            let mut dims = vec![CHAIN, DRAW];
            dims.extend(param.dims().iter().map(|d| d.name()));
            let mut shape = vec![draws.n_chains(), draws.n_draws()];
            shape.extend(param.dims().iter().map(|d| d.len()));
            let at = |chain, draw| {
                let start = (chain * draws.n_draws() + draw) * dim + offset;
                &values[start..start + param.len()]
            };
            let node = self.node(param.name());
            let metadata = write_per_draw(&self.store, &node, &dims, &shape, at)?;
            self.nodes.insert(param.name().into(), metadata);
        }
        self.indices(draws)?;
        for dim in draws.layout().dims() {
            match dim.labels() {
                Labels::Index(n) => self.index(dim.name(), *n)?,
                Labels::Names(names) => {
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    self.labels(dim.name(), &names)?;
                }
            }
        }
        Ok(())
    }

    fn stats(&mut self, draws: &Draws) -> io::Result<()> {
        if let Some(diverging) = draws.diverging() {
            self.stat(draws, DIVERGING, diverging)?;
        }
        for (name, stat) in draws.stats() {
            match stat {
                Stat::Real(values) => self.stat(draws, name, values)?,
                Stat::Whole(values) => self.stat(draws, name, values)?,
            }
        }
        self.indices(draws)
    }

    fn stat<T: Entry>(&mut self, draws: &Draws, name: &str, values: &[T]) -> io::Result<()> {
        let shape = [draws.n_chains(), draws.n_draws()];
        let at = |chain, draw| std::slice::from_ref(&values[chain * draws.n_draws() + draw]);
        let node = self.node(name);
        let metadata = write_per_draw(&self.store, &node, &[CHAIN, DRAW], &shape, at)?;
        self.nodes.insert(name.into(), metadata);
        Ok(())
    }

    /// The labels of the two dimensions that all arrays have.
    fn indices(&mut self, draws: &Draws) -> io::Result<()> {
        self.index(CHAIN, draws.n_chains())?;
        self.index(DRAW, draws.n_draws())
    }

    fn index(&mut self, dim: &str, n: usize) -> io::Result<()> {
        let numbers: Vec<i64> = (0..n as i64).collect();
        self.labels(dim, &numbers)
    }

    fn labels<T: Entry>(&mut self, dim: &str, labels: &[T]) -> io::Result<()> {
        let metadata = write_labels(&self.store, &self.node(dim), dim, labels)?;
        self.nodes.insert(dim.into(), metadata);
        Ok(())
    }

    fn node(&self, name: &str) -> String {
        format!("/{}/{name}", self.name)
    }

    /// Writes the metadata of the group and repeats it, and that of its arrays, in the root.
    fn finish(self, attributes: &Map<String, Value>, root: &mut Self) -> io::Result<()> {
        let group = group_metadata(attributes, &Map::new());
        root.nodes.insert(self.name.into(), group);
        for (array, metadata) in &self.nodes {
            let path = format!("{}/{array}", self.name);
            root.nodes.insert(path, metadata.clone());
        }
        let folder = self.folder.join(self.name);
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
fn attributes(draws: &Draws) -> Map<String, Value> {
    let now = humantime::format_rfc3339_seconds(SystemTime::now());
    let mut attributes = draws.attributes().clone();
    attributes.insert("inference_library".into(), "langevin".into());
    let version = env!("CARGO_PKG_VERSION");
    attributes.insert("inference_library_version".into(), version.into());
    attributes.insert("created_at".into(), now.to_string().into());
    attributes
}
