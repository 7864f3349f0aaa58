//! Tests of the public interface.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod allocations;
mod cache;
mod decisions;
mod doubles;
mod expiry;
#[cfg(feature = "ratelimit")]
mod limited;
mod lists;
mod odd_values;
mod policies;
mod threads;
