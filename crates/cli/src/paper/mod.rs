//! The whole paper: its run files, its numbers beside ours, and a verdict on each of its claims.
//!
//! [`printed`] holds what the paper prints and claims, [`embedded`] its run files and data. Nothing
//! here knows an example by name: [`Work`] runs whatever the chosen items need, and the other
//! modules show it.

pub mod claim;
pub mod embedded;
pub mod figures;
pub mod json;
pub mod page;
pub mod planar;
pub mod printed;
pub mod quantity;
pub mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

use langevin_run::compare::{Comparison, compare, tasks};
use langevin_run::execute::{Recorded, Settings, Task, execute};
use langevin_run::output::Folder;
use langevin_run::run_file::{Run, Truth};
use langevin_run::sample;

use claim::Comparisons;
use embedded::{Experiment, Scale};
use printed::{Item, Kind, Paper};

/// What is asked for.
pub struct Request<'a> {
    /// The chosen items.
    pub paper: Paper,
    /// How much work goes into them.
    pub scale: Scale,
    /// Most chains of any run.
    pub most_chains: Option<usize>,
    /// In place of the seeds of all run files.
    pub seed: Option<u64>,
    /// Where results go.
    pub folder: &'a Folder,
}

/// All numbers of the chosen items.
pub struct Gathered {
    /// Run files as they were used, with what was run.
    pub experiments: Vec<(Experiment, Arc<Run>)>,
    /// Comparisons by the name of their run file.
    pub comparisons: Comparisons,
    /// Draws by the name of their run file.
    pub draws: BTreeMap<String, Draws>,
    /// Time of one thread that all units took, in whatever start.
    pub unit_seconds: f64,
}

/// Draws of a run: a list for each coordinate, in the order of their names.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// Names of the coordinates.
    pub names: Vec<String>,
    /// All draws of a coordinate, chain after chain.
    pub columns: Vec<Vec<f64>>,
    /// Number of chains.
    pub n_chains: usize,
}

/// What items need of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Needs {
    averages: bool,
    truth: bool,
    ksd: bool,
    paths: bool,
    draws: bool,
}

impl Needs {
    fn of(kind: Kind) -> Self {
        let none = Needs::default();
        match kind {
            Kind::Table | Kind::Variances => Needs {
                averages: true,
                ..none
            },
            Kind::LinearAgainstDelta | Kind::NormAgainstDelta | Kind::Running => Needs {
                averages: true,
                truth: true,
                ..none
            },
            Kind::Ksd => Needs { ksd: true, ..none },
            Kind::Paths | Kind::Trace => Needs {
                paths: true,
                ..none
            },
            Kind::Marginals => Needs {
                draws: true,
                ..none
            },
        }
    }

    fn and(self, other: Self) -> Self {
        Needs {
            averages: self.averages || other.averages,
            truth: self.truth || other.truth,
            ksd: self.ksd || other.ksd,
            paths: self.paths || other.paths,
            draws: self.draws || other.draws,
        }
    }

    /// Leaves out of a run what nobody needs.
    fn trim(self, run: &mut Run) {
        if !self.averages {
            run.n_chains = 0;
        }
        if !self.truth && matches!(run.measure.truth, Truth::Reference(_)) {
            run.measure.truth = Truth::None;
        }
        if !self.ksd {
            run.measure.ksd = None;
        }
        if !self.paths {
            run.measure.trajectories = None;
        }
    }
}

/// The run files of the items, each with what is needed of it.
fn needs(paper: &Paper) -> BTreeMap<String, Needs> {
    let mut all: BTreeMap<String, Needs> = BTreeMap::new();
    let mut add = |run: &str, needs: Needs| {
        let entry = all.entry(run.into()).or_default();
        *entry = entry.and(needs);
    };
    for item in paper.items() {
        for run in item.runs() {
            add(run, Needs::of(item.kind));
        }
        let others = |item: &Item| -> Vec<String> {
            let named = item
                .claims
                .iter()
                .flat_map(|c| c.run.iter().chain(&c.versus));
            named.cloned().collect()
        };
        for run in others(item) {
            add(&run, Needs::of(item.kind));
        }
    }
    all
}

/// The work of a request, checked and ready to start.
pub struct Work {
    experiments: Vec<(Experiment, Arc<Run>)>,
    compared: Vec<(String, Arc<Run>)>,
    sampled: Vec<(String, Arc<Run>)>,
}

impl Work {
    /// Writes the run files into the output folder and loads them from there.
    pub fn prepare(request: &Request) -> anyhow::Result<Self> {
        let needs = needs(&request.paper);
        let names = needs.keys();
        let found: anyhow::Result<Vec<Experiment>> = names
            .map(|name| embedded::experiment(name, request.scale, request.most_chains))
            .collect();
        let found = found?;
        let paths = embedded::put(request.folder, &found)?;
        let mut work = Work {
            experiments: vec![],
            compared: vec![],
            sampled: vec![],
        };
        for ((experiment, path), needs) in found.into_iter().zip(paths).zip(needs.values()) {
            let run = Run::load(&path, request.seed)?;
            let name = experiment.name.to_owned();
            if needs.draws {
                work.sampled.push((name.clone(), Arc::new(run.clone())));
            }
            work.experiments.push((experiment, Arc::new(run.clone())));
            let mut trimmed = run;
            needs.trim(&mut trimmed);
            if needs.averages || needs.ksd || needs.paths {
                work.compared.push((name, Arc::new(trimmed)));
            }
        }
        Ok(work)
    }

    /// All tasks; those whose steps take longest come first, so that short ones fill the gaps at
    /// the end.
    pub fn tasks(&self) -> Vec<Task> {
        let draws = self.sampled.iter().map(|(_, run)| draws_task(run));
        let mut all: Vec<Task> = draws.collect();
        let mut compared: Vec<&Arc<Run>> = self.compared.iter().map(|(_, run)| run).collect();
        compared.sort_by_key(|run| std::cmp::Reverse(run.target.dim() * run.target.n_data()));
        all.extend(compared.into_iter().flat_map(tasks));
        all
    }

    /// Does the work, all [tasks](Self::tasks) of it, and puts the numbers together.
    pub fn run(self, tasks: &[Task], settings: Settings<'_>) -> anyhow::Result<Gathered> {
        // One queue for everything; what follows finds its units finished.
        let all = execute(tasks, settings)?;
        let settings = Settings {
            progress: None,
            ..settings
        };
        let unit_seconds = all.iter().map(|recorded| recorded.unit_seconds).sum();
        drop(all);
        let runs: Vec<Arc<Run>> = self.compared.iter().map(|(_, run)| run.clone()).collect();
        let names = self.compared.into_iter().map(|(name, _)| name);
        let comparisons: Vec<Comparison> = compare(&runs, settings)?;
        let mut draws = BTreeMap::new();
        for (name, run) in &self.sampled {
            let recorded = execute(&[draws_task(run)], settings)?;
            draws.insert(name.clone(), columns(run, &recorded[0]));
        }
        Ok(Gathered {
            experiments: self.experiments,
            comparisons: names.zip(comparisons).collect(),
            draws,
            unit_seconds,
        })
    }
}

/// The draws that `langevin sample` would store.
fn draws_task(run: &Arc<Run>) -> Task {
    sample::task(run, &run.arms[0])
}

fn columns(run: &Run, recorded: &Recorded) -> Draws {
    let target = &run.target;
    let dim = target.dim();
    let column = |i: &usize| {
        let states = recorded
            .healthy()
            .flat_map(|chain| chain.states.chunks_exact(dim));
        states.map(|theta| theta[*i]).collect()
    };
    Draws {
        names: target
            .coordinates
            .iter()
            .map(|label| subscripts(label))
            .collect(),
        columns: target.order.iter().map(column).collect(),
        n_chains: recorded.healthy().count(),
    }
}

/// `W_{11}` for `W[0, 0]`: the paper counts from 1.
fn subscripts(label: &str) -> String {
    let Some((name, rest)) = label.trim_end_matches(']').split_once('[') else {
        return label.into();
    };
    let numbers: Option<Vec<String>> = rest
        .split(',')
        .map(|n| Some((n.trim().parse::<usize>().ok()? + 1).to_string()))
        .collect();
    numbers.map_or(label.into(), |n| format!("{name}_{{{}}}", n.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs_of(what: &[&str]) -> BTreeMap<String, Needs> {
        let what: Vec<String> = what.iter().map(|w| w.to_string()).collect();
        needs(&Paper::embedded().unwrap().select(&what).unwrap())
    }

    #[test]
    fn items_need_no_more_than_they_show() {
        let needs = needs_of(&["figure14"]);
        assert_eq!(needs.len(), 1);
        assert_eq!(
            needs["ica-minibatch"],
            Needs {
                ksd: true,
                ..Needs::default()
            }
        );
        let needs = needs_of(&["table5"]);
        assert!(needs.values().all(|n| n.averages && !n.truth && !n.ksd));
        assert!(needs_of(&["figure8"])["logistic-minibatch"].truth);
        assert!(needs_of(&[]).len() == 10);
    }

    #[test]
    fn the_paper_counts_from_one() {
        assert_eq!(subscripts("W[0, 2]"), "W_{13}");
        assert_eq!(subscripts("w[age]"), "w[age]");
        assert_eq!(subscripts("mu"), "mu");
    }
}
