//! Where an axis has ticks, and what they say.

use super::model::Scale;
use super::number::{fixed, power_of_ten, significant};
use super::scale::Map;

/// A short line on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    /// `None` for a minor tick.
    pub label: Option<String>,
}

/// The ticks of one axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ticks {
    pub ticks: Vec<Tick>,
    /// The labels are to be multiplied by this power of ten.
    pub exponent: Option<i32>,
}

impl Ticks {
    /// The labelled ticks.
    pub fn labelled(&self) -> impl Iterator<Item = (f64, &str)> {
        self.ticks
            .iter()
            .filter_map(|tick| Some((tick.value, tick.label.as_deref()?)))
    }
}

/// The most ticks that fit the axis `map` without labels touching.
///
/// `extent` is the room a label takes along the axis, `gap` the least distance between labels.
pub(super) fn fit(map: &Map, extent: impl Fn(&str) -> f64, gap: f64) -> Ticks {
    let length = (map.pixels.1 - map.pixels.0).abs();
    let most = ((length / (extent("0") + gap)) as usize).clamp(2, 9);
    for count in (2..=most).rev() {
        let ticks = at_most(map, count);
        if clear(map, &ticks, &extent, gap) {
            return ticks;
        }
    }
    // Not even two labels fit side by side: the first one stays.
    let mut ticks = at_most(map, 2);
    for tick in ticks.ticks.iter_mut().filter(|t| t.label.is_some()).skip(1) {
        tick.label = None;
    }
    ticks
}

fn at_most(map: &Map, count: usize) -> Ticks {
    match map.scale {
        Scale::Linear => linear(map.range, count),
        Scale::Log10 => logarithmic(map.range, count),
    }
}

/// Whether neighbouring labels keep their distance.
fn clear(map: &Map, ticks: &Ticks, extent: &impl Fn(&str) -> f64, gap: f64) -> bool {
    let spans: Vec<(f64, f64)> = ticks
        .labelled()
        .filter_map(|(value, label)| Some((map.pixel(value)?, extent(label) / 2.0)))
        .collect();
    spans
        .windows(2)
        .all(|pair| (pair[1].0 - pair[0].0).abs() >= pair[0].1 + pair[1].1 + gap)
}

/// The smallest of 1, 2, 5 × 10ᵏ that needs no more than `count` ticks; also its first digit.
fn nice_step(range: (f64, f64), count: usize) -> (f64, usize) {
    let (low, high) = range;
    let start = ((high - low) / count as f64).log10().floor() as i32;
    for exponent in start..start + 3 {
        for digit in [1, 2, 5] {
            let step = scaled(digit as f64, exponent);
            let ticks = (high / step).floor() - (low / step).ceil() + 1.0;
            if ticks <= count as f64 {
                return (step, digit);
            }
        }
    }
    (high - low, 1)
}

/// `digit × 10^exponent`, exact for negative exponents as far as the number type allows.
fn scaled(digit: f64, exponent: i32) -> f64 {
    if (-300..0).contains(&exponent) {
        digit / 10f64.powi(-exponent)
    } else {
        digit * 10f64.powi(exponent)
    }
}

/// Multiples of a round step, at most `count` of them with labels.
pub(super) fn linear(range: (f64, f64), count: usize) -> Ticks {
    let (low, high) = range;
    let (step, digit) = nice_step(range, count);
    let parts = if digit == 2 { 4 } else { 5 };
    let minor = step / parts as f64;
    let slack = 1e-9 * (high - low) / step;
    let first = (low / step - slack).floor() as i64;
    let last = (high / step + slack).ceil() as i64;
    let exponent = common_exponent(low.abs().max(high.abs()));
    let unit = scaled(1.0, exponent.unwrap_or(0));
    let decimals = decimals(step / unit);
    let mut ticks = Vec::new();
    for index in first..=last.min(first.saturating_add(2 * count as i64 + 4)) {
        for part in 0..parts {
            let value = index as f64 * step + part as f64 * minor;
            if value < low - slack * step || value > high + slack * step {
                continue;
            }
            let label = (part == 0).then(|| fixed(value / unit, decimals));
            ticks.push(Tick { value, label });
        }
    }
    Ticks { ticks, exponent }
}

/// The power of ten to take out of labels that would be long otherwise.
fn common_exponent(largest: f64) -> Option<i32> {
    let exponent = largest.log10().floor() as i32;
    (largest > 0.0 && !(-2..5).contains(&exponent)).then_some(exponent)
}

/// Decimals needed to tell multiples of `step` apart.
fn decimals(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
}

/// Powers of ten, every one or every few; where there is room for fewer than two of them, round
/// numbers in between get labels as well.
pub(super) fn logarithmic(range: (f64, f64), count: usize) -> Ticks {
    let (low, high) = (range.0 * (1.0 - 1e-9), range.1 * (1.0 + 1e-9));
    let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
    let decades = last - first + 1;
    if decades < 2 {
        return within_a_decade(range, count);
    }
    let stride = (1..).find(|s| decades_shown(first, last, *s) <= count as i32);
    let stride = stride.unwrap_or(decades);
    let origin = match decades_shown(first, last, stride) {
        0 | 1 => first,
        _ => 0,
    };
    let subdivided = stride == 1 && decades <= 8;
    let mut ticks = Vec::new();
    for exponent in first - 1..=last {
        let labelled = (exponent - origin).rem_euclid(stride) == 0;
        for digit in 1..=9 {
            let value = scaled(f64::from(digit), exponent);
            if value < low || value > high || (digit > 1 && !subdivided) {
                continue;
            }
            let label = (digit == 1 && labelled).then(|| power_of_ten(exponent));
            ticks.push(Tick { value, label });
        }
    }
    Ticks {
        ticks,
        exponent: None,
    }
}

/// Number of exponents in `first..=last` that are multiples of `stride`.
fn decades_shown(first: i32, last: i32, stride: i32) -> i32 {
    last.div_euclid(stride) - (first - 1).div_euclid(stride)
}

/// Labels at 1, 2, 5 times a power of ten, or evenly spaced if even those are too few.
fn within_a_decade(range: (f64, f64), count: usize) -> Ticks {
    let (low, high) = range;
    let start = low.log10().floor() as i32;
    let mut ticks = Vec::new();
    for exponent in start..=high.log10().ceil() as i32 {
        for digit in 1..=9 {
            let value = scaled(f64::from(digit), exponent);
            if value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9) {
                continue;
            }
            let label = [1, 2, 5].contains(&digit).then(|| significant(value, 1));
            ticks.push(Tick { value, label });
        }
    }
    let labelled = ticks.iter().filter(|tick| tick.label.is_some()).count();
    if labelled < 2 || labelled > count {
        return linear(range, count);
    }
    Ticks {
        ticks,
        exponent: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<String> {
        ticks
            .labelled()
            .map(|(_, label)| label.to_owned())
            .collect()
    }

    #[test]
    fn linear_labels_are_round() {
        assert_eq!(
            labels(&linear((0.0, 1.0), 6)),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(&linear((-3.2, 3.1), 4)), ["−2", "0", "2"]);
        assert_eq!(labels(&linear((98.0, 103.0), 3)), ["98", "100", "102"]);
    }

    #[test]
    fn long_numbers_share_a_power_of_ten() {
        let ticks = linear((0.0, 2.5e6), 5);
        assert_eq!(ticks.exponent, Some(6));
        assert_eq!(labels(&ticks), ["0", "1", "2"]);
        assert_eq!(linear((0.0, 3e-4), 4).exponent, Some(-4));
        assert_eq!(linear((0.0, 20_000.0), 4).exponent, None);
    }

    #[test]
    fn decades_and_their_minor_ticks() {
        let ticks = logarithmic((1e-3, 1e1), 9);
        assert_eq!(labels(&ticks), ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹"]);
        assert_eq!(ticks.ticks.len(), 4 * 9 + 1);
        assert!(ticks.ticks.windows(2).all(|t| t[0].value < t[1].value));
    }

    #[test]
    fn ten_decades_are_thinned() {
        let ticks = logarithmic((1e-8, 1e2), 4);
        assert_eq!(labels(&ticks), ["10⁻⁶", "10⁻³", "10⁰"]);
        // Two labels even where a single multiple of the stride lies in the range.
        assert_eq!(labels(&logarithmic((0.1, 10.0), 2)), ["10⁻¹", "10¹"]);
        // The decades in between stay as minor ticks, without ticks at 2..9.
        assert_eq!(ticks.ticks.len(), 11);
    }

    #[test]
    fn less_than_a_decade_still_has_labels() {
        assert_eq!(labels(&logarithmic((1.5, 8.0), 5)), ["2", "5"]);
        assert_eq!(
            labels(&logarithmic((0.02, 0.15), 5)),
            ["0.02", "0.05", "0.1"]
        );
        assert_eq!(
            labels(&logarithmic((3.1, 3.9), 5)),
            ["3.2", "3.4", "3.6", "3.8"]
        );
        assert_eq!(labels(&logarithmic((2e-7, 9e-7), 5)), ["2×10⁻⁷", "5×10⁻⁷"]);
    }

    #[test]
    fn fitted_labels_never_touch() {
        for scale in [Scale::Linear, Scale::Log10] {
            for exponent in 0..10 {
                for length in [25.0, 40.0, 60.0, 120.0, 400.0] {
                    let map = Map {
                        scale,
                        range: (0.013, 0.017 * 10f64.powi(exponent)),
                        pixels: (length, 0.0),
                    };
                    let extent = |label: &str| 5.0 * label.chars().count() as f64;
                    let ticks = fit(&map, extent, 3.0);
                    assert!(clear(&map, &ticks, &extent, 3.0), "{map:?}");
                    assert!(ticks.labelled().count() > 0, "{map:?}");
                }
            }
        }
    }

    #[test]
    fn extreme_ranges_do_not_hang() {
        for range in [(1e-300, 1e300), (5e-324, 1.0), (1.0, 1.0 + 1e-12)] {
            for count in 2..9 {
                assert!(linear(range, count).ticks.len() < 200);
                assert!(logarithmic(range, count).ticks.len() < 1000);
            }
        }
    }
}
