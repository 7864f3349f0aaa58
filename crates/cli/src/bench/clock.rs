//! The cost of reading a clock, and its smallest step.
//!
//! A shorter decision cannot be timed alone; several in a row are timed together.

use std::time::{Duration, Instant};

use serde::Deserialize;

/// The timing of single decisions. All times are nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Clock {
    /// The time of reading the clock, which every sample holds once and which is subtracted.
    pub(crate) cost: f64,
    /// The smallest step of the clock.
    pub(crate) step: f64,
    /// The number of decisions that are timed together.
    pub(crate) group: u32,
}

impl Clock {
    /// Measures the clock, and returns how many decisions of `decision` nanoseconds to time
    /// together.
    pub(crate) fn measure(decision: f64) -> Self {
        let rounds = || (0..ROUNDS).map(|_| round());
        let nanoseconds = |time: Option<Duration>| time.unwrap_or_default().as_secs_f64() * 1e9;
        // Other work of the machine makes a round longer, never shorter.
        let cost = nanoseconds(rounds().map(|(all, _)| all).min()) / f64::from(READINGS);
        let step = nanoseconds(rounds().filter_map(|(_, step)| step).min());
        Self { cost, step, group: group(decision, cost.max(step)) }
    }
}

/// Reads the clock again and again: how long that took, and the smallest step between two readings.
fn round() -> (Duration, Option<Duration>) {
    let start = Instant::now();
    let (mut last, mut step) = (start, None);
    for _ in 0..READINGS {
        let now = Instant::now();
        let took = now - last;
        if !took.is_zero() {
            step = Some(step.map_or(took, |least: Duration| least.min(took)));
        }
        last = now;
    }
    (last - start, step)
}

/// Returns how many decisions take at least as long as `least`, in doubling steps.
fn group(decision: f64, least: f64) -> u32 {
    let mut group = 1;
    while f64::from(group) * decision < least && group < MAX_GROUP {
        group *= 2;
    }
    group
}

const ROUNDS: u32 = 50;

/// Readings of the clock in a round.
const READINGS: u32 = 200;

const MAX_GROUP: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::{Clock, MAX_GROUP, group};

    #[test]
    fn short_decisions_are_timed_together() {
        let check =
            |decision: f64, least: f64, expected: u32| assert_eq!(group(decision, least), expected);
        check(200.0, 25.0, 1);
        check(25.0, 25.0, 1);
        check(24.0, 25.0, 2);
        check(10.0, 25.0, 4);
        check(10.0, 1000.0, 128);
        check(0.0, 25.0, MAX_GROUP);
    }

    #[test]
    fn the_clock_of_this_machine_moves() {
        let clock = Clock::measure(1e9);
        assert!(clock.cost > 0.0 && clock.step < 1e9 && clock.group == 1, "{clock:?}");
    }
}
