//! Text in figures: the embedded font, the width of a label, and raised or lowered runs.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

use super::markup::{Script, parse};
use super::svg::{Px, Writer};

/// Liberation Sans, under the SIL Open Font License (`assets/LiberationSans-LICENSE.txt`).
pub const FONT: &[u8] = include_bytes!("../../assets/LiberationSans-Regular.ttf");

/// Name of the embedded font.
pub const FONT_NAME: &str = "Liberation Sans";

/// Fonts with the advance widths of the embedded one, so that labels measured here fit everywhere.
pub const FONT_STACK: &str = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif";

/// Size of raised and lowered characters relative to the text around them.
const SCRIPT_SIZE: f64 = 0.72;

/// Width of `text` in pixels when set at `size` pixels, markup applied.
///
/// Characters missing from the embedded font count as wide as an em dash.
///
/// ```
/// use langevin_page::figure::text::width;
/// assert!(width("10^{−3}", 10.0) < width("10−3", 10.0));
/// ```
pub fn width(text: &str, size: f64) -> f64 {
    // Without the font (it is part of the program, so this cannot happen) assume wide letters.
    let Ok(font) = FontRef::new(FONT) else {
        return size * text.chars().count() as f64;
    };
    let metrics = font.glyph_metrics(Size::new(1000.0), LocationRef::default());
    let charmap = font.charmap();
    let advance = |c| {
        let glyph = charmap.map(c)?;
        metrics.advance_width(glyph)
    };
    let run_width = |text: &str| -> f64 {
        text.chars()
            .map(|c| f64::from(advance(c).unwrap_or(1000.0)) / 1000.0)
            .sum()
    };
    parse(text)
        .iter()
        .map(|run| size * script_size(run.script) * run_width(&run.text))
        .sum()
}

fn script_size(script: Script) -> f64 {
    match script {
        Script::Normal => 1.0,
        Script::Super | Script::Sub => SCRIPT_SIZE,
    }
}

/// Which part of a label its position names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    Start,
    Middle,
    End,
}

/// A label to be drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Label<'a> {
    pub text: &'a str,
    pub size: f64,
    pub align: Align,
    /// Turned by 90° against the clock, to run up an axis.
    pub upright: bool,
}

impl<'a> Label<'a> {
    pub fn new(text: &'a str, size: f64, align: Align) -> Self {
        Label {
            text,
            size,
            align,
            upright: false,
        }
    }

    pub fn upright(mut self) -> Self {
        self.upright = true;
        self
    }

    /// Draws the label with its baseline at (`x`, `y`).
    pub fn draw(&self, svg: &mut Writer, x: f64, y: f64) {
        let anchor = match self.align {
            Align::Start => "start",
            Align::Middle => "middle",
            Align::End => "end",
        };
        let (px, py, size) = (Px(x), Px(y), Px(self.size));
        let turn = format!("rotate(-90 {px} {py})");
        let mut attributes: Vec<super::svg::Attribute<'_>> = vec![
            ("x", &px),
            ("y", &py),
            ("font-size", &size),
            ("text-anchor", &anchor),
        ];
        if self.upright {
            attributes.push(("transform", &turn));
        }
        svg.open("text", &attributes);
        self.draw_runs(svg);
        svg.close();
    }

    /// `dy` moves all that follows, so every run undoes the shift of the one before.
    fn draw_runs(&self, svg: &mut Writer) {
        let mut shift = 0.0;
        for run in parse(self.text) {
            let wanted = match run.script {
                Script::Normal => 0.0,
                Script::Super => -0.38 * self.size,
                Script::Sub => 0.2 * self.size,
            };
            if run.script == Script::Normal && shift == 0.0 {
                svg.text(&run.text);
                continue;
            }
            let size = Px(self.size * script_size(run.script));
            svg.open(
                "tspan",
                &[("dy", &Px(wanted - shift)), ("font-size", &size)],
            );
            svg.text(&run.text);
            svg.close();
            shift = wanted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Helvetica's metrics: a digit is 556/1000 em, "i" 222/1000, "W" 944/1000.
        assert!((width("0", 1000.0) - 556.0).abs() < 1.0);
        assert!((width("iW", 1000.0) - (222.0 + 944.0)).abs() < 1.0);
        assert_eq!(width("", 12.0), 0.0);
    }

    #[test]
    fn the_font_has_the_characters_of_our_labels() {
        let font = FontRef::new(FONT).unwrap();
        for c in "0123456789−×±·θφπσμδβΣΔ‖√∑∂∞≤≥≈→–|′".chars() {
            assert!(font.charmap().map(c).is_some(), "{c}");
        }
    }

    #[test]
    fn superscripts_are_raised_and_lowered_again() {
        let mut svg = Writer::default();
        Label::new("10⁻³x", 10.0, Align::Middle).draw(&mut svg, 0.0, 0.0);
        let svg = svg.finish();
        assert!(
            svg.contains("10<tspan dy=\"-3.8\" font-size=\"7.2\">−3</tspan>"),
            "{svg}"
        );
        assert!(
            svg.contains("<tspan dy=\"3.8\" font-size=\"10\">x</tspan>"),
            "{svg}"
        );
    }
}
