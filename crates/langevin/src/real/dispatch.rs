//! The one run-time choice of instruction set.

use std::cell::Cell;

use super::{Lanes, OCTET};

/// An instruction set that kernels are compiled for.
///
/// Results are the same bits on every one of them; only the speed differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// What every processor of the architecture has; one chain at a time.
    Portable,
    /// AVX2 and FMA; eight chains at a time, in two registers.
    Avx2,
    /// AVX-512 (F, DQ, VL, BW); sixteen chains at a time, in two registers.
    Avx512,
}

/// Work that is written for any width of lanes.
///
/// ```
/// use langevin::real::{Isa, Kernel, Lanes};
///
/// /// The number of chains side by side.
/// struct Width;
/// impl Kernel for Width {
///     type Output = usize;
///     #[inline(always)]
///     fn run<L: Lanes>(self) -> usize {
///         L::WIDTH
///     }
/// }
/// let isa = Isa::detect();
/// assert_eq!(isa.run(isa.width(), Width), isa.width());
/// ```
pub trait Kernel {
    /// What the work returns.
    type Output;
    /// Does the work in packs of type `L`. Implementations are `#[inline(always)]`, and so is
    /// everything that they call in a loop: what is not inlined loses the instruction set.
    fn run<L: Lanes>(self) -> Self::Output;
}

/// Work whose type of packs was chosen before; [`Lanes::enter`] does it with their instructions.
pub trait Work {
    /// What the work returns.
    type Output;
    /// Does the work. Implementations are `#[inline(always)]`, as for a [`Kernel`].
    fn run(self) -> Self::Output;
}

thread_local! {
    /// The instruction set of the kernel that this thread is in.
    static PRESENT: Cell<Option<Isa>> = const { Cell::new(None) };
}

/// Remembers an instruction set until dropped.
struct Entered(Option<Isa>);

impl Entered {
    fn new(isa: Isa) -> Self {
        Entered(PRESENT.replace(Some(isa)))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        PRESENT.set(self.0);
    }
}

impl Isa {
    /// The best instruction set that this processor has.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw");
            if avx512 {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        Isa::Portable
    }

    /// Every instruction set that this processor has, the plainest first.
    pub fn available() -> Vec<Self> {
        [Isa::Portable, Isa::Avx2, Isa::Avx512]
            .into_iter()
            .filter(|isa| *isa <= Self::detect())
            .collect()
    }

    /// The instruction set of the kernel that is running, or else the best there is.
    #[inline]
    pub(crate) fn present() -> Self {
        PRESENT.get().unwrap_or_else(Self::detect)
    }

    /// Number of chains in its widest pack.
    pub fn width(self) -> usize {
        match self {
            Isa::Portable => 1,
            Isa::Avx2 => 8,
            Isa::Avx512 => 16,
        }
    }

    /// The narrowest pack that holds `n` chains, or the widest there is.
    pub fn fitting_width(self, n: usize) -> usize {
        match n {
            0 | 1 => 1,
            2..=OCTET => self.width().min(OCTET),
            _ => self.width(),
        }
    }

    /// Runs a kernel in packs of the given width (1, 8 or 16; a width that this instruction set
    /// lacks falls back to single lanes).
    ///
    /// An instruction set that the processor does not have is lowered to the best it has.
    pub fn run<K: Kernel>(self, width: usize, kernel: K) -> K::Output {
        let isa = self.min(Self::detect());
        let _entered = Entered::new(isa);
        // (Where packs of a type are named, the processor was found to have their instructions.)
        match (isa, width) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 16) => in_packs::<super::Pair<super::F64x8>, K>(kernel),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, OCTET) => in_packs::<super::F64x8, K>(kernel),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, OCTET) => in_packs::<super::Pair<super::F64x4>, K>(kernel),
            _ => in_packs::<f64, K>(kernel),
        }
    }

    /// Runs a kernel that works in octets for a single chain, on the present instruction set.
    #[inline(always)]
    pub(crate) fn run_octets<K: Kernel>(kernel: K) -> K::Output {
        match Self::present() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => in_packs::<super::F64x8, K>(kernel),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => in_packs::<super::Pair<super::F64x4>, K>(kernel),
            _ => with_baseline(InPacks::<f64, K>(kernel, std::marker::PhantomData)),
        }
    }
}

/// A kernel with its packs.
struct InPacks<L, K>(K, std::marker::PhantomData<L>);

impl<L: Lanes, K: Kernel> Work for InPacks<L, K> {
    type Output = K::Output;
    #[inline(always)]
    fn run(self) -> K::Output {
        self.0.run::<L>()
    }
}

#[inline(always)]
fn in_packs<L: Lanes, K: Kernel>(kernel: K) -> K::Output {
    L::enter(InPacks::<L, K>(kernel, std::marker::PhantomData))
}

// What enters here is compiled once for each instruction set: nothing of it is copied into callers.

/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
#[inline(never)]
pub(super) fn with_avx512<W: Work>(work: W) -> W::Output {
    work.run()
}

/// # Safety
/// The processor has these instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
pub(super) fn with_avx2<W: Work>(work: W) -> W::Output {
    work.run()
}

#[inline(never)]
fn with_baseline<W: Work>(work: W) -> W::Output {
    work.run()
}

/// Work on single numbers, with the instructions of the present set.
#[inline(always)]
pub(super) fn with_present<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if Isa::present() >= Isa::Avx2 {
        // SAFETY: no set is present that the processor does not have.
        return unsafe { with_avx2(work) };
    }
    with_baseline(work)
}
