//! The library's side of the benchmark: answers requests of `bench/harness.py`, one JSON line each.
//!
//! `--workload NAME --chains M --steps K …` runs a workload; `--floor` measures the time of its
//! random numbers and of the transcendental functions of its score alone; `--serve` reads requests
//! from standard input.

use std::hint::black_box;
use std::io::BufRead;
use std::time::Instant;

use langevin::batch::Gradient;
use langevin::catalog::{Measure, MetricChoice, Model, System, run};
use langevin::chain::{Control, Plan, Start};
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::real::{Isa, Kernel, Lanes};
use langevin::record::Observable;
use langevin::rng::{Rng, Stream};
use langevin::skew::SkewMatrix;
use langevin::stat::ksd;
use langevin::stat::running::log_spaced;
use nalgebra::DMatrix;
use rayon::prelude::*;
use serde_json::{Value, json};

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

/// What a workload runs.
struct Workload {
    model: Model,
    system: System,
    step_size: f64,
    batch_size: usize,
    start: Start,
    steps: u64,
    burn_in: u64,
}

/// Counts per step that make the floor.
struct Floor {
    normals: usize,
    words: usize,
    logistics: usize,
    tanhs: usize,
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

/// The numbers of a CSV file with one header line, row by row, and the number of columns.
fn read_csv(path: &str) -> Result<(Vec<f64>, usize), Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut values = vec![];
    let mut width = 0;
    for line in text.lines().skip(1).filter(|l| !l.is_empty()) {
        let row: Result<Vec<f64>, _> = line.split(',').map(|x| x.trim().parse()).collect();
        let row = row.map_err(|e| format!("{path}: {e}"))?;
        width = row.len();
        values.extend(row);
    }
    Ok((values, width))
}

/// Features of the training rows, z-scored over all rows, and labels.
fn credit() -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let (table, width) = read_csv("data/german-credit.csv")?;
    let rows: Vec<&[f64]> = table.chunks_exact(width).collect();
    let n = rows.len() as f64;
    let mut scored: Vec<Vec<f64>> = rows.iter().map(|r| r[..20].to_vec()).collect();
    for c in 0..20 {
        let mean = rows.iter().map(|r| r[c]).sum::<f64>() / n;
        let variance = rows.iter().map(|r| (r[c] - mean).powi(2)).sum::<f64>() / (n - 1.0);
        for row in &mut scored {
            row[c] = (row[c] - mean) / variance.sqrt();
        }
    }
    let train = || rows.iter().zip(&scored).filter(|(r, _)| r[21] == 1.0);
    Ok((
        train().flat_map(|(_, x)| x.clone()).collect(),
        train().map(|(r, _)| r[20]).collect(),
    ))
}

fn workload(request: &Request) -> Result<Workload, Failure> {
    let (family, system) = request.workload.split_once('-').ok_or("unknown workload")?;
    let name = match system {
        "ld" => "LD",
        "rm" => "RM",
        "giirr" => "GiIrr",
        _ => return Err(format!("unknown workload {}", request.workload).into()),
    };
    let seed = request.seed;
    let (model, j, step_size, batch_size, start, steps, burn_in) = match family {
        "gaussian" => {
            let (x, _) = read_csv("bench/data/linear-gaussian-observations.csv")?;
            let (prior, _) = read_csv("bench/data/linear-gaussian-prior.csv")?;
            let noise = DMatrix::identity(3, 3) * 0.25;
            let prior = DMatrix::from_row_slice(3, 3, &prior);
            let model = Model::LinearGaussian(LinearGaussian::new(x, &noise, &prior)?);
            let j = SkewMatrix::sign_pattern(3, 0.5)?;
            (model, j, 5e-3, 2, Start::Fixed(vec![0.0; 3]), 5000, 1000)
        }
        "normal" => {
            let (mut x, _) = read_csv("data/normal-observations.csv")?;
            if let Some(n) = request.n_data {
                x = x.iter().copied().cycle().take(n).collect();
            }
            let model = Model::Normal(NormalParameters::new(x)?);
            let j = SkewMatrix::sign_pattern(2, 2.0)?;
            (model, j, 1e-2, 6, Start::Fixed(vec![5.0, 20.0]), 5000, 1000)
        }
        "logistic" => {
            let (x, y) = credit()?;
            let d = request.dim.unwrap_or(20);
            let n = request.n_data.unwrap_or(y.len());
            // Growth is measured on data repeated or cut to size.
            let row = |i: usize| (0..d).map(move |c| (i % 400) * 20 + c % 20);
            let features = (0..n).flat_map(row).map(|at| x[at]).collect();
            let labels: Vec<f64> = y.iter().copied().cycle().take(n).collect();
            let model = Model::Logistic(LogisticRegression::new(features, d, &labels, 1.0)?);
            let j = match d {
                20 => {
                    let (j, _) = read_csv("bench/data/logistic-skew.csv")?;
                    SkewMatrix::new(&DMatrix::from_row_slice(20, 20, &j))?
                }
                _ => SkewMatrix::random_signs(d, 1)?,
            };
            let (h, steps) = if name == "LD" {
                (5e-4, 2500)
            } else {
                (1e-3, 500)
            };
            (
                model,
                j,
                h,
                10,
                Start::Fixed(vec![0.0; d]),
                steps,
                steps / 5,
            )
        }
        "ica" => {
            let (mut x, _) = read_csv("data/ica-observations.csv")?;
            if let Some(n) = request.n_data {
                x = x.iter().copied().cycle().take(3 * n).collect();
            }
            let ica = Ica::new(x, 3, 1.0)?;
            let j = SkewMatrix::kronecker_signs(3)?;
            let starts = (0..request.chains as u64).map(|c| ica.random_signs(seed, c));
            let start = Start::PerChain(starts.collect());
            (Model::Ica(ica), j, 1e-4, 40, start, 2000, 500)
        }
        _ => return Err(format!("unknown workload {}", request.workload).into()),
    };
    let metric = MetricChoice::of_paper(&model);
    Ok(Workload {
        system: System::named(name, metric, j)?,
        model,
        step_size,
        batch_size,
        start,
        steps,
        burn_in,
    })
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
        .gradient(Gradient::Minibatch {
            batch_size: w.batch_size,
            with_replacement: request.replacement,
        })
        .start(w.start.clone())
        .seed(request.seed)
        .threads(request.threads);
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
    let (outcome, seconds, cpu) =
        timed(|| run(&w.model, &w.system, &plan, &measure, Control::default()));
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
        "diverged": outcome.divergences.len(), "rss_mb": peak_rss_mb(),
    }))
}

/// The random numbers and transcendental functions of a block of steps, and nothing else.
struct FloorKernel<'a> {
    counts: &'a Floor,
    steps: u64,
    chain: u64,
}

impl Kernel for FloorKernel<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let c = self.counts;
        let mut noise = Rng::<L>::for_chains(1, self.chain, Stream::Noise);
        let mut batch = Rng::<L>::for_chains(1, self.chain, Stream::Batch);
        let block = 32;
        let mut normals = vec![L::zero(); block * c.normals];
        let mut values = vec![L::of(0.3); c.logistics.max(c.tanhs)];
        for _ in 0..self.steps / block as u64 {
            noise.fill_normals(&mut normals);
            black_box(&mut normals);
            for _ in 0..block {
                for _ in 0..c.words {
                    black_box(batch.next_word());
                }
                for value in &mut values[..c.logistics] {
                    *value = value.logistic();
                }
                L::tanh_half_all(&mut values[..c.tanhs]);
                black_box(&mut values);
            }
        }
    }
}

fn floor_answer(request: &Request) -> Result<Value, Failure> {
    let w = workload(request)?;
    let d = w.model.dim();
    let state_dependent = w.system.metric != MetricChoice::Identity;
    let counts = match &w.model {
        // Few rows take a quarter of a word each (see `batch`).
        Model::LinearGaussian(_) | Model::Normal(_) => Floor {
            normals: d,
            words: w.batch_size.div_ceil(4),
            logistics: 0,
            tanhs: 0,
        },
        Model::Logistic(m) => Floor {
            normals: if state_dependent { 2 * d } else { d },
            words: w.batch_size.div_ceil(2),
            logistics: w.batch_size
                + if state_dependent {
                    langevin::target::Target::n_data(m)
                } else {
                    0
                },
            tanhs: 0,
        },
        Model::Ica(_) => Floor {
            normals: d,
            words: w.batch_size.div_ceil(2),
            logistics: 0,
            tanhs: w.batch_size * 3,
        },
    };
    let steps = if request.steps > 0 {
        request.steps
    } else {
        w.steps
    };
    let isa = Isa::detect();
    let width = isa.fitting_width(request.chains);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(request.threads)
        .build()?;
    let groups = request.chains.div_ceil(width) as u64;
    let work = || {
        (0..groups).into_par_iter().for_each(|g| {
            let kernel = FloorKernel {
                counts: &counts,
                steps,
                chain: g * width as u64,
            };
            isa.run(width, kernel);
        });
    };
    let ((), seconds, cpu) = timed(|| pool.install(work));
    Ok(json!({
        "peer": "floor", "workload": request.workload, "precision": "f64",
        "threads": request.threads, "chains": request.chains, "steps": steps,
        "seconds": seconds, "cpu_seconds": cpu,
        "rate": request.chains as f64 * steps as f64 / seconds,
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
