//! Rate limits: a state, a time, a rule and an operation in; the new state and an outcome out.
//!
//! Everything is a function of its arguments: no clock, no I/O, no randomness, no memory of its own.
//! A refused charge leaves the state as it was. Each algorithm states and proves its promise in
//! its file: the most that it admits in an interval.
//!
//! | algorithm | most in any interval as long as a window | at once, at the worst moment |
//! |---|---|---|
//! | GCRA | `quota + burst - 1` | `burst` |
//! | fixed | `2 x quota`; in each aligned window `quota` | `2 x quota`, at an edge |
//! | sliding | `2 x quota - 1`; in each aligned window `quota` | `quota` |
//!
//! **Time** is microseconds in a `u64`. A time before the one that a state proves to have passed is
//! taken as that one, and waits are told from the time that was given.
//!
//! **Numbers.** Lua 5.1 and JavaScript have doubles, in which integers are exact below 2^53, and sums,
//! products and the floor of quotients with them. The bounds of [`Rule`] keep every step below:
//!
//! - Times are at most 2^53 - 2^47, windows below 2^45, quotas and costs that are computed with at
//!   most 10^12 < 2^40. A larger cost is more than any key has, and is refused before.
//! - GCRA counts ticks of 1/128 microsecond from now on, not from 1970: a burst has at most 2^52, and
//!   `window x 128` is below 2^52. The arrival time itself is two numbers elsewhere, microseconds and
//!   ticks beyond, and a state that is further ahead than a burst is brought near first. Here one
//!   `u64` holds both.
//! - A fixed window only adds: its end, and a count shorter than the window.
//! - A sliding window needs `count x duration / window` and `room x window / count`, up to 2^73. Here they
//!   are of 128 bits where 64 are too few; elsewhere a long division by digits of 7 bits does them, whose
//!   steps are below `255 x window`.
//! - A month begins at a day, and days are small numbers.

#![no_std]
#![forbid(unsafe_code)]

mod calendar;
mod fixed;
mod gcra;
mod limits;
mod outcome;
mod rule;
mod script;
mod sliding;
mod state;
#[cfg(target_has_atomic = "64")]
mod table;
mod transition;

pub use limits::{MAX_TIME, MAX_TOKENS, MAX_WINDOW};
pub use outcome::{Admission, Operation, Outcome};
pub use rule::{Algorithm, Rule, RuleError, Window};
pub use script::CHARGE_SCRIPT;
pub use state::State;
#[cfg(target_has_atomic = "64")]
pub use table::{Set, Table, TableCounts, WhenFull};
