//! The whole figure as one SVG document.

use super::layout::{OUTER, WIDTH, place};
use super::markup::plain;
use super::model::Figure;
use super::svg::{Px, Writer};
use super::text::FONT_STACK;
use super::{legend, panel};

impl Figure {
    /// The figure as an SVG document, 17 cm wide, on white.
    ///
    /// It holds no script, no style sheet and no ids, so that several fit into one page.
    pub fn to_svg(&self) -> String {
        let layout = place(self);
        let mut body = Writer::default();
        for placed in &layout.panels {
            panel::draw(&mut body, placed, &layout.theme);
        }
        let height = legend::draw(&mut body, self, layout.bottom) + OUTER;
        let mut svg = Writer::default();
        let view = format!("0 0 {} {}", Px(WIDTH), Px(height));
        svg.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("width", &Px(WIDTH)),
                ("height", &Px(height)),
                ("viewBox", &view),
                ("font-family", &FONT_STACK),
                ("fill", &"#222222"),
                ("role", &"img"),
                ("aria-label", &plain(&self.caption)),
            ],
        );
        let page = [
            ("width", &Px(WIDTH) as &dyn std::fmt::Display),
            ("height", &Px(height)),
            ("fill", &"#ffffff"),
        ];
        svg.element("rect", &page);
        svg.raw(&body.finish());
        svg.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;

    fn everything(points: Vec<[f64; 2]>) -> Panel {
        let values: Vec<f64> = points.iter().map(|p| p[0]).collect();
        let slope = ReferenceSlope {
            label: "slope".into(),
            slope: -0.5,
            anchor: Anchor::Below,
        };
        Panel::new(Axis::log("x & y"), Axis::log("σ^{2}"))
            .title("<title>")
            .mark(
                Line::styled("LD", Style::number(0), points.clone())
                    .errors(&values)
                    .with_markers(),
            )
            .mark(Points::styled("RM", Style::number(1), points.clone()))
            .mark(Histogram::of("h", Colour::ORANGE, &values, 5))
            .mark(Heatmap::of("m", &values, &values, 4))
            .mark(slope)
            .mark(Mark::HorizontalLine(Rule::new("", f64::NAN)))
            .mark(Mark::VerticalLine(Rule::new("v", -1.0)))
    }

    #[test]
    fn odd_data_give_a_valid_document_and_no_panic() {
        let odd = [
            vec![],
            vec![[1.0, 1.0]],
            vec![[f64::NAN, f64::INFINITY], [0.0, -1.0]],
            vec![[1e-5, 1e-300], [1e5, 1e300], [3.0, f64::NAN], [4.0, 1.0]],
            vec![[5e-324, 5e-324], [f64::MAX, f64::MAX]],
        ];
        for points in odd {
            for scale in [Scale::Linear, Scale::Log10] {
                let mut panel = everything(points.clone());
                (panel.x.scale, panel.y.scale) = (scale, scale);
                let figure = Figure::new("odd", "a \"caption\"").panel(panel).gap();
                let svg = figure.to_svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                let tree = roxmltree::Document::parse(&svg);
                assert!(tree.is_ok(), "{tree:?}");
            }
        }
    }

    #[test]
    fn a_long_trace_stays_small() {
        let mut state = 1_u64;
        let points = (0..100_000)
            .map(|k| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                [f64::from(k), (state >> 40) as f64]
            })
            .collect();
        let panel = Panel::new(Axis::linear("t"), Axis::linear("θ"));
        let svg = Figure::new("trace", "")
            .panel(panel.mark(Line::styled("LD", Style::number(0), points)))
            .to_svg();
        assert!(svg.len() < 60_000, "{}", svg.len());
    }

    #[test]
    fn text_is_escaped_and_superscripts_are_raised() {
        let svg = Figure::new("f", "<&>")
            .panel(everything(vec![[1.0, 1.0]]))
            .to_svg();
        assert!(svg.contains("&lt;title&gt;") && !svg.contains("<title>"));
        assert!(svg.contains("aria-label=\"&lt;&amp;&gt;\""));
        assert!(svg.contains("σ<tspan dy="));
    }

    #[test]
    fn an_empty_figure_is_a_document_too() {
        let svg = Figure::new("f", "").columns(0).aspect(f64::NAN).to_svg();
        assert!(svg.ends_with("</svg>") && roxmltree::Document::parse(&svg).is_ok());
    }
}
