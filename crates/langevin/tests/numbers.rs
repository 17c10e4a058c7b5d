//! Elementary functions, random numbers and minibatches, in every instruction set.

mod common;

use common::{mean_and_error, normal_cdf};
use langevin::batch::{BatchSampler, Gradient};
use langevin::real::{BitLanes, Isa, Kernel, Lanes, Real, math};
use langevin::rng::{Rng, Stream};
use langevin::target::Rows;

/// Distance in units in the last place.
fn ulps(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let spacing = (b.abs().next_up() - b.abs()).max(f64::MIN_POSITIVE * f64::EPSILON);
    (a - b).abs() / spacing
}

type Scalar = fn(f64) -> f64;

/// (name, ours, the standard library's, range, allowed ulps)
fn functions() -> Vec<(&'static str, Scalar, Scalar, f64, f64, f64)> {
    vec![
        ("exp", Real::exp, f64::exp, -700.0, 709.0, 1.5),
        ("exp", Real::exp, f64::exp, -1.0, 1.0, 1.5),
        ("ln", Real::ln, f64::ln, 1e-300, 1e300, 1.5),
        ("ln", Real::ln, f64::ln, 0.5, 2.0, 1.5),
        ("ln_1p", Real::ln_1p, f64::ln_1p, -0.9, 3.0, 2.5),
        ("ln_1p", Real::ln_1p, f64::ln_1p, -1e-9, 1e-9, 2.5),
        ("tanh", Real::tanh, f64::tanh, -25.0, 25.0, 3.0),
        ("tanh", Real::tanh, f64::tanh, -0.1, 0.1, 3.0),
        ("sin", Real::sin, f64::sin, -1e5, 1e5, 2.0),
        ("cos", Real::cos, f64::cos, -1e5, 1e5, 2.0),
        (
            "logistic",
            Real::logistic,
            |x| 1.0 / (1.0 + (-x).exp()),
            -40.0,
            40.0,
            // Both sides round an exponential, a sum and a quotient: 2 to 2.5 ulps each.
            4.5,
        ),
        (
            "softplus",
            Real::softplus,
            |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p(),
            -40.0,
            40.0,
            4.0,
        ),
    ]
}

#[test]
fn elementary_functions_are_accurate_to_a_few_ulps() {
    let mut rng = Rng::new(1, 0, Stream::Setup);
    for (name, ours, theirs, low, high, allowed) in functions() {
        let mut worst = (0.0, 0.0);
        for _ in 0..200_000 {
            // Wide positive ranges are sampled evenly on the log scale.
            let u = rng.uniform();
            let x = if low > 0.0 && high / low > 1e6 {
                low * (high / low).powf(u)
            } else {
                low + (high - low) * u
            };
            let error = ulps(ours(x), theirs(x));
            if error > worst.0 {
                worst = (error, x);
            }
        }
        assert!(
            worst.0 <= allowed,
            "{name}: {} ulps at {}",
            worst.0,
            worst.1
        );
    }
}

#[test]
fn special_values_are_those_of_the_standard_library() {
    let values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        5e-324,
        1e308,
        -1e308,
    ];
    for (name, ours, theirs, ..) in functions() {
        for x in values {
            if (name == "sin" || name == "cos") && x.abs() > 1e5 {
                continue; // documented range
            }
            let (a, b) = (ours(x), theirs(x));
            assert!(ulps(a, b) <= 4.0, "{name}({x}) = {a}, expected {b}");
        }
    }
    assert_eq!(Real::exp(-708.0_f64), 0.0, "flushed, as documented");
}

/// Applies every function to the same numbers and draws random numbers, in packs of any width.
struct Everything;

impl Kernel for Everything {
    type Output = Vec<u64>;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Vec<u64> {
        let inputs: Vec<f64> = (0..64).map(|i| (i as f64 - 31.7) * 1.37).collect();
        let mut out = vec![];
        let store = |x: L| {
            let mut lanes = [0.0; 16];
            x.store(&mut lanes);
            lanes
                .into_iter()
                .take(L::WIDTH)
                .map(f64::to_bits)
                .collect::<Vec<_>>()
        };
        let mut results: Vec<Vec<u64>> = vec![vec![]; 12];
        for chunk in inputs.chunks_exact(L::WIDTH) {
            let x = L::load(chunk);
            let positive = x.abs() + 0.1;
            let mut tanhs = [x, x * 0.1, x * 1e-3];
            L::tanh_half_all(&mut tanhs);
            let values = [
                tanhs[0],
                tanhs[1],
                tanhs[2],
                x.exp(),
                positive.ln(),
                x.tanh(),
                x.logistic(),
                x.softplus(),
                x.sin(),
                x.cos(),
                positive.sqrt(),
                positive.ln_1p(),
            ];
            for (result, value) in results.iter_mut().zip(values) {
                result.extend(store(value));
            }
        }
        out.extend(results.concat());
        // Chains 0..16 draw their numbers in packs of whatever width there is.
        let mut chains = vec![vec![]; 16];
        for first in (0..16).step_by(L::WIDTH) {
            let mut rng = Rng::<L>::for_chains(9, first, Stream::Noise);
            let mut normals = [L::zero(); 6];
            rng.fill_normals(&mut normals);
            for lane in 0..L::WIDTH {
                chains[first as usize + lane].extend(normals.map(|x| x.lane(lane).to_bits()));
            }
            // Batches by each method, and the rows that they name, from tables of each kind.
            for (batch_size, n_data) in [(5, 10), (5, 30), (20, 300), (70, 300)] {
                let mut batches =
                    BatchSampler::new(Gradient::minibatch(batch_size), n_data).unwrap();
                let mut batch = vec![L::Bits::of(0); 2 * batch_size];
                batches.fill::<L>(&mut rng, &mut batch);
                for width in [1, 3, 9] {
                    let data = (0..n_data * width).map(|i| i as f64).collect();
                    let table = Rows::new(data, width).unwrap();
                    let mut row = vec![L::zero(); width];
                    for lane in 0..L::WIDTH {
                        for index in &batch {
                            table.gather(index, &mut row);
                            let bits = row.iter().map(|x| x.lane(lane).to_bits());
                            chains[first as usize + lane].extend(bits);
                            let word = L::Bits::words(std::slice::from_ref(index))[lane];
                            assert_eq!(row[0].lane(lane), (word as usize * width) as f64);
                        }
                    }
                }
            }
        }
        out.extend(chains.concat());
        out
    }
}

/// Twelve, three and single numbers: the quotient 2 / (e^x + 1) is at most 2 and goes through seven
/// roundings where three share a division, so that 14 · 1.2·10⁻¹⁶ is the most it can be off.
#[test]
fn tangents_of_many_numbers_are_those_of_each() {
    let mut rng = Rng::new(2, 0, Stream::Setup);
    for scale in [0.01, 1.0, 60.0] {
        for _ in 0..20_000 {
            let x: [f64; 17] = std::array::from_fn(|_| scale * (rng.uniform() - 0.5));
            let mut many = x;
            f64::tanh_half_all(&mut many);
            for (x, t) in x.into_iter().zip(many) {
                let exact = f64::tanh(0.5 * x);
                assert!(
                    (t - exact).abs() <= 2e-15,
                    "tanh({x} / 2) = {t}, not {exact}"
                );
            }
        }
    }
    let mut odd = [f64::NAN, f64::INFINITY, -1e300];
    f64::tanh_half_all(&mut odd);
    assert!(odd[0].is_nan());
    let mut far = [f64::INFINITY, -1e300, 1e300, f64::NEG_INFINITY];
    f64::tanh_half_all(&mut far);
    for (t, sign) in far.into_iter().zip([1.0, -1.0, 1.0, -1.0]) {
        assert!((t - sign).abs() <= 2e-15, "{t}");
    }
}

#[test]
fn lanes_equal_the_scalar_bit_for_bit() {
    let scalar = Isa::Portable.run(1, Everything);
    for isa in Isa::available() {
        for width in [1, 4, 8, 16] {
            assert!(
                isa.run(width, Everything) == scalar,
                "{isa:?}, width {width}"
            );
        }
    }
}

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

/// χ² beyond its mean, z = (χ² − k)/√(2k) with k degrees of freedom. z beyond 6 has a probability of
/// 1.2·10⁻⁴ for k = 7, 2.7·10⁻⁵ for 15, 1.3·10⁻⁶ for 63 and less for more.
fn chi_square_z(counts: &[usize]) -> f64 {
    let total: usize = counts.iter().sum();
    let expected = total as f64 / counts.len() as f64;
    let chi: f64 = counts
        .iter()
        .map(|c| (*c as f64 - expected).powi(2) / expected)
        .sum();
    let k = counts.len() as f64 - 1.0;
    (chi - k) / (2.0 * k).sqrt()
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

#[test]
fn sines_of_quarter_turns_are_those_of_the_angle() {
    for quarter in 0..4_u64 {
        for i in -50..=50 {
            let r = i as f64 / 100.0;
            let (s, c) = math::sin_cos_quarter(r);
            let (s, c) = math::turn::<f64>(<f64 as Lanes>::Bits::of(quarter), s, c);
            // The angle itself, up to 5.5, is rounded to half of 8.9·10⁻¹⁶.
            let angle = (r + quarter as f64) * std::f64::consts::FRAC_PI_2;
            assert!((s - angle.sin()).abs() < 1e-15 && (c - angle.cos()).abs() < 1e-15);
        }
    }
}

#[test]
fn squared_radii_are_accurate_everywhere() {
    let mut rng = Rng::new(5, 0, Stream::Setup);
    let mut numbers: Vec<f64> = (0..400_000).map(|_| rng.uniform()).collect();
    // The ends of the range, and both sides of every interval of the table.
    numbers.extend([f64::EPSILON / 4.0, 1.0 - f64::EPSILON / 2.0, 0.5]);
    for i in 0..=16 {
        let edge = if i <= 10 {
            0.6875 + f64::from(i) / 32.0
        } else {
            1.0 + f64::from(i - 10) / 16.0
        };
        for k in 1..50 {
            let edge = edge * 0.5_f64.powi(k);
            numbers.extend([edge.next_down(), edge, edge.next_up()]);
        }
    }
    // And all sizes: near 0 and near 1.
    for k in 1..=52 {
        let small = 0.5_f64.powi(k) * (1.0 + rng.uniform());
        numbers.extend([small * 0.5, 1.0 - small * 0.25]);
    }
    for x in numbers {
        let (got, want) = (math::minus_2_ln(x), -2.0 * libm::log(x));
        assert!(
            ulps(got, want) <= 3.0,
            "-2 ln({x}) = {got}, expected {want}"
        );
    }
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
