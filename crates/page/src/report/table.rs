//! Tables of texts, estimates and comparisons.

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Anchor, such as "table3"; also the stem of its CSV file.
    pub id: String,
    /// Text above the table.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; missing cells are empty, surplus ones are not shown.
    pub rows: Vec<Row>,
    /// Remarks below the table.
    pub notes: Vec<String>,
}

impl Table {
    /// A table without columns or rows yet.
    pub fn new(id: impl Into<String>, title: impl Into<String>) -> Self {
        Table {
            id: id.into(),
            title: title.into(),
            ..Table::default()
        }
    }

    /// Adds a column.
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// Adds a row.
    pub fn row(mut self, row: Row) -> Self {
        self.rows.push(row);
        self
    }

    /// Adds a remark.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The table as CSV (RFC 4180), numbers in full precision.
    ///
    /// Standard errors, the paper's values and exact values follow in columns of their own
    /// wherever a column has any.
    pub fn to_csv(&self) -> String {
        super::csv::table(self)
    }
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// Neighbouring columns of one group share a heading; empty for none.
    pub group: String,
    /// The column's own heading.
    pub label: String,
}

impl Column {
    /// A column on its own.
    pub fn new(label: impl Into<String>) -> Self {
        Column {
            group: String::new(),
            label: label.into(),
        }
    }

    /// A column under the heading `group`.
    pub fn grouped(group: impl Into<String>, label: impl Into<String>) -> Self {
        Column {
            group: group.into(),
            label: label.into(),
        }
    }
}

/// A row of cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// The cells; the first one is the row's heading.
    pub cells: Vec<Cell>,
    /// Whether the row stands out as the best one.
    pub best: bool,
}

impl Row {
    /// A plain row.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        Row {
            cells: cells.into_iter().collect(),
            best: false,
        }
    }

    /// Makes the row stand out.
    pub fn best(mut self) -> Self {
        self.best = true;
        self
    }
}

/// What a cell says.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cell {
    /// Nothing; shown as a dash.
    #[default]
    Empty,
    /// Words.
    Text(String),
    /// A number, perhaps with a standard error and with what to compare it with.
    Number {
        /// Our value.
        value: f64,
        /// Its standard error.
        error: Option<f64>,
        /// The value printed in the paper.
        paper: Option<f64>,
        /// The exact value.
        exact: Option<f64>,
    },
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// A plain number.
    pub fn number(value: f64) -> Self {
        Cell::Number {
            value,
            error: None,
            paper: None,
            exact: None,
        }
    }

    /// A number with its standard error.
    pub fn estimate(value: f64, error: f64) -> Self {
        Cell::number(value).with(|_, e, _, _| *e = Some(error))
    }

    /// Adds the paper's value to a number; other cells stay as they are.
    pub fn paper(self, paper: f64) -> Self {
        self.with(|_, _, p, _| *p = Some(paper))
    }

    /// Adds the exact value to a number; other cells stay as they are.
    pub fn exact(self, exact: f64) -> Self {
        self.with(|_, _, _, e| *e = Some(exact))
    }

    fn with(
        mut self,
        change: impl FnOnce(&mut f64, &mut Option<f64>, &mut Option<f64>, &mut Option<f64>),
    ) -> Self {
        if let Cell::Number {
            value,
            error,
            paper,
            exact,
        } = &mut self
        {
            change(value, error, paper, exact);
        }
        self
    }
}
