//! Declarations: names, sizes, text, refusals.

use langevin::scale::{Block, Constrained, Scale};
use langevin::target::Parameter;

use super::*;

#[test]
fn names_and_sizes() {
    let layout = layout("mu, beta[2], p[2,3]: simplex, l[2,2]: correlation_cholesky");
    assert_eq!((layout.size(), layout.free_size()), (13, 8));
    assert_eq!(
        layout.elements(),
        [
            "mu", "beta[0]", "beta[1]", "p[0,0]", "p[0,1]", "p[0,2]", "p[1,0]", "p[1,1]", "p[1,2]",
            "l[0,0]", "l[0,1]", "l[1,0]", "l[1,1]"
        ]
    );
    let free: Vec<_> = layout
        .free_parameters()
        .into_iter()
        .map(|p| (p.name, p.shape))
        .collect();
    let expected = [
        ("mu", vec![]),
        ("beta", vec![2]),
        ("p (free)", vec![2, 2]),
        ("l (free)", vec![1]),
    ];
    assert_eq!(
        free,
        expected.map(|(name, shape)| (name.to_string(), shape))
    );
    let places: Vec<_> = layout
        .places()
        .map(|(b, x, u)| (b.parameter.name.as_str(), x, u))
        .collect();
    assert_eq!(places[2], ("p", 3..9, 3..7));
    assert_eq!(places[3], ("l", 9..13, 7..8));
}

#[test]
fn elements_of_columns() {
    let mut w = Parameter::array("w", &[2, 2]);
    w.column_major = true;
    assert_eq!(w.elements(), ["w[0,0]", "w[1,0]", "w[0,1]", "w[1,1]"]);
    let positive = Layout::new(vec![Block {
        parameter: w.clone(),
        scale: Scale::Positive,
    }])
    .unwrap();
    assert_eq!(positive.elements()[1], "w[1,0]");
    let refused = Layout::new(vec![Block {
        parameter: w,
        scale: Scale::Simplex,
    }])
    .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the declaration of \"w\" is wrong: simplex needs its elements row by row"
    );
}

#[test]
fn text_there_and_back() {
    for text in EACH
        .into_iter()
        .chain([ALL, "model::x: above(0.1)", "x: interval(-1e300, 1e-30)"])
    {
        let layout = layout(text);
        assert_eq!(
            layout.to_string().parse::<Layout>().unwrap(),
            layout,
            "{text}"
        );
    }
    assert_eq!(
        layout("  a [ 2 , 3 ] :  interval( 0,1 ) ,b").to_string(),
        "a[2,3]: interval(0, 1), b"
    );
}

#[cfg(feature = "serde")]
#[test]
fn serialised_there_and_back() {
    let layout = layout(ALL);
    let text = serde_json::to_string(&layout).unwrap();
    assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout);
    let text = r#"[{"name": "p", "shape": [3], "scale": "simplex"}, {"name": "mu", "shape": []}]"#;
    let layout: Layout = serde_json::from_str(text).unwrap();
    assert_eq!(layout.to_string(), "p[3]: simplex, mu");
    let wrong = r#"[{"name": "p", "shape": [1], "scale": "simplex"}]"#;
    let refused = serde_json::from_str::<Layout>(wrong)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("simplex needs 2 elements or more, but there are 1"),
        "{refused}"
    );
}

#[test]
fn declarations_that_cannot_be() {
    let names = "expected one of real, positive, above(low), below(high), interval(low, high), ordered, \
                 simplex, unit_vector, correlation_cholesky";
    for (text, message) in [
        ("", "the declaration of \"\" is wrong: it has no name"),
        (
            "a, a[2]",
            "the declaration of \"a\" is wrong: there is another one of that name",
        ),
        (
            "a[2, b",
            "the declaration of \"a[2, b\" is wrong: its name has one of [ ] ,",
        ),
        (
            "a[x]",
            "the declaration of \"a\" is wrong: \"x\" is not a length",
        ),
        (
            "a[0]",
            "the declaration of \"a\" is wrong: shape [0] has no elements",
        ),
        (
            "a: postive",
            &format!("there is no scale called \"postive\"; {names}"),
        ),
        (
            "a: above",
            &format!("there is no scale called \"above\"; {names}"),
        ),
        (
            "a: positive(1)",
            &format!("there is no scale called \"positive(1)\"; {names}"),
        ),
        (
            "a: above(x)",
            "the declaration of \"above\" is wrong: \"x\" is not a number",
        ),
        (
            "a: above(inf)",
            "the declaration of \"above(inf)\" is wrong: its bound is inf, but must be finite",
        ),
        (
            "a: below(NaN)",
            "the declaration of \"below(NaN)\" is wrong: its bound is NaN, but must be finite",
        ),
        (
            "a: interval(0, inf)",
            "the declaration of \"interval(0, inf)\" is wrong: its bound is inf, but must be finite",
        ),
        (
            "a: interval(2, 2)",
            "the declaration of \"interval(2, 2)\" is wrong: there is no room between 2 and 2",
        ),
        (
            "a: interval(3, 2)",
            "the declaration of \"interval(3, 2)\" is wrong: there is no room between 3 and 2",
        ),
        (
            "a: interval(0, 1e-301)",
            &format!(
                "the declaration of \"interval(0, 1e-301)\" is wrong: there is no room between 0 and {}",
                1e-301
            ),
        ),
        (
            "a: interval(-1e308, 1.5e308)",
            &format!(
                "the declaration of \"interval(-1e308, 1.5e308)\" is wrong: the interval from {} to {} is too wide",
                -1e308, 1.5e308
            ),
        ),
        (
            "p: simplex",
            "the declaration of \"p\" is wrong: simplex needs 1 axes or more, but there are 0",
        ),
        (
            "p[1]: simplex",
            "the declaration of \"p\" is wrong: simplex needs 2 elements or more, but there are 1",
        ),
        (
            "v[1]: unit_vector",
            "the declaration of \"v\" is wrong: unit_vector needs 2 elements or more, but there are 1",
        ),
        (
            "l[3]: correlation_cholesky",
            "the declaration of \"l\" is wrong: correlation_cholesky needs 2 axes or more, but there are 1",
        ),
        (
            "l[3,2]: correlation_cholesky",
            "the declaration of \"l\" is wrong: correlation_cholesky needs a square matrix, but the shape is [3, 2]",
        ),
    ] {
        assert_eq!(
            text.parse::<Layout>().unwrap_err().to_string(),
            message,
            "{text}"
        );
    }
    let unchecked = Layout::new(vec![Block::scalar("a", Scale::Interval(1.0, 0.0))]).unwrap_err();
    assert_eq!(
        unchecked.to_string(),
        "the declaration of \"a\" is wrong: there is no room between 1 and 0"
    );
    let none = Layout::new(vec![]).unwrap_err().to_string();
    assert_eq!(
        none,
        "the number of parameters must be at least 1, but is 0"
    );
}

#[test]
fn states_off_their_scale() {
    for (text, x, message) in [
        (
            "a, b: positive",
            &[1.0, 0.0][..],
            "b is 0, but must be greater than 0",
        ),
        (
            "a, b: positive",
            &[f64::NAN, 1.0],
            "a is NaN, but must be finite",
        ),
        (
            "a[2]: above(1.5)",
            &[2.0, 1.5],
            "a[1] is 1.5, but must be greater than 1.5",
        ),
        ("a: below(-1)", &[0.0], "a is 0, but must be less than -1"),
        (
            "a: interval(0, 1)",
            &[1.0],
            "a is 1, but must be greater than 0 and less than 1",
        ),
        (
            "a[2,2]: ordered",
            &[1.0, 2.0, 5.0, 4.0],
            "a[1,1] is 4, but must be greater than 5, the element before it",
        ),
        (
            "p[2,2]: simplex",
            &[0.5, 0.5, 1.0, 0.0],
            "p[1,1] is 0, but must be greater than 0",
        ),
        (
            "p[2]: simplex",
            &[0.5, 0.75],
            "the sum of p is 1.25, but must be 1",
        ),
        (
            "p[2,2]: simplex",
            &[0.5, 0.5, 0.5, 1.5],
            "the sum of the vector at p[1,0] is 2, but must be 1",
        ),
        (
            "v[2]: unit_vector",
            &[3.0, 4.0],
            "the length of v is 5, but must be 1",
        ),
        (
            "v[2]: unit_vector",
            &[0.0, 0.0],
            "the length of v is 0, but must be 1",
        ),
        (
            "l[2,2]: correlation_cholesky",
            &[1.0, 0.5, 0.0, 1.0],
            "l[0,1] is 0.5, but must be 0 above the diagonal",
        ),
        (
            "l[2,2]: correlation_cholesky",
            &[1.0, 0.0, 1.0, 0.0],
            "l[1,1] is 0, but must be greater than 0 on the diagonal",
        ),
        (
            "l[2,2]: correlation_cholesky",
            &[1.0, 0.0, 3.0, 4.0],
            "the length of row 1 of l is 5, but must be 1",
        ),
        (
            "a, b",
            &[1.0],
            "the constrained state has size 1, but 2 was expected",
        ),
    ] {
        let refused = layout(text).free_state(x).unwrap_err();
        assert_eq!(refused.to_string(), message, "{text}");
    }
    let pair = layout("a, b");
    let refused = |x: &[f64]| pair.constrain_draws(x).unwrap_err().to_string();
    assert_eq!(
        refused(&[1.0; 5]),
        "the free draws has size 5, but 4 was expected"
    );
    assert_eq!(
        pair.constrain_state(&[1.0]).unwrap_err().to_string(),
        "the free state has size 1, but 2 was expected"
    );
}

#[test]
fn targets_that_do_not_fit() {
    let model = || langevin::models::NormalParameters::new(vec![1.0, 2.0, 4.0]).unwrap();
    let refused = |text: &str| {
        Constrained::new(model(), layout(text))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(refused("mu"), "the target has size 2, but 1 was expected");
    let not_positive = "the target needs it to be positive, and its scale does not keep it so";
    for text in ["mu, sigma", "mu, sigma: above(-1)", "theta[2]: ordered"] {
        let refused = refused(text);
        assert!(
            refused.ends_with(not_positive) && refused.contains("sigma") != text.contains("theta"),
            "{refused}"
        );
    }
    for text in [
        "mu, sigma: above(0.5)",
        "mu, sigma: interval(0, 9)",
        "theta[2]: simplex",
    ] {
        Constrained::new(model(), layout(text)).unwrap();
    }
    let free = model().free().unwrap();
    assert!(free.check_state(&[0.0, -900.0]).is_ok());
    let overflow = free.check_state(&[0.0, 900.0]).unwrap_err().to_string();
    assert_eq!(
        overflow,
        "the initial state holds inf at position 1; every entry must be finite"
    );
}

/// A target of which one element of a vector is positive has to be declared by hand.
#[test]
fn half_positive_blocks_are_refused() {
    struct Half;
    impl Target for Half {
        fn dim(&self) -> usize {
            2
        }
        fn log_density<R: Real>(&self, x: &[R]) -> R {
            -x[0] - x[1] * x[1]
        }
        fn positive_coordinates(&self) -> &[usize] {
            &[0]
        }
    }
    let refused = Layout::of(&Half).unwrap_err().to_string();
    assert_eq!(
        refused,
        "the declaration of \"theta\" is wrong: 1 of its 2 elements are positive"
    );
    Constrained::new(Half, layout("a: positive, b")).unwrap();
}
