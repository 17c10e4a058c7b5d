//! Hamiltonian moves with Metropolis acceptance: one gradient a step with momentum kept, or many.

use super::leap::{Course, Integrator};
use super::{Needs, Next, Report, Sizes, State, StateScore, StepKey, Transition};
use crate::metric::{Constant, Metric};
use crate::real::Lanes;
use crate::rng::{Rng, Stream};
use crate::{Error, Result, check};

/// Generalised Hamiltonian Monte Carlo with a constant metric B = S Sᵀ (Horowitz, 1991).
///
/// A step refreshes the momentum, p ← κp + √(1 − κ²) ξ, and makes some leaps of angle h, which lead
/// from (θ, p) to (θ', p'). They are accepted with probability min(1, r),
///
/// ```text
/// log r = log π(θ') − log π(θ) + ½|p|² − ½|p'|²,
/// ```
///
/// and on rejection the chain is at (θ, −p). π(θ) N(p; 0, I) stays invariant: the leaps, followed by a
/// change of the sign of p, undo themselves and keep volume. A way that passes a point where log π is
/// not finite is rejected; so is the way back.
///
/// All chains of a step share the angle, drawn evenly from h(1 ± jitter), and the number of leaps.
/// Another value (angle, metric, momentum kept) goes on with the score and the momentum of the last.
///
/// ```
/// use langevin::metric::Constant;
/// use langevin::transition::{Hamiltonian, Integrator};
/// let metric = Constant::identity(3);
/// let one_gradient = Hamiltonian::new(metric.clone(), 1.2)?.with_persistence(0.4)?;
/// let leaps = Hamiltonian::new(metric, 0.3)?
///     .with_integrator(Integrator::McLachlan)?
///     .with_time(1.3)?
///     .with_jitter(0.2)?;
/// assert!(one_gradient.gradients() == 1.0 && leaps.gradients() > 8.0);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "Saved", into = "Saved")
)]
pub struct Hamiltonian {
    metric: Constant,
    integrator: Integrator,
    angle: f64,
    jitter: f64,
    /// Mean time of a trajectory; one leap where there is none.
    time: Option<f64>,
    /// κ.
    persistence: f64,
}

impl Hamiltonian {
    /// One leap of the given angle in rotation form, with fresh momentum and without jitter.
    pub fn new(metric: Constant, angle: f64) -> Result<Self> {
        Hamiltonian {
            metric,
            integrator: Integrator::Rotation,
            angle,
            jitter: 0.0,
            time: None,
            persistence: 0.0,
        }
        .checked()
    }

    fn checked(self) -> Result<Self> {
        check::positive("the angle", self.angle)?;
        if !(0.0..1.0).contains(&self.jitter) {
            let (name, value) = ("the jitter", self.jitter);
            let (low, high) = (-f64::MIN_POSITIVE, 1.0);
            return Err(Error::OutOfRange {
                name,
                value,
                low,
                high,
            });
        }
        if !(0.0..1.0).contains(&self.persistence) {
            let (name, value) = ("the momentum kept", self.persistence);
            let (low, high) = (-f64::MIN_POSITIVE, 1.0);
            return Err(Error::OutOfRange {
                name,
                value,
                low,
                high,
            });
        }
        if let Some(time) = self.time {
            check::positive("the time of a trajectory", time)?;
        }
        match &self.integrator {
            Integrator::Rotation => {
                let (name, value) = (
                    "the largest angle of rotation",
                    self.angle * (1.0 + self.jitter),
                );
                let (low, high) = (0.0, std::f64::consts::PI);
                if value >= high {
                    return Err(Error::OutOfRange {
                        name,
                        value,
                        low,
                        high,
                    });
                }
            }
            Integrator::Harmonic { centre } => {
                check::size("the centre", centre.len(), self.metric.dim())?;
                check::all_finite("the centre", centre)?;
            }
            Integrator::Leapfrog | Integrator::McLachlan => {}
        }
        Ok(self)
    }

    /// Sets the integrator.
    pub fn with_integrator(self, integrator: Integrator) -> Result<Self> {
        Hamiltonian { integrator, ..self }.checked()
    }

    /// Sets how far the angle varies from step to step, as a fraction of it in [0, 1).
    pub fn with_jitter(self, jitter: f64) -> Result<Self> {
        Hamiltonian { jitter, ..self }.checked()
    }

    /// Sets the mean time of a trajectory: a step makes between ½ and 1½ times as many leaps as fit
    /// into it, and at least one.
    pub fn with_time(self, time: f64) -> Result<Self> {
        let time = Some(time);
        Hamiltonian { time, ..self }.checked()
    }

    /// Sets the part κ in [0, 1) of the momentum that is kept from one step to the next.
    pub fn with_persistence(self, persistence: f64) -> Result<Self> {
        Hamiltonian {
            persistence,
            ..self
        }
        .checked()
    }

    /// The metric.
    pub fn metric(&self) -> &Constant {
        &self.metric
    }

    /// The mean angle of a leap.
    pub fn angle(&self) -> f64 {
        self.angle
    }

    /// The mean time of a trajectory, where it is not one leap.
    pub fn time(&self) -> Option<f64> {
        self.time
    }

    /// The part of the momentum that is kept.
    pub fn persistence(&self) -> f64 {
        self.persistence
    }

    /// Gradients of a step, on average.
    pub fn gradients(&self) -> f64 {
        let each = self.integrator.gradients_of_leap() as f64;
        match self.time {
            None => each,
            // The mean of max(1, round((½ + u) time/angle)), up to rounding.
            Some(time) => {
                const N: usize = 512;
                let leaps = |i| self.leaps((i as f64 + 0.5) / N as f64, time) as f64;
                each * (0..N).map(leaps).sum::<f64>() / N as f64
            }
        }
    }

    fn leaps(&self, u: f64, time: f64) -> usize {
        (((0.5 + u) * time / self.angle).round() as usize).clamp(1, MOST_LEAPS)
    }

    /// p ← p + a g, or p ← p + a (g + z).
    #[inline(always)]
    fn kick<L: Lanes>(&self, amount: f64, score: &[L], p: &mut [L], z: &[L], work: &mut [L]) {
        self.metric.sqrt_transposed(score, work);
        let amount = L::of(amount);
        if let Integrator::Harmonic { .. } = self.integrator {
            for i in 0..work.len() {
                work[i] += z[i];
            }
        }
        for i in 0..work.len() {
            p[i] = work[i].mul_add(amount, p[i]);
        }
    }

    /// θ ← θ + b S p, or a rotation of (z, p).
    #[inline(always)]
    fn drift<L: Lanes>(
        &self,
        course: &Course,
        theta: &mut [L],
        p: &mut [L],
        z: &mut [L],
        work: &mut [L],
    ) {
        let (b, cos) = (L::of(course.drift), L::of(course.cos));
        if let Integrator::Harmonic { centre } = &self.integrator {
            for i in 0..theta.len() {
                let turned = z[i].mul_add(cos, p[i] * b);
                p[i] = p[i].mul_add(cos, -(z[i] * b));
                z[i] = turned;
            }
            self.metric.sqrt(z, work);
            for i in 0..theta.len() {
                theta[i] = work[i] + centre[i];
            }
        } else {
            self.metric.sqrt(p, work);
            for i in 0..theta.len() {
                theta[i] = work[i].mul_add(b, theta[i]);
            }
        }
    }

    /// Numbers of scratch space for z.
    fn z_len(&self) -> usize {
        match self.integrator {
            Integrator::Harmonic { .. } => self.dim(),
            _ => 0,
        }
    }
}

/// More leaps than this are not made in a step.
const MOST_LEAPS: usize = 4096;

impl Transition for Hamiltonian {
    type Shared = Course;

    fn name(&self) -> &'static str {
        "hamiltonian"
    }

    fn dim(&self) -> usize {
        self.metric.dim()
    }

    /// log π, the score as it is, and the whitened momentum are carried: another metric can take over,
    /// since the momentum is standard normal in all of them.
    fn sizes(&self) -> Sizes {
        let d = self.dim();
        Sizes {
            normals: d,
            uniforms: 1,
            carried: 1 + 2 * d,
            scratch: 1 + 3 * d + self.z_len(),
        }
    }

    fn needs(&self) -> Needs {
        Needs::Density
    }

    fn state_score(&self) -> StateScore {
        StateScore::Carried(1)
    }

    /// Angle and number of leaps from the sequence (½ + k/ρ, ½ + k/ρ²) mod 1 with ρ³ = ρ + 1, moved by
    /// a random offset: evenly spread over any few steps.
    fn shared(&self, key: StepKey) -> Course {
        let rho = 1.324_717_957_244_746;
        let mut offset = Rng::<f64>::new(key.seed, 0, Stream::Shared);
        let mut spread = |inverse: f64| (offset.uniform() + key.step as f64 * inverse).fract();
        let (u, v) = (spread(1.0 / rho), spread(1.0 / (rho * rho)));
        let h = self.angle * (1.0 + self.jitter * (2.0 * u - 1.0));
        let leaps = self.time.map_or(1, |time| self.leaps(v, time));
        self.integrator.course(h, leaps)
    }

    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        let d = z.theta.len();
        z.carried[0] = z.log_density;
        z.carried[1..=d].copy_from_slice(z.score);
        z.carried[1 + d..].copy_from_slice(z.normals);
        z.report.log_density = z.log_density;
    }

    #[inline(always)]
    fn begin<L: Lanes>(&self, course: &Course, state: &mut State<'_, L>) -> Next {
        let d = state.theta.len();
        let (way, rest) = state.scratch.split_at_mut(1);
        let (old, rest) = rest.split_at_mut(d);
        let (p, rest) = rest.split_at_mut(d);
        let (work, z) = rest.split_at_mut(d);
        way[0] = L::zero();
        old.copy_from_slice(state.theta);
        if let Integrator::Harmonic { centre } = &self.integrator {
            for i in 0..d {
                z[i] = old[i] - centre[i];
            }
            self.metric.sqrt_solve(z);
        }
        let (score, kept) = state.carried[1..].split_at_mut(d);
        let fresh = (1.0 - self.persistence * self.persistence).sqrt();
        for i in 0..d {
            let xi = state.normals[i] * fresh;
            kept[i] = kept[i].mul_add(L::of(self.persistence), xi);
        }
        p.copy_from_slice(kept);
        self.kick(course.ends, score, p, z, work);
        self.drift(course, state.theta, p, z, work);
        Next::Evaluate
    }

    #[inline(always)]
    fn resume<L: Lanes>(&self, stage: usize, course: &Course, state: &mut State<'_, L>) -> Next {
        let d = state.theta.len();
        let (way, rest) = state.scratch.split_at_mut(1);
        let (old, rest) = rest.split_at_mut(d);
        let (p, rest) = rest.split_at_mut(d);
        let (work, z) = rest.split_at_mut(d);
        // 0, or NaN for ever once log π was not finite.
        way[0] += state.log_density * L::zero();
        if stage + 1 < course.evaluations {
            self.kick(course.between[stage % 2], state.score, p, z, work);
            self.drift(course, state.theta, p, z, work);
            return Next::Evaluate;
        }
        self.kick(course.ends, state.score, p, z, work);
        let (known, kept) = state.carried.split_at_mut(1 + d);
        let mut energy = L::zero();
        for i in 0..d {
            // p² − p'².
            energy = (kept[i] - p[i]).mul_add(kept[i] + p[i], energy);
        }
        let change = state.log_density - known[0];
        let log_ratio = energy.mul_add(L::of(0.5), change) + way[0];
        let never = L::of(f64::NEG_INFINITY);
        let log_ratio = L::if_less(never, log_ratio, log_ratio, never);
        let log_u = state.uniforms[0].ln();
        for i in 0..d {
            state.theta[i] = L::if_less(log_u, log_ratio, state.theta[i], old[i]);
            known[1 + i] = L::if_less(log_u, log_ratio, state.score[i], known[1 + i]);
            kept[i] = L::if_less(log_u, log_ratio, p[i], -kept[i]);
        }
        known[0] = L::if_less(log_u, log_ratio, state.log_density, known[0]);
        *state.report = Report::adjusted(known[0], log_ratio);
        Next::Done
    }
}

/// What the tuning is saved as.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Saved {
    metric: Constant,
    integrator: Integrator,
    angle: f64,
    jitter: f64,
    time: Option<f64>,
    persistence: f64,
}

#[cfg(feature = "serde")]
impl TryFrom<Saved> for Hamiltonian {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        Hamiltonian {
            metric: saved.metric,
            integrator: saved.integrator,
            angle: saved.angle,
            jitter: saved.jitter,
            time: saved.time,
            persistence: saved.persistence,
        }
        .checked()
    }
}

#[cfg(feature = "serde")]
impl From<Hamiltonian> for Saved {
    fn from(tuning: Hamiltonian) -> Saved {
        Saved {
            metric: tuning.metric,
            integrator: tuning.integrator,
            angle: tuning.angle,
            jitter: tuning.jitter,
            time: tuning.time,
            persistence: tuning.persistence,
        }
    }
}
