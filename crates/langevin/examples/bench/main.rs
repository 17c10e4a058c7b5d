//! The library's side of the benchmark: answers requests of `bench/harness.py`, one JSON line each.
//!
//! `--workload NAME --chains M --steps K …` runs a workload; `--floor` measures the time of its
//! random numbers and of the transcendental functions of its score alone; `--serve` reads requests
//! from standard input.

mod floor;
mod workloads;

use std::io::BufRead;
use std::time::Instant;

use langevin::batch::Gradient;
use langevin::catalog::{Measure, run};
use langevin::chain::{Control, Plan};
use langevin::record::Observable;
use langevin::stat::ksd;
use langevin::stat::running::log_spaced;
use serde_json::{Value, json};

use floor::floor_answer;
use workloads::workload;

type Failure = Box<dyn std::error::Error>;

/// One request.
#[derive(Clone, Debug)]
struct Request {
    workload: String,
    chains: usize,
    steps: u64,
    burn_in: u64,
    seed: u64,
    threads: usize,
    replacement: bool,
    floor: bool,
    /// Rows of the data and features to use, for measuring growth.
    n_data: Option<usize>,
    dim: Option<usize>,
    /// All recorders of the paper: running averages at log-spaced steps, 20 batches and moments.
    paper_record: bool,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--serve"] {
        for line in std::io::stdin().lock().lines() {
            let words: Vec<String> = line?.split_whitespace().map(str::to_owned).collect();
            println!("{}", answer(&words)?);
        }
    } else {
        println!("{}", answer(&arguments)?);
    }
    Ok(())
}

fn answer(arguments: &[String]) -> Result<Value, Failure> {
    let request = parse(arguments)?;
    if request.workload.starts_with("ksd") {
        return match request.floor {
            true => Ok(Value::Null),
            false => ksd_answer(&request),
        };
    }
    if request.floor {
        return floor_answer(&request);
    }
    chain_answer(&request)
}

fn parse(arguments: &[String]) -> Result<Request, Failure> {
    let mut request = Request {
        workload: String::new(),
        chains: 256,
        steps: 0,
        burn_in: u64::MAX,
        seed: 1,
        threads: 2,
        replacement: false,
        floor: false,
        n_data: None,
        dim: None,
        paper_record: false,
    };
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        match flag.as_str() {
            "--replacement" => request.replacement = true,
            "--floor" => request.floor = true,
            _ => {
                let value = rest.next().ok_or(format!("{flag} needs a value"))?;
                match flag.as_str() {
                    "--workload" => request.workload = value.clone(),
                    "--chains" => request.chains = value.parse()?,
                    "--steps" => request.steps = value.parse()?,
                    "--burn-in" => request.burn_in = value.parse()?,
                    "--seed" => request.seed = value.parse()?,
                    "--threads" => request.threads = value.parse()?,
                    "--n-data" => request.n_data = Some(value.parse()?),
                    "--dim" => request.dim = Some(value.parse()?),
                    "--record" => request.paper_record = value == "paper",
                    "--precision" if value == "f64" => {}
                    _ => return Err(format!("unknown request {flag} {value}").into()),
                }
            }
        }
    }
    Ok(request)
}

/// Runs something and tells wall and processor time.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let value = work();
    (value, start.elapsed().as_secs_f64(), cpu_seconds() - cpu)
}

fn chain_answer(request: &Request) -> Result<Value, Failure> {
    let w = workload(request)?;
    let steps = if request.steps > 0 {
        request.steps
    } else {
        w.steps
    };
    // The same share of a run is left out whatever its length.
    let burn_in = match request.burn_in {
        u64::MAX => steps * w.burn_in / w.steps,
        given => given,
    };
    let plan = Plan::new(steps, w.step_size)
        .chains(request.chains)
        .start(w.start.clone())
        .seed(request.seed)
        .threads(request.threads);
    let gradient = Gradient::Minibatch {
        batch_size: w.batch_size,
        with_replacement: request.replacement,
    };
    let mut measure = Measure {
        observables: vec![Observable::Sum, Observable::SumOfSquares],
        marks: vec![burn_in, steps],
        ..Measure::default()
    };
    if request.paper_record {
        let batch = (steps - burn_in) / 20;
        measure.marks.extend((0..=20).map(|i| burn_in + i * batch));
        let curve = log_spaced(steps as usize, 10)?;
        measure.marks.extend(curve.iter().map(|k| *k as u64));
        measure.moments_from = Some(burn_in);
    }
    let control = Control::default();
    let (outcome, seconds, cpu) =
        timed(|| run(&w.model, &w.system, gradient, &plan, &measure, control));
    let outcome = outcome?;
    let mean = |k: usize| {
        let average = |(_, r, lane): (u64, &langevin::catalog::Measurement, usize)| {
            r.averages.as_ref()?.between(burn_in, steps, k, lane)
        };
        let values: Vec<f64> = outcome.healthy().filter_map(average).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        (mean, (square / (n - 1.0) / n).sqrt())
    };
    let ((phi1, phi1_se), (phi2, phi2_se)) = (mean(0), mean(1));
    Ok(json!({
        "peer": "langevin", "workload": request.workload, "precision": "f64",
        "replacement": request.replacement, "threads": request.threads,
        "chains": request.chains, "steps": steps, "burn_in": burn_in,
        "seconds": seconds, "cpu_seconds": cpu,
        "rate": request.chains as f64 * steps as f64 / seconds,
        "phi1": phi1, "phi1_se": phi1_se, "phi2": phi2, "phi2_se": phi2_se,
        "escaped": outcome.escapes.len(), "rss_mb": peak_rss_mb(),
    }))
}

fn ksd_answer(request: &Request) -> Result<Value, Failure> {
    let default = if request.workload == "ksd-1e5" {
        100_000
    } else {
        10_000
    };
    let points = if request.steps > 0 {
        request.steps as usize
    } else {
        default
    };
    let dim = 9;
    let entry = |k: usize| 4.0 * (k as f64 * 0.618_033_988_749_894_9).fract() - 2.0;
    let x: Vec<f64> = (0..points * dim).map(entry).collect();
    let scores: Vec<f64> = x.iter().map(|x| -x).collect();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(request.threads)
        .build()?;
    let kernel = ksd::Kernel::default();
    // As the numba program does: what is timed is not the start of the process.
    let warm = dim * points.min(10_000);
    pool.install(|| ksd::ksd_curve(&x[..warm], &scores[..warm], dim, kernel))?;
    let (curve, seconds, cpu) = timed(|| pool.install(|| ksd::ksd_curve(&x, &scores, dim, kernel)));
    let last = curve?.last().copied();
    Ok(json!({
        "peer": "langevin", "workload": request.workload, "precision": "f64",
        "threads": request.threads, "points": points, "seconds": seconds, "cpu_seconds": cpu,
        "ns_per_pair": 1e9 * seconds / (points as f64 * points as f64), "ksd": last,
        "rss_mb": peak_rss_mb(),
    }))
}

/// User and system time of this process, where the system tells it.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |i: usize| {
        fields
            .get(i)
            .and_then(|x| x.parse::<f64>().ok())
            .unwrap_or(f64::NAN)
    };
    (ticks(11) + ticks(12)) / 100.0
}

/// Largest resident memory so far, where the system tells it.
fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kb| kb / 1024.0)
}
