//! A plain, slow and independent way to draw from a target: random-step MALA with a pooled metric.
//!
//! It makes the reference numbers, and runs on which warnings are tried. It is not meant to be fast.

use langevin::chain::{Chains, How, Records, RunError};
use langevin::dynamics::Dynamics;
use langevin::metric::Constant;
use langevin::oracle::Exact;
use langevin::record::Draws;
use langevin::rng::{Rng, Stream};
use langevin::target::Target;
use langevin::transition::Mala;
use nalgebra::DMatrix;

/// Draws with what was told about them, chain after chain, draw after draw.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// States.
    pub draws: Vec<f64>,
    /// Scores at them.
    pub scores: Vec<f64>,
    /// Probabilities of acceptance.
    pub acceptance: Vec<f64>,
    /// log π.
    pub log_densities: Vec<f64>,
}

/// How long a target is explored.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Number of chains.
    pub n_chains: usize,
    /// Steps of each window of warm-up; there are [`WINDOWS`].
    pub window: u64,
    /// Draws of each chain.
    pub n_draws: u64,
    /// Steps for each draw.
    pub thin: u64,
    /// Seed.
    pub seed: u64,
}

/// Windows of warm-up: the step is tuned in each, the metric in all but the first four.
pub const WINDOWS: usize = 40;
/// What MALA should accept.
const ACCEPTANCE: f64 = 0.6;

/// Runs chains from starts N(0, spread²) around a centre: warm-up with a metric from all chains, then
/// draws with all of it frozen.
pub fn explore<T: Target>(
    target: &T,
    centre: &[f64],
    spread: f64,
    effort: Effort,
) -> Result<Explored, RunError> {
    let d = target.dim();
    let oracle = Exact::new(target);
    let start = |chain: usize| {
        let mut rng = Rng::new(effort.seed, chain as u64, Stream::Start);
        centre.iter().map(|c| c + spread * rng.normal()).collect()
    };
    let starts: Vec<Vec<f64>> = (0..effort.n_chains).map(start).collect();
    let mut chains = Chains::new(effort.seed, 0, starts)?;
    let mut metric = Constant::identity(d);
    let mut log_step = (0.01 / d as f64).ln();
    for window in 0..WINDOWS {
        let dynamics = Dynamics::rm(metric.clone());
        let mala = Mala::new(&dynamics, log_step.exp())?;
        let first = chains.step();
        let keep = || Draws::new(first, 2, usize::MAX).with_reports();
        let mut records = Records::new(&chains, &oracle, keep);
        chains.advance(&oracle, &mala, effort.window, &mut records, &How::default())?;
        let seen = gather(&records);
        let mean = seen.acceptance.iter().sum::<f64>() / seen.acceptance.len() as f64;
        log_step += (if window < 20 { 2.0 } else { 0.7 }) * (mean - ACCEPTANCE);
        if (4..30).contains(&window) && window % 3 == 1 {
            if window == 4 {
                // From here on steps are in units of the spread.
                log_step = (0.3 / (d as f64).cbrt()).ln();
            }
            metric = pooled(&seen.draws, d, effort.n_chains)?;
        }
    }
    let dynamics = Dynamics::rm(metric);
    let mala = Mala::new(&dynamics, log_step.exp())?;
    let first = chains.step() + effort.thin;
    let keep = || {
        let draws = Draws::new(first, effort.thin, effort.n_draws as usize);
        draws.with_reports().with_scores()
    };
    let mut records = Records::new(&chains, &oracle, keep);
    let n_steps = effort.thin * (effort.n_draws + 1);
    chains.advance(&oracle, &mala, n_steps, &mut records, &How::default())?;
    Ok(gather(&records))
}

fn gather(records: &Records<Draws>) -> Explored {
    let mut all = Explored::default();
    for (_, record, lane) in records.chains() {
        all.draws.extend(record.chain(lane));
        all.scores.extend(record.scores(lane).unwrap_or_default());
        for told in record.reports(lane).unwrap_or_default() {
            all.acceptance.push(told.acceptance);
            all.log_densities.push(told.log_density);
        }
    }
    all
}

/// Covariance of all draws, shrunk to its diagonal as if by d draws, of which a window has few.
fn pooled(draws: &[f64], d: usize, n_chains: usize) -> Result<Constant, RunError> {
    let n = (draws.len() / d) as f64;
    let mean: Vec<f64> = (0..d)
        .map(|i| draws.iter().skip(i).step_by(d).sum::<f64>() / n)
        .collect();
    let mut covariance = DMatrix::zeros(d, d);
    for row in draws.chunks_exact(d) {
        for i in 0..d {
            for j in 0..=i {
                covariance[(i, j)] += (row[i] - mean[i]) * (row[j] - mean[j]) / n;
            }
        }
    }
    let share = d as f64 / (d as f64 + 4.0 * n_chains as f64);
    for i in 0..d {
        covariance[(i, i)] += 1e-12;
        for j in 0..i {
            covariance[(i, j)] *= 1.0 - share;
            covariance[(j, i)] = covariance[(i, j)];
        }
    }
    Ok(Constant::dense(&covariance)?)
}
