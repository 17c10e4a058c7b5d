//! Averages of observables over time, by the program's own arithmetic.

use langevin::transition::StepSize;
use langevin_run::compare::{self, Marks};
use langevin_run::execute::{Chain, Recorded};
use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// Which states averages are taken over, and their weights.
#[derive(Clone, Copy)]
pub struct Span {
    pub burn_in: u64,
    pub n_steps: u64,
    pub step_size: StepSize,
}

/// Sums of observables between marks, of all chains. Observables go by their number.
#[pyclass(frozen, module = "langevin._core")]
pub struct Averages {
    marks: Marks,
    span: Span,
    recorded: Recorded,
}

#[pymethods]
impl Averages {
    /// Numbers of states, and averages over the first so many of them, of shape (healthy chain,
    /// number); NaN where an interrupted chain did not get.
    #[allow(clippy::type_complexity)]
    fn running<'py>(
        &self,
        py: Python<'py>,
        observable: usize,
    ) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f64>>) {
        let ends = self.marks.checkpoints.iter();
        let steps = ends.map(|end| (end - self.marks.origin) as i64).collect();
        let curves = self
            .marks
            .running(&self.recorded, observable, self.span.step_size);
        let width = self.marks.checkpoints.len();
        (PyArray1::from_vec(py, steps), rows(py, &curves, width))
    }

    /// Averages over batches, of shape (chain, batch), of the chains that ran to the end.
    fn batches<'py>(&self, py: Python<'py>, observable: usize) -> Bound<'py, PyArray2<f64>> {
        let h = self.span.step_size;
        let averages = |chain| self.marks.batch_averages(chain, observable, h);
        let whole: Vec<Vec<f64>> = self.whole().map(averages).collect();
        rows(py, &whole, self.marks.batches.len() - 1)
    }

    /// (chain, batch-means estimate of the asymptotic variance) of the chains that ran to the
    /// end; nothing with step sizes that vary.
    fn variances(&self, observable: usize) -> Vec<(u64, f64)> {
        let StepSize::Constant(h) = self.span.step_size else {
            return vec![];
        };
        let all = self.marks.batch_variances(&self.recorded, observable, h);
        all.into_iter().filter(|(_, v)| v.is_finite()).collect()
    }

    /// Averages after burn-in of the chains that ran to the end.
    fn means(&self, observable: usize) -> Vec<f64> {
        let Span {
            burn_in,
            n_steps,
            step_size,
        } = self.span;
        let mean = |c| {
            self.marks
                .average(c, observable, burn_in, n_steps, step_size)
        };
        self.whole().map(mean).collect()
    }
}

impl Averages {
    /// What a job recorded.
    pub fn new(marks: Marks, span: Span, recorded: Recorded) -> Self {
        Averages {
            marks,
            span,
            recorded,
        }
    }

    /// The healthy chains that were not interrupted.
    fn whole(&self) -> impl Iterator<Item = &Chain> {
        let reached = |sums: &Vec<f64>| sums.last().is_some_and(|x| x.is_finite());
        let finite = move |chain: &&Chain| chain.sums.iter().all(reached);
        self.recorded.healthy().filter(finite)
    }
}

fn rows<'py>(py: Python<'py>, rows: &[Vec<f64>], width: usize) -> Bound<'py, PyArray2<f64>> {
    let array = Array2::from_shape_fn((rows.len(), width), |(i, j)| rows[i][j]);
    PyArray2::from_owned_array(py, array)
}

/// Ratio of the means of two lists of (chain, value) with its standard error; nothing for fewer
/// than two chains in common.
#[pyfunction]
pub fn ratio(a: Vec<(u64, f64)>, b: Vec<(u64, f64)>) -> Option<(f64, f64)> {
    compare::ratio(&a, &b).map(|estimate| (estimate.value, estimate.se))
}
