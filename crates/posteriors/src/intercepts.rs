//! Regression with an intercept for each group, as for radon in houses of counties.

use langevin::real::Real;
use langevin::target::Target;

use crate::data::Source;

/// y ~ N(α_g + βx, σ²) in group g, α_g ~ N(μ, τ²), μ, β ~ N(0, 10²), τ, σ ~ half-normal(1).
///
/// Coordinates are μ, β, log τ, log σ and, centred, the α_g; otherwise (α_g − μ)/τ.
///
/// ```
/// use langevin::target::Target;
/// use langevin_posteriors::intercepts::Intercepts;
/// assert_eq!(Intercepts::<true>::radon().dim(), 34);
/// ```
#[derive(Clone, Debug)]
pub struct Intercepts<const CENTRED: bool> {
    /// (x, y) of the houses of each group.
    groups: Vec<Vec<(f64, f64)>>,
    n: f64,
}

impl<const CENTRED: bool> Intercepts<CENTRED> {
    /// Thirty counties of one to twelve houses; x says whether a house was measured on its ground
    /// floor.
    pub fn radon() -> Self {
        let mut source = Source::new(31);
        let group = |g: usize| -> Vec<(f64, f64)> {
            let intercept = 1.5 + 0.35 * source.normal();
            let house = |_| {
                let x = source.coin(0.2);
                (x, intercept - 0.7 * x + 0.75 * source.normal())
            };
            (0..1 + g * 7 % 12).map(house).collect()
        };
        let groups: Vec<_> = (0..30).map(group).collect();
        let n = groups.iter().map(Vec::len).sum::<usize>() as f64;
        Intercepts { groups, n }
    }

    #[inline(always)]
    fn both<R: Real>(&self, theta: &[R], _: &mut [R], out: &mut [R]) -> R {
        let (mu, beta, log_tau, log_sigma) = (theta[0], theta[1], theta[2], theta[3]);
        let (tau, sigma) = (log_tau.exp(), log_sigma.exp());
        let (w_tau, w_sigma) = ((tau * tau).recip(), (sigma * sigma).recip());
        let mut sum = log_tau - log_sigma * (self.n - 1.0);
        sum -= ((mu * mu + beta * beta) * 0.01 + tau * tau + sigma * sigma) * 0.5;
        let (mut by_mu, mut by_beta) = (mu * -0.01, beta * -0.01);
        let mut by_log_tau = R::one() - tau * tau;
        let mut squares = R::zero();
        for (g, houses) in self.groups.iter().enumerate() {
            let u = theta[4 + g];
            let intercept = if CENTRED { u } else { mu + tau * u };
            let mut pull = R::zero();
            for &(x, y) in houses {
                let residual = -intercept - beta * x + y;
                squares += residual * residual;
                pull += residual;
                by_beta += residual * w_sigma * x;
            }
            pull *= w_sigma;
            if CENTRED {
                let back = (u - mu) * w_tau;
                let z2 = (u - mu) * back;
                out[4 + g] = pull - back;
                by_mu += back;
                by_log_tau += z2 - 1.0;
                sum -= z2 * 0.5 + log_tau;
            } else {
                out[4 + g] = pull * tau - u;
                by_mu += pull;
                by_log_tau += pull * tau * u;
                sum -= u * u * 0.5;
            }
        }
        squares *= w_sigma;
        out[0] = by_mu;
        out[1] = by_beta;
        out[2] = by_log_tau;
        out[3] = squares - sigma * sigma - (self.n - 1.0);
        sum - squares * 0.5
    }
}

impl<const CENTRED: bool> Target for Intercepts<CENTRED> {
    fn dim(&self) -> usize {
        4 + self.groups.len()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mu, beta, log_tau, log_sigma) = (theta[0], theta[1], theta[2], theta[3]);
        let (tau, sigma) = (log_tau.exp(), log_sigma.exp());
        let mut sum = log_tau + log_sigma;
        sum -= ((mu * mu + beta * beta) * 0.01 + tau * tau + sigma * sigma) * 0.5;
        for (g, houses) in self.groups.iter().enumerate() {
            let u = theta[4 + g];
            let (z, intercept) = if CENTRED {
                sum -= log_tau;
                ((u - mu) / tau, u)
            } else {
                (u, mu + tau * u)
            };
            sum -= z * z * 0.5;
            for &(x, y) in houses {
                let r = (-intercept - beta * x + y) / sigma;
                sum -= r * r * 0.5 + log_sigma;
            }
        }
        sum
    }

    in_one_pass!();
}
