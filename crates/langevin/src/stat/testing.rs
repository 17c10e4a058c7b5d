//! Seeded random numbers for the tests of this module.

/// SplitMix64 (Steele, Lea and Flood 2014): enough for tests, and the same draws forever.
pub(crate) struct TestRng(u64);

impl TestRng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1].
    pub fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }

    /// `n_chains` stationary AR(1) chains of unit variance and lag-one correlation `phi`.
    pub fn ar1(&mut self, n_chains: usize, n_draws: usize, phi: f64) -> Vec<f64> {
        let noise = (1.0 - phi * phi).sqrt();
        let mut draws = Vec::with_capacity(n_chains * n_draws);
        for _ in 0..n_chains {
            let mut x = self.normal();
            for _ in 0..n_draws {
                draws.push(x);
                x = phi * x + noise * self.normal();
            }
        }
        draws
    }
}

/// `(mean − expected) / standard error`: about standard normal if the mean is as expected.
pub(crate) fn z_score(values: &[f64], expected: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean - expected) / (variance / n).sqrt()
}
