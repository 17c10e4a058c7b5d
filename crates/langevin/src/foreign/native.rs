//! Targets of the library as foreign ones.

use super::{Failure, ForeignDensity, ForeignRows, ForeignTarget};
use crate::real::Word;
use crate::target::Subsampled;

/// A target of the library as a foreign one, to go with a foreign metric.
pub struct Native<'a, T> {
    target: &'a T,
    scratch: Vec<f64>,
}

impl<'a, T: Subsampled> Native<'a, T> {
    /// Wraps the target.
    pub fn new(target: &'a T) -> Self {
        Native {
            target,
            scratch: vec![0.0; target.scratch_len()],
        }
    }
}

impl<T: Subsampled> ForeignTarget for Native<'_, T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let d = self.target.dim();
        for (theta, out) in thetas.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            self.target.score(theta, &mut self.scratch, out);
        }
        Ok(())
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }

    fn rows(&mut self) -> Option<&mut dyn ForeignRows> {
        Some(self)
    }

    fn positive_coordinates(&self) -> &[usize] {
        self.target.positive_coordinates()
    }
}

impl<T: Subsampled> ForeignDensity for Native<'_, T> {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        let d = self.target.dim();
        let places = values.iter_mut().zip(scores.chunks_exact_mut(d));
        for (theta, (value, score)) in thetas.chunks_exact(d).zip(places) {
            let scratch = &mut self.scratch;
            *value = self.target.log_density_and_score(theta, scratch, score);
        }
        Ok(())
    }
}

impl<T: Subsampled> ForeignRows for Native<'_, T> {
    fn n_data(&self) -> usize {
        self.target.n_data()
    }

    fn minibatch_score(
        &mut self,
        thetas: &[f64],
        rows: &[i64],
        out: &mut [f64],
    ) -> Result<(), Failure> {
        let d = self.target.dim();
        let size = rows.len() / (thetas.len() / d);
        let mut words = vec![Word(0); size];
        for (i, rows) in rows.chunks_exact(size).enumerate() {
            for (word, row) in words.iter_mut().zip(rows) {
                word.0 = *row as u64;
            }
            let at = i * d..(i + 1) * d;
            let (theta, out) = (&thetas[at.clone()], &mut out[at]);
            self.target
                .minibatch_score(theta, &words, &mut self.scratch, out);
        }
        Ok(())
    }
}
