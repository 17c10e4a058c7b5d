//! Foreign targets on scales: the chains of their native copies, one call for all chains.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langevin::batch::Gradient;
use langevin::chain::{Chains, How, Records};
use langevin::dynamics::Dynamics;
use langevin::foreign::{
    ConstrainedTarget, Failure, Foreign, ForeignDensity, ForeignTarget, Native, Worker,
};
use langevin::models::NormalParameters;
use langevin::oracle::{Exact, Minibatch, Oracle};
use langevin::scale::Constrained;
use langevin::skew::Skew;
use langevin::transition::{EulerMaruyama, Mala, StepSize, Transition};

use super::*;

/// `Uneven` in foreign code, which counts its calls and refuses numbers that are not finite.
struct Counted {
    size: usize,
    calls: Arc<AtomicUsize>,
}

impl ForeignTarget for Counted {
    fn dim(&self) -> usize {
        self.size
    }

    fn score(&mut self, thetas: &[f64], out: &mut [f64]) -> Result<(), Failure> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if thetas.iter().any(|x| !x.is_finite()) {
            return Err("not finite".into());
        }
        let d = self.size;
        for (x, out) in thetas.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            Uneven(d).score(x, &mut [], out);
        }
        Ok(())
    }

    fn density(&mut self) -> Option<&mut dyn ForeignDensity> {
        Some(self)
    }
}

impl ForeignDensity for Counted {
    fn log_density_and_score(
        &mut self,
        thetas: &[f64],
        values: &mut [f64],
        scores: &mut [f64],
    ) -> Result<(), Failure> {
        self.score(thetas, scores)?;
        for (x, value) in thetas.chunks_exact(self.size).zip(values) {
            *value = Uneven(self.size).log_density(x);
        }
        Ok(())
    }
}

fn foreign<'a>(
    target: impl ForeignTarget + Send + 'a,
    layout: Layout,
    gradient: Gradient,
) -> Foreign<'a> {
    let target = ConstrainedTarget::new(Box::new(target), layout).unwrap();
    let worker = Worker {
        target: Box::new(target),
        metric: None,
    };
    Foreign::new(vec![worker], gradient, &Skew::None).unwrap()
}

fn bits_after(oracle: &impl Oracle, transition: &impl Transition, starts: &[Vec<f64>]) -> Vec<u64> {
    let mut chains = Chains::new(3, 0, starts.to_vec()).unwrap();
    let mut records = Records::new(&chains, oracle, || ());
    chains
        .advance(oracle, transition, 50, &mut records, &How::default())
        .unwrap();
    chains.states().flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn foreign_targets_on_scales_give_the_chains_of_their_native_copy() {
    let layout = layout(ALL);
    let size = layout.size();
    let native = Constrained::new(Uneven(size), layout.clone()).unwrap();
    let mut rng = random(7);
    let starts: Vec<_> = (0..19)
        .map(|_| normals(&mut rng, layout.free_size(), 0.5))
        .collect();
    let ld = Dynamics::ld(layout.free_size());
    let mala = Mala::new(&ld, 0.02).unwrap();
    let euler = EulerMaruyama::<_>::new(&ld, StepSize::Constant(0.01)).unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        size,
        calls: calls.clone(),
    };
    let oracle = foreign(counted, layout, Gradient::Exact);
    assert_eq!(
        bits_after(&oracle, &mala, &starts),
        bits_after(&Exact::new(&native), &mala, &starts)
    );
    // One evaluation at the starts, one for each step.
    assert_eq!(calls.load(Ordering::Relaxed), 51);
    assert_eq!(
        bits_after(&oracle, &euler, &starts),
        bits_after(&Exact::new(&native), &euler, &starts)
    );
}

#[test]
fn foreign_minibatches_go_through_scales() {
    let model = NormalParameters::new((0..30).map(|i| f64::from(i * i % 17)).collect()).unwrap();
    let free = model.clone().free().unwrap();
    let starts: Vec<_> = (0..19)
        .map(|i| vec![7.0 + 0.1 * f64::from(i), 1.6])
        .collect();
    let ld = Dynamics::ld(2);
    let euler = EulerMaruyama::<_>::new(&ld, StepSize::Constant(0.01)).unwrap();
    let gradient = Gradient::minibatch(6);
    let native = Minibatch::<_>::new(&free, gradient).unwrap();
    let oracle = foreign(Native::new(&model), free.layout().clone(), gradient);
    assert_eq!(
        bits_after(&oracle, &euler, &starts),
        bits_after(&native, &euler, &starts)
    );
}

/// A chain whose x overflows is NaN; the foreign function sees another chain's.
#[test]
fn foreign_code_sees_no_overflow() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        size: 1,
        calls: calls.clone(),
    };
    let mut target = ConstrainedTarget::new(Box::new(counted), layout("x: positive")).unwrap();
    let (mut values, mut scores) = ([0.0; 3], [0.0; 3]);
    let density = target.density().unwrap();
    density
        .log_density_and_score(&[0.0, 800.0, 1.0], &mut values, &mut scores)
        .unwrap();
    let good = |x: [f64; 3]| x.map(f64::is_finite);
    assert_eq!(
        (good(values), good(scores)),
        ([true, false, true], [true, false, true])
    );
    target.score(&[800.0; 3], &mut scores).unwrap();
    assert!(scores.iter().all(|x| x.is_nan()));
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let refused = ConstrainedTarget::new(Box::new(Counted { size: 1, calls }), layout("x, y"));
    assert_eq!(
        refused.err().unwrap().to_string(),
        "the target has size 1, but 2 was expected"
    );
}
