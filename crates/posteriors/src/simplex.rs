//! A Dirichlet distribution by sticks that are broken.

use langevin::real::Real;
use langevin::target::Target;

use crate::Moments;
use crate::series::ln_logistic;

/// p ~ Dirichlet(α); p₁ = z₁, p₂ = z₂(1 − z₁), …, with zₖ = logistic(uₖ − log(K − k)) of the
/// coordinates u, so that u = 0 is the middle of the simplex.
///
/// ```
/// use langevin_posteriors::simplex::Dirichlet;
/// // Of a uniform number the logit has standard deviation π/√3.
/// let sd = Dirichlet::new(vec![1.0, 1.0]).moments().sds[0].value;
/// assert!((sd - std::f64::consts::PI / 3f64.sqrt()).abs() < 1e-12);
/// ```
#[derive(Clone, Debug)]
pub struct Dirichlet {
    alpha: Vec<f64>,
}

impl Dirichlet {
    /// With at least two concentrations α.
    pub fn new(alpha: Vec<f64>) -> Self {
        Dirichlet { alpha }
    }

    /// zₖ ~ Beta(a, b) with a = αₖ and b the sum of the later ones; its logit has mean ψ(a) − ψ(b)
    /// and variance ψ'(a) + ψ'(b).
    pub fn moments(&self) -> Moments {
        let d = self.dim();
        let (mut means, mut sds) = (vec![], vec![]);
        for k in 0..d {
            let (a, b) = (self.alpha[k], self.alpha[k + 1..].iter().sum());
            means.push(digamma(a) - digamma(b) + self.shift(k));
            sds.push((trigamma(a) + trigamma(b)).sqrt());
        }
        Moments::exact(&means, &sds)
    }

    /// log of the number of parts that follow.
    #[inline(always)]
    fn shift(&self, k: usize) -> f64 {
        ((self.alpha.len() - 1 - k) as f64).ln()
    }
}

impl Target for Dirichlet {
    fn dim(&self) -> usize {
        self.alpha.len() - 1
    }

    #[inline(always)]
    fn log_density<R: Real>(&self, theta: &[R]) -> R {
        let mut ln_rest = R::zero();
        let mut sum = R::zero();
        for k in 0..theta.len() {
            let logit = theta[k] - self.shift(k);
            let (ln_z, ln_other) = (ln_logistic(logit), ln_logistic(-logit));
            // dpₖ = rest z(1 − z) du.
            sum += ln_rest + ln_z + ln_other;
            sum += (ln_rest + ln_z) * (self.alpha[k] - 1.0);
            ln_rest += ln_other;
        }
        sum + ln_rest * (self.alpha[theta.len()] - 1.0)
    }
}

/// ψ(x), by its asymptotic series beyond 10 and ψ(x) = ψ(x + 1) − 1/x below.
fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = 1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0)));
    sum + x.ln() - 0.5 / x - y * series
}

/// ψ'(x), likewise.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + 1.0 / x + 0.5 * y + y / x * series
}
