//! Sockets, connections and the threads that serve them.
//!
//! Every protocol runs on this room, and it knows no protocol that the server speaks.

pub(crate) mod accept;
pub(crate) mod awake;
pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod crew;
pub(crate) mod heard;
pub(crate) mod listeners;
pub(crate) mod notify;
pub(crate) mod opening;
pub(crate) mod tls;
