//! Sums over all data of logistic functions, with the score, for chains in lanes.
//!
//! Eight rows at a time: a coordinate of θ, or of the sum, is loaded once for eight multiplications, the
//! eight products stay in registers, and their elementary functions share a division and a logarithm.

use crate::real::Real;
use crate::rows::Rows;

/// Rows in a tile.
const TILE: usize = 8;
/// What a row that is not there has for z: its logistic function is 0, and so is ln(1 + e^z).
const NOTHING: f64 = -1e3;

/// Adds `Σ logistic(−x·θ) x` to `out` and returns `Σ ln(1 + e^(−x·θ))`, to some roundings of 1 for each
/// row.
#[inline(always)]
pub(crate) fn logistic_loss_and_pull<R: Real>(rows: &Rows, theta: &[R], out: &mut [R]) -> R {
    let (n, d) = (rows.len(), theta.len());
    let out = &mut out[..d];
    let mut loss = R::zero();
    for first in (0..n).step_by(TILE) {
        let tile: [&[f64]; TILE] = std::array::from_fn(|k| &rows.row((first + k).min(n - 1))[..d]);
        let mut z = [R::zero(); TILE];
        for i in 0..d {
            let minus = -theta[i];
            for k in 0..TILE {
                z[k] = minus.mul_add(R::of(tile[k][i]), z[k]);
            }
        }
        let there = (n - first).min(TILE);
        z[there..].fill(R::of(NOTHING));
        loss += R::logistics_of_eight(&mut z);
        z[there..].fill(R::zero());
        for i in 0..d {
            let mut sum = out[i];
            for k in 0..TILE {
                sum = z[k].mul_add(R::of(tile[k][i]), sum);
            }
            out[i] = sum;
        }
    }
    loss
}
