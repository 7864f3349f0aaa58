//! The way from bytes to policies, from outside: which bundles open, and by which names the others
//! are refused.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

mod corruption;
mod cose;
mod deltas;
mod explanations;
mod golden;
mod keys;
mod opening;
#[cfg(feature = "rules")]
mod rules;
mod seals;
mod tables;
mod trust;
mod words;
