//! Every target as users would sample it, with all defaults.
//!
//! `cargo run --release -p langevin-posteriors --example zoo -- [names] [seeds=2] [first=1]
//! [max_time=20] [chains=16] [check=false] [figures]`. One line for each run: why it ended, effective draws, gradients of warm-up
//! and draws, seconds, by how many errors means and standard deviations are off at most, warnings.
//! The rule: where nothing is warned of, everything is within 4 errors (more where hundreds of
//! coordinates are looked at, see `trial::limit`), and bad targets are refused or warned of.

use std::time::{Duration, Instant};

use langevin::chain::Control;
use langevin_posteriors::{Expect, bad_names, names, own, trial};
use langevin_run::posterior::{Drawn, Settings, Wanted, draw};

/// What warnings are made of.
fn tell_figures(drawn: &Drawn) {
    let verdict = &drawn.judged.verdict;
    let n = drawn.kept.n_draws() as f64;
    let chains = &verdict.chains;
    let large = chains.iter().map(|c| c.large_errors as f64).sum::<f64>() / n / chains.len() as f64;
    let mut accepts: Vec<f64> = chains.iter().filter_map(|c| c.acceptance).collect();
    accepts.sort_unstable_by(f64::total_cmp);
    let longest = chains.iter().map(|c| c.longest_run).max();
    let off = verdict.scores.as_ref().map(|s| {
        let worst = |of: &[(f64, f64)]| {
            let z = of.iter().map(|(mean, error)| (mean.abs() / error, *mean));
            z.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
        };
        (s.eigenvalue, worst(&s.identity), worst(&s.mean))
    });
    let tail = verdict
        .coordinates
        .iter()
        .map(|f| f.tail.index)
        .fold(f64::NAN, f64::max);
    let last = drawn.warm_up.windows.last().map(|w| {
        (
            w.angle,
            w.leaps,
            w.curvature,
            w.acceptance,
            w.lowest_acceptance,
        )
    });
    println!(
        "      n {n} large {:.3} %, acceptance {:.3} to {:.3}, longest run {longest:?}, tail {tail:.2}, eigenvalue and identities {off:.2?}, log density rhat {:.3}, moved {}, converged {}, angle leaps curvature acceptance {last:.2?}",
        100.0 * large,
        accepts[0],
        accepts[accepts.len() - 1],
        verdict
            .log_density
            .as_ref()
            .map_or(f64::NAN, |f| f.nested_rhat),
        drawn.warm_up.relocated(),
        drawn.warm_up.converged,
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut seeds, mut first, mut max_time, mut chains, mut check) = (2, 1, 20.0, None, true);
    let (mut chosen, mut figures) = (vec![], false);
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("seeds", n)) => seeds = n.parse()?,
            Some(("first", n)) => first = n.parse()?,
            Some(("max_time", n)) => max_time = n.parse()?,
            Some(("chains", n)) => chains = Some(n.parse()?),
            Some(("check", n)) => check = n.parse()?,
            _ if argument == "figures" => figures = true,
            _ => chosen.push(argument),
        }
    }
    if chosen.is_empty() {
        let all = names().iter().chain(bad_names());
        chosen = all.map(ToString::to_string).collect();
    }
    let (mut broken, mut sound, mut silent) = (vec![], 0, 0);
    for name in &chosen {
        let Some((target, truth)) = own::by_name(name)? else {
            println!("there is no target {name}");
            continue;
        };
        for seed in first..first + seeds {
            let wanted = Wanted {
                max_time: Duration::from_secs_f64(max_time),
                n_chains: chains,
                check,
                ..Wanted::new(seed)
            };
            let settings = Settings {
                cache: None,
                threads: 1,
                control: Control::default(),
                tell: None,
            };
            let began = Instant::now();
            let drawn = match draw(&target, &wanted, settings) {
                Ok(drawn) => drawn,
                Err(e) => {
                    println!("{name:<22} {seed} refused: {e}");
                    if truth.expect != Expect::Warned {
                        broken.push(format!("{name}/{seed}"));
                    }
                    continue;
                }
            };
            let seconds = began.elapsed().as_secs_f64();
            let (warned, off) = (
                trial::is_warned(&drawn),
                trial::worst_errors(&drawn, &truth),
            );
            let (z_mean, z_sd) = off.unwrap_or((f64::NAN, f64::NAN));
            let limit = trial::limit(2 * truth.dim);
            let right = off.is_some_and(|(a, b)| a <= limit && b <= limit);
            if truth.expect == Expect::Right {
                sound += 1;
                silent += usize::from(!warned);
            }
            let bad = !warned && (!right || truth.expect == Expect::Warned);
            if bad {
                broken.push(format!("{name}/{seed}"));
            }
            let costs = &drawn.costs;
            println!(
                "{name:<22} {seed} {:<10} ess {:>7} gradients {:>8} + {:>9}  {seconds:>6.2} s ({:.2} warm-up, {:.2} looking)  z {z_mean:>5.2} {z_sd:>5.2}  rhat {:.3}{}{}{}",
                format!("{:?}", drawn.why),
                drawn
                    .judged
                    .ess
                    .map_or("-".into(), |ess| format!("{ess:.0}")),
                costs.warm_up_gradients,
                costs.gradients,
                costs.warm_up_seconds,
                costs.looking_seconds,
                drawn.judged.rhat(),
                if drawn.warm_up.hard { " hard" } else { "" },
                if right { "" } else { " OFF" },
                if bad { " BROKEN" } else { "" },
            );
            if figures {
                tell_figures(&drawn);
            }
            for warning in &drawn.judged.warnings {
                println!("      ! {warning}");
            }
        }
    }
    println!("nothing said on {silent} of {sound} runs that are sound");
    println!("{} runs broke the rule: {broken:?}", broken.len());
    Ok(())
}
