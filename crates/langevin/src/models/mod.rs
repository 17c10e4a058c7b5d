//! The models of the paper, at any size and with any data: one file for each family.

mod ica;
mod ica_metric;
mod ica_rows;
mod linear_gaussian;
mod logistic;
mod logistic_metric;
mod normal;
mod one_chain;
mod products;
mod row_wise;

pub use ica::Ica;
pub use ica_metric::IcaNatural;
pub use linear_gaussian::LinearGaussian;
pub use logistic::LogisticRegression;
pub use logistic_metric::LogisticFisher;
pub use normal::{NormalFisher, NormalParameters};
