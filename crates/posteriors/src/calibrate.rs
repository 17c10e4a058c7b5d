//! Simulation-based calibration of whole runs (Talts, Betancourt, Simpson, Vehtari and Gelman, 2018).
//!
//! Parameters are drawn from their prior, data from these parameters, and a posterior of the data.
//! Then the parameters are as good as one more draw: their ranks among independent draws are uniform,
//! whatever the model. Any flaw on the way shows, from the density to the stopping rule.

use std::fmt;

use langevin::chain::Control;
use langevin::real::Real;
use langevin::rng::{Rng, Stream};
use langevin::target::Target;
use langevin_run::execute::ExecuteError;
use langevin_run::posterior::{Drawn, Settings, Wanted, draw};

use crate::data::Source;
use crate::own;

/// Draws among which the parameters are ranked: five of each of sixteen chains, less one.
const RANKED: usize = 79;
const PER_CHAIN: usize = 5;
const CHAINS: usize = 16;
/// Bins of the χ² test.
const BINS: usize = 20;

/// y ~ N(μ, σ) twenty times, μ ~ N(0, 2), log σ ~ N(0, ½).
#[derive(Clone, Debug)]
pub struct Normal(Vec<f64>);

impl Target for Normal {
    fn dim(&self) -> usize {
        2
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mu, log_sigma) = (theta[0], theta[1]);
        let precision = (log_sigma * -2.0).exp();
        let mut squares = R::zero();
        for y in &self.0 {
            let off = -mu + *y;
            squares += off * off;
        }
        precision * squares * -0.5
            - log_sigma * self.0.len() as f64
            - mu * mu * 0.125
            - log_sigma * log_sigma * 2.0
    }
}

/// y ~ Poisson(e^(x·w)) thirty times, an intercept and two features, w ~ N(0, ½).
#[derive(Clone, Debug)]
pub struct Counts(Vec<([f64; 3], f64)>);

impl Target for Counts {
    fn dim(&self) -> usize {
        3
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut sum = R::zero();
        for w in theta {
            sum -= *w * *w * 2.0;
        }
        for (x, y) in &self.0 {
            let rate = theta[0] * x[0] + theta[1] * x[1] + theta[2] * x[2];
            sum += rate * *y - rate.exp();
        }
        sum
    }
}

/// y ~ N(μ + τη, 0.7) once for each of six η ~ N(0, 1), μ ~ N(0, 1), log τ ~ N(0, ½).
#[derive(Clone, Debug)]
pub struct Groups(Vec<f64>);

impl Target for Groups {
    fn dim(&self) -> usize {
        2 + self.0.len()
    }
    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (mu, log_tau) = (theta[0], theta[1]);
        let tau = log_tau.exp();
        let mut sum = mu * mu * -0.5 - log_tau * log_tau * 2.0;
        for (eta, y) in theta[2..].iter().zip(&self.0) {
            let off = (mu + tau * *eta - *y) * (1.0 / 0.7);
            sum -= (*eta * *eta + off * off) * 0.5;
        }
        sum
    }
}

/// What a number of simulations of one model gave.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The model.
    pub model: &'static str,
    /// For each simulation, the normal score of the rank of each parameter: N(0, 1) if all is well.
    pub scores: Vec<Vec<f64>>,
    /// Differences to longer runs in standard errors: N(0, 1) too, of means and standard deviations.
    pub differences: Vec<f64>,
    /// Runs with a warning.
    pub warned: usize,
}

/// Runs `n` simulations of each model, and a longer run of every `longer`-th, if that is not 0.
/// Draws are moved away from their mean by the factor `inflation`: 1, but for negative controls.
pub fn calibrate(
    n: usize,
    longer: usize,
    inflation: f64,
    seed: u64,
) -> Result<Vec<Calibration>, ExecuteError> {
    let mut all = vec![];
    let named = |model| Calibration {
        model,
        ..Calibration::default()
    };
    let plan = (n, longer, inflation);
    let mut normal = named("normal");
    repeat(&mut normal, plan, seed, |s| {
        let (mu, log_sigma) = (2.0 * s.normal(), 0.5 * s.normal());
        let y = (0..20).map(|_| mu + log_sigma.exp() * s.normal());
        (Normal(y.collect()), vec![mu, log_sigma])
    })?;
    all.push(normal);
    let mut counts = named("counts");
    repeat(&mut counts, plan, seed + 1, |s| {
        let w: Vec<f64> = (0..3).map(|_| 0.5 * s.normal()).collect();
        let row = |_| {
            let x = [1.0, s.normal(), s.normal()];
            let rate = w.iter().zip(&x).map(|(w, x)| w * x).sum::<f64>().exp();
            (x, s.poisson(rate))
        };
        (Counts((0..30).map(row).collect()), w.clone())
    })?;
    all.push(counts);
    let mut groups = named("groups");
    repeat(&mut groups, plan, seed + 2, |s| {
        let mut theta = vec![s.normal(), 0.5 * s.normal()];
        theta.extend(s.normals(6));
        let tau = theta[1].exp();
        let y = theta[2..].iter().map(|eta| theta[0] + tau * eta);
        let y = y.map(|mean| mean + 0.7 * s.normal()).collect();
        (Groups(y), theta)
    })?;
    all.push(groups);
    Ok(all)
}

fn repeat<T: Target + fmt::Debug + 'static>(
    into: &mut Calibration,
    (n, longer, inflation): (usize, usize, f64),
    seed: u64,
    mut simulate: impl FnMut(&mut Source) -> (T, Vec<f64>),
) -> Result<(), ExecuteError> {
    let mut source = Source::new(seed);
    let mut rng = Rng::<f64>::new(seed, 1, Stream::Setup);
    for i in 0..n {
        let (target, truth) = simulate(&mut source);
        let mut target = own::target(into.model, target)?;
        // (Data differ.)
        target.fingerprint = None;
        let run = |ess: f64, seed: u64| {
            let wanted = Wanted {
                min_ess: Some(ess),
                n_chains: Some(CHAINS),
                ..Wanted::new(seed)
            };
            let settings = Settings {
                cache: None,
                threads: 1,
                control: Control::default(),
                tell: None,
            };
            draw(&target, &wanted, settings)
        };
        let drawn = run(400.0, seed + i as u64)?;
        into.warned += usize::from(!drawn.judged.warnings.is_empty());
        let ranks = ranks(&drawn, &truth, inflation);
        let one =
            |rank: usize| normal_quantile((rank as f64 + rng.uniform()) / (RANKED + 1) as f64);
        into.scores.push(ranks.into_iter().map(one).collect());
        if longer > 0 && i % longer == 0 {
            let long = run(20_000.0, 1_000_000 + seed + i as u64)?;
            let both = drawn.judged.verdict.coordinates.iter();
            for (a, b) in both.zip(&long.judged.verdict.coordinates) {
                let (a, b) = (&a.summary, &b.summary);
                let z = |x: f64, y: f64, e: f64, f: f64| (x - y) / e.hypot(f);
                into.differences.extend([
                    z(a.mean, b.mean, a.mcse_mean, b.mcse_mean),
                    z(a.sd, b.sd, a.mcse_sd, b.mcse_sd),
                ]);
            }
        }
    }
    Ok(())
}

/// How many of the draws are below each parameter.
fn ranks(drawn: &Drawn, truth: &[f64], inflation: f64) -> Vec<usize> {
    let (states, n, d) = (drawn.kept.states(), drawn.kept.n_draws(), truth.len());
    // Evenly spaced, so far apart that they are as good as independent.
    let chosen = (0..CHAINS * PER_CHAIN).take(RANKED).map(|k| {
        let (chain, part) = (k / PER_CHAIN, k % PER_CHAIN);
        chain * n + (part + 1) * n / PER_CHAIN - 1
    });
    let rows: Vec<&[f64]> = chosen.map(|row| &states[row * d..(row + 1) * d]).collect();
    let rank = |i: usize| {
        let mean = states.iter().skip(i).step_by(d).sum::<f64>() * d as f64 / states.len() as f64;
        let below = |row: &&&[f64]| mean + inflation * (row[i] - mean) < truth[i];
        rows.iter().filter(below).count()
    };
    (0..d).map(rank).collect()
}

impl Calibration {
    /// For each parameter, χ² over twenty bins and √n times the distance of Kolmogorov and Smirnov.
    pub fn uniformity(&self) -> Vec<(f64, f64)> {
        let n = self.scores.len();
        let d = self.scores.first().map_or(0, Vec::len);
        let of = |i: usize| {
            let mut u: Vec<f64> = self.scores.iter().map(|s| normal_cdf(s[i])).collect();
            u.sort_unstable_by(f64::total_cmp);
            let mut bins = [0.0; BINS];
            let (mut distance, expected) = (0.0_f64, n as f64 / BINS as f64);
            for (k, u) in u.iter().enumerate() {
                bins[((u * BINS as f64) as usize).min(BINS - 1)] += 1.0;
                let (below, above) = (k as f64 / n as f64, (k + 1) as f64 / n as f64);
                distance = distance.max(u - below).max(above - u);
            }
            let squares = bins.iter().map(|b| (b - expected).powi(2) / expected);
            (squares.sum(), distance * (n as f64).sqrt())
        };
        (0..d).map(of).collect()
    }
}

/// The mean of squared normal scores over all parameters, models together, less 1, with its standard
/// error over simulations: below 0 where draws are spread too far, above where not far enough.
pub fn spread(all: &[Calibration]) -> (f64, f64) {
    let (mut sum, mut count, mut variance) = (0.0, 0.0, 0.0);
    for c in all {
        let n = c.scores.len() as f64;
        let sums = c.scores.iter().map(|s| s.iter().map(|z| z * z - 1.0).sum());
        let sums: Vec<f64> = sums.collect();
        let mean = sums.iter().sum::<f64>() / n;
        let squares = sums.iter().map(|s| (s - mean).powi(2)).sum::<f64>();
        sum += mean * n;
        variance += squares * n / (n - 1.0);
        count += c.scores.iter().map(Vec::len).sum::<usize>() as f64;
    }
    (sum / count, variance.sqrt() / count)
}

/// What the statistics of [`Calibration::uniformity`] exceed with probability 10⁻⁴ each: χ² by Wilson
/// and Hilferty, and 2 exp(−2x²) for the distance.
pub const LIMITS: (f64, f64) = (51.1, 2.226);

fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

/// By a Chebyshev fit with relative error below 1.2·10⁻⁷ (Numerical Recipes, 6.2).
fn erfc(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.5 * x.abs());
    let terms = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let poly = terms.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let value = t * (-x * x + poly).exp();
    if x < 0.0 { 2.0 - value } else { value }
}

/// By bisection.
fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match normal_cdf(middle) < p {
            true => low = middle,
            false => high = middle,
        }
    }
    0.5 * (low + high)
}
