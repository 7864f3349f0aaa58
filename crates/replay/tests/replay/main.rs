//! Replays compared with a plain one: each line through a general reader of JSON, each decision through the
//! explaining general path, one after the other.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod generate;
mod hostile;
mod oracle;
mod usage;
