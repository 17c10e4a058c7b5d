//! The parts of the program `langevin`, as a library that its tests and examples use.

pub mod commands;
pub mod files;
pub mod paper;
pub mod png;
pub mod progress;
pub mod terminal;
pub mod view;
pub mod waiting;
