//! The models of the paper, at any size and with any data: one file for each family.

mod ica;
mod ica_natural;
mod linear_gaussian;
mod logistic;
mod logistic_natural;
mod normal;

pub use ica::Ica;
pub use ica_natural::IcaNatural;
pub use linear_gaussian::LinearGaussian;
pub use logistic::LogisticRegression;
pub use logistic_natural::LogisticNatural;
pub use normal::{NormalNatural, NormalParameters};
