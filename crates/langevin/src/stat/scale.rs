//! A power of two near the largest of some values: in it as unit, squares and fourth powers of
//! deviations neither overflow nor underflow, and no digit is lost on the way there and back.

/// Exponent bits of a number, at their lowest place.
const EXPONENT: u64 = 0x7ff;
const FRACTION_BITS: u32 = 52;

/// A unit of measure, a power of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    size: f64,
    inverse: f64,
}

impl Unit {
    /// The largest power of two that is at most the largest absolute value, kept where it and its
    /// inverse are normal numbers; 1 if a value is not finite.
    pub fn of(values: &[f64]) -> Self {
        // Sizes are in the order of their bits, and whatever is not finite is above all others.
        let size = |v: &f64| v.abs().to_bits();
        let biased = values.iter().map(size).fold(0, u64::max) >> FRACTION_BITS;
        if biased == EXPONENT {
            return Self::power(EXPONENT / 2);
        }
        Self::power(biased.clamp(1, EXPONENT - 2))
    }

    /// The power of two with this biased exponent, from 1 to 2045.
    fn power(biased: u64) -> Self {
        let of = |biased: u64| f64::from_bits(biased << FRACTION_BITS);
        Self {
            size: of(biased),
            inverse: of(EXPONENT - 1 - biased),
        }
    }

    /// The values in this unit.
    pub fn measure(self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|v| v * self.inverse).collect()
    }

    /// What is so many units long.
    pub fn length(self, units: f64) -> f64 {
        units * self.size
    }

    /// What is so many square units large; in two steps, as the square of the unit may not exist.
    pub fn area(self, units: f64) -> f64 {
        units * self.size * self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_two_with_an_inverse() {
        for (largest, size) in [
            (1.0, 1.0),
            (1.99, 1.0),
            (0.3, 0.25),
            (f64::MIN_POSITIVE, f64::MIN_POSITIVE),
            (f64::MAX, 2f64.powi(1022)),
            (5e-324, f64::MIN_POSITIVE),
            (0.0, f64::MIN_POSITIVE),
        ] {
            let unit = Unit::of(&[0.0, -largest]);
            assert_eq!((unit.size, unit.inverse), (size, 1.0 / size), "{largest}");
            assert!(unit.size.is_normal() && unit.inverse.is_normal());
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(Unit::of(&[1e9, bad, 2.0]), Unit::of(&[1.0]));
        }
    }

    #[test]
    fn the_way_there_and_back_loses_nothing() {
        let values = [0.1, -3.7, 1e-6, 2.0];
        for power in [-1000, -500, 0, 500, 1000] {
            let scaled = values.map(|v| v * 2f64.powi(power));
            let unit = Unit::of(&scaled);
            let measured = unit.measure(&scaled);
            assert_eq!(measured, Unit::of(&values).measure(&values));
            for (m, s) in measured.iter().zip(scaled) {
                assert_eq!(unit.length(*m), s);
            }
        }
        assert_eq!(Unit::of(&[1e-200]).area(1.0), 0.0);
        assert_eq!(Unit::of(&[4.0]).area(0.5), 8.0);
    }
}
