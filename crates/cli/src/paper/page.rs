//! The report: what was run, each table and figure with its verdicts, and how long it took.

use super::claim::judge;
use super::embedded::Scale;
use super::printed::{Item, Kind, Paper, Quantity};
use super::tables::{self, Heading};
use super::{Gathered, figures, planar};
use crate::view::tables::long;
use langevin_page::figure::Figure;
use langevin_page::report::{
    FigureItem, Item as Shown, Report, Section, Table, Verdict, VerdictList,
};
use langevin_run::forecast::words;
use langevin_run::run_file::Run;
use langevin_run::starts::Total;

/// A claim that was judged.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The item it is about.
    pub item: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether it is about time, which is never the same twice.
    pub is_time: bool,
}

/// Judges all claims of the chosen items.
pub fn verdicts(paper: &Paper, gathered: &Gathered) -> Vec<Judged> {
    let about = |item: &Item| -> Vec<Judged> {
        let one = |claim| Judged {
            item: item.id.clone(),
            verdict: judge(claim, item, &gathered.comparisons, paper.z),
            is_time: claim.quantity == Quantity::Cost,
        };
        item.claims.iter().map(one).collect()
    };
    paper.items().flat_map(about).collect()
}

/// What the page says besides the numbers.
#[derive(Clone, Debug)]
pub struct Page {
    /// The scale.
    pub scale: Scale,
    /// In place of the seeds of the run files.
    pub seed: Option<u64>,
    /// Number of threads.
    pub threads: usize,
    /// How long this start took.
    pub wall_seconds: f64,
    /// How long this and all earlier starts in the same folder took.
    pub total: Total,
    /// How long it was expected to take.
    pub forecast_seconds: f64,
}

/// The report with the figures and long tables that get files of their own.
pub struct Built {
    /// The page.
    pub report: Report,
    /// Its figures.
    pub figures: Vec<Figure>,
    /// The numbers behind them.
    pub long_tables: Vec<Table>,
}

/// Puts everything together.
pub fn build(
    page: &Page,
    paper: &Paper,
    gathered: &Gathered,
    judged: &[Judged],
) -> anyhow::Result<Built> {
    let mut built = Built {
        report: head(page, paper),
        figures: vec![],
        long_tables: vec![],
    };
    let listed = gathered.experiments.iter();
    let listed: Vec<(_, &Run)> = listed.map(|(e, run)| (e.clone(), run.as_ref())).collect();
    let what = Section::new("what-was-run", "What was run")
        .paragraph(scale_text(page.scale))
        .paragraph(format!(
            "A claim of the paper holds if each of its numbers lies where it has to by more than \
             {z} standard errors, fails if one lies elsewhere by more than {z}, and is undecided \
             otherwise. Ratios between systems are taken over pairs of chains that \
             share their random numbers, which their errors account for; errors of MSE leave out \
             that of a truth from a long run. The ranges asked for are our reading of the paper's words. Claims that begin \
             with “Check” are ours: they test this program against exact theory.",
            z = paper.z
        ))
        .item(tables::runs(&listed));
    built.report = built.report.section(what);
    for section in &paper.sections {
        let mut shown = Section::new(section.id.clone(), section.title.clone());
        shown.paragraphs = section.text.clone();
        for item in &section.items {
            shown.items.extend(show(item, gathered, &mut built)?);
            shown.items.extend(claims(item, judged));
        }
        built.report = built.report.section(shown);
    }
    if let Some(cost) = tables::cost(&gathered.comparisons) {
        let section = Section::new("time", "Time")
            .paragraph(time_text(page, gathered))
            .item(cost);
        built.report = built.report.section(section);
    }
    for (name, comparison) in &gathered.comparisons {
        built
            .long_tables
            .extend(long(comparison, &format!("{name}-")));
    }
    Ok(built)
}

fn head(page: &Page, paper: &Paper) -> Report {
    let seed = page
        .seed
        .map_or("those of the run files".into(), |s| s.to_string());
    Report::new(paper.title.clone())
        .subtitle(paper.subtitle.clone())
        .fact("Program", format!("langevin {}", env!("CARGO_PKG_VERSION")))
        .fact("Scale", page.scale.name())
        .fact("Seeds", seed)
        .fact("Threads", page.threads.to_string())
        .fact("Machine", langevin_run::machine::words())
        .fact("Wall time", wall_time(page))
}

/// The time of all starts, if there were several.
fn wall_time(page: &Page) -> String {
    match page.total.starts {
        1 => words(page.wall_seconds),
        n => format!("{} in {n} starts", words(page.total.seconds)),
    }
}

fn time_text(page: &Page, gathered: &Gathered) -> String {
    let whole = match page.total.starts {
        1 => format!("The whole took {}", words(page.wall_seconds)),
        n => format!(
            "The whole took {} in {n} starts, of which the last one took {}",
            words(page.total.seconds),
            words(page.wall_seconds)
        ),
    };
    format!(
        "{whole}, on {} threads, drawing included. All units of work together took {} of one thread.",
        page.threads,
        words(gathered.unit_seconds)
    )
}

fn scale_text(scale: Scale) -> &'static str {
    match scale {
        Scale::Paper => {
            "Chains, steps, step sizes, minibatches and burn-in are those of the paper. Runs that \
             the paper does not have are marked so in their run files."
        }
        Scale::Quick => {
            "Scale `quick`: fewer chains, shorter paths and larger step sizes than the paper's, as \
             listed in the table, so that everything takes two minutes. Averages over shorter \
             paths have more bias, and fewer chains leave more claims undecided; `--scale paper` \
             runs the paper's own numbers."
        }
        Scale::Smoke => {
            "Scale `smoke`: next to no work, only to see that everything runs. The numbers mean \
             nothing."
        }
    }
}

/// The tables or the figure of an item.
fn show(item: &Item, gathered: &Gathered, built: &mut Built) -> anyhow::Result<Vec<Shown>> {
    let comparison = gathered.comparisons.get(&item.run);
    if item.kind == Kind::Table {
        return Ok(variances(item, gathered));
    }
    let figure = figures::figure(item, comparison, gathered.draws.get(&item.run))?;
    let mut note = item.notes.join(" ");
    if let (Kind::Ksd, Some(run)) = (item.kind, comparison.map(|c| &c.run)) {
        note = format!("{note} {}", ksd_note(run)).trim().to_owned();
    }
    let shown = FigureItem::new(item.name(), &figure).note(note);
    built.figures.push(figure);
    let mut items = vec![Shown::from(shown)];
    if item.kind == Kind::NormAgainstDelta {
        items.push(planar::table("appendix-values", comparison).into());
    }
    Ok(items)
}

fn ksd_note(run: &Run) -> String {
    let Some(ksd) = &run.measure.ksd else {
        return String::new();
    };
    let every = match ksd.thin {
        1 => "every step".into(),
        n => format!("one in {n} steps"),
    };
    format!(
        "Mean over {} chains of up to {} points, {every}, with bands of one standard error.",
        ksd.n_chains, ksd.n_points
    )
}

fn variances(item: &Item, gathered: &Gathered) -> Vec<Shown> {
    let mut shown = vec![];
    let own = Heading {
        id: &item.id,
        run: &item.run,
        title: &item.title,
        printed: &item.printed,
        notes: &item.notes,
    };
    if let Some(comparison) = gathered.comparisons.get(&item.run) {
        shown.push(tables::variances(comparison, &own).into());
    }
    let nothing = Default::default();
    for also in &item.also {
        let heading = Heading {
            id: &also.id,
            run: &also.run,
            title: &also.title,
            printed: if also.beside_printed {
                &item.printed
            } else {
                &nothing
            },
            notes: &also.notes,
        };
        if let Some(comparison) = gathered.comparisons.get(&also.run) {
            shown.push(tables::variances(comparison, &heading).into());
        }
    }
    shown
}

fn claims(item: &Item, judged: &[Judged]) -> Option<Shown> {
    let about = judged.iter().filter(|j| j.item == item.id);
    let verdicts: Vec<Verdict> = about.map(|j| j.verdict.clone()).collect();
    if verdicts.is_empty() {
        return None;
    }
    Some(Shown::from(VerdictList {
        id: format!("{}-claims", item.id),
        title: format!("{}: claims", item.name()),
        verdicts,
    }))
}
