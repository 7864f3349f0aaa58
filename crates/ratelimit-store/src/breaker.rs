//! The breaker before a store: after failures in a row, it lets one check a second try.
//!
//! All times are arguments, in microseconds of one clock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::limits::{FAILURES, TRY_MICROS};

/// A count of failures, and the time of the next try.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: AtomicU32,
    /// The time from which one check may try; 0 if all may pass.
    next_try: AtomicU64,
    opened: AtomicU64,
}

impl Breaker {
    /// Returns true if a check may go to the store.
    pub(crate) fn admits(&self, now: u64) -> bool {
        let next = self.next_try.load(Ordering::Acquire);
        if next == 0 {
            return true;
        }
        let later = now.saturating_add(TRY_MICROS);
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        now >= next && self.next_try.compare_exchange(next, later, success, failure).is_ok()
    }

    pub(crate) fn succeeded(&self) {
        // Mostly nothing has failed, and then nothing is written: all callers share these words.
        if self.failures.load(Ordering::Relaxed) != 0 {
            self.failures.store(0, Ordering::Release);
            self.next_try.store(0, Ordering::Release);
        }
    }

    pub(crate) fn failed(&self, now: u64) {
        let failures = self.failures.fetch_add(1, Ordering::AcqRel).saturating_add(1);
        if failures < FAILURES {
            return;
        }
        // A count that wraps would close the breaker.
        self.failures.store(FAILURES, Ordering::Release);
        let before = self.next_try.swap(now.saturating_add(TRY_MICROS), Ordering::AcqRel);
        if before == 0 {
            self.opened.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.next_try.load(Ordering::Acquire) != 0
    }

    /// Returns the number of times that it opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_open_it() {
        let breaker = Breaker::default();
        for now in 1..FAILURES {
            breaker.failed(now.into());
        }
        assert!(breaker.admits(9));
        breaker.succeeded();
        for now in 1..FAILURES {
            breaker.failed(now.into());
        }
        assert!(breaker.admits(9) && !breaker.is_open());
        breaker.failed(9);
        assert!(!breaker.admits(9) && breaker.is_open());
        assert_eq!(breaker.opened(), 1);
    }

    #[test]
    fn one_check_a_second_tries() {
        let breaker = Breaker::default();
        (0..FAILURES).for_each(|_| breaker.failed(0));
        assert!(!breaker.admits(TRY_MICROS - 1));
        assert!(breaker.admits(TRY_MICROS) && !breaker.admits(TRY_MICROS));
        assert!(!breaker.admits(2 * TRY_MICROS - 1) && breaker.admits(2 * TRY_MICROS));
        breaker.failed(2 * TRY_MICROS + 5);
        assert!(!breaker.admits(3 * TRY_MICROS) && breaker.admits(3 * TRY_MICROS + 5));
        breaker.succeeded();
        assert!(breaker.admits(3 * TRY_MICROS) && breaker.admits(3 * TRY_MICROS));
        assert_eq!(breaker.opened(), 1);
    }
}
