//! Whether an answer that waits for a write lets others come first.
//!
//! One write is for all answers of a thread that wait, so whoever waits lets the thread decide what else is ready. Where
//! nothing else is, that costs a look at all connections and perhaps the core. So an answer waits for others only where some
//! came lately, and now and then to find out.

use std::cell::Cell;

/// The answers of one thread that wait.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The answers that wait for the next write.
    count: Cell<u32>,
    /// The writes since one was for several answers.
    alone: Cell<u32>,
}

impl Waiting {
    /// Begins to wait. Returns true if others may come first.
    pub(super) fn begin(&self) -> bool {
        self.count.set(self.count.get().saturating_add(1));
        let alone = self.alone.get();
        self.count.get() > 1 || alone < ALONE || alone.is_multiple_of(TRIED)
    }

    /// Ends the wait of all answers, since a write for all of them follows.
    pub(super) fn end(&self) {
        match self.count.replace(0) {
            0 => {}
            1 => self.alone.set(self.alone.get().wrapping_add(1).max(1)),
            _ => self.alone.set(0),
        }
    }
}

/// The writes for one answer each after which the next one does not wait.
const ALONE: u32 = 4;

/// One in so many waits all the same.
const TRIED: u32 = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_wait_for_others_where_others_come() {
        let waiting = Waiting::default();
        let alone = || {
            let waits = waiting.begin();
            waiting.end();
            waits
        };
        assert_eq!([(); 6].map(|()| alone()), [true, true, true, true, false, false]);
        assert_eq!((0..320).filter(|_| alone()).count(), 10);
        // Two come together.
        waiting.begin();
        assert!(waiting.begin());
        waiting.end();
        waiting.end();
        assert!(alone());
    }
}
