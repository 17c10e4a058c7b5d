//! `langevin list`: what exists, by name.

use std::path::PathBuf;

use clap::Args;
use langevin::catalog::{MetricChoice, Model, System};
use serde_json::{Value, json};

use super::{Done, Global};
use langevin_run::output::Folder;
use langevin_run::run_file::{OBSERVABLES, Run};

/// Room for the list, in bytes.
const ROOM: u64 = 100_000;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  langevin list --json\n\n\
                  With --out, the folder gets list.json.")]
pub(super) struct Arguments {
    /// Folder of run files to list as experiments.
    #[arg(long, value_name = "FOLDER", default_value = "experiments")]
    experiments: PathBuf,
}

/// Kinds of J that a run file can name.
const SKEW: [(&str, &str); 4] = [
    ("sign-pattern", "+delta above the diagonal, −delta below"),
    (
        "random-signs",
        "signs from a seed, scaled to a spectral norm",
    ),
    (
        "kronecker",
        "I ⊗ C₀ + C₀ ⊗ I for the sign pattern C₀, scaled to a spectral norm",
    ),
    ("matrix", "all entries"),
];

/// What is none of the library.
const STAN: (&str, &str) = (
    "stan",
    "a library that BridgeStan built, with a file of data in JSON",
);

/// The five systems of the paper.
const SYSTEMS: [&str; 5] = [
    "B = I, C = 0",
    "B(θ), C = 0",
    "B = I, C = J",
    "B(θ), C = J",
    "B(θ), C = ½(JB + BJ)",
];

pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<Done> {
    let systems: Vec<(&str, &str)> = System::NAMES.into_iter().zip(SYSTEMS).collect();
    let groups: [(&str, &[(&str, &str)]); 5] = [
        ("models", &[&Model::LIST[..], &[STAN]].concat()),
        ("metrics", &MetricChoice::LIST),
        ("skew matrices", &SKEW),
        ("systems", &systems),
        ("observables", &OBSERVABLES),
    ];
    let mut text = String::new();
    let mut all = json!({});
    for (title, entries) in groups {
        text.push_str(&format!("{title}\n"));
        for (name, sentence) in entries {
            text.push_str(&format!("  {name:<18}{sentence}\n"));
        }
        let entry = |(name, sentence): &(&str, &str)| json!({ "name": name, "about": sentence });
        all[title.replace(' ', "_")] = entries.iter().map(entry).collect();
    }
    let experiments = experiments(arguments);
    if !experiments.is_empty() {
        text.push_str("experiments\n");
    }
    for (path, title) in &experiments {
        text.push_str(&format!("  {path}: {title}\n"));
    }
    let entry = |(path, title): &(String, String)| json!({ "file": path, "title": title });
    all["experiments"] = Value::Array(experiments.iter().map(entry).collect());
    if let Some(out) = &global.out {
        let folder = Folder::prepare(out, ROOM)?;
        folder.write_json("list.json", &all)?;
        text.push_str(&format!("List: {}\n", out.join("list.json").display()));
    }
    Ok(Done {
        text,
        json: all,
        good: true,
    })
}

/// Run files of the folder with their titles; what is not a run file is passed over.
fn experiments(arguments: &Arguments) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(&arguments.experiments) else {
        return vec![];
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    paths.sort();
    paths
        .iter()
        .filter_map(|path| {
            let run = Run::load(path, None).ok()?;
            Some((path.display().to_string(), run.title))
        })
        .collect()
}
