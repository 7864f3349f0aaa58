//! The broker: what comes in from several clients, and what goes out to each.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

#[path = "../gate/notation.rs"]
mod notation;
mod orders;
mod script;
mod scripts;
mod statements;
