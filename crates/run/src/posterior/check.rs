//! Own code is looked at before it is trusted: a few evaluations tell the usual slips.

use langevin::adapt::{Sampler, Starts};
use langevin::rng::{Rng, Stream};

use crate::execute::ExecuteError;

/// Points that are looked at.
const POINTS: usize = 4;
/// Points tried to find so many with a finite density.
const TRIES: usize = 40;
/// Relative differences that rounding of large batches may make.
const ROUNDING: f64 = 1e-7;
/// A slope may be off by this share, where differences are exact to better than that.
const SLOPE: f64 = 1e-2;

/// Refuses densities that are not what they say.
pub(super) fn check(
    sampler: &dyn Sampler,
    d: usize,
    starts: &Starts,
    seed: u64,
) -> Result<(), ExecuteError> {
    let mut rng = Rng::<f64>::new(seed, 0, Stream::Setup);
    let tried: Vec<f64> = match starts {
        Starts::At(states) => states.iter().take(TRIES).flatten().copied().collect(),
        Starts::Scattered(_) => (0..TRIES * d).map(|_| 4.0 * rng.uniform() - 2.0).collect(),
    };
    let (values, _) = sampler.evaluate(&tried)?;
    let points: Vec<&[f64]> = tried
        .chunks_exact(d)
        .zip(&values)
        .filter(|(_, value)| value.is_finite())
        .map(|(point, _)| point)
        .take(POINTS)
        .collect();
    if points.is_empty() {
        // The search for starts has more patience, and words for this.
        return Ok(());
    }
    let together = points.concat();
    let (values, scores) = sampler.evaluate(&together)?;
    let again = sampler.evaluate(&together)?;
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
    if !same(&values, &again.0) || !same(&scores, &again.1) {
        return refuse(
            "the density is not deterministic: two evaluations at the same state differ; a sampler \
             needs a function of the state alone",
        );
    }
    for (k, point) in points.iter().enumerate() {
        let (value, score) = sampler.evaluate(point)?;
        let own = &scores[k * d..(k + 1) * d];
        let far = |a: f64, b: f64| (a - b).abs() > ROUNDING * (1.0 + a.abs().max(b.abs()));
        if far(value[0], values[k]) || score.iter().zip(own).any(|(a, b)| far(*a, *b)) {
            return refuse(
                "the density of a state depends on the other states of the same call; functions get \
                 states of shape (chains, dim) and must return one value for each row",
            );
        }
    }
    slopes(sampler, &points, &values, &scores, &mut rng)
}

/// Compares scores with differences along random directions.
fn slopes(
    sampler: &dyn Sampler,
    points: &[&[f64]],
    values: &[f64],
    scores: &[f64],
    rng: &mut Rng<f64>,
) -> Result<(), ExecuteError> {
    let d = points[0].len();
    let mut worst: Option<(f64, f64)> = None;
    for (k, point) in points.iter().enumerate() {
        let score = &scores[k * d..(k + 1) * d];
        let mut direction: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        direction.iter_mut().for_each(|v| *v /= length);
        let told: f64 = score.iter().zip(&direction).map(|(g, v)| g * v).sum();
        let steps = [1e-3, 1e-4, 1e-5, 1e-6];
        let moved: Vec<f64> = steps
            .iter()
            .flat_map(|h| [*h, -*h])
            .flat_map(|h| {
                let at = point.iter().zip(&direction).map(move |(x, v)| x + h * v);
                at.collect::<Vec<_>>()
            })
            .collect();
        let (ends, _) = sampler.evaluate(&moved)?;
        // The best of several steps: rounding spoils the short ones, curvature the long ones.
        let size = 1.0 + told.abs();
        let off = steps.iter().zip(ends.chunks_exact(2)).map(|(h, ends)| {
            let slope = (ends[0] - ends[1]) / (2.0 * h);
            let noise = 1e-15 * values[k].abs() / h;
            (((slope - told).abs() - noise).max(0.0) / size, slope)
        });
        let best = off.min_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            // One good point is enough: a density may have kinks.
            Some((off, _)) if off < SLOPE => return Ok(()),
            Some((off, slope)) if off.is_finite() => worst = Some((told, slope)),
            _ => {}
        }
    }
    match worst {
        None => Ok(()),
        Some((told, slope)) => refuse(&format!(
            "the score is not the gradient of the density: along a random direction the score says \
             {told:.6}, differences of the density say {slope:.6}; correct the one or the other, or \
             leave the check out (check=False)"
        )),
    }
}

fn refuse(what: &str) -> Result<(), ExecuteError> {
    Err(ExecuteError::Target(what.into()))
}
