//! What a report is made of, as plain data.

use crate::figure::Figure;

use super::table::Table;

/// A whole page.
///
/// Ids of sections, tables, figures and lists of verdicts are anchors in the page and must differ
/// from one another. Texts may hold `^{…}`, `_{…}` and `` `code` ``; all else is shown as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The heading of the page.
    pub title: String,
    /// A line below the heading; empty for none.
    pub subtitle: String,
    /// Label and value: version, seed, scale, machine, wall time and the like.
    pub facts: Vec<(String, String)>,
    /// The body.
    pub sections: Vec<Section>,
}

impl Report {
    /// An empty report.
    pub fn new(title: impl Into<String>) -> Self {
        Report {
            title: title.into(),
            ..Report::default()
        }
    }

    /// Sets the line below the heading.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// Adds a fact.
    pub fn fact(mut self, label: impl Into<String>, value: impl Into<String>) -> Self {
        self.facts.push((label.into(), value.into()));
        self
    }

    /// Adds a section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// All tables, in order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.items().filter_map(|item| match item {
            Item::Table(table) => Some(table),
            _ => None,
        })
    }

    /// All verdicts, in order.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.items().flat_map(|item| match item {
            Item::Verdicts(list) => list.verdicts.as_slice(),
            _ => &[],
        })
    }

    /// How many verdicts have this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.verdicts().filter(|v| v.outcome == outcome).count()
    }

    /// What to call the section or item with this id in running text: a figure's name, a table's
    /// title up to its first full stop, a heading.
    pub fn name_of(&self, id: &str) -> Option<&str> {
        let sections = self
            .sections
            .iter()
            .map(|s| (s.id.as_str(), s.title.as_str()));
        let items = self.items().map(|item| match item {
            Item::Table(table) => (table.id.as_str(), table.title.as_str()),
            Item::Figure(figure) => (figure.id.as_str(), figure.name.as_str()),
            Item::Verdicts(list) => (list.id.as_str(), list.title.as_str()),
        });
        let (known, title) = items.chain(sections).find(|(known, _)| *known == id)?;
        let name = title.split('.').next().filter(|name| !name.is_empty());
        Some(name.unwrap_or(known))
    }

    fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|section| &section.items)
    }
}

/// A part of the page with its own heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    /// Anchor.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Text before the items.
    pub paragraphs: Vec<String>,
    /// Tables, figures and verdicts.
    pub items: Vec<Item>,
}

impl Section {
    /// An empty section.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Section {
            id: id.into(),
            title: title.into(),
            ..Section::default()
        }
    }

    /// Adds a paragraph.
    pub fn paragraph(mut self, text: impl Into<String>) -> Self {
        self.paragraphs.push(text.into());
        self
    }

    /// Adds a table, a figure or a list of verdicts.
    pub fn item(mut self, item: impl Into<Item>) -> Self {
        self.items.push(item.into());
        self
    }
}

/// Anything in a section besides text.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A table.
    Table(Table),
    /// A figure.
    Figure(FigureItem),
    /// Claims and whether they hold.
    Verdicts(VerdictList),
}

impl From<Table> for Item {
    fn from(table: Table) -> Self {
        Item::Table(table)
    }
}

impl From<FigureItem> for Item {
    fn from(figure: FigureItem) -> Self {
        Item::Figure(figure)
    }
}

impl From<VerdictList> for Item {
    fn from(list: VerdictList) -> Self {
        Item::Verdicts(list)
    }
}

/// A figure in the page.
#[derive(Debug, Clone, PartialEq)]
pub struct FigureItem {
    /// Anchor.
    pub id: String,
    /// A short name for the table of contents, such as "Figure 3".
    pub name: String,
    /// The drawing, put into the page as it is: it must be well-formed SVG without ids.
    pub svg: String,
    /// Text below the figure.
    pub caption: String,
    /// A smaller remark below the caption; empty for none.
    pub note: String,
}

impl FigureItem {
    /// Draws `figure`; its id and caption are used as they are.
    pub fn new(name: impl Into<String>, figure: &Figure) -> Self {
        FigureItem {
            id: figure.id.clone(),
            name: name.into(),
            svg: figure.to_svg(),
            caption: figure.caption.clone(),
            note: String::new(),
        }
    }

    /// Sets the remark below the caption.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// Whether the measurements bear a claim out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// They do.
    Holds,
    /// They speak against it.
    Fails,
    /// The standard errors leave it open.
    Undecided,
}

impl Outcome {
    /// All outcomes, in the order in which they are counted.
    pub const ALL: [Outcome; 3] = [Outcome::Holds, Outcome::Fails, Outcome::Undecided];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Holds => "Holds",
            Outcome::Fails => "Fails",
            Outcome::Undecided => "Undecided",
        }
    }
}

/// A number that speaks for or against a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What was measured.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its standard error; `None` for exact numbers and counts.
    pub error: Option<f64>,
}

/// A claim and what we found.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The claim, as a sentence.
    pub claim: String,
    /// The numbers.
    pub measured: Vec<Measured>,
    /// The judgement.
    pub outcome: Outcome,
    /// Why; empty if the numbers speak for themselves.
    pub explanation: String,
    /// Ids of the tables and figures that show it.
    pub see: Vec<String>,
}

impl Verdict {
    /// A verdict without numbers or explanation yet.
    pub fn new(claim: impl Into<String>, outcome: Outcome) -> Self {
        Verdict {
            claim: claim.into(),
            measured: Vec::new(),
            outcome,
            explanation: String::new(),
            see: Vec::new(),
        }
    }

    /// Adds a number with its standard error.
    pub fn measured(mut self, name: impl Into<String>, value: f64, error: Option<f64>) -> Self {
        let name = name.into();
        self.measured.push(Measured { name, value, error });
        self
    }

    /// Sets the explanation.
    pub fn explanation(mut self, text: impl Into<String>) -> Self {
        self.explanation = text.into();
        self
    }

    /// Refers to a table or figure by its id.
    pub fn see(mut self, id: impl Into<String>) -> Self {
        self.see.push(id.into());
        self
    }
}

/// Claims with their verdicts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerdictList {
    /// Anchor.
    pub id: String,
    /// Heading.
    pub title: String,
    /// The verdicts.
    pub verdicts: Vec<Verdict>,
}
