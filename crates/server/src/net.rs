//! Sockets, connections and the threads that serve them.
//!
//! Every protocol runs on this room, and it knows no protocol that the server speaks.

pub(crate) mod accept;
pub(crate) mod busy_poll;
pub(crate) mod client;
pub(crate) mod connections;
pub(crate) mod listeners;
pub(crate) mod notify;
pub(crate) mod peek;
pub(crate) mod rewind;
pub(crate) mod room;
pub(crate) mod stopping;
pub(crate) mod tls;
pub(crate) mod workers;
