//! Simulation-based calibration of runs with all defaults but 400 effective draws.
//!
//! `cargo run --release -p langevin-posteriors --example calibrate -- [n=500] [longer=5] [inflation=1]
//! [seed=1]`. For each parameter: χ² over 20 bins and √n times Kolmogorov and Smirnov's distance,
//! each above its limit with probability 10⁻⁴; and how well stated errors cover the differences to
//! longer runs.

use langevin_posteriors::calibrate::{LIMITS, calibrate, spread};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut n, mut longer, mut inflation, mut seed) = (500, 5, 1.0, 1);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("n", value)) => n = value.parse()?,
            Some(("longer", value)) => longer = value.parse()?,
            Some(("inflation", value)) => inflation = value.parse()?,
            Some(("seed", value)) => seed = value.parse()?,
            _ => return Err(format!("{argument} is not known").into()),
        }
    }
    let all = calibrate(n, longer, inflation, 1000 * seed)?;
    let mut red = 0;
    for c in &all {
        println!("{}: {} of {n} runs warned", c.model, c.warned);
        for (i, (squares, distance)) in c.uniformity().into_iter().enumerate() {
            let bad = squares > LIMITS.0 || distance > LIMITS.1;
            red += usize::from(bad);
            println!(
                "  theta[{i}]: chi-square {squares:>5.1}, distance {distance:.3}{}",
                if bad { "  RED" } else { "" }
            );
        }
        let z = &c.differences;
        if !z.is_empty() {
            let share = |limit: f64| {
                let within = z.iter().filter(|z| z.abs() < limit).count();
                100.0 * within as f64 / z.len() as f64
            };
            let square = z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64;
            let largest = z.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            println!(
                "  errors of {} means and standard deviations: mean square {square:.3}, within 1.96 \
                 {:.1} %, within 2.58 {:.1} %, largest {largest:.2}",
                z.len(),
                share(1.96),
                share(2.58),
            );
        }
    }
    let (mean, error) = spread(&all);
    println!(
        "squared scores less 1: {mean:.4} with error {error:.4}, z {:.2}",
        mean / error
    );
    println!("{red} red (limits {LIMITS:?}, each 1e-4)");
    Ok(())
}
