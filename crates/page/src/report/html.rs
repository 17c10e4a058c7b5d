//! The page around the items: head, facts, summary, contents and sections.

use crate::figure::{escape, markup};

use super::html_table::table;
use super::html_verdict::{summary, verdicts};
use super::model::{FigureItem, Item, Report, Section};

const STYLE: &str = include_str!("style.css");

impl Report {
    /// The report as one HTML page that needs nothing from anywhere else.
    pub fn to_html(&self) -> String {
        let mut out = String::new();
        out.push_str("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
        out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
        let title = match markup::plain(&self.title).trim() {
            "" => "Report".to_owned(),
            title => escape(title),
        };
        out.push_str(&format!(
            "<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
        ));
        out.push_str(&header(self));
        out.push_str("<div class=\"page\">\n");
        out.push_str(&contents(self));
        out.push_str("<main>\n");
        for part in &self.sections {
            out.push_str(&section(part, self));
        }
        out.push_str("</main>\n</div>\n</body>\n</html>\n");
        out
    }
}

/// Text with superscripts, subscripts and `` `code` ``; everything else is escaped.
pub(super) fn rich(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, tail)) = after.split_once('`') else {
            break;
        };
        out.push_str(&markup::to_html(before));
        out.push_str(&format!("<code>{}</code>", escape(code)));
        rest = tail;
    }
    out.push_str(&markup::to_html(rest));
    out
}

/// `id` as an HTML id: no spaces, never empty.
pub(super) fn anchor(id: &str) -> String {
    let plain: String = id
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_.:".contains(c) {
                c
            } else {
                '-'
            }
        })
        .collect();
    if plain.is_empty() {
        "item".to_owned()
    } else {
        plain
    }
}

fn header(report: &Report) -> String {
    let mut out = format!("<header>\n<h1>{}</h1>\n", rich(&report.title));
    if !report.subtitle.is_empty() {
        out.push_str(&format!(
            "<p class=\"subtitle\">{}</p>\n",
            rich(&report.subtitle)
        ));
    }
    out.push_str(&summary(report));
    if !report.facts.is_empty() {
        out.push_str("<dl class=\"facts\">\n");
        for (label, value) in &report.facts {
            let (label, value) = (rich(label), rich(value));
            out.push_str(&format!("<div><dt>{label}</dt><dd>{value}</dd></div>\n"));
        }
        out.push_str("</dl>\n");
    }
    out.push_str("</header>\n");
    out
}

fn contents(report: &Report) -> String {
    if report.sections.is_empty() {
        return String::new();
    }
    let mut out = "<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n<ol>\n".to_owned();
    for section in &report.sections {
        out.push_str(&format!("<li>{}", link(&section.id, &section.title)));
        if !section.items.is_empty() {
            let links: Vec<String> = section.items.iter().map(item_link).collect();
            out.push_str(&format!("\n<ul>{}</ul>", links.concat()));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ol>\n</nav>\n");
    out
}

fn link(id: &str, text: &str) -> String {
    format!("<a href=\"#{}\">{}</a>", anchor(id), rich(text))
}

fn item_link(item: &Item) -> String {
    let link = match item {
        Item::Table(table) => link(&table.id, &table.title),
        Item::Figure(figure) if figure.name.is_empty() => link(&figure.id, &figure.caption),
        Item::Figure(figure) => link(&figure.id, &figure.name),
        Item::Verdicts(list) => link(&list.id, &list.title),
    };
    format!("<li>{link}</li>")
}

fn section(section: &Section, report: &Report) -> String {
    let mut out = format!(
        "<section id=\"{}\">\n<h2>{}</h2>\n",
        anchor(&section.id),
        rich(&section.title)
    );
    for paragraph in &section.paragraphs {
        out.push_str(&format!("<p>{}</p>\n", rich(paragraph)));
    }
    for item in &section.items {
        out.push_str(&match item {
            Item::Table(item) => table(item),
            Item::Figure(item) => figure(item),
            Item::Verdicts(list) => verdicts(list, report),
        });
    }
    out.push_str("</section>\n");
    out
}

fn figure(item: &FigureItem) -> String {
    let mut out = format!("<figure id=\"{}\">\n", anchor(&item.id));
    let label = escape(&markup::plain(&item.caption));
    out.push_str(&format!(
        "<div class=\"card\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">{}</div>\n",
        item.svg
    ));
    out.push_str("<figcaption>");
    if !item.name.is_empty() {
        out.push_str(&format!("<strong>{}.</strong> ", rich(&item.name)));
    }
    out.push_str(&rich(&item.caption));
    if !item.note.is_empty() {
        out.push_str(&format!("<span class=\"note\">{}</span>", rich(&item.note)));
    }
    out.push_str("</figcaption>\n</figure>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use super::*;

    const EVIL: &str = "<script>alert(\"x\")</script> & 'y'";

    fn evil_report() -> Report {
        let table = Table::new(EVIL, EVIL)
            .column(Column::grouped(EVIL, EVIL))
            .row(Row::new([Cell::text(EVIL)]))
            .note(EVIL);
        let figure = FigureItem {
            id: "f".into(),
            name: EVIL.into(),
            svg: "<svg></svg>".into(),
            caption: EVIL.into(),
            note: EVIL.into(),
        };
        let verdict = Verdict::new(EVIL, Outcome::Fails)
            .measured(EVIL, f64::NAN, Some(f64::NAN))
            .explanation(EVIL)
            .see(EVIL);
        let list = VerdictList {
            id: "v".into(),
            title: EVIL.into(),
            verdicts: vec![verdict],
        };
        let section = Section::new("s p a c e", EVIL)
            .paragraph(EVIL)
            .item(table)
            .item(figure)
            .item(list);
        Report::new(EVIL)
            .subtitle(EVIL)
            .fact(EVIL, EVIL)
            .section(section)
    }

    #[test]
    fn no_text_reaches_the_page_unescaped() {
        let html = evil_report().to_html();
        assert!(!html.contains("<script"), "{html}");
        assert!(!html.contains("& '"), "{html}");
        assert!(html.contains("id=\"s-p-a-c-e\""));
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let html = evil_report().to_html();
        for outside in ["http:", "https:", "src=", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn every_link_has_its_target() {
        let html = evil_report().to_html();
        let links: Vec<&str> = html
            .split("href=\"#")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(links.len() >= 3);
        for link in links {
            assert!(html.contains(&format!("id=\"{link}\"")), "{link}");
        }
    }

    #[test]
    fn code_and_scripts_in_text() {
        assert_eq!(
            rich("run `a<b` at 10^{−3}"),
            "run <code>a&lt;b</code> at 10<sup>−3</sup>"
        );
        assert_eq!(rich("one ` only"), "one ` only");
    }

    #[test]
    fn an_empty_report_is_a_page() {
        let html = Report::default().to_html();
        assert!(html.contains("<title>Report</title>") && html.ends_with("</html>\n"));
    }
}
