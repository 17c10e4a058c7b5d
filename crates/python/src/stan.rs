//! Stan models in the shared libraries that BridgeStan builds.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, MutexGuard};

use langevin::foreign::{Failure, ForeignTarget};
use libloading::Library;
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::arrays::{rows, table};

type Pointer = *mut c_void;
type Message = *mut *mut c_char;
type Construct = unsafe extern "C" fn(*const c_char, u32, Message) -> Pointer;
type Destruct = unsafe extern "C" fn(Pointer);
type Free = unsafe extern "C" fn(*mut c_char);
type ParamNum = unsafe extern "C" fn(Pointer, bool, bool) -> c_int;
type UncNum = unsafe extern "C" fn(Pointer) -> c_int;
type ParamNames = unsafe extern "C" fn(Pointer, bool, bool) -> *const c_char;
type Name = unsafe extern "C" fn(Pointer) -> *const c_char;
type Constrain =
    unsafe extern "C" fn(Pointer, bool, bool, *const f64, *mut f64, Pointer, Message) -> c_int;
type Unconstrain = unsafe extern "C" fn(Pointer, *const f64, *mut f64, Message) -> c_int;
type Gradient =
    unsafe extern "C" fn(Pointer, bool, bool, *const f64, *mut f64, *mut f64, Message) -> c_int;

/// Libraries that were built without STAN_THREADS have one tape for automatic differentiation.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The functions of the library that are used; they stay valid while the library is loaded.
#[derive(Clone, Copy)]
struct Functions {
    destruct: Destruct,
    free: Free,
    param_num: ParamNum,
    unc_num: UncNum,
    param_names: ParamNames,
    name: Name,
    info: Name,
    constrain: Constrain,
    unconstrain: Unconstrain,
    gradient: Gradient,
}

/// A Stan model with its data.
#[pyclass(frozen, module = "langevin._core")]
pub struct StanModel {
    model: Pointer,
    dim: usize,
    /// Whether functions may be called from several threads at the same time.
    threaded: bool,
    functions: Functions,
    /// Dropped last: everything above points into it.
    _library: Library,
}

// SAFETY: a BridgeStan model is immutable once constructed, and its functions may be called from
// several threads when the library was built with STAN_THREADS; calls of a library that was built
// without pass one lock (`StanModel::turn`).
unsafe impl Send for StanModel {}
unsafe impl Sync for StanModel {}

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

/// Looks up a symbol of the library.
///
/// # Safety
/// `T` must be the type of the symbol.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> PyResult<T> {
    // SAFETY: promised by the caller.
    let found = unsafe { library.get::<T>(name) };
    let missing = |_| {
        PyValueError::new_err(format!(
            "the library has no function {name}; build it with bridgestan.compile_model"
        ))
    };
    Ok(*found.map_err(missing)?)
}

/// Takes over and frees the message that a function left.
fn message(free: Free, text: *mut c_char) -> String {
    if text.is_null() {
        return "unknown error in the Stan library".into();
    }
    // SAFETY: a C string that the library allocated for us and that `free` releases.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().trim().to_string();
        free(text);
        copy
    }
}

#[pymethods]
impl StanModel {
    /// Loads the library and constructs the model from data in JSON, or the name of a file.
    #[new]
    fn new(path: &str, data: &str, seed: u32) -> PyResult<Self> {
        // SAFETY: loading runs the library's initialisers; that is what the caller asks for.
        let library =
            unsafe { Library::new(path) }.map_err(|e| PyOSError::new_err(e.to_string()))?;
        // SAFETY: these are the signatures of BridgeStan's C interface since version 2.
        let (construct, functions) = unsafe {
            let construct: Construct = symbol(&library, "bs_model_construct")?;
            let functions = Functions {
                destruct: symbol(&library, "bs_model_destruct")?,
                free: symbol(&library, "bs_free_error_msg")?,
                param_num: symbol(&library, "bs_param_num")?,
                unc_num: symbol(&library, "bs_param_unc_num")?,
                param_names: symbol(&library, "bs_param_names")?,
                name: symbol(&library, "bs_name")?,
                info: symbol(&library, "bs_model_info")?,
                constrain: symbol(&library, "bs_param_constrain")?,
                unconstrain: symbol(&library, "bs_param_unconstrain")?,
                gradient: symbol(&library, "bs_log_density_gradient")?,
            };
            (construct, functions)
        };
        let text = CString::new(data)
            .map_err(|_| PyValueError::new_err("the data hold a zero character"))?;
        let mut error = ptr::null_mut();
        let turn = lock();
        // SAFETY: a C string and a place for a message.
        let model = unsafe { construct(text.as_ptr(), seed, &mut error) };
        drop(turn);
        if model.is_null() {
            return Err(PyValueError::new_err(message(functions.free, error)));
        }
        let mut made = StanModel {
            model,
            // SAFETY: the model was just constructed.
            dim: unsafe { (functions.unc_num)(model) } as usize,
            threaded: false,
            functions,
            _library: library,
        };
        // SAFETY: a string that lives as long as the model.
        let info = unsafe { made.text((functions.info)(model)) };
        made.threaded = info.contains("STAN_THREADS=true");
        Ok(made)
    }

    /// Whether the library was built with STAN_THREADS.
    #[getter]
    #[pyo3(name = "threaded")]
    fn py_threaded(&self) -> bool {
        self.threaded
    }

    #[getter]
    fn name(&self) -> String {
        // SAFETY: a string that lives as long as the model.
        unsafe { self.text((self.functions.name)(self.model)) }
    }

    #[getter]
    #[pyo3(name = "dim")]
    fn py_dim(&self) -> usize {
        self.dim
    }

    /// Names of the constrained parameters, one for each number.
    #[getter]
    fn parameter_names(&self) -> Vec<String> {
        // SAFETY: a string that lives as long as the model.
        let names = unsafe { self.text((self.functions.param_names)(self.model, false, false)) };
        names
            .split(',')
            .filter(|n| !n.is_empty())
            .map(String::from)
            .collect()
    }

    /// States on the constrained scale.
    fn constrain<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // SAFETY: the model is alive.
        let width = unsafe { (self.functions.param_num)(self.model, false, false) } as usize;
        let n = thetas.shape()[0];
        let thetas = self.checked(&thetas, self.dim)?;
        let mut out = vec![f64::NAN; n * width];
        let _turn = self.turn();
        for (theta, out) in thetas
            .chunks_exact(self.dim)
            .zip(out.chunks_exact_mut(width))
        {
            // A chain that has escaped stays NaN.
            if theta.iter().all(|x| x.is_finite()) {
                let mut error = ptr::null_mut();
                // SAFETY: arrays of the sizes that the model reported; no random numbers are
                // needed without generated quantities.
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
                self.success(code, error)?;
            }
        }
        Ok(table(py, &out, n))
    }

    /// One state from the constrained to the unconstrained scale.
    fn unconstrain<'py>(
        &self,
        py: Python<'py>,
        values: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let n = values.shape()[0];
        // SAFETY: the model is alive.
        let width = unsafe { (self.functions.param_num)(self.model, false, false) } as usize;
        let values = self.checked(&values, width)?;
        let mut out = vec![0.0; n * self.dim];
        let _turn = self.turn();
        for (value, out) in values
            .chunks_exact(width)
            .zip(out.chunks_exact_mut(self.dim))
        {
            let mut error = ptr::null_mut();
            // SAFETY: arrays of the sizes that the model reported.
            let code = unsafe {
                (self.functions.unconstrain)(
                    self.model,
                    value.as_ptr(),
                    out.as_mut_ptr(),
                    &mut error,
                )
            };
            self.success(code, error)?;
        }
        Ok(table(py, &out, n))
    }

    /// Log densities and gradients; an error of the model is raised.
    #[allow(clippy::type_complexity)]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        thetas: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
        let n = thetas.shape()[0];
        let thetas = self.checked(&thetas, self.dim)?;
        let mut scores = vec![0.0; thetas.len()];
        let values: Result<Vec<f64>, String> = py.detach(|| {
            let pairs = thetas.chunks_exact(self.dim);
            pairs
                .zip(scores.chunks_exact_mut(self.dim))
                .map(|(theta, score)| self.call(theta, score))
                .collect()
        });
        let values = values.map_err(PyRuntimeError::new_err)?;
        Ok((PyArray1::from_vec(py, values), table(py, &scores, n)))
    }
}

impl StanModel {
    /// Number of unconstrained coordinates.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Whether several threads may call the functions at the same time.
    pub fn threaded(&self) -> bool {
        self.threaded
    }

    /// Held while a function of a library without STAN_THREADS runs.
    fn turn(&self) -> Option<MutexGuard<'static, ()>> {
        (!self.threaded).then(lock)
    }

    /// This model for one thread.
    pub fn worker(&self) -> StanWorker<'_> {
        StanWorker(self)
    }

    /// # Safety
    /// `text` must be null or a C string.
    unsafe fn text(&self, text: *const c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: promised by the caller.
        unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned()
    }

    fn success(&self, code: c_int, error: *mut c_char) -> PyResult<()> {
        match code {
            0 => Ok(()),
            _ => Err(PyValueError::new_err(message(self.functions.free, error))),
        }
    }

    fn checked(&self, thetas: &PyReadonlyArray2<'_, f64>, expected: usize) -> PyResult<Vec<f64>> {
        let columns = thetas.shape()[1];
        if columns != expected {
            return Err(PyValueError::new_err(format!(
                "each row has {columns} numbers, but {expected} were expected"
            )));
        }
        Ok(rows(thetas))
    }

    /// The log density of the unconstrained parameters, with its gradient.
    fn call(&self, theta: &[f64], score: &mut [f64]) -> Result<f64, String> {
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
        match code {
            0 => Ok(value),
            _ => Err(message(self.functions.free, error)),
        }
    }
}

/// A [`StanModel`] in one thread.
pub struct StanWorker<'a>(&'a StanModel);

impl ForeignTarget for StanWorker<'_> {
    fn dim(&self) -> usize {
        self.0.dim
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let d = self.0.dim;
        for (theta, score) in thetas.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            // What Stan rejects is outside the support: an escape of this chain.
            if self.0.call(theta, score).is_err() {
                score.fill(f64::NAN);
            }
        }
        Ok(())
    }
}
