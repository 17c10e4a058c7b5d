//! Places in a run file, and errors that name them.

use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{shown, utf8};

/// The text of a run file and where it came from.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// Reads a file.
    pub fn open(path: &Path) -> Result<Arc<Self>> {
        let refuse = |line, message| RunFileError {
            file: path.into(),
            line,
            message,
        };
        let bytes = fs::read(path).map_err(|e| refuse(None, format!("cannot be read: {e}")))?;
        let text = utf8::text(&bytes).map_err(|e| refuse(Some(e.line), e.to_string()))?;
        Ok(Self::from_text(path, text))
    }

    /// A text that stands for the file at `path`.
    pub fn from_text(path: impl Into<PathBuf>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Source {
            path: path.into(),
            text: text.into(),
        })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A path in the file is relative to the folder that the file is in.
    pub fn relative(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// Line of a byte, counted from 1.
    fn line(&self, byte: usize) -> usize {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        1 + before.iter().filter(|b| **b == b'\n').count()
    }
}

/// A piece of a run file, for messages.
#[derive(Clone, Debug)]
pub struct Place {
    source: Arc<Source>,
    span: Range<usize>,
}

impl Place {
    /// The bytes `span` of the file.
    pub fn new(source: &Arc<Source>, span: Range<usize>) -> Self {
        let source = source.clone();
        Place { source, span }
    }

    /// The file.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// An error at this place.
    pub fn error(&self, message: impl fmt::Display) -> RunFileError {
        RunFileError {
            file: self.source.path.clone(),
            line: Some(self.source.line(self.span.start)),
            message: message.to_string(),
        }
    }

    /// Refuses something at this place.
    pub fn refuse<T>(&self, message: impl fmt::Display) -> Result<T> {
        Err(self.error(message))
    }
}

/// A value and where it was typed.
#[derive(Clone, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where it was typed.
    pub place: Place,
}

impl<T> At<T> {
    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> At<U> {
        At {
            value: f(self.value),
            place: self.place,
        }
    }
}

/// What is wrong with a run file: file, line and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFileError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1; none where the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for RunFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown::path(&self.file))?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for RunFileError {}

/// Result with this module's [`RunFileError`].
pub type Result<T> = std::result::Result<T, RunFileError>;

/// Errors of the mathematics, told at a place of the run file.
pub trait AtPlace<T> {
    /// Adds the place.
    fn at(self, place: &Place) -> Result<T>;
}

impl<T, E: fmt::Display> AtPlace<T> for std::result::Result<T, E> {
    fn at(self, place: &Place) -> Result<T> {
        self.map_err(|e| place.error(e))
    }
}
