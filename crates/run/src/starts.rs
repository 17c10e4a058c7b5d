//! How long the work in a folder of units took over all its starts.
//!
//! Work that is interrupted goes on in another process, so that no process knows the whole time.
//! Each one keeps a small file of its own beside the units and brings it up to date as units are
//! finished: what is killed without warning leaves its time, too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use crate::temporary::Temporary;

/// Name of every such file, before and after what tells them apart.
const PREFIX: &str = "start-";
const ENDING: &str = "seconds";
/// A file is written at most this often.
const PAUSE: Duration = Duration::from_secs(2);

/// The time of this start, and where those of earlier ones are.
#[derive(Debug)]
pub struct Starts {
    dir: PathBuf,
    path: PathBuf,
    began: Instant,
    saved: Mutex<Option<Instant>>,
}

/// Time over all starts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// Number of starts, this one included.
    pub starts: usize,
    /// Their wall time together, in seconds.
    pub seconds: f64,
    /// That of this start alone.
    pub this: f64,
}

impl Starts {
    /// Begins to measure; nothing is written yet.
    pub fn begin(dir: &Path) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A clock before 1970 makes the name less telling, no more.
        let nanos = since.map_or(0, |d| d.as_nanos());
        let name = format!("{PREFIX}{nanos}-{}.{ENDING}", std::process::id());
        Starts {
            dir: dir.to_path_buf(),
            path: dir.join(name),
            began: Instant::now(),
            saved: Mutex::new(None),
        }
    }

    /// The file of this start.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves the time so far, unless that was done a moment ago.
    pub fn note(&self) -> io::Result<()> {
        let mut saved = self.saved.lock().unwrap_or_else(|e| e.into_inner());
        if saved.is_some_and(|at| at.elapsed() < PAUSE) {
            return Ok(());
        }
        *saved = Some(Instant::now());
        self.save()
    }

    /// Saves the time so far.
    pub fn save(&self) -> io::Result<()> {
        let file = Temporary::new_in(&self.dir)?;
        file.write(format!("{:.3}", self.began.elapsed().as_secs_f64()).as_bytes())?;
        file.put(&self.path)
    }

    /// This start and all earlier ones that left a readable file.
    pub fn total(&self) -> Total {
        let this = self.began.elapsed().as_secs_f64();
        let mut total = Total {
            starts: 1,
            seconds: this,
            this,
        };
        for path in files(&self.dir).filter(|path| *path != self.path) {
            let text = fs::read_to_string(path).unwrap_or_default();
            if let Some(seconds) = text.parse().ok().filter(|s: &f64| s.is_finite()) {
                total.starts += 1;
                total.seconds += seconds;
            }
        }
        total
    }
}

/// The files of all starts in a folder.
pub fn files(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
            name.starts_with(PREFIX) && path.extension().is_some_and(|e| e == ENDING)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_starts_add_up() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("start-1-1.seconds"), "100.5").unwrap();
        fs::write(dir.path().join("start-2-1.seconds"), "half wri").unwrap();
        fs::write(dir.path().join("other.seconds"), "1000").unwrap();
        let starts = Starts::begin(dir.path());
        starts.save().unwrap();
        let total = starts.total();
        assert_eq!(total.starts, 2);
        assert!((100.5..160.0).contains(&total.seconds), "{total:?}");
        // The next process finds both.
        assert_eq!(Starts::begin(dir.path()).total().starts, 3);
    }

    #[test]
    fn a_start_is_not_written_over_and_over() {
        let dir = tempfile::tempdir().unwrap();
        let starts = Starts::begin(dir.path());
        starts.note().unwrap();
        fs::remove_file(starts.path()).unwrap();
        starts.note().unwrap();
        assert!(!starts.path().exists());
        starts.save().unwrap();
        assert!(starts.path().exists());
    }
}
