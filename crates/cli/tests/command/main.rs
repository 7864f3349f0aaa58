//! The command `wardgate`, run as its users run it: arguments, files and pipes in; text, JSON and an
//! exit code out.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod bench;
mod check;
mod clumsy;
mod codes;
mod compile;
#[cfg(target_os = "linux")]
mod completions;
mod explain;
mod fmt;
mod folder;
mod inspect;
mod lint;
#[cfg(target_os = "linux")]
mod log;
#[cfg(target_os = "linux")]
mod messages;
mod mqtt;
mod ratelimit;
mod recorded;
mod serve;
mod spocp;
mod test;
mod trust;
mod watch;
#[cfg(target_os = "linux")]
mod witness;
