//! The door from bytes to policies, from outside: what opens, what is refused, and by which name.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod corruption;
mod cose;
mod deltas;
mod golden;
mod keys;
mod opening;
#[cfg(feature = "rules")]
mod rules;
mod seals;
mod tables;
mod trust;
mod words;
