//! Functions of the state whose averages are wanted.

use std::fmt;
use std::sync::Arc;

use crate::real::{Lanes, MAX_WIDTH};

/// A function φ of the state.
#[derive(Clone)]
pub enum Observable {
    /// One coordinate.
    Coordinate(usize),
    /// φ₁ = Σ θᵢ of the paper.
    Sum,
    /// φ₂ = Σ θᵢ² of the paper.
    SumOfSquares,
    /// φ₃ = (Σ θᵢ)² of the paper.
    SquareOfSum,
    /// Any function of one chain's state.
    Custom {
        /// What to call it.
        name: String,
        /// The function.
        function: Arc<OneState>,
    },
    /// Any function of many states at once, for code whose single calls are dear.
    Vectorised {
        /// What to call it.
        name: String,
        /// Takes states one after the other, and writes one value for each.
        function: Arc<ManyStates>,
    },
}

/// Takes one state.
pub type OneState = dyn Fn(&[f64]) -> f64 + Send + Sync;

/// Takes states one after the other, and writes one value for each.
pub type ManyStates = dyn Fn(&[f64], &mut [f64]) + Send + Sync;

impl fmt::Debug for Observable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Observable {
    /// A function of one chain's state.
    pub fn custom(
        name: impl Into<String>,
        function: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Observable::Custom {
            name: name.into(),
            function: Arc::new(function),
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Observable::Coordinate(i) => format!("theta[{i}]"),
            Observable::Sum => "sum".into(),
            Observable::SumOfSquares => "sum_of_squares".into(),
            Observable::SquareOfSum => "square_of_sum".into(),
            Observable::Custom { name, .. } | Observable::Vectorised { name, .. } => name.clone(),
        }
    }

    /// φ of one state.
    pub fn value(&self, theta: &[f64]) -> f64 {
        let mut sum = 0.0;
        self.accumulate(theta, theta.len(), None, &mut sum);
        sum
    }

    /// Adds φ of consecutive states of `dim` coordinates to `sum`, weighted where weights vary.
    #[inline(always)]
    pub(crate) fn accumulate<L: Lanes>(
        &self,
        states: &[L],
        dim: usize,
        weights: Option<&[f64]>,
        sum: &mut L,
    ) {
        let of = (states, dim, weights);
        match self {
            Observable::Coordinate(i) => add(of, sum, |x| x[*i]),
            Observable::Sum => add(of, sum, total),
            Observable::SumOfSquares => add(of, sum, |x| {
                let mut s = x[0] * x[0];
                for xi in &x[1..] {
                    s = xi.mul_add(*xi, s);
                }
                s
            }),
            Observable::SquareOfSum => add(of, sum, |x| {
                let s = total(x);
                s * s
            }),
            Observable::Custom { function, .. } => {
                let mut theta = vec![0.0; dim];
                let mut values = [0.0; MAX_WIDTH];
                let mut packed = vec![0.0; dim * L::WIDTH];
                add(of, sum, |x| {
                    for (pack, out) in x.iter().zip(packed.chunks_exact_mut(L::WIDTH)) {
                        pack.store(out);
                    }
                    for lane in 0..L::WIDTH {
                        for i in 0..theta.len() {
                            theta[i] = packed[i * L::WIDTH + lane];
                        }
                        values[lane] = function(&theta);
                    }
                    L::load(&values)
                });
            }
            Observable::Vectorised { function, .. } => {
                let values = values_of_states(function.as_ref(), states, dim);
                let mut packs = values.chunks_exact(L::WIDTH).map(L::load);
                add(of, sum, |_| packs.next().unwrap_or(L::zero()));
            }
        }
    }
}

/// φ of consecutive states, [state][lane].
#[inline(never)]
fn values_of_states<L: Lanes>(function: &ManyStates, packs: &[L], d: usize) -> Vec<f64> {
    let width = L::WIDTH;
    let mut lanes = [0.0; MAX_WIDTH];
    let mut states = vec![0.0; packs.len() * width];
    for (state, rows) in packs
        .chunks_exact(d)
        .zip(states.chunks_exact_mut(width * d))
    {
        for (c, pack) in state.iter().enumerate() {
            pack.store(&mut lanes);
            for lane in 0..width {
                rows[lane * d + c] = lanes[lane];
            }
        }
    }
    let mut values = vec![0.0; packs.len() / d * width];
    function(&states, &mut values);
    values
}

#[inline(always)]
fn total<L: Lanes>(x: &[L]) -> L {
    let mut s = x[0];
    for xi in &x[1..] {
        s += *xi;
    }
    s
}

/// Adds the values of consecutive states. The compiler knows the number of coordinates where it is
/// small: there a loop over them takes longer than what it does.
#[inline(always)]
fn add<L: Lanes>(
    (states, dim, weights): (&[L], usize, Option<&[f64]>),
    sum: &mut L,
    value: impl FnMut(&[L]) -> L,
) {
    match dim {
        2 => add_states(states.chunks_exact(2), weights, sum, value),
        3 => add_states(states.chunks_exact(3), weights, sum, value),
        _ => add_states(states.chunks_exact(dim), weights, sum, value),
    }
}

#[inline(always)]
fn add_states<'a, L: Lanes>(
    states: impl Iterator<Item = &'a [L]>,
    weights: Option<&[f64]>,
    sum: &mut L,
    mut value: impl FnMut(&[L]) -> L,
) {
    match weights {
        None => {
            for state in states {
                *sum += value(state);
            }
        }
        Some(weights) => {
            for (state, weight) in states.zip(weights) {
                *sum = value(state).mul_add(L::of(*weight), *sum);
            }
        }
    }
}
