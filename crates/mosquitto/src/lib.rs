//! A plugin for mosquitto 2: policies decide what its clients may do.
//!
//! mosquitto serves all clients in one thread and waits for each answer. So a decision does no I/O,
//! its steps are bounded, and an error in it denies. Only [`abi`] knows the interface of mosquitto;
//! everything else is safe code that runs without it.
//!
//! On Apple's systems and on Windows a library must have its undefined functions when it is linked,
//! and those of mosquitto are in its program: there the plugin is not built.
#![deny(unsafe_code)]

#[cfg(all(unix, not(target_vendor = "apple")))]
#[expect(unsafe_code, reason = "the interface of mosquitto is in C")]
mod abi;
mod clients;
mod limits;
mod log;
mod options;
mod plugin;
mod policies;
mod request;
mod tokens;
mod trust;
mod watch;

pub use log::{Level, Line};
pub use options::{Identity, Options, TokenOptions, TrustOptions};
pub use plugin::{Answer, Plugin};
pub use request::{Access, Client, Message};
