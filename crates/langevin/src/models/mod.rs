//! The models of the paper, at any size and with any data: one file for each family.

mod ica;
mod linear_gaussian;
mod logistic;
mod normal;

pub use ica::{Ica, IcaNatural};
pub use linear_gaussian::LinearGaussian;
pub use logistic::{LogisticFisher, LogisticRegression};
pub use normal::{NormalFisher, NormalParameters};
