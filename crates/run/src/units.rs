//! The cache that makes long work resumable: one checked file per finished unit of work.
//!
//! A unit is a piece of work whose result depends on nothing but a description that the caller
//! writes down in full. The description's hash names the file, so a changed seed, model or
//! format version is simply another file, and a run that was killed picks up the units that
//! were finished.
//!
//! A file holds, in this order: 16 bytes that name the format and its version, a BLAKE3 hash over
//! these, the key and the result (32 bytes), and the result itself in
//! [postcard](https://postcard.jamesmunns.com) encoding. Floating-point numbers are stored as
//! their bits, so a resumed run continues from exactly the numbers that were computed. Postcard
//! does not describe itself: values that need that to be read back (`serde_json::Value`,
//! `#[serde(flatten)]`, untagged enums) cannot be units.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::starts::{self, Starts, Total};
use crate::temporary::{self, Temporary};

/// First bytes of every unit file. The digit is the version of the file format and of the
/// descriptions behind the keys.
const MAGIC: &[u8; 16] = b"langevin unit 2\n";
/// What they have in common in all versions.
const ANY_MAGIC: &[u8] = b"langevin unit ";
/// Length of the checksum that follows [`MAGIC`].
const HASH_LEN: usize = 32;
/// Name ending of finished units.
const DONE: &str = "bin";

/// What can go wrong with the cache; the message names the file or folder.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The operating system refused to do something with a file or folder.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// A result has no postcard encoding.
    #[error("cannot encode the result of unit {key}: {source}")]
    Encode {
        /// Key of the unit.
        key: UnitKey,
        /// What postcard says.
        source: postcard::Error,
    },
}

impl UnitError {
    fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// Result with this module's [`UnitError`].
pub type Result<T> = std::result::Result<T, UnitError>;

/// Name of a unit: the BLAKE3 hash of everything that its result depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UnitKey(blake3::Hash);

impl UnitKey {
    /// The key of the unit with this description.
    ///
    /// The description must name everything that the result depends on, including a version of
    /// the computation itself, and must be written in one way only (fixed field order, numbers
    /// in their shortest form): another spelling is another key.
    ///
    /// ```
    /// use langevin_run::units::UnitKey;
    /// let key = UnitKey::new(r#"{"version":1,"dynamics":"GiIrr","seed":7,"chains":[0,8]}"#);
    /// assert_eq!(key, UnitKey::new(r#"{"version":1,"dynamics":"GiIrr","seed":7,"chains":[0,8]}"#));
    /// assert_ne!(key, UnitKey::new(r#"{"version":1,"dynamics":"GiIrr","seed":8,"chains":[0,8]}"#));
    /// ```
    pub fn new(description: &str) -> Self {
        Self(blake3::hash(description.as_bytes()))
    }
}

impl std::fmt::Display for UnitKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

/// Path of the file that holds, or would hold, a unit in a folder of units.
pub fn unit_path(dir: &Path, key: &UnitKey) -> PathBuf {
    dir.join(format!("{key}.{DONE}"))
}

/// A folder of finished units.
///
/// Any number of processes may use one folder at the same time: a file appears under its name
/// only when it is complete, and two processes that finish the same unit write the same bytes.
///
/// ```
/// use langevin_run::units::{UnitCache, UnitKey};
/// # let out = tempfile::tempdir().unwrap();
/// let cache = UnitCache::open(out.path().join("units"))?;
/// let key = UnitKey::new("mean of 3 draws, seed 1, version 1");
/// let mean = match cache.get::<Vec<f64>>(&key) {
///     Some(mean) => mean,
///     None => {
///         let mean = vec![0.5, -0.25]; // the long computation
///         cache.put(&key, &mean)?;
///         mean
///     }
/// };
/// assert_eq!(cache.get(&key), Some(mean));
/// # Ok::<(), langevin_run::units::UnitError>(())
/// ```
#[derive(Debug, Clone)]
pub struct UnitCache {
    dir: PathBuf,
    starts: Arc<Starts>,
    n_outdated: usize,
}

impl UnitCache {
    /// Opens the folder, by custom `<out>/units`, creating it where it is missing, and removes
    /// what processes that died left half written and units of earlier versions, which no key finds.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        let dir = dir.into();
        fs::create_dir_all(&dir).map_err(UnitError::io("create the folder", &dir))?;
        let starts = Arc::new(Starts::begin(&dir));
        temporary::clear(&dir);
        let mut cache = Self {
            dir,
            starts,
            n_outdated: 0,
        };
        for path in cache.units()? {
            if is_outdated(&path) && fs::remove_file(&path).is_ok() {
                cache.n_outdated += 1;
            }
        }
        Ok(cache)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Number of units of an earlier version that were there and have been removed.
    pub fn n_outdated(&self) -> usize {
        self.n_outdated
    }

    /// Saves how long this start has taken, now and then (`now`: in any case).
    pub fn note_time(&self, now: bool) -> Result<()> {
        let noted = match now {
            true => self.starts.save(),
            false => self.starts.note(),
        };
        noted.map_err(UnitError::io("write", self.starts.path()))
    }

    /// Wall time since the folder was opened and of all earlier starts.
    pub fn total_time(&self) -> Total {
        self.starts.total()
    }

    /// Path of the file that holds, or would hold, the unit.
    pub fn path(&self, key: &UnitKey) -> PathBuf {
        unit_path(&self.dir, key)
    }

    /// The result of the unit, if it was finished.
    ///
    /// A file that is truncated, altered, of another format version or of another type counts
    /// as missing and is removed, so that the unit is done again.
    pub fn get<T: DeserializeOwned>(&self, key: &UnitKey) -> Option<T> {
        let path = self.path(key);
        let bytes = fs::read(&path).ok()?;
        let value = decode(key, &bytes);
        if value.is_none() {
            // When it cannot be removed, the next `put` replaces it or reports why not.
            fs::remove_file(&path).ok();
        }
        value
    }

    /// Saves the result of the unit: when this returns, the file is complete and on the disk.
    pub fn put<T: Serialize + ?Sized>(&self, key: &UnitKey, value: &T) -> Result<()> {
        let bytes = encode(key, value)?;
        let path = self.path(key);
        let failed = |action| UnitError::io(action, &path);
        let file = Temporary::new_in(&self.dir).map_err(failed("create"))?;
        file.write(&bytes).map_err(failed("write"))?;
        file.put(&path).map_err(failed("move into place"))?;
        sync_dir(&self.dir).map_err(failed("write"))
    }

    /// Forgets every unit and the time that they took; other files stay.
    pub fn clear(&self) -> Result<()> {
        for path in self.units()?.into_iter().chain(starts::files(&self.dir)) {
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(UnitError::io("remove", &path)(e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Files of the folder that hold units.
    fn units(&self) -> Result<Vec<PathBuf>> {
        let failed = |e| UnitError::io("list the folder", &self.dir)(e);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or("");
            let ours = blake3::Hash::from_hex(stem).is_ok();
            if ours && path.extension().is_some_and(|e| e == DONE) {
                found.push(path);
            }
        }
        Ok(found)
    }
}

/// The hash that a file with this payload must carry. The key is part of it, so a file under
/// the name of another unit is noticed.
fn checksum(key: &UnitKey, payload: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(MAGIC);
    hasher.update(key.0.as_bytes());
    hasher.update(payload);
    hasher.finalize()
}

fn encode<T: Serialize + ?Sized>(key: &UnitKey, value: &T) -> Result<Vec<u8>> {
    let payload =
        postcard::to_stdvec(value).map_err(|source| UnitError::Encode { key: *key, source })?;
    let mut bytes = Vec::with_capacity(MAGIC.len() + HASH_LEN + payload.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(checksum(key, &payload).as_bytes());
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

fn decode<T: DeserializeOwned>(key: &UnitKey, bytes: &[u8]) -> Option<T> {
    let rest = bytes.strip_prefix(MAGIC.as_slice())?;
    let (hash, payload) = rest.split_first_chunk::<HASH_LEN>()?;
    if checksum(key, payload) != *hash {
        return None;
    }
    let (value, unread) = postcard::take_from_bytes(payload).ok()?;
    unread.is_empty().then_some(value)
}

/// Whether a file holds a unit of an earlier version; those of a later one are not ours to remove.
fn is_outdated(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start.starts_with(ANY_MAGIC) && start < *MAGIC
}

/// Makes a rename inside the folder survive a power cut, where the platform can.
fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}
