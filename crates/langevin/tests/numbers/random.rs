//! Random words and normal numbers.

use langevin::real::{Isa, Kernel, Lanes};
use langevin::rng::{Rng, Stream};

use super::chi_square_z;
use super::common::{mean_and_error, normal_cdf};

#[test]
fn words_are_those_of_xoshiro256_plus_plus() {
    // The published algorithm, written out for one chain, from the state after one call.
    fn next(s: &mut [u64; 4]) -> u64 {
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }
    // First outputs for the state (1, 2, 3, 4), as listed in the test of the crate rand_xoshiro.
    let mut s = [1, 2, 3, 4];
    assert_eq!(next(&mut s), 41943041);
    assert_eq!(next(&mut s), 58720359);
    let mut rng = Rng::new(3, 5, Stream::Noise);
    let mut state = rng.state();
    for _ in 0..100 {
        assert_eq!(rng.next_word().0, next(&mut state));
    }
}

#[test]
fn streams_of_seeds_chains_and_purposes_differ() {
    let mut firsts = vec![];
    for seed in 0..20 {
        for chain in 0..20 {
            for stream in [Stream::Noise, Stream::Batch, Stream::Start, Stream::Setup] {
                firsts.push(Rng::new(seed, chain, stream).next_word().0);
            }
        }
    }
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 20 * 20 * 4);
}

/// Many normal numbers by the widest pack.
fn normals(n: usize) -> Vec<f64> {
    struct Draw(usize);
    impl Kernel for Draw {
        type Output = Vec<f64>;
        #[inline(always)]
        fn run<L: Lanes>(self) -> Vec<f64> {
            let mut rng = Rng::<L>::for_chains(11, 0, Stream::Noise);
            let mut packs = vec![L::zero(); self.0 / L::WIDTH];
            rng.fill_normals(&mut packs);
            let mut out = vec![0.0; packs.len() * L::WIDTH];
            for (pack, out) in packs.iter().zip(out.chunks_exact_mut(L::WIDTH)) {
                pack.store(out);
            }
            out
        }
    }
    let isa = Isa::detect();
    isa.run(isa.width(), Draw(n))
}

/// Kolmogorov's limiting probability of √n·D exceeding λ.
fn kolmogorov(lambda: f64) -> f64 {
    2.0 * (1..100)
        .map(|k| {
            let k = k as f64;
            let sign = if k as u64 % 2 == 1 { 1.0 } else { -1.0 };
            sign * (-2.0 * k * k * lambda * lambda).exp()
        })
        .sum::<f64>()
}

/// False-alarm rate 10⁻⁶ for each of the eight checks.
#[test]
fn normal_numbers_have_the_right_moments_shape_and_tails() {
    let n = 20_000_000;
    let mut x = normals(n);
    // z = 4.9 has two-sided probability 10⁻⁶; moments 1..4 have these exact standard deviations.
    for (power, expected, sd) in [
        (1, 0.0, 1.0_f64),
        (2, 1.0, 2.0_f64.sqrt()),
        (3, 0.0, 15.0_f64.sqrt()),
        (4, 3.0, 96.0_f64.sqrt()),
    ] {
        let mean = x.iter().map(|x| x.powi(power)).sum::<f64>() / n as f64;
        let z = (mean - expected) / (sd / (n as f64).sqrt());
        assert!(z.abs() < 4.9, "moment {power}: z = {z}");
    }
    // Successive numbers come from one Box–Muller pair: they must not correlate.
    let products: Vec<f64> = x.chunks_exact(2).map(|p| p[0] * p[1]).collect();
    let (mean, error) = mean_and_error(&products);
    assert!(
        (mean / error).abs() < 4.9,
        "pairs correlate: z = {}",
        mean / error
    );
    for (bound, two_sided) in [(4.0, 6.334248366623996e-5), (5.0, 5.733031437583867e-7)] {
        let count = x.iter().filter(|x| x.abs() > bound).count() as f64;
        let expected = n as f64 * two_sided;
        // Poisson; at a mean of 11.5 the probability of 32 or more, or of 0, is below 10⁻⁵.
        let z = (count - expected) / expected.sqrt();
        assert!(
            z > -4.9 && z < if bound > 4.5 { 6.0 } else { 4.9 },
            "{count} beyond {bound}, expected {expected}"
        );
    }
    x.truncate(1_000_000);
    x.sort_unstable_by(f64::total_cmp);
    let distance = |x: &[f64]| {
        let n = x.len() as f64;
        x.iter().enumerate().fold(0.0_f64, |d, (i, x)| {
            let p = normal_cdf(*x);
            d.max(p - i as f64 / n).max((i + 1) as f64 / n - p)
        })
    };
    let p = kolmogorov(distance(&x) * (x.len() as f64).sqrt());
    assert!(p > 1e-6, "Kolmogorov–Smirnov: p = {p}");
    // Negative control: one per cent too wide.
    let wide: Vec<f64> = x.iter().map(|x| x * 1.01).collect();
    let p = kolmogorov(distance(&wide) * (x.len() as f64).sqrt());
    assert!(p < 1e-6, "a spread of 1.01 passes: p = {p}");
}

#[test]
fn pairs_of_normal_numbers_have_no_direction() {
    // k is 63 and 7: a false alarm once in 8000 seeds.
    let sectors = 64;
    let mut counts = vec![0; sectors];
    let mut quarters = [[0; 4]; 2];
    let mut pair = [0.0; 2];
    let mut rng = Rng::new(11, 0, Stream::Noise);
    for _ in 0..1 << 20 {
        rng.fill_normals(&mut pair);
        let [x, y] = pair;
        let turn = y.atan2(x) / std::f64::consts::TAU + 0.5;
        counts[((turn * sectors as f64) as usize).min(sectors - 1)] += 1;
        // Near and far points alike.
        let far = usize::from(x * x + y * y > 2.0 * std::f64::consts::LN_2);
        quarters[far][2 * usize::from(x > 0.0) + usize::from(y > 0.0)] += 1;
    }
    assert!(chi_square_z(&counts) < 6.0, "{counts:?}");
    assert!(chi_square_z(&quarters.concat()) < 6.0, "{quarters:?}");
    // A quarter too full by one in thirty is seen.
    counts[..16].iter_mut().for_each(|n| *n += *n / 30);
    assert!(chi_square_z(&counts) > 6.0);
}
