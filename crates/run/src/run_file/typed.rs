//! What was typed in a run file: every field with its place, types checked, meaning not yet.

use std::sync::Arc;

use toml::Spanned;
use toml::de::DeTable;

use super::kind::Kind;
use super::reader::{Section, Value};
use super::source::{At, Place, Result, Source};
use crate::shown;

/// A whole run file as typed.
#[derive(Clone, Debug)]
pub struct Typed {
    /// The file.
    pub source: Arc<Source>,
    /// Title of reports.
    pub title: Option<String>,
    /// `[target]`.
    pub target: Target,
    /// `[run]`.
    pub run: Run,
    /// `[[dynamics]]`.
    pub dynamics: At<Vec<At<Dynamics>>>,
    /// `[measure]`.
    pub measure: Measure,
}

/// `[target]`.
#[derive(Clone, Debug)]
pub enum Target {
    /// A model of the library.
    Model(Box<Model>),
    /// A Stan model.
    Stan(Stan),
}

impl Target {
    /// Where its data stand.
    pub fn place(&self) -> &Place {
        match self {
            Target::Model(model) => &model.data.place,
            Target::Stan(stan) => &stan.library.place,
        }
    }
}

/// A Stan model in a library that BridgeStan built.
#[derive(Clone, Debug)]
pub struct Stan {
    /// The library, relative to the run file.
    pub library: At<String>,
    /// A file with its data in JSON, relative to the run file.
    pub data: Option<At<String>>,
}

/// A model of the library with its data.
#[derive(Clone, Debug)]
pub struct Model {
    /// The model.
    pub model: At<Kind>,
    /// Γ_X of the linear Gaussian model.
    pub noise_precision: Option<At<Matrix>>,
    /// Γ_θ, α or λ.
    pub prior_precision: Option<At<Matrix>>,
    /// `[target.data]`.
    pub data: At<Data>,
}

/// A symmetric matrix in one of several spellings.
#[derive(Clone, Debug)]
pub enum Matrix {
    /// A multiple of the identity.
    Number(f64),
    /// All entries.
    Entries(Vec<Vec<f64>>),
    /// Eigenvalues in a random orthonormal basis.
    Spectrum {
        /// The eigenvalues.
        eigenvalues: Vec<f64>,
        /// Seed of the basis.
        eigenvector_seed: u64,
    },
}

/// `[target.data]`.
#[derive(Clone, Debug)]
pub enum Data {
    /// Numbers in the run file itself.
    Values {
        /// One row per datum.
        rows: At<Vec<Vec<f64>>>,
        /// One label per row, for logistic regression.
        labels: Option<At<Vec<f64>>>,
    },
    /// Made from a seed.
    Generate(Generate),
    /// A CSV file.
    File(CsvFile),
}

/// How to make data.
#[derive(Clone, Debug)]
pub struct Generate {
    /// Number of rows.
    pub n: At<u64>,
    /// Seed.
    pub seed: u64,
    /// Mean: a number, or one per coordinate.
    pub mean: Option<At<Vec<f64>>>,
    /// Standard deviation of normal data.
    pub sd: Option<At<f64>>,
    /// Number of coordinates.
    pub dim: Option<At<u64>>,
    /// True weights of logistic regression.
    pub weights: Option<At<Vec<f64>>>,
    /// Laws of the signals of independent component analysis.
    pub signals: Option<At<Vec<&'static str>>>,
}

/// Which part of a CSV file to use.
#[derive(Clone, Debug)]
pub struct CsvFile {
    /// Its path as typed, relative to the run file.
    pub file: At<String>,
    /// Columns with data; all but the label and the filter's if not given.
    pub columns: Option<Vec<String>>,
    /// Column with labels.
    pub label: Option<At<String>>,
    /// Rows to keep: column and value.
    pub filter: Option<(String, String)>,
    /// Whether to shift and scale the columns to mean 0 and variance 1 over the whole file.
    pub standardize: bool,
}

/// `[run]`.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it stands.
    pub place: Place,
    /// Number of chains.
    pub n_chains: At<u64>,
    /// Number of states of each chain, the initial one included.
    pub n_steps: At<u64>,
    /// Step size.
    pub step_size: At<StepSize>,
    /// States to leave out.
    pub burn_in: At<u64>,
    /// Distance between stored draws.
    pub thin: u64,
    /// Seed.
    pub seed: Option<u64>,
    /// Minibatches.
    pub batch: Batch,
    /// Initial state.
    pub start: Option<At<Start>>,
    /// Defaults for all dynamics.
    pub defaults: Choices,
}

/// Step sizes.
#[derive(Clone, Copy, Debug)]
pub enum StepSize {
    /// The same throughout.
    Constant(f64),
    /// a (b + k)^(−γ).
    Decreasing {
        /// Scale.
        a: f64,
        /// Offset.
        b: f64,
        /// Decay.
        gamma: f64,
    },
}

/// Minibatches; `None` where nothing was said.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Rows per step; `None` inside for all rows.
    pub size: Option<At<Option<u64>>>,
    /// Whether a row can be drawn twice.
    pub with_replacement: Option<bool>,
}

/// Where chains start.
#[derive(Clone, Debug)]
pub enum Start {
    /// All at one state.
    Fixed(Vec<f64>),
    /// One state per chain.
    PerChain(Vec<Vec<f64>>),
    /// A diagonal matrix of random signs (independent component analysis).
    RandomSigns,
    /// Independent normal coordinates.
    Normal {
        /// Centre; one number counts for all coordinates.
        mean: Vec<f64>,
        /// Standard deviation.
        sd: f64,
    },
}

/// The choices that make a dynamics.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Metric.
    pub metric: Option<At<Metric>>,
    /// J.
    pub skew: Option<At<Skew>>,
    /// Temperature.
    pub beta: Option<At<f64>>,
}

/// A metric.
#[derive(Clone, Debug)]
pub enum Metric {
    /// By name.
    Named(&'static str),
    /// Diagonal entries.
    Diagonal(Vec<f64>),
    /// All entries.
    Entries(Vec<Vec<f64>>),
}

/// A skew-symmetric matrix J.
#[derive(Clone, Debug)]
pub enum Skew {
    /// +δ above the diagonal, −δ below.
    SignPattern {
        /// δ.
        delta: f64,
    },
    /// Random signs, scaled to a spectral norm.
    RandomSigns {
        /// Seed of the signs.
        seed: u64,
        /// Spectral norm.
        norm: f64,
    },
    /// I ⊗ C₀ + C₀ ⊗ I, scaled to a spectral norm.
    Kronecker {
        /// Spectral norm.
        norm: f64,
    },
    /// All entries.
    Entries(Vec<Vec<f64>>),
}

/// One entry of `[[dynamics]]`.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// What to call it.
    pub name: Option<At<String>>,
    /// One of the five systems of the paper.
    pub system: Option<At<&'static str>>,
    /// `none`, `constant` or `geometric`, for dynamics that are none of the five.
    pub field: Option<At<&'static str>>,
    /// Metric, J and β.
    pub choices: Choices,
    /// Step size, where it differs from that of the run.
    pub step_size: Option<At<StepSize>>,
    /// Minibatches, where they differ from those of the run.
    pub batch: Batch,
}

/// `[measure]`.
#[derive(Clone, Debug, Default)]
pub struct Measure {
    /// Names of observables.
    pub observables: Option<At<Vec<At<String>>>>,
    /// Number of batches of batch means.
    pub n_batches: Option<At<u64>>,
    /// Checkpoints of running averages in a factor of ten.
    pub checkpoints_per_decade: Option<At<u64>>,
    /// Where running averages begin: `start` or `burn-in`.
    pub running_from: Option<&'static str>,
    /// What averages are compared with.
    pub truth: Option<At<Truth>>,
    /// Kernel Stein discrepancy.
    pub ksd: Option<At<Ksd>>,
    /// Paths to show.
    pub trajectories: Option<At<Trajectories>>,
    /// Whether exact answers are computed where there are any.
    pub theory: Option<bool>,
}

/// What averages are compared with.
#[derive(Clone, Debug)]
pub enum Truth {
    /// Nothing.
    None,
    /// The exact expectations.
    Exact,
    /// Numbers by observable.
    Numbers(Vec<(At<String>, f64)>),
    /// The averages of a long run with exact gradients.
    Reference {
        /// Name of the dynamics.
        dynamics: At<String>,
        /// Number of chains.
        n_chains: At<u64>,
        /// Number of states.
        n_steps: At<u64>,
        /// States to leave out.
        burn_in: At<u64>,
        /// Step size; that of the dynamics if not given.
        step_size: Option<At<f64>>,
    },
}

/// Kernel Stein discrepancy of the first states of some chains.
#[derive(Clone, Debug)]
pub struct Ksd {
    /// Number of points.
    pub n_points: At<u64>,
    /// Number of chains.
    pub n_chains: At<u64>,
    /// Distance between points, in steps.
    pub thin: At<u64>,
    /// Number of the first state.
    pub burn_in: At<u64>,
    /// Length of the kernel.
    pub c: f64,
    /// Exponent of the kernel.
    pub exponent: f64,
    /// Step size in place of that of the dynamics.
    pub step_size: Option<f64>,
}

/// Paths to show.
#[derive(Clone, Debug)]
pub struct Trajectories {
    /// Number of chains.
    pub n_chains: At<u64>,
    /// Number of states.
    pub n_steps: At<u64>,
    /// Distance between states that are kept.
    pub thin: u64,
    /// Coordinates to draw, by name.
    pub coordinates: Option<At<Vec<String>>>,
}

impl Typed {
    /// Reads all fields.
    pub fn read(source: &Arc<Source>) -> Result<Self> {
        let table = table(source)?;
        let mut root = root(source, &table);
        let typed = Typed {
            source: source.clone(),
            title: match root.optional("title") {
                Some(title) => Some(title.text()?.value),
                None => None,
            },
            target: super::typed_target::target(root.required("target", "the section [target]")?)?,
            run: super::typed_run::run(root.required("run", "the section [run]")?)?,
            dynamics: {
                let value = root.required("dynamics", "at least one entry [[dynamics]]")?;
                let entries = value.list("a list of dynamics")?;
                let entries: Result<Vec<_>> = entries
                    .into_iter()
                    .map(super::typed_run::dynamics)
                    .collect();
                at(value.place(), entries?)
            },
            measure: match root.optional("measure") {
                Some(value) => super::typed_measure::measure(value)?,
                None => Measure::default(),
            },
        };
        root.finish()?;
        Ok(typed)
    }
}

/// The tables of a file.
pub(super) fn table(source: &Arc<Source>) -> Result<Spanned<DeTable<'_>>> {
    DeTable::parse(source.text()).map_err(|e| {
        let place = Place::new(source, e.span().unwrap_or(0..0));
        place.error(shown::line(&e.message().replace('\n', "; ")))
    })
}

/// The outermost of them.
pub(super) fn root<'a>(source: &'a Arc<Source>, table: &'a Spanned<DeTable<'a>>) -> Section<'a> {
    Section::root(source, table)
}

pub(super) fn at<T>(place: Place, value: T) -> At<T> {
    At { value, place }
}

/// Applies a reader to a field that may be missing.
pub(super) fn maybe<'a, T>(
    value: Option<Value<'a>>,
    read: impl FnOnce(Value<'a>) -> Result<T>,
) -> Result<Option<T>> {
    value.map(read).transpose()
}
