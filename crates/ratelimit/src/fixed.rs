//! Fixed windows, aligned to UTC.
//!
//! A rule admits at most one token a microsecond, so a count is at most the window in microseconds:
//! the state is the end of the window plus the count, one number below 2^53. The end is the last
//! alignment before it, and what is left is the count.
//!
//! **Promise.** Each window holds at most the quota, refunds aside. Two windows meet at an edge:
//! any interval as long as a window may hold twice the quota, and the shortest one around an edge
//! too. A time before the window of the state counts in that window.

use core::num::NonZeroU64;

use crate::calendar;
use crate::state::State;
use crate::transition::Counting;

/// A rule of fixed windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    // INVARIANT: at most the microseconds of each window.
    quota: u64,
    /// The length in microseconds; a month of the calendar if None.
    length: Option<NonZeroU64>,
}

/// The count of a window, and its end.
#[derive(Clone, Copy)]
pub(crate) struct Count {
    count: u64,
    end: u64,
    now: u64,
}

impl Fixed {
    pub(crate) const fn new(quota: u64, length: NonZeroU64) -> Self {
        Self { quota, length: Some(length) }
    }

    /// Makes a rule of months. The largest quota is eleven days in microseconds.
    pub(crate) const fn month(quota: u64) -> Self {
        Self { quota, length: None }
    }

    pub(crate) const fn quota(&self) -> u64 {
        self.quota
    }

    /// Returns the start of the window that contains a time.
    #[inline]
    fn start(&self, time: u64) -> u64 {
        match self.length {
            Some(length) => time.saturating_sub(time % length),
            None => calendar::month_start(time),
        }
    }

    /// Returns the end of the window that contains a time.
    #[inline]
    fn end(&self, time: u64) -> u64 {
        match self.length {
            Some(length) => self.start(time).saturating_add(length.get()),
            None => calendar::month_end(time),
        }
    }
}

impl Counting for Fixed {
    type View = Count;

    #[inline]
    fn view(&self, state: State, now: u64) -> Count {
        let number = state.micros();
        let end = self.start(number.saturating_sub(1));
        if now < end {
            return Count { count: number.saturating_sub(end), end, now };
        }
        Count { count: 0, end: self.end(now), now }
    }

    #[inline]
    fn capacity(&self) -> u64 {
        self.quota
    }

    #[inline]
    fn wait(&self, view: Count, cost: u64) -> u64 {
        match view.count.saturating_add(cost) <= self.quota {
            true => 0,
            false => view.end.saturating_sub(view.now),
        }
    }

    #[inline]
    fn remaining(&self, view: Count) -> u64 {
        self.quota.saturating_sub(view.count)
    }

    #[inline]
    fn charged(&self, view: Count, cost: u64) -> Count {
        Count { count: view.count.saturating_add(cost), ..view }
    }

    #[inline]
    fn refunded(&self, view: Count, cost: u64) -> Count {
        Count { count: view.count.saturating_sub(cost), ..view }
    }

    /// Leaves the count of a later window as it is.
    #[inline]
    fn undone(&self, view: Count, cost: u64) -> Count {
        let is_before = view.now < self.start(view.end.saturating_sub(1));
        if is_before { view } else { self.refunded(view, cost) }
    }

    #[inline]
    fn state(&self, view: Count) -> State {
        match view.count {
            0 => State::NONE,
            count => State::new(view.end.saturating_add(count), 0),
        }
    }
}
