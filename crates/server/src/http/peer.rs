//! The client at the other end of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::upgrade::OnUpgrade;

use crate::identity::auth::Caller;
use crate::mqtt::{Client, Door};
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
    /// The way to MQTT, where that is spoken over WebSocket.
    pub(crate) way: Option<Way>,
}

/// The way of a client of HTTP to MQTT.
pub(crate) struct Way {
    pub(crate) door: Arc<Door>,
    pub(crate) address: Option<IpAddr>,
    /// The digest of the client certificate.
    pub(crate) certificate: Option<String>,
    /// The connection that becomes one of WebSocket.
    pub(crate) upgrade: Mutex<Option<OnUpgrade>>,
}

impl Peer {
    /// Notes that the connection becomes one of WebSocket.
    pub(super) fn upgrade(&self, upgrade: OnUpgrade) {
        if let Some(way) = &self.way {
            *way.upgrade.lock().unwrap_or_else(PoisonError::into_inner) = Some(upgrade);
        }
    }

    /// Returns the client as MQTT sees it, and the way to it.
    pub(super) fn into_client(self) -> Option<(Client, Arc<Door>)> {
        let Way { door, address, certificate, .. } = self.way?;
        // A condition should not have to know that a socket of IPv6 takes IPv4 too.
        let address = address?.to_canonical();
        let certificate = self.caller.zip(certificate);
        Some((Client { address, certificate, is_tls: self.is_tls }, door))
    }
}

impl Way {
    /// Takes the connection that becomes one of WebSocket.
    pub(super) fn take(&self) -> Option<OnUpgrade> {
        self.upgrade.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
