//! Times of the kernels alone: random numbers, elementary functions, minibatches, KSD.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use langevin::batch::{BatchSampler, Gradient};
use langevin::real::{BitLanes, Isa, Kernel, Lanes, Real};
use langevin::rng::{Rng, Stream};
use langevin::stat::ksd;

/// Packs per call of a kernel.
const PACKS: usize = 256;

/// Fills a buffer with normal numbers.
struct Normals;

impl Kernel for Normals {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut rng = Rng::<L>::for_chains(1, 0, Stream::Noise);
        let mut out = [L::zero(); PACKS];
        rng.fill_normals(&mut out);
        black_box(&out);
    }
}

/// Applies one elementary function to a buffer.
struct Function(&'static str);

impl Kernel for Function {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut x = [L::of(0.7); PACKS];
        black_box(&mut x);
        match self.0 {
            "exp" => x.iter_mut().for_each(|x| *x = Real::exp(*x)),
            "ln" => x.iter_mut().for_each(|x| *x = Real::ln(*x)),
            "tanh" => x.iter_mut().for_each(|x| *x = Real::tanh(*x)),
            _ => x.iter_mut().for_each(|x| *x = Real::logistic(*x)),
        }
        black_box(&x);
    }
}

/// Draws minibatches of n of N rows.
struct Batches(usize, usize);

impl Kernel for Batches {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut rng = Rng::<L>::for_chains(1, 0, Stream::Batch);
        let mut rows = vec![L::Bits::of(0); 16 * self.0];
        if let Some(mut batches) = BatchSampler::new(Gradient::minibatch(self.0), self.1) {
            batches.fill::<L>(&mut rng, &mut rows);
        }
        black_box(&rows);
    }
}

fn lanes(c: &mut Criterion) {
    for isa in Isa::available() {
        let width = isa.width();
        let mut group = c.benchmark_group(format!("{isa:?}"));
        group.throughput(Throughput::Elements((PACKS * width) as u64));
        group.bench_function("normals", |b| b.iter(|| isa.run(width, Normals)));
        for name in ["exp", "ln", "tanh", "logistic"] {
            group.bench_function(name, |b| b.iter(|| isa.run(width, Function(name))));
        }
        group.throughput(Throughput::Elements(16 * width as u64));
        for (n, n_data) in [(2, 10), (6, 30), (10, 400), (40, 400)] {
            let name = format!("batch of {n} of {n_data}");
            group.bench_function(name, |b| b.iter(|| isa.run(width, Batches(n, n_data))));
        }
        group.finish();
    }
}

fn discrepancy(c: &mut Criterion) {
    let (points, dim) = (2000, 9);
    let x: Vec<f64> = (0..points * dim)
        .map(|k| (k as f64 * 0.618).fract() - 0.5)
        .collect();
    let scores: Vec<f64> = x.iter().map(|x| -x).collect();
    let mut group = c.benchmark_group("ksd");
    group.throughput(Throughput::Elements((points * points) as u64));
    group.bench_function("curve of 2000 points", |b| {
        b.iter(|| ksd::ksd_curve(&x, &scores, dim, ksd::Kernel::default()));
    });
    group.finish();
}

criterion_group!(kernels, lanes, discrepancy);
criterion_main!(kernels);
