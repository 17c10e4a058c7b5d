//! Numbers as people print them: significant digits, a true minus sign, powers as ×10ⁿ.

/// Magnitudes in `[10⁻³, 10⁵)` are written out, others as a multiple of a power of ten.
const PLAIN_EXPONENTS: std::ops::Range<i32> = -3..5;

/// `value` with `digits` significant digits (at least 1).
///
/// ```
/// use langevin_page::figure::number::significant;
/// assert_eq!(significant(0.123456, 3), "0.123");
/// assert_eq!(significant(-1234.0, 2), "−1200");
/// assert_eq!(significant(6.02214e23, 3), "6.02×10²³");
/// assert_eq!(significant(f64::NAN, 3), "NaN");
/// ```
pub fn significant(value: f64, digits: usize) -> String {
    if let Some(text) = special(value) {
        return text;
    }
    let digits = digits.clamp(1, 17);
    let (mantissa, exponent) = rounded(value, digits);
    if PLAIN_EXPONENTS.contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        minus(&format!("{:.decimals$}", mantissa * 10f64.powi(exponent)))
    } else {
        let decimals = digits - 1;
        minus(&format!("{mantissa:.decimals$}×{}", power_of_ten(exponent)))
    }
}

/// Like [`significant`], without zeros that say nothing: for numbers of unknown precision.
///
/// ```
/// use langevin_page::figure::number::concise;
/// assert_eq!(concise(0.25, 4), "0.25");
/// assert_eq!(concise(1.5e-7, 4), "1.5×10⁻⁷");
/// assert_eq!(concise(1200.0, 4), "1200");
/// ```
pub fn concise(value: f64, digits: usize) -> String {
    let text = significant(value, digits);
    let (number, power) = text.split_at(text.find('×').unwrap_or(text.len()));
    if !number.contains('.') {
        return text;
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number}{power}")
}

/// `value ± error`: the error with two significant digits, the value to the same decimal place.
///
/// An error that is zero, negative or not finite is left out or spelled as it is.
///
/// ```
/// use langevin_page::figure::number::with_error;
/// assert_eq!(with_error(0.123456, 0.00123), "0.1235 ± 0.0012");
/// assert_eq!(with_error(1.2346e-7, 1.2e-9), "(1.235 ± 0.012)×10⁻⁷");
/// assert_eq!(with_error(2.0, f64::NAN), "2.000 ± NaN");
/// ```
pub fn with_error(value: f64, error: f64) -> String {
    if special(value).is_some() || value == 0.0 && error == 0.0 || error < 0.0 {
        return significant(value, 4);
    }
    let tiny = value.abs().max(error) < f64::MIN_POSITIVE;
    if error == 0.0 || !error.is_finite() || tiny {
        return format!("{} ± {}", significant(value, 4), significant(error, 2));
    }
    let (_, error_exponent) = rounded(error, 2);
    let last_place = error_exponent - 1;
    let value_exponent = if value == 0.0 {
        error_exponent
    } else {
        value.abs().log10().floor() as i32
    };
    let leading = value_exponent.max(error_exponent);
    if PLAIN_EXPONENTS.contains(&leading) {
        let decimals = (-last_place).max(0) as usize;
        format!("{} ± {}", fixed(value, decimals), fixed(error, decimals))
    } else {
        let decimals = (leading - last_place).max(0) as usize;
        let unit = 10f64.powi(leading);
        let (value, error) = (fixed(value / unit, decimals), fixed(error / unit, decimals));
        format!("({value} ± {error})×{}", power_of_ten(leading))
    }
}

/// `10ⁿ` with Unicode superscripts.
///
/// ```
/// assert_eq!(langevin_page::figure::number::power_of_ten(-12), "10⁻¹²");
/// ```
pub fn power_of_ten(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raise = |c: char| match c.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    };
    let exponent: String = exponent.to_string().chars().map(raise).collect();
    format!("10{exponent}")
}

/// `value` with a fixed number of decimals and a true minus sign; never "−0".
pub fn fixed(value: f64, decimals: usize) -> String {
    special(value).unwrap_or_else(|| minus(&format!("{value:.decimals$}")))
}

fn special(value: f64) -> Option<String> {
    if value.is_nan() {
        Some("NaN".to_owned())
    } else if value.is_infinite() {
        Some(if value > 0.0 { "∞" } else { "−∞" }.to_owned())
    } else {
        None
    }
}

/// Mantissa in ±[1, 10) and exponent, after rounding to `digits` digits.
fn rounded(value: f64, digits: usize) -> (f64, i32) {
    // The formatter rounds correctly, also where 9.996 becomes 10.0.
    let text = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (
        mantissa.parse().unwrap_or(value),
        exponent.parse().unwrap_or(0),
    )
}

/// Replaces hyphens by minus signs and drops the sign of a rounded zero.
fn minus(text: &str) -> String {
    let is_zero = |t: &str| t.starts_with('-') && t.bytes().all(|b| b"-0.".contains(&b));
    let text = if is_zero(text) { &text[1..] } else { text };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_carry_over() {
        assert_eq!(significant(9.996, 3), "10.0");
        assert_eq!(significant(99_999.0, 3), "1.00×10⁵");
        assert_eq!(significant(0.000_999_9, 3), "0.00100");
        assert_eq!(significant(0.0, 3), "0.00");
        assert_eq!(significant(-0.0, 2), "0.0");
        assert_eq!(significant(12_345.0, 2), "12000");
        assert_eq!(significant(5e-324, 2), "4.9×10⁻³²⁴");
        assert_eq!(significant(f64::MAX, 0), "2×10³⁰⁸");
    }

    #[test]
    fn errors_set_the_last_place() {
        assert_eq!(with_error(3.0, 0.25), "3.00 ± 0.25");
        assert_eq!(with_error(1234.6, 98.7), "1235 ± 99");
        assert_eq!(with_error(1.0, 0.0996), "1.00 ± 0.10");
        assert_eq!(with_error(0.0, 0.0), "0.000");
        assert_eq!(with_error(-0.001, 0.25), "0.00 ± 0.25");
        assert_eq!(with_error(2e6, 3e4), "(2.000 ± 0.030)×10⁶");
        assert_eq!(with_error(f64::INFINITY, 1.0), "∞");
        assert_eq!(with_error(1.5, -1.0), "1.500");
    }
}
