//! Stan models in the shared libraries that BridgeStan (version 2) builds.

mod library;
mod names;

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::{fmt, fs, io, ptr};

use langevin::foreign::{Failure, ForeignDensity, ForeignTarget, Worker};
use libloading::Library;
use thiserror::Error;

use crate::store::{Layout, StoreError};
use crate::target::{Own, Sampled, Target};
use library::{Functions, Pointer, copy};
use names::{Array, arrays};

/// Libraries that were built without STAN_THREADS have one tape for automatic differentiation.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// What can go wrong with a Stan model.
#[derive(Debug, Error)]
pub enum StanError {
    /// The library cannot be loaded.
    #[error("cannot load the library {}: {reason}", path.display())]
    Library {
        /// The library.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The library is none of BridgeStan's.
    #[error("the library has no function {name}; build it with bridgestan.compile_model")]
    NoFunction {
        /// The function that is missing.
        name: &'static str,
    },
    /// The data cannot be handed to C.
    #[error("the data hold a zero character")]
    ZeroCharacter,
    /// What the model itself says.
    #[error("{0}")]
    Model(String),
    /// Numbers of another size.
    #[error("each row has {found} numbers, but {expected} were expected")]
    Width {
        /// Numbers that were given.
        found: usize,
        /// Numbers that the model has.
        expected: usize,
    },
    /// The parameters have names that a store cannot hold.
    #[error(transparent)]
    Names(#[from] StoreError),
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
}

type Result<T> = std::result::Result<T, StanError>;

/// A Stan model with its data.
pub struct StanModel {
    model: Pointer,
    name: String,
    dim: usize,
    /// Number of parameters on the model's own scale.
    width: usize,
    /// Whether functions may be called from several threads at the same time.
    threaded: bool,
    /// For each number of the layout, its place among the parameters: Stan runs through arrays
    /// column by column.
    order: Vec<usize>,
    functions: Functions,
    /// Dropped last: everything above points into it.
    _library: Library,
}

// SAFETY: a BridgeStan model is immutable once constructed, and its functions may be called from
// several threads when the library was built with STAN_THREADS; calls of a library that was built
// without pass one lock (`StanModel::turn`).
unsafe impl Send for StanModel {}
unsafe impl Sync for StanModel {}

impl fmt::Debug for StanModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StanModel({:?})", self.name)
    }
}

impl Drop for StanModel {
    fn drop(&mut self) {
        // SAFETY: constructed by the same library, and never used again.
        unsafe { (self.functions.destruct)(self.model) }
    }
}

fn lock() -> MutexGuard<'static, ()> {
    // Nothing is behind the lock that a panic could have left half done.
    ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner())
}

impl StanModel {
    /// Loads the library, which runs code of its own, and constructs the model from data in JSON.
    pub fn load(path: &Path, data: &str, seed: u32) -> Result<Self> {
        // SAFETY: loading runs the library's initialisers; that is what the caller asks for.
        let library = unsafe { Library::new(path) }.map_err(|e| StanError::Library {
            path: path.into(),
            reason: e.to_string(),
        })?;
        // SAFETY: the caller asks for such a library, and it is kept beside its functions.
        let functions = unsafe { Functions::of(&library) }?;
        let text = CString::new(data).map_err(|_| StanError::ZeroCharacter)?;
        let mut error = ptr::null_mut();
        let turn = lock();
        // SAFETY: a C string and a place for a message.
        let model = unsafe { (functions.construct)(text.as_ptr(), seed, &mut error) };
        drop(turn);
        if model.is_null() {
            return Err(StanError::Model(functions.message(error)));
        }
        // SAFETY: the model was just constructed; texts live as long as it does.
        let (name, dim, width, info) = unsafe {
            (
                copy((functions.name)(model)),
                (functions.unc_num)(model) as usize,
                (functions.param_num)(model, false, false) as usize,
                copy((functions.info)(model)),
            )
        };
        let mut made = StanModel {
            model,
            name,
            dim,
            width,
            threaded: info.contains("STAN_THREADS=true"),
            order: vec![],
            functions,
            _library: library,
        };
        made.order = arrays(&made.parameter_names())
            .iter()
            .flat_map(Array::row_by_row)
            .collect();
        Ok(made)
    }

    /// Whether several threads may call the functions at the same time: whether the library was
    /// built with STAN_THREADS.
    pub fn threaded(&self) -> bool {
        self.threaded
    }

    /// Names of the parameters on the model's own scale, one for each number, as Stan orders them.
    pub fn parameter_names(&self) -> Vec<String> {
        // SAFETY: a string that lives as long as the model.
        let names = unsafe { copy((self.functions.param_names)(self.model, false, false)) };
        let names = names.split(',').filter(|name| !name.is_empty());
        names.map(String::from).collect()
    }

    /// Names and shapes of the parameters, arrays row by row.
    pub fn layout(&self) -> Result<Layout> {
        let arrays = arrays(&self.parameter_names());
        Ok(Layout::new(arrays.iter().map(Array::param).collect())?)
    }

    /// Held while a function of a library without STAN_THREADS runs.
    fn turn(&self) -> Option<MutexGuard<'static, ()>> {
        (!self.threaded).then(lock)
    }

    /// States on the model's own scale, as Stan orders their numbers; a state that is not finite
    /// stays NaN.
    pub fn constrain(&self, thetas: &[f64]) -> Result<Vec<f64>> {
        let mut out = vec![f64::NAN; thetas.len() / self.dim.max(1) * self.width];
        let _turn = self.turn();
        let rows = thetas.chunks_exact(self.dim);
        for (theta, out) in rows.zip(out.chunks_exact_mut(self.width)) {
            if theta.iter().any(|x| !x.is_finite()) {
                continue;
            }
            let mut error = ptr::null_mut();
            // SAFETY: arrays of the sizes that the model reported; no random numbers are needed
            // without generated quantities.
            let code = unsafe {
                (self.functions.constrain)(
                    self.model,
                    false,
                    false,
                    theta.as_ptr(),
                    out.as_mut_ptr(),
                    ptr::null_mut(),
                    &mut error,
                )
            };
            self.functions.success(code, error)?;
        }
        Ok(out)
    }

    /// States from the model's own scale, as Stan orders their numbers, to that on which chains
    /// move; each row of the argument has `width` numbers.
    pub fn unconstrain(&self, values: &[f64], width: usize) -> Result<Vec<f64>> {
        self.check_width(width, self.width)?;
        let mut out = vec![0.0; values.len() / width * self.dim];
        let _turn = self.turn();
        let rows = values.chunks_exact(width);
        for (value, out) in rows.zip(out.chunks_exact_mut(self.dim)) {
            let mut error = ptr::null_mut();
            let (from, to) = (value.as_ptr(), out.as_mut_ptr());
            // SAFETY: arrays of the sizes that the model reported.
            let code = unsafe { (self.functions.unconstrain)(self.model, from, to, &mut error) };
            self.functions.success(code, error)?;
        }
        Ok(out)
    }

    /// Log densities and scores of states, each of `width` numbers; an error of the model ends it.
    pub fn evaluate(&self, thetas: &[f64], width: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        self.check_width(width, self.dim)?;
        let mut scores = vec![0.0; thetas.len()];
        let rows = thetas.chunks_exact(width);
        let values: Result<Vec<f64>> = rows
            .zip(scores.chunks_exact_mut(width))
            .map(|(theta, score)| self.call(theta, score))
            .collect();
        Ok((values?, scores))
    }

    /// The same on the constrained scale.
    fn check_width(&self, found: usize, expected: usize) -> Result<()> {
        match found == expected {
            true => Ok(()),
            false => Err(StanError::Width { found, expected }),
        }
    }

    /// The log density of the unconstrained parameters, with its gradient.
    fn call(&self, theta: &[f64], score: &mut [f64]) -> Result<f64> {
        let (mut value, mut error) = (f64::NAN, ptr::null_mut());
        let _turn = self.turn();
        // SAFETY: arrays of `dim` entries, and places for the value and a message.
        let code = unsafe {
            (self.functions.gradient)(
                self.model,
                true,
                true,
                theta.as_ptr(),
                &mut value,
                score.as_mut_ptr(),
                &mut error,
            )
        };
        self.functions.success(code, error).map(|()| value)
    }
}

impl Own for StanModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn workers(&self, threads: usize) -> Vec<Worker<'_>> {
        let n = if self.threaded { threads } else { 1 };
        let worker = |_| Worker {
            target: Box::new(StanWorker(self)),
            metric: None,
        };
        (0..n).map(worker).collect()
    }

    fn show(&self, thetas: &[f64], out: &mut Vec<f64>) -> std::result::Result<(), Failure> {
        let values = self.constrain(thetas)?;
        for row in values.chunks_exact(self.width) {
            out.extend(self.order.iter().map(|i| row[*i]));
        }
        Ok(())
    }
}

/// A [`StanModel`] in one thread.
struct StanWorker<'a>(&'a StanModel);

impl ForeignTarget for StanWorker<'_> {
    fn dim(&self) -> usize {
        self.0.dim
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> std::result::Result<(), Failure> {
        let mut values = vec![0.0; thetas.len() / self.0.dim];
        self.log_density_and_score(thetas, &mut values, out)
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl ForeignDensity for StanWorker<'_> {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> std::result::Result<(), Failure> {
        let d = self.0.dim;
        let rows = thetas.chunks_exact(d).zip(scores.chunks_exact_mut(d));
        for ((theta, score), value) in rows.zip(values) {
            // What Stan rejects is outside the support.
            *value = self.0.call(theta, score).unwrap_or(f64::NAN);
            if value.is_nan() {
                score.fill(f64::NAN);
            }
        }
        Ok(())
    }
}

/// A target of a library and a file of data in JSON.
pub fn target(library: &Path, data: Option<&Path>) -> Result<Target> {
    let read = |path: &Path| {
        fs::read(path).map_err(|source| StanError::File {
            path: path.into(),
            source,
        })
    };
    let code = read(library)?;
    let data = data.map(read).transpose()?.unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for part in [&code, &data] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    // A name without a slash would be looked for elsewhere.
    let library = fs::canonicalize(library).unwrap_or_else(|_| library.into());
    let model = StanModel::load(&library, &String::from_utf8_lossy(&data), 0)?;
    let layout = model.layout()?;
    Ok(Target {
        coordinates: (0..model.dim).map(|i| format!("theta[{i}]")).collect(),
        order: (0..model.dim).collect(),
        layout,
        sampled: Sampled::Own(Arc::new(model)),
        fingerprint: Some(hasher.finalize().to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_library_is_refused() {
        let error = StanModel::load(Path::new("/nowhere/model.so"), "", 0).unwrap_err();
        assert!(error.to_string().contains("/nowhere/model.so"), "{error}");
    }
}
