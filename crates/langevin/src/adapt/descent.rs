//! From a start to where the mass is: L-BFGS (Liu and Nocedal, 1989) for all starts in lockstep.
//!
//! It is ended on the way. The mode is not where the mass is: log π lies about d/2 below its maximum in
//! typical states, and a centred hierarchy has no maximum at all.

/// Pairs of steps and changes of the score that are remembered.
const MEMORY: usize = 10;
/// The longest first step.
const FIRST_STEP: f64 = 1.0;

/// All starts on their way up.
pub(super) struct Descent(Vec<Climber>);

struct Climber {
    x: Vec<f64>,
    value: f64,
    score: Vec<f64>,
    /// (s, y, 1/sᵀy), with y the fall of the score along s.
    pairs: Vec<(Vec<f64>, Vec<f64>, f64)>,
    direction: Vec<f64>,
    /// directionᵀ score.
    slope: f64,
    length: f64,
    /// What the last iterations gained.
    gains: Vec<f64>,
    ended: bool,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Climber {
    fn new(x: Vec<f64>, value: f64, score: Vec<f64>) -> Self {
        let mut climber = Climber {
            direction: score.clone(),
            slope: 0.0,
            length: 1.0,
            x,
            value,
            score,
            pairs: vec![],
            gains: vec![],
            ended: false,
        };
        climber.turn();
        climber
    }

    /// Chooses the next direction: the score, times what is known of the inverse curvature.
    fn turn(&mut self) {
        let mut q = self.score.clone();
        let mut alphas = vec![];
        for (s, y, inverse) in self.pairs.iter().rev() {
            let alpha = inverse * dot(s, &q);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= alpha * y);
            alphas.push(alpha);
        }
        if let Some((_, y, inverse)) = self.pairs.last() {
            let scale = 1.0 / (inverse * dot(y, y));
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((s, y, inverse), alpha) in self.pairs.iter().zip(alphas.into_iter().rev()) {
            let beta = inverse * dot(y, &q);
            q.iter_mut()
                .zip(s)
                .for_each(|(q, s)| *q += (alpha - beta) * s);
        }
        self.slope = dot(&q, &self.score);
        self.length = 1.0;
        if self.pairs.is_empty() {
            self.length = (FIRST_STEP / dot(&q, &q).sqrt()).min(1.0);
        }
        self.direction = q;
        self.ended |= !(self.slope.is_finite() && self.slope > 0.0);
    }

    fn proposal(&self) -> Vec<f64> {
        if self.ended {
            return self.x.clone();
        }
        let steps = self.x.iter().zip(&self.direction);
        steps.map(|(x, d)| x + self.length * d).collect()
    }

    fn take(&mut self, value: f64, score: &[f64]) {
        if self.ended {
            return;
        }
        let gain = value - self.value;
        // Armijo's condition; a proposal outside of the support is none.
        if !(value.is_finite() && gain >= 1e-4 * self.length * self.slope) {
            self.length *= if value.is_finite() { 0.4 } else { 0.1 };
            self.ended = self.length < 1e-10;
            return;
        }
        let x = self.proposal();
        let s: Vec<f64> = x.iter().zip(&self.x).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = self.score.iter().zip(score).map(|(a, b)| a - b).collect();
        let sy = dot(&s, &y);
        if sy > 1e-10 * dot(&y, &y) {
            if self.pairs.len() == MEMORY {
                self.pairs.remove(0);
            }
            self.pairs.push((s, y, 1.0 / sy));
        }
        (self.x, self.value) = (x, value);
        self.score.copy_from_slice(score);
        self.gains.push(gain);
        let last: f64 = self.gains.iter().rev().take(3).sum();
        let enough = (0.5 * self.x.len() as f64).max(3.0);
        self.ended = self.gains.len() >= 3 && last < enough;
        if !self.ended {
            self.turn();
        }
    }
}

impl Descent {
    /// Starts with log π and score there.
    pub fn new(states: Vec<Vec<f64>>, values: Vec<f64>, scores: Vec<Vec<f64>>) -> Self {
        let all = states.into_iter().zip(values).zip(scores);
        Descent(
            all.map(|((x, value), score)| Climber::new(x, value, score))
                .collect(),
        )
    }

    /// Whether any start is still on its way.
    pub fn goes_on(&self) -> bool {
        self.0.iter().any(|climber| !climber.ended)
    }

    /// Where log π and score are wanted; of those that have ended, where they are.
    pub fn propose(&self) -> Vec<Vec<f64>> {
        self.0.iter().map(Climber::proposal).collect()
    }

    /// Takes log π and the score of each proposal.
    pub fn take(&mut self, values: &[f64], scores: &[Vec<f64>]) {
        for ((climber, value), score) in self.0.iter_mut().zip(values).zip(scores) {
            climber.take(*value, score);
        }
    }

    /// sqrt(Σ sᵢ² / Σ yᵢ²) over the last steps s and falls y of the score of every start, which is
    /// the variance of an independent Gaussian coordinate; none if nothing moved. (At the points that
    /// were reached scores may be next to 0, and tell nothing.)
    pub fn variances(&self) -> Option<Vec<f64>> {
        let d = self.0.first()?.x.len();
        let (mut steps, mut falls) = (vec![0.0; d], vec![0.0; d]);
        for climber in &self.0 {
            for (s, y, inverse) in climber.pairs.iter().rev().take(3) {
                for i in 0..d {
                    // Each of them is as long as the others in whitened coordinates.
                    steps[i] += s[i] * s[i] * inverse;
                    falls[i] += y[i] * y[i] * inverse;
                }
            }
        }
        let variances = steps.iter().zip(&falls).map(|(s, y)| (s / y).sqrt());
        let variances: Vec<f64> = variances.collect();
        let sound = |v: &f64| v.is_finite() && *v > 1e-100 && *v < 1e100;
        variances.iter().all(sound).then_some(variances)
    }

    /// The points that were reached, and the scores there.
    pub fn into_points(self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        self.0
            .into_iter()
            .map(|climber| (climber.x, climber.score))
            .unzip()
    }
}

#[cfg(test)]
mod tests {
    use super::Descent;

    /// On a Gaussian the way up ends within some d/2 of the top, far from where it began, and a density
    /// without a maximum is not climbed for ever.
    #[test]
    fn descents_end_on_the_way() {
        let d = 20;
        let value = |x: &[f64]| -> f64 {
            (0..d)
                .map(|i| -0.5 * x[i] * x[i] * (1.0 + 50.0 * i as f64))
                .sum()
        };
        let score =
            |x: &[f64]| -> Vec<f64> { (0..d).map(|i| -x[i] * (1.0 + 50.0 * i as f64)).collect() };
        let starts: Vec<Vec<f64>> = (0..4)
            .map(|k| (0..d).map(|i| ((3 * k + i) % 5) as f64 - 2.0).collect())
            .collect();
        let values = starts.iter().map(|x| value(x)).collect();
        let scores = starts.iter().map(|x| score(x)).collect();
        let mut descent = Descent::new(starts, values, scores);
        let mut rounds = 0;
        while descent.goes_on() {
            let at = descent.propose();
            let values: Vec<f64> = at.iter().map(|x| value(x)).collect();
            let scores: Vec<Vec<f64>> = at.iter().map(|x| score(x)).collect();
            descent.take(&values, &scores);
            rounds += 1;
            assert!(rounds < 60);
        }
        for x in descent.into_points().0 {
            assert!(value(&x) > -3.0 * d as f64, "{}", value(&x));
        }
    }
}
