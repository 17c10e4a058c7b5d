//! What scores at the draws tell about a run.

use rayon::prelude::*;

use super::figures::Figures;
use super::sample::Sample;
use super::warning::{Kind, Subject, Warning};
use crate::stat::moments::mean;
use crate::stat::{Draws, mcse_mean};

/// Figures from the scores g = ∇log π at the draws.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreFigures {
    /// Largest eigenvalue of Cov(θ)^½ Cov(g) Cov(θ)^½: 1 on a Gaussian, 1 to 2.4 on easy posteriors,
    /// 10⁴ and more on funnels. It is the mean curvature in the narrowest direction, measured in the
    /// scales of the whole.
    pub eigenvalue: f64,
    /// What it may be.
    pub threshold: f64,
    /// The coordinate that has the largest part in it.
    pub coordinate: usize,
    /// For each coordinate, the mean of (θ − m)g + 1, which is 0 for draws from π, with its standard
    /// error.
    pub identity: Vec<(f64, f64)>,
    /// For each coordinate, the mean of g sd(θ), which is 0 for draws from π, with its standard error.
    pub mean: Vec<(f64, f64)>,
}

/// Eigenvalues from here on are those of places too narrow for steps that suit the whole.
const NARROW: f64 = 300.0;
/// Identities may be off by this, and must be by five standard errors to count.
const OFF: f64 = 0.05;
const ERRORS: f64 = 5.0;
/// Draws that the eigenvalue is computed from, at least, and for each coordinate.
const ROWS: usize = 2000;
const ROWS_PER_COORDINATE: usize = 4;

impl ScoreFigures {
    /// `None` without scores, or where a draw, a score or a spread cannot be used.
    pub(super) fn new(sample: &Sample, figures: &[Figures]) -> Option<Self> {
        let scores = sample.scores()?;
        let d = sample.dim();
        let spread = |f: &Figures| f.summary.sd.is_finite() && f.summary.sd > 0.0;
        let usable = figures.iter().all(spread) && scores.iter().all(|g| g.is_finite());
        if !usable || sample.n_draws() < 4 {
            return None;
        }
        let with_error = |values: &[f64]| {
            let draws = Draws::new(values, sample.n_chains(), sample.n_draws());
            (mean(values), draws.map_or(f64::NAN, mcse_mean))
        };
        let both = |i: usize| {
            let f = &figures[i].summary;
            let g = scores.iter().skip(i).step_by(d);
            let unit: Vec<f64> = g.map(|g| g * f.sd).collect();
            let draws = sample.values().iter().skip(i).step_by(d);
            let product = |(x, g): (&f64, &f64)| (x - f.mean) / f.sd * g + 1.0;
            let products: Vec<f64> = draws.zip(&unit).map(product).collect();
            (with_error(&products), with_error(&unit))
        };
        let (identity, mean): (Vec<_>, Vec<_>) = (0..d).into_par_iter().map(both).unzip();
        let (eigenvalue, coordinate, n_rows) = narrowest(sample, scores, figures);
        let worth = figures.iter().map(|f| f.summary.ess_bulk);
        let worth = worth.fold(n_rows as f64, f64::min).max(1.0);
        // Of n draws in d dimensions, covariances have eigenvalues up to (1 + √(d/n))² times theirs.
        let inflation = (1.0 + (d as f64 / worth).sqrt()).powi(4);
        Some(ScoreFigures {
            eigenvalue,
            threshold: NARROW * inflation,
            coordinate,
            identity,
            mean,
        })
    }

    pub(super) fn warnings(&self) -> Vec<Warning> {
        let mut found = vec![];
        if self.eigenvalue > self.threshold {
            found.push(Warning {
                kind: Kind::Narrow,
                subject: Subject::Coordinate(self.coordinate),
                figure: self.eigenvalue,
                threshold: self.threshold,
                others: 0,
            });
        }
        let both = self.identity.iter().zip(&self.mean).enumerate();
        let off = both.filter_map(|(i, (a, b))| {
            let worse = if a.0.abs() > b.0.abs() { a } else { b };
            let far = |(mean, error): &(f64, f64)| mean.abs() > OFF && mean.abs() > ERRORS * error;
            (far(a) || far(b)).then_some((Subject::Coordinate(i), worse.0.abs()))
        });
        found.extend(Warning::worst(Kind::WrongScores, OFF, off));
        found
    }
}

/// The largest eigenvalue of Cov(θ) Cov(g), which that of the symmetric product is, by powers of it
/// on evenly spaced draws; the coordinate that has the largest part in it; and the number of draws.
fn narrowest(sample: &Sample, scores: &[f64], figures: &[Figures]) -> (f64, usize, usize) {
    let d = sample.dim();
    let all = sample.n_chains() * sample.n_draws();
    let stride = all.div_ceil(ROWS.max(ROWS_PER_COORDINATE * d)).max(1);
    // Coordinates in units of their own spread, and scores in its inverse.
    let rows = |values: &[f64], power: i32| -> Vec<f64> {
        let mut kept: Vec<f64> = values
            .chunks_exact(d)
            .step_by(stride)
            .flat_map(|row| {
                row.iter()
                    .zip(figures)
                    .map(|(x, f)| x * f.summary.sd.powi(power))
            })
            .collect();
        let n = (kept.len() / d) as f64;
        for i in 0..d {
            let centre = kept.iter().skip(i).step_by(d).sum::<f64>() / n;
            kept.iter_mut()
                .skip(i)
                .step_by(d)
                .for_each(|x| *x -= centre);
        }
        kept
    };
    let (x, g) = (rows(sample.values(), -1), rows(scores, 1));
    let n = x.len() / d;
    // A start with a part along every direction.
    let mut v: Vec<f64> = (1..=d)
        .map(|i| 0.5 + (i as f64 * 0.618_034).fract())
        .collect();
    let (mut eigenvalue, mut part) = (0.0, 0);
    for _ in 0..100 {
        let size = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        v.iter_mut().for_each(|v| *v /= size);
        let along = covariance_times(&g, &v);
        let next = covariance_times(&x, &along);
        let shares = v.iter().zip(&along).map(|(v, a)| v * a);
        part = (0..d)
            .zip(shares)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |p| p.0);
        let before = eigenvalue;
        eigenvalue = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        v = next;
        let still = (eigenvalue - before).abs() <= 1e-3 * eigenvalue;
        if still || eigenvalue.is_nan() {
            break;
        }
    }
    (eigenvalue, part, n)
}

/// Σ row (row · v) / n.
fn covariance_times(rows: &[f64], v: &[f64]) -> Vec<f64> {
    let d = v.len();
    let mut out = vec![0.0; d];
    for row in rows.chunks_exact(d) {
        let along: f64 = row.iter().zip(v).map(|(x, v)| x * v).sum();
        for (out, x) in out.iter_mut().zip(row) {
            *out += along * x;
        }
    }
    let n = (rows.len() / d) as f64;
    out.iter_mut().for_each(|x| *x /= n);
    out
}
