//! The state of one key under one rule.
//!
//! A state is a moment in 1/2048 microseconds: the one at which it may be forgotten. Its fine part
//! holds what the algorithm counts, so that a store orders the states of all algorithms by their
//! end without knowing their rules.

use crate::limits::{MAX_TIME, PARTS};

/// The state of one key: 64 bits, whatever the algorithm.
///
/// A key that has no state is full. States of one rule may be read under another quota or burst, but
/// not under another algorithm or window: a store makes those a part of the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct State(u64);

impl State {
    /// The state of a key that is full.
    pub const NONE: Self = Self(0);

    /// Makes a state of its bits. Every number is a state, so that a store needs no check.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the bits, below `u64::MAX` for all states that rules make.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns true if the state equals none at `now`: forgetting it loses nothing.
    ///
    /// A fixed or sliding window may be over a little earlier than this says, and never later.
    pub const fn is_over(self, now: u64) -> bool {
        self.0 <= now.saturating_mul(PARTS)
    }

    /// Returns the first microsecond at which the state is over.
    pub const fn end(self) -> u64 {
        self.0.div_ceil(PARTS)
    }

    /// Returns the whole microseconds.
    pub(crate) const fn micros(self) -> u64 {
        self.0 / PARTS
    }

    /// Makes a state of whole microseconds and a fine part.
    pub(crate) const fn new(micros: u64, fine: u64) -> Self {
        Self(micros.saturating_mul(PARTS).saturating_add(fine))
    }
}

/// Returns a time that rules compute with.
pub(crate) const fn bounded(now: u64) -> u64 {
    if now < MAX_TIME { now } else { MAX_TIME }
}
