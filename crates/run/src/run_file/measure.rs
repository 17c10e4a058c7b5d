//! From `[measure]` to what is recorded of every chain.

use langevin::record::Observable;
use langevin::stat::batch_means::DEFAULT_BATCHES;
use langevin::stat::ksd::Kernel;
use langevin::stat::running::log_spaced;
use langevin::theory;
use langevin::transition::StepSize;
use nalgebra::{DMatrix, DVector};

use super::arm::Arm;
use super::nearest::nearest;
use super::source::{At, AtPlace, Result};
use super::typed;
use crate::shown::{names as name_list, quoted, quoted_names};
use crate::target::Target;

/// Checkpoints of running averages in a factor of ten, unless the run file says otherwise.
pub(super) const CHECKPOINTS_PER_DECADE: u64 = 10;
/// Names of observables that are not coordinates.
pub const OBSERVABLES: [(&str, &str); 3] = [
    ("sum", "φ₁ = Σ θᵢ"),
    ("sum_of_squares", "φ₂ = Σ θᵢ²"),
    ("square_of_sum", "φ₃ = (Σ θᵢ)²"),
];

/// An observable with its name.
#[derive(Clone, Debug)]
pub struct Named {
    /// As typed in the run file.
    pub name: String,
    /// For the recorder.
    pub observable: Observable,
    /// For exact answers, where it is a polynomial.
    pub exact: Option<theory::Observable>,
}

impl Named {
    /// How it is written in tables and figures.
    pub fn symbol(&self) -> String {
        let known = OBSERVABLES.iter().find(|(name, _)| *name == self.name);
        known.map_or_else(|| self.name.clone(), |(_, symbol)| (*symbol).into())
    }
}

/// What averages are compared with.
#[derive(Clone, Debug)]
pub enum Truth {
    /// Nothing: only variances are shown.
    None,
    /// The exact expectations.
    Exact(Vec<f64>),
    /// A number for each observable, where there is one.
    Numbers(Vec<Option<f64>>),
    /// The averages of a long run with exact gradients.
    Reference(Box<Reference>),
}

/// A long run that stands for the truth.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The dynamics, with its own step size and exact gradients.
    pub arm: Arm,
    /// Number of chains.
    pub n_chains: usize,
    /// Number of states.
    pub n_steps: u64,
    /// States to leave out.
    pub burn_in: u64,
}

/// Kernel Stein discrepancy of the first states of some chains.
#[derive(Clone, Copy, Debug)]
pub struct Ksd {
    /// Number of points.
    pub n_points: usize,
    /// Number of states that a chain needs for them.
    pub n_steps: u64,
    /// Number of chains.
    pub n_chains: usize,
    /// Distance between points, in steps.
    pub thin: u64,
    /// Number of the first state.
    pub burn_in: u64,
    /// The kernel.
    pub kernel: Kernel,
    /// Step size in place of that of the dynamics.
    pub step_size: Option<StepSize>,
}

impl Ksd {
    /// The dynamics as discrepancies are measured of it.
    pub fn arm(&self, arm: &Arm) -> Arm {
        Arm {
            step_size: self.step_size.unwrap_or(arm.step_size),
            ..arm.clone()
        }
    }
}

/// Paths to show.
#[derive(Clone, Debug)]
pub struct Trajectories {
    /// Number of chains.
    pub n_chains: usize,
    /// Number of states.
    pub n_steps: u64,
    /// Distance between states that are kept.
    pub thin: u64,
    /// Coordinates to draw: name and place in θ.
    pub coordinates: Vec<(String, usize)>,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Observables.
    pub observables: Vec<Named>,
    /// Number of batches of batch means.
    pub n_batches: usize,
    /// Length of a batch, in steps.
    pub batch_steps: u64,
    /// Number of the first state of running averages.
    pub origin: u64,
    /// Numbers of states from there on at which running averages are kept.
    pub checkpoints: Vec<u64>,
    /// What averages are compared with.
    pub truth: Truth,
    /// Kernel Stein discrepancy.
    pub ksd: Option<Ksd>,
    /// Paths to show.
    pub trajectories: Option<Trajectories>,
    /// Whether exact answers are computed where there are any.
    pub theory: bool,
}

impl Measure {
    /// Checks everything against the model and the run.
    pub fn new(
        typed: &typed::Measure,
        run: &typed::Run,
        target: &Target,
        arms: &[Arm],
    ) -> Result<Self> {
        let observables = match &typed.observables {
            Some(names) => {
                let list: Result<Vec<_>> =
                    names.value.iter().map(|name| named(name, target)).collect();
                let list = list?;
                if list.is_empty() {
                    return names.place.refuse("at least one observable is needed");
                }
                list
            }
            None => ["sum", "sum_of_squares"]
                .map(|name| simple(name, target.dim()))
                .into_iter()
                .flatten()
                .collect(),
        };
        let (n_steps, burn_in) = (run.n_steps.value, run.burn_in.value);
        if burn_in >= n_steps {
            return run.burn_in.place.refuse(format!(
                "burn_in must be below n_steps = {n_steps}, but is {burn_in}"
            ));
        }
        let n_batches = typed.n_batches.as_ref();
        let place = n_batches.map_or(&run.n_steps.place, |n| &n.place);
        let n_batches = n_batches.map_or(DEFAULT_BATCHES as u64, |n| n.value);
        if n_batches < 2 || n_batches > n_steps - burn_in {
            return place.refuse(format!(
                "{n_batches} batches of the {} states after burn-in: from 2 to that many are possible",
                n_steps - burn_in
            ));
        }
        let per_decade = typed.checkpoints_per_decade.as_ref();
        let per_decade = per_decade.map_or(CHECKPOINTS_PER_DECADE, |n| n.value);
        let origin = match typed.running_from {
            Some("burn-in") => burn_in,
            _ => 0,
        };
        let counted = (n_steps - origin) as usize;
        let checkpoints = log_spaced(counted, per_decade as usize).at(&run.n_steps.place)?;
        Ok(Measure {
            truth: truth(typed, &observables, target, arms)?,
            observables,
            n_batches: n_batches as usize,
            batch_steps: (n_steps - burn_in) / n_batches,
            origin,
            checkpoints: checkpoints.into_iter().map(|k| k as u64).collect(),
            ksd: typed.ksd.as_ref().map(ksd).transpose()?,
            trajectories: match &typed.trajectories {
                Some(typed) => Some(trajectories(typed, target)?),
                None => None,
            },
            theory: typed.theory.unwrap_or(true),
        })
    }
}

/// An observable of the whole state by its name.
pub fn simple(name: &str, dim: usize) -> Option<Named> {
    use theory::Observable as Exact;
    let (observable, exact) = match name {
        "sum" => (Observable::Sum, Exact::sum(dim)),
        "sum_of_squares" => (Observable::SumOfSquares, Exact::sum_of_squares(dim)),
        "square_of_sum" => (Observable::SquareOfSum, Exact::square_of_sum(dim)),
        _ => return None,
    };
    Some(Named {
        name: name.into(),
        observable,
        exact: Some(exact),
    })
}

fn named(name: &At<String>, target: &Target) -> Result<Named> {
    let dim = target.dim();
    if let Some(found) = simple(&name.value, dim) {
        return Ok(found);
    }
    let i = coordinate(name, &name.value, target, true)?;
    let mut linear = DVector::zeros(dim);
    linear[i] = 1.0;
    let exact = theory::Observable::new(linear, DMatrix::zeros(dim, dim)).at(&name.place)?;
    Ok(Named {
        name: name.value.clone(),
        observable: Observable::Coordinate(i),
        exact: Some(exact),
    })
}

/// The coordinate of θ with a name, or a refusal that says which names there are.
fn coordinate<T>(at: &At<T>, name: &str, target: &Target, observable: bool) -> Result<usize> {
    if let Some(i) = target.coordinate(name) {
        return Ok(i);
    }
    let labels = target.coordinates.clone();
    let simple = OBSERVABLES.iter().map(|(name, _)| *name);
    let known: Vec<&str> = simple
        .filter(|_| observable)
        .chain(labels.iter().map(String::as_str))
        .collect();
    let kind = if observable {
        "observable"
    } else {
        "coordinate"
    };
    let hint = match nearest(name, known.iter().copied()) {
        Some(word) => format!("did you mean {}?", quoted(word)),
        None => format!("expected one of {}", quoted_names(&known)),
    };
    at.place
        .refuse(format!("there is no {kind} {}; {hint}", quoted(name)))
}

fn truth(
    typed: &typed::Measure,
    observables: &[Named],
    target: &Target,
    arms: &[Arm],
) -> Result<Truth> {
    let expectation = |o: &Named| crate::exact::expectation(target, o.exact.as_ref()?);
    let exact: Option<langevin::Result<Vec<f64>>> = observables.iter().map(expectation).collect();
    let Some(At { value, place }) = &typed.truth else {
        // Few data can leave a moment infinite; nobody has asked for it.
        return Ok(exact.and_then(|e| e.ok()).map_or(Truth::None, Truth::Exact));
    };
    match value {
        typed::Truth::None => Ok(Truth::None),
        typed::Truth::Exact => match exact {
            Some(values) => Ok(Truth::Exact(values.at(place)?)),
            None => place.refuse(format!(
                "the model {:?} has no exact expectations; give numbers or a reference run",
                target.name()
            )),
        },
        typed::Truth::Numbers(numbers) => {
            let mut known = vec![None; observables.len()];
            for (name, number) in numbers {
                let Some(i) = observables.iter().position(|o| o.name == name.value) else {
                    let names: Vec<&str> = observables.iter().map(|o| o.name.as_str()).collect();
                    return name.place.refuse(format!(
                        "{} is not among the observables {}",
                        quoted(&name.value),
                        name_list(&names)
                    ));
                };
                known[i] = Some(*number);
            }
            Ok(Truth::Numbers(known))
        }
        typed::Truth::Reference {
            dynamics,
            n_chains,
            n_steps,
            burn_in,
            step_size,
        } => {
            let Some(arm) = arms.iter().find(|arm| arm.name == dynamics.value) else {
                let names: Vec<&str> = arms.iter().map(|a| a.name.as_str()).collect();
                return dynamics.place.refuse(format!(
                    "there are no dynamics {}; expected one of {}",
                    quoted(&dynamics.value),
                    name_list(&names)
                ));
            };
            if burn_in.value >= n_steps.value {
                return burn_in.place.refuse("burn_in must be below n_steps");
            }
            if n_chains.value < 2 {
                return n_chains
                    .place
                    .refuse("a reference run needs at least two chains");
            }
            let mut arm = arm.clone();
            arm.gradient = langevin::batch::Gradient::Exact;
            if let Some(h) = step_size {
                arm.step_size = StepSize::Constant(h.value);
            }
            Ok(Truth::Reference(Box::new(Reference {
                arm,
                n_chains: n_chains.value as usize,
                n_steps: n_steps.value,
                burn_in: burn_in.value,
            })))
        }
    }
}

fn ksd(typed: &At<typed::Ksd>) -> Result<Ksd> {
    let value = &typed.value;
    let n_points = &value.n_points;
    let last = (n_points.value - 1).checked_mul(value.thin.value);
    let n_steps = last.and_then(|last| last.checked_add(value.burn_in.value)?.checked_add(1));
    let Some(n_steps) = n_steps else {
        return n_points.place.refuse(format!(
            "state burn_in + thin × (n_points − 1) is too far to count with n_points = {}",
            n_points.value
        ));
    };
    Ok(Ksd {
        n_points: n_points.value as usize,
        n_steps,
        n_chains: value.n_chains.value as usize,
        thin: value.thin.value,
        burn_in: value.burn_in.value,
        kernel: Kernel::new(value.c, value.exponent).at(&typed.place)?,
        step_size: value.step_size.map(StepSize::Constant),
    })
}

fn trajectories(typed: &At<typed::Trajectories>, target: &Target) -> Result<Trajectories> {
    let value = &typed.value;
    let labels = target.coordinates.clone();
    let coordinates = match &value.coordinates {
        None => {
            let first = labels.iter().zip(&target.order).take(2);
            first.map(|(name, i)| (name.clone(), *i)).collect()
        }
        Some(names) => {
            let one = |name: &String| Ok((name.clone(), coordinate(names, name, target, false)?));
            names.value.iter().map(one).collect::<Result<_>>()?
        }
    };
    Ok(Trajectories {
        n_chains: value.n_chains.value as usize,
        n_steps: value.n_steps.value,
        thin: value.thin,
        coordinates,
    })
}
