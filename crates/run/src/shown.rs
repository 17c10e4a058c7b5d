//! Foreign text in messages: values, names and paths that somebody typed.
//!
//! A message is one line that people read on a terminal. Whatever it repeats is therefore
//! shortened, and characters that act on a terminal or turn the direction of writing are spelt
//! out: a file must not be able to hide what a message says about it.

use std::path::Path;

/// Most characters of a value.
const VALUE: usize = 60;
/// Most characters of a path, and of what a parser says.
const LINE: usize = 200;
/// Most characters of a whole message.
const SENTENCE: usize = 1500;
/// Most names of a list.
const NAMES: usize = 12;

/// A value as part of a message.
pub fn short(text: &str) -> String {
    let mut out = String::new();
    let mut n = 0;
    for c in text.chars() {
        let piece = spelt(c);
        n += piece.chars().count();
        if n > VALUE {
            out.push('…');
            break;
        }
        out.push_str(&piece);
    }
    out
}

/// A value in quotes.
///
/// ```
/// use langevin_run::shown::quoted;
/// assert_eq!(quoted("LD"), "\"LD\"");
/// assert_eq!(quoted("\u{1b}[31m\"red\""), r#""\u{1b}[31m\"red\"""#);
/// assert_eq!(quoted(&"x".repeat(5000)), format!("\"{}…\"", "x".repeat(60)));
/// ```
pub fn quoted(text: &str) -> String {
    // No more than can be shown: the rest may be long.
    let start: String = text.chars().take(VALUE + 1).collect();
    let escaped = start.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", short(&escaped))
}

/// Names in quotes, no more of them than can be read.
pub fn quoted_names<S: AsRef<str>>(names: &[S]) -> String {
    first(names, quoted)
}

/// Names, no more of them than can be read.
pub fn names<S: AsRef<str>>(names: &[S]) -> String {
    first(names, short)
}

fn first<S: AsRef<str>>(names: &[S], show: impl Fn(&str) -> String) -> String {
    let shown = names.iter().take(NAMES).map(|name| show(name.as_ref()));
    let text = shown.collect::<Vec<_>>().join(", ");
    match names.len() {
        n if n > NAMES => format!("{text}, … ({n} in all)"),
        _ => text,
    }
}

/// A path; of a long one, its beginning and its end.
pub fn path(path: &Path) -> String {
    middle_cut(&plain(&path.to_string_lossy()), LINE)
}

/// What a parser says, in one line.
pub fn line(text: &str) -> String {
    middle_cut(&plain(&text.replace(['\n', '\r'], " ")), LINE)
}

/// A whole message in one line.
pub fn sentence(text: &str) -> String {
    middle_cut(&plain(&text.replace(['\n', '\r'], " ")), SENTENCE)
}

/// Text for the standard output: all of it, with its lines.
pub fn lines(text: &str) -> String {
    let keep = |c: char| match c {
        '\n' => c.to_string(),
        _ => spelt(c),
    };
    text.chars().map(keep).collect()
}

fn plain(text: &str) -> String {
    text.chars().map(spelt).collect()
}

/// A character, or its name where it would not be seen.
fn spelt(c: char) -> String {
    match is_unseen(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    }
}

/// Whether a character acts on the terminal, changes the direction of writing or has no width.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// A text of at most `limit` characters, from both of its ends.
fn middle_cut(text: &str, limit: usize) -> String {
    let n = text.chars().count();
    if n <= limit {
        return text.into();
    }
    let half = limit / 2;
    let start = text.chars().take(half);
    let end = text.chars().skip(n - (limit - half - 1));
    start.chain(std::iter::once('…')).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut() {
        let long = "y".repeat(200_000);
        assert_eq!(short(&long), format!("{}…", "y".repeat(VALUE)));
        assert_eq!(short(&long[..VALUE]), long[..VALUE]);
        assert_eq!(quoted(&long).chars().count(), VALUE + 3);
        // What is spelt out counts in full.
        assert!(short(&"\u{1b}".repeat(100)).chars().count() <= VALUE + 1);
        assert_eq!(sentence(&long).chars().count(), SENTENCE);
        let name = format!("/a/{long}/end.csv");
        assert!(path(Path::new(&name)).ends_with("y/end.csv"));
        assert_eq!(path(Path::new(&name)).chars().count(), LINE);
    }

    #[test]
    fn what_is_not_seen_is_spelt_out() {
        assert_eq!(short("a\u{1b}[2J\r\n\tb"), "a\\u{1b}[2J\\r\\n\\tb");
        assert_eq!(
            short("\u{202e}gpj.exe\u{2066}"),
            "\\u{202e}gpj.exe\\u{2066}"
        );
        assert_eq!(short("\u{9b}31m\u{7f}"), "\\u{9b}31m\\u{7f}");
        // Letters of any script stay.
        assert_eq!(quoted("größe σ² e\u{301} 数"), "\"größe σ² e\u{301} 数\"");
        assert_eq!(sentence("two\nlines\u{7}"), "two lines\\u{7}");
        assert_eq!(lines("a\nb\u{1b}c\n"), "a\nb\\u{1b}c\n");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(names(&["a", "b"]), "a, b");
        assert_eq!(quoted_names(&["a", "b"]), "\"a\", \"b\"");
        let many: Vec<String> = (0..1000).map(|i| format!("x{i}")).collect();
        let text = names(&many);
        assert!(text.ends_with("x11, … (1000 in all)"), "{text}");
    }
}
