//! What a verdict costs: the time of one thread for 64 chains of 300 draws in 20 coordinates.
//!
//! `cargo run --release -p langevin --example verdict -- [chains] [draws] [coordinates] [correlation]`

use langevin::rng::{Rng, Stream};
use langevin::stat::{Sample, Verdict};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<f64> = std::env::args()
        .skip(1)
        .map(|x| x.parse())
        .collect::<Result<_, _>>()?;
    let size = |i: usize, otherwise: usize| given.get(i).map_or(otherwise, |x| *x as usize);
    let (n_chains, n_draws, dim) = (size(0, 64), size(1, 300), size(2, 20));
    let correlation = given.get(3).map_or(0.3, |x| *x);
    let mut rng = Rng::new(1, 0, Stream::Setup);
    let innovation = (1.0 - correlation * correlation).sqrt();
    let mut values = vec![];
    for _ in 0..n_chains {
        let mut state: Vec<f64> = (0..dim).map(|_| rng.normal()).collect();
        for _ in 0..n_draws {
            // One move in ten or so is rejected, as in a run.
            if rng.normal() < 1.3 {
                for x in &mut state {
                    *x = correlation * *x + innovation * rng.normal();
                }
            }
            values.extend_from_slice(&state);
        }
    }
    let sample = Sample::new(&values, n_chains, n_draws, dim)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        let mut best = f64::INFINITY;
        for _ in 0..30 {
            let begin = Instant::now();
            let verdict = std::hint::black_box(Verdict::new(&sample));
            best = best.min(begin.elapsed().as_secs_f64());
            assert_eq!(verdict.coordinates.len(), dim);
        }
        println!("{n_chains} × {n_draws} × {dim}: {:.2} ms", 1e3 * best);
        let f = Verdict::new(&sample).coordinates[0];
        println!("{f:?}");
    });
    Ok(())
}
