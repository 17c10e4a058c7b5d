//! Comparisons as tables, figures and sections of a report.

pub mod figures;
pub mod save;
pub mod style;
pub mod summary;
pub mod tables;

use langevin::batch::Gradient;
use langevin::skew::Skew;
use langevin::transition::StepSize;

use langevin_page::figure::Figure;
use langevin_page::figure::number::concise;
use langevin_page::report::{FigureItem, Item, Section, Table};
use langevin_run::compare::{ArmResult, Comparison};
use langevin_run::run_file::{Arm, Run};

/// Everything that a comparison shows.
pub struct View {
    /// The section of a report.
    pub section: Section,
    /// Figures, for files of their own; they are in the section, too.
    pub figures: Vec<Figure>,
    /// Tables that are too long for a page.
    pub long_tables: Vec<Table>,
}

/// Shows a comparison; all ids begin with `prefix`, which may be empty.
pub fn view(comparison: &Comparison, prefix: &str) -> View {
    let run = &comparison.run;
    let mut section = Section::new(format!("{prefix}comparison"), run.title.clone())
        .paragraph(what_was_run(run))
        .item(tables::variances(comparison, &format!("{prefix}variances")))
        .item(tables::cost(comparison, &format!("{prefix}cost")));
    if comparison.arms.iter().any(|arm| !arm.escapes.is_empty()) {
        section = section.paragraph(escape_sentence(&comparison.arms));
    }
    let figures = figures::all(comparison, prefix);
    for (number, figure) in figures.iter().enumerate() {
        let item = FigureItem::new(format!("Figure {}", number + 1), figure);
        section = section.item(Item::from(item));
    }
    View {
        section,
        figures,
        long_tables: tables::long(comparison, prefix),
    }
}

/// Model, data, chains, steps and seed in a sentence or two.
pub fn what_was_run(run: &Run) -> String {
    let target = &run.target;
    format!(
        "The model `{}` with {} coordinates and {} data. {} chains of {} states for each dynamics, \
         of which the first {} are left out of batch means. Seed {}.",
        target.name(),
        target.dim(),
        target.n_data(),
        run.n_chains,
        run.n_steps,
        run.burn_in,
        run.seed,
    )
}

fn escape_sentence(arms: &[ArmResult]) -> String {
    let lost: Vec<String> = arms
        .iter()
        .filter(|arm| !arm.escapes.is_empty())
        .map(|arm| format!("{} of {}", arm.escapes.len(), arm.arm.name))
        .collect();
    format!(
        "Chains that left the finite numbers or the support are counted and left out: {}.",
        lost.join(", ")
    )
}

/// `h = 0.001, minibatches of 6`.
pub fn settings(arm: &Arm) -> String {
    let step = match arm.step_size {
        StepSize::Constant(h) => format!("h = {}", concise(h, 6)),
        StepSize::Decreasing { a, b, gamma } => {
            format!("h_{{k}} = {a}({b} + k)^{{−{gamma}}}")
        }
    };
    match arm.gradient {
        Gradient::Exact => format!("{step}, exact gradients"),
        Gradient::Minibatch {
            batch_size,
            with_replacement: true,
        } => format!("{step}, minibatches of {batch_size} with replacement"),
        Gradient::Minibatch { batch_size, .. } => format!("{step}, minibatches of {batch_size}"),
    }
}

/// `metric natural, field geometric with ‖J‖ = 2, β = 0.5`.
pub fn dynamics(arm: &Arm) -> String {
    let field = match &arm.system.skew {
        Skew::None => "no skew field".into(),
        Skew::Constant(j) => format!("constant skew field with ‖J‖ = {}", concise(j.norm(), 4)),
        Skew::Geometric(j) => format!("geometric skew field with ‖J‖ = {}", concise(j.norm(), 4)),
    };
    let metric = arm.system.metric.name();
    format!("metric {metric}, {field}, β = {}", arm.system.beta)
}
