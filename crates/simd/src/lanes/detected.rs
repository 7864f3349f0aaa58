//! Asks the machine what it can run, once for each tier.
//!
//! A virtual machine takes microseconds for one such question, which is more than many a kernel takes.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

/// The kept answer to one question: two threads that ask at once find the same.
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

/// What a tier needs: bits of CPUID, and what the system saves when it switches threads.
pub(crate) struct Needs {
    /// Leaf 1, ECX.
    pub(crate) first: u32,
    /// Leaf 7, EBX.
    pub(crate) extended: u32,
    /// XCR0.
    pub(crate) kept: u64,
}

impl Needs {
    /// Tells whether this machine and its system have all of it, and nothing denies `tier`.
    #[cold]
    pub(crate) fn are_met(&self, tier: &str) -> bool {
        let highest = __cpuid(0).eax;
        let first = __cpuid(1).ecx;
        let wanted = self.first | OSXSAVE;
        if denied(tier) || highest < 7 || first & wanted != wanted {
            return false;
        }
        // SAFETY: OSXSAVE says that the instruction exists and that the system allows it.
        let kept = unsafe { _xgetbv(0) };
        let extended = __cpuid_count(7, 0).ebx;
        kept & self.kept == self.kept && extended & self.extended == self.extended
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

const OSXSAVE: u32 = 1 << 27;
