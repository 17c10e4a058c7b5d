//! From a claim of the paper to a verdict: Holds, Fails or Undecided, by standard errors.

use std::collections::BTreeMap;

use langevin::stat::running::Estimate;

use super::embedded::time_in_paper;
use super::planar;
use super::printed::{Claim, Curve, Item, Quantity};
use super::quantity::{exact, quotient, value};
use langevin_page::figure::number::concise;
use langevin_page::report::{Outcome, Verdict};
use langevin_run::compare::{ArmResult, Comparison};

/// All comparisons by the name of their run file.
pub type Comparisons = BTreeMap<String, Comparison>;

/// A number that a claim is about; no error is known where chains are too few.
struct Number {
    name: String,
    value: f64,
    error: Option<f64>,
}

/// Whether a number lies in a range by more than `z` standard errors, outside it by as much, or
/// neither.
pub fn decide(value: f64, error: Option<f64>, range: [f64; 2], z: f64) -> Outcome {
    let Some(margin) = error.map(|e| z * e).filter(|m| m.is_finite()) else {
        return Outcome::Undecided;
    };
    let [low, high] = range;
    if !value.is_finite() {
        Outcome::Undecided
    } else if value - margin > low && value + margin < high {
        Outcome::Holds
    } else if value + margin < low || value - margin > high {
        Outcome::Fails
    } else {
        Outcome::Undecided
    }
}

/// One failure decides; without any, all must hold.
fn overall(outcomes: &[Outcome]) -> Outcome {
    if outcomes.contains(&Outcome::Fails) {
        Outcome::Fails
    } else if outcomes.is_empty() || outcomes.contains(&Outcome::Undecided) {
        Outcome::Undecided
    } else {
        Outcome::Holds
    }
}

/// The verdict on a claim about an item.
pub fn judge(claim: &Claim, item: &Item, all: &Comparisons, z: f64) -> Verdict {
    let curve = claim
        .rises
        .map(|c| (c, 1.0))
        .or(claim.falls.map(|c| (c, -1.0)));
    if let Some((curve, sign)) = curve {
        return judge_curve(claim, item, curve, sign);
    }
    let range = claim.range.unwrap_or([0.0, 1.0]);
    let numbers = numbers(claim, item, all);
    let outcomes: Vec<Outcome> = numbers
        .iter()
        .map(|n| decide(n.value, n.error, range, z))
        .collect();
    let unlike = unlike(claim, item, all);
    let outcome = match unlike {
        Some(_) => Outcome::Undecided,
        None => overall(&outcomes),
    };
    let mut verdict = Verdict::new(claim.text.clone(), outcome).see(item.id.clone());
    for number in &numbers {
        verdict = verdict.measured(number.name.clone(), number.value, number.error);
    }
    let open = outcomes
        .iter()
        .filter(|o| **o == Outcome::Undecided)
        .count();
    let failed = outcomes.iter().filter(|o| **o == Outcome::Fails).count();
    let count = match (&unlike, outcome) {
        (Some(reason), _) => format!(" {reason}"),
        (_, Outcome::Holds) => String::new(),
        (_, Outcome::Fails) => format!(" {failed} of {} do not.", outcomes.len()),
        (_, Outcome::Undecided) => format!(" The errors leave {open} of {} open.", outcomes.len()),
    };
    let because = match claim.because.as_str() {
        "" => String::new(),
        text => format!(" {text}"),
    };
    verdict.explanation(format!("{}{count}{because}", asked(claim, range)))
}

/// Why estimates cannot be compared with others, if so: batch means of other lengths estimate
/// other numbers.
fn unlike(claim: &Claim, item: &Item, all: &Comparisons) -> Option<String> {
    let run = claim.run.as_ref().unwrap_or(&item.run);
    let ours = time(all.get(run)?);
    let (theirs, whose) = match &claim.versus {
        Some(other) => (time(all.get(other)?), "there"),
        None if claim.printed || claim.exact_over_printed => (time_in_paper(run)?, "in the paper"),
        None => return None,
    };
    let text = format!(
        "Paths last {} here and {} {whose}, so that batch means estimate different numbers.",
        concise(ours, 4),
        concise(theirs, 4)
    );
    (claim.quantity == Quantity::Variance && (ours / theirs - 1.0).abs() > 0.01).then_some(text)
}

/// Time from the end of burn-in to the end of the paths.
pub fn time(comparison: &Comparison) -> f64 {
    let run = &comparison.run;
    let h = run.arms.first().map_or(0.0, |arm| arm.step_size.largest());
    h * (run.n_steps - run.burn_in) as f64
}

/// Where the numbers have to lie, in words.
fn asked(claim: &Claim, [low, high]: [f64; 2]) -> String {
    let what = match (claim.quantity, claim.each.is_some()) {
        (Quantity::Slope, true) => "Slopes",
        _ => "Ratios",
    };
    let (low, high) = match (low, high.is_infinite()) {
        (0.0, false) => return format!("{what} have to be below {}.", concise(high, 4)),
        (low, true) => return format!("{what} have to be above {}.", concise(low, 4)),
        (low, false) => (concise(low, 4), concise(high, 4)),
    };
    format!("{what} have to lie between {low} and {high}.")
}

/// A curve of the appendix is exact, so that nothing is ever undecided.
fn judge_curve(claim: &Claim, item: &Item, curve: Curve, sign: f64) -> Verdict {
    let points = planar::curve(curve);
    let wrong = points
        .windows(2)
        .find(|w| sign * (w[1][1] - w[0][1]) <= 0.0);
    let outcome = match (points.is_empty(), wrong) {
        (true, _) => Outcome::Undecided,
        (_, None) => Outcome::Holds,
        (_, Some(_)) => Outcome::Fails,
    };
    let mut verdict = Verdict::new(claim.text.clone(), outcome)
        .see(item.id.clone())
        .explanation(claim.because.clone());
    for point in points
        .iter()
        .filter(|p| [0.0, 2.0, 6.0, 10.0].contains(&p[0]))
    {
        verdict = verdict.measured(format!("δ = {}", point[0]), point[1], None);
    }
    verdict
}

/// All numbers of a claim; none where the run is missing.
fn numbers(claim: &Claim, item: &Item, all: &Comparisons) -> Vec<Number> {
    let run = claim.run.as_ref().unwrap_or(&item.run);
    let Some(comparison) = all.get(run) else {
        return vec![];
    };
    let mut found = vec![];
    for observable in observables(claim, comparison) {
        let about = About {
            claim,
            item,
            comparison,
            observable,
        };
        found.extend(about.numbers(all));
    }
    found
}

/// Which observables a claim is about; a single 0 where the quantity has none.
fn observables(claim: &Claim, comparison: &Comparison) -> Vec<usize> {
    if !claim.quantity.is_of_observables() {
        return vec![0];
    }
    let all = comparison.run.measure.observables.iter().enumerate();
    all.filter(|(_, o)| claim.observables.is_empty() || claim.observables.contains(&o.name))
        .map(|(i, _)| i)
        .collect()
}

/// A claim about one observable.
struct About<'a> {
    claim: &'a Claim,
    item: &'a Item,
    comparison: &'a Comparison,
    observable: usize,
}

impl About<'_> {
    fn numbers(&self, all: &Comparisons) -> Vec<Number> {
        let claim = self.claim;
        let names: Vec<&str> = self
            .comparison
            .arms
            .iter()
            .map(|a| a.arm.name.as_str())
            .collect();
        if let Some(system) = &claim.smallest {
            let others = names.iter().filter(|n| *n != system);
            return others
                .filter_map(|other| self.ratio(system, other))
                .collect();
        }
        if let Some(order) = &claim.order {
            let steps = order.windows(2);
            return steps.filter_map(|w| self.ratio(&w[1], &w[0])).collect();
        }
        if let Some(pairs) = &claim.pairs {
            return pairs.iter().filter_map(|[a, b]| self.ratio(a, b)).collect();
        }
        if let Some(systems) = &claim.each {
            return systems.iter().filter_map(|name| self.alone(name)).collect();
        }
        if let Some(other) = claim.versus.as_ref().and_then(|run| all.get(run)) {
            return names
                .iter()
                .filter_map(|name| self.versus(name, other))
                .collect();
        }
        if claim.printed {
            return names
                .iter()
                .filter_map(|name| self.over_printed(name))
                .collect();
        }
        if claim.exact {
            return names
                .iter()
                .filter_map(|name| self.over_exact(name))
                .collect();
        }
        match claim.exact_over_printed {
            true => names
                .iter()
                .filter_map(|name| self.exact_over_printed(name))
                .collect(),
            false => vec![],
        }
    }

    fn arm(&self, name: &str) -> Option<&ArmResult> {
        self.comparison.arms.iter().find(|arm| arm.arm.name == name)
    }

    /// `, φ₁` where there are several observables.
    fn of_observable(&self) -> String {
        if !self.claim.quantity.is_of_observables() {
            return String::new();
        }
        format!(", {}", short_symbol(self.comparison, self.observable))
    }

    fn number(&self, name: String, estimate: Option<Estimate>) -> Option<Number> {
        let estimate = estimate?;
        Some(Number {
            name: name + &self.of_observable(),
            value: estimate.value,
            error: Some(estimate.se),
        })
    }

    fn value(&self, arm: &ArmResult) -> Option<super::quantity::Value> {
        value(self.comparison, arm, self.claim.quantity, self.observable)
    }

    fn ratio(&self, a: &str, b: &str) -> Option<Number> {
        let (first, second) = (self.arm(a)?, self.arm(b)?);
        let estimate = self.value(first)?.over(&self.value(second)?);
        let known = |arm| exact(arm, self.claim.quantity, self.observable);
        let beside = match (known(first), known(second)) {
            (Some(x), Some(y)) => format!(" (exact {})", concise(x / y, 3)),
            _ => String::new(),
        };
        let mut number = self.number(format!("{a} / {b}"), estimate)?;
        number.name += &beside;
        Some(number)
    }

    fn alone(&self, name: &str) -> Option<Number> {
        let estimate = self.value(self.arm(name)?)?.estimate();
        self.number(name.into(), estimate)
    }

    fn versus(&self, name: &str, other: &Comparison) -> Option<Number> {
        let there = other.arms.iter().find(|arm| arm.arm.name == name)?;
        let there = value(other, there, self.claim.quantity, self.observable)?;
        let estimate = self.value(self.arm(name)?)?.over(&there);
        self.number(name.into(), estimate)
    }

    fn over_exact(&self, name: &str) -> Option<Number> {
        let arm = self.arm(name)?;
        let known = exact(arm, self.claim.quantity, self.observable)?;
        let estimate = self.value(arm)?.estimate()?;
        let known = Estimate {
            value: known,
            se: 0.0,
        };
        self.number(name.into(), Some(quotient(estimate, known)))
    }

    fn exact_over_printed(&self, name: &str) -> Option<Number> {
        let value = exact(self.arm(name)?, self.claim.quantity, self.observable)?;
        let known = Estimate { value, se: 0.0 };
        self.number(name.into(), Some(quotient(known, self.printed(name)?)))
    }

    /// Our ratio to the first system over the printed one, whose error follows from the printed
    /// standard deviations (of independent chains, as far as the paper says).
    fn over_printed(&self, name: &str) -> Option<Number> {
        let first = &self.comparison.arms.first()?.arm.name;
        if name == first {
            return None;
        }
        let ours = self
            .value(self.arm(name)?)?
            .over(&self.value(self.arm(first)?)?)?;
        let theirs = quotient(self.printed(name)?, self.printed(first)?);
        self.number(format!("{name} / {first}"), Some(quotient(ours, theirs)))
    }

    fn printed(&self, name: &str) -> Option<Estimate> {
        let row = self.item.printed.get(name)?;
        let chains = self.item.printed_chains?;
        Some(Estimate {
            value: *row.get(2 * self.observable)?,
            se: row.get(2 * self.observable + 1)? / chains.sqrt(),
        })
    }
}

/// `φ₁` for `φ₁ = Σ θᵢ`.
pub fn short_symbol(comparison: &Comparison, observable: usize) -> String {
    let symbol = comparison.run.measure.observables[observable].symbol();
    symbol.split(" = ").next().unwrap_or(&symbol).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_decide() {
        let below_one = |value, se| decide(value, Some(se), [0.0, 1.0], 3.0);
        assert_eq!(below_one(0.8, 0.05), Outcome::Holds);
        assert_eq!(below_one(0.9, 0.05), Outcome::Undecided);
        assert_eq!(below_one(1.1, 0.05), Outcome::Undecided);
        assert_eq!(below_one(1.2, 0.05), Outcome::Fails);
        assert_eq!(below_one(f64::NAN, 0.05), Outcome::Undecided);
        assert_eq!(decide(0.5, None, [0.0, 1.0], 3.0), Outcome::Undecided);
        assert_eq!(
            decide(0.5, Some(f64::NAN), [0.0, 1.0], 3.0),
            Outcome::Undecided
        );
        assert_eq!(decide(-0.7, Some(0.01), [-0.6, -0.4], 3.0), Outcome::Fails);
        // A ratio that is barely measured speaks neither way.
        assert_eq!(below_one(0.5, 0.4), Outcome::Undecided);
    }

    #[test]
    fn one_failure_decides_and_nothing_decides_nothing() {
        use Outcome::{Fails, Holds, Undecided};
        assert_eq!(overall(&[Holds, Undecided, Fails]), Fails);
        assert_eq!(overall(&[Holds, Undecided]), Undecided);
        assert_eq!(overall(&[Holds, Holds]), Holds);
        assert_eq!(overall(&[]), Undecided);
    }
}
