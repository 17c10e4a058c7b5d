//! Puts a finished folder in its place: what is at the path is the old store or the new one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Result, StoreError};
use crate::temporary::{self, Temporary};

/// What to do when there is something at the path already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it and report an error.
    Refuse,
    /// Replace it, if it is a Zarr store or an empty folder; leave anything else.
    Replace,
}

/// A folder that is being filled beside its place, and then put there as a whole. If that does not
/// come about, the place is as it was before.
pub(super) struct Place {
    path: PathBuf,
    existing: Existing,
    temporary: Temporary,
}

impl Place {
    pub fn new(path: &Path, existing: Existing) -> Result<Self> {
        check_existing(path, existing)?;
        let parent = parent(path);
        fs::create_dir_all(parent).map_err(StoreError::io("create the folder", parent))?;
        let failed = StoreError::io("write", path);
        temporary::clear(parent);
        let temporary = Temporary::new_in(parent).map_err(&failed)?;
        fs::create_dir(temporary.content()).map_err(&failed)?;
        Ok(Place {
            path: path.into(),
            existing,
            temporary,
        })
    }

    /// Where to write.
    pub fn content(&self) -> PathBuf {
        self.temporary.content()
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the folder into its place.
    pub fn put(self) -> Result<()> {
        let (path, new) = (&self.path, self.content());
        let failed = StoreError::io("write", path);
        sync_folders(&new).map_err(&failed)?;
        // A rename does not replace a folder that has something in it, so a store that another
        // process has put there since is safe.
        if let Err(e) = fs::rename(&new, path) {
            if !fs::exists(path).unwrap_or(false) {
                return Err(failed(e));
            }
            check_existing(path, self.existing)?;
            exchange(&new, path).map_err(&failed)?;
        }
        sync_folder(parent(path)).map_err(&failed)
        // Dropping the temporary folder removes the old store, if the two have changed places.
    }
}

/// Lets two folders change places, in one step where the system can.
fn exchange(new: &Path, path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    // Not a `Temporary`: for a moment it is all there is, and must not be cleared.
    let aside = sibling(path)?;
    let old = aside.path().join("store");
    fs::rename(path, &old)?;
    if let Err(e) = fs::rename(new, path) {
        fs::rename(&old, path)?;
        return Err(e);
    }
    fs::rename(&old, new)
}

fn check_existing(path: &Path, existing: Existing) -> Result<()> {
    let path = path.to_path_buf();
    let failed = StoreError::io("look at", &path);
    match fs::symlink_metadata(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(failed(e)),
        Ok(_) if existing == Existing::Refuse => Err(StoreError::Exists { path }),
        Ok(found) if !found.is_dir() => Err(StoreError::NotReplaced { path }),
        Ok(_) => {
            let empty = fs::read_dir(&path).map_err(&failed)?.next().is_none();
            if empty || is_zarr(&path) {
                return Ok(());
            }
            Err(StoreError::NotReplaced { path })
        }
    }
}

/// Whether a folder has the metadata file of a Zarr node, in format 3 or 2.
pub(super) fn is_zarr(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_file();
    has("zarr.json") || has(".zgroup") || has(".zarray")
}

/// A new hidden folder beside `path`, removed when dropped.
fn sibling(path: &Path) -> io::Result<tempfile::TempDir> {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let prefix = format!(".{}.", name.to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".old");
    builder.tempdir_in(parent(path))
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the names inside a folder survive a power cut, where the platform can.
fn sync_folder(dir: &Path) -> io::Result<()> {
    if cfg!(unix) {
        fs::File::open(dir)?.sync_all()?;
    }
    Ok(())
}

/// The same for a folder and all folders below it; zarrs has done so for the files.
fn sync_folders(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync_folder(dir)
}
