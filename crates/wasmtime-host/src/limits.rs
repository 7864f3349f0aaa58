//! What a host grants to the code that decides.

use std::time::Duration;

/// What a host grants to the code that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instances that may be there at once, those of all PDPs with this code together: one for each thread
    /// that asks at the same time, and one for a reload.
    pub instances: u32,
    /// Bytes of memory that one instance may have. An open bundle lies there about twice while it is opened.
    pub memory: usize,
    /// How long one call may take, opening a bundle included. A call that takes longer is ended, and its instance is thrown away. It is
    /// looked at about every quarter of this time, so a call may take a quarter longer.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instances: 64, memory: 256 << 20, time: Duration::from_secs(1) }
    }
}

impl Limits {
    /// How often the clock of the calls ticks.
    pub(crate) fn tick(&self) -> Duration {
        (self.time / TICKS).max(SHORTEST_TICK)
    }

    /// How many ticks a call may see: one more than fit, because the first may come at once.
    pub(crate) fn ticks(&self) -> u64 {
        let tick = self.tick().as_nanos().max(1);
        u64::try_from(self.time.as_nanos().div_ceil(tick)).unwrap_or(u64::MAX).saturating_add(1)
    }
}

const TICKS: u32 = 4;

/// A clock that ticks faster costs more than it tells.
const SHORTEST_TICK: Duration = Duration::from_millis(1);

/// Modules that one component may be made of.
pub(crate) const MAX_CORES: u32 = 8;

/// Tables of one instance: functions that are called by number.
pub(crate) const MAX_TABLES: u32 = 4;

/// Elements of each of them.
pub(crate) const MAX_TABLE_ELEMENTS: usize = 10_000;

/// Bytes of the structures that wasmtime keeps for one instance.
pub(crate) const MAX_INSTANCE_BYTES: usize = 1 << 20;

/// How deep the values of a question may nest when it is written as text.
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
