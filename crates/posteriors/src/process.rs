//! A Gaussian process with unknown scales.

use langevin::linalg;
use langevin::real::Real;
use langevin::target::Target;

use crate::data::Source;

const N: usize = 20;

/// y ~ N(0, K), Kᵢⱼ = a² exp(−(xᵢ − xⱼ)²/2ρ²) + σ² δᵢⱼ; ρ ~ inverse gamma(5, 5), a and σ ~
/// half-normal(1). Coordinates are log ρ, log a, log σ.
#[derive(Clone, Debug)]
pub struct Process {
    x: [f64; N],
    y: [f64; N],
}

impl Process {
    /// Noisy values of a wave.
    pub fn simulated() -> Self {
        let mut source = Source::new(71);
        let x: [f64; N] = std::array::from_fn(|i| -5.0 + 10.0 * i as f64 / (N - 1) as f64);
        let y = x.map(|x| (1.1 * x).sin() + 0.3 * x + 0.4 * source.normal());
        Process { x, y }
    }
}

impl Target for Process {
    fn dim(&self) -> usize {
        3
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let [rho, a, sigma] = [theta[0].exp(), theta[1].exp(), theta[2].exp()];
        let (a2, noise) = (a * a, sigma * sigma);
        let rate = (rho * rho).recip() * -0.5;
        let mut k = [R::zero(); N * N];
        for i in 0..N {
            for j in 0..i {
                k[i * N + j] = a2 * (rate * (self.x[i] - self.x[j]).powi(2)).exp();
            }
            k[i * N + i] = a2 + noise;
        }
        linalg::cholesky(&mut k, N);
        let mut white = self.y.map(R::of);
        linalg::solve_lower(&k, N, &mut white);
        // ρ has density ρ^(−6) e^(−5/ρ), and log ρ that times ρ.
        let mut sum = theta[0] * -5.0 - rho.recip() * 5.0 + theta[1] + theta[2];
        sum -= (a2 + noise + linalg::log_det(&k, N)) * 0.5;
        for w in white {
            sum -= w * w * 0.5;
        }
        sum
    }
}
