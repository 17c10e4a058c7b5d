//! Draws one figure of each kind and a demonstration report into the folder given as argument.
//!
//! ```text
//! cargo run --example gallery -- out/gallery
//! ```

use std::f64::consts::TAU;
use std::path::Path;

use langevin_cli::png::svg_to_png;
use langevin_cli::view::style::{line as line_of, points as points_of, style};
use langevin_page::figure::{
    Anchor, Axis, Colour, Dash, Figure, Heatmap, Histogram, Mark, Panel, Points, ReferenceSlope,
    Rule, Style, TickLabels, pair_plot,
};

#[path = "gallery/demo_report.rs"]
mod demo_report;

type Failure = Box<dyn std::error::Error>;

const SYSTEMS: [&str; 5] = ["LD", "RM", "Irr", "RMIrr", "GiIrr"];

fn main() -> Result<(), Failure> {
    let folder = std::env::args_os().nth(1);
    let folder = folder.ok_or("usage: gallery FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let figures = [
        mse_curves(),
        discrepancy(),
        trajectories(),
        traces(),
        marginals(),
        pairs(3),
        pairs(9),
        odd_cases(),
        wide_grid(),
    ];
    for figure in &figures {
        let svg = figure.to_svg();
        let png = svg_to_png(&svg, 1600)?;
        std::fs::write(folder.join(format!("{}.svg", figure.id)), svg)?;
        std::fs::write(folder.join(format!("{}.png", figure.id)), png)?;
    }
    let report = demo_report::build(&figures);
    std::fs::write(folder.join("report.html"), report.to_html())?;
    for table in report.tables() {
        std::fs::write(folder.join(format!("{}.csv", table.id)), table.to_csv())?;
    }
    Ok(())
}

/// A small generator of uniform and normal numbers, enough for pictures.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        // Steele, Lea and Flood (2014), SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// Mean squared error against time with bands, as in the paper's convergence plots.
fn mse_curves() -> Figure {
    let mut figure = Figure::new("mse", "MSE of the running average, with standard errors")
        .columns(3)
        .aspect(1.0);
    let titles = ["First moment", "Second moment", "φ(θ) = ‖θ‖^{2}"];
    for (column, title) in titles.into_iter().enumerate() {
        let mut panel = Panel::new(Axis::log("number of steps"), Axis::log("MSE")).title(title);
        for (k, system) in SYSTEMS.into_iter().enumerate() {
            let factor = 3.0 / (1.0 + k as f64) / (1.0 + column as f64);
            let points: Vec<[f64; 2]> = (0..60)
                .map(|i| 10f64.powf(1.0 + f64::from(i) / 12.0))
                .map(|n| {
                    [
                        n,
                        factor / (1.0 + n / 30.0) * (1.0 + 0.1 * (n.ln() * 3.0).sin()),
                    ]
                })
                .collect();
            let errors: Vec<f64> = points.iter().map(|p| 0.12 * p[1]).collect();
            panel = panel.mark(line_of(system, points).errors(&errors));
        }
        figure = figure.panel(panel);
    }
    figure
}

/// Kernelized Stein discrepancy with the slope −1/2.
fn discrepancy() -> Figure {
    let mut panel = Panel::new(Axis::log("number of samples"), Axis::log("KSD"));
    for (k, system) in SYSTEMS.into_iter().enumerate() {
        let points = (0..9)
            .map(|i| 10f64.powf(1.0 + f64::from(i) / 2.0))
            .map(|n| [n, (2.0 - 0.25 * k as f64) * n.powf(-0.5) + 0.002])
            .collect();
        panel = panel.mark(line_of(system, points).with_markers());
    }
    let slope = ReferenceSlope {
        label: "slope −1/2".into(),
        slope: -0.5,
        anchor: Anchor::Below,
    };
    Figure::new("ksd", "Kernelized Stein discrepancy").panel(panel.mark(slope))
}

/// Trajectories in the plane, and their means.
fn trajectories() -> Figure {
    let mut noise = Noise(7);
    let mut single = Panel::new(Axis::linear("μ"), Axis::linear("σ")).title("Single trajectories");
    let mut mean = Panel::new(Axis::linear("μ"), Axis::linear("σ")).title("Mean paths");
    for (k, system) in SYSTEMS.into_iter().enumerate() {
        let (mut x, mut y, turn) = (5.0, 20.0, 0.2 * k as f64);
        let mut path = vec![[x, y]];
        let mut smooth = vec![[x, y]];
        for step in 0..2500 {
            (x, y) = (
                x - 0.004 * (x + turn * (y - 10.0)) + 0.06 * noise.normal(),
                y - 0.004 * (y - 10.0 - turn * x) + 0.06 * noise.normal(),
            );
            path.push([x, y]);
            let t = f64::from(step) * 0.004;
            let (c, s) = ((turn * t).cos(), (turn * t).sin());
            let decay = (-t).exp();
            smooth.push([
                decay * (5.0 * c - 10.0 * s),
                10.0 + decay * (5.0 * s + 10.0 * c),
            ]);
        }
        let ends = vec![path[path.len() - 1]];
        single = single
            .mark(line_of(system, path).width(0.8).dash(Dash::Solid))
            .mark(points_of(system, ends));
        mean = mean.mark(line_of(system, smooth));
    }
    let start = Points {
        label: "start".into(),
        style: Style {
            colour: Colour::BLACK,
            ..style("LD")
        },
        size: 6.0,
        points: vec![[5.0, 20.0]],
    };
    let truth = Rule::new("posterior mode", 10.0);
    Figure::new("trajectories", "Burn-in: each trajectory starts at (5, 20)")
        .columns(2)
        .aspect(0.85)
        .panel(single.mark(start.clone()))
        .panel(mean.mark(start).mark(Mark::HorizontalLine(truth)))
}

/// Traces of 10⁵ points that jump between modes.
fn traces() -> Figure {
    let mut noise = Noise(3);
    let mut figure = Figure::new("trace", "Trace plots of W_{11}").aspect(0.14);
    for (k, system) in SYSTEMS.into_iter().enumerate() {
        let (mut mode, mut fast) = (1.0, 0.0);
        let points = (0..100_000)
            .map(|step| {
                if noise.uniform() < 2e-5 * 2f64.powi(k as i32) {
                    mode = -mode;
                }
                fast = 0.9 * fast + 0.08 * noise.normal();
                [0.1 * f64::from(step), mode + fast]
            })
            .collect();
        let last = k + 1 == SYSTEMS.len();
        let x = if last {
            Axis::linear("time t").range(0.0, 1e4)
        } else {
            Axis::linear("")
                .range(0.0, 1e4)
                .tick_labels(TickLabels::Hidden)
        };
        let panel = Panel::new(x, Axis::linear("W_{11}").range(-2.0, 2.0));
        let line = line_of(system, points).width(0.6);
        figure = figure.panel(panel.mark(line.dash(Dash::Solid)));
    }
    figure
}

/// A bimodal marginal in one and in two dimensions.
fn marginals() -> Figure {
    let (x, y) = bimodal(40_000);
    let bars = Histogram::of("LD", style("LD").colour, &x, 60);
    let outline = Histogram {
        filled: false,
        ..Histogram::of("GiIrr", style("GiIrr").colour, &y, 60)
    };
    let cloud: Vec<[f64; 2]> = x.iter().zip(&y).map(|(x, y)| [*x, *y]).collect();
    Figure::new("marginals", "Histograms, a density and a cloud of points")
        .columns(3)
        .aspect(1.0)
        .panel(
            Panel::new(Axis::linear("θ_{1}, θ_{2}"), Axis::linear("density"))
                .title("Histograms")
                .mark(bars)
                .mark(outline)
                .mark(Mark::VerticalLine(Rule::new("exact mean", 0.0))),
        )
        .panel(
            Panel::new(Axis::linear("θ_{1}"), Axis::linear("θ_{2}"))
                .title("Heatmap")
                .mark(Heatmap::of("density", &x, &y, 60)),
        )
        .panel(
            Panel::new(Axis::linear("θ_{1}"), Axis::linear("θ_{2}"))
                .title("Points")
                .mark(points_of("RM", cloud[..3000].to_vec()).size(1.2)),
        )
}

fn bimodal(n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut noise = Noise(11);
    (0..n)
        .map(|_| {
            let sign = if noise.uniform() < 0.35 { -1.0 } else { 1.0 };
            let x = 1.5 * sign + 0.5 * noise.normal();
            (x, 0.6 * x + 0.4 * noise.normal())
        })
        .unzip()
}

/// The pair plot of `count` variables.
fn pairs(count: usize) -> Figure {
    let mut noise = Noise(5);
    let mut draws = vec![Vec::new(); count];
    for _ in 0..20_000 {
        let shared = noise.normal();
        let sign = if noise.uniform() < 0.5 { -1.0 } else { 1.0 };
        for (k, column) in draws.iter_mut().enumerate() {
            let bend = if k % 2 == 0 { sign } else { shared * shared };
            column.push(bend + 0.4 * shared + 0.3 * noise.normal() + k as f64);
        }
    }
    let names: Vec<String> = (0..count)
        .map(|k| format!("W_{{{}{}}}", k / 3 + 1, k % 3 + 1))
        .collect();
    let caption = format!("All marginals of {count} variables");
    pair_plot(&format!("pairs{count}"), &caption, &names, &draws, 36)
}

/// Data that must not break anything.
fn odd_cases() -> Figure {
    let wide = (-50..=50).map(|k| {
        let x = 10f64.powf(f64::from(k) / 10.0);
        [x, 1.0 / (x * x)]
    });
    let gaps = (0..200).map(|k| {
        let x = f64::from(k) / 10.0;
        [
            x,
            if (60..80).contains(&k) {
                f64::NAN
            } else {
                x.sin()
            },
        ]
    });
    let signs = (1..200).map(|k| [f64::from(k), (f64::from(k) / 10.0).sin()]);
    let large = (0..50).map(|k| [3e6 + 1e4 * f64::from(k), 2e-7 * f64::from(k * k)]);
    let narrow = (0..50).map(|k| [2.0 + 0.1 * f64::from(k), 3.0 + 0.01 * f64::from(k)]);
    let line = |points| line_of("LD", points);
    let log = |x: &str, y: &str| Panel::new(Axis::log(x), Axis::log(y));
    let linear = |x: &str, y: &str| Panel::new(Axis::linear(x), Axis::linear(y));
    Figure::new("odd", "Cases that must not break anything")
        .columns(3)
        .aspect(0.8)
        .panel(
            log("ten decades", "twenty decades")
                .title("Wide")
                .mark(line(wide.collect())),
        )
        .panel(
            linear("x", "y")
                .title("A gap of NaN")
                .mark(line(gaps.collect())),
        )
        .panel(
            log("x", "sin(x/10), where positive")
                .title("Signs")
                .mark(line(signs.collect())),
        )
        .panel(
            linear("large", "small")
                .title("Exponents")
                .mark(line(large.collect())),
        )
        .panel(
            log("x", "y")
                .title("Within a decade")
                .mark(line(narrow.collect())),
        )
        .panel(
            log("x", "y")
                .title("One point")
                .mark(line(vec![[3.0, 0.02]])),
        )
        .panel(linear("", "").title("Nothing"))
        .panel(
            log("", "")
                .title("Nothing on log axes")
                .mark(line(vec![[-1.0, 0.0]])),
        )
        .panel(
            linear("a", "b")
                .title("Constant")
                .mark(line(vec![[0.0, 1e-9], [1.0, 1e-9]])),
        )
}

/// Many small panels with one line each.
fn wide_grid() -> Figure {
    let mut figure = Figure::new("grid", "A grid of five columns")
        .columns(5)
        .aspect(0.9);
    for k in 1..=10 {
        let mut panel = Panel::new(Axis::log("h"), Axis::log("variance"));
        panel.title = format!("δ = {k}");
        for (s, system) in SYSTEMS.into_iter().enumerate() {
            let points = (0..30)
                .map(|i| 10f64.powf(-4.0 + f64::from(i) / 10.0))
                .map(|h| [h, h.powf(0.3 + 0.1 * s as f64) * f64::from(k)])
                .collect();
            panel = panel.mark(line_of(system, points).width(1.2));
        }
        figure = figure.panel(panel);
    }
    figure
}
