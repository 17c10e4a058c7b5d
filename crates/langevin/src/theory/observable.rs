//! Observables `φ(θ) = v·θ + θᵀSθ`, and quadratic functions in general.

use nalgebra::{DMatrix, DVector};

use super::matrix::trace_of_product;
use crate::Result;
use crate::check;

/// An observable `φ(θ) = v·θ + θᵀSθ` with symmetric S.
#[derive(Debug, Clone, PartialEq)]
pub struct Observable {
    linear: DVector<f64>,
    quadratic: DMatrix<f64>,
}

impl Observable {
    /// The observable with the given v and symmetric S.
    pub fn new(linear: DVector<f64>, quadratic: DMatrix<f64>) -> Result<Self> {
        let d = linear.len();
        check::at_least("the dimension of the observable", d, 1)?;
        check::finite_vector("the linear part of the observable", &linear, d)?;
        check::symmetric("the quadratic part of the observable", &quadratic, d)?;
        Ok(Self { linear, quadratic })
    }

    /// `Σ θ_i`, the paper's φ₁.
    pub fn sum(dim: usize) -> Self {
        Self {
            linear: DVector::from_element(dim, 1.0),
            quadratic: DMatrix::zeros(dim, dim),
        }
    }

    /// `Σ θ_i²`, the paper's φ₂.
    pub fn sum_of_squares(dim: usize) -> Self {
        Self {
            linear: DVector::zeros(dim),
            quadratic: DMatrix::identity(dim, dim),
        }
    }

    /// `(Σ θ_i)²`.
    pub fn square_of_sum(dim: usize) -> Self {
        Self {
            linear: DVector::zeros(dim),
            quadratic: DMatrix::from_element(dim, dim, 1.0),
        }
    }

    /// The dimension of θ.
    pub fn dim(&self) -> usize {
        self.linear.len()
    }

    /// The vector v.
    pub fn linear(&self) -> &DVector<f64> {
        &self.linear
    }

    /// The matrix S.
    pub fn quadratic(&self) -> &DMatrix<f64> {
        &self.quadratic
    }

    /// The value at θ.
    pub fn evaluate(&self, theta: &DVector<f64>) -> Result<f64> {
        check::size("theta", theta.len(), self.dim())?;
        Ok(self.about(&DVector::zeros(self.dim())).at(theta))
    }

    /// The expectation under any law with this mean and covariance.
    ///
    /// ```
    /// use langevin::theory::Observable;
    /// use nalgebra::{DMatrix, DVector};
    /// let mean = DVector::from_vec(vec![1.0, 2.0]);
    /// let covariance = DMatrix::identity(2, 2) * 0.5;
    /// let phi = Observable::sum_of_squares(2);
    /// assert_eq!(phi.expectation(&mean, &covariance)?, 6.0);
    /// # Ok::<(), langevin::Error>(())
    /// ```
    pub fn expectation(&self, mean: &DVector<f64>, covariance: &DMatrix<f64>) -> Result<f64> {
        check::size("mean", mean.len(), self.dim())?;
        check::size("covariance", covariance.nrows(), self.dim())?;
        check::size("covariance", covariance.ncols(), self.dim())?;
        let origin = DVector::zeros(self.dim());
        Ok(self.about(&origin).expectation(mean, covariance))
    }

    /// φ as a function of `z = θ − centre`.
    pub(super) fn about(&self, centre: &DVector<f64>) -> Quadratic {
        let pull = &self.quadratic * centre;
        Quadratic {
            constant: self.linear.dot(centre) + pull.dot(centre),
            linear: &self.linear + pull * 2.0,
            matrix: self.quadratic.clone(),
        }
    }
}

/// A function `constant + linear·z + zᵀ matrix z` with a symmetric matrix.
#[derive(Debug, Clone)]
pub(super) struct Quadratic {
    pub constant: f64,
    pub linear: DVector<f64>,
    pub matrix: DMatrix<f64>,
}

impl Quadratic {
    pub fn zero(dim: usize) -> Self {
        Self {
            constant: 0.0,
            linear: DVector::zeros(dim),
            matrix: DMatrix::zeros(dim, dim),
        }
    }

    pub fn at(&self, z: &DVector<f64>) -> f64 {
        self.constant + self.linear.dot(z) + (&self.matrix * z).dot(z)
    }

    pub fn expectation(&self, mean: &DVector<f64>, covariance: &DMatrix<f64>) -> f64 {
        self.at(mean) + trace_of_product(&self.matrix, covariance)
    }

    /// The gradient at z.
    pub fn gradient(&self, z: &DVector<f64>) -> DVector<f64> {
        &self.linear + &self.matrix * z * 2.0
    }
}
