//! Transitions with one mistake each break the contract.

use langevin::contract;
use langevin::dynamics::Dynamics;
use langevin::real::Lanes;
use langevin::transition::{Mala, Needs, Next, Sizes, State, StepKey, Transition};

/// A transition with one mistake.
struct Wrong<'a> {
    mala: Mala<'a>,
    mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    None,
    /// A term of the ratio of proposal densities is dropped.
    NoProposalRatio,
    /// Proposals are accepted with the root of their ratio.
    Lenient,
    /// What is carried is kept in scratch space.
    Forgets,
    /// The lane that a chain has makes a difference.
    KnowsItsLane,
    /// log π of the proposal is told, accepted or not.
    TellsTheProposal,
}

impl Wrong<'_> {
    /// The scratch space of the transition inside begins after the first entry.
    fn without_extra<L: Lanes>(
        &self,
        z: &mut State<'_, L>,
        (normals, uniforms): (&[L], &[L]),
        inside: impl Fn(&mut State<'_, L>) -> Next,
    ) -> Next {
        let (extra, rest) = std::mem::take(&mut z.scratch).split_at_mut(1);
        extra[0] = L::one();
        let mut own = State {
            theta: &mut *z.theta,
            log_density: z.log_density,
            score: &mut *z.score,
            carried: &mut *z.carried,
            normals,
            uniforms,
            scratch: rest,
            given: &mut [],
            report: &mut *z.report,
        };
        inside(&mut own)
    }
}

impl Transition for Wrong<'_> {
    type Shared = ();

    fn name(&self) -> &'static str {
        "wrong"
    }
    fn dim(&self) -> usize {
        self.mala.dim()
    }
    fn sizes(&self) -> Sizes {
        Sizes {
            scratch: self.mala.sizes().scratch + 1,
            ..self.mala.sizes()
        }
    }
    fn needs(&self) -> Needs {
        Needs::Density
    }
    fn shared(&self, _: StepKey) {}
    #[inline(always)]
    fn start<L: Lanes>(&self, z: &mut State<'_, L>) {
        self.mala.start(z);
    }
    #[inline(always)]
    fn begin<L: Lanes>(&self, shared: &(), z: &mut State<'_, L>) -> Next {
        if self.mistake == Mistake::KnowsItsLane {
            let mut lanes = [0.0; 16];
            lanes
                .iter_mut()
                .enumerate()
                .for_each(|(i, x)| *x = 1e-9 * i as f64);
            z.theta[0] += L::load(&lanes);
        }
        if self.mistake == Mistake::Forgets {
            z.carried[0] += z.scratch[0] * 1e-12;
        }
        let random = (z.normals, z.uniforms);
        self.without_extra(z, random, |z| self.mala.begin(shared, z))
    }
    #[inline(always)]
    fn resume<L: Lanes>(&self, stage: usize, shared: &(), z: &mut State<'_, L>) -> Next {
        let proposed = z.log_density;
        let square = [z.uniforms[0] * z.uniforms[0]];
        let zeros = vec![L::zero(); z.theta.len()];
        let random = match self.mistake {
            Mistake::NoProposalRatio => (&zeros[..], z.uniforms),
            Mistake::Lenient => (z.normals, &square[..]),
            _ => (z.normals, z.uniforms),
        };
        let next = self.without_extra(z, random, |z| self.mala.resume(stage, shared, z));
        if self.mistake == Mistake::TellsTheProposal {
            z.report.log_density = proposed;
        }
        next
    }
}

/// Negative controls: the contract sees each mistake.
#[test]
fn mistakes_break_the_contract() {
    let dynamics = Dynamics::ld(2);
    let check = |mistake| {
        let mala = Mala::new(&dynamics, 1.2).unwrap();
        contract::check(&Wrong { mala, mistake })
    };
    check(Mistake::None).unwrap();
    for (mistake, promise) in [
        (Mistake::NoProposalRatio, "exact draws stay exact"),
        (Mistake::Lenient, "exact draws stay exact"),
        (Mistake::Forgets, "the same bits, however they are computed"),
        (
            Mistake::KnowsItsLane,
            "the same bits, however they are computed",
        ),
        (Mistake::TellsTheProposal, "what is told of a state is true"),
    ] {
        let broken = check(mistake).unwrap_err();
        assert_eq!(broken.promise, promise, "{mistake:?}: {broken}");
    }
}
