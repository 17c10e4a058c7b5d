//! A report with every kind of item.

use langevin_page::figure::Figure;
use langevin_page::report::{
    Cell, Column, FigureItem, Outcome, Report, Row, Section, Table, Verdict, VerdictList,
};

/// The report that shows all `figures`. Its numbers are invented.
pub fn build(figures: &[Figure]) -> Report {
    let mut gallery = Section::new("figures", "Figures").paragraph(
        "Every kind of figure, drawn from invented data. Lines are told apart by colour and by \
         dash, points by colour and by shape.",
    );
    for (index, figure) in figures.iter().enumerate() {
        let name = format!("Figure {}", index + 1);
        gallery = gallery.item(FigureItem::new(name, figure).note("Invented data."));
    }
    Report::new("Geometry-informed irreversible perturbations: results")
        .subtitle("A demonstration with invented numbers")
        .fact("Version", "0.1.0")
        .fact("Seed", "20240229")
        .fact("Scale", "1/10 of the paper")
        .fact("Machine", "8 cores, x86-64, AVX2")
        .fact("Wall time", "4 min 12 s")
        .section(claims())
        .section(tables())
        .section(gallery)
}

fn claims() -> Section {
    let verdicts = vec![
        Verdict::new(
            "GiIrr has the smallest asymptotic variance of all systems.",
            Outcome::Holds,
        )
        .measured("AVAR of GiIrr", 0.612, Some(0.021))
        .measured("next best (RMIrr)", 0.874, Some(0.034))
        .measured("z", 6.6, None)
        .explanation("The difference is more than six standard errors.")
        .see("table1")
        .see("mse"),
        Verdict::new("The discrepancy falls like n^{−1/2}.", Outcome::Undecided)
            .measured("slope", -0.46, Some(0.05))
            .explanation(
                "The slope agrees with −1/2 within one standard error, yet also with −0.4.",
            )
            .see("ksd"),
        Verdict::new("The bias vanishes for every step size `h`.", Outcome::Fails)
            .measured("squared bias at h = 10⁻²", 3.1e-4, Some(2.0e-5))
            .explanation(
                "Discretisation leaves a bias of order h²; the claim holds only as h → 0.",
            ),
    ];
    Section::new("claims", "Claims")
        .paragraph(
            "Each claim is judged by a test fixed in advance. A claim is undecided when the \
             standard errors leave both answers open. Run `langevin reproduce --seed 20240229` to \
             obtain the same numbers.",
        )
        .item(VerdictList {
            id: "verdicts".into(),
            title: "Verdicts".into(),
            verdicts,
        })
}

fn tables() -> Section {
    let systems = ["LD", "RM", "Irr", "RMIrr", "GiIrr"];
    let mut wide = Table::new("table1", "Table 1. Asymptotic variance, invented data")
        .column(Column::new("System"));
    for observable in ["φ_{1}(θ) = Σ θ_{i}", "φ_{2}(θ) = Σ θ_{i}²"] {
        for step in ["h = 10⁻³", "h = 10⁻²"] {
            wide = wide.column(Column::grouped(observable, step));
        }
    }
    wide = wide.column(Column::new("ESS per second"));
    let mut plain = Table::new("table2", "Table 2. Settings")
        .column(Column::new("System"))
        .column(Column::new("δ"))
        .column(Column::new("Steps"))
        .column(Column::new("Remark"));
    for (k, system) in systems.into_iter().enumerate() {
        let value = 2.0 / (1.0 + k as f64);
        let cell = |factor: f64| {
            let value = factor * value;
            Cell::estimate(value, 0.03 * value).paper(1.05 * value)
        };
        let row = Row::new([
            Cell::text(system),
            cell(1.0).exact(0.98 * value),
            cell(1.2),
            cell(3e-5),
            cell(3.3e-5),
            Cell::number(12_345.6 * (1.0 + k as f64)),
        ]);
        wide = wide.row(if system == "GiIrr" { row.best() } else { row });
        plain = plain.row(Row::new([
            Cell::text(system),
            if k < 2 {
                Cell::Empty
            } else {
                Cell::number(2.0)
            },
            Cell::number(1e5),
            Cell::text(if k == 4 {
                "½(JB + BJ), the skew field that follows the metric"
            } else {
                "as in the paper"
            }),
        ]));
    }
    wide = wide
        .note("Ours ± one standard error over 1000 chains; the paper prints no errors.")
        .note("Exact values exist for the first observable only.");
    Section::new("tables", "Tables")
        .paragraph("Ours first, the paper's value and the exact value below.")
        .item(wide)
        .item(plain)
}
