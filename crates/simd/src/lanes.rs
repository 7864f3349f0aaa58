//! Vectors for cryptography: algorithms written once, run with the widest vectors of the machine.
//!
//! `Portable` is the meaning here too, one lane at a time, and one suite is stamped on every tier.
//! A tier is a value that proves that the machine can run it. An algorithm is a [`Kernel`]:
//! [`dispatch`] detects the features of the machine once, caches the result, and runs the kernel as
//! code of the best tier.
//!
//! A tier passes its instructions only to code that is inlined into its `run`: a function that a
//! kernel calls is `#[inline(always)]`, or enters `run` again by itself.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(test, feature = "deny"))]
mod deny;
#[cfg(target_arch = "x86_64")]
pub(crate) mod detected;
#[cfg(target_arch = "x86_64")]
mod narrow;
mod parts;
mod portable;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod wide;
mod words;

#[cfg(target_arch = "x86_64")]
pub use narrow::Avx512Narrow;
pub use wide::{Lanes64, LanesF64, Row};
pub use words::{Block, Lanes32, MAX_WORDS, Quad};

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::{Avx2, Avx512, Sse2};

/// A value that proves that the machine can run a set of instructions.
pub trait Token: Copy + core::fmt::Debug {
    /// The name of the tier in reports and tests.
    const TIER: &'static str;

    /// Runs `work` as code into which the operations of this tier can be inlined: any code, unless
    /// the tier was detected.
    #[inline(always)]
    fn enter<R>(self, work: impl FnOnce(Self) -> R) -> R {
        work(self)
    }
}

/// The operations of one instruction set for kernels.
pub trait Tier: LanesF64 + Lanes32 {
    /// The tier that is best at a single chain of steps, without parallel work.
    type Narrow: Lanes64;

    /// Returns the proof for the narrow tier.
    fn narrow(self) -> Self::Narrow;
}

/// An algorithm that runs on any tier.
pub trait Kernel {
    /// The result of the algorithm.
    type Output;

    /// Runs the algorithm with the vectors of `tier`.
    fn run<T: Tier>(self, tier: T) -> Self::Output;
}

/// Runs `kernel` on the best tier of this machine.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    if let Some(tier) = Avx512::detect() {
        kernel.run(tier)
    } else if let Some(tier) = Avx2::detect() {
        kernel.run(tier)
    } else {
        baseline(kernel)
    }
}

/// Runs `kernel` on the only vectors that this module may use.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Simd128::new())
}

/// Runs `kernel` without vectors: none are written for this target.
#[cfg(not(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128"))))]
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(crate::Portable)
}

#[cfg(target_arch = "x86_64")]
fn baseline<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(any(test, feature = "deny"))]
    if deny::denies(Sse2::TIER) {
        return kernel.run(crate::Portable);
    }
    kernel.run(Sse2::new())
}

/// Returns the name of the tier that [`dispatch`] chooses, for reports.
#[must_use]
pub fn chosen() -> &'static str {
    struct Name;
    impl Kernel for Name {
        type Output = &'static str;
        fn run<T: Tier>(self, _tier: T) -> &'static str {
            T::TIER
        }
    }
    dispatch(Name)
}

#[cfg(test)]
mod tests;
