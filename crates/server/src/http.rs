//! The HTTP endpoint: listeners, connections, and the table of routes.
//!
//! It is the only room of Rust that knows HTTP. `wardgate_native::protocol` reads the meaning of
//! requests.

mod answer;
mod authzen;
pub(crate) mod bodies;
mod body;
mod brokers;
mod cerbos;
mod charging;
mod connection;
mod context;
mod cors;
mod deciding;
mod fields;
mod grants;
mod media_type;
mod operations;
mod peer;
mod ratelimit;
mod reply;
mod routes;
mod steps;
mod traced;
mod websocket;

use std::net::TcpListener;
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::config::{Config, WebSocket};
use crate::mqtt::Door;
use crate::net::accept::Pool;
use crate::net::connections::Connections;
use crate::net::tls;
use crate::net::workers::Workers;
use crate::shared::Shared;
use connection::Ways;

/// Sockets at which HTTP is spoken.
pub(crate) struct Endpoint {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
}

impl Endpoint {
    pub(crate) fn new(config: &Config, listeners: Vec<TcpListener>) -> Result<Self, String> {
        Ok(Self { listeners, tls: Self::usable(config)? })
    }

    /// Reads the files that the configuration names, and opens no socket.
    pub(crate) fn check(config: &Config) -> Result<(), String> {
        Self::usable(config).map(drop)
    }

    fn usable(config: &Config) -> Result<Option<TlsAcceptor>, String> {
        let websocket = config.mqtt.as_ref().and_then(|mqtt| mqtt.websocket.as_ref());
        if let Some(WebSocket { path, .. }) = websocket.filter(|it| routes::has(&it.path, config)) {
            return Err(format!(
                "`mqtt.websocket` must be a path of its own, `{path}` is another endpoint"
            ));
        }
        config.http.tls.as_ref().map(tls::acceptor).transpose()
    }

    pub(crate) fn listeners(&self) -> &[TcpListener] {
        &self.listeners
    }

    /// Starts to accept, within a runtime.
    pub(crate) fn start(
        self,
        shared: &Arc<Shared>,
        workers: &Arc<Workers>,
        tasks: &mut JoinSet<()>,
        door: Option<Arc<Door>>,
    ) -> Result<(), String> {
        let ways = Ways { tls: self.tls, door };
        let open = Arc::new(Connections::new(shared.config().http.max_connections));
        let pool = Pool { open, workers: Arc::clone(workers) };
        for listener in self.listeners {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|error| error.to_string())?;
            let (ways, shared) = (ways.clone(), Arc::clone(shared));
            tasks.spawn(connection::accept(listener, ways, shared, pool.clone()));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("listeners", &self.listeners).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
