//! The one run-time choice of instruction set.

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
pub trait Kernel {
    /// What the work returns.
    type Output;
    /// Does the work in packs of type `L`. Implementations are `#[inline(always)]`, and so is
    /// everything that they call in a loop: what is not inlined loses the instruction set.
    fn run<L: Lanes>(self) -> Self::Output;
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
            2..=4 => self.width().min(4),
            5..=8 => self.width().min(8),
            _ => self.width(),
        }
    }

    /// Runs a kernel that works in octets, on the best instruction set.
    pub(crate) fn run_octets<K: Kernel>(kernel: K) -> K::Output {
        let isa = Self::detect();
        isa.run(isa.width().min(OCTET), kernel)
    }

    /// Runs a kernel in packs of the given width (1, 4, 8 or 16; a width that this instruction set
    /// lacks falls back to single lanes).
    ///
    /// An instruction set that the processor does not have is lowered to the best it has.
    pub fn run<K: Kernel>(self, width: usize, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            let isa = self.min(Self::detect());
            // SAFETY: `isa` is no better than what the processor was just found to have.
            unsafe {
                match (isa, width) {
                    (Isa::Avx512, 16) => {
                        return avx512::<super::Twice<super::F64x8>, K>(kernel);
                    }
                    (Isa::Avx512, 8) => return avx512::<super::F64x8, K>(kernel),
                    // Narrow packs gain nothing from AVX-512; one copy of the code serves both.
                    (Isa::Avx2, 8) => return avx2::<super::Twice<super::F64x4>, K>(kernel),
                    (Isa::Avx2 | Isa::Avx512, 4) => return avx2::<super::F64x4, K>(kernel),
                    (Isa::Avx2 | Isa::Avx512, _) => return avx2::<f64, K>(kernel),
                    (Isa::Portable, _) => {}
                }
            }
        }
        let _ = width;
        kernel.run::<f64>()
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
fn avx512<L: Lanes, K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<L>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Lanes, K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<L>()
}
