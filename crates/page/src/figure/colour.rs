//! Colours, dashes and markers of series, and a perceptually uniform map for densities.

use std::fmt;

/// An opaque sRGB colour; displays as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// Black, for reference lines.
    pub const BLACK: Colour = Colour(0, 0, 0);
    /// Mid grey, for guides that must stay behind the data.
    pub const GREY: Colour = Colour(0x77, 0x77, 0x77);
    /// Blue.
    pub const BLUE: Colour = Colour(0x00, 0x72, 0xb2);
    /// Orange.
    pub const ORANGE: Colour = Colour(0xe6, 0x9f, 0x00);
    /// Green.
    pub const GREEN: Colour = Colour(0x00, 0x9e, 0x73);
    /// Purple.
    pub const PURPLE: Colour = Colour(0xcc, 0x79, 0xa7);
    /// Vermillion.
    pub const VERMILLION: Colour = Colour(0xd5, 0x5e, 0x00);
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// How a line is interrupted, so that series stay apart without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dash {
    /// An unbroken line.
    #[default]
    Solid,
    /// Medium dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// A dash, then a dot.
    DashDot,
    /// Long dashes.
    LongDash,
}

impl Dash {
    /// Dash lengths in units of the line width; `None` for a solid line.
    pub fn pattern(self) -> Option<&'static [f64]> {
        match self {
            Dash::Solid => None,
            Dash::Dashed => Some(&[4.0, 2.2]),
            Dash::Dotted => Some(&[1.2, 1.6]),
            Dash::DashDot => Some(&[5.5, 1.8, 1.2, 1.8]),
            Dash::LongDash => Some(&[8.0, 2.4]),
        }
    }
}

/// The shape of a data point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marker {
    /// A disc.
    #[default]
    Circle,
    /// A square.
    Square,
    /// A triangle that points up.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A diagonal cross.
    Cross,
}

/// Everything that tells one series from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Colour of lines, points and bars.
    pub colour: Colour,
    /// Dash of lines.
    pub dash: Dash,
    /// Shape of points.
    pub marker: Marker,
}

const fn style(colour: Colour, dash: Dash, marker: Marker) -> Style {
    Style {
        colour,
        dash,
        marker,
    }
}

/// Styles that stay apart in colour, dash and marker. The first five colours are those of Okabe and Ito
/// (2008), chosen to differ for every common kind of colour vision.
const PALETTE: [Style; 9] = [
    style(Colour::BLUE, Dash::LongDash, Marker::Circle),
    style(Colour::ORANGE, Dash::Dashed, Marker::Square),
    style(Colour::GREEN, Dash::Dotted, Marker::Triangle),
    style(Colour::PURPLE, Dash::DashDot, Marker::Diamond),
    style(Colour::VERMILLION, Dash::Solid, Marker::Cross),
    style(Colour(0x56, 0xb4, 0xe9), Dash::Solid, Marker::Circle),
    style(Colour(0x33, 0x22, 0x88), Dash::Dashed, Marker::Square),
    style(Colour(0x88, 0x22, 0x55), Dash::DashDot, Marker::Triangle),
    style(Colour(0x99, 0x99, 0x33), Dash::LongDash, Marker::Diamond),
];

impl Style {
    /// Number of styles that differ.
    pub const COUNT: usize = PALETTE.len();

    /// Style number `i`, counted round.
    ///
    /// ```
    /// use langevin_page::figure::{Colour, Style};
    /// assert_eq!(Style::number(0).colour, Colour::BLUE);
    /// assert_eq!(Style::number(Style::COUNT), Style::number(0));
    /// ```
    pub fn number(i: usize) -> Self {
        PALETTE[i % PALETTE.len()]
    }

    /// The style of a name, the same in every figure: the `known` names have the first styles, any
    /// other name one of the rest, chosen by the name alone.
    ///
    /// ```
    /// use langevin_page::figure::Style;
    /// assert_eq!(Style::of("b", &["a", "b"]), Style::number(1));
    /// assert_eq!(Style::of("c", &["a", "b"]), Style::of("c", &["a", "b"]));
    /// ```
    pub fn of(name: &str, known: &[&str]) -> Self {
        let rest = Self::COUNT.saturating_sub(known.len()).max(1);
        let own = known.iter().position(|k| *k == name);
        Self::number(own.unwrap_or(known.len() + fold(name) % rest))
    }
}

/// A small stable hash; the standard hasher may change between compiler versions.
fn fold(name: &str) -> usize {
    name.bytes()
        .fold(5, |hash: usize, byte| (hash * 31 + usize::from(byte)) % 997)
}

/// Colour of a density at `t` between 0 (white) and 1 (dark blue).
///
/// The lightness is affine in `t` and the hue turns evenly from green to indigo in Oklab
/// (Ottosson, 2020), so that equal steps of `t` look equal. Values outside `[0, 1]` are clamped;
/// NaN is white.
pub fn sequential(t: f64) -> Colour {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) };
    let lightness = 1.0 - 0.72 * t;
    let chroma = 0.115 * (std::f64::consts::PI * t.powf(0.8)).sin().max(0.0) + 0.04 * t;
    let hue = (175.0 + 100.0 * t).to_radians();
    oklab_to_srgb(lightness, chroma * hue.cos(), chroma * hue.sin())
}

/// Oklab to sRGB (Ottosson, "A perceptual color space for image processing", 2020).
fn oklab_to_srgb(l: f64, a: f64, b: f64) -> Colour {
    let long = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let medium = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let short = (l - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    Colour(
        encode(4.076_741_662_1 * long - 3.307_711_591_3 * medium + 0.230_969_929_2 * short),
        encode(-1.268_438_004_6 * long + 2.609_757_401_1 * medium - 0.341_319_396_5 * short),
        encode(-0.004_196_086_3 * long - 0.703_418_614_7 * medium + 1.707_614_701_0 * short),
    )
}

/// Linear light to an 8-bit sRGB channel (IEC 61966-2-1).
fn encode(linear: f64) -> u8 {
    let channel = if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    };
    (channel * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance (WCAG 2).
    fn luminance(c: Colour) -> f64 {
        let decode = |v: u8| {
            let v = f64::from(v) / 255.0;
            if v <= 0.04045 {
                v / 12.92
            } else {
                ((v + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * decode(c.0) + 0.7152 * decode(c.1) + 0.0722 * decode(c.2)
    }

    #[test]
    fn styles_differ_in_colour_and_the_first_in_dash_and_marker_too() {
        for (i, first) in PALETTE.iter().enumerate() {
            for (j, second) in PALETTE.iter().enumerate().skip(i + 1) {
                assert_ne!(first.colour, second.colour, "{i} {j}");
                assert!(j > 4 || first.dash != second.dash, "{i} {j}");
                assert!(j > 4 || first.marker != second.marker, "{i} {j}");
            }
        }
    }

    #[test]
    fn sequential_runs_evenly_from_white_to_dark() {
        assert_eq!(sequential(0.0), Colour(255, 255, 255));
        assert_eq!(sequential(f64::NAN), sequential(0.0));
        assert_eq!(sequential(7.0), sequential(1.0));
        // CIE lightness, an independent measure: it must fall by a similar step every time.
        let lightness = |t: f64| 116.0 * luminance(sequential(t)).cbrt() - 16.0;
        let steps: Vec<f64> = (0..20)
            .map(|k| lightness(f64::from(k) / 20.0) - lightness(f64::from(k + 1) / 20.0))
            .collect();
        let mean = steps.iter().sum::<f64>() / 20.0;
        assert!(mean > 3.0, "{mean}");
        for step in steps {
            assert!((0.6 * mean..1.5 * mean).contains(&step), "{step} vs {mean}");
        }
    }
}
