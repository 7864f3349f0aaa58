//! The algorithms, in Rust and in Lua, against an oracle over fractions and against its vectors.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test that cannot go on fails"
)]

mod by_hand;
mod files;
mod generator;
mod oracle;
mod properties;
mod redis;
mod script;

mod sequence;
