//! The parts of the program `langevin`, as a library that its tests, its examples and the
//! Python package use.

pub mod commands;
pub mod compare;
pub mod csv_data;
pub mod exact;
pub mod execute;
pub mod figure;
pub mod forecast;
pub mod identity;
pub mod machine;
pub mod output;
pub mod report;
pub mod reproduce;
pub mod run_file;
pub mod sample;
pub mod shown;
pub mod starts;
pub mod store;
pub mod temporary;
pub mod terminal;
pub mod units;
pub mod utf8;
pub mod waiting;
