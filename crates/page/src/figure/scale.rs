//! From data to pixels, along one axis.

use super::model::Scale;

/// A range of data laid out over a range of pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Map {
    pub scale: Scale,
    /// Data at the two ends, `low < high`.
    pub range: (f64, f64),
    /// Pixels at the two ends; the first may be the larger one.
    pub pixels: (f64, f64),
}

impl Map {
    /// Pixel of `value`; `None` for what the axis cannot show (NaN, infinities, and on a
    /// logarithmic axis everything that is not positive).
    pub fn pixel(&self, value: f64) -> Option<f64> {
        let low = self.scale.forward(self.range.0)?;
        let high = self.scale.forward(self.range.1)?;
        let fraction = (self.scale.forward(value)? - low) / (high - low);
        let pixel = self.pixels.0 + fraction * (self.pixels.1 - self.pixels.0);
        pixel.is_finite().then_some(pixel)
    }

    /// Like [`Map::pixel`], but what lies below a logarithmic axis counts as its lower end.
    pub fn pixel_or_low(&self, value: f64) -> Option<f64> {
        if self.scale == Scale::Log10 && value <= 0.0 {
            return Some(self.pixels.0);
        }
        self.pixel(value)
    }
}

impl Scale {
    /// The coordinate in which the axis is even; `None` where there is none.
    pub(super) fn forward(self, value: f64) -> Option<f64> {
        match self {
            Scale::Linear => value.is_finite().then_some(value),
            Scale::Log10 => (value.is_finite() && value > 0.0).then(|| value.log10()),
        }
    }

    /// Undoes [`Scale::forward`].
    pub(super) fn backward(self, coordinate: f64) -> f64 {
        match self {
            Scale::Linear => coordinate,
            Scale::Log10 => 10f64.powf(coordinate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_and_log_hit_the_ends_and_the_middle() {
        let linear = Map {
            scale: Scale::Linear,
            range: (-1.0, 3.0),
            pixels: (100.0, 0.0),
        };
        assert_eq!(linear.pixel(-1.0), Some(100.0));
        assert_eq!(linear.pixel(1.0), Some(50.0));
        let log = Map {
            scale: Scale::Log10,
            range: (1e-5, 1e5),
            pixels: (0.0, 10.0),
        };
        assert_eq!(log.pixel(1.0), Some(5.0));
        assert_eq!(log.pixel(1e5), Some(10.0));
    }

    #[test]
    fn what_cannot_be_shown_is_none() {
        let log = Map {
            scale: Scale::Log10,
            range: (1.0, 10.0),
            pixels: (50.0, 0.0),
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(log.pixel(bad), None, "{bad}");
        }
        assert_eq!(log.pixel_or_low(-3.0), Some(50.0));
        assert_eq!(log.pixel_or_low(f64::NAN), None);
    }
}
