//! The models that a run file can ask for, made from their names once.

#[cfg(doc)]
use langevin::catalog::Model;

/// A model by its name in [`Model::LIST`], still without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Mean of normal data.
    LinearGaussian,
    /// Mean and standard deviation of normal data.
    Normal,
    /// Logistic regression.
    Logistic,
    /// Independent component analysis.
    Ica,
}

impl Kind {
    /// All of them, in the order of the library's list.
    const ALL: [Kind; 4] = [
        Kind::LinearGaussian,
        Kind::Normal,
        Kind::Logistic,
        Kind::Ica,
    ];

    /// The model with this name, where run files know it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::LinearGaussian => "linear-gaussian",
            Kind::Normal => "normal",
            Kind::Logistic => "logistic",
            Kind::Ica => "ica",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;
    use langevin::catalog::Model;

    /// A model that the library gains must be taught to run files before its name is taken.
    #[test]
    fn run_files_know_the_models_of_the_library() {
        let names = Model::LIST.map(|(name, _)| name);
        assert_eq!(Kind::ALL.map(Kind::name), names);
        for name in names {
            assert_eq!(Kind::named(name).map(Kind::name), Some(name));
        }
        assert_eq!(Kind::named("a fifth model"), None);
    }
}
