//! Draws of a known formula.

use langevin_run::store::{Dim, Draws, Layout, Param, Stat};

pub const N_CHAINS: usize = 3;
pub const N_DRAWS: usize = 50;
/// The last chain escapes at this draw.
pub const DIVERGED_AT: usize = 40;

pub fn layout() -> Layout {
    Layout::new(vec![
        Param::scalar("sigma"),
        Param::scalar("μ"),
        Param::array("w", vec![Dim::named("feature", ["age", "größe", "x y"])]),
        Param::array(
            "W",
            vec![
                Dim::indexed("row", 2),
                Dim::named("feature", ["age", "größe", "x y"]),
            ],
        ),
        Param::of_shape("alpha", &[4]),
    ])
    .unwrap()
}

/// Entry `i` of draw `draw` of chain `chain`; all of these are exact in binary.
pub fn value(chain: usize, draw: usize, i: usize) -> f64 {
    if chain == N_CHAINS - 1 && draw >= DIVERGED_AT {
        return f64::NAN;
    }
    1000.0 * chain as f64 + draw as f64 + i as f64 / 64.0
}

/// The draws of the formula with every kind of statistic and attribute.
pub fn draws() -> Draws {
    let layout = layout();
    let dim = layout.dim();
    let pairs = || (0..N_CHAINS).flat_map(|c| (0..N_DRAWS).map(move |d| (c, d)));
    let values = pairs().flat_map(|(c, d)| (0..dim).map(move |i| value(c, d, i)));
    let lp = pairs().map(|(c, d)| -0.5 * value(c, d, 0)).collect();
    let step = pairs().map(|(_, d)| 1000 + 10 * d as i64).collect();
    let diverging = pairs().map(|(c, d)| value(c, d, 0).is_nan()).collect();
    Draws::new(layout, N_CHAINS, N_DRAWS, values.collect())
        .and_then(|d| d.with_diverging(diverging))
        .and_then(|d| d.with_stat("lp", Stat::Real(lp)))
        .and_then(|d| d.with_stat("step", Stat::Whole(step)))
        .and_then(|d| d.with_attribute("seed", u64::MAX))
        .and_then(|d| d.with_attribute("step_size", 0.1))
        .and_then(|d| d.with_attribute("dynamics", "GiIrr"))
        .and_then(|d| d.with_attribute("settings", r#"{"thin":10,"burn_in":1000}"#))
        .unwrap()
}
