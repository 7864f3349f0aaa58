//! The time of a decision: given by the host, or read if a condition needs it.

#[cfg(feature = "ratelimit")]
use std::cell::OnceCell;
use std::time::{SystemTime, UNIX_EPOCH};

use wardgate_engine::cel::Timestamp;

/// A source of the time of a decision. It is read only if the decision depends on the time.
pub trait Clock {
    /// Returns the value of `now()` in conditions.
    fn now(&self) -> Timestamp;
}

/// The clock of the machine. It is read only for decisions that need the time.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

/// A fixed moment: the same for every decision that gets it.
impl Clock for Timestamp {
    #[inline]
    fn now(&self) -> Timestamp {
        *self
    }
}

/// A borrowed clock.
impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// A clock that is read at most once: all parts of an answer have one time.
#[cfg(feature = "ratelimit")]
pub(crate) struct Once<C> {
    clock: C,
    time: OnceCell<Timestamp>,
}

#[cfg(feature = "ratelimit")]
impl<C> Once<C> {
    pub(crate) const fn new(clock: C) -> Self {
        Self { clock, time: OnceCell::new() }
    }
}

#[cfg(feature = "ratelimit")]
impl<C: Clock> Clock for Once<C> {
    fn now(&self) -> Timestamp {
        *self.time.get_or_init(|| self.clock.now())
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "hosts choose this clock")]
    fn now(&self) -> Timestamp {
        // A clock before 1970 or past the year 9999 is wrong: conditions then read the epoch.
        let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(elapsed.as_secs()).unwrap_or(0);
        Timestamp::new(seconds, elapsed.subsec_nanos()).unwrap_or_default()
    }
}
