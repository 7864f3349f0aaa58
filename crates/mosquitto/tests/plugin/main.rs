//! The plugin in a mosquitto, asked by packets over loopback.
//!
//! `cargo xtask mosquitto` installs Debian's mosquitto first. Where there is none, each test
//! says so and does nothing; with `WARDGATE_REQUIRE_MOSQUITTO` set it fails instead.
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod decisions;
mod identity;
#[path = "../../../mqtt/tests/gate/notation.rs"]
mod notation;
mod options;
mod reload;
mod running;
