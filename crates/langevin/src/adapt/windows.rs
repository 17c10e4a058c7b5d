//! Windows of steps, from the first metric to the frozen one.

use super::seen::{Seen, is_hard, mean, pool_of, rhat, slowest_correlation};
use super::shape::Pool;
use super::start::Found;
use super::told::{Sums, Told};
use super::{Report, Settings, Starts, WarmUp, Window, superchain_size};
use crate::RunError;
use crate::chain::{Advanced, Chains, How, Records};
use crate::metric::Constant;
use crate::oracle::Oracle;
use crate::real::Real;
use crate::record::Draws;
use crate::transition::{Hamiltonian, StepKey, Transition};

/// Lengths of the windows for sixteen chains; after them each is longer by `GROWTH`.
const LENGTHS: [u64; 8] = [10, 10, 15, 25, 40, 60, 90, 150];
const GROWTH: f64 = 1.5;
/// Steps between two changes of the angle.
const SEGMENT: u64 = 5;
/// The first angle and the largest.
const FIRST_ANGLE: f64 = 0.3;
const LARGEST_ANGLE: f64 = 1.4;
/// In whitened time: how long momentum lives, or a trajectory takes.
const TIME: f64 = 1.3;
/// Below this angle momentum is not kept but used up, in trajectories of many leaps.
const LEAPS_BELOW: f64 = 0.4;
/// More leaps than this are not made.
const MOST_LEAPS: f64 = 256.0;
/// Chains that accept less are stuck.
const STUCK: f64 = 0.24;

/// Where a warm-up stands.
struct Tuner<'a, O> {
    oracle: &'a O,
    settings: &'a Settings,
    how: &'a How<'a>,
    seed: u64,
    chains: Chains,
    dense: bool,
    metric: Constant,
    angle: f64,
    /// Time of a trajectory.
    time: f64,
    /// The best worth of a gradient so far, and the time it had; none once the time is settled.
    best: Option<(f64, f64)>,
    report: Report,
    draws: Vec<Records<Draws>>,
}

/// Runs all windows; none if it was asked to stop.
pub(super) fn run<O: Oracle>(
    oracle: &O,
    seed: u64,
    first_chain: u64,
    found: Found,
    starts: &Starts,
    settings: &Settings,
    how: &How<'_>,
) -> Result<Option<WarmUp>, RunError> {
    let d = oracle.dim();
    let n = found.states.len();
    let mut first = Pool {
        dim: d,
        states: found.states.concat(),
        scores: found.scores.concat(),
    };
    let size = match starts {
        Starts::Scattered(_) => superchain_size(n),
        Starts::At(_) => 1,
    };
    // Each start once.
    keep_every(&mut first.states, size * d, d);
    keep_every(&mut first.scores, size * d, d);
    // From the points that were reached, within bounds that the way to them sets: close to a mode
    // scores are next to 0, and tell nothing.
    let metric = match (found.variances, first.len()) {
        (Some(way), 4..) => {
            let reached = first.diagonal()?.matrix().diagonal();
            let both = reached.iter().zip(&way);
            Constant::diagonal(both.map(|(v, w)| v.clamp(w / 30.0, 30.0 * w)).collect())?
        }
        (Some(way), _) => Constant::diagonal(way)?,
        (None, 4..) => first.diagonal()?,
        (None, _) => Constant::identity(d),
    };
    let tuner = Tuner {
        oracle,
        settings,
        how,
        seed,
        chains: Chains::new(seed, first_chain, found.states)?,
        dense: d <= settings.dense_up_to,
        metric,
        angle: FIRST_ANGLE,
        time: TIME,
        best: Some((0.0, TIME)),
        report: Report {
            start_gradients: found.gradients,
            gradients: found.gradients,
            borrowed_starts: found.borrowed,
            non_finite_starts: found.non_finite,
            superchain_size: size,
            ..Report::default()
        },
        draws: vec![],
    };
    tuner.run()
}

/// Keeps the first `len` of every `stride` numbers.
fn keep_every(numbers: &mut Vec<f64>, stride: usize, len: usize) {
    *numbers = numbers
        .chunks(stride)
        .flat_map(|chunk| &chunk[..len])
        .copied()
        .collect();
}

impl<O: Oracle> Tuner<'_, O> {
    fn run(mut self) -> Result<Option<WarmUp>, RunError> {
        let scale = (16.0 / self.chains.n_chains() as f64)
            .sqrt()
            .clamp(0.4, 2.0);
        let mut length = 0.0;
        for index in 0.. {
            length = match LENGTHS.get(index) {
                Some(&known) => known as f64 * scale,
                None => length * GROWTH,
            };
            let segments = (length / SEGMENT as f64).round().max(1.0) as u64;
            let Some(seen) = self.window(index, segments)? else {
                return Ok(None);
            };
            let healthy = self.healthy(index, &seen);
            let pool = pool_of(&seen, &healthy);
            let rhat = rhat(&seen, &healthy);
            let steps = self.chains.step();
            let wanted = (60.0 * scale) as u64;
            let off = mean(&seen.acceptance) - self.target();
            let settled = self.settle_time(index, &seen, &healthy)
                && (off.abs() < 0.1 || off > 0.0 && self.angle == LARGEST_ANGLE)
                && Real::ln(self.angle / seen.first_angle).abs() < 0.5
                && (self.angle >= 0.5 || steps as f64 >= 250.0 * scale);
            let enough = !self.dense || pool.len() >= 5 * self.oracle.dim();
            self.report.converged = steps >= wanted && rhat < 1.15 && settled && enough;
            let over =
                steps >= self.settings.tune || self.report.gradients >= self.settings.max_gradients;
            let last = self.report.converged || over;
            self.renew(index, &seen, pool, rhat)?;
            self.relocate(&healthy);
            if last {
                return self.freeze();
            }
        }
        Ok(None)
    }

    /// The acceptance to aim at.
    fn target(&self) -> f64 {
        match self.report.hard {
            true => self.settings.target_accept.max(0.9),
            false => self.settings.target_accept,
        }
    }

    /// The transition at the present angle.
    fn tuning(&self, index: usize) -> Result<Hamiltonian, RunError> {
        let hard = self.report.hard;
        let new = Hamiltonian::new(self.metric.clone(), self.angle)?;
        // Wide at first: a fixed angle can be bad for one chain for ever.
        let jitter = match (index, hard) {
            (0 | 1, _) => 0.8,
            (_, true) => 0.5,
            (_, false) => 0.3,
        };
        let new = new.with_jitter(jitter)?;
        let (below, time) = match (self.dense, hard) {
            (true, false) => (LEAPS_BELOW, TIME),
            (true, true) => (0.7, 1.6),
            (false, _) => (self.time, self.time),
        };
        if index >= 3 && self.angle < below {
            return Ok(new.with_time(time.min(MOST_LEAPS * self.angle))?);
        }
        Ok(new.with_persistence(Real::exp(-self.angle / TIME))?)
    }

    /// Steps in segments, each followed by a change of the angle; none if it was asked to stop.
    fn window(&mut self, index: usize, segments: u64) -> Result<Option<Seen>, RunError> {
        let (n, d) = (self.chains.n_chains(), self.oracle.dim());
        let first = self.chains.step();
        let numbers = n as u64 * d as u64 * segments * SEGMENT;
        let keep = self.settings.keep_draws;
        let thin = match keep {
            true => 1,
            false => (numbers / MOST_NUMBERS).max(1),
        };
        let record = || {
            let draws = Draws::new(first, thin, usize::MAX).with_scores();
            let draws = match keep {
                true => draws.with_reports(),
                false => draws,
            };
            (draws, Told::default())
        };
        let mut records = Records::new(&self.chains, self.oracle, record);
        let first_angle = self.angle;
        let mut all = vec![Sums::default(); n];
        let mut gradients = 0;
        for segment in 0..segments {
            let tuning = self.tuning(index)?;
            let step = self.chains.step();
            let advanced =
                self.chains
                    .advance(self.oracle, &tuning, SEGMENT, &mut records, self.how)?;
            if advanced != Advanced::Done {
                return Ok(None);
            }
            let keys = (step..step + SEGMENT).map(|step| StepKey::new(self.seed, step));
            gradients += keys
                .map(|key| tuning.shared(key).evaluations() as u64)
                .sum::<u64>();
            let told = take_told(&mut records);
            let (mut sum, mut count) = (0.0, 0.0);
            for (all, told) in all.iter_mut().zip(&told) {
                sum += told.acceptance;
                count += told.n as f64;
                all.n += told.n;
                all.acceptance += told.acceptance;
                all.log_density += told.log_density;
                all.non_finite += told.non_finite;
                all.large += told.large;
            }
            self.turn(index, segment, sum / count);
            if self.report.gradients + gradients > self.settings.max_gradients {
                break;
            }
        }
        self.report.gradients += gradients;
        let chains = records.chains().map(|(_, (draws, _), lane)| Pool {
            dim: d,
            states: draws.chain(lane),
            scores: draws.scores(lane).unwrap_or_default(),
        });
        let chains = chains.collect();
        if keep {
            self.draws.push(records.map(|(draws, _)| draws));
        }
        let seen = Seen {
            iterations: self.chains.step() - first,
            gradients,
            acceptance: all.iter().map(|s| s.acceptance / s.n as f64).collect(),
            log_density: all.iter().map(|s| s.log_density / s.n as f64).collect(),
            non_finite: all.iter().map(|s| s.non_finite).sum(),
            large: all.iter().map(|s| s.large as f64).sum::<f64>()
                / all.iter().map(|s| s.n as f64).sum::<f64>(),
            chains,
            first_angle,
        };
        Ok(Some(seen))
    }

    /// Moves the angle after the acceptance of a segment.
    fn turn(&mut self, index: usize, segment: u64, acceptance: f64) {
        let off = acceptance - self.target();
        let rate = match (index, off > 0.0) {
            // (There is less room above the target than below.)
            (0..=3, true) => 2.0,
            (0..=3, false) => 1.0,
            (FREEZING, _) => 1.2 / (1.0 + 0.3 * segment as f64),
            _ => 0.6,
        };
        let angle = self.angle * Real::exp(rate * off);
        self.angle = angle.clamp(1e-5, LARGEST_ANGLE);
    }

    /// Which chains are not stuck; all of them, if most seem to be.
    fn healthy(&self, index: usize, seen: &Seen) -> Vec<bool> {
        let mut sorted = seen.log_density.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let high = sorted[(sorted.len() - 1) * 85 / 100];
        let lowest = match index {
            2..=5 => high - 10.0 - self.oracle.dim() as f64,
            _ => f64::NEG_INFINITY,
        };
        let chains = seen.acceptance.iter().zip(&seen.log_density);
        let healthy: Vec<bool> = chains
            .map(|(a, l)| index == 0 || (*a >= STUCK && *l >= lowest))
            .collect();
        match 2 * healthy.iter().filter(|h| **h).count() > healthy.len() {
            true => healthy,
            false => vec![true; healthy.len()],
        }
    }

    /// The metric of the window takes over, and the window is written down.
    fn renew(&mut self, index: usize, seen: &Seen, pool: Pool, rhat: f64) -> Result<(), RunError> {
        let old = pool.largest_curvature(&self.metric);
        let metric = match self.dense && pool.len() > 10 {
            true => pool.dense(&self.metric)?,
            false => pool.diagonal()?,
        };
        let curvature = pool.largest_curvature(&metric);
        let lowest = seen.acceptance.iter().fold(1.0, |a: f64, b| a.min(*b));
        self.report.windows.push(Window {
            iterations: seen.iterations,
            gradients: seen.gradients,
            acceptance: mean(&seen.acceptance),
            lowest_acceptance: lowest,
            angle: self.angle,
            leaps: self.tuning(index)?.gradients(),
            rhat,
            curvature,
            relocated: 0,
            non_finite: seen.non_finite,
        });
        if index >= 4 {
            // For good: shorter steps hide what they were chosen for.
            self.report.hard |= is_hard(seen, curvature);
        }
        // The angle that fits is bounded by the largest curvature.
        let ratio = (old / curvature).sqrt();
        if ratio.is_finite() {
            self.angle = (self.angle * ratio.clamp(0.7, 1.5)).clamp(1e-5, LARGEST_ANGLE);
        }
        self.metric = metric;
        Ok(())
    }

    /// Moves every stuck chain to where a healthy one is: of its superchain, or the next.
    fn relocate(&mut self, healthy: &[bool]) {
        let n = healthy.len();
        let size = self.report.superchain_size;
        let mut moved = 0;
        for chain in (0..n).filter(|i| !healthy[*i]) {
            let own = chain / size * size;
            let near = (own..own + size).chain((1..n).map(|k| (chain + k * size.max(1)) % n));
            let to = near.chain(0..n).find(|to| healthy[*to]);
            if let Some(to) = to {
                self.chains.relocate(chain, to, 1 + self.oracle.dim());
                moved += 1;
            }
        }
        if let Some(window) = self.report.windows.last_mut() {
            window.relocated = moved;
        }
    }

    /// Where the metric is not dense, the time of a trajectory follows the slowest coordinates: their
    /// correlation from step to step is that of a rotation, cos ωT, and T such that ωT ≈ 1.3 is
    /// wanted, unless a gradient becomes worth less by it. True once it is at rest.
    fn settle_time(&mut self, index: usize, seen: &Seen, healthy: &[bool]) -> bool {
        let Some((best, its_time)) = self.best else {
            return true;
        };
        if self.dense || index < 3 {
            return self.dense;
        }
        let rho = slowest_correlation(seen, healthy).clamp(-0.9, 0.999);
        let worth = (1.0 - rho) / (1.0 + rho) * seen.iterations as f64 / seen.gradients as f64;
        if worth < 0.6 * best && self.time > its_time {
            self.time = its_time;
            self.best = None;
            return true;
        }
        if worth > best {
            self.best = Some((worth, self.time));
        }
        let factor = (TIME / (2.0 * (1.0 - rho)).sqrt()).clamp(0.7, 2.0);
        self.time = (self.time * factor).clamp(TIME, MOST_LEAPS * self.angle.max(1e-3));
        (0.75..1.4).contains(&factor)
    }

    /// The last angle; then nothing moves any more.
    fn freeze(mut self) -> Result<Option<WarmUp>, RunError> {
        let mut again = self.report.converged && !self.report.hard;
        let tuned = loop {
            let Some(seen) = self.window(FREEZING, 8)? else {
                return Ok(None);
            };
            let healthy = vec![true; seen.chains.len()];
            let curvature = pool_of(&seen, &healthy).largest_curvature(&self.metric);
            self.report.hard |= is_hard(&seen, curvature);
            let tuned = self.tuning(FREEZING)?;
            let lowest = seen.acceptance.iter().fold(1.0, |a: f64, b| a.min(*b));
            self.report.windows.push(Window {
                iterations: seen.iterations,
                gradients: seen.gradients,
                acceptance: mean(&seen.acceptance),
                lowest_acceptance: lowest,
                angle: self.angle,
                leaps: tuned.gradients(),
                rhat: rhat(&seen, &healthy),
                curvature,
                relocated: 0,
                non_finite: seen.non_finite,
            });
            if !(again && self.report.hard) {
                break tuned;
            }
            // Hard after all: once more, with shorter steps.
            again = false;
        };
        Ok(Some(WarmUp {
            chains: self.chains,
            tuned,
            record: self.report,
            draws: self.draws,
        }))
    }
}

/// The window after the last one.
const FREEZING: usize = usize::MAX;
/// Numbers of states that a window keeps in memory.
const MOST_NUMBERS: u64 = 8_000_000;

/// The sums of every chain since the last time.
fn take_told(records: &mut Records<(Draws, Told)>) -> Vec<Sums> {
    let mut all = vec![];
    for group in records.groups_mut() {
        let sums = &mut group.record.1.0;
        all.extend_from_slice(&sums[..group.n_chains]);
        sums.fill(Sums::default());
    }
    all
}
