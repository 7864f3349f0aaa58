//! The detection of the features of the machine, once for each tier.
//!
//! On a virtual machine one CPUID instruction takes microseconds, longer than many a kernel.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

/// The cached result of one detection: threads that race detect the same.
pub(crate) struct Answer(AtomicU8);

impl Answer {
    pub(crate) const fn unknown() -> Self {
        Self(AtomicU8::new(UNKNOWN))
    }

    #[inline]
    pub(crate) fn keep(&self, ask: impl FnOnce() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            UNKNOWN => {
                let answer = ask();
                self.0.store(if answer { YES } else { NO }, Ordering::Relaxed);
                answer
            }
            known => known == YES,
        }
    }
}

/// The requirements of a tier: bits of CPUID, and the registers that the system saves when it
/// switches threads.
pub(crate) struct Needs {
    /// The required bits of leaf 1, ECX.
    pub(crate) first: u32,
    /// The required bits of leaf 7, EBX.
    pub(crate) extended: u32,
    /// The required bits of XCR0.
    pub(crate) saved: u64,
}

impl Needs {
    /// Returns true if this machine and its system meet all requirements, and the environment does
    /// not deny `tier`.
    #[cold]
    pub(crate) fn are_met(&self, tier: &str) -> bool {
        let highest = __cpuid(0).eax;
        let first = __cpuid(1).ecx;
        let wanted = self.first | OSXSAVE;
        if denied(tier) || highest < 7 || first & wanted != wanted {
            return false;
        }
        // SAFETY: OSXSAVE proves that the instruction exists and that the system allows it.
        let saved = unsafe { _xgetbv(0) };
        let extended = __cpuid_count(7, 0).ebx;
        saved & self.saved == self.saved && extended & self.extended == self.extended
    }
}

#[cfg(any(test, feature = "deny"))]
fn denied(tier: &str) -> bool {
    super::deny::denies(tier)
}

#[cfg(not(any(test, feature = "deny")))]
fn denied(_tier: &str) -> bool {
    false
}

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

// CPUID leaf 1, ECX.
pub(crate) const FMA: u32 = 1 << 12;
const OSXSAVE: u32 = 1 << 27;
pub(crate) const AVX: u32 = 1 << 28;
// CPUID leaf 7, EBX.
pub(crate) const AVX2: u32 = 1 << 5;
