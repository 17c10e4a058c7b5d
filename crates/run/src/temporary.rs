//! What is written beside its place and then put there as a whole, and what is left of it where a
//! process died.
//!
//! `.langevin-XXXXXX.tmp` is a folder beside the place. It holds `content`, the file or folder that
//! is being written, and `owner`, a file that the writing process keeps locked. The system frees
//! the lock when the process ends, in whatever way: a folder whose lock is free belongs to nobody,
//! and the next start in its place [clears](clear()) it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the names of all such folders begin and end with.
const PREFIX: &str = ".langevin-";
const SUFFIX: &str = ".tmp";
/// Names inside of a folder.
const CONTENT: &str = "content";
const OWNER: &str = "owner";

/// A file or folder that is being written; what was not put in its place is removed in the end.
#[derive(Debug)]
pub struct Temporary {
    folder: PathBuf,
    /// Locked as long as it is open.
    _owner: File,
}

impl Temporary {
    /// Begins in a folder, which must be there.
    pub fn new_in(dir: &Path) -> io::Result<Self> {
        loop {
            let folder = new_folder(dir)?;
            let path = folder.join(OWNER);
            let owner = match File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&path)
            {
                Ok(owner) => owner,
                // Another process took the empty folder for abandoned.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => {
                    remove(&folder);
                    return Err(e);
                }
            };
            // Without locks nothing is ever taken for abandoned, which does no harm.
            owner.lock().ok();
            let temporary = Temporary {
                folder,
                _owner: owner,
            };
            // Unless another process was faster, and has removed it since.
            if fs::exists(&path)? {
                return Ok(temporary);
            }
        }
    }

    /// Where to write: nothing is there yet.
    pub fn content(&self) -> PathBuf {
        self.folder.join(CONTENT)
    }

    /// Writes a file and brings it to the disk.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(self.content())?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Puts what was written in its place.
    pub fn put(self, path: &Path) -> io::Result<()> {
        fs::rename(self.content(), path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// Removes from a folder what dead processes have left half written; what living ones write stays.
/// What cannot be removed is no reason to stop.
pub fn clear(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let ours = name.starts_with(PREFIX) && name.ends_with(SUFFIX);
        if ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            clear_folder(&entry.path());
        }
    }
}

fn clear_folder(folder: &Path) {
    let owner = File::options()
        .read(true)
        .write(true)
        .open(folder.join(OWNER));
    match owner {
        // The lock is kept until everything is gone.
        Ok(owner) => {
            if owner.try_lock().is_ok() {
                remove(folder);
            }
        }
        // An empty folder is no loss: who is about to lock it makes another.
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            fs::remove_dir(folder).ok();
        }
        Err(_) => {}
    }
}

/// The owner's file goes last, so that what is interrupted here is found again.
fn remove(folder: &Path) {
    let content = folder.join(CONTENT);
    if fs::remove_file(&content).is_err() {
        fs::remove_dir_all(&content).ok();
    }
    if !fs::exists(&content).unwrap_or(true) {
        fs::remove_file(folder.join(OWNER)).ok();
        fs::remove_dir(folder).ok();
    }
}

/// A folder of a new name, open to those who may use the rest.
fn new_folder(dir: &Path) -> io::Result<PathBuf> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777)); // less the umask
    }
    Ok(builder.tempdir_in(dir)?.keep())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name());
        entries.map(|name| name.into_string().unwrap()).collect()
    }

    /// What a process leaves that is killed while it writes.
    fn abandon(dir: &Path) -> PathBuf {
        let folder = new_folder(dir).unwrap();
        fs::write(folder.join(OWNER), "").unwrap();
        fs::create_dir_all(folder.join(CONTENT).join("deep")).unwrap();
        fs::write(folder.join(CONTENT).join("deep/file"), "half").unwrap();
        folder
    }

    #[test]
    fn content_is_put_in_its_place_and_nothing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let temporary = Temporary::new_in(dir.path()).unwrap();
        temporary.write(b"whole").unwrap();
        assert_eq!(names(dir.path()).len(), 1);
        temporary.put(&dir.path().join("place")).unwrap();
        assert_eq!(names(dir.path()), ["place"]);
        let unused = Temporary::new_in(dir.path()).unwrap();
        fs::create_dir(unused.content()).unwrap();
        fs::write(unused.content().join("file"), "half").unwrap();
        drop(unused);
        assert_eq!(names(dir.path()), ["place"]);
    }

    #[test]
    fn what_the_dead_left_goes_and_what_the_living_write_stays() {
        let dir = tempfile::tempdir().unwrap();
        let living = Temporary::new_in(dir.path()).unwrap();
        living.write(b"half").unwrap();
        abandon(dir.path());
        new_folder(dir.path()).unwrap();
        fs::write(dir.path().join(".langevin-file.tmp"), "not ours").unwrap();
        clear(dir.path());
        let mut left = names(dir.path());
        left.sort();
        let own = living.folder.file_name().unwrap().to_str().unwrap();
        let mut expected = [own, ".langevin-file.tmp"];
        expected.sort_unstable();
        assert_eq!(left, expected);
        living.put(&dir.path().join("place")).unwrap();
        assert_eq!(fs::read(dir.path().join("place")).unwrap(), b"half");
    }

    #[test]
    fn clearing_never_disturbs_who_writes() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        std::thread::scope(|scope| {
            for i in 0..4 {
                scope.spawn(move || {
                    for _ in 0..200 {
                        let temporary = Temporary::new_in(dir).unwrap();
                        temporary.write(b"whole").unwrap();
                        temporary.put(&dir.join(format!("file-{i}"))).unwrap();
                    }
                });
            }
            for _ in 0..2 {
                scope.spawn(|| (0..400).for_each(|_| clear(dir)));
            }
        });
        assert_eq!(names(dir).len(), 4);
    }
}
