//! Verdicts in the page, and how many of each outcome there are.

use super::html::{anchor, rich};
use super::html_table::estimate;
use super::model::{Measured, Outcome, Report, Verdict, VerdictList};

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::Fails => "fails",
        Outcome::Undecided => "undecided",
    }
}

/// The sign tells outcomes apart without colour.
fn badge(outcome: Outcome) -> String {
    let sign = match outcome {
        Outcome::Holds => "✓",
        Outcome::Fails => "✗",
        Outcome::Undecided => "?",
    };
    format!(
        "<span class=\"outcome {}\"><span aria-hidden=\"true\">{sign}</span> {}</span>",
        class(outcome),
        outcome.name()
    )
}

/// The counts of all verdicts of the report; nothing if there are none.
pub(super) fn summary(report: &Report) -> String {
    let total = report.verdicts().count();
    if total == 0 {
        return String::new();
    }
    let counts: String = Outcome::ALL
        .into_iter()
        .map(|outcome| {
            let (class, name) = (class(outcome), outcome.name().to_lowercase());
            let count = report.count(outcome);
            format!("<li class=\"{class}\"><strong>{count}</strong> {name}</li>")
        })
        .collect();
    let claims = if total == 1 { "claim" } else { "claims" };
    format!(
        "<ul class=\"summary\" aria-label=\"Verdicts\">\
         <li class=\"total\"><strong>{total}</strong> {claims}:</li>{counts}</ul>\n"
    )
}

/// The list with one card for each claim.
pub(super) fn verdicts(list: &VerdictList, report: &Report) -> String {
    let mut out = format!("<div class=\"verdicts\" id=\"{}\">\n", anchor(&list.id));
    if !list.title.is_empty() {
        out.push_str(&format!("<h3>{}</h3>\n", rich(&list.title)));
    }
    for item in &list.verdicts {
        out.push_str(&verdict(item, report));
    }
    out.push_str("</div>\n");
    out
}

fn verdict(verdict: &Verdict, report: &Report) -> String {
    let mut out = format!(
        "<div class=\"verdict {}\">\n<p class=\"claim\">{} {}</p>\n",
        class(verdict.outcome),
        badge(verdict.outcome),
        rich(&verdict.claim)
    );
    if !verdict.measured.is_empty() {
        let numbers: String = verdict.measured.iter().map(measured).collect();
        out.push_str(&format!("<dl class=\"measured\">{numbers}</dl>\n"));
    }
    let see: Vec<String> = verdict.see.iter().map(|id| reference(id, report)).collect();
    if !verdict.explanation.is_empty() || !see.is_empty() {
        let links = if see.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"see\">See {}.</span>", see.join(", "))
        };
        out.push_str(&format!("<p>{}{links}</p>\n", rich(&verdict.explanation)));
    }
    out.push_str("</div>\n");
    out
}

fn measured(measured: &Measured) -> String {
    let value = rich(&estimate(measured.value, measured.error));
    format!(
        "<div><dt>{}</dt><dd>{value}</dd></div>",
        rich(&measured.name)
    )
}

/// A link by the name of its target; only the text if the report has no such target.
fn reference(id: &str, report: &Report) -> String {
    match report.name_of(id) {
        Some(name) => format!("<a href=\"#{}\">{}</a>", anchor(id), rich(name)),
        None => rich(id),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Section, Table};
    use super::*;

    #[test]
    fn outcomes_are_counted() {
        let outcomes = [Outcome::Holds, Outcome::Holds, Outcome::Undecided];
        let list = VerdictList {
            verdicts: outcomes.map(|outcome| Verdict::new("", outcome)).to_vec(),
            ..VerdictList::default()
        };
        let report = Report::new("").section(Section::new("a", "").item(list));
        let html = summary(&report);
        assert!(html.contains("<strong>2</strong> holds"), "{html}");
        assert!(html.contains("<strong>0</strong> fails"), "{html}");
        assert!(html.contains("<strong>1</strong> undecided"), "{html}");
        assert!(html.contains("<strong>3</strong> claims"), "{html}");
        assert_eq!(summary(&Report::new("")), "");
    }

    #[test]
    fn a_verdict_shows_its_numbers_and_links() {
        let table = Table::new("table3", "Table 3. Asymptotic variance");
        let report = Report::new("").section(Section::new("a", "").item(table));
        let html = verdict(
            &Verdict::new("GiIrr beats LD", Outcome::Holds)
                .measured("ratio", 1.5, Some(0.25))
                .see("table3")
                .see("nowhere"),
            &report,
        );
        assert!(
            html.contains("<dt>ratio</dt><dd>1.50 ± 0.25</dd>"),
            "{html}"
        );
        assert!(
            html.contains("<a href=\"#table3\">Table 3</a>, nowhere."),
            "{html}"
        );
    }
}
