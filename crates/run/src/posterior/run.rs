//! A run from its start to its last look.

use std::time::{Duration, Instant};

use langevin::adapt::{Report, Sampler, Starts, default_n_chains};
use langevin::chain::{Advanced, Chains, How, Snapshot};
use langevin::stat::verdict::Figures;
use langevin::transition::Hamiltonian;
use langevin::{RunError, adapt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Costs, Drawn, Judged, Kept, Settings, Status, Wanted, Why, check, look};
use crate::execute::ExecuteError;
use crate::identity;
use crate::machine;
use crate::target::Target;
use crate::units::UnitKey;

/// Version of the computation: to be raised when the same description gives other draws.
const COMPUTATION: u32 = 2;
/// Draws of each chain at the first look, at least.
const FIRST_LOOK: u64 = 200;
/// Draws of a parameter that a look is made of: of more, every k-th is; as many times those wanted.
const LOOKED_AT: usize = 1 << 15;
const OF_WANTED: f64 = 8.0;
/// No look takes more: to sort them takes a second for some coordinates.
const MOST_LOOKED_AT: usize = 1 << 20;
/// Where squares have no variance, so many times the effective draws that are wanted are enough.
const OF_HEAVY: f64 = 8.0;
/// Factors by which a look makes the run longer.
const GROWTH: (f64, f64) = (1.5, 4.0);
/// Effective draws that are asked for: of each chain, and of all.
const ESS_OF_CHAIN: f64 = 100.0;
const ESS: f64 = 1000.0;
/// Numbers of draws and scores that are kept; of more, every k-th draw is.
const MOST_NUMBERS: usize = 1 << 25;
/// What a chain takes up to its first look: bytes, and numbers for each coordinate.
const CHAIN_BYTES: f64 = 2000.0;
const CHAIN_NUMBERS: f64 = 600.0;
/// Time between two looks at the clock.
const PIECE: Duration = Duration::from_millis(200);

/// The warm-up as a unit of work.
#[derive(Debug, Serialize, Deserialize)]
struct Warm {
    chains: Snapshot,
    tuned: Hamiltonian,
    report: Report,
    seconds: f64,
}

/// The draws between two looks as a unit of work.
#[derive(Debug, Serialize, Deserialize)]
struct Piece {
    kept: Kept,
    chains: Snapshot,
    seconds: f64,
}

/// Draws from the posterior of a target.
pub fn draw(target: &Target, wanted: &Wanted, how: Settings<'_>) -> Result<Drawn, ExecuteError> {
    let began = Instant::now();
    let sampler = target.sampler(how.threads).map_err(RunError::from)?;
    let starts = starts(target, sampler.as_ref(), wanted)?;
    if wanted.check && target.model().is_none() && sampler.gives_log_density() {
        check::check(sampler.as_ref(), target.dim(), &starts, wanted.seed)?;
    }
    let n_chains = starts.n_chains();
    check_chains(n_chains, target.dim())?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(how.threads)
        .build();
    let pool = pool.map_err(|e| ExecuteError::Thread(e.to_string()))?;
    let mut run = Run {
        target,
        wanted,
        how,
        began,
        sampler: sampler.as_ref(),
        enough: match wanted.n_draws {
            Some(_) => None,
            None => Some(
                wanted
                    .min_ess
                    .unwrap_or(ESS.max(ESS_OF_CHAIN * n_chains as f64)),
            ),
        },
        costs: Costs::default(),
        look: Duration::ZERO,
        looked_at: 0,
        pool: (target.model().is_some()).then_some(&pool),
    };
    let warm = run.warm_up(&starts)?;
    run.draws(warm)
}

/// Refuses no chains, and more than fit into memory.
fn check_chains(n_chains: usize, dim: usize) -> Result<(), ExecuteError> {
    if n_chains == 0 {
        return Err(ExecuteError::Target(
            "there are no chains: at least one is needed".into(),
        ));
    }
    let needed = n_chains as f64 * (CHAIN_BYTES + CHAIN_NUMBERS * 8.0 * dim as f64);
    match machine::memory() {
        Some(there) if there as f64 > needed => Ok(()),
        None => Ok(()),
        Some(there) => Err(ExecuteError::Target(format!(
            "{n_chains} chains in {dim} coordinates need about {} of memory, but this machine has {}",
            machine::bytes(needed),
            machine::bytes(there as f64)
        ))),
    }
}

/// Where the chains begin.
fn starts(target: &Target, sampler: &dyn Sampler, wanted: &Wanted) -> Result<Starts, RunError> {
    match &wanted.starts {
        Some(states) => {
            let free = states.iter().map(|theta| target.free(theta));
            Ok(Starts::At(free.collect::<langevin::Result<_>>()?))
        }
        None => {
            let suggested = || default_n_chains(target.dim(), sampler.cost());
            Ok(Starts::Scattered(wanted.n_chains.unwrap_or_else(suggested)))
        }
    }
}

/// A run under way.
struct Run<'a> {
    target: &'a Target,
    wanted: &'a Wanted,
    how: Settings<'a>,
    began: Instant,
    sampler: &'a dyn Sampler,
    /// Effective draws that are wanted.
    enough: Option<f64>,
    costs: Costs,
    /// What the last look took.
    look: Duration,
    /// Number of steps that it was of.
    looked_at: u64,
    /// Own code is called from here.
    pool: Option<&'a rayon::ThreadPool>,
}

impl Run<'_> {
    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    fn how(&self) -> How<'_> {
        How {
            control: self.how.control,
            ..How::default()
        }
    }

    /// The name of the warm-up: all that it depends on.
    fn key(&self, starts: &Starts, settings: &adapt::Settings) -> Option<UnitKey> {
        let fingerprint = self.target.fingerprint.as_ref()?;
        let starts = match starts {
            Starts::Scattered(n) => json!(n),
            Starts::At(states) => json!(
                states
                    .iter()
                    .map(|s| s.iter().map(|x| identity::of_number(*x)).collect())
                    .collect::<Vec<Value>>()
            ),
        };
        let description = json!({
            "posterior": COMPUTATION,
            "version": env!("CARGO_PKG_VERSION"),
            "target": fingerprint,
            "seed": self.wanted.seed,
            "starts": starts,
            "tune": settings.tune,
            "max_gradients": settings.max_gradients,
            "target_accept": identity::of_number(settings.target_accept),
        });
        Some(UnitKey::new(&description.to_string()))
    }

    fn warm_up(&mut self, starts: &Starts) -> Result<(Warm, Option<UnitKey>), ExecuteError> {
        let mut settings = adapt::Settings::default();
        settings.tune = self.wanted.tune.unwrap_or(settings.tune);
        settings.target_accept = self.wanted.target_accept.unwrap_or(settings.target_accept);
        let each = self.wanted.max_gradients / starts.n_chains() as u64;
        settings.max_gradients = settings.max_gradients.min(each);
        let key = self.key(starts, &settings);
        self.tell(true, 0, None);
        let stored = self.how.cache.zip(key.as_ref());
        let found = stored.and_then(|(cache, key)| cache.get::<Warm>(key));
        let warm = match found {
            Some(warm) => warm,
            None => {
                let began = Instant::now();
                let (sampler, seed) = (self.sampler, self.wanted.seed);
                let done = self.inside(|| sampler.warm_up(seed, starts, &settings, &self.how()))?;
                let Some(done) = done else {
                    return Err(ExecuteError::Interrupted);
                };
                let warm = Warm {
                    chains: done.chains.snapshot(),
                    tuned: done.tuned,
                    report: done.record,
                    seconds: began.elapsed().as_secs_f64(),
                };
                if let Some((cache, key)) = stored {
                    cache.put(key, &warm)?;
                }
                warm
            }
        };
        self.costs.warm_up_gradients = warm.report.gradients * starts.n_chains() as u64;
        self.costs.warm_up_seconds = warm.seconds;
        Ok((warm, key))
    }

    /// Draws until there are enough.
    fn draws(mut self, (warm, key): (Warm, Option<UnitKey>)) -> Result<Drawn, ExecuteError> {
        let mut chains = Chains::restore(warm.chains).map_err(RunError::from)?;
        let tuned = warm.tuned;
        let mut kept = Kept::new(chains.n_chains(), self.target.dim());
        let per_step = tuned.gradients() * chains.n_chains() as f64;
        let most_steps =
            (self.wanted.max_gradients as f64 - self.costs.warm_up_gradients as f64) / per_step;
        let mut to = self.first_look(chains.n_chains());
        if let Some(n) = self.wanted.n_draws {
            kept.reserve(n, MOST_NUMBERS);
        }
        let (why, judged) = loop {
            let end = (to as f64).min(most_steps.max(FIRST_LOOK as f64)) as u64;
            let ended = self.go_on(&mut chains, &tuned, &mut kept, end, key.as_ref())?;
            let began = Instant::now();
            let most = (OF_WANTED * self.enough.unwrap_or(0.0)) as usize;
            let most = most.clamp(LOOKED_AT, MOST_LOOKED_AT);
            let names = self.wanted.names.as_deref();
            let judged =
                self.inside(|| look::judge(self.target, names, &kept, &warm.report, most))?;
            self.look = began.elapsed();
            self.looked_at = kept.n_steps();
            self.costs.looking_seconds += self.look.as_secs_f64();
            self.tell(false, kept.n_steps(), Some(&judged));
            let precise = self
                .enough
                .is_some_and(|n| judged.ess.is_some_and(|ess| ess >= n));
            match ended {
                Some(Why::Interrupted) => break (Why::Interrupted, judged),
                _ if precise => break (Why::Precise, judged),
                Some(why) => break (why, judged),
                None if self.enough.is_none() => break (Why::Draws, judged),
                None if self.is_enough_for_means(&judged) => break (Why::HeavyTails, judged),
                None if end < to => break (Why::Gradients, judged),
                None => {}
            }
            kept.thin_to(MOST_NUMBERS);
            to = self.next_look(kept.n_steps(), judged.ess);
        };
        let mut drawn = Drawn {
            kept,
            judged,
            why,
            wanted: self.enough,
            warm_up: warm.report,
            tuned,
            costs: self.costs,
        };
        drawn.add_words();
        Ok(drawn)
    }

    /// Whether only squares are wanting, and have been for long.
    fn is_enough_for_means(&self, judged: &Judged) -> bool {
        let means = judged.verdict.ess_of_means();
        let heavy = judged
            .verdict
            .coordinates
            .iter()
            .any(Figures::has_heavy_tail);
        let wanted = self.enough.map(|n| OF_HEAVY * n);
        heavy && wanted.is_some_and(|n| means.is_some_and(|ess| ess >= n))
    }

    fn first_look(&self, n_chains: usize) -> u64 {
        match (self.wanted.n_draws, self.enough) {
            (Some(n), _) => n,
            (None, Some(ess)) => {
                let longest = (LOOKED_AT / n_chains) as u64;
                ((2.0 * ess / n_chains as f64) as u64).clamp(FIRST_LOOK, longest.max(FIRST_LOOK))
            }
            (None, None) => FIRST_LOOK,
        }
    }

    /// As long as it should take, but longer by a factor within bounds.
    fn next_look(&self, n: u64, ess: Option<f64>) -> u64 {
        let needed = match (self.enough, ess) {
            (Some(wanted), Some(ess)) => 1.1 * wanted / ess,
            _ => 2.0,
        };
        (n as f64 * needed.clamp(GROWTH.0, GROWTH.1)).ceil() as u64
    }

    /// Goes on up to a number of steps since the warm-up; says why not further.
    fn go_on(
        &mut self,
        chains: &mut Chains,
        tuned: &Hamiltonian,
        kept: &mut Kept,
        to: u64,
        warm: Option<&UnitKey>,
    ) -> Result<Option<Why>, ExecuteError> {
        let (from, thin) = (kept.n_steps(), kept.thin());
        let key = warm.map(|warm| {
            let description =
                json!({ "warm_up": warm.to_string(), "from": from, "to": to, "thin": thin });
            UnitKey::new(&description.to_string())
        });
        let stored = self.how.cache.zip(key.as_ref());
        if let Some(piece) = stored.and_then(|(cache, key)| cache.get::<Piece>(key)) {
            *chains = Chains::restore(piece.chains).map_err(RunError::from)?;
            self.count(tuned, chains.n_chains(), to - from, piece.seconds);
            kept.append(piece.kept);
            return Ok(None);
        }
        let mut new = Kept::like(kept);
        let (mut ended, mut seconds) = (None, 0.0);
        let mut n = 8 * thin;
        while kept.n_steps() + new.n_steps() < to && ended.is_none() {
            let left = to - kept.n_steps() - new.n_steps();
            let n_steps = n.min(left);
            let began = Instant::now();
            let (sampler, how) = (self.sampler, self.how());
            let done = self.inside(|| sampler.draw(chains, tuned, n_steps, thin, &how))?;
            let (records, done) = done;
            let took = began.elapsed();
            seconds += took.as_secs_f64();
            if done != Advanced::Done {
                ended = Some(Why::Interrupted);
                break;
            }
            new.push(&records, n_steps);
            self.count(tuned, chains.n_chains(), n_steps, took.as_secs_f64());
            // (Pieces stay multiples of the distance between draws.)
            if took < PIECE {
                n = n.saturating_mul(2);
            } else if took > 2 * PIECE {
                n = (n / thin / 2).max(1) * thin;
            }
            self.tell(false, kept.n_steps() + new.n_steps(), None);
            // The last look is part of the time.
            let rest = self.time_left(kept.n_steps() + new.n_steps());
            if rest.is_zero() && n_steps < left {
                ended = Some(Why::Time);
            } else if rest < 2 * took {
                let share = rest.as_secs_f64() / took.as_secs_f64();
                n = ((n_steps as f64 * share) as u64 / thin).max(1) * thin;
            }
        }
        if let (None, Some((cache, key))) = (ended, stored) {
            let piece = Piece {
                kept: new,
                chains: chains.snapshot(),
                seconds,
            };
            cache.put(key, &piece)?;
            new = piece.kept;
        }
        kept.append(new);
        if ended.is_none() && self.enough.is_some() && self.time_left(kept.n_steps()).is_zero() {
            ended = Some(Why::Time);
        }
        match (ended, kept.n_draws()) {
            (Some(Why::Interrupted), 0..4) => Err(ExecuteError::Interrupted),
            _ => Ok(ended),
        }
    }

    /// Time that is left for steps after the first `n`, if a last look takes as long for each as the
    /// one before.
    fn time_left(&self, n: u64) -> Duration {
        let longer = n as f64 / self.looked_at.max(1) as f64;
        let look = self
            .look
            .mul_f64(if self.looked_at == 0 { 1.0 } else { longer });
        let spent = self.began.elapsed() + look;
        self.wanted.max_time.saturating_sub(spent)
    }

    fn count(&mut self, tuned: &Hamiltonian, n_chains: usize, n_steps: u64, seconds: f64) {
        self.costs.gradients += (tuned.gradients() * n_steps as f64 * n_chains as f64) as u64;
        self.costs.seconds += seconds;
    }

    fn tell(&self, warming_up: bool, n_draws: u64, judged: Option<&Judged>) {
        let Some(tell) = self.how.tell else { return };
        let seconds = self.began.elapsed().as_secs_f64();
        let ess = judged.and_then(|j| j.ess);
        let share = match (self.wanted.n_draws, self.enough, ess) {
            (Some(n), ..) => Some(n_draws as f64 / n as f64),
            (None, Some(wanted), Some(ess)) => Some(ess / wanted),
            _ => None,
        };
        let share = share.filter(|s| *s > 0.0);
        tell(&Status {
            warming_up,
            gradients: self.costs.warm_up_gradients + self.costs.gradients,
            n_draws,
            ess,
            wanted: self.enough,
            rhat: judged.map(Judged::rhat),
            seconds,
            left: share.map(|s| (self.costs.seconds * (1.0 / s - 1.0)).max(0.0)),
        });
    }
}
