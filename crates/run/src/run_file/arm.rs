//! From `[[dynamics]]` to the arms of a comparison.

use langevin::batch::Gradient;
use langevin::catalog::{MetricChoice, System};
use langevin::dynamics::DEFAULT_BETA;
use langevin::skew::{Skew, SkewMatrix};
use langevin::transition::StepSize;

use super::source::{At, AtPlace, Place, Result};
use super::target::square;
use super::typed;
use crate::shown::quoted;
use crate::target::Target;

/// One dynamics with its step size and gradient estimator.
#[derive(Clone, Debug)]
pub struct Arm {
    /// What to call it.
    pub name: String,
    /// Metric, skew field and β.
    pub system: System,
    /// Step sizes.
    pub step_size: StepSize,
    /// Gradient estimator.
    pub gradient: Gradient,
}

/// Where the parts of an arm were typed, for messages.
#[derive(Clone, Debug)]
pub struct Places {
    /// The entry as a whole.
    pub entry: Place,
    /// Its step size.
    pub step_size: Place,
    /// Its batch size.
    pub batch: Place,
    /// Its J.
    pub skew: Place,
}

/// Builds all arms; their names must differ.
pub fn arms(
    typed: &At<Vec<At<typed::Dynamics>>>,
    run: &typed::Run,
    target: &Target,
) -> Result<Vec<(Arm, Places)>> {
    let mut arms: Vec<(Arm, Places)> = vec![];
    for entry in &typed.value {
        let (arm, places) = build(entry, run, target)?;
        if arms.iter().any(|(other, _)| other.name == arm.name) {
            return places.entry.refuse(format!(
                "two dynamics are called {}; give one of them another `name`",
                quoted(&arm.name)
            ));
        }
        arms.push((arm, places));
    }
    match arms.is_empty() {
        true => typed.place.refuse("at least one dynamics is needed"),
        false => Ok(arms),
    }
}

fn build(entry: &At<typed::Dynamics>, run: &typed::Run, target: &Target) -> Result<(Arm, Places)> {
    let typed = &entry.value;
    let skew_typed = typed.choices.skew.as_ref().or(run.defaults.skew.as_ref());
    let step_typed = typed.step_size.as_ref().unwrap_or(&run.step_size);
    let batch_typed = typed.batch.size.as_ref().or(run.batch.size.as_ref());
    let places = Places {
        entry: entry.place.clone(),
        step_size: step_typed.place.clone(),
        batch: batch_typed.map_or(&entry.place, |b| &b.place).clone(),
        skew: skew_typed.map_or(&entry.place, |s| &s.place).clone(),
    };
    let mut system = system(entry, run, target, &places)?;
    let beta = typed.choices.beta.as_ref().or(run.defaults.beta.as_ref());
    system.beta = beta.map_or(DEFAULT_BETA, |b| b.value);
    let step_size = match step_typed.value {
        typed::StepSize::Constant(h) => StepSize::Constant(h),
        typed::StepSize::Decreasing { a, b, gamma } => StepSize::Decreasing { a, b, gamma },
    };
    step_size.check().at(&places.step_size)?;
    let with_replacement = typed.batch.with_replacement.or(run.batch.with_replacement);
    let gradient = match batch_typed.and_then(|b| b.value) {
        None => Gradient::Exact,
        Some(n) => Gradient::Minibatch {
            batch_size: n as usize,
            with_replacement: with_replacement.unwrap_or(false),
        },
    };
    gradient.check(target.n_data()).at(&places.batch)?;
    let arm = Arm {
        name: system.name.clone(),
        system,
        step_size,
        gradient,
    };
    Ok((arm, places))
}

/// Metric and skew field; β is still the default.
fn system(
    entry: &At<typed::Dynamics>,
    run: &typed::Run,
    target: &Target,
    places: &Places,
) -> Result<System> {
    let typed = &entry.value;
    let name = typed.name.as_ref().map(|n| n.value.clone());
    let Some(system) = &typed.system else {
        let Some(name) = name else {
            return entry
                .place
                .refuse("[[dynamics]] needs `system`, or a `name` and its own choices");
        };
        return own_choices(name, entry, run, target, places);
    };
    if let Some(field) = &typed.field {
        return field
            .place
            .refuse("`field` belongs to dynamics without `system`");
    }
    let short = system.value;
    let (has_metric, has_skew) = match short {
        "LD" => (false, false),
        "RM" => (true, false),
        "Irr" => (false, true),
        _ => (true, true),
    };
    if let (Some(metric), false) = (&typed.choices.metric, has_metric) {
        return metric
            .place
            .refuse(format!("{short} has no metric to choose"));
    }
    if let (Some(skew), false) = (&typed.choices.skew, has_skew) {
        return skew.place.refuse(format!("{short} has no skew matrix"));
    }
    let metric = metric(typed, run, target)?;
    let metric = match (metric, target.model()) {
        (Some(metric), _) => metric,
        (None, Some(model)) => MetricChoice::of_paper(model),
        (None, None) if has_metric => {
            return entry.place.refuse(format!(
                "{short} needs a metric, and this target has none of its own: give `metric` here or in [run]"
            ));
        }
        (None, None) => MetricChoice::Identity,
    };
    let j = match (skew(typed, run, target)?, has_skew) {
        (Some(j), true) => j,
        (None, true) => {
            return entry.place.refuse(format!(
                "{short} needs a skew matrix: give `skew` here or in [run]"
            ));
        }
        // Not used: the system has none.
        (_, false) => SkewMatrix::sign_pattern(target.dim(), 0.0).at(&entry.place)?,
    };
    let mut system = System::named(short, metric, j).at(&system.place)?;
    if let Some(name) = name {
        system.name = name;
    }
    Ok(system)
}

fn own_choices(
    name: String,
    entry: &At<typed::Dynamics>,
    run: &typed::Run,
    target: &Target,
    places: &Places,
) -> Result<System> {
    let typed = &entry.value;
    let metric = metric(typed, run, target)?.unwrap_or(MetricChoice::Identity);
    let field = typed.field.as_ref().map_or("none", |f| f.value);
    let skew = match (field, skew(typed, run, target)?) {
        ("none", _) if typed.choices.skew.is_some() => {
            return places
                .skew
                .refuse("a skew matrix needs `field = \"constant\"` or `field = \"geometric\"`");
        }
        ("none", _) => Skew::None,
        (_, None) => {
            return entry.place.refuse(format!(
                "a {field} field needs a skew matrix: give `skew` here or in [run]"
            ));
        }
        ("constant", Some(j)) => Skew::Constant(j),
        (_, Some(j)) => Skew::Geometric(j),
    };
    Ok(System {
        name,
        metric,
        skew,
        beta: DEFAULT_BETA,
    })
}

fn metric(
    typed: &typed::Dynamics,
    run: &typed::Run,
    target: &Target,
) -> Result<Option<MetricChoice>> {
    let own = typed.choices.metric.as_ref();
    let Some(metric) = own.or(run.defaults.metric.as_ref()) else {
        return Ok(None);
    };
    let dim = target.dim();
    let check = |found: usize| match found == dim {
        true => Ok(()),
        false => metric.place.refuse(format!(
            "a metric of size {found}, but the model has {dim} coordinates"
        )),
    };
    Ok(Some(match &metric.value {
        typed::Metric::Named("identity") => MetricChoice::Identity,
        typed::Metric::Named("natural") => MetricChoice::Natural,
        typed::Metric::Named(_) => MetricChoice::NaturalPlusIdentity,
        typed::Metric::Diagonal(entries) => {
            check(entries.len())?;
            MetricChoice::Diagonal(entries.clone())
        }
        typed::Metric::Entries(rows) => {
            check(rows.len())?;
            MetricChoice::Dense(square(rows, &metric.place)?)
        }
    }))
}

fn skew(typed: &typed::Dynamics, run: &typed::Run, target: &Target) -> Result<Option<SkewMatrix>> {
    let own = typed.choices.skew.as_ref();
    let Some(At { value, place }) = own.or(run.defaults.skew.as_ref()) else {
        return Ok(None);
    };
    let dim = target.dim();
    let j = match value {
        typed::Skew::SignPattern { delta } => SkewMatrix::sign_pattern(dim, *delta).at(place)?,
        typed::Skew::RandomSigns { seed, norm } => SkewMatrix::random_signs(dim, *seed)
            .and_then(|j| j.with_norm(*norm))
            .at(place)?,
        typed::Skew::Kronecker { norm } => {
            let m = dim.isqrt();
            if m * m != dim {
                return place.refuse(format!(
                    "a Kronecker J needs a square number of coordinates, but the model has {dim}"
                ));
            }
            SkewMatrix::kronecker_signs(m)
                .and_then(|j| j.with_norm(*norm))
                .at(place)?
        }
        typed::Skew::Entries(rows) => SkewMatrix::new(&square(rows, place)?).at(place)?,
    };
    if j.dim() != dim {
        return place.refuse(format!(
            "J is {0} × {0}, but the model has {dim} coordinates",
            j.dim()
        ));
    }
    Ok(Some(j))
}
