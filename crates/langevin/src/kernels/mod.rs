//! Sums over data that take special care to be fast, apart from the formulas that they serve. Every
//! one of them gives the same bits as the plain loop that it stands for, whatever is in lanes
//! ([`row_tiles`] has no such loop: its bits are its own, and the same for any lanes).

pub(crate) mod data_in_lanes;
pub(crate) mod ica_sums;
pub(crate) mod pair_products;
pub(crate) mod row_tiles;
pub(crate) mod rows_of_chains;
