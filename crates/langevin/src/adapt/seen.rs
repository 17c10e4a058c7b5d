//! What a window of a warm-up saw, and what can be told from it.

use super::shape::{FOR_CURVATURE, Pool};

/// Largest eigenvalue of the whitened scores' covariance above which a target is hard.
const MOST_CURVATURE: f64 = 6.0;

/// Share of unstable steps from which on a target is hard: the step suits the bulk and not the tails.
const MOST_UNSTABLE: f64 = 1e-3;

/// What a window saw.
pub(super) struct Seen {
    pub iterations: u64,
    pub gradients: u64,
    pub acceptance: Vec<f64>,
    pub log_density: Vec<f64>,
    pub non_finite: u64,
    /// Share of the proposals whose energy error is very large.
    pub large: f64,
    /// States and scores of every chain.
    pub chains: Vec<Pool>,
    pub first_angle: f64,
}

pub(super) fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// The draws of the healthy chains.
pub(super) fn pool_of(seen: &Seen, healthy: &[bool]) -> Pool {
    let mut pool = Pool {
        dim: seen.chains[0].dim,
        ..Pool::default()
    };
    for (chain, _) in seen.chains.iter().zip(healthy).filter(|(_, h)| **h) {
        pool.states.extend_from_slice(&chain.states);
        pool.scores.extend_from_slice(&chain.scores);
    }
    pool
}

/// Whether the lowest eighth of the chains accepts much less than the others do, by more than chance
/// explains over so many steps, or some steps are unstable, or curvature changes much, by more than chance explains with so many
/// draws (whose largest eigenvalue is about (1 + sqrt(d/n))², n of them worth their name).
pub(super) fn is_hard(seen: &Seen, curvature: f64) -> bool {
    let mut sorted = seen.acceptance.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let eighth = sorted.len().div_ceil(8);
    let gap = 0.15 + 0.65 / (seen.iterations as f64).sqrt();
    let draws = (seen.iterations as usize * sorted.len()).min(FOR_CURVATURE) as f64;
    let chance = (1.0 + (4.0 * seen.chains[0].dim as f64 / draws).sqrt()).powi(2);
    // (A single one is no news.)
    let proposals = (seen.iterations as usize * sorted.len()) as f64;
    let unstable = seen.large > MOST_UNSTABLE.max(1.5 / proposals);
    unstable || mean(&sorted[..eighth]) < mean(&sorted) - gap || curvature > MOST_CURVATURE * chance
}

/// sqrt(1 + B/W) of the worst coordinate, B the variance of the means of healthy chains and W their mean
/// variance.
pub(super) fn rhat(seen: &Seen, healthy: &[bool]) -> f64 {
    let d = seen.chains[0].dim;
    let mut largest = 1.0_f64;
    for i in 0..d {
        let (mut means, mut within) = (vec![], 0.0);
        for (chain, _) in seen.chains.iter().zip(healthy).filter(|(_, h)| **h) {
            let values = || chain.states.iter().skip(i).step_by(d);
            let n = chain.len() as f64;
            let mean = values().sum::<f64>() / n;
            within += values().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            means.push(mean);
        }
        let n = means.len() as f64;
        let centre = mean(&means);
        let between = means
            .iter()
            .map(|m| (m - centre) * (m - centre))
            .sum::<f64>();
        let between = between / (n - 1.0).max(1.0);
        largest = largest.max((1.0 + between * n / within).sqrt());
    }
    largest
}

/// The correlation between neighbouring states, mean over the slowest twentieth of the coordinates.
pub(super) fn slowest_correlation(seen: &Seen, healthy: &[bool]) -> f64 {
    let d = seen.chains[0].dim;
    let chains: Vec<&Pool> = seen
        .chains
        .iter()
        .zip(healthy)
        .filter_map(|(c, h)| h.then_some(c))
        .collect();
    let mut rhos: Vec<f64> = (0..d)
        .map(|i| {
            let all = || {
                chains
                    .iter()
                    .flat_map(|c| c.states.iter().skip(i).step_by(d))
            };
            let n: usize = chains.iter().map(|c| c.len()).sum();
            let mean = all().sum::<f64>() / n as f64;
            let square = all().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
            let (mut product, mut pairs) = (0.0, 0.0);
            for chain in &chains {
                let values = || chain.states.iter().skip(i).step_by(d);
                let next = values().skip(1);
                product += values()
                    .zip(next)
                    .map(|(a, b)| (a - mean) * (b - mean))
                    .sum::<f64>();
                pairs += chain.len().saturating_sub(1) as f64;
            }
            product / pairs / square
        })
        .filter(|rho| rho.is_finite())
        .collect();
    rhos.sort_unstable_by(f64::total_cmp);
    let some = d.div_ceil(20).min(rhos.len());
    match some {
        0 => 0.0,
        _ => mean(&rhos[rhos.len() - some..]),
    }
}
