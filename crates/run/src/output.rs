//! The output folder: checked before work starts, every file in it whole or not there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::run_file::{Run, SeedFrom, seed};
use crate::temporary::{self, Temporary};
use crate::units::{UnitCache, UnitError};

/// A folder that takes a file of this size takes a unit.
const PROBE: usize = 64 * 1024;
/// Folders in it that files are written to, beside that of the units.
const SUBFOLDERS: [&str; 4] = ["tables", "figures", "experiments", "data"];

/// What can go wrong with the output folder.
#[derive(Debug, Error)]
pub enum OutputError {
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
    /// The disk is too small.
    #[error(
        "{} has {available} MB left, but the results need about {needed} MB",
        path.display()
    )]
    NoSpace {
        /// The output folder.
        path: PathBuf,
        /// Megabytes that are free.
        available: u64,
        /// Megabytes that the results take.
        needed: u64,
    },
    /// The folder of units cannot be used.
    #[error(transparent)]
    Units(#[from] UnitError),
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OutputError {
    let path = path.to_path_buf();
    move |source| OutputError::Io {
        action,
        path,
        source,
    }
}

/// A folder that results can be written to.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Creates the folder where it is missing, makes sure that about `bytes` can be written, and
    /// removes what processes that died left half written.
    pub fn prepare(path: impl Into<PathBuf>, bytes: u64) -> Result<Self, OutputError> {
        let path = path.into();
        fs::create_dir_all(&path).map_err(failed("create the output folder", &path))?;
        let probe = || Temporary::new_in(&path)?.write(&[0; PROBE]);
        probe().map_err(failed("write to the output folder", &path))?;
        temporary::clear(&path);
        for name in SUBFOLDERS {
            temporary::clear(&path.join(name));
        }
        check_room(&path, bytes)?;
        Ok(Folder { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The finished units of earlier runs; none if `fresh`.
    pub fn units(&self, fresh: bool) -> Result<UnitCache, OutputError> {
        let cache = UnitCache::open(self.path.join("units"))?;
        if fresh {
            cache.clear()?;
        }
        Ok(cache)
    }

    /// Keeps the seed of a run that has none of its own, for the next start.
    pub fn keep_seed(&self, run: &Run) -> Result<(), OutputError> {
        self.keep_drawn(run.seed, run.seed_from)
    }

    /// Keeps a seed that was drawn, for the next start.
    pub fn keep_drawn(&self, seed: u64, from: SeedFrom) -> Result<(), OutputError> {
        if from == SeedFrom::Drawn {
            self.write(seed::FILE, seed::text(seed).as_bytes())?;
        }
        Ok(())
    }

    /// Writes a file as a whole or not at all.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, OutputError> {
        let path = self.path.join(name);
        let parent = path.parent().unwrap_or(&self.path).to_path_buf();
        let put = || -> io::Result<()> {
            fs::create_dir_all(&parent)?;
            let file = Temporary::new_in(&parent)?;
            file.write(bytes)?;
            file.put(&path)
        };
        put().map_err(failed("write", &path))?;
        Ok(path)
    }

    /// Writes JSON with a line break at its end.
    pub fn write_json(&self, name: &str, value: &serde_json::Value) -> Result<(), OutputError> {
        let text = format!("{value:#}\n");
        self.write(name, text.as_bytes())?;
        Ok(())
    }
}

/// Refuses a folder, which need not be there yet, on a disk that has less than so many bytes left.
pub fn check_room(path: &Path, bytes: u64) -> Result<(), OutputError> {
    let here = Path::new(".");
    let parents = path.ancestors().map(|p| match p.as_os_str().is_empty() {
        true => here,
        false => p,
    });
    match parents.into_iter().find_map(free_bytes) {
        Some(free) if free < bytes => Err(OutputError::NoSpace {
            path: path.into(),
            available: free / 1_000_000,
            needed: bytes.div_ceil(1_000_000),
        }),
        _ => Ok(()),
    }
}

/// Free space, where the platform says.
fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let stat = rustix::fs::statvfs(path).ok()?;
        // (What is no disk has no size.)
        (stat.f_blocks > 0).then(|| stat.f_bavail.saturating_mul(stat.f_frsize))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = path;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noticed before the first step, since nobody wants to lose a long run to it.
    #[test]
    fn results_that_do_not_fit_on_the_disk() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Folder::prepare(dir.path(), 1000).is_ok());
        if free_bytes(dir.path()).is_some() {
            let error = Folder::prepare(dir.path(), u64::MAX).unwrap_err();
            assert!(error.to_string().contains("MB left"), "{error}");
        }
    }
}
