//! Leaps: how far to kick and to move, the same for all chains of a step.

use crate::real::Real;

/// How a leap is made of kicks p ← p + a g and moves θ ← θ + b S p, where g = Sᵀ∇log π is the whitened
/// score. Each is symmetric in time and keeps volume, whatever its coefficients.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Integrator {
    /// Kick h/2, move h, kick h/2.
    Leapfrog,
    /// Kick tan(h/2), move sin(h), kick tan(h/2): on a Gaussian target whose covariance is the metric
    /// an exact rotation of (S⁻¹(θ − mean), p) by the angle h, with any mean.
    Rotation,
    /// Kick bh, move h/2, kick (1 − 2b)h, move h/2, kick bh with b = 0.1931833275037836: two
    /// gradients, and the smallest error among such (McLachlan, 1995).
    McLachlan,
    /// Kick (h/2)(g + z) with z = S⁻¹(θ − centre), rotate (z, p) by h, kick: exact on the Gaussian
    /// with this centre.
    Harmonic {
        /// The centre.
        centre: Vec<f64>,
    },
}

/// McLachlan's b.
const MC_LACHLAN: f64 = 0.193_183_327_503_783_6;

impl Integrator {
    /// Gradients that a leap takes.
    pub(super) fn gradients_of_leap(&self) -> usize {
        match self {
            Integrator::McLachlan => 2,
            _ => 1,
        }
    }

    /// Some leaps of angle h.
    pub(super) fn course(&self, h: f64, leaps: usize) -> Course {
        let (sin, cos) = (Real::sin(h), Real::cos(h));
        let course = Course {
            ends: 0.5 * h,
            between: [h; 2],
            drift: h,
            cos,
            evaluations: leaps * self.gradients_of_leap(),
        };
        match self {
            Integrator::Leapfrog => course,
            Integrator::Rotation => {
                let tan = Real::sin(0.5 * h) / Real::cos(0.5 * h);
                Course {
                    ends: tan,
                    between: [2.0 * tan; 2],
                    drift: sin,
                    ..course
                }
            }
            Integrator::McLachlan => Course {
                ends: MC_LACHLAN * h,
                between: [(1.0 - 2.0 * MC_LACHLAN) * h, 2.0 * MC_LACHLAN * h],
                drift: 0.5 * h,
                ..course
            },
            Integrator::Harmonic { .. } => Course {
                drift: sin,
                ..course
            },
        }
    }
}

/// The kicks and moves of a step, which all chains share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// The first and the last kick.
    pub(super) ends: f64,
    /// Those between, in turn: two kicks of neighbouring leaps are one.
    pub(super) between: [f64; 2],
    /// The move, the sine of the angle where it is a rotation.
    pub(super) drift: f64,
    pub(super) cos: f64,
    /// Number of evaluations.
    pub(super) evaluations: usize,
}

impl Course {
    /// Number of evaluations that the step takes.
    pub fn evaluations(&self) -> usize {
        self.evaluations
    }
}
