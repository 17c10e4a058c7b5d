//! Draws in memory, as they go to disk and come back.

use serde_json::{Map, Value};

use super::layout::{check_name, refuse};
use super::{DIVERGING, Layout, PARAMETERS, Result, StoreError};

/// A number for each draw, in the order (chain, draw).
#[derive(Debug, Clone, PartialEq)]
pub enum Stat {
    /// Real numbers, e.g. the log density.
    Real(Vec<f64>),
    /// Whole numbers, e.g. the step at which the draw was taken.
    Whole(Vec<i64>),
}

impl Stat {
    /// An empty list of the same kind.
    pub(super) fn kind(&self) -> Self {
        self.part(0..0)
    }

    pub(super) fn part(&self, range: std::ops::Range<usize>) -> Self {
        match self {
            Self::Real(values) => Self::Real(values[range].to_vec()),
            Self::Whole(values) => Self::Whole(values[range].to_vec()),
        }
    }

    /// Appends a list of the same kind.
    pub(super) fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Real(own), Self::Real(more)) => own.extend(more),
            (Self::Whole(own), Self::Whole(more)) => own.extend(more),
            _ => {}
        }
    }

    pub(super) fn drop_first(&mut self, n: usize) {
        match self {
            Self::Real(values) => drop(values.drain(..n)),
            Self::Whole(values) => drop(values.drain(..n)),
        }
    }

    /// The number of a draw, if it is of this kind.
    pub(super) fn real(&self, draw: usize) -> &[f64] {
        match self {
            Self::Real(values) => std::slice::from_ref(&values[draw]),
            Self::Whole(_) => &[],
        }
    }

    /// The number of a draw, if it is of this kind.
    pub(super) fn whole(&self, draw: usize) -> &[i64] {
        match self {
            Self::Whole(values) => std::slice::from_ref(&values[draw]),
            Self::Real(_) => &[],
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Whole(values) => values.len(),
        }
    }
}

/// The draws of several chains of equal length, with what is known about each of them.
///
/// A chain that left the finite numbers stays in the table: its draws from then on are NaN and
/// marked as diverging.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    layout: Layout,
    n_chains: usize,
    n_draws: usize,
    values: Vec<f64>,
    diverging: Option<Vec<bool>>,
    stats: Vec<(String, Stat)>,
    attributes: Map<String, Value>,
}

impl Draws {
    /// Draws with the flat order (chain, draw, position in the layout).
    pub fn new(layout: Layout, n_chains: usize, n_draws: usize, values: Vec<f64>) -> Result<Self> {
        for (n, what) in [(n_chains, "chain"), (n_draws, "draw")] {
            if n == 0 {
                let what = what.into();
                return Err(StoreError::None { what });
            }
        }
        let dim = layout.dim();
        // Lengths that overflow cannot match that of a vector in memory.
        let expected = n_chains
            .checked_mul(n_draws)
            .and_then(|n| n.checked_mul(dim));
        if expected != Some(values.len()) {
            return Err(StoreError::WrongLength {
                what: "the array of draws".into(),
                actual: values.len(),
                expected: expected.unwrap_or(usize::MAX),
                shape: format!("{n_chains} chains × {n_draws} draws × {dim} parameters"),
            });
        }
        Ok(Self {
            layout,
            n_chains,
            n_draws,
            values,
            diverging: None,
            stats: Vec::new(),
            attributes: Map::new(),
        })
    }

    /// Marks the draws at and after an escape, in the order (chain, draw).
    pub fn with_diverging(mut self, diverging: Vec<bool>) -> Result<Self> {
        self.check_per_draw(DIVERGING, diverging.len())?;
        self.diverging = Some(diverging);
        Ok(self)
    }

    /// Adds a number per draw, e.g. `lp`.
    pub fn with_stat(mut self, name: impl Into<String>, stat: Stat) -> Result<Self> {
        let name = name.into();
        check_name("statistic", &name)?;
        if name == DIVERGING || self.stats.iter().any(|(other, _)| *other == name) {
            return refuse("statistic", &name, "another statistic has it");
        }
        self.check_per_draw(&name, stat.len())?;
        self.stats.push((name, stat));
        Ok(self)
    }

    /// Adds a setting of the run: a number, a text, or a list of these.
    ///
    /// Zarr could hold any JSON value here, but NetCDF files cannot, and who opens a store in
    /// Python wants to be able to save it as one.
    pub fn with_attribute(mut self, name: &str, value: impl Into<Value>) -> Result<Self> {
        let value = value.into();
        let plain = |v: &Value| v.is_number() || v.is_string();
        if name.is_empty() || name == PARAMETERS {
            return refuse("attribute", name, "it is empty or used by the store itself");
        }
        if !(plain(&value) || value.as_array().is_some_and(|list| list.iter().all(plain))) {
            let name = name.into();
            return Err(StoreError::BadAttribute { name, value });
        }
        self.attributes.insert(name.into(), value);
        Ok(self)
    }

    /// Attributes as a store has them, of whatever kind.
    pub(super) fn set_attributes(&mut self, attributes: Map<String, Value>) {
        self.attributes = attributes;
    }

    /// The parameters.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Number of chains.
    pub fn n_chains(&self) -> usize {
        self.n_chains
    }

    /// Number of draws of each chain.
    pub fn n_draws(&self) -> usize {
        self.n_draws
    }

    /// All numbers in the order (chain, draw, position in the layout).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The flat vector of one draw, if there is such a chain and draw.
    pub fn draw(&self, chain: usize, draw: usize) -> Option<&[f64]> {
        let dim = self.layout.dim();
        let chain = self.values.chunks(self.n_draws * dim).nth(chain)?;
        chain.chunks(dim).nth(draw)
    }

    /// Marks of escape in the order (chain, draw), if the store has them.
    pub fn diverging(&self) -> Option<&[bool]> {
        self.diverging.as_deref()
    }

    /// The numbers per draw and their names.
    pub fn stats(&self) -> &[(String, Stat)] {
        &self.stats
    }

    /// The settings of the run.
    pub fn attributes(&self) -> &Map<String, Value> {
        &self.attributes
    }

    /// For each chain, the number of its draws with a NaN or an infinity.
    pub fn not_finite(&self) -> Vec<usize> {
        let spoilt = |draw: &&[f64]| draw.iter().any(|x| !x.is_finite());
        let chains = self.values.chunks(self.n_draws * self.layout.dim());
        chains
            .map(|chain| chain.chunks(self.layout.dim()).filter(spoilt).count())
            .collect()
    }

    /// Refuses draws with a NaN or an infinity; the error counts them and shows the first.
    pub fn require_finite(&self) -> Result<()> {
        let Some(at) = self.values.iter().position(|x| !x.is_finite()) else {
            return Ok(());
        };
        let dim = self.layout.dim();
        Err(StoreError::NotFinite {
            count: self.not_finite().iter().sum(),
            total: self.n_chains * self.n_draws,
            variable: self.layout.labels().swap_remove(at % dim),
            value: self.values[at],
            chain: at / dim / self.n_draws,
            draw: at / dim % self.n_draws,
        })
    }

    fn check_per_draw(&self, name: &str, actual: usize) -> Result<()> {
        let expected = self.n_chains * self.n_draws;
        if actual == expected {
            return Ok(());
        }
        Err(StoreError::WrongLength {
            what: format!("the statistic \"{name}\""),
            actual,
            expected,
            shape: format!("{} chains × {} draws", self.n_chains, self.n_draws),
        })
    }
}
