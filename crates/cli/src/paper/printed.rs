//! The paper as data: its tables, figures, printed numbers and claims (`experiments/paper.toml`).

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;

use super::embedded;

/// Everything that is reproduced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Heading of the report.
    pub title: String,
    /// Line below it.
    pub subtitle: String,
    /// Number of standard errors that decides a claim.
    pub z: f64,
    /// The examples of the paper.
    #[serde(rename = "section")]
    pub sections: Vec<Section>,
}

/// One example of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// What to call it on the command line.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Paragraphs.
    #[serde(default)]
    pub text: Vec<String>,
    /// Tables and figures, in the order of the paper.
    #[serde(rename = "item")]
    pub items: Vec<Item>,
}

/// What an item shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Asymptotic variances.
    Table,
    /// Errors of the running average of one observable.
    Running,
    /// Variances of the running averages of all observables.
    Variances,
    /// Kernel Stein discrepancies.
    Ksd,
    /// Paths during burn-in.
    Paths,
    /// One- and two-dimensional marginals.
    Marginals,
    /// A coordinate over time.
    Trace,
    /// Appendix: variance of a linear observable against δ.
    LinearAgainstDelta,
    /// Appendix: squared bias and variance of ‖θ‖² against δ.
    NormAgainstDelta,
}

/// A table or a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Anchor and name of files: `table2`, `figure11`.
    pub id: String,
    /// What it shows.
    pub kind: Kind,
    /// The run file it is made from.
    pub run: String,
    /// The observable, for figures of one.
    pub observable: Option<String>,
    /// Title of a table, caption of a figure.
    pub title: String,
    /// Where the paper errs or leaves a value open.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The printed table: system → mean and standard deviation of each observable in turn.
    #[serde(default)]
    pub printed: BTreeMap<String, Vec<f64>>,
    /// Number of chains behind the printed numbers.
    pub printed_chains: Option<f64>,
    /// Further tables of the same kind.
    #[serde(default)]
    pub also: Vec<Also>,
    /// What the text says about it.
    #[serde(default, rename = "claim")]
    pub claims: Vec<Claim>,
}

/// A table beside that of the paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// Anchor.
    pub id: String,
    /// The run file.
    pub run: String,
    /// Title.
    pub title: String,
    /// Whether the printed numbers stand beside it, too.
    #[serde(default)]
    pub beside_printed: bool,
    /// Remarks.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A number that a system has in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Asymptotic variance by batch means.
    Variance,
    /// Mean squared error of the running average over all steps.
    Mse,
    /// Variance of the running average over all steps.
    RunningVariance,
    /// Kernel Stein discrepancy of all points.
    Ksd,
    /// Slope of the discrepancy over the last factor of ten, on logarithmic axes.
    Slope,
    /// Distance from the posterior mean, on average over a path.
    Distance,
    /// Changes of sign along a trace.
    SignChanges,
    /// Time per step.
    Cost,
}

impl Quantity {
    /// Whether every observable has one of its own.
    pub fn is_of_observables(self) -> bool {
        matches!(
            self,
            Quantity::Variance | Quantity::Mse | Quantity::RunningVariance
        )
    }
}

/// A sentence of the paper, and the numbers that decide it.
///
/// Exactly one of the relations is given; each makes a list of numbers, all of which have to lie
/// in `range`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The sentence.
    pub text: String,
    /// The run file, where it is not that of the item.
    pub run: Option<String>,
    /// What is compared.
    #[serde(default = "variance")]
    pub quantity: Quantity,
    /// Of which observables; of all if empty.
    #[serde(default)]
    pub observables: Vec<String>,
    /// Where the numbers have to lie; from 0 to 1 if not given.
    pub range: Option<[f64; 2]>,
    /// A remark on the outcome.
    #[serde(default)]
    pub because: String,

    /// Relation: this system over every other one.
    pub smallest: Option<String>,
    /// Relation: every system over the one before it.
    pub order: Option<Vec<String>>,
    /// Relation: the first system of a pair over the second.
    pub pairs: Option<Vec<[String; 2]>>,
    /// Relation: the numbers of these systems themselves.
    pub each: Option<Vec<String>>,
    /// Relation: this run over another one, for every system.
    pub versus: Option<String>,
    /// Relation: the ratio to LD over the printed ratio, for every other system.
    #[serde(default)]
    pub printed: bool,
    /// Relation: the estimate over its exact expectation, for every system.
    #[serde(default)]
    pub exact: bool,
    /// Relation: the exact expectation of the estimate over the printed number, for every system.
    #[serde(default)]
    pub exact_over_printed: bool,
    /// Relation: a curve of the appendix rises with δ.
    pub rises: Option<Curve>,
    /// Relation: a curve of the appendix falls with δ.
    pub falls: Option<Curve>,
}

/// A curve of the appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Curve {
    /// Variance of the average of a linear observable.
    LinearVariance,
    /// Squared bias of the average of ‖θ‖².
    NormBias,
    /// Variance of the average of ‖θ‖².
    NormVariance,
}

fn variance() -> Quantity {
    Quantity::Variance
}

impl Claim {
    fn n_relations(&self) -> usize {
        [
            self.smallest.is_some(),
            self.order.is_some(),
            self.pairs.is_some(),
            self.each.is_some(),
            self.versus.is_some(),
            self.printed,
            self.exact,
            self.exact_over_printed,
            self.rises.is_some(),
            self.falls.is_some(),
        ]
        .into_iter()
        .filter(|given| *given)
        .count()
    }
}

impl Item {
    /// `Table 2` for `table2`.
    pub fn name(&self) -> String {
        let at = self.id.find(|c: char| c.is_ascii_digit());
        let (word, number) = self.id.split_at(at.unwrap_or(self.id.len()));
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        let word: String = first.into_iter().chain(letters).collect();
        format!("{word} {number}")
    }

    /// All run files whose averages it needs.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        let own = std::iter::once(self.run.as_str());
        own.chain(self.also.iter().map(|also| also.run.as_str()))
    }
}

impl Paper {
    /// The paper that the program carries.
    pub fn embedded() -> anyhow::Result<Self> {
        let paper: Paper = toml::from_str(embedded::PAPER).context("experiments/paper.toml")?;
        for item in paper.items() {
            for claim in &item.claims {
                let n = claim.n_relations();
                ensure!(
                    n == 1,
                    "paper.toml: {:?} has {n} relations, not one",
                    claim.text
                );
            }
        }
        Ok(paper)
    }

    /// All items in order.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|section| &section.items)
    }

    /// Only what is named: sections, items or `everything`, which is also what no name means.
    pub fn select(mut self, what: &[String]) -> anyhow::Result<Self> {
        for word in what {
            let known = |name: &str| name == word.as_str();
            let is_section = self.sections.iter().any(|s| known(&s.id));
            if !is_section && !self.items().any(|i| known(&i.id)) && word != EVERYTHING {
                let sections: Vec<&str> = self.sections.iter().map(|s| s.id.as_str()).collect();
                let items: Vec<&str> = self.items().map(|i| i.id.as_str()).collect();
                bail!(
                    "there is no {word:?} to reproduce; expected {EVERYTHING}, {}, or single \
                     items: {}",
                    sections.join(", "),
                    items.join(", ")
                );
            }
        }
        if what.is_empty() || what.iter().any(|word| word == EVERYTHING) {
            return Ok(self);
        }
        for section in &mut self.sections {
            if !what.contains(&section.id) {
                section.items.retain(|item| what.contains(&item.id));
            }
        }
        self.sections.retain(|section| !section.items.is_empty());
        Ok(self)
    }
}

/// The word for all items.
const EVERYTHING: &str = "everything";

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(what: &[&str]) -> Vec<String> {
        let what: Vec<String> = what.iter().map(|w| w.to_string()).collect();
        let paper = Paper::embedded().unwrap().select(&what).unwrap();
        paper.items().map(|item| item.id.clone()).collect()
    }

    #[test]
    fn every_table_and_figure_is_there_in_order() {
        let all = ids(&[]);
        let numbers = |word: &str| -> Vec<u32> {
            let found = all.iter().filter_map(|id| id.strip_prefix(word));
            found.map(|n| n.parse().unwrap()).collect()
        };
        assert_eq!(numbers("table"), [2, 3, 4, 5, 6]);
        assert_eq!(numbers("figure"), (1..=16).collect::<Vec<_>>());
        assert_eq!(all.len(), 21);
        assert_eq!(ids(&["everything"]), all);
    }

    #[test]
    fn selections_keep_their_items_only() {
        assert_eq!(ids(&["discretization"]), ["figure15", "figure16"]);
        assert_eq!(ids(&["figure7", "table2"]), ["table2", "figure7"]);
        let error = Paper::embedded().unwrap().select(&["tabel2".into()]);
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("\"tabel2\"") && text.contains("gaussian, normal"),
            "{text}"
        );
    }

    /// Systems, observables and runs that claims name exist, and printed rows are complete.
    #[test]
    fn the_data_name_what_exists() {
        use crate::paper::embedded::{Scale, experiment};
        let systems = ["LD", "RM", "Irr", "RMIrr", "GiIrr"];
        for item in Paper::embedded().unwrap().items() {
            for run in item
                .runs()
                .chain(item.claims.iter().filter_map(|c| c.run.as_deref()))
            {
                experiment(run, Scale::Paper, None).unwrap();
            }
            for row in item.printed.values() {
                assert!(
                    [4, 6].contains(&row.len()) && item.printed.len() == 5,
                    "{}",
                    item.id
                );
            }
            for claim in &item.claims {
                let named = claim.smallest.iter().chain(claim.order.iter().flatten());
                let named = named.chain(claim.pairs.iter().flatten().flatten());
                for system in named.chain(claim.each.iter().flatten()) {
                    assert!(systems.contains(&system.as_str()), "{system}");
                }
            }
        }
    }
}
