//! All targets, by name.

use std::fmt;

use langevin::target::Target;

use crate::bad::{AlwaysNan, Cauchy, ConstantCoordinate, Flat, SomewhereInfinite, WrongScore};
use crate::curved::{Banana, Funnel};
use crate::gaussian::{Correlated, Diagonal};
use crate::hierarchy::Hierarchy;
use crate::intercepts::Intercepts;
use crate::items::ItemResponse;
use crate::mixture::{OrderedMixture, TwoModes};
use crate::process::Process;
use crate::regression::{Poisson, credit};
use crate::series::{Autoregression, Garch};
use crate::simplex::Dirichlet;
use crate::tails::StudentT;
use crate::volatility::StochasticVolatility;
use crate::{Expect, Moments, Set, Truth, reference};

/// Something that is done with targets of any type.
pub trait Visit {
    /// Takes a target and what is known about it.
    fn visit<T: Target + Clone + fmt::Debug + 'static>(&mut self, target: &T, truth: &Truth);
}

struct Entry {
    name: &'static str,
    set: Set,
    expect: Expect,
    fourth_moments: bool,
}

impl Entry {
    fn show<T: Target + Clone + fmt::Debug + 'static>(
        &self,
        to: &mut impl Visit,
        target: &T,
        moments: Option<Moments>,
    ) {
        let truth = Truth {
            name: self.name,
            dim: target.dim(),
            set: self.set,
            expect: self.expect,
            fourth_moments: self.fourth_moments,
            moments,
        };
        to.visit(target, &truth);
    }
}

/// Lists of targets: name, set, what is expected, whether fourth moments exist, how it is made, and
/// where its answers come from.
macro_rules! list {
    ($names:ident $one:ident: $($name:literal $set:ident $expect:ident $fourth:literal
        $make:expr, |$target:ident| $moments:expr;)+) => {
        const $names: &[&str] = &[$($name),+];

        fn $one(name: &str, to: &mut impl Visit) -> bool {
            match name {
                $($name => {
                    let $target = $make;
                    let entry = Entry {
                        name: $name,
                        set: Set::$set,
                        expect: Expect::$expect,
                        fourth_moments: $fourth,
                    };
                    entry.show(to, &$target, $moments);
                    true
                })+
                _ => false,
            }
        }
    };
}

list! {REGULAR regular:
    "gaussian-2" Tuning Right true Correlated::new(2, 100.0, 1), |g| Some(g.moments());
    "gaussian-20" HeldOut Right true Correlated::new(20, 1e3, 2), |g| Some(g.moments());
    "gaussian-100" Tuning Right true Correlated::new(100, 1e3, 3), |g| Some(g.moments());
    "gaussian-200" HeldOut Right true Correlated::new(200, 1e4, 4), |g| Some(g.moments());
    "diagonal-1000" Tuning Right true Diagonal::new(1000, 5), |g| Some(g.moments());
    "hierarchy-1002" HeldOut Right true Hierarchy::<true>::simulated(1000, 6), |h| Some(h.moments());
    "eight-schools-centred" HeldOut RightOrWarned true Hierarchy::<true>::eight_schools(), |h| Some(h.moments());
    "eight-schools" Tuning Right true Hierarchy::<false>::eight_schools(), |h| Some(h.moments());
    "banana" Tuning Right true Banana { bend: 1.0, width: 1.0 }, |b| Some(b.moments());
    "banana-narrow" HeldOut RightOrWarned true Banana { bend: 2.0, width: 0.3 }, |b| Some(b.moments());
    "funnel" Tuning RightOrWarned true Funnel { dim: 10 }, |f| Some(f.moments());
    "student-3" HeldOut RightOrWarned false StudentT { dim: 10, nu: 3.0, joint: false }, |t| Some(t.moments());
    "student-5" Tuning RightOrWarned true StudentT { dim: 10, nu: 5.0, joint: false }, |t| Some(t.moments());
    "student-5-joint" HeldOut RightOrWarned true StudentT { dim: 10, nu: 5.0, joint: true }, |t| Some(t.moments());
    "credit" Tuning Right true credit(), |_t| reference::moments("credit");
    "poisson" HeldOut Right true Poisson::simulated(), |_t| reference::moments("poisson");
    "autoregression-1" Tuning Right true Autoregression::<1>::simulated(), |_t| reference::moments("autoregression-1");
    "autoregression-2" HeldOut Right true Autoregression::<2>::simulated(), |_t| reference::moments("autoregression-2");
    "garch" HeldOut Right true Garch::simulated(), |_t| reference::moments("garch");
    "volatility" Tuning Right true StochasticVolatility::simulated(100), |_t| reference::moments("volatility");
    "item-response" HeldOut Right true ItemResponse::simulated(), |_t| reference::moments("item-response");
    "radon" Tuning Right true Intercepts::<false>::radon(), |_t| reference::moments("radon");
    "radon-centred" HeldOut Right true Intercepts::<true>::radon(), |_t| reference::moments("radon-centred");
    "process" Tuning Right true Process::simulated(), |_t| reference::moments("process");
    "ordered-mixture" Tuning Right true OrderedMixture::simulated(), |_t| reference::moments("ordered-mixture");
    "dirichlet" HeldOut Right true Dirichlet::new(vec![0.7, 2.0, 1.0, 5.0, 0.9, 3.0]), |d| Some(d.moments());
    "two-modes" HeldOut RightOrWarned true TwoModes, |t| Some(t.moments());
}

list! {BAD bad:
    "flat" Bad Warned false Flat, |_t| None;
    "always-nan" Bad Warned false AlwaysNan, |_t| None;
    "constant-coordinate" Bad Warned false ConstantCoordinate, |_t| None;
    "somewhere-infinite" Bad Warned false SomewhereInfinite, |_t| None;
    "wrong-score" Bad Warned false WrongScore, |_t| None;
    "cauchy" Bad Warned false Cauchy, |_t| None;
}

/// Names of all distributions.
///
/// ```
/// assert!(langevin_posteriors::names().contains(&"funnel"));
/// ```
pub fn names() -> &'static [&'static str] {
    REGULAR
}

/// Names of all targets that are no distributions, or not what they say.
pub fn bad_names() -> &'static [&'static str] {
    BAD
}

/// Shows every distribution, in the order of [`names`].
pub fn for_each(to: &mut impl Visit) {
    for name in REGULAR {
        regular(name, to);
    }
}

/// Shows every target of [`bad_names`].
pub fn for_each_bad(to: &mut impl Visit) {
    for name in BAD {
        bad(name, to);
    }
}

/// Shows the target of this name, of either list; false if there is none.
///
/// ```
/// use langevin::target::Target;
/// use langevin_posteriors::{Truth, Visit, visit};
/// struct Dim(usize);
/// impl Visit for Dim {
///     fn visit<T: Target>(&mut self, target: &T, _: &Truth) {
///         self.0 = target.dim();
///     }
/// }
/// let mut dim = Dim(0);
/// assert!(visit("volatility", &mut dim) && dim.0 == 103);
/// assert!(!visit("volatile", &mut dim));
/// ```
pub fn visit(name: &str, to: &mut impl Visit) -> bool {
    regular(name, to) || bad(name, to)
}
