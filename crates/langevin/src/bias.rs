//! How far off the chains of an unadjusted scheme are: the bias of Euler–Maruyama, measured.
//!
//! The stationary expectation of an observable under step size h is that of π plus c h + O(h²). Chains
//! with steps h and ½h that share their noise differ by little more than their biases do, so that
//! Richardson's extrapolation 2(fine) − coarse, from which c h is gone, has a small standard error.

use std::sync::Arc;

use crate::chain::{Advanced, Chains, Control, Escape, How, Plan, Records, plan_starts};
use crate::dynamics::Dynamics;
use crate::metric::Metric;
use crate::oracle::Oracle;
use crate::real::{Lanes, Real};
use crate::record::{Block, Observable, Record, Shape};
use crate::target::{Subsampled, Target};
use crate::transition::{CoupledEuler, StepSize};
use crate::{Error, RunError, check};

/// Two independent copies of a target, side by side.
#[derive(Clone, Debug)]
pub struct Doubled<'a, T> {
    target: &'a T,
    positive: Vec<usize>,
}

impl<'a, T: Target> Doubled<'a, T> {
    /// The copies.
    pub fn new(target: &'a T) -> Self {
        Doubled {
            target,
            positive: doubled(target.positive_coordinates(), target.dim()),
        }
    }
}

/// Coordinates of both copies.
pub(crate) fn doubled(coordinates: &[usize], dim: usize) -> Vec<usize> {
    let second = coordinates.iter().map(|c| c + dim);
    coordinates.iter().copied().chain(second).collect()
}

impl<T: Target> Target for Doubled<'_, T> {
    fn dim(&self) -> usize {
        2 * self.target.dim()
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let (a, b) = theta.split_at(self.target.dim());
        self.target.log_density(a) + self.target.log_density(b)
    }

    #[inline(always)]
    fn score<R: Real>(&self, theta: &[R], scratch: &mut [R], out: &mut [R]) {
        let d = self.target.dim();
        for (theta, out) in theta.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            self.target.score(theta, scratch, out);
        }
    }

    fn scratch_len(&self) -> usize {
        self.target.scratch_len()
    }

    fn positive_coordinates(&self) -> &[usize] {
        &self.positive
    }

    fn check_state(&self, theta: &[f64]) -> crate::Result<()> {
        check::size("the initial state", theta.len(), self.dim())?;
        let mut halves = theta.chunks_exact(self.target.dim());
        halves.try_for_each(|theta| self.target.check_state(theta))
    }
}

/// Both copies see the same rows.
impl<T: Subsampled> Subsampled for Doubled<'_, T> {
    fn n_data(&self) -> usize {
        self.target.n_data()
    }

    #[inline(always)]
    fn minibatch_score<L: Lanes>(
        &self,
        theta: &[L],
        rows: &[L::Bits],
        scratch: &mut [L],
        out: &mut [L],
    ) {
        let d = self.target.dim();
        for (theta, out) in theta.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            self.target.minibatch_score(theta, rows, scratch, out);
        }
    }
}

/// What is measured.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// The mean of an observable.
    Mean(Observable),
    /// The standard deviation of an observable.
    Sd(Observable),
}

impl Quantity {
    /// What it is called: `mean of theta[0]`.
    pub fn name(&self) -> String {
        match self {
            Quantity::Mean(of) => format!("mean of {}", of.name()),
            Quantity::Sd(of) => format!("sd of {}", of.name()),
        }
    }

    fn observable(&self) -> &Observable {
        match self {
            Quantity::Mean(of) | Quantity::Sd(of) => of,
        }
    }
}

/// A number with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// A quantity at two step sizes.
#[derive(Clone, Debug, PartialEq)]
pub struct Bias {
    /// What the quantity is called.
    pub name: String,
    /// At step size h.
    pub coarse: Estimate,
    /// At step size ½h.
    pub fine: Estimate,
    /// 2(fine) − coarse: what it is without steps, but for terms in h².
    pub extrapolated: Estimate,
    /// coarse − extrapolated = 2(coarse − fine): how far off step size h is, but for terms in h².
    pub bias: Estimate,
}

impl Bias {
    /// The bias as a fraction of the extrapolated value, which for a standard deviation is what it is
    /// too large by.
    pub fn relative(&self) -> Estimate {
        let size = self.extrapolated.value.abs();
        Estimate {
            value: self.bias.value / size,
            error: self.bias.error / size,
        }
    }
}

/// What came out of a [`BiasMeter`].
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// One for each quantity; NaN where all chains escaped, none if the run was cancelled.
    pub biases: Vec<Bias>,
    /// Chains (pairs of them) that left the finite numbers or the support; they do not count.
    pub escapes: Vec<Escape>,
    /// Whether the run was stopped before its end.
    pub cancelled: bool,
}

/// Measures the bias of Euler–Maruyama at the step size of a plan.
///
/// ```
/// use langevin::bias::{BiasMeter, Doubled, Quantity};
/// use langevin::chain::{Control, Plan, Start};
/// use langevin::dynamics::Dynamics;
/// use langevin::models::NormalParameters;
/// use langevin::oracle::Exact;
/// use langevin::record::Observable;
///
/// let free = NormalParameters::new((0..30).map(f64::from).collect())?.free()?;
/// let meter = BiasMeter {
///     quantities: vec![Quantity::Sd(Observable::Coordinate(1))],
///     burn_in: 200,
///     n_batches: 10,
/// };
/// let plan = Plan::new(2000, 0.01).chains(16).start(Start::Fixed(vec![14.5, 2.2]));
/// let oracle = Doubled::new(&free);
/// let measured = meter.run(&Exact::new(&oracle), &Dynamics::ld(2), &plan, Control::default())?;
/// let off = measured.biases[0].relative();
/// assert!(off.value > 3.0 * off.error && off.value < 0.4);
/// # Ok::<(), langevin::RunError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BiasMeter {
    /// What is measured.
    pub quantities: Vec<Quantity>,
    /// Steps (of size h) that do not count.
    pub burn_in: u64,
    /// Parts into which each chain is cut for standard errors; each must be longer than the chain's
    /// memory. States that do not fill one are left out at the start.
    pub n_batches: usize,
}

impl BiasMeter {
    /// Runs the chains of a plan, whose steps are those of size h, in pairs of h and ½h. The oracle is
    /// of the [`Doubled`] target, or a foreign one of a
    /// [`DoubledTarget`](crate::foreign::DoubledTarget); minibatches are welcome.
    pub fn run<O: Oracle, M: Metric>(
        &self,
        oracle: &O,
        dynamics: &Dynamics<M>,
        plan: &Plan,
        control: Control<'_>,
    ) -> Result<Measured, RunError> {
        let d = dynamics.dim();
        check::at_least("the number of quantities", self.quantities.len(), 1)?;
        check::at_least("the number of batches", self.n_batches, 2)?;
        let kept = plan.n_steps.saturating_sub(self.burn_in);
        let len = kept / self.n_batches as u64;
        check::at_least("the number of steps in a batch", len.min(1) as usize, 1)?;
        check::size("the doubled target", oracle.dim(), 2 * d)?;
        let StepSize::Constant(step_size) = plan.step_size else {
            return Err(Error::Mismatch {
                name: "a decreasing step size",
                reason: "a bias is measured at a constant one".into(),
            }
            .into());
        };
        let pair = CoupledEuler::new(dynamics, step_size)?;
        let starts = plan_starts(plan, dynamics.metric())?;
        let both: Vec<_> = starts.iter().map(|theta| theta.repeat(2)).collect();
        oracle.check_starts(plan.first_chain, &both)?;
        let observables = self.quantities.iter().map(|q| q.observable().clone());
        let of = Arc::new(Of {
            centres: observables.clone().map(|f| f.value(&starts[0])).collect(),
            observables: observables.collect(),
            first: plan.n_steps - len * self.n_batches as u64,
            len,
        });
        let mut chains = Chains::new(plan.seed, plan.first_chain, both)?;
        let mut records = Records::new(&chains, oracle, || Sums::new(of.clone(), self.n_batches));
        let how = How {
            threads: plan.threads,
            isa: plan.isa,
            control,
        };
        let n_steps = plan.n_steps.saturating_mul(2);
        let done = chains.advance(oracle, &pair, n_steps, &mut records, &how)?;
        if let Advanced::Cancelled(escapes) = done {
            return Ok(Measured {
                biases: vec![],
                escapes,
                cancelled: true,
            });
        }
        let escapes: Vec<Escape> = chains.escapes().collect();
        let good = |chain: u64| escapes.iter().all(|e| e.chain != chain);
        let quantities = self.quantities.iter().enumerate();
        let biases = quantities.map(|(k, quantity)| {
            let healthy = records.chains().filter(|(chain, _, _)| good(*chain));
            let batches: Vec<Averages> = healthy
                .flat_map(|(_, sums, lane)| (0..self.n_batches).map(move |b| sums.at(b, k, lane)))
                .collect();
            estimate(quantity, of.centres[k], &batches)
        });
        Ok(Measured {
            biases: biases.collect(),
            escapes,
            cancelled: false,
        })
    }
}

/// Averages over a batch of f − c and (f − c)², for the fine and the coarse chain.
type Averages = [[f64; 2]; 2];

/// Linear in the averages, so that standard errors of differences are those of sums over batches: for
/// a standard deviation s the derivative of √(m₂ − m₁²).
fn estimate(quantity: &Quantity, centre: f64, batches: &[Averages]) -> Bias {
    let n = batches.len() as f64;
    let mean = |c: usize, power: usize| batches.iter().map(|b| b[c][power]).sum::<f64>() / n;
    let (mut values, mut rates) = ([0.0; 2], [[0.0; 2]; 2]);
    for c in 0..2 {
        let (first, second) = (mean(c, 0), mean(c, 1));
        (values[c], rates[c]) = match quantity {
            Quantity::Mean(_) => (centre + first, [1.0, 0.0]),
            Quantity::Sd(_) => {
                let sd = (second - first * first).sqrt();
                (sd, [-first / sd, 0.5 / sd])
            }
        };
    }
    let combined = |weights: [f64; 2]| {
        let of = |b: &Averages| -> f64 {
            let term = |c: usize| rates[c][0] * b[c][0] + rates[c][1] * b[c][1];
            weights[0] * term(0) + weights[1] * term(1)
        };
        let mean = batches.iter().map(of).sum::<f64>() / n;
        let squares: f64 = batches.iter().map(|b| (of(b) - mean).powi(2)).sum();
        Estimate {
            value: weights[0] * values[0] + weights[1] * values[1],
            error: (squares / (n - 1.0) / n).sqrt(),
        }
    };
    Bias {
        name: quantity.name(),
        fine: combined([1.0, 0.0]),
        coarse: combined([0.0, 1.0]),
        extrapolated: combined([2.0, -1.0]),
        bias: combined([-2.0, 2.0]),
    }
}

/// What sums are of.
struct Of {
    observables: Vec<Observable>,
    /// Observables less these numbers lose no digits.
    centres: Vec<f64>,
    /// The coarse step at which the first batch begins, and the length of each.
    first: u64,
    len: u64,
}

/// Sums over batches.
struct Sums {
    of: Arc<Of>,
    n_batches: usize,
    lanes: usize,
    /// [batch][observable][fine, coarse][power][lane]
    sums: Vec<f64>,
}

impl Sums {
    fn new(of: Arc<Of>, n_batches: usize) -> Self {
        Sums {
            of,
            n_batches,
            lanes: 0,
            sums: vec![],
        }
    }

    /// Where the sums of a batch and an observable begin.
    fn place(&self, batch: usize, observable: usize) -> usize {
        (batch * self.of.observables.len() + observable) * 4 * self.lanes
    }

    fn at(&self, batch: usize, observable: usize, lane: usize) -> Averages {
        let sums = &self.sums[self.place(batch, observable)..];
        let average = |k: usize| sums[k * self.lanes + lane] / self.of.len as f64;
        [[average(0), average(1)], [average(2), average(3)]]
    }
}

impl Record for Sums {
    fn begin(&mut self, shape: &Shape) {
        self.lanes = shape.lanes;
        self.sums = vec![0.0; self.place(self.n_batches, 0)];
    }

    #[inline(always)]
    fn push<L: Lanes>(&mut self, block: &Block<'_, L>) {
        let d = block.dim / 2;
        for i in 0..block.len {
            let step = block.first_step + i as u64;
            // At odd steps the coarse chain is behind.
            let Some(after) = (step / 2).checked_sub(self.of.first) else {
                continue;
            };
            let batch = (after / self.of.len) as usize;
            if step % 2 == 1 || batch >= self.n_batches {
                continue;
            }
            for part in block.parts {
                let state = &part.states[i * block.dim..(i + 1) * block.dim];
                for (k, observable) in self.of.observables.iter().enumerate() {
                    let place = self.place(batch, k) + part.lane;
                    for (c, theta) in state.chunks_exact(d).enumerate() {
                        let mut value = L::of(-self.of.centres[k]);
                        observable.accumulate(theta, d, None, &mut value);
                        for power in [value, value * value].into_iter().enumerate() {
                            let at = place + (2 * c + power.0) * self.lanes;
                            let sum = &mut self.sums[at..];
                            (L::load(sum) + power.1).store(sum);
                        }
                    }
                }
            }
        }
    }
}
