//! The generic cell rate algorithm.
//!
//! A key has a theoretical arrival time, `tat`: the moment at which it is full. Each token moves it
//! by the interval of the rule, and it may be at most the limit (burst x interval) ahead of now.
//! The interval is `window / quota`, rounded up to 1/128 microsecond: a key admits at most the
//! quota, and less than 0.8 % below it at the fastest rule, 0.08 % at 100,000 tokens a second.
//! Rounded up to microseconds, 700,000 tokens a second would be 500,000.
//!
//! **Promise.** From `a` to `b`, the tokens charged less those refunded are at most
//! `burst + (b - a) x quota / window`; so a window holds at most `quota + burst - 1`, and with a
//! burst of 1 at most the quota. Proof: the first charge starts with `tat >= a`, each token adds an
//! interval, nothing but a refund takes one back, and the last charge ends with `tat <= b + limit`.
//! No step needs the times in between to be in order: while there is a state, a clock that goes back
//! gains nothing.

use core::num::NonZeroU64;

use crate::limits::{PARTS, TICKS};
use crate::state::State;
use crate::transition::Counting;

/// A rule of GCRA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gcra {
    /// The ticks of one token.
    interval: NonZeroU64,
    burst: u64,
    /// The ticks of a full key.
    // INVARIANT: at most `MAX_BURST_TICKS`.
    limit: u64,
}

/// The ticks of a state since 1970, and of the time of the operation.
#[derive(Clone, Copy)]
pub(crate) struct Ticks {
    tat: u64,
    now: u64,
}

impl Gcra {
    pub(crate) const fn new(interval: NonZeroU64, burst: u64) -> Self {
        Self { interval, burst, limit: burst.saturating_mul(interval.get()) }
    }

    pub(crate) const fn burst(&self) -> u64 {
        self.burst
    }

    const fn step(&self, cost: u64) -> u64 {
        cost.saturating_mul(self.interval.get())
    }
}

impl Ticks {
    const fn ahead(self) -> u64 {
        self.tat.saturating_sub(self.now)
    }
}

impl Counting for Gcra {
    type View = Ticks;

    #[inline]
    fn view(&self, state: State, now: u64) -> Ticks {
        let now = now.saturating_mul(TICKS);
        Ticks { tat: (state.bits() / TICK_PARTS).max(now), now }
    }

    #[inline]
    fn capacity(&self) -> u64 {
        self.burst
    }

    #[inline]
    fn wait(&self, view: Ticks, cost: u64) -> u64 {
        let ahead = view.ahead().saturating_add(self.step(cost));
        ahead.saturating_sub(self.limit).div_ceil(TICKS)
    }

    #[inline]
    fn remaining(&self, view: Ticks) -> u64 {
        self.limit.saturating_sub(view.ahead()) / self.interval
    }

    #[inline]
    fn charged(&self, view: Ticks, cost: u64) -> Ticks {
        Ticks { tat: view.tat.saturating_add(self.step(cost)), ..view }
    }

    #[inline]
    fn refunded(&self, view: Ticks, cost: u64) -> Ticks {
        Ticks { tat: view.tat.saturating_sub(self.step(cost)).max(view.now), ..view }
    }

    #[inline]
    fn state(&self, view: Ticks) -> State {
        match view.ahead() {
            0 => State::NONE,
            _ => State::from_bits(view.tat.saturating_mul(TICK_PARTS)),
        }
    }
}

/// The parts of a state in a tick.
const TICK_PARTS: u64 = PARTS / TICKS;
