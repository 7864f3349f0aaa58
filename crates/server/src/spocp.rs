//! SPOCP over TCP, as draft-hedberg-spocp-00 and draft-hedberg-spocp-tcp-00 define it.
//!
//! `session` turns bytes into replies, and knows no socket. `connection` moves the bytes, and
//! bounds the time and memory of every client.

pub mod access;
pub mod codec;
mod connection;
mod endpoint;
pub mod limits;
pub mod list;
pub mod recorded;
pub mod reply;
pub mod request;
pub mod session;
mod traced;

pub(crate) use endpoint::Endpoint;
