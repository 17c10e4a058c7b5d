//! Superscripts and subscripts in labels: `10^{−3}`, `W_{11}`, or the Unicode characters.

/// Where a run of text sits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// On the line.
    Normal,
    /// Raised.
    Super,
    /// Lowered.
    Sub,
}

/// A piece of text with one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The characters, without markup.
    pub text: String,
    /// Their position.
    pub script: Script,
}

/// Splits `text` into runs.
///
/// `^{…}` raises and `_{…}` lowers; Unicode superscripts and subscripts become raised and lowered
/// ordinary characters, because few fonts hold all of them. Anything else stays as it is.
///
/// ```
/// use langevin_page::figure::markup::{Script, parse};
/// let runs = parse("10⁻³");
/// assert_eq!((runs[1].text.as_str(), runs[1].script), ("−3", Script::Super));
/// assert_eq!(parse("10^{−3}"), runs);
/// ```
pub fn parse(text: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((script, inner, after)) = braced(rest) {
            push(&mut runs, inner, script);
            rest = after;
            continue;
        }
        let (character, script) = unicode_script(first);
        push(&mut runs, character.encode_utf8(&mut [0; 4]), script);
        rest = &rest[first.len_utf8()..];
    }
    runs
}

/// The text without markup, for places that know no superscripts (a file name, an alt text).
///
/// ```
/// assert_eq!(langevin_page::figure::markup::plain("W_{11}"), "W11");
/// ```
pub fn plain(text: &str) -> String {
    parse(text).into_iter().map(|run| run.text).collect()
}

/// `^{inner}after` or `_{inner}after`.
fn braced(text: &str) -> Option<(Script, &str, &str)> {
    let (script, body) = match text.strip_prefix("^{") {
        Some(body) => (Script::Super, body),
        None => (Script::Sub, text.strip_prefix("_{")?),
    };
    let (inner, after) = body.split_once('}')?;
    Some((script, inner, after))
}

fn push(runs: &mut Vec<Run>, text: &str, script: Script) {
    match runs.last_mut() {
        Some(last) if last.script == script => last.text.push_str(text),
        _ => runs.push(Run {
            text: text.to_owned(),
            script,
        }),
    }
}

fn unicode_script(character: char) -> (char, Script) {
    const SUPER: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀ";
    const SUB: &str = "₀₁₂₃₄₅₆₇₈₉₊₋";
    const PLAIN: &str = "0123456789+−nT";
    let find = |set: &str| {
        let position = set.chars().position(|c| c == character)?;
        PLAIN.chars().nth(position)
    };
    match (find(SUPER), find(SUB)) {
        (Some(plain), _) => (plain, Script::Super),
        (_, Some(plain)) => (plain, Script::Sub),
        _ => (character, Script::Normal),
    }
}

/// `text` as HTML with `<sup>` and `<sub>`, everything else escaped.
///
/// ```
/// use langevin_page::figure::markup::to_html;
/// assert_eq!(to_html("a<b, 10⁻³"), "a&lt;b, 10<sup>−3</sup>");
/// ```
pub fn to_html(text: &str) -> String {
    parse(text)
        .iter()
        .map(|run| {
            let text = super::svg::escape(&run.text);
            match run.script {
                Script::Normal => text,
                Script::Super => format!("<sup>{text}</sup>"),
                Script::Sub => format!("<sub>{text}</sub>"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_and_bare_markers_stay_literal() {
        for text in ["a^{b", "x_1", "2^3", "_{", "^", "{}"] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn both_spellings_give_the_same_runs() {
        assert_eq!(parse("σ^{2}·W_{11}"), parse("σ²·W₁₁"));
        assert_eq!(parse("σ²·W₁₁").len(), 4);
    }

    #[test]
    fn html_is_escaped_inside_scripts_too() {
        assert_eq!(to_html("x^{<i>}"), "x<sup>&lt;i&gt;</sup>");
    }
}
