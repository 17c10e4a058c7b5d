//! Descriptions that tell any two computations apart, for the names of finished units.
//!
//! Everything that a result depends on is written here field by field, and every number by its
//! bits: how a library happens to print its types must decide neither that old results are found
//! nor that they are not. A change of anything here is a change of all names.

use langevin::batch::Gradient;
use langevin::catalog::MetricChoice;
use langevin::chain::Start;
use langevin::record::Observable;
use langevin::skew::Skew;
use langevin::transition::StepSize;
use nalgebra::DMatrix;
use serde_json::{Value, json};

/// A hash of a model: its name, the width of its rows, and all numbers that it is made of.
pub fn of_model(name: &str, width: usize, parts: &[(&str, &[f64])]) -> String {
    let parts: Vec<Value> = parts
        .iter()
        .map(|(part, numbers)| json!([part, hash(numbers)]))
        .collect();
    let description = json!({ "name": name, "width": width, "parts": parts });
    blake3::hash(description.to_string().as_bytes()).to_string()
}

/// A hash of numbers and how many there are.
fn hash(numbers: &[f64]) -> String {
    let mut hasher = blake3::Hasher::new();
    for x in numbers {
        hasher.update(&x.to_bits().to_le_bytes());
    }
    format!("{} {}", numbers.len(), hasher.finalize())
}

/// The bits of a number.
pub fn of_number(x: f64) -> Value {
    json!(format!("{:016x}", x.to_bits()))
}

fn of_matrix(matrix: &DMatrix<f64>) -> Value {
    let (rows, columns) = matrix.shape();
    json!([rows, columns, hash(matrix.as_slice())])
}

/// A metric.
pub fn of_metric(metric: &MetricChoice) -> Value {
    match metric {
        MetricChoice::Identity => json!("identity"),
        MetricChoice::Diagonal(entries) => json!({ "diagonal": hash(entries) }),
        MetricChoice::Dense(matrix) => json!({ "dense": of_matrix(matrix) }),
        MetricChoice::Natural => json!("natural"),
        MetricChoice::NaturalPlusIdentity => json!("natural+identity"),
    }
}

/// A skew field.
pub fn of_skew(skew: &Skew) -> Value {
    match skew {
        Skew::None => json!("none"),
        Skew::Constant(j) => json!({ "constant": of_matrix(&j.matrix()) }),
        Skew::Geometric(j) => json!({ "geometric": of_matrix(&j.matrix()) }),
    }
}

/// Step sizes.
pub fn of_step_size(step_size: StepSize) -> Value {
    match step_size {
        StepSize::Constant(h) => json!({ "constant": of_number(h) }),
        StepSize::Decreasing { a, b, gamma } => {
            json!({ "a": of_number(a), "b": of_number(b), "gamma": of_number(gamma) })
        }
    }
}

/// A gradient estimator.
pub fn of_gradient(gradient: Gradient) -> Value {
    match gradient {
        Gradient::Exact => json!("exact"),
        Gradient::Minibatch {
            batch_size,
            with_replacement,
        } => json!({ "batch_size": batch_size, "with_replacement": with_replacement }),
    }
}

/// The initial states of chains `first..first + n`.
pub fn of_start(start: &Start, first: u64, n: usize) -> Value {
    match start {
        Start::Fixed(state) => json!({ "fixed": hash(state) }),
        Start::PerChain(states) => {
            let own = states.iter().skip(first as usize).take(n);
            json!({ "per_chain": own.map(|state| hash(state)).collect::<Vec<_>>() })
        }
        Start::Normal { mean, sd } => json!({ "mean": hash(mean), "sd": of_number(*sd) }),
        // The only function that run files have; it depends on model, seed and chain.
        Start::Function(_) => json!("random signs"),
    }
}

/// An observable.
pub fn of_observable(observable: &Observable) -> Value {
    match observable {
        Observable::Coordinate(i) => json!({ "coordinate": i }),
        Observable::Sum => json!("sum"),
        Observable::SumOfSquares => json!("sum_of_squares"),
        Observable::SquareOfSum => json!("square_of_sum"),
        // Run files have none of these.
        Observable::Custom { name, .. } | Observable::Vectorised { name, .. } => {
            json!({ "function": name })
        }
    }
}
