//! German credit from cold: warm-up, and effective draws for a second of one core.
//!
//! `cargo run --release -p langevin --example credit -- [chains] [goal]`

use langevin::adapt::{Settings, Starts, warm_up};
use langevin::chain::{How, Records};
use langevin::models::LogisticRegression;
use langevin::oracle::Exact;
use langevin::record::Draws;
use langevin::stat;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let n_chains: usize = arguments.next().map_or(Ok(64), |x| x.parse())?;
    let goal: f64 = arguments.next().map_or(Ok(10_000.0), |x| x.parse())?;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/german-credit.csv");
    let text = std::fs::read_to_string(path)?;
    let (mut features, mut labels, mut dim) = (vec![], vec![], 0);
    // The training rows, 20 features each, scaled to mean 0 and variance 1.
    for line in text.lines() {
        let row: Option<Vec<f64>> = line.split(',').map(|x| x.trim().parse().ok()).collect();
        let Some(row) = row else { continue };
        let [x @ .., bad, train] = row.as_slice() else {
            continue;
        };
        if *train == 1.0 {
            dim = x.len();
            features.extend_from_slice(x);
            labels.push(*bad);
        }
    }
    for i in 0..dim {
        let n = labels.len() as f64;
        let column = || features.iter().skip(i).step_by(dim);
        let mean = column().sum::<f64>() / n;
        let sd = (column().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        features
            .iter_mut()
            .skip(i)
            .step_by(dim)
            .for_each(|x| *x = (*x - mean) / sd);
    }
    let model = LogisticRegression::new(features, dim, &labels, 0.01)?;
    let oracle = Exact::new(&model);
    // In the calling thread alone.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| -> Result<(), langevin::RunError> {
        let how = How::default();
        println!("{} rows of {dim}", labels.len());
        let mut best = [f64::INFINITY; 2];
        for seed in 0..10 {
            let begin = Instant::now();
            let (starts, settings) = (Starts::Scattered(n_chains), Settings::default());
            let Some(mut warm) = warm_up(&oracle, seed, 0, &starts, &settings, &how)? else {
                return Ok(());
            };
            let warmed = begin.elapsed().as_secs_f64();
            let first = warm.chains.step();
            let record = || Draws::new(first, 1, usize::MAX);
            let mut records = Records::new(&warm.chains, &oracle, record);
            let n = 400;
            let begin = Instant::now();
            warm.chains.advance(&oracle, &warm.tuned, n, &mut records, &how)?;
            let sampled = begin.elapsed().as_secs_f64();
            let all: Vec<Vec<f64>> = records.chains().map(|(_, r, lane)| r.chain(lane)).collect();
            let mut worst = [f64::INFINITY; 3];
            for i in 0..dim {
                let column = all.iter().flat_map(|c| c.iter().skip(i).step_by(dim).copied());
                let values: Vec<f64> = column.collect();
                let draws = stat::Draws::new(&values, n_chains, n as usize)?;
                let ess = [stat::ess_bulk, stat::ess_tail, stat::ess_sd].map(|f| f(draws));
                (0..3).for_each(|k| worst[k] = worst[k].min(ess[k]));
            }
            let rates = worst.map(|ess| ess / sampled);
            let all = warmed + goal / worst[0].min(worst[1]).min(worst[2]) * sampled;
            best = [best[0].min(warmed), best[1].min(all)];
            println!(
                "warm-up {:.2} ms, {} gradients, angle {:.2}; {:.3} us a gradient; ESS/s bulk {:.0} tail {:.0} squares {:.0}; from cold to {goal} {:.2} ms",
                1e3 * warmed, warm.record.gradients, warm.tuned.angle(),
                1e6 * sampled / (n as f64 * n_chains as f64),
                rates[0], rates[1], rates[2], 1e3 * all
            );
        }
        println!("best: warm-up {:.2} ms, all {:.2} ms", 1e3 * best[0], 1e3 * best[1]);
        Ok(())
    })?;
    Ok(())
}
