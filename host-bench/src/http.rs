//! Servers on loopback, and load on them.

mod client;
mod load;
mod process;
mod server;

pub(crate) use client::Call;
pub(crate) use load::{Load, closed_loop, open_loop};
pub(crate) use process::{processor_time, resident};
pub(crate) use server::Server;
#[cfg(feature = "shop")]
pub(crate) use server::free;
