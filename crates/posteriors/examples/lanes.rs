//! What number of chains serves best, where an evaluation is arithmetic in lanes.
//!
//! `cargo run --release -p langevin-posteriors --example lanes -- [seeds=5]`. For models of the library,
//! milliseconds from cold to the default stop (and to 10 000 effective draws), with one thread and two.

use std::sync::Arc;
use std::time::Instant;

use langevin::catalog::Model;
use langevin::chain::Control;
use langevin::models::{Ica, LogisticRegression, NormalParameters};
use langevin::rng::{Rng, Stream};
use langevin_posteriors::regression::credit;
use langevin_run::posterior::{Settings, Wanted, draw};
use langevin_run::target::{Sampled, Target};

fn logistic(d: usize, n: usize) -> langevin::Result<Model> {
    let mut rng = Rng::<f64>::new(d as u64, 0, Stream::Setup);
    let features: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
    let label = |row: &[f64]| f64::from(row[0] + rng.normal() > 0.0);
    let labels: Vec<f64> = features.chunks_exact(d).map(label).collect();
    Ok(Model::Logistic(LogisticRegression::new(
        features, d, &labels, 1.0,
    )?))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seeds: u64 = match std::env::args().nth(1) {
        Some(text) => text.trim_start_matches("seeds=").parse()?,
        None => 5,
    };
    let mut rng = Rng::<f64>::new(1, 0, Stream::Setup);
    let normal = (0..30).map(|_| 1.0 + rng.normal()).collect();
    let sounds = (0..3 * 100).map(|_| rng.normal().powi(3)).collect();
    let models = [
        (
            "normal, d = 2",
            Model::Normal(NormalParameters::new(normal)?),
        ),
        ("logistic, d = 3", logistic(3, 50)?),
        ("credit, d = 21", Model::Logistic(credit())),
        ("logistic, d = 50", logistic(50, 500)?),
        ("ica, d = 9", Model::Ica(Ica::new(sounds, 3, 1.0)?)),
    ];
    for (name, model) in models {
        let target = Target::plain(Sampled::Model(Arc::new(model)))?;
        for (threads, goal) in [(1, None), (2, None), (2, Some(10_000.0))] {
            print!("{name:<18} threads {threads} goal {goal:?}:");
            for n_chains in [8, 16, 32, 64] {
                let began = Instant::now();
                for seed in 0..seeds {
                    let wanted = Wanted {
                        n_chains: Some(n_chains),
                        min_ess: goal,
                        max_time: std::time::Duration::from_secs(3),
                        ..Wanted::new(seed)
                    };
                    let settings = Settings {
                        cache: None,
                        threads,
                        control: Control::default(),
                        tell: None,
                    };
                    draw(&target, &wanted, settings)?;
                }
                let ms = 1e3 * began.elapsed().as_secs_f64() / seeds as f64;
                print!("  {n_chains} chains {ms:.1} ms");
            }
            println!();
        }
    }
    Ok(())
}
