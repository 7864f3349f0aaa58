//! Pauses between tries to go on after a failed sync.
//!
//! Each try writes a file, so a disk that goes on failing would fill the folder. One failure costs no pause:
//! what follows it soon waits, twice as long each time.

use std::time::{Duration, Instant};

use crate::limits::MAX_DISK_PAUSE;

/// When it may be tried again.
#[derive(Debug)]
pub(super) struct Pauses {
    /// The pause after the second failure in a row.
    first: Duration,
    /// The pause after the last failure.
    length: Duration,
    /// The end of that pause.
    end: Option<Instant>,
}

impl Pauses {
    pub(super) const fn new(first: Duration) -> Self {
        Self { first, length: Duration::ZERO, end: None }
    }

    /// Returns true if it may be tried at a time.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.end.is_none_or(|end| now >= end)
    }

    /// Begins the pause after a failure at a time.
    pub(super) fn begin(&mut self, now: Instant) {
        let is_alone =
            self.end.is_none_or(|end| now.saturating_duration_since(end) >= MAX_DISK_PAUSE);
        self.length = if is_alone {
            Duration::ZERO
        } else {
            self.length.saturating_mul(2).max(self.first).min(MAX_DISK_PAUSE)
        };
        self.end = now.checked_add(self.length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_wait_longer_each_time() {
        let (mut pauses, mut now) = (Pauses::new(Duration::from_secs(1)), Instant::now());
        let mut lengths = Vec::new();
        for _ in 0..10 {
            assert!(pauses.is_over(now));
            pauses.begin(now);
            lengths.push(pauses.length.as_secs());
            assert!(pauses.length.is_zero() || !pauses.is_over(now));
            now += pauses.length;
        }
        assert_eq!(lengths, [0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        now += MAX_DISK_PAUSE;
        pauses.begin(now);
        assert!(pauses.is_over(now));
    }
}
