//! `langevin sample` of a run file that names a target and nothing more.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use langevin::chain::Control;
use langevin_run::output::Folder;
use langevin_run::posterior::{Settings, Status, draw};
use langevin_run::run_file::{Posterior, SeedFrom, Source, seed};

use super::{CANCEL, Done, Global};
use crate::terminal;
use crate::view::summary::summary;

/// Shorter runs show no progress, in seconds.
const PATIENCE: f64 = 1.0;

pub(super) fn run(source: &Arc<Source>, out: &Path, global: &Global) -> anyhow::Result<Done> {
    let run = Posterior::from_source(source, global.asked(out))?;
    let folder = Folder::prepare(out, 0)?;
    folder.keep_drawn(run.wanted.seed, run.seed_from)?;
    let cache = global.units(&folder)?;
    let shows = std::io::stderr().is_terminal() && !global.quiet;
    let tell = |status: &Status| {
        if shows && status.seconds > PATIENCE {
            // Progress that cannot be written is no reason to stop.
            write!(std::io::stderr(), "\r{:<100}", words(status)).ok();
        }
    };
    let how = Settings {
        cache: Some(&cache),
        threads: global.n_threads(),
        control: Control {
            cancel: Some(&CANCEL),
            ..Control::default()
        },
        tell: Some(&tell),
    };
    let drawn = draw(&run.target, &run.wanted, how);
    if shows {
        write!(std::io::stderr(), "\r{:<100}\r", "").ok();
    }
    let drawn = drawn?;
    let (path, summaries, results) = drawn.save(&run, &folder)?;
    let table = summary(&summaries);
    folder.write("tables/summary.csv", table.to_csv().as_bytes())?;
    let mut text = terminal::text(&table);
    let costs = &drawn.costs;
    text += &match drawn.judged.ess {
        Some(ess) => format!("{ess:.0} effective draws"),
        None => "No effective sample size".into(),
    };
    text += &format!(
        " from {} chains, {} gradients ({} of them to warm up), {:.2} s.\n",
        drawn.kept.n_chains(),
        costs.gradients + costs.warm_up_gradients,
        costs.warm_up_gradients,
        costs.seconds + costs.warm_up_seconds,
    );
    for warning in &drawn.judged.warnings {
        text += &format!("Warning: {warning}\n");
    }
    text += &format!("Draws: {}\nSeed: {}", path.display(), run.wanted.seed);
    if run.seed_from != SeedFrom::Given {
        text += &format!(" (kept in {})", seed::file_in(folder.path()).display());
    }
    Ok(Done {
        text: text + "\n",
        json: results,
        good: drawn.judged.warnings.is_empty(),
    })
}

fn words(status: &Status) -> String {
    if status.warming_up {
        return format!("warming up, {:.0} s", status.seconds);
    }
    let mut text = format!("{} draws", status.n_draws);
    if let Some(ess) = status.ess {
        let wanted = status
            .wanted
            .map_or(String::new(), |n| format!(" of {n:.0}"));
        text += &format!(", ESS {ess:.0}{wanted}");
    }
    if let Some(rhat) = status.rhat {
        text += &format!(", R-hat {rhat:.3}");
    }
    let rate = status.gradients as f64 / status.seconds;
    text += &format!(", {rate:.3e} gradients/s");
    match status.left {
        Some(left) => text + &format!(", about {left:.0} s left"),
        None => text,
    }
}
