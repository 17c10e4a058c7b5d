//! Makes the numbers of `reference.rs`: `cargo run --release -p langevin-posteriors --bin reference`,
//! with names of targets, or none for all that have no closed answer.
//!
//! Up to four dimensions by quadrature; above by long runs of MALA from dispersed starts, with the
//! errors that the draws have. `--check` compares with what is known instead.

use std::time::Instant;

use langevin::stat::verdict::Figures;
use langevin::stat::{Sample, Verdict};
use langevin::target::Target;
use langevin_posteriors::explore::{Effort, explore};
use langevin_posteriors::quadrature::Grid;
use langevin_posteriors::{Truth, Visit, visit};

/// Targets without a closed answer, with the number of draws per chain and the steps for each. Those
/// of "radon" are made those of "radon-centred", too: it is the same distribution.
const ALL: [(&str, u64, u64); 10] = [
    ("credit", 2000, 10),
    ("poisson", 4000, 4),
    ("autoregression-1", 0, 0),
    ("autoregression-2", 0, 0),
    ("garch", 0, 0),
    ("volatility", 2000, 40),
    ("item-response", 2000, 20),
    ("radon", 2000, 20),
    ("process", 0, 0),
    ("ordered-mixture", 4000, 6),
];

struct Make {
    n_draws: u64,
    thin: u64,
    check: bool,
}

impl Visit for Make {
    fn visit<T: Target>(&mut self, target: &T, truth: &Truth) {
        let clock = Instant::now();
        let rows = match self.n_draws {
            0 => by_quadrature(target),
            _ => by_draws(target, self.n_draws, self.thin, truth.name, self.check),
        };
        eprintln!("{}: {:.1} s", truth.name, clock.elapsed().as_secs_f64());
        if self.check {
            compare(truth, &rows);
            return;
        }
        print(truth.name, &rows);
    }
}

fn print(name: &str, rows: &[[f64; 4]]) {
    println!("    (\n        {name:?},\n        &[");
    for [mean, mean_error, sd, sd_error] in rows {
        println!("            [{mean:.6}, {mean_error:.1e}, {sd:.6}, {sd_error:.1e}],");
    }
    println!("        ],\n    ),");
}

/// The distances to what is known, in standard errors.
fn compare(truth: &Truth, rows: &[[f64; 4]]) {
    let Some(known) = &truth.moments else {
        return;
    };
    let (mut worst, mut place) = ([0.0f64; 2], [0; 2]);
    for (i, row) in rows.iter().enumerate() {
        let pairs = [
            (row[0], row[1], known.means[i]),
            (row[2], row[3], known.sds[i]),
        ];
        for (which, (value, error, known)) in pairs.into_iter().enumerate() {
            let z = (value - known.value).abs() / error.hypot(known.error);
            if z > worst[which] {
                (worst[which], place[which]) = (z, i);
            }
        }
    }
    println!(
        "{}: worst mean {:.1} errors off (coordinate {}), worst sd {:.1} (coordinate {})",
        truth.name, worst[0], place[0], worst[1], place[1]
    );
}

fn by_quadrature<T: Target>(target: &T) -> Vec<[f64; 4]> {
    let d = target.dim();
    let (reach, h) = if d == 3 { (12.0, 0.3) } else { (10.0, 0.5) };
    let Some(grid) = Grid::new(target, &vec![0.0; d], &vec![0.7; d], reach, h) else {
        eprintln!("no grid fits");
        return vec![];
    };
    let found = grid.moments();
    // A grid that is coarser by a fifth tells the error.
    let coarse = Grid::new(target, &vec![0.0; d], &vec![0.7; d], reach * 0.9, h * 1.2);
    let coarse = coarse.map_or_else(|| found.clone(), |grid| grid.moments());
    let row = |i: usize| {
        let (m, s) = (found.means[i].value, found.sds[i].value);
        let (m2, s2) = (coarse.means[i].value, coarse.sds[i].value);
        [m, (m - m2).abs().max(1e-7), s, (s - s2).abs().max(1e-7)]
    };
    (0..d).map(row).collect()
}

fn by_draws<T: Target>(
    target: &T,
    n_draws: u64,
    thin: u64,
    name: &str,
    check: bool,
) -> Vec<[f64; 4]> {
    let d = target.dim();
    let effort = Effort {
        n_chains: 64,
        window: 200,
        n_draws,
        thin,
        seed: 2026,
    };
    let found = match explore(target, &vec![0.0; d], 0.3, effort) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("{error}");
            return vec![];
        }
    };
    let sample = Sample::new(&found.draws, 64, n_draws as usize, d)
        .and_then(|s| s.with_scores(&found.scores))
        .and_then(|s| s.with_acceptance(&found.acceptance))
        .and_then(|s| s.with_log_densities(&found.log_densities));
    let Ok(sample) = sample else {
        return vec![];
    };
    let verdict = Verdict::new(&sample);
    eprintln!("ESS {:?} of {} draws", verdict.ess(), 64 * n_draws);
    verdict.warnings.iter().for_each(|w| eprintln!("{w}"));
    if let Some(scores) = &verdict.scores {
        eprintln!("largest eigenvalue {:.2}", scores.eigenvalue);
    }
    if name == "radon" && !check {
        let mut centred = found.draws.clone();
        for theta in centred.chunks_exact_mut(d) {
            let (mu, tau) = (theta[0], theta[2].exp());
            theta[4..].iter_mut().for_each(|u| *u = mu + tau * *u);
        }
        if let Ok(sample) = Sample::new(&centred, 64, n_draws as usize, d) {
            print("radon-centred", &rows_of(&Verdict::new(&sample)));
        }
    }
    rows_of(&verdict)
}

fn rows_of(verdict: &Verdict) -> Vec<[f64; 4]> {
    let row = |f: &Figures| {
        let s = f.summary;
        [s.mean, s.mcse_mean, s.sd, s.mcse_sd]
    };
    verdict.coordinates.iter().map(row).collect()
}

fn main() {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let check = names.iter().any(|n| n == "--check");
    names.retain(|n| n != "--check");
    if names.is_empty() {
        names = ALL.map(|x| x.0.to_string()).to_vec();
    }
    for name in names {
        let listed = ALL.iter().find(|x| x.0 == name);
        // Of targets with an exact answer a run of common length is compared with it.
        let (n_draws, thin) = listed.map_or((1000, 10), |x| (x.1, x.2));
        let mut make = Make {
            n_draws,
            thin,
            check,
        };
        if !visit(&name, &mut make) {
            eprintln!("there is no target {name:?}");
        }
    }
}
