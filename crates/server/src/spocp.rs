//! SPOCP over TCP, as draft-hedberg-spocp-00 and draft-hedberg-spocp-tcp-00 say.
//!
//! `session` decides what bytes are answered with, and knows no socket. `connection` moves the bytes, and keeps every
//! client within its time and its room.

pub mod access;
pub mod codec;
mod connection;
mod endpoint;
pub mod limits;
pub mod list;
pub mod reply;
pub mod request;
pub mod session;
mod traced;

pub(crate) use endpoint::Endpoint;
