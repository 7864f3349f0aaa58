//! The broker: what comes in from several clients, and what goes out to each.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod orders;
mod script;
mod scripts;
