//! The seed of the chains: given, typed, or drawn afresh and kept in the output folder.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use super::source::{Result, RunFileError};
use crate::shown::quoted;

/// Name of the file in the output folder.
pub(crate) const FILE: &str = "seed";
/// Bits of a seed that is drawn: every reader of JSON takes such a number exactly.
const BITS: u32 = 53;

/// What is asked for beside the run file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// A seed that replaces that of the run file.
    pub seed: Option<u64>,
    /// The output folder: where nobody gives a seed, that of earlier work there is taken.
    pub folder: Option<PathBuf>,
    /// Whether libraries that the run file names may be loaded, which runs their code.
    pub libraries: bool,
}

impl From<Option<u64>> for Asked {
    fn from(seed: Option<u64>) -> Self {
        Asked {
            seed,
            ..Asked::default()
        }
    }
}

/// Where the seed of a run came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedFrom {
    /// The run file, or who runs it.
    Given,
    /// Earlier work in the output folder.
    Folder,
    /// Nowhere: it was drawn.
    Drawn,
}

impl Asked {
    /// The seed of a run file in which `typed` was typed.
    pub(super) fn settle(&self, typed: Option<u64>) -> Result<(u64, SeedFrom)> {
        if let Some(seed) = self.seed.or(typed) {
            return Ok((seed, SeedFrom::Given));
        }
        let kept = self.folder.as_deref().map(kept_in).transpose()?.flatten();
        Ok(match kept {
            Some(seed) => (seed, SeedFrom::Folder),
            None => (draw(), SeedFrom::Drawn),
        })
    }
}

/// The file that keeps the seed of an output folder.
pub fn file_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// What the file says of a seed.
pub fn text(seed: u64) -> String {
    format!("{seed}\n")
}

/// The seed that an output folder keeps, if it keeps one.
fn kept_in(folder: &Path) -> Result<Option<u64>> {
    let file = file_in(folder);
    let refuse = |message| RunFileError {
        file: file.clone(),
        line: None,
        message,
    };
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(refuse(format!("cannot be read: {e}"))),
    };
    let text = String::from_utf8_lossy(&bytes);
    match text.trim().parse() {
        Ok(seed) => Ok(Some(seed)),
        Err(_) => Err(refuse(format!(
            "expected a seed, that is, a whole number, found {}; remove the file or start over \
             with --fresh",
            quoted(text.trim())
        ))),
    }
}

/// A seed that nobody has had before: hash maps ask the system for the same kind of chance.
fn draw() -> u64 {
    RandomState::new().build_hasher().finish() >> (u64::BITS - BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_are_given_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let seeds = |seed| Asked {
            folder: Some(dir.path().into()),
            ..Asked::from(seed)
        };
        fs::write(file_in(dir.path()), text(7)).unwrap();
        assert_eq!(seeds(Some(1)).settle(Some(2)), Ok((1, SeedFrom::Given)));
        assert_eq!(seeds(None).settle(Some(2)), Ok((2, SeedFrom::Given)));
        assert_eq!(seeds(None).settle(None), Ok((7, SeedFrom::Folder)));
        fs::write(file_in(dir.path()), "7 or 8").unwrap();
        let error = seeds(None).settle(None).unwrap_err().to_string();
        assert!(error.contains("seed: expected a seed"), "{error}");
        assert!(error.contains("\"7 or 8\""), "{error}");
        // Nobody looks at it where nobody needs it.
        assert!(seeds(Some(1)).settle(None).is_ok());
        fs::remove_file(file_in(dir.path())).unwrap();
        assert_eq!(seeds(None).settle(None).unwrap().1, SeedFrom::Drawn);
    }

    #[test]
    fn drawn_seeds_differ_and_are_exact_in_floating_point() {
        let seeds: Vec<u64> = (0..100).map(|_| draw()).collect();
        assert!(seeds.iter().all(|s| *s as f64 as u64 == *s));
        let mut different = seeds.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 100);
    }
}
