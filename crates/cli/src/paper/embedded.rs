//! The paper's run files and data, carried inside the program so that it works from any folder.

use anyhow::Context as _;
use toml::{Table, Value};

use langevin_run::output::Folder;

macro_rules! experiment {
    ($name:literal) => {
        include_str!(concat!("../../experiments/", $name, ".toml"))
    };
}
macro_rules! data {
    ($name:literal) => {
        include_str!(concat!("../../data/", $name))
    };
}

/// Run files by name, at the scale of the paper.
const EXPERIMENTS: [(&str, &str); 10] = [
    (
        "gaussian-as-table-implies",
        experiment!("gaussian-as-table-implies"),
    ),
    ("gaussian-as-printed", experiment!("gaussian-as-printed")),
    ("normal-minibatch", experiment!("normal-minibatch")),
    ("normal-exact", experiment!("normal-exact")),
    ("logistic-minibatch", experiment!("logistic-minibatch")),
    ("logistic-exact", experiment!("logistic-exact")),
    ("ica-minibatch", experiment!("ica-minibatch")),
    ("ica-exact", experiment!("ica-exact")),
    ("ica-baseline", experiment!("ica-baseline")),
    ("discretization", experiment!("discretization")),
];

/// Data sets, which run files find at `../data/`.
const DATA: [(&str, &str); 3] = [
    ("german-credit.csv", data!("german-credit.csv")),
    ("ica-observations.csv", data!("ica-observations.csv")),
    ("normal-observations.csv", data!("normal-observations.csv")),
];

/// What the paper prints and claims.
pub const PAPER: &str = experiment!("paper");

/// How much work goes into the reproduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scale {
    /// Everything within two minutes on two cores.
    Quick,
    /// The paper's own numbers of chains, steps and step sizes.
    Paper,
    /// Next to nothing: only to see that everything runs.
    #[value(hide = true)]
    Smoke,
}

impl Scale {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scale::Quick => "quick",
            Scale::Paper => "paper",
            Scale::Smoke => "smoke",
        }
    }

    /// Changes to run files, by their names.
    fn changes(self) -> anyhow::Result<Table> {
        let text = match self {
            Scale::Quick => experiment!("quick"),
            Scale::Paper => "",
            Scale::Smoke => experiment!("smoke"),
        };
        text.parse()
            .with_context(|| format!("experiments/{}.toml", self.name()))
    }
}

/// A run file at some scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: String,
    /// What is not as in the paper: field, the paper's value and ours.
    pub changes: Vec<(String, String, String)>,
}

/// A run file of the paper at a scale, with at most so many chains; its comments are lost where it
/// is changed.
pub fn experiment(
    name: &str,
    scale: Scale,
    most_chains: Option<usize>,
) -> anyhow::Result<Experiment> {
    let found = EXPERIMENTS.iter().find(|(known, _)| *known == name);
    let (name, text) = found.with_context(|| format!("there is no experiment {name:?}"))?;
    let mut table: Table = text
        .parse()
        .with_context(|| format!("experiments/{name}.toml"))?;
    let mut said = vec![];
    if let Some(Value::Table(changes)) = scale.changes()?.get(*name) {
        merge(&mut table, changes, "", &mut said);
    }
    if let Some(most) = most_chains
        && let Some(Value::Table(run)) = table.get_mut("run")
        && let Some(chains) = run.get("n_chains").and_then(Value::as_integer)
        && chains > most as i64
    {
        run.insert("n_chains".into(), Value::Integer(most as i64));
        // What the scale had changed already is said once, with the last value.
        let old = said.iter().position(|(field, ..)| field == "n_chains");
        let paper = old.map_or(chains.to_string(), |at| said.remove(at).1);
        said.push(("n_chains".into(), paper, most.to_string()));
    }
    let text = match said.is_empty() {
        true => (*text).into(),
        false => {
            format!("# experiments/{name}.toml, not at the paper's own scale throughout.\n{table}")
        }
    };
    Ok(Experiment {
        name,
        text,
        changes: said,
    })
}

/// Time from the end of burn-in to the end of a path, as the paper has it.
pub fn time_in_paper(name: &str) -> Option<f64> {
    let (_, text) = EXPERIMENTS.iter().find(|(known, _)| *known == name)?;
    let table: Table = text.parse().ok()?;
    let number = |field: &str| match table.get("run")?.get(field)? {
        Value::Float(x) => Some(*x),
        Value::Integer(n) => Some(*n as f64),
        _ => None,
    };
    let steps = number("n_steps")? - number("burn_in").unwrap_or(0.0);
    Some(steps * number("step_size")?)
}

/// Puts changes into a table, and says what was there before.
fn merge(
    table: &mut Table,
    changes: &Table,
    prefix: &str,
    said: &mut Vec<(String, String, String)>,
) {
    for (key, new) in changes {
        let name = format!("{prefix}{key}");
        if let (Some(Value::Table(old)), Value::Table(new)) = (table.get_mut(key), new) {
            // `[run]` and `[measure]` go without saying.
            let prefix = match prefix.is_empty() && ["run", "measure"].contains(&key.as_str()) {
                true => String::new(),
                false => format!("{name}."),
            };
            merge(old, new, &prefix, said);
            continue;
        }
        let old = table.insert(key.clone(), new.clone());
        said.push((
            name,
            old.map_or("not set".into(), |v| shown(&v)),
            shown(new),
        ));
    }
}

/// A value as one would write it: powers of ten for what is very large or small, and whole numbers
/// without a decimal point.
fn shown(value: &Value) -> String {
    match value {
        Value::Float(x) if *x >= 1e5 || *x < 1e-2 => format!("{x:e}"),
        Value::Float(x) if x.fract() == 0.0 => format!("{x:.0}"),
        other => other.to_string(),
    }
}

/// Writes run files and data into the output folder, where anybody can see and use them, and
/// returns the paths of the run files.
pub fn put(folder: &Folder, experiments: &[Experiment]) -> anyhow::Result<Vec<std::path::PathBuf>> {
    for (name, text) in DATA {
        if experiments.iter().any(|e| e.text.contains(name)) {
            folder.write(&format!("data/{name}"), text.as_bytes())?;
        }
    }
    let path = |e: &Experiment| {
        let name = format!("experiments/{}.toml", e.name);
        Ok(folder.write(&name, e.text.as_bytes())?)
    };
    experiments.iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use langevin_run::run_file::Run;

    /// Every run file passes every check at every scale, and changes name experiments that exist.
    #[test]
    fn fewer_chains_are_said_and_more_are_not_made() {
        let capped = experiment("ica-minibatch", Scale::Paper, Some(16)).unwrap();
        assert!(capped.text.contains("n_chains = 16"), "{}", capped.text);
        let said = ("n_chains".to_string(), "100".to_string(), "16".to_string());
        assert_eq!(capped.changes, [said]);
        let whole = experiment("ica-minibatch", Scale::Paper, None).unwrap();
        assert_eq!(
            experiment("ica-minibatch", Scale::Paper, Some(500)).unwrap(),
            whole
        );
        // The scale's own change is not said twice.
        let quick = experiment("ica-minibatch", Scale::Quick, Some(3)).unwrap();
        let chains = quick
            .changes
            .iter()
            .filter(|(field, ..)| field == "n_chains");
        assert_eq!(chains.count(), 1);
    }

    #[test]
    fn every_run_file_is_valid_at_every_scale() {
        for scale in [Scale::Quick, Scale::Paper, Scale::Smoke] {
            let dir = tempfile::tempdir().unwrap();
            let folder = Folder::prepare(dir.path(), 0).unwrap();
            let names = EXPERIMENTS.map(|(name, _)| name);
            let all: Vec<_> = names
                .iter()
                .map(|n| experiment(n, scale, None).unwrap())
                .collect();
            for path in put(&folder, &all).unwrap() {
                if let Err(error) = Run::load(&path, None) {
                    panic!("{scale:?}: {error}");
                }
            }
            let changes = scale.changes().unwrap();
            assert!(changes.keys().all(|name| names.contains(&name.as_str())));
            assert_eq!(changes.is_empty(), scale == Scale::Paper);
        }
    }

    #[test]
    fn times_are_those_of_the_paper() {
        assert_eq!(time_in_paper("gaussian-as-printed"), Some(500.0));
        assert_eq!(time_in_paper("normal-exact"), Some(990.0));
        assert!((time_in_paper("ica-minibatch").unwrap() - 1980.0).abs() < 1e-9);
        assert_eq!(time_in_paper("nothing"), None);
    }

    #[test]
    fn changes_are_merged_and_said() {
        let mut table: Table = "a = 1\n[run]\nn_steps = 1e6\nseed = 2".parse().unwrap();
        let changes: Table = "run.n_steps = 1e3\nrun.thin = 5".parse().unwrap();
        let mut said = vec![];
        merge(&mut table, &changes, "", &mut said);
        assert_eq!(
            table.to_string(),
            "a = 1\n\n[run]\nn_steps = 1000.0\nseed = 2\nthin = 5\n"
        );
        let row = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
        assert_eq!(
            said,
            [row("n_steps", "1e6", "1000"), row("thin", "not set", "5")]
        );
    }
}
