//! What the warm-up and the sampler it tunes cost, and whether they are right.
//!
//! `cargo run --release -p langevin-posteriors --example measure -- tuning` (or `held-out`, or names;
//! `chains=16 seeds=3 goal=1000 dense=300 windows`). One line for each target: gradients of the warm-up and per effective
//! draw (the worst coordinate's worst of bulk, tail and squared-deviation ESS), the gradients of all
//! chains to the goal with and without warm-up, and the largest deviation of means and standard
//! deviations in standard errors.

use langevin::adapt::{Settings, Starts, WarmUp, warm_up};
use langevin::batch::Gradient;
use langevin::chain::{How, Records};
use langevin::foreign::{Failure, Foreign, ForeignDensity, ForeignTarget, Worker};
use langevin::record::Draws;
use langevin::skew::Skew;
use langevin::stat;
use langevin::target::Target;
use langevin::transition::{StepKey, Transition};
use langevin_posteriors::{Set, Truth, Visit, names, visit};

struct Measure {
    chains: usize,
    seeds: u64,
    goal: f64,
    set: Option<Set>,
    windows: bool,
    dense_up_to: usize,
}

/// Coordinates that are looked at, at most.
const COORDINATES: usize = 60;

#[derive(Default)]
struct Row {
    warm: f64,
    per_ess: f64,
    seconds: f64,
    total_seconds: f64,
    z_mean: f64,
    z_sd: f64,
    rhat: f64,
}

fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = stat.split(' ').next().and_then(|x| x.parse::<f64>().ok());
    ns.unwrap_or(0.0) * 1e-9
}

impl Measure {
    fn one<T: Target>(&self, target: &T, truth: &Truth, seed: u64) -> Option<(Row, WarmUp)> {
        let worker = Worker {
            target: Box::new(Plain(target, vec![0.0; target.scratch_len()])),
            metric: None,
        };
        let oracle = Foreign::new(vec![worker], Gradient::Exact, &Skew::None).unwrap();
        let settings = Settings {
            dense_up_to: self.dense_up_to,
            ..Settings::default()
        };
        let starts = Starts::Scattered(self.chains);
        let begin = cpu();
        let warm = match warm_up(&oracle, seed, 0, &starts, &settings, &How::default()) {
            Ok(warm) => warm?,
            Err(e) => {
                println!("{:<22} refused: {e}", truth.name);
                return None;
            }
        };
        let warmed = cpu() - begin;
        if self.windows {
            for w in &warm.record.windows {
                println!(
                    "   {:>4} its {:>6} grads  acc {:.2} low {:.2}  angle {:.4} leaps {:>5.1}  rhat {:.3} curv {:>8.2} moved {} bad {}",
                    w.iterations,
                    w.gradients,
                    w.acceptance,
                    w.lowest_acceptance,
                    w.angle,
                    w.leaps,
                    w.rhat,
                    w.curvature,
                    w.relocated,
                    w.non_finite
                );
            }
        }
        let mut chains = warm.chains.clone();
        let first = chains.step();
        let mut records = Records::new(&chains, &oracle, || Draws::new(first, 1, usize::MAX));
        let (mut n, mut gradients, mut seconds) = (0_u64, 0_u64, 0.0);
        let mut length = 200;
        loop {
            let begin = cpu();
            chains
                .advance(&oracle, &warm.tuned, length, &mut records, &How::default())
                .unwrap();
            seconds += cpu() - begin;
            let keys = (first + n..first + n + length).map(|step| StepKey::new(seed, step));
            let spent = keys.map(|k| warm.tuned.shared(k).evaluations() as u64);
            gradients += spent.sum::<u64>();
            n += length;
            let d = truth.dim;
            let all: Vec<Vec<f64>> = records
                .chains()
                .map(|(_, draws, lane)| draws.chain(lane))
                .collect();
            let column = |i: usize| -> Vec<f64> {
                all.iter()
                    .flat_map(|c| c.iter().skip(i).step_by(d).copied())
                    .collect()
            };
            let mut row = Row::default();
            let mut ess = f64::INFINITY;
            for i in (0..d).step_by(d.div_ceil(COORDINATES)) {
                let values = column(i);
                let draws = stat::Draws::new(&values, self.chains, n as usize).unwrap();
                let worst = stat::ess_bulk(draws)
                    .min(stat::ess_tail(draws))
                    .min(stat::ess_sd(draws));
                ess = ess.min(worst);
                row.rhat = row.rhat.max(stat::rhat(draws));
                if let Some(m) = &truth.moments {
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    let square = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
                    let sd = (square / (values.len() - 1) as f64).sqrt();
                    let z = |est: f64, error: f64, known: langevin_posteriors::Known| {
                        (est - known.value).abs() / error.hypot(known.error)
                    };
                    row.z_mean = row.z_mean.max(z(mean, stat::mcse_mean(draws), m.means[i]));
                    row.z_sd = row.z_sd.max(z(sd, stat::mcse_sd(draws), m.sds[i]));
                }
            }
            let numbers = n as usize * self.chains * d;
            if ess >= self.goal || numbers > 40_000_000 || gradients > 60_000 {
                row.warm = warm.record.gradients as f64;
                row.per_ess = gradients as f64 * self.chains as f64 / ess;
                row.seconds = seconds / ess * self.goal;
                row.total_seconds = row.seconds + warmed;
                return Some((row, warm));
            }
            length = n / 2;
        }
    }
}

/// One state after the other: lanes for every target would take minutes to build.
struct Plain<'a, T>(&'a T, Vec<f64>);

impl<T: Target> ForeignTarget for Plain<'_, T> {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let mut values = vec![0.0; thetas.len() / self.0.dim()];
        self.log_density_and_score(thetas, &mut values, out)
    }
    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl<T: Target> ForeignDensity for Plain<'_, T> {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        let d = self.0.dim();
        let places = values.iter_mut().zip(scores.chunks_exact_mut(d));
        for (theta, (value, score)) in thetas.chunks_exact(d).zip(places) {
            *value = self.0.log_density_and_score(theta, &mut self.1, score);
        }
        Ok(())
    }
}

impl Visit for Measure {
    fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
        if self.set.is_some_and(|set| truth.set != set) {
            return;
        }
        let n = self.chains as f64;
        let (mut logs, mut count) = ([0.0; 3], 0.0);
        for seed in 0..self.seeds {
            let Some((row, warm)) = self.one(target, truth, 1000 + seed) else {
                continue;
            };
            let last = &warm.record.windows[warm.record.windows.len() - 1];
            let total = n * row.warm + row.per_ess * self.goal;
            println!(
                "{:<22} warm {:>6}/chain {}{} its {:>4} acc {:.2}/{:.2} angle {:.3} leaps {:>5.1} curv {:>7.1} moved {:>2} | per ess {:>7.2} to goal {:>9.0} all {:>9.0} | z {:>5.1} {:>5.1} rhat {:.3} | ms {:.1} all {:.1}",
                truth.name,
                row.warm,
                if warm.record.converged { 'c' } else { '-' },
                if warm.record.hard { 'h' } else { ' ' },
                warm.record
                    .windows
                    .iter()
                    .map(|w| w.iterations)
                    .sum::<u64>(),
                last.acceptance,
                last.lowest_acceptance,
                last.angle,
                last.leaps,
                last.curvature,
                warm.record.relocated(),
                row.per_ess,
                row.per_ess * self.goal,
                total,
                row.z_mean,
                row.z_sd,
                row.rhat,
                1e3 * row.seconds,
                1e3 * row.total_seconds
            );
            logs[0] += (n * row.warm).ln();
            logs[1] += row.per_ess.ln();
            logs[2] += total.ln();
            count += 1.0;
        }
        if count > 1.0 {
            let mean = logs.map(|x: f64| (x / count).exp());
            println!(
                "= {:<20} d {:>4} warm {:>8.0} per ess {:>7.2} all {:>9.0}",
                truth.name, truth.dim, mean[0], mean[1], mean[2]
            );
        }
    }
}

fn main() {
    let mut measure = Measure {
        chains: 16,
        seeds: 3,
        goal: 1000.0,
        set: None,
        windows: false,
        dense_up_to: Settings::default().dense_up_to,
    };
    let mut chosen = vec![];
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("chains", n)) => measure.chains = n.parse().unwrap(),
            Some(("dense", n)) => measure.dense_up_to = n.parse().unwrap(),
            Some(("seeds", n)) => measure.seeds = n.parse().unwrap(),
            Some(("goal", n)) => measure.goal = n.parse().unwrap(),
            _ => match argument.as_str() {
                "tuning" => measure.set = Some(Set::Tuning),
                "held-out" => measure.set = Some(Set::HeldOut),
                "windows" => measure.windows = true,
                name => chosen.push(name.to_string()),
            },
        }
    }
    if chosen.is_empty() {
        chosen = names().iter().map(ToString::to_string).collect();
    }
    for name in &chosen {
        if !visit(name, &mut measure) {
            println!("there is no target {name}");
        }
    }
}
