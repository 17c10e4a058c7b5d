//! The functions of a BridgeStan library.

use std::ffi::{CStr, c_char, c_int, c_void};

use libloading::Library;

use super::{Result, StanError};

pub(super) type Pointer = *mut c_void;
pub(super) type Message = *mut *mut c_char;
pub(super) type Construct = unsafe extern "C" fn(*const c_char, u32, Message) -> Pointer;
pub(super) type Destruct = unsafe extern "C" fn(Pointer);
pub(super) type Free = unsafe extern "C" fn(*mut c_char);
pub(super) type ParamNum = unsafe extern "C" fn(Pointer, bool, bool) -> c_int;
pub(super) type UncNum = unsafe extern "C" fn(Pointer) -> c_int;
pub(super) type ParamNames = unsafe extern "C" fn(Pointer, bool, bool) -> *const c_char;
pub(super) type Name = unsafe extern "C" fn(Pointer) -> *const c_char;
pub(super) type Constrain =
    unsafe extern "C" fn(Pointer, bool, bool, *const f64, *mut f64, Pointer, Message) -> c_int;
pub(super) type Unconstrain = unsafe extern "C" fn(Pointer, *const f64, *mut f64, Message) -> c_int;
pub(super) type Gradient =
    unsafe extern "C" fn(Pointer, bool, bool, *const f64, *mut f64, *mut f64, Message) -> c_int;

/// The functions of the library that are used; they stay valid while the library is loaded.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    pub construct: Construct,
    pub destruct: Destruct,
    pub free: Free,
    pub param_num: ParamNum,
    pub unc_num: UncNum,
    pub param_names: ParamNames,
    pub name: Name,
    pub info: Name,
    pub constrain: Constrain,
    pub unconstrain: Unconstrain,
    pub gradient: Gradient,
}

/// Looks up a symbol of the library.
///
/// # Safety
/// `T` must be the type of the symbol.
unsafe fn symbol<T: Copy>(library: &Library, name: &'static str) -> Result<T> {
    // SAFETY: promised by the caller.
    let found = unsafe { library.get::<T>(name) };
    Ok(*found.map_err(|_| StanError::NoFunction { name })?)
}

/// A copy of a text of the library.
///
/// # Safety
/// `text` must be null or a C string.
pub(super) unsafe fn copy(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

impl Functions {
    /// Those of a library.
    ///
    /// # Safety
    /// The library must have the C interface of BridgeStan since version 2, and outlive them.
    pub unsafe fn of(library: &Library) -> Result<Self> {
        // SAFETY: these are the signatures of that interface.
        unsafe {
            Ok(Functions {
                construct: symbol(library, "bs_model_construct")?,
                destruct: symbol(library, "bs_model_destruct")?,
                free: symbol(library, "bs_free_error_msg")?,
                param_num: symbol(library, "bs_param_num")?,
                unc_num: symbol(library, "bs_param_unc_num")?,
                param_names: symbol(library, "bs_param_names")?,
                name: symbol(library, "bs_name")?,
                info: symbol(library, "bs_model_info")?,
                constrain: symbol(library, "bs_param_constrain")?,
                unconstrain: symbol(library, "bs_param_unconstrain")?,
                gradient: symbol(library, "bs_log_density_gradient")?,
            })
        }
    }

    /// Takes over and frees the message that a function left.
    pub fn message(&self, text: *mut c_char) -> String {
        if text.is_null() {
            return "unknown error in the Stan library".into();
        }
        // SAFETY: a C string that the library allocated for us and that `free` releases.
        unsafe {
            let message = copy(text).trim().to_string();
            (self.free)(text);
            message
        }
    }

    pub fn success(&self, code: c_int, error: *mut c_char) -> Result<()> {
        match code {
            0 => Ok(()),
            _ => Err(StanError::Model(self.message(error))),
        }
    }
}
