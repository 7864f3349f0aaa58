//! The client at the other end of a connection.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::identity::auth::Caller;
use crate::net::connections::{Connection, Connections};

/// The other end of a connection.
pub(crate) struct Peer {
    pub(crate) connection: Arc<Connection>,
    pub(crate) open: Arc<Connections>,
    /// The address of the listener that it has reached.
    pub(crate) local: Option<SocketAddr>,
    pub(crate) is_tls: bool,
    /// The caller of the client certificate.
    pub(crate) caller: Option<Caller>,
}
