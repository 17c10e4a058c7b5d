//! Run files that name a target and its data, and nothing of how it is sampled.

use std::sync::Arc;
use std::time::Duration;

use toml::de::DeTable;

use super::seed::{Asked, SeedFrom};
use super::source::{Result, Source};
use super::typed::maybe;
use super::{target, typed, typed_target};
use crate::posterior::Wanted;
use crate::target::Target;

/// A posterior that is to be sampled without choices.
#[derive(Clone, Debug)]
pub struct Posterior {
    /// The file.
    pub source: Arc<Source>,
    /// Title of what is made of it.
    pub title: String,
    /// What is sampled.
    pub target: Target,
    /// What is asked for.
    pub wanted: Wanted,
    /// Where the seed came from.
    pub seed_from: SeedFrom,
}

impl Posterior {
    /// Whether a run file says nothing of dynamics. One that cannot be read says nothing.
    pub fn is_in(source: &Source) -> bool {
        let Ok(table) = DeTable::parse(source.text()) else {
            return false;
        };
        let says = |key: &str| table.get_ref().keys().any(|k| k.get_ref() == key);
        !says("dynamics") && !says("run") && !says("measure")
    }

    /// Reads and checks it.
    ///
    /// ```
    /// use langevin_run::run_file::{Posterior, Source};
    /// let text = r#"
    ///     [target]
    ///     model = "normal"
    ///     data.values = [1.0, 2.0, 4.0, 8.0]
    /// "#;
    /// let source = Source::from_text("demo.toml", text);
    /// assert!(Posterior::is_in(&source));
    /// assert_eq!(Posterior::from_source(&source, Some(1))?.target.dim(), 2);
    /// # Ok::<(), langevin_run::run_file::RunFileError>(())
    /// ```
    pub fn from_source(source: &Arc<Source>, asked: impl Into<Asked>) -> Result<Self> {
        let asked = asked.into();
        let table = typed::table(source)?;
        let mut root = typed::root(source, &table);
        let title = maybe(root.optional("title"), |v| v.text())?;
        let place = root.required("target", "the section [target]")?;
        let typed = typed_target::target(place)?;
        let mut wanted = Wanted::new(0);
        let mut seed = None;
        if let Some(value) = root.optional("sample") {
            let mut section = value.section("[sample]")?;
            wanted.n_draws =
                maybe(section.optional("draws"), |v| v.positive_count())?.map(|n| n.value.max(4));
            wanted.tune = maybe(section.optional("tune"), |v| v.positive_count())?.map(|n| n.value);
            wanted.n_chains = maybe(section.optional("chains"), |v| v.positive_count())?
                .map(|n| n.value as usize);
            wanted.min_ess = maybe(section.optional("min_ess"), |v| v.positive())?.map(|n| n.value);
            wanted.target_accept =
                maybe(section.optional("target_accept"), |v| v.positive())?.map(|n| n.value);
            if let Some(seconds) = maybe(section.optional("max_time"), |v| v.positive())? {
                let time = Duration::try_from_secs_f64(seconds.value);
                wanted.max_time = time.unwrap_or(Duration::MAX);
            }
            if let Some(n) = maybe(section.optional("max_gradients"), |v| v.positive_count())? {
                wanted.max_gradients = n.value;
            }
            if let Some(starts) = maybe(section.optional("initvals"), |v| v.rows())? {
                wanted.starts = Some(starts.value);
            }
            seed = maybe(section.optional("seed"), |v| v.count())?.map(|n| n.value);
            let both = wanted.n_draws.is_some() && wanted.min_ess.is_some();
            if both {
                let message = "`draws` and `min_ess` both say when to stop; give one of them";
                return section.place().refuse(message);
            }
            section.finish()?;
        }
        root.finish()?;
        let (seed, seed_from) = asked.settle(seed)?;
        wanted.seed = seed;
        let stem = source.path().file_stem().unwrap_or_default();
        Ok(Posterior {
            title: title.map_or_else(|| stem.to_string_lossy().into_owned(), |t| t.value),
            target: target::target(&typed, asked.libraries)?,
            source: source.clone(),
            wanted,
            seed_from,
        })
    }
}
