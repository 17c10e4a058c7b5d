//! A small SVG writer: elements, escaped attributes, and compact path data.

use std::fmt::{self, Display, Write};

/// Escapes `text` for XML and HTML, in content and in double-quoted attributes.
///
/// Characters that XML 1.0 forbids (most control characters) become U+FFFD.
///
/// ```
/// use langevin_page::figure::escape;
/// assert_eq!(escape("a < \"b\" & 'c'"), "a &lt; &quot;b&quot; &amp; &#39;c&#39;");
/// ```
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(character),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            _ => out.push(character),
        }
    }
    out
}

/// A length in pixels, printed with at most two decimals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Px(pub f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.0.is_finite() { self.0 } else { 0.0 };
        let text = format!("{value:.2}");
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// An attribute: its name and what it prints as.
pub(super) type Attribute<'a> = (&'a str, &'a dyn Display);

/// An SVG document under construction.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: String,
    open: Vec<&'static str>,
}

impl Writer {
    /// Opens an element; [`Writer::close`] ends it.
    pub fn open(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.out.push('>');
        self.open.push(tag);
    }

    /// Ends the element opened last.
    pub fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.out.push_str("</");
            self.out.push_str(tag);
            self.out.push('>');
        }
    }

    /// An element without content.
    pub fn element(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.out.push_str("/>");
    }

    /// Escaped character data.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(&escape(text));
    }

    /// What another writer has finished.
    pub fn raw(&mut self, svg: &str) {
        self.out.push_str(svg);
    }

    /// The document; open elements are closed first.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn start(&mut self, tag: &str, attributes: &[Attribute<'_>]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            self.out.push_str(&escape(&value.to_string()));
            self.out.push('"');
        }
    }
}

/// Path data in tenths of a pixel, written as differences: long traces stay small and rounding
/// errors do not add up.
#[derive(Debug, Default)]
pub(super) struct Path {
    data: String,
    last: (i64, i64),
}

/// Far outside any figure, yet harmless to every renderer.
const FAR: f64 = 1e5;

fn tenths(value: f64) -> i64 {
    // NaN cannot arrive here from a scale; `as` would turn it into 0.
    (value.clamp(-FAR, FAR) * 10.0).round() as i64
}

impl Path {
    /// Starts a new stroke.
    pub fn move_to(&mut self, x: f64, y: f64) {
        let point = (tenths(x), tenths(y));
        let _ = write!(self.data, "M{} {}", Tenths(point.0), Tenths(point.1));
        self.last = point;
    }

    /// A straight stroke to an absolute point.
    pub fn line_to(&mut self, x: f64, y: f64) {
        let point = (tenths(x), tenths(y));
        let (dx, dy) = (point.0 - self.last.0, point.1 - self.last.1);
        let _ = match (dx, dy) {
            (0, 0) => return,
            (dx, 0) => write!(self.data, "h{}", Tenths(dx)),
            (0, dy) => write!(self.data, "v{}", Tenths(dy)),
            (dx, dy) if dy < 0 => write!(self.data, "l{}{}", Tenths(dx), Tenths(dy)),
            (dx, dy) => write!(self.data, "l{} {}", Tenths(dx), Tenths(dy)),
        };
        self.last = point;
    }

    /// A stroke of length zero: a dot, when drawn with round caps.
    pub fn dot(&mut self, x: f64, y: f64) {
        self.move_to(x, y);
        self.data.push_str("h0");
    }

    /// Closes the current outline.
    pub fn close(&mut self) {
        self.data.push('z');
    }

    /// A polyline through `points`.
    pub fn polyline(&mut self, points: &[(f64, f64)]) {
        for (index, &(x, y)) in points.iter().enumerate() {
            if index == 0 {
                self.move_to(x, y);
            } else {
                self.line_to(x, y);
            }
        }
    }

    /// Whether nothing has been drawn.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.data)
    }
}

/// Prints 12 as `1.2` and 3 as `.3`.
struct Tenths(i64);

impl Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0.abs() / 10, self.0.abs() % 10);
        if self.0 < 0 {
            f.write_str("-")?;
        }
        match (whole, rest) {
            (whole, 0) => write!(f, "{whole}"),
            (0, rest) => write!(f, ".{rest}"),
            (whole, rest) => write!(f, "{whole}.{rest}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_text_are_escaped() {
        let mut svg = Writer::default();
        svg.open("text", &[("data-x", &"\"><script>")]);
        svg.text("a & b\u{1}");
        assert_eq!(
            svg.finish(),
            "<text data-x=\"&quot;&gt;&lt;script&gt;\">a &amp; b\u{fffd}</text>"
        );
    }

    #[test]
    fn finish_closes_what_is_open() {
        let mut svg = Writer::default();
        svg.open("g", &[]);
        svg.open("g", &[]);
        assert_eq!(svg.finish(), "<g><g></g></g>");
    }

    #[test]
    fn path_differences_do_not_drift() {
        let mut path = Path::default();
        let points: Vec<(f64, f64)> = (0..4).map(|k| (0.04 * f64::from(k), 1.0)).collect();
        path.polyline(&points);
        // 0, 0.04, 0.08, 0.12 round to 0, 0, 0.1, 0.1.
        assert_eq!(path.to_string(), "M0 1h.1");
    }

    #[test]
    fn path_survives_absurd_coordinates() {
        let mut path = Path::default();
        path.move_to(f64::INFINITY, f64::NAN);
        path.line_to(-1.25, 0.0);
        assert_eq!(path.to_string(), "M100000 0h-100001.3");
    }

    #[test]
    fn pixels_are_short() {
        for (value, text) in [(1.0, "1"), (-0.001, "0"), (2.346, "2.35"), (f64::NAN, "0")] {
            assert_eq!(Px(value).to_string(), text);
        }
    }
}
