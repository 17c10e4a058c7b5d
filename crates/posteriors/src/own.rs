//! Targets as somebody's own code, to be sampled as users do.

use std::fmt;
use std::sync::Arc;

use langevin::foreign::{Failure, ForeignDensity, ForeignTarget, Worker};
use langevin::target::Target;
use langevin_run::store::StoreError;
use langevin_run::target::{Own, Sampled};

use crate::{Truth, Visit, visit};

/// A target as own code of this name. One call computes all chains one after the other: lanes for
/// every target would take minutes to build. Its draws can be cached under the fingerprint
/// `posteriors/name`, so that a name must stand for one density.
///
/// ```
/// use langevin_posteriors::{own, tails::StudentT};
/// let target = own::target("t", StudentT { dim: 2, nu: 5.0, joint: false })?;
/// assert_eq!((target.name(), target.dim()), ("t", 2));
/// # Ok::<(), langevin_run::store::StoreError>(())
/// ```
pub fn target<T: Target + fmt::Debug + 'static>(
    name: &str,
    target: T,
) -> Result<langevin_run::target::Target, StoreError> {
    let code = Code {
        name: name.into(),
        target,
    };
    let mut own = langevin_run::target::Target::plain(Sampled::Own(Arc::new(code)))?;
    own.fingerprint = Some(format!("posteriors/{name}"));
    Ok(own)
}

/// The target of this name with what is known about it; none if there is no such name.
///
/// ```
/// let (target, truth) = langevin_posteriors::own::by_name("banana")?.unwrap();
/// assert_eq!((target.dim(), truth.name), (2, "banana"));
/// # Ok::<(), langevin_run::store::StoreError>(())
/// ```
pub fn by_name(name: &str) -> Result<Option<(langevin_run::target::Target, Truth)>, StoreError> {
    let mut found = Found(None);
    visit(name, &mut found);
    found.0.transpose()
}

struct Found(Option<Result<(langevin_run::target::Target, Truth), StoreError>>);

impl Visit for Found {
    fn visit<T: Target + Clone + fmt::Debug + 'static>(&mut self, found: &T, truth: &Truth) {
        let own = target(truth.name, found.clone());
        self.0 = Some(own.map(|own| (own, truth.clone())));
    }
}

#[derive(Debug)]
struct Code<T> {
    name: String,
    target: T,
}

impl<T: Target + fmt::Debug> Own for Code<T> {
    fn name(&self) -> &str {
        &self.name
    }

    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn workers(&self, threads: usize) -> Vec<Worker<'_>> {
        let worker = || Worker {
            target: Box::new(Plain {
                target: &self.target,
                scratch: vec![0.0; self.target.scratch_len()],
            }),
            metric: None,
        };
        (0..threads).map(|_| worker()).collect()
    }
}

/// One state after the other.
struct Plain<'a, T> {
    target: &'a T,
    scratch: Vec<f64>,
}

impl<T: Target> ForeignTarget for Plain<'_, T> {
    fn dim(&self) -> usize {
        self.target.dim()
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        let mut values = vec![0.0; thetas.len() / self.target.dim()];
        self.log_density_and_score(thetas, &mut values, out)
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl<T: Target> ForeignDensity for Plain<'_, T> {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        let d = self.target.dim();
        let places = values.iter_mut().zip(scores.chunks_exact_mut(d));
        for (theta, (value, score)) in thetas.chunks_exact(d).zip(places) {
            let scratch = &mut self.scratch;
            *value = self.target.log_density_and_score(theta, scratch, score);
        }
        Ok(())
    }
}
