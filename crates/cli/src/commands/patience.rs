//! What a command says before long work, and what it does not start without being asked twice.

use std::path::Path;

use clap::Args;

use super::Global;
use langevin_run::execute::Task;
use langevin_run::forecast::{Forecast, words};
use langevin_run::output::check_room;
use langevin_run::run_file::Needs;
use langevin_run::units::unit_path;

/// Shorter work is not worth a line, in seconds.
const WORTH_SAYING: f64 = 60.0;
/// Longer work is more likely to be a slip of the pen, in seconds.
const LONGEST: f64 = 30.0 * 86_400.0;

#[derive(Debug, Args)]
pub(super) struct Patience {
    /// Start even what will take longer than 30 days.
    #[arg(long)]
    patient: bool,
}

impl Patience {
    /// Says how long the tasks will take where that is long, and refuses what does not fit on the disk
    /// or takes longer than 30 days. Units that are in the output folder already count as done.
    pub(super) fn check(
        &self,
        tasks: &[Task],
        needs: &Needs,
        out: &Path,
        global: &Global,
    ) -> anyhow::Result<()> {
        check_room(out, needs.disk())?;
        let units = out.join("units");
        let forecast = Forecast::new(tasks, |key| {
            !global.fresh && unit_path(&units, key).exists()
        })?;
        let threads = global.n_threads();
        let seconds = forecast.seconds(threads);
        let about = format!("about {} on {threads} threads", words(seconds));
        if let (Some(size), false) = (needs.longest(), self.patient)
            && seconds > LONGEST
        {
            size.place.refuse(format!(
                "{} = {} takes {about}, longer than 30 days; make it smaller, or start it all the \
                 same with --patient",
                size.field, size.value
            ))?;
        }
        if seconds > WORTH_SAYING && !global.quiet {
            eprintln!(
                "this will take {about}; Ctrl-C keeps finished units, and the same command goes on \
                 from there"
            );
        }
        Ok(())
    }
}
