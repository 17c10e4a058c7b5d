//! Writes draws as a Zarr store, as they come.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use serde_json::{Map, Value};

use super::array::CHUNK_BYTES;
use super::nodes::Arrays;
use super::place::{Existing, Place};
use super::{Draws, Layout, Result, Stat, StoreError};

/// Writes draws to a new store at `path`, creating the folders above it where they are missing.
///
/// The store appears whole or not at all: it is written to a hidden folder beside `path`, brought
/// to the disk and then renamed. On Linux, replacing a store is a single step, too.
pub fn write(path: impl AsRef<Path>, draws: &Draws, existing: Existing) -> Result<()> {
    let shape = Shape {
        layout: draws.layout().clone(),
        n_chains: draws.n_chains(),
        n_draws: draws.n_draws(),
        diverging: draws.diverging().is_some(),
        stats: draws
            .stats()
            .iter()
            .map(|(n, s)| (n.clone(), s.kind()))
            .collect(),
    };
    let n = draws.n_draws();
    let writer = Writer::new(path.as_ref(), shape, None, existing)?;
    for first in (0..draws.n_chains()).step_by(writer.chunk.0) {
        let last = draws.n_chains().min(first + writer.chunk.0);
        let chain = |c: usize| ChainDraws {
            values: draws.values()[c * n * draws.layout().dim()..][..n * draws.layout().dim()]
                .to_vec(),
            diverging: draws
                .diverging()
                .map_or(vec![], |d| d[c * n..(c + 1) * n].to_vec()),
            stats: draws
                .stats()
                .iter()
                .map(|(_, s)| s.part(c * n..(c + 1) * n))
                .collect(),
        };
        writer.push(first, (first..last).map(chain).collect())?;
    }
    writer.finish(draws.attributes().clone())
}

/// What a store will hold.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The parameters.
    pub layout: Layout,
    /// Number of chains.
    pub n_chains: usize,
    /// Number of draws of each chain.
    pub n_draws: usize,
    /// Whether draws at and after an escape are marked.
    pub diverging: bool,
    /// Names of the numbers per draw, with an empty one of each kind.
    pub stats: Vec<(String, Stat)>,
}

/// Consecutive draws of one chain.
#[derive(Clone, Debug, Default)]
pub struct ChainDraws {
    /// In the order (draw, position in the layout).
    pub values: Vec<f64>,
    /// Marks of escape.
    pub diverging: Vec<bool>,
    /// Numbers per draw, in the order of the [shape](Shape::stats).
    pub stats: Vec<Stat>,
}

/// A store that is being written while draws come. Chains that lie in one chunk come together; what
/// does not fill a chunk waits in memory, no more than one chunk for each such group of chains.
pub struct Writer {
    place: Place,
    shape: Shape,
    /// Chains and draws of a chunk.
    chunk: (usize, usize),
    arrays: Arrays,
    /// Draws that wait, by the first chain of their chunk, and how many were written before.
    waiting: Mutex<BTreeMap<usize, (usize, Vec<ChainDraws>)>>,
}

impl Writer {
    /// Begins a store. Chunks hold `chains` chains, or as many as fit.
    pub fn new(
        path: &Path,
        shape: Shape,
        chains: Option<usize>,
        existing: Existing,
    ) -> Result<Self> {
        for (n, what) in [(shape.n_chains, "chain"), (shape.n_draws, "draw")] {
            if n == 0 {
                return Err(StoreError::None { what: what.into() });
            }
        }
        let place = Place::new(path, existing)?;
        let widest = shape.layout.params().iter().map(|p| p.len()).max();
        let chunk = chunk_size(
            &shape,
            widest.unwrap_or(1).max(1) * size_of::<f64>(),
            chains,
        );
        let arrays = Arrays::new(place.content(), &shape, chunk);
        let arrays = arrays.map_err(StoreError::io("write", path))?;
        Ok(Writer {
            place,
            shape,
            chunk,
            arrays,
            waiting: Mutex::default(),
        })
    }

    /// Takes the next draws of the chains from `first` on, which are all that their chunk has.
    pub fn push(&self, first: usize, chains: Vec<ChainDraws>) -> Result<()> {
        let mut waiting = self.waiting.lock().unwrap_or_else(|e| e.into_inner());
        let (written, mut own) = waiting.remove(&first).unwrap_or_default();
        drop(waiting);
        own.resize_with(chains.len(), ChainDraws::default);
        for (own, more) in own.iter_mut().zip(chains) {
            own.append(more);
        }
        let dim = self.shape.layout.dim();
        let (mut written, n_draws) = (written, self.shape.n_draws);
        loop {
            let there = own.first().map_or(0, |chain| chain.values.len() / dim);
            let wanted = self.chunk.1.min(n_draws - written);
            if wanted == 0 || there < wanted {
                break;
            }
            let place = [first / self.chunk.0, written / self.chunk.1];
            let done = self.arrays.store(place, &self.shape.layout, &own, wanted);
            done.map_err(StoreError::io("write", self.place.path()))?;
            for chain in &mut own {
                chain.drop_first(wanted, dim);
            }
            written += wanted;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(|e| e.into_inner());
        waiting.insert(first, (written, own));
        Ok(())
    }

    /// Puts the store in its place, with the settings of the run.
    pub fn finish(self, attributes: Map<String, Value>) -> Result<()> {
        let waiting = self.waiting.into_inner().unwrap_or_else(|e| e.into_inner());
        let complete = |(written, _): &(usize, _)| *written == self.shape.n_draws;
        let n_groups = self.shape.n_chains.div_ceil(self.chunk.0);
        if waiting.len() != n_groups || !waiting.values().all(complete) {
            return Err(StoreError::Incomplete {
                path: self.place.path().into(),
            });
        }
        let done = self.arrays.finish(&self.shape, attributes);
        done.map_err(StoreError::io("write", self.place.path()))?;
        self.place.put()
    }

    /// Where the store will be.
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}

impl ChainDraws {
    fn append(&mut self, more: Self) {
        self.values.extend(more.values);
        self.diverging.extend(more.diverging);
        match self.stats.is_empty() {
            true => self.stats = more.stats,
            false => {
                for (own, more) in self.stats.iter_mut().zip(more.stats) {
                    own.append(more);
                }
            }
        }
    }

    fn drop_first(&mut self, n: usize, dim: usize) {
        self.values.drain(..n * dim);
        self.diverging.drain(..n.min(self.diverging.len()));
        for stat in &mut self.stats {
            stat.drop_first(n);
        }
    }
}

/// Chains and draws of a chunk: as many draws of one chain as fit, then as many such chains; or
/// of so many chains as they come together.
fn chunk_size(shape: &Shape, bytes_per_draw: usize, chains: Option<usize>) -> (usize, usize) {
    let at_once = chains.unwrap_or(1).clamp(1, shape.n_chains);
    let draws = (CHUNK_BYTES / (bytes_per_draw * at_once)).clamp(1, shape.n_draws);
    let fitting = (CHUNK_BYTES / (bytes_per_draw * draws)).clamp(1, shape.n_chains);
    (chains.map_or(fitting, |_| at_once), draws)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Param;

    fn shape(n_chains: usize, n_draws: usize) -> Shape {
        Shape {
            layout: Layout::new(vec![Param::scalar("x")]).unwrap(),
            n_chains,
            n_draws,
            diverging: false,
            stats: vec![],
        }
    }

    #[test]
    fn chunks_are_about_a_mebibyte_and_never_empty() {
        let size = |n_chains, n_draws, bytes| chunk_size(&shape(n_chains, n_draws), bytes, None);
        assert_eq!(size(4, 1000, 8), (4, 1000), "all of a small array");
        assert_eq!(size(2000, 1000, 8), (131, 1000), "many short chains");
        assert_eq!(size(4, 1_000_000, 8), (1, 131_072), "few long chains");
        assert_eq!(size(4, 10, 1 << 22), (1, 1), "huge draws");
        // Chains that come together share a chunk.
        assert_eq!(chunk_size(&shape(100, 1_000_000), 8, Some(16)), (16, 8192));
        assert_eq!(chunk_size(&shape(4, 10), 8, Some(16)), (4, 10));
    }

    /// Draws that come in pieces of any size are those that come at once.
    #[test]
    fn pieces_make_the_same_store() {
        let dir = tempfile::tempdir().unwrap();
        let n_draws = 300_000;
        let value = |chain: usize, draw: usize| (chain * n_draws + draw) as f64;
        let path = dir.path().join("pieces.zarr");
        let writer = Writer::new(&path, shape(3, n_draws), Some(2), Existing::Refuse).unwrap();
        for (first, n) in [(2, 1), (0, 2)] {
            let mut draw = 0;
            for piece in [1, 70_000, 5, 200_000, n_draws] {
                let to = n_draws.min(draw + piece);
                let chain = |c: usize| ChainDraws {
                    values: (draw..to).map(|d| value(first + c, d)).collect(),
                    ..ChainDraws::default()
                };
                writer.push(first, (0..n).map(chain).collect()).unwrap();
                draw = to;
            }
        }
        assert!(!path.exists(), "not before it is whole");
        writer.finish(Map::new()).unwrap();
        let read = crate::store::read(&path).unwrap();
        let whole = (0..3 * n_draws).map(|i| value(i / n_draws, i % n_draws));
        assert!(read.values().iter().copied().eq(whole));
        // One that lacks draws is not put in its place.
        let path = dir.path().join("half.zarr");
        let writer = Writer::new(&path, shape(2, 10), None, Existing::Refuse).unwrap();
        let half = ChainDraws {
            values: vec![1.0; 5],
            ..ChainDraws::default()
        };
        writer.push(0, vec![half.clone(), half]).unwrap();
        let error = writer.finish(Map::new()).unwrap_err();
        assert!(matches!(error, StoreError::Incomplete { .. }) && !path.exists());
    }
}
