//! Functions of the state whose averages are wanted.

use std::fmt;
use std::sync::Arc;

use super::Block;
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
        self.accumulate(
            &Block {
                first_step: 0,
                dim: theta.len(),
                states: theta,
                step_sizes: None,
            },
            0,
            1,
            &mut sum,
        );
        sum
    }

    /// Adds φ of states `from..to` of the block to `sum`, weighted by their step sizes where these
    /// vary.
    #[inline(always)]
    pub(crate) fn accumulate<L: Lanes>(
        &self,
        block: &Block<'_, L>,
        from: usize,
        to: usize,
        sum: &mut L,
    ) {
        match self {
            Observable::Coordinate(i) => add(block, from, to, sum, |x| x[*i]),
            Observable::Sum => add(block, from, to, sum, total),
            Observable::SumOfSquares => add(block, from, to, sum, |x| {
                let mut s = x[0] * x[0];
                for xi in &x[1..] {
                    s = xi.mul_add(*xi, s);
                }
                s
            }),
            Observable::SquareOfSum => add(block, from, to, sum, |x| {
                let s = total(x);
                s * s
            }),
            Observable::Custom { function, .. } => {
                let mut theta = vec![0.0; block.dim];
                let mut values = [0.0; MAX_WIDTH];
                let mut packed = vec![0.0; block.dim * L::WIDTH];
                add(block, from, to, sum, |x| {
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
                let values = values_of_states(function.as_ref(), block, from, to);
                let mut packs = values.chunks_exact(L::WIDTH).map(L::load);
                add(block, from, to, sum, |_| packs.next().unwrap_or(L::zero()));
            }
        }
    }
}

/// φ of states `from..to` of the block, [state][lane].
#[inline(never)]
fn values_of_states<L: Lanes>(
    function: &ManyStates,
    block: &Block<'_, L>,
    from: usize,
    to: usize,
) -> Vec<f64> {
    let (d, width) = (block.dim, L::WIDTH);
    let mut lanes = [0.0; MAX_WIDTH];
    let mut states = vec![0.0; (to - from) * width * d];
    for (i, rows) in (from..to).zip(states.chunks_exact_mut(width * d)) {
        for (c, pack) in block.state(i).iter().enumerate() {
            pack.store(&mut lanes);
            for lane in 0..width {
                rows[lane * d + c] = lanes[lane];
            }
        }
    }
    let mut values = vec![0.0; (to - from) * width];
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

#[inline(always)]
fn add<L: Lanes>(
    block: &Block<'_, L>,
    from: usize,
    to: usize,
    sum: &mut L,
    mut value: impl FnMut(&[L]) -> L,
) {
    let states = block.states[from * block.dim..to * block.dim].chunks_exact(block.dim);
    match block.step_sizes {
        None => {
            for state in states {
                *sum += value(state);
            }
        }
        Some(sizes) => {
            for (state, h) in states.zip(&sizes[from..to]) {
                *sum = value(state).mul_add(L::of(*h), *sum);
            }
        }
    }
}
