//! The bounds of a host on the code that decides.

use std::time::Duration;

/// The bounds of a host on the code that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most instances at one time, over all PDPs with this code: one for each thread that
    /// decides at the same time, and one for a reload.
    pub instances: u32,
    /// The memory of one instance in bytes. While a bundle is opened, it is in memory about twice.
    pub memory: usize,
    /// The time limit of one call, opening a bundle included. A call that takes longer is ended,
    /// and its instance is dropped. The limit is checked about every quarter of this time, so a
    /// call may take a quarter longer.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instances: 64, memory: 256 << 20, time: Duration::from_secs(1) }
    }
}

impl Limits {
    /// Returns the interval at which the clock of the calls ticks.
    pub(crate) fn tick(&self) -> Duration {
        (self.time / TICKS).max(SHORTEST_TICK)
    }

    /// Returns the number of ticks that a call may see: one more than fit, because the first may
    /// come at once.
    pub(crate) fn ticks(&self) -> u64 {
        let tick = self.tick().as_nanos().max(1);
        u64::try_from(self.time.as_nanos().div_ceil(tick)).unwrap_or(u64::MAX).saturating_add(1)
    }
}

const TICKS: u32 = 4;

/// The shortest interval: a faster clock costs more than its precision is worth.
const SHORTEST_TICK: Duration = Duration::from_millis(1);

/// The most modules of one component.
pub(crate) const MAX_CORES: u32 = 8;

/// The most tables of one instance: functions that are called by number.
pub(crate) const MAX_TABLES: u32 = 4;

/// The most elements of each table.
pub(crate) const MAX_TABLE_ELEMENTS: usize = 10_000;

/// The most bytes of the structures that wasmtime allocates for one instance.
pub(crate) const MAX_INSTANCE_BYTES: usize = 1 << 20;

/// The deepest nesting of the values of a question as text.
pub(crate) const MAX_DEPTH: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(time: Duration, tick: Duration, ticks: u64) {
        let limits = Limits { time, ..Limits::default() };
        assert_eq!((limits.tick(), limits.ticks()), (tick, ticks));
    }

    #[test]
    fn a_call_sees_at_least_its_time() {
        check(Duration::from_secs(1), Duration::from_millis(250), 5);
        check(Duration::from_millis(2), Duration::from_millis(1), 3);
        check(Duration::ZERO, Duration::from_millis(1), 1);
    }
}
