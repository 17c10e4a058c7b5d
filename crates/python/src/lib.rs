//! The native half of the Python package `langevin`: thin wrappers, one error mapping.
//!
//! Everything that a person sees is written in Python, in `python/langevin`; arguments arrive here
//! as contiguous arrays of the right type.

mod arrays;
mod averages;
mod callback;
mod compiled;
mod errors;
mod model;
mod own;
mod posterior;
mod program;
mod run;
mod scales;
mod skew;
mod stan;
mod stat;
mod stored;
mod supervise;
mod theory;

use pyo3::prelude::*;

/// Registers everything.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<model::Model>()?;
    m.add_class::<run::Recorded>()?;
    m.add_class::<posterior::Posterior>()?;
    m.add_class::<averages::Averages>()?;
    m.add_class::<program::RunFile>()?;
    m.add_class::<program::Compared>()?;
    m.add_class::<stored::Stored>()?;
    m.add_class::<compiled::Compiled>()?;
    m.add_class::<stan::StanModel>()?;
    m.add_class::<theory::LinearDiffusion>()?;
    m.add_class::<theory::EulerChain>()?;
    m.add_class::<theory::NormalPosterior>()?;
    m.add_class::<theory::NormalDiffusion>()?;
    m.add_function(wrap_pyfunction!(run::sample, m)?)?;
    m.add_function(wrap_pyfunction!(posterior::draw, m)?)?;
    m.add_function(wrap_pyfunction!(scales::layout_of, m)?)?;
    m.add_function(wrap_pyfunction!(scales::constrain, m)?)?;
    m.add_function(wrap_pyfunction!(scales::unconstrain, m)?)?;
    m.add_function(wrap_pyfunction!(callback::divergence_error, m)?)?;
    m.add_function(wrap_pyfunction!(averages::ratio, m)?)?;
    m.add_function(wrap_pyfunction!(program::style, m)?)?;
    skew::register(m)?;
    stat::register(m)
}
