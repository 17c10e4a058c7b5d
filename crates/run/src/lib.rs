//! Jobs on anything that can be sampled: run files, tasks cut into units, their execution and cache,
//! stores of draws, comparisons. The program and the Python package are front ends of this crate.

pub mod compare;
pub mod csv_data;
pub mod exact;
pub mod execute;
pub mod forecast;
mod identity;
pub mod machine;
pub mod output;
pub mod posterior;
pub mod run_file;
pub mod sample;
pub mod shown;
pub mod stan;
pub mod starts;
pub mod store;
pub mod summary;
pub mod target;
pub mod temporary;
pub mod units;
mod utf8;
