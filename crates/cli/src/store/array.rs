//! Writes single arrays of a store: one number or more per draw, or the labels of a dimension.

use std::io;
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
const CHUNK_BYTES: usize = 1 << 20;
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

/// Writes an array with the dimensions chain, draw and perhaps more, chunk by chunk, taking the
/// entries of each draw from `at(chain, draw)`. Returns the metadata.
pub(super) fn write_per_draw<'v, T: Entry + 'v>(
    store: &Arc<FilesystemStore>,
    node: &str,
    dims: &[&str],
    shape: &[usize],
    at: impl Fn(usize, usize) -> &'v [T],
) -> io::Result<Value> {
    let (n_chains, n_draws) = (shape[0], shape[1]);
    let len: usize = shape[2..].iter().product();
    let (chains, draws) = chunk_size(n_chains, n_draws, len * size_of::<T>());
    let mut chunk_shape = shape.to_vec();
    (chunk_shape[0], chunk_shape[1]) = (chains, draws);
    let array = create::<T>(store, node, dims, shape, &chunk_shape)?;
    let mut chunk = vec![T::FILL; chains * draws * len];
    for chain_chunk in 0..n_chains.div_ceil(chains) {
        for draw_chunk in 0..n_draws.div_ceil(draws) {
            for (i, cell) in chunk.chunks_mut(len).enumerate() {
                let chain = chain_chunk * chains + i / draws;
                let draw = draw_chunk * draws + i % draws;
                if chain < n_chains && draw < n_draws {
                    cell.copy_from_slice(at(chain, draw));
                } else {
                    cell.fill(T::FILL);
                }
            }
            let mut place = vec![0; shape.len()];
            (place[0], place[1]) = (chain_chunk as u64, draw_chunk as u64);
            array.store_chunk(&place, &chunk).map_err(other)?;
        }
    }
    Ok(serde_json::to_value(array.metadata())?)
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

/// Chains and draws of a chunk: as many draws of one chain as fit, then as many such chains.
fn chunk_size(n_chains: usize, n_draws: usize, bytes_per_draw: usize) -> (usize, usize) {
    let draws = (CHUNK_BYTES / bytes_per_draw).clamp(1, n_draws);
    let chains = (CHUNK_BYTES / (bytes_per_draw * draws)).clamp(1, n_chains);
    (chains, draws)
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

#[cfg(test)]
mod tests {
    use super::chunk_size;

    #[test]
    fn chunks_are_about_a_mebibyte_and_never_empty() {
        assert_eq!(chunk_size(4, 1000, 8), (4, 1000), "all of a small array");
        assert_eq!(chunk_size(2000, 1000, 8), (131, 1000), "many short chains");
        assert_eq!(chunk_size(4, 1_000_000, 8), (1, 131_072), "few long chains");
        assert_eq!(chunk_size(4, 10, 1 << 22), (1, 1), "huge draws");
    }
}
