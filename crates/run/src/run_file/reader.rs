//! Reads TOML values one by one, so that every refusal names its line and what was expected.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest;
use super::source::{At, Place, Result, Source};
use crate::shown::{quoted, short};

/// A TOML value and where it stands.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    source: &'a Arc<Source>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    /// Where it stands.
    pub fn place(&self) -> Place {
        Place::new(self.source, self.value.span())
    }

    /// Refuses the value; `expected` says what belongs here.
    pub fn refuse<T>(&self, expected: &str) -> Result<T> {
        let found = match self.value.get_ref() {
            DeValue::String(text) => format!("the text {}", quoted(text)),
            DeValue::Integer(number) => short(&number.to_string()),
            DeValue::Float(number) => short(&number.to_string()),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(date) => format!("the date {date}"),
            DeValue::Array(list) if list.is_empty() => "an empty list".into(),
            DeValue::Array(_) => "a list".into(),
            DeValue::Table(_) => "a table".into(),
        };
        self.place()
            .refuse(format!("expected {expected}, found {found}"))
    }

    fn with<T>(&self, value: T) -> At<T> {
        let place = self.place();
        At { value, place }
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        self.value.get_ref().is_integer() || self.value.get_ref().is_float()
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    /// A finite number.
    pub fn number(&self) -> Result<At<f64>> {
        let parsed = match self.value.get_ref() {
            DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
                .ok()
                .map(|n| n as f64),
            DeValue::Float(x) => x.as_str().parse().ok(),
            _ => None,
        };
        match parsed {
            Some(x) if f64::is_finite(x) => Ok(self.with(x)),
            _ => self.refuse("a finite number"),
        }
    }

    /// A whole number from 0 on; a float such as `1e6` counts if it is whole.
    pub fn count(&self) -> Result<At<u64>> {
        let parsed = match self.value.get_ref() {
            DeValue::Integer(n) => u64::from_str_radix(n.as_str(), n.radix()).ok(),
            // Beyond 2⁵³ a float no longer says which whole number is meant.
            DeValue::Float(x) => x
                .as_str()
                .parse()
                .ok()
                .filter(|x: &f64| x.fract() == 0.0 && (0.0..9e15).contains(x))
                .map(|x| x as u64),
            _ => None,
        };
        match parsed {
            Some(n) => Ok(self.with(n)),
            None => self.refuse("a whole number, 0 or more"),
        }
    }

    /// A whole number from 1 on.
    pub fn positive_count(&self) -> Result<At<u64>> {
        match self.count() {
            Ok(n) if n.value > 0 => Ok(n),
            _ => self.refuse("a whole number, 1 or more"),
        }
    }

    /// A number above 0.
    pub fn positive(&self) -> Result<At<f64>> {
        match self.number() {
            Ok(x) if x.value > 0.0 => Ok(x),
            _ => self.refuse("a finite number above 0"),
        }
    }

    /// A text.
    pub fn text(&self) -> Result<At<String>> {
        match self.as_text() {
            Some(text) => Ok(self.with(text.to_owned())),
            None => self.refuse("a text in quotes"),
        }
    }

    /// True or false.
    pub fn flag(&self) -> Result<At<bool>> {
        match self.value.get_ref().as_bool() {
            Some(flag) => Ok(self.with(flag)),
            None => self.refuse("true or false"),
        }
    }

    /// One of a closed list of words.
    pub fn word(&self, words: &[&'static str]) -> Result<At<&'static str>> {
        let expected = || one_of(words);
        let Some(text) = self.as_text() else {
            return self.refuse(&expected());
        };
        match words.iter().find(|word| **word == text) {
            Some(word) => Ok(self.with(*word)),
            None => {
                let hint = nearest(text, words.iter().copied())
                    .map(|word| format!(" (did you mean {word:?}?)"));
                let hint = hint.unwrap_or_default();
                self.place().refuse(format!(
                    "expected {}, found {}{hint}",
                    expected(),
                    quoted(text)
                ))
            }
        }
    }

    /// The values of a list.
    pub fn list(&self, expected: &str) -> Result<Vec<Value<'a>>> {
        let source = self.source;
        match self.value.get_ref().as_array() {
            Some(array) => Ok(array.iter().map(|value| Value { source, value }).collect()),
            None => self.refuse(expected),
        }
    }

    /// The values of a list that must not be empty.
    pub fn full_list(&self, expected: &str) -> Result<Vec<Value<'a>>> {
        match self.list(expected)? {
            list if list.is_empty() => self.refuse(expected),
            list => Ok(list),
        }
    }

    /// A list of one or more numbers.
    pub fn numbers(&self) -> Result<At<Vec<f64>>> {
        let list = self.full_list("a list of one or more numbers")?;
        let numbers: Result<Vec<f64>> = list.iter().map(|v| Ok(v.number()?.value)).collect();
        Ok(self.with(numbers?))
    }

    /// A list of one or more texts.
    pub fn texts(&self) -> Result<At<Vec<String>>> {
        let list = self.full_list("a list of one or more texts in quotes")?;
        let texts: Result<Vec<String>> = list.iter().map(|v| Ok(v.text()?.value)).collect();
        Ok(self.with(texts?))
    }

    /// One or more rows of numbers, all of one length.
    pub fn rows(&self) -> Result<At<Vec<Vec<f64>>>> {
        let expected = "a list of one or more rows, each a list of numbers";
        let mut rows: Vec<Vec<f64>> = vec![];
        for value in self.full_list(expected)? {
            if !value.is_list() {
                return value.refuse("a row, that is, a list of numbers");
            }
            let row = value.numbers()?;
            if let Some(first) = rows.first()
                && first.len() != row.value.len()
            {
                return row.place.refuse(format!(
                    "this row has {} numbers, but the first has {}",
                    row.value.len(),
                    first.len()
                ));
            }
            rows.push(row.value);
        }
        Ok(self.with(rows))
    }

    /// A table of fields.
    pub fn section(&self, name: &str) -> Result<Section<'a>> {
        match self.value.get_ref().as_table() {
            Some(table) => Ok(Section {
                source: self.source,
                name: name.into(),
                place: self.place(),
                table,
                known: vec![],
            }),
            None => self.refuse(&format!("a table with the fields of {name}")),
        }
    }
}

/// A TOML table whose fields are asked for one by one; what was not asked for is unknown.
pub struct Section<'a> {
    source: &'a Arc<Source>,
    name: String,
    place: Place,
    table: &'a DeTable<'a>,
    known: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// The top level of a run file.
    pub fn root(source: &'a Arc<Source>, table: &'a Spanned<DeTable<'a>>) -> Self {
        Section {
            source,
            name: "a run file".into(),
            place: Place::new(source, table.span()),
            table: table.get_ref(),
            known: vec![],
        }
    }

    /// Where it stands.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// A field that may be missing.
    pub fn optional(&mut self, key: &'static str) -> Option<Value<'a>> {
        self.known.push(key);
        let source = self.source;
        let value = self.table.get(key)?;
        Some(Value { source, value })
    }

    /// A field that must be there; `expected` says what it holds. Where it is missing, a field of
    /// nearly that name is taken for a slip of the pen.
    pub fn required(&mut self, key: &'static str, expected: &str) -> Result<Value<'a>> {
        if let Some(value) = self.optional(key) {
            return Ok(value);
        }
        let unknown = self.table.keys().filter(|found| {
            let text = found.get_ref().as_ref();
            !self.known.contains(&text) && is_slip_of(text, key)
        });
        match unknown.min_by_key(|found| found.span().start) {
            Some(found) => self.refuse_unknown(found, &format!("did you mean `{key}`?")),
            None => self
                .place
                .refuse(format!("{} needs `{key}`: {expected}", self.name)),
        }
    }

    fn refuse_unknown<T>(&self, key: &Spanned<impl AsRef<str>>, hint: &str) -> Result<T> {
        let text = key.get_ref().as_ref();
        Place::new(self.source, key.span()).refuse(format!(
            "{} has no field `{}`; {hint}",
            self.name,
            short(text)
        ))
    }

    /// All fields with their names, for tables whose keys are free.
    pub fn entries(&self) -> Vec<(At<String>, Value<'a>)> {
        let source = self.source;
        let entry = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'a>>)| {
            let name = At {
                value: String::from(AsRef::<str>::as_ref(key.get_ref())),
                place: Place::new(source, key.span()),
            };
            (name, Value { source, value })
        };
        self.table.iter().map(entry).collect()
    }

    /// Refuses fields that nobody asked for. Of several, the first in the file is named.
    pub fn finish(self) -> Result<()> {
        let unknown = self
            .table
            .keys()
            .filter(|key| !self.known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        let Some(key) = unknown else { return Ok(()) };
        let text = key.get_ref().as_ref();
        let mut known = self.known.clone();
        known.sort_unstable();
        known.dedup();
        let hint = match nearest(text, known.iter().copied()) {
            Some(word) => format!("did you mean `{word}`?"),
            None => format!("expected one of {}", known.join(", ")),
        };
        self.refuse_unknown(key, &hint)
    }
}

/// Whether a name is another one with a slip of the pen; names of three letters are all alike.
fn is_slip_of(text: &str, name: &'static str) -> bool {
    name.len() > 3 && nearest(text, std::iter::once(name)).is_some()
}

/// `"a", "b" or "c"`.
fn one_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("{w:?}")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_error(text: &str, read: impl Fn(&mut Section) -> Result<()>) -> String {
        let source = Source::from_text("run.toml", text);
        let table = DeTable::parse(source.text()).unwrap();
        let mut section = Section::root(&source, &table);
        let done = read(&mut section).and_then(|()| section.finish());
        done.unwrap_err().to_string()
    }

    #[test]
    fn refusals_name_line_and_expectation() {
        let count = |s: &mut Section| s.required("steps", "")?.positive_count().map(drop);
        assert_eq!(
            first_error("# a comment\nsteps = 1.5", count),
            "run.toml, line 2: expected a whole number, 1 or more, found 1.5"
        );
        assert_eq!(
            first_error("steps = 1e6\nstep = 3", count),
            "run.toml, line 2: a run file has no field `step`; did you mean `steps`?"
        );
        assert_eq!(
            first_error("seed = 1\nstpes = 1e6", count),
            "run.toml, line 2: a run file has no field `stpes`; did you mean `steps`?"
        );
        assert_eq!(
            first_error("seed = 1", |s| s.required("steps", "a count").map(drop)),
            "run.toml, line 1: a run file needs `steps`: a count"
        );
        let word = |s: &mut Section| s.required("m", "")?.word(&["ica", "normal"]).map(drop);
        assert_eq!(
            first_error("m = 'norml'", word),
            "run.toml, line 1: expected \"ica\" or \"normal\", found \"norml\" (did you mean \"normal\"?)"
        );
        let rows = |s: &mut Section| s.required("m", "")?.rows().map(drop);
        assert_eq!(
            first_error("m = [[1, 2],\n[3]]", rows),
            "run.toml, line 2: this row has 1 numbers, but the first has 2"
        );
    }
}
