//! Gaussian target, Euler–Maruyama chain: exact answers at a finite step size.

use nalgebra::{DMatrix, DVector};

use super::gaussian::LinearDiffusion;
use super::matrix::{memory, power, stein, trace_of_product};
use super::noise::GradientNoise;
use super::observable::{Observable, Quadratic};
use super::path_sum::{HigherCumulants, LinearStep, PathSum, trace_of_square};
use crate::check;
use crate::{Error, Result};

/// The chain `θ' = θ − hM(θ − μ) + sqrt(2βhB) ξ + hRg` of a [`LinearDiffusion`] with step size h
/// and gradient error g.
///
/// Its stationary mean is μ, whatever h. Nothing here assumes that g is Gaussian: for minibatches
/// the third and fourth cumulants of g are accounted for, so every number is exact for linear and
/// quadratic observables. (Gaussian noise with the same covariance gives the same answers for
/// linear observables, and slightly different variances for quadratic ones.)
///
/// ```
/// use langevin::theory::{LinearDiffusion, Observable, Start};
/// use nalgebra::{DMatrix, DVector};
/// // dθ = −½θ dt + dW: an AR(1) with coefficient 1 − h/2 and noise variance h.
/// let one = DMatrix::identity(1, 1);
/// let zero = DMatrix::zeros(1, 1);
/// let chain = LinearDiffusion::new(&one, &DVector::zeros(1), &one, &zero, 0.5)?
///     .euler_maruyama(0.1, None)?;
/// assert!((chain.stationary_covariance()[(0, 0)] - 1.0 / (1.0 - 0.1 / 4.0)).abs() < 1e-13);
/// assert!((chain.asymptotic_variance(&Observable::sum(1))? - 4.0).abs() < 1e-12);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EulerChain {
    step_size: f64,
    mean: DVector<f64>,
    target_covariance: DMatrix<f64>,
    stationary_covariance: DMatrix<f64>,
    step: LinearStep,
    /// `hMᵀ`, kept because `I − Fᵀ` would lose its last digits.
    adjoint_rate: DMatrix<f64>,
}

/// Where a chain starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// From its stationary law.
    Stationary,
    /// From this point, without burn-in.
    At(DVector<f64>),
}

/// Bias (against the target's expectation) and variance of an estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Expectation of the estimator minus the expectation under the target.
    pub bias: f64,
    /// Variance of the estimator.
    pub variance: f64,
}

impl Moments {
    /// The mean squared error.
    pub fn mean_squared_error(&self) -> f64 {
        self.bias * self.bias + self.variance
    }
}

/// First two moments of `z = θ − μ` after some steps of the chain.
struct Law {
    mean: DVector<f64>,
    covariance: DMatrix<f64>,
    steps: usize,
}

impl EulerChain {
    pub(super) fn new(
        diffusion: &LinearDiffusion,
        step_size: f64,
        gradient_noise: Option<&GradientNoise>,
    ) -> Result<Self> {
        check::positive("step_size", step_size)?;
        let largest = diffusion.largest_stable_step();
        if step_size >= largest {
            return Err(Error::UnstableStep { step_size, largest });
        }
        let d = diffusion.dim();
        let mut q = diffusion.noise_rate() * step_size;
        let mut noise = None;
        if let Some(gradient) = gradient_noise {
            check::size("gradient noise", gradient.dim(), d)?;
            let error = gradient.mapped(&(diffusion.mobility() * step_size));
            q += error.covariance();
            noise = Some(error).filter(|e| !e.is_gaussian());
        }
        let rate = diffusion.rate() * step_size;
        let f = DMatrix::identity(d, d) - &rate;
        Ok(Self {
            step_size,
            mean: diffusion.mean().clone(),
            target_covariance: diffusion.covariance().clone(),
            stationary_covariance: stein(&f.transpose(), &q)?,
            adjoint_rate: rate.transpose(),
            step: LinearStep {
                memory: memory(&f),
                f,
                q,
                noise,
            },
        })
    }

    /// The step size h.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// The stationary covariance, which solves `Σ_h = F Σ_h Fᵀ + Q` with `F = I − hM`.
    pub fn stationary_covariance(&self) -> &DMatrix<f64> {
        &self.stationary_covariance
    }

    /// The stationary expectation of φ.
    pub fn mean(&self, observable: &Observable) -> Result<f64> {
        observable.expectation(&self.mean, &self.stationary_covariance)
    }

    /// The asymptotic variance of φ per unit of time: h times that per step.
    ///
    /// The Poisson equation `u − E u(Fz + e) = φ` has the solution `u = a·z + zᵀAz` with
    /// `hMᵀa = c` and `A = FᵀAF + S`; the answer per step is the stationary variance of
    /// `u(Fz + e)` given z.
    pub fn asymptotic_variance(&self, observable: &Observable) -> Result<f64> {
        let phi = self.centred(observable)?;
        let LinearStep { f, q, .. } = &self.step;
        let lu = self.adjoint_rate.clone().lu();
        let a = lu.solve(&phi.linear).ok_or(Error::Breakdown {
            name: "the solution of the Poisson equation",
        })?;
        let matrix = stein(f, &phi.matrix)?;
        let (third, fourth) = self.step.noise_cumulants(&matrix);
        let af = &matrix * f;
        let per_step = (q * &a).dot(&a)
            + 4.0 * trace_of_product(&self.stationary_covariance, &af.tr_mul(&(q * &af)))
            + 2.0 * trace_of_square(&(&matrix * q))
            + 2.0 * third.dot(&a)
            + fourth;
        Ok(self.step_size * per_step)
    }

    /// The exact expectation of the batch means estimator with `n_batches` batches of
    /// `batch_steps` steps each, the first of which begins with the start itself.
    ///
    /// The cost is `n_batches · batch_steps` recursions on d × d matrices at most, and less once
    /// the chain has forgotten its start.
    pub fn batch_means_expectation(
        &self,
        observable: &Observable,
        n_batches: usize,
        batch_steps: usize,
        start: &Start,
    ) -> Result<f64> {
        check::at_least("n_batches", n_batches, 2)?;
        check::at_least("batch_steps", batch_steps, 1)?;
        let phi = self.centred(observable)?;
        let laws = (0..n_batches)
            .map(|i| self.law(start, i * batch_steps))
            .collect::<Result<Vec<_>>>()?;
        let batch = self.step.path_sum(&phi, batch_steps);
        let total = self.step.path_sum(&phi, n_batches * batch_steps);

        // Expected Σ (Y_i − Ȳ)² = Σ Var Y_i − n Var Ȳ + Σ (E Y_i − E Ȳ)², for sums Y_i.
        let n = n_batches as f64;
        let means: Vec<f64> = laws
            .iter()
            .map(|law| batch.mean.expectation(&law.mean, &law.covariance))
            .collect();
        let centre = means.iter().sum::<f64>() / n;
        let spread: f64 = means.iter().map(|m| (m - centre).powi(2)).sum();
        let within: f64 = self.variances(&batch, &laws).iter().sum();
        let overall = self.variances(&total, &laws[..1])[0] / n;
        let squares = within - overall + spread;
        Ok(self.step_size * squares / ((n - 1.0) * batch_steps as f64))
    }

    /// Bias and variance of the average of φ over `θ_0, …, θ_{n−1}` for the chain started at
    /// `theta0`.
    pub fn running_average(
        &self,
        observable: &Observable,
        n_steps: usize,
        theta0: &DVector<f64>,
    ) -> Result<Moments> {
        check::at_least("n_steps", n_steps, 1)?;
        check::finite_vector("theta0", theta0, self.dim())?;
        let mut phi = self.centred(observable)?;
        phi.constant = -trace_of_product(&phi.matrix, &self.target_covariance);
        let sum = self.step.path_sum(&phi, n_steps);
        let z = theta0 - &self.mean;
        let n = n_steps as f64;
        Ok(Moments {
            bias: sum.mean.at(&z) / n,
            variance: sum.variance.at(&z) / (n * n),
        })
    }

    fn dim(&self) -> usize {
        self.mean.len()
    }

    /// φ minus its stationary expectation, as a function of `z = θ − μ`.
    fn centred(&self, observable: &Observable) -> Result<Quadratic> {
        check::size("observable", observable.dim(), self.dim())?;
        let mut phi = observable.about(&self.mean);
        phi.constant = -trace_of_product(&phi.matrix, &self.stationary_covariance);
        Ok(phi)
    }

    fn law(&self, start: &Start, steps: usize) -> Result<Law> {
        let d = self.dim();
        let stationary = &self.stationary_covariance;
        match start {
            Start::Stationary => Ok(Law {
                mean: DVector::zeros(d),
                covariance: stationary.clone(),
                steps: self.step.memory,
            }),
            Start::At(theta0) => {
                check::finite_vector("theta0", theta0, d)?;
                let flow = power(&self.step.f, steps);
                Ok(Law {
                    mean: &flow * (theta0 - &self.mean),
                    covariance: stationary - &flow * stationary * flow.transpose(),
                    steps,
                })
            }
        }
    }

    /// Variance of a path sum whose first point has one of the given laws (in order of steps).
    fn variances(&self, sum: &PathSum, laws: &[Law]) -> Vec<f64> {
        let steps: Vec<usize> = laws.iter().map(|law| law.steps).collect();
        let cumulants = self.step.state_cumulants(&sum.mean.matrix, &steps);
        laws.iter()
            .zip(&cumulants)
            .map(|(law, cumulants)| {
                sum.variance.expectation(&law.mean, &law.covariance)
                    + variance_of(&sum.mean, law, cumulants)
            })
            .collect()
    }
}

/// Variance of `u(z) = a·z + zᵀAz` for z with this law: with `b = ∇u(E z)` and V the covariance,
/// `bᵀVb + 2 tr(AVAV)`, and what the higher cumulants add.
fn variance_of(u: &Quadratic, law: &Law, (third, fourth): &HigherCumulants) -> f64 {
    let b = u.gradient(&law.mean);
    (&law.covariance * &b).dot(&b)
        + 2.0 * trace_of_square(&(&u.matrix * &law.covariance))
        + 2.0 * third.dot(&b)
        + fourth
}
