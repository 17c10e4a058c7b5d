//! Elementary functions, and lanes against the scalar.

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
