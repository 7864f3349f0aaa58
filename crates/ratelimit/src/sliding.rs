//! Sliding windows of two counters.
//!
//! The tokens used are the count of this window, plus that of the window before in proportion to
//! the part of it that is less than a window ago, rounded up.
//!
//! **Promise.** Each aligned window holds at most the quota. An interval of `L` microseconds, at most
//! as long as a window, holds at most `quota x (1 + L / window)`, so never twice the quota: at an
//! edge there is no double burst. Proof: with `p` tokens charged in the window before, and a last
//! charge `e` after the edge, at most `quota - p x (window - e) / window` were charged since the
//! edge; with all of `p` that is `quota + p x e / window`, where `p <= quota` and `e <= L`. The
//! weighting hides when the tokens of `p` were charged: that is the second summand.
//! A time before the window of the state counts at the start of that window.
//!
//! **State.** Both counts are below `r`, the root of the 1/2048 microseconds of a window, so that
//! `p x r + c` is the fine part of the end of the window after this one. Therefore a quota is below
//! 45,254 for a window of a second, 350,540 for a minute and 13,302,150 for a day.

use core::num::{NonZeroU64, NonZeroU128};

use crate::limits::PARTS;
use crate::state::State;
use crate::transition::Counting;

/// A rule of sliding windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sliding {
    // INVARIANT: below the radix.
    quota: u64,
    length: NonZeroU64,
    /// The bound on counts in a state.
    radix: NonZeroU64,
}

/// The counts of two windows.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    before: u64,
    count: u64,
    /// The start of this window.
    start: u64,
    now: u64,
}

impl Sliding {
    pub(crate) const fn new(quota: u64, length: NonZeroU64, radix: NonZeroU64) -> Self {
        Self { quota, length, radix }
    }

    pub(crate) const fn quota(&self) -> u64 {
        self.quota
    }

    #[inline]
    fn used(&self, view: Counts) -> u64 {
        let elapsed = view.now.saturating_sub(view.start);
        let overlap = self.length.get().saturating_sub(elapsed);
        view.count.saturating_add(scaled_up(view.before, overlap, self.length))
    }

    /// Returns the part of a window that passes until so many tokens of the window before weigh at
    /// most `room`.
    #[inline]
    fn until(&self, before: u64, room: u64) -> u64 {
        match NonZeroU64::new(before) {
            Some(before) if before.get() > room => {
                self.length.get().saturating_sub(scaled_down(room, self.length.get(), before))
            }
            _ => 0,
        }
    }

    fn parts(&self) -> NonZeroU64 {
        self.length.saturating_mul(NonZeroU64::MIN.saturating_add(PARTS - 1))
    }
}

impl Counting for Sliding {
    type View = Counts;

    #[inline]
    fn view(&self, state: State, now: u64) -> Counts {
        let start = now.saturating_sub(now % self.length);
        let none = Counts { before: 0, count: 0, start, now };
        let fine = state.bits() % self.parts();
        let end = state.bits().saturating_sub(fine) / PARTS;
        let (before, count) = (fine / self.radix, fine % self.radix);
        let length = self.length.get();
        // The state names the end of the window after its own.
        match end.saturating_sub(length) {
            _ if end <= now => none,
            edge if now < edge => Counts { before, count, start: edge.saturating_sub(length), now },
            _ => Counts { before: count, ..none },
        }
    }

    #[inline]
    fn capacity(&self) -> u64 {
        self.quota
    }

    #[inline]
    fn wait(&self, view: Counts, cost: u64) -> u64 {
        if self.used(view).saturating_add(cost) <= self.quota {
            return 0;
        }
        let room = self.quota.saturating_sub(cost);
        let after = match room.checked_sub(view.count) {
            Some(room) => self.until(view.before, room),
            None => self.length.get().saturating_add(self.until(view.count, room)),
        };
        view.start.saturating_add(after).saturating_sub(view.now)
    }

    #[inline]
    fn remaining(&self, view: Counts) -> u64 {
        self.quota.saturating_sub(self.used(view))
    }

    #[inline]
    fn charged(&self, view: Counts, cost: u64) -> Counts {
        Counts { count: view.count.saturating_add(cost), ..view }
    }

    /// Takes the cost from this window first, so that it undoes a charge of this window exactly.
    #[inline]
    fn refunded(&self, view: Counts, cost: u64) -> Counts {
        let rest = cost.saturating_sub(view.count);
        Counts {
            before: view.before.saturating_sub(rest),
            count: view.count.saturating_sub(cost),
            ..view
        }
    }

    /// Leaves the counts of later windows as they are.
    #[inline]
    fn undone(&self, view: Counts, cost: u64) -> Counts {
        if view.now >= view.start {
            return self.refunded(view, cost);
        }
        let is_next = view.now.saturating_add(self.length.get()) >= view.start;
        Counts { before: view.before.saturating_sub(if is_next { cost } else { 0 }), ..view }
    }

    #[inline]
    fn state(&self, view: Counts) -> State {
        if view.before == 0 && view.count == 0 {
            return State::NONE;
        }
        let end = view.start.saturating_add(self.length.get().saturating_mul(2));
        State::new(end, view.before.saturating_mul(self.radix.get()).saturating_add(view.count))
    }
}

/// Returns `a x b / c`, rounded up.
#[inline]
fn scaled_up(a: u64, b: u64, c: NonZeroU64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product.div_ceil(c.get()),
        None => wide(a, b, c, u128::from(c.get()).saturating_sub(1)),
    }
}

/// Returns `a x b / c`, rounded down.
#[inline]
fn scaled_down(a: u64, b: u64, c: NonZeroU64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / c,
        None => wide(a, b, c, 0),
    }
}

#[cold]
fn wide(a: u64, b: u64, c: NonZeroU64, more: u128) -> u64 {
    let product = u128::from(a).saturating_mul(u128::from(b)).saturating_add(more);
    u64::try_from(product / NonZeroU128::from(c)).unwrap_or(u64::MAX)
}
