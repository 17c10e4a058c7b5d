//! The needs of the chains of a run, from its sizes.

use langevin::stat::batch_means::DEFAULT_BATCHES;

use super::super::measure::CHECKPOINTS_PER_DECADE;
use super::super::source::{At, Place};
use super::super::typed;
use super::{Need, Needs, Size};
use crate::summary::MOST_DRAWS;

/// Bytes per entry of matrices: of any run, of a dynamics with a J, and of an observable.
const RUN_ENTRY: f64 = 40.0;
const SKEW_ENTRY: f64 = 130.0;
const OBSERVABLE_ENTRY: f64 = 8.0;
/// Bytes that a chain takes beside its numbers.
const CHAIN: f64 = 100.0;
/// The same where its draws are streamed: what waits for its chunk is kept for each.
const STREAMED_CHAIN: f64 = 300.0;
/// Bytes that the summary of a draw takes: its values, ranks and their order, a coordinate at a time.
const SUMMARY_DRAW: f64 = 64.0;
/// Bytes of a point of a curve: in memory, in tables, figures and JSON.
const POINT: f64 = 2500.0;
/// Bytes of a row of a table of paths.
const PATH_ROW: f64 = 400.0;
/// Chains that a processor runs side by side at most; their states are recorded together.
const LANES: f64 = 16.0;
/// Chains of a unit at most, and how often its numbers are in memory until it is saved.
const UNIT_CHAINS: f64 = 16.0;
const UNIT_COPIES: f64 = 2.0;
/// Room for tables, figures and reports.
const REPORT: f64 = 2e7;
/// Bytes of draws that wait on every thread: those of a unit, and a chunk of each parameter.
const IN_FLIGHT: f64 = 2e8;
/// Room for the summary of draws.
const SUMMARY: f64 = 1e6;

/// What a run needs, by what is done with it.
#[derive(Clone, Debug)]
pub struct RunNeeds {
    /// To check it.
    pub to_load: Needs,
    /// To keep the draws of one dynamics.
    pub to_sample: Needs,
    /// To compare all dynamics.
    pub to_compare: Needs,
}

impl RunNeeds {
    /// The needs of a run of a model with `dim` coordinates.
    pub fn new(typed: &typed::Typed, dim: usize) -> Self {
        let sizes = Sizes::new(typed, dim as f64);
        RunNeeds {
            to_load: Needs(sizes.to_load()),
            to_sample: Needs(sizes.to_sample()),
            to_compare: Needs(sizes.to_compare()),
        }
    }
}

/// The sizes of a run.
struct Sizes<'a> {
    run: &'a typed::Run,
    measure: &'a typed::Measure,
    data: &'a Place,
    dim: f64,
    n_arms: f64,
    /// Number of dynamics with a J.
    n_skew: f64,
    n_observables: f64,
    n_checkpoints: f64,
    threads: f64,
}

impl<'a> Sizes<'a> {
    fn new(typed: &'a typed::Typed, dim: f64) -> Self {
        let (run, measure) = (&typed.run, &typed.measure);
        let per_decade = measure.checkpoints_per_decade.as_ref();
        let per_decade = per_decade.map_or(CHECKPOINTS_PER_DECADE, |n| n.value) as f64;
        let n_steps = run.n_steps.value as f64;
        let observables = measure.observables.as_ref();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let arms = typed.dynamics.value.iter();
        Sizes {
            run,
            measure,
            data: typed.target.place(),
            dim,
            n_arms: arms.clone().count() as f64,
            n_skew: arms.filter(|arm| has_skew(&arm.value)).count() as f64,
            n_observables: observables.map_or(2.0, |list| list.value.len() as f64),
            n_checkpoints: n_steps.min(per_decade * n_steps.log10() + 2.0),
            threads: threads as f64,
        }
    }

    /// The matrices of all dynamics, checkpoints, and initial states of all chains.
    fn to_load(&self) -> Vec<Need> {
        let ksd = self.measure.ksd.as_ref().map(|k| &k.value.n_chains);
        let reference = self.reference().map(|(n_chains, _)| n_chains);
        let chains = [
            Some(("n_chains", &self.run.n_chains)),
            ksd.map(|n| ("ksd.n_chains", n)),
            reference.map(|n| ("reference.n_chains", n)),
        ];
        let mut needs = vec![self.matrices(), self.checkpoints()];
        needs.extend(chains.into_iter().flatten().map(|(field, n)| {
            let states = n.value as f64 * (8.0 * self.dim + CHAIN);
            Need::memory(states, vec![Size::of(field, n)])
        }));
        needs
    }

    fn matrices(&self) -> Need {
        let per_entry =
            RUN_ENTRY + SKEW_ENTRY * self.n_skew + OBSERVABLE_ENTRY * self.n_observables;
        let size = Size::counted("the number of coordinates", self.dim as u64, self.data);
        Need::memory(per_entry * self.dim * self.dim, vec![size])
    }

    fn checkpoints(&self) -> Need {
        let points = self.n_checkpoints * self.n_arms * self.n_observables;
        let typed = self.measure.checkpoints_per_decade.iter();
        let sizes = typed.map(|n| Size::of("checkpoints_per_decade", n));
        Need::memory(16.0 * self.n_checkpoints + POINT * points, sizes.collect())
            .and_disk(POINT * points)
    }

    /// Steps of the chains of `n_arms` dynamics.
    fn steps(&self, n_arms: f64) -> Need {
        let (n_chains, n_steps) = (&self.run.n_chains, &self.run.n_steps);
        Need::steps(
            n_arms * n_chains.value as f64 * n_steps.value as f64,
            vec![Size::of("n_chains", n_chains), Size::of("n_steps", n_steps)],
        )
    }

    /// The draws of one dynamics.
    fn to_sample(&self) -> Vec<Need> {
        let run = self.run;
        let counted = run.n_steps.value.saturating_sub(run.burn_in.value);
        let n_chains = run.n_chains.value as f64;
        let draws = n_chains * counted.div_ceil(run.thin) as f64;
        // Draws are streamed: the chunks of chains that run side by side wait to be filled.
        let waiting = (8.0 * self.dim * draws).min(IN_FLIGHT * self.threads);
        let looked_at = draws.min(MOST_DRAWS as f64);
        let in_memory =
            looked_at * SUMMARY_DRAW + waiting + n_chains * (16.0 * self.dim + STREAMED_CHAIN);
        let sizes = vec![
            Size::of("n_chains", &run.n_chains),
            Size::of("n_steps", &run.n_steps),
        ];
        // Once in the units and once in the store.
        let on_disk = draws * (16.0 * self.dim + 9.0) + SUMMARY;
        let draws = Need::memory(in_memory, sizes).and_disk(on_disk);
        vec![self.matrices(), draws, self.steps(1.0)]
    }

    /// Averages of all dynamics and what else is measured.
    fn to_compare(&self) -> Vec<Need> {
        let mut needs = vec![
            Need::default().and_disk(REPORT),
            self.matrices(),
            self.checkpoints(),
            self.averages(),
            self.steps(self.n_arms),
        ];
        needs.extend(self.ksd().into_iter().flatten());
        needs.extend(self.trajectories().into_iter().flatten());
        needs.extend(self.reference_steps());
        needs
    }

    /// Bytes of the numbers of a unit, `per_chain` for each chain, until they are saved.
    fn in_flight(&self, n_chains: f64, per_chain: f64) -> f64 {
        n_chains.min(UNIT_CHAINS * self.threads) * 8.0 * per_chain * UNIT_COPIES
    }

    /// Sums of all observables at all marks.
    fn averages(&self) -> Need {
        let n_chains = self.run.n_chains.value as f64;
        let all = self.n_arms * n_chains;
        let (n_batches, per_decade) = (
            self.measure.n_batches.as_ref(),
            self.measure.checkpoints_per_decade.as_ref(),
        );
        let batches = n_batches.map_or(DEFAULT_BATCHES as f64, |n| n.value as f64);
        let sums = self.n_observables * (batches + self.n_checkpoints);
        let kept = all * (8.0 * sums + 32.0 * self.n_observables + CHAIN);
        // Of one observable at a time, once by chains and once in one piece.
        let running = n_chains * (16.0 * self.n_checkpoints + CHAIN);
        let mut sizes = vec![Size::of("n_chains", &self.run.n_chains)];
        sizes.extend(n_batches.map(|n| Size::of("n_batches", n)));
        sizes.extend(per_decade.map(|n| Size::of("checkpoints_per_decade", n)));
        Need::memory(kept + running + self.in_flight(n_chains, sums), sizes)
            .and_disk(8.0 * all * sums)
    }

    /// Points and scores of the chains of a unit on every thread, steps and pairs.
    fn ksd(&self) -> Option<[Need; 2]> {
        let ksd = &self.measure.ksd.as_ref()?.value;
        let (chains, points) = (ksd.n_chains.value as f64, ksd.n_points.value as f64);
        let sizes = || {
            let chains = Size::of("ksd.n_chains", &ksd.n_chains);
            vec![chains, Size::of("ksd.n_points", &ksd.n_points)]
        };
        let far = vec![
            Size::of("ksd.thin", &ksd.thin),
            Size::of("ksd.burn_in", &ksd.burn_in),
        ];
        let point = 8.0 * self.dim * (LANES + 4.0) + 64.0;
        let steps = ksd.burn_in.value as f64 + ksd.thin.value as f64 * points;
        let memory = self.threads * points * point + self.n_arms * chains * 2.0 * CHAIN;
        Some([
            Need::memory(memory, sizes()),
            Need::steps(
                self.n_arms * chains * (steps + points * points / 2.0),
                [sizes(), far].concat(),
            ),
        ])
    }

    fn trajectories(&self) -> Option<[Need; 2]> {
        let paths = &self.measure.trajectories.as_ref()?.value;
        let (chains, steps) = (paths.n_chains.value as f64, paths.n_steps.value as f64);
        let kept = paths.n_steps.value.div_ceil(paths.thin) as f64;
        let sizes = || {
            let chains = Size::of("trajectories.n_chains", &paths.n_chains);
            vec![chains, Size::of("trajectories.n_steps", &paths.n_steps)]
        };
        let states = 8.0 * self.n_arms * chains * kept * self.dim;
        let rows = self.n_arms * kept;
        let memory = states
            + self.in_flight(chains, kept * self.dim)
            + self.n_arms * chains * CHAIN
            + rows * PATH_ROW;
        Some([
            Need::memory(memory, sizes()).and_disk(states + 100.0 * rows),
            Need::steps(self.n_arms * chains * steps, sizes()),
        ])
    }

    fn reference(&self) -> Option<(&'a At<u64>, &'a At<u64>)> {
        match &self.measure.truth.as_ref()?.value {
            typed::Truth::Reference {
                n_chains, n_steps, ..
            } => Some((n_chains, n_steps)),
            _ => None,
        }
    }

    /// Its states are counted where it is loaded; its sums are few.
    fn reference_steps(&self) -> Option<Need> {
        let (chains, steps) = self.reference()?;
        let sums = 8.0 * 2.0 * self.n_observables + CHAIN;
        let n_chains = chains.value as f64;
        let sizes = vec![
            Size::of("reference.n_chains", chains),
            Size::of("reference.n_steps", steps),
        ];
        Some(Need {
            memory: n_chains * sums,
            chain_steps: n_chains * steps.value as f64,
            disk: n_chains * sums,
            sizes,
        })
    }
}

/// Whether a dynamics has a matrix J.
fn has_skew(dynamics: &typed::Dynamics) -> bool {
    match (&dynamics.system, &dynamics.field) {
        (Some(system), _) => !["LD", "RM"].contains(&system.value),
        (None, Some(field)) => field.value != "none",
        (None, None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_file::{Run, Source};

    fn needs(more: &str) -> RunNeeds {
        let text = format!(
            "dynamics = [\"LD\", \"RM\"]\n[target]\nmodel = \"normal\"\n\
             data.values = [1, 2, 4, 8]\n[run]\nstep_size = 0.01\n{more}"
        );
        let source = Source::from_text("run.toml", text);
        Run::from_source(&source, Some(1)).unwrap().needs
    }

    /// The program took 431 and 522 MB to sample and 1834 MB to compare.
    #[test]
    fn estimates_are_near_what_was_measured() {
        let within = |needs: &Needs, measured: f64| {
            let ratio = needs.memory() / measured;
            assert!((0.8..1.6).contains(&ratio), "{ratio}");
        };
        let many = needs("n_chains = 1e6\nn_steps = 20\nthin = 20\n");
        within(&many.to_sample, 431e6);
        within(&many.to_compare, 1834e6);
        assert_eq!(many.to_sample.chain_steps(), 2e7);
        assert_eq!(many.to_compare.chain_steps(), 4e7);
        let long = needs("n_chains = 100\nn_steps = 5e5\n");
        within(&long.to_sample, 522e6);
        let room = long.to_sample.disk() as f64 / 1839e6;
        assert!((0.9..1.5).contains(&room), "{room}");
    }

    /// With 1000 coordinates, three dynamics took 315 MB, two of them with a J, and one without 46.
    #[test]
    fn matrices_are_counted() {
        let needs = |dynamics: &str| {
            let text = format!(
                "dynamics = [{dynamics}]\n[target]\nmodel = \"logistic\"\nprior_precision = 1\n\
                 data.generate = {{ n = 3, dim = 1000, seed = 1 }}\n\
                 [run]\nn_chains = 4\nn_steps = 100\nstep_size = 1e-7\n\
                 skew = {{ kind = \"sign-pattern\", delta = 2 }}\n"
            );
            let typed = typed::Typed::read(&Source::from_text("run.toml", text)).unwrap();
            RunNeeds::new(&typed, 1000).to_load.memory()
        };
        let (one, three) = (needs("'LD'") / 46e6, needs("'LD', 'Irr', 'GiIrr'") / 315e6);
        assert!(
            (0.8..1.6).contains(&one) && (0.8..1.6).contains(&three),
            "{one} {three}"
        );
    }

    #[test]
    fn the_largest_size_is_to_blame() {
        let needs = needs("n_chains = 100\nn_steps = 5e5\n");
        let error = needs.to_sample.check_against(Some(100_000_000));
        assert_eq!(
            error.unwrap_err().to_string(),
            "run.toml, line 8: n_steps = 500000 needs about 534 MB of memory, \
             but this machine has 100 MB"
        );
        assert!(needs.to_sample.check_against(Some(1 << 40)).is_ok());
        assert!(needs.to_sample.check_against(None).is_ok());
        assert_eq!(needs.to_sample.longest().unwrap().field, "n_steps");
    }
}
