//! Rows of minibatches.

use langevin::batch::{BatchSampler, Gradient};
use langevin::real::{BitLanes, Lanes};
use langevin::rng::{Rng, Stream};

use super::chi_square_z;

/// The batches of one chain.
fn batches(gradient: Gradient, n_data: usize, n: usize) -> Vec<Vec<u64>> {
    let mut sampler = BatchSampler::new(gradient, n_data).unwrap();
    let mut rng = Rng::<f64>::new(5, 0, Stream::Batch);
    let mut rows = vec![<f64 as Lanes>::Bits::of(0); n * sampler.batch_size()];
    sampler.fill::<f64>(&mut rng, &mut rows);
    rows.chunks_exact(sampler.batch_size())
        .map(|b| b.iter().map(|w| w.0).collect())
        .collect()
}

#[test]
fn batches_without_replacement_are_uniform_sets() {
    // All 45 pairs of 10 rows, and all 20 triples of 6 rows, are equally likely.
    for (n_data, size) in [(10_usize, 2_usize), (6, 3)] {
        let mut counts = std::collections::BTreeMap::new();
        for mut batch in batches(Gradient::minibatch(size), n_data, 450_000) {
            batch.sort_unstable();
            let distinct = batch.windows(2).all(|w| w[0] < w[1]);
            assert!(
                distinct && batch.iter().all(|r| *r < n_data as u64),
                "{batch:?}"
            );
            *counts.entry(batch).or_insert(0) += 1;
        }
        let n_sets = if size == 2 { 45 } else { 20 };
        assert_eq!(counts.len(), n_sets);
        let z = chi_square_z(&counts.values().copied().collect::<Vec<_>>());
        assert!(z < 6.0, "{size} of {n_data}: z = {z}");
    }
    // Negative control: dropping every hundredth batch that holds row 0 is noticed.
    let mut counts = [0; 10];
    for (i, batch) in batches(Gradient::minibatch(1), 10, 450_000)
        .iter()
        .enumerate()
    {
        counts[if batch[0] == 0 && i % 10 == 0 {
            1
        } else {
            batch[0] as usize
        }] += 1;
    }
    assert!(chi_square_z(&counts) > 6.0);
}

#[test]
fn every_row_is_equally_likely_in_any_kind_of_batch() {
    let with = |batch_size| Gradient::Minibatch {
        batch_size,
        with_replacement: true,
    };
    for (gradient, n_data) in [
        (with(7), 30),
        (with(3), 5000),
        (Gradient::minibatch(40), 400),
        (Gradient::minibatch(10), 5000),
        (Gradient::minibatch(400), 400),
        (Gradient::minibatch(64), 64),
        (Gradient::minibatch(64), 100),
        (Gradient::minibatch(3), 40_000),
        (Gradient::minibatch(100), 5000),
        (with(100), 40_000),
    ] {
        let mut counts = vec![0; n_data];
        for mut batch in batches(gradient, n_data, 40_000) {
            batch.iter().for_each(|r| counts[*r as usize] += 1);
            if let Gradient::Minibatch {
                with_replacement: false,
                ..
            } = gradient
            {
                batch.sort_unstable();
                assert!(batch.windows(2).all(|w| w[0] < w[1]), "{batch:?}");
            }
        }
        let z = chi_square_z(&counts);
        assert!(z < 6.0, "{gradient:?} of {n_data}: z = {z}");
    }
}
