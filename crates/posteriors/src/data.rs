//! Random numbers that data are made from.

use langevin::rng::{Rng, Stream};

/// The generator of one data set.
pub(crate) struct Source(Rng<f64>);

impl Source {
    pub fn new(seed: u64) -> Self {
        Source(Rng::new(seed, 0, Stream::Setup))
    }

    pub fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    pub fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }

    /// 1 with probability `p`, else 0.
    pub fn coin(&mut self, p: f64) -> f64 {
        f64::from(self.0.uniform() < p)
    }

    /// A Poisson number, by the products of uniform numbers that stay above e^(−rate).
    pub fn poisson(&mut self, rate: f64) -> f64 {
        let (mut left, mut count) = (self.0.uniform(), 0.0);
        while left > (-rate).exp() {
            left *= self.0.uniform();
            count += 1.0;
        }
        count
    }
}

pub(crate) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
