//! SVG to PNG with resvg and the embedded font, the same on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use langevin_page::figure::text::{FONT, FONT_NAME};

/// The widest image we draw; at 17 cm this is over 2900 dpi.
const WIDEST: u32 = 20_000;

/// Why an image could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// The text is not an SVG document that resvg can read.
    #[error("cannot read the SVG document: {0}")]
    Svg(String),
    /// The size is zero or too large.
    #[error("cannot draw an image {width} pixels wide: expected 1 to {WIDEST}")]
    Width {
        /// The width that was asked for.
        width: u32,
    },
    /// The image could not be encoded.
    #[error("cannot encode the image as PNG: {0}")]
    Encode(String),
}

/// Draws an SVG document as a PNG image on white, `width` pixels wide.
///
/// # Errors
/// If the document cannot be read, or `width` is 0 or too large.
///
/// ```
/// use langevin_cli::png::svg_to_png;
/// use langevin_page::figure::Figure;
/// let png = svg_to_png(&Figure::new("empty", "").to_svg(), 100)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), langevin_cli::png::PngError>(())
/// ```
pub fn svg_to_png(svg: &str, width: u32) -> Result<Vec<u8>, PngError> {
    if !(1..=WIDEST).contains(&width) {
        return Err(PngError::Width { width });
    }
    let mut fonts = Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FONT_NAME);
    let options = Options {
        font_family: FONT_NAME.to_owned(),
        fontdb: Arc::new(fonts),
        ..Options::default()
    };
    let tree = Tree::from_str(svg, &options).map_err(|e| PngError::Svg(e.to_string()))?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).ceil().max(1.0) as u32;
    let mut image = Pixmap::new(width, height).ok_or(PngError::Width { width })?;
    image.fill(resvg::tiny_skia::Color::WHITE);
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut image.as_mut(),
    );
    image
        .encode_png()
        .map_err(|e| PngError::Encode(e.to_string()))
}

#[cfg(test)]
mod tests {
    use langevin_page::figure::{Axis, Colour, Figure, Line, Panel};

    use super::*;

    #[test]
    fn images_have_the_width_asked_for() {
        let line = Line::new("", Colour::BLUE, vec![[1.0, 1.0], [2.0, 0.5]]);
        let panel = Panel::new(Axis::linear("x"), Axis::linear("y")).mark(line);
        let svg = Figure::new("f", "").panel(panel).to_svg();
        let png = svg_to_png(&svg, 321).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        let width = u32::from_be_bytes([png[16], png[17], png[18], png[19]]);
        assert_eq!(width, 321);
        assert!(svg_to_png(&svg, u32::MAX).is_err());
    }

    #[test]
    fn errors_name_the_offending_value() {
        let error = svg_to_png("<svg", 10).unwrap_err();
        assert!(error.to_string().starts_with("cannot read the SVG"));
        let error = svg_to_png("", 0).unwrap_err();
        assert!(error.to_string().contains("0 pixels wide"), "{error}");
    }
}
