//! Writes single arrays of a store: one number or more per draw, or the labels of a dimension.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::Value;
use zarrs::array::codec::ZstdCodec;
use zarrs::array::{
    Array, ArrayBuilder, ArrayMetadataOptions, DataType, Element, FillValue, data_type,
};
use zarrs::filesystem::FilesystemStore;
use zarrs::metadata::ChunkKeySeparator;

/// Size that chunks are cut to, before compression: large enough that there are few files,
/// small enough that reading one chain does not read them all.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
/// The digits of draws are noise that no level compresses, so take the fastest. The checksum
/// lets a reader notice a damaged file.
const ZSTD: ZstdCodec = ZstdCodec::new(1, true);

/// A type of entries that our arrays have.
pub(super) trait Entry: Element + Copy + Into<FillValue> {
    /// What fills the chunks beyond the end of the array.
    const FILL: Self;
    /// Its name in Zarr.
    fn data_type() -> DataType;
}

impl Entry for f64 {
    const FILL: Self = f64::NAN;
    fn data_type() -> DataType {
        data_type::float64()
    }
}

impl Entry for i64 {
    const FILL: Self = 0;
    fn data_type() -> DataType {
        data_type::int64()
    }
}

impl Entry for bool {
    const FILL: Self = false;
    fn data_type() -> DataType {
        data_type::bool()
    }
}

impl Entry for &str {
    const FILL: Self = "";
    fn data_type() -> DataType {
        data_type::string()
    }
}

/// An array with the dimensions chain, draw and perhaps more, to be stored chunk by chunk.
pub(super) struct PerDraw<T> {
    array: Array<FilesystemStore>,
    /// Chains and draws of a chunk, and entries per draw.
    chunk: (usize, usize),
    len: usize,
    n_dims: usize,
    entries: PhantomData<T>,
}

impl<T: Entry> PerDraw<T> {
    pub fn new(
        store: &Arc<FilesystemStore>,
        node: &str,
        dims: &[&str],
        shape: &[usize],
        chunk: (usize, usize),
    ) -> io::Result<Self> {
        let mut chunk_shape = shape.to_vec();
        (chunk_shape[0], chunk_shape[1]) = chunk;
        Ok(PerDraw {
            array: create::<T>(store, node, dims, shape, &chunk_shape)?,
            chunk,
            len: shape[2..].iter().product(),
            n_dims: shape.len(),
            entries: PhantomData,
        })
    }

    /// Stores the chunk at `place`, of so many chains and draws, with the entries of each draw from
    /// `at(chain, draw)`.
    pub fn store<'v>(
        &self,
        place: [usize; 2],
        n_chains: usize,
        n_draws: usize,
        at: impl Fn(usize, usize) -> &'v [T],
    ) -> io::Result<()>
    where
        T: 'v,
    {
        let (chains, draws) = self.chunk;
        let mut chunk = vec![T::FILL; chains * draws * self.len];
        for (i, cell) in chunk.chunks_mut(self.len).enumerate() {
            let (chain, draw) = (i / draws, i % draws);
            if chain < n_chains && draw < n_draws {
                cell.copy_from_slice(at(chain, draw));
            }
        }
        let mut index = vec![0; self.n_dims];
        (index[0], index[1]) = (place[0] as u64, place[1] as u64);
        self.array.store_chunk(&index, &chunk).map_err(other)
    }

    pub fn metadata(&self) -> io::Result<Value> {
        Ok(serde_json::to_value(self.array.metadata())?)
    }
}

/// Writes the labels of a dimension, in a single chunk, since who opens the store reads all of
/// them. Returns the metadata.
pub(super) fn write_labels<T: Entry>(
    store: &Arc<FilesystemStore>,
    node: &str,
    dim: &str,
    labels: &[T],
) -> io::Result<Value> {
    let shape = [labels.len()];
    let array = create::<T>(store, node, &[dim], &shape, &shape)?;
    array.store_chunk(&[0], labels).map_err(other)?;
    Ok(serde_json::to_value(array.metadata())?)
}

/// Creates an array that has its metadata on disk and no chunks yet.
fn create<T: Entry>(
    store: &Arc<FilesystemStore>,
    node: &str,
    dims: &[&str],
    shape: &[usize],
    chunk_shape: &[usize],
) -> io::Result<Array<FilesystemStore>> {
    let whole = |shape: &[usize]| -> Vec<u64> { shape.iter().map(|n| *n as u64).collect() };
    let fill: FillValue = T::FILL.into();
    let mut array = ArrayBuilder::new(whole(shape), whole(chunk_shape), T::data_type(), fill)
        .dimension_names(Some(dims.iter().copied()))
        .chunk_key_encoding_default_separator(ChunkKeySeparator::Dot) // all chunks in one folder
        .bytes_to_bytes_codecs(vec![Arc::new(ZSTD)])
        .build(store.clone(), node)
        .map_err(other)?;
    // zarrs would add a note about itself to the attributes.
    array.set_metadata_options(ArrayMetadataOptions::default().with_include_zarrs_metadata(false));
    array.store_metadata().map_err(other)?;
    Ok(array)
}

pub(super) fn other(error: impl ToString) -> io::Error {
    io::Error::other(error.to_string())
}
