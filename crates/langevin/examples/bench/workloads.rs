//! What the workloads run.

use langevin::catalog::{MetricChoice, Model, System};
use langevin::chain::Start;
use langevin::models::{Ica, LinearGaussian, LogisticRegression, NormalParameters};
use langevin::skew::SkewMatrix;
use nalgebra::DMatrix;

use crate::{Failure, Request};

/// What a workload runs.
pub struct Workload {
    pub model: Model,
    pub system: System,
    pub step_size: f64,
    pub batch_size: usize,
    pub start: Start,
    pub steps: u64,
    pub burn_in: u64,
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

/// The workload that a request names.
pub fn workload(request: &Request) -> Result<Workload, Failure> {
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
