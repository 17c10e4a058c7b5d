//! Matrix equations of linear stochastic systems: Stein, Lyapunov, and the largest stable step.

use nalgebra::{DMatrix, Schur};

use crate::{Error, Result};

/// Each doubling squares the matrix, so 64 of them reach past any representable decay rate.
const MAX_DOUBLINGS: usize = 64;

/// What is left of a power of a contraction when it no longer changes a sum in double precision.
const NEGLIGIBLE: f64 = 1e-18;

/// Solution of the Stein equation `P = FᵀPF + S`, the sum `Σ_k (Fᵀ)^k S F^k`.
///
/// Doubling (Smith's method): after j rounds the sum has 2^j terms, so no d² × d² system is built.
pub(super) fn stein(f: &DMatrix<f64>, s: &DMatrix<f64>) -> Result<DMatrix<f64>> {
    let mut power = f.clone();
    let mut sum = s.clone();
    for _ in 0..MAX_DOUBLINGS {
        sum += power.tr_mul(&sum) * &power;
        power = &power * &power;
        if power.norm() < NEGLIGIBLE {
            return Ok(sum);
        }
    }
    Err(Error::Breakdown {
        name: "the solution of the Stein equation",
    })
}

/// Solution of the Lyapunov equation `MᵀP + PM = S` for M with spectrum in the right half plane.
///
/// The Cayley transform `F = (pI − M)(pI + M)⁻¹` turns it into a Stein equation; the geometric
/// mean of the eigenvalues as p balances slow and fast modes.
pub(super) fn lyapunov(m: &DMatrix<f64>, s: &DMatrix<f64>) -> Result<DMatrix<f64>> {
    let d = m.nrows();
    let p = m.determinant().abs().powf(1.0 / d as f64);
    let identity = DMatrix::<f64>::identity(d, d);
    let inverse = (m + &identity * p).try_inverse().ok_or(Error::Breakdown {
        name: "the solution of the Lyapunov equation",
    })?;
    let cayley = &inverse * (2.0 * p) - identity;
    stein(&cayley, &(inverse.tr_mul(s) * &inverse * (2.0 * p)))
}

/// The h at which the spectral radius of `I − hM` reaches 1: the smallest `2 Re λ / |λ|²`.
pub(super) fn largest_stable_step(m: &DMatrix<f64>) -> Result<f64> {
    // QR sweeps converge in a few per eigenvalue; the cap only guards against an endless loop.
    let schur = Schur::try_new(m.clone(), f64::EPSILON, 1000 * m.nrows());
    let eigenvalues = schur
        .ok_or(Error::Breakdown {
            name: "the largest stable step",
        })?
        .complex_eigenvalues();
    Ok(eigenvalues
        .iter()
        .map(|l| 2.0 * l.re / l.norm_sqr())
        .fold(f64::INFINITY, f64::min))
}

/// The power `F^n` by repeated squaring.
pub(super) fn power(f: &DMatrix<f64>, mut n: usize) -> DMatrix<f64> {
    let mut result = DMatrix::identity(f.nrows(), f.nrows());
    let mut square = f.clone();
    while n > 0 {
        if n & 1 == 1 {
            result = &result * &square;
        }
        n >>= 1;
        if n > 0 {
            square = &square * &square;
        }
    }
    result
}

/// The smallest n with negligible `F^n`: what happened n steps ago is forgotten.
pub(super) fn memory(f: &DMatrix<f64>) -> usize {
    let mut powers = vec![f.clone()];
    while powers[powers.len() - 1].norm() >= NEGLIGIBLE && powers.len() < MAX_DOUBLINGS - 1 {
        let last = &powers[powers.len() - 1];
        powers.push(last * last);
    }
    // Binary search for the largest n that is still remembered.
    let mut n = 0;
    let mut current = DMatrix::<f64>::identity(f.nrows(), f.nrows());
    for (j, p) in powers.iter().enumerate().rev() {
        let next = &current * p;
        if next.norm() >= NEGLIGIBLE {
            current = next;
            n += 1usize << j;
        }
    }
    n + 1
}

/// `tr(AB)` for symmetric A, without forming the product.
pub(super) fn trace_of_product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> f64 {
    a.dot(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A real eigenvalue and a complex pair, which is the one that limits the step.
    fn rate() -> DMatrix<f64> {
        DMatrix::from_row_slice(3, 3, &[0.7, 2.0, 0.1, -1.5, 0.9, 0.4, 0.0, 0.3, 1.0])
    }

    fn source() -> DMatrix<f64> {
        DMatrix::from_row_slice(3, 3, &[1.0, 0.2, 0.0, 0.2, -2.0, 0.5, 0.0, 0.5, 0.3])
    }

    #[test]
    fn lyapunov_solution_leaves_no_residual() {
        let (m, s) = (rate(), source());
        let p = lyapunov(&m, &s).unwrap();
        let residual = m.tr_mul(&p) + &p * &m - &s;
        assert!(residual.amax() < 1e-13, "{residual}");
    }

    #[test]
    fn stein_solution_leaves_no_residual() {
        let f = DMatrix::identity(3, 3) - rate() * 0.05;
        let s = source();
        let p = stein(&f, &s).unwrap();
        let residual = f.tr_mul(&p) * &f + &s - &p;
        assert!(residual.amax() < 1e-12 * p.amax(), "{residual}");
    }

    #[test]
    fn stein_refuses_an_unstable_matrix() {
        let f = DMatrix::<f64>::identity(2, 2);
        let refused = stein(&f, &f).unwrap_err();
        assert!(matches!(refused, Error::Breakdown { .. }), "{refused}");
    }

    #[test]
    fn stable_step_is_where_the_power_stops_shrinking() {
        let m = rate();
        let h = largest_stable_step(&m).unwrap();
        let norm = |h: f64| power(&(DMatrix::identity(3, 3) - &m * h), 1 << 14).norm();
        assert!(norm(0.99 * h) < 1e-20);
        assert!(norm(1.01 * h) > 1e20);
    }

    #[test]
    fn memory_is_the_first_negligible_power() {
        let f = DMatrix::identity(3, 3) - rate() * 0.05;
        let n = memory(&f);
        assert!(power(&f, n).norm() < NEGLIGIBLE);
        assert!(power(&f, n - 1).norm() >= NEGLIGIBLE);
    }
}
