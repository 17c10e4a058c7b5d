//! What is known about a target.

/// A number with its standard error, which is 0 where the number is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

/// Mean and standard deviation of every coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// Means.
    pub means: Vec<Known>,
    /// Standard deviations.
    pub sds: Vec<Known>,
}

impl Moments {
    /// Exact means and standard deviations.
    ///
    /// ```
    /// use langevin_posteriors::Moments;
    /// let moments = Moments::exact(&[0.0], &[2.0]);
    /// assert_eq!((moments.sds[0].value, moments.sds[0].error), (2.0, 0.0));
    /// ```
    pub fn exact(means: &[f64], sds: &[f64]) -> Self {
        let exact = |x: &f64| Known {
            value: *x,
            error: 0.0,
        };
        Moments {
            means: means.iter().map(exact).collect(),
            sds: sds.iter().map(exact).collect(),
        }
    }

    /// From rows of mean, its error, standard deviation, its error.
    pub(crate) fn from_rows(rows: &[[f64; 4]]) -> Self {
        let known = |value, error| Known { value, error };
        Moments {
            means: rows.iter().map(|r| known(r[0], r[1])).collect(),
            sds: rows.iter().map(|r| known(r[2], r[3])).collect(),
        }
    }
}

/// What a target is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// To choose constants on.
    Tuning,
    /// To judge the choice on, and never to be looked at before.
    HeldOut,
    /// No distribution: to be refused or warned of.
    Bad,
}

/// What an honest sampler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// It is right, and says nothing.
    Right,
    /// It is right or it warns: hard for every sampler that follows gradients.
    RightOrWarned,
    /// It refuses or warns.
    Warned,
}

/// A target's name, purpose and answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Its name, by which [`visit`](crate::visit) finds it.
    pub name: &'static str,
    /// Number of coordinates.
    pub dim: usize,
    /// What it is for.
    pub set: Set,
    /// What an honest sampler does.
    pub expect: Expect,
    /// Whether fourth moments exist: where not, standard deviations cannot be judged by the errors
    /// that draws have.
    pub fourth_moments: bool,
    /// Means and standard deviations; none for targets that are no distributions.
    pub moments: Option<Moments>,
}
