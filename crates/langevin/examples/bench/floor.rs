//! The time of a workload's random numbers and transcendental functions alone.

use std::hint::black_box;

use langevin::catalog::{MetricChoice, Model};
use langevin::real::{Isa, Kernel, Lanes};
use langevin::rng::{Rng, Stream};
use langevin::target::Subsampled;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::workloads::workload;
use crate::{Failure, Request, timed};

/// Counts per step that make the floor.
struct Floor {
    normals: usize,
    words: usize,
    logistics: usize,
    tanhs: usize,
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

/// Answers a request for the floor.
pub fn floor_answer(request: &Request) -> Result<Value, Failure> {
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
            logistics: w.batch_size + if state_dependent { m.n_data() } else { 0 },
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
