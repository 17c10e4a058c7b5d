//! The same draws for more: means and variances with the noise that scores explain taken out.
//!
//! For every smooth φ that does not grow too fast, the Stein operator
//!
//! ```text
//! Aφ = Δφ + ∇φ · ∇log π
//! ```
//!
//! has mean 0 under π. An observable is regressed on Aφ of all monomials φ of order one (the score
//! itself) or up to two, on half of the chains, and what the regression explains is taken from the
//! draws of the other half, and the other way round, so that no draw has a part in its own correction
//! (Assaraf and Caffarel, 1999; Mira, Solgi and Imparato, 2013; Oates, Girolami and Chopin, 2017).
//! On a Gaussian nothing is left of the variance of linear observables at order one, and of quadratic
//! ones at order two.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::draws::Draws;
use super::ess::ess_bulk;
use super::mcse::mcse_mean;
use super::moments::{mean, mean_and_variance};
use super::verdict::Sample;
use crate::check;
use crate::error::{Error, Result};

/// Monomials that observables are regressed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// θᵢ: d regressors, the scores.
    First,
    /// θᵢ and θᵢθⱼ: d(d + 3)/2 regressors.
    Second,
}

/// An estimate with and without control variates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// With them.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
    /// Without them.
    pub plain: f64,
    /// Its standard error.
    pub plain_error: f64,
}

impl Estimate {
    /// How many times as many draws would have been needed without.
    ///
    /// ```
    /// use langevin::stat::control_variates::Estimate;
    /// let (value, plain) = (1.0, 1.1);
    /// let estimate = Estimate { value, error: 0.01, plain, plain_error: 0.1 };
    /// assert!((estimate.gain() - 100.0).abs() < 1e-9);
    /// ```
    pub fn gain(&self) -> f64 {
        (self.plain_error / self.error).powi(2)
    }
}

/// Effective draws, in each half of the chains, for each regressor.
const DRAWS_PER_REGRESSOR: usize = 10;
/// The most regressors there may be: equations of this size are solved in a second.
pub const MAX_REGRESSORS: usize = 1000;
/// Rows that are multiplied at once.
const BLOCK: usize = 256;

/// Control variates from the draws of a sample and the scores at them.
///
/// The scores must be exact: those of minibatches have another mean at each draw. Draws of
/// unadjusted dynamics are not quite draws of π, and what they are off is not taken out.
///
/// ```
/// use langevin::rng::{Rng, Stream};
/// use langevin::stat::Sample;
/// use langevin::stat::control_variates::{ControlVariates, Order};
/// // Draws of N(1, 2²), whose score is (1 − x)/4.
/// let mut rng = Rng::new(1, 0, Stream::Setup);
/// let draws: Vec<f64> = (0..8 * 100).map(|_| 1.0 + 2.0 * rng.normal()).collect();
/// let scores: Vec<f64> = draws.iter().map(|x| (1.0 - x) / 4.0).collect();
/// let sample = Sample::new(&draws, 8, 100, 1)?.with_scores(&scores)?;
/// let controlled = ControlVariates::new(&sample, Order::Second)?;
/// assert!((controlled.mean(|x| x[0])?.value - 1.0).abs() < 1e-6);
/// assert!((controlled.variance(|x| x[0])?.value - 4.0).abs() < 1e-6);
/// # Ok::<(), langevin::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ControlVariates<'a> {
    sample: Sample<'a>,
    scores: &'a [f64],
    order: Order,
    centre: Vec<f64>,
    spread: Vec<f64>,
    /// Of the chains with even and with odd numbers.
    halves: [Half; 2],
}

/// What a half of the chains knows of the regressors.
#[derive(Clone, Debug)]
struct Half {
    n: usize,
    /// Standard deviations of the regressors, and the factor of their correlations.
    scale: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
}

impl<'a> ControlVariates<'a> {
    /// Prepares the regressions. Refused without scores, where a draw or a score is not finite, with
    /// a single chain, with more than [`MAX_REGRESSORS`] regressors, and with fewer than ten
    /// effective draws for each in each half of the chains (of the coordinate that has the fewest).
    pub fn new(sample: &Sample<'a>, order: Order) -> Result<Self> {
        let Some(scores) = sample.scores() else {
            return Err(Error::NoScores {
                quantity: "a control variate",
            });
        };
        check::all_finite("the draws", sample.values())?;
        check::all_finite("the scores", scores)?;
        check::at_least("the number of chains", sample.n_chains(), 2)?;
        let d = sample.dim();
        let p = n_regressors(d, order);
        check::at_most("the number of regressors", p, MAX_REGRESSORS)?;
        let (mut centre, mut spread, mut worth) = (vec![], vec![], f64::INFINITY);
        for i in 0..d {
            let values = sample.coordinate(i);
            let (mean, variance) = mean_and_variance(&values);
            centre.push(mean);
            spread.push(variance.sqrt());
            if variance == 0.0 {
                let (n_data, value) = (values.len(), mean);
                return Err(Error::NoSpread { n_data, value });
            }
            let draws = Draws::new(&values, sample.n_chains(), sample.n_draws())?;
            // Too few draws to tell are none.
            worth = worth.min(
                Some(ess_bulk(draws))
                    .filter(|e| e.is_finite())
                    .unwrap_or(0.0),
            );
        }
        check::at_least(
            "the number of effective draws in half of the chains",
            (0.5 * worth) as usize,
            DRAWS_PER_REGRESSOR * p,
        )?;
        let prepare = |half| Half::new(sample, order, &centre, &spread, scores, half);
        let halves = [prepare(0)?, prepare(1)?];
        Ok(ControlVariates {
            sample: *sample,
            scores,
            order,
            halves,
            centre,
            spread,
        })
    }

    /// Number of regressors: d at order one, d(d + 3)/2 at order two.
    pub fn n_regressors(&self) -> usize {
        n_regressors(self.sample.dim(), self.order)
    }

    /// Mean of an observable.
    pub fn mean(&self, f: impl Fn(&[f64]) -> f64) -> Result<Estimate> {
        let values: Vec<f64> = self.sample.states().map(f).collect();
        self.mean_of(&values)
    }

    /// Mean of an observable by its values, one for each draw, chain after chain.
    pub fn mean_of(&self, values: &[f64]) -> Result<Estimate> {
        check::size("the values", values.len(), self.sample.states().len())?;
        check::all_finite("the observable", values)?;
        let left = self.residuals(values);
        Ok(Estimate {
            value: mean(&left),
            error: self.error(&left)?,
            plain: mean(values),
            plain_error: self.error(values)?,
        })
    }

    /// Variance of an observable under π, from its first two moments about the plain mean c:
    /// Var f = E (f − c)² − (E f − c)².
    pub fn variance(&self, f: impl Fn(&[f64]) -> f64) -> Result<Estimate> {
        let values: Vec<f64> = self.sample.states().map(f).collect();
        check::all_finite("the observable", &values)?;
        let centre = mean(&values);
        let first: Vec<f64> = values.iter().map(|f| f - centre).collect();
        let second: Vec<f64> = first.iter().map(|f| f * f).collect();
        let (left_first, left_second) = (self.residuals(&first), self.residuals(&second));
        let shift = mean(&left_first);
        // The error is that of what the difference is made of, to first order (delta method).
        let pairs = left_second.iter().zip(&left_first);
        let both: Vec<f64> = pairs.map(|(q, f)| q - 2.0 * shift * f).collect();
        Ok(Estimate {
            value: mean(&left_second) - shift * shift,
            error: self.error(&both)?,
            plain: mean(&second),
            plain_error: self.error(&second)?,
        })
    }

    fn error(&self, values: &[f64]) -> Result<f64> {
        let draws = Draws::new(values, self.sample.n_chains(), self.sample.n_draws())?;
        Ok(mcse_mean(draws))
    }

    /// The observable less what the regression on the other half of the chains explains.
    fn residuals(&self, values: &[f64]) -> Vec<f64> {
        let [even, odd] = [0, 1].map(|half| self.coefficients(values, half));
        let mut left = values.to_vec();
        for (half, beta) in [(0, odd), (1, even)] {
            self.blocks(half, |rows, x| {
                let explained = x.transpose() * &beta;
                for (row, explained) in rows.iter().zip(explained.iter()) {
                    left[*row] -= explained;
                }
            });
        }
        left
    }

    /// Least squares with an intercept, on one half of the chains.
    fn coefficients(&self, values: &[f64], half: usize) -> DVector<f64> {
        let Half { n, scale, factor } = &self.halves[half];
        let rows = rows_of_half(&self.sample, half);
        let own: Vec<f64> = rows.map(|row| values[row]).collect();
        let centre = mean(&own);
        let mut products = DVector::zeros(self.n_regressors());
        self.blocks(half, |rows, x| {
            let f = DVector::from_iterator(rows.len(), rows.iter().map(|r| values[*r] - centre));
            products += x * f;
        });
        products /= *n as f64;
        factor
            .solve(&products.component_div(scale))
            .component_div(scale)
    }

    fn blocks(&self, half: usize, work: impl FnMut(&[usize], &DMatrix<f64>)) {
        let of = Regressors {
            sample: &self.sample,
            scores: self.scores,
            order: self.order,
            centre: &self.centre,
            spread: &self.spread,
        };
        of.blocks(half, work);
    }
}

fn n_regressors(d: usize, order: Order) -> usize {
    match order {
        Order::First => d,
        Order::Second => d.saturating_mul(d + 3) / 2,
    }
}

/// Numbers of the draws of chains with even (0) or odd (1) numbers.
fn rows_of_half(sample: &Sample, half: usize) -> impl Iterator<Item = usize> {
    let n = sample.n_draws();
    (half..sample.n_chains())
        .step_by(2)
        .flat_map(move |chain| chain * n..(chain + 1) * n)
}

/// The regressors of every draw, of which no more than a block is ever held.
struct Regressors<'a, 'b> {
    sample: &'b Sample<'a>,
    scores: &'a [f64],
    order: Order,
    centre: &'b [f64],
    spread: &'b [f64],
}

impl Regressors<'_, '_> {
    /// Shows the regressors of a half of the chains, draws side by side, with the draws' numbers.
    fn blocks(&self, half: usize, mut work: impl FnMut(&[usize], &DMatrix<f64>)) {
        let rows: Vec<usize> = rows_of_half(self.sample, half).collect();
        for block in rows.chunks(BLOCK) {
            let mut x = DMatrix::zeros(n_regressors(self.sample.dim(), self.order), block.len());
            for (row, mut column) in block.iter().zip(x.column_iter_mut()) {
                self.fill(*row, column.as_mut_slice());
            }
            work(block, &x);
        }
    }

    /// With zᵢ = (θᵢ − mᵢ)/sᵢ and hᵢ = sᵢ gᵢ the score along z: A zᵢ = hᵢ, A zᵢzⱼ = zᵢhⱼ + zⱼhᵢ, and
    /// A ½zᵢ² = 1 + zᵢhᵢ.
    fn fill(&self, row: usize, out: &mut [f64]) {
        let d = self.sample.dim();
        let theta = &self.sample.values()[row * d..(row + 1) * d];
        let score = &self.scores[row * d..(row + 1) * d];
        for i in 0..d {
            out[i] = score[i] * self.spread[i];
        }
        if self.order == Order::First {
            return;
        }
        let (h, products) = out.split_at_mut(d);
        let z = |i: usize| (theta[i] - self.centre[i]) / self.spread[i];
        let mut place = products.iter_mut();
        for i in 0..d {
            for j in 0..=i {
                let product = match i == j {
                    true => 1.0 + z(i) * h[i],
                    false => z(i) * h[j] + z(j) * h[i],
                };
                if let Some(out) = place.next() {
                    *out = product;
                }
            }
        }
    }
}

/// Ridge on the correlations: enough for regressors that depend on each other, and far too little to
/// be seen in what they explain.
const RIDGES: [f64; 3] = [1e-10, 1e-7, 1e-4];

impl Half {
    fn new(
        sample: &Sample,
        order: Order,
        centre: &[f64],
        spread: &[f64],
        scores: &[f64],
        half: usize,
    ) -> Result<Self> {
        let of = Regressors {
            sample,
            scores,
            order,
            centre,
            spread,
        };
        let p = n_regressors(sample.dim(), order);
        let (mut n, mut sum) = (0, DVector::zeros(p));
        let mut gram = DMatrix::zeros(p, p);
        of.blocks(half, |rows, x| {
            n += rows.len();
            sum += x.column_sum();
            gram.gemm(1.0, x, &x.transpose(), 1.0);
        });
        let mean = sum / n as f64;
        gram = gram / n as f64 - &mean * mean.transpose();
        let scale = gram
            .diagonal()
            .map(|v| if v > 0.0 { v.sqrt() } else { 1.0 });
        for i in 0..p {
            for j in 0..p {
                gram[(i, j)] /= scale[i] * scale[j];
            }
        }
        for ridge in RIDGES {
            let mut ridged = gram.clone();
            for i in 0..p {
                ridged[(i, i)] += ridge;
            }
            if let Some(factor) = Cholesky::new(ridged) {
                return Ok(Half { n, scale, factor });
            }
        }
        Err(Error::Breakdown {
            name: "the regression on control variates",
        })
    }
}
