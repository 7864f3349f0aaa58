//! The server over real HTTP, asked by clients that behave and by clients that do not.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod alone;
mod answers;
mod callers;
mod collector;
mod hostile;
mod keys;
mod publisher;
mod reload;
mod remote;
mod rules;
mod running;
mod traces;
