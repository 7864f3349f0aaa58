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
mod connection;
mod context;
mod deciding;
mod grants;
mod media_type;
mod operations;
mod peer;
mod reply;
mod routes;
mod steps;
mod traced;

use std::net::TcpListener;
use std::sync::Arc;

use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::config::Http;
use crate::net::accept::Pool;
use crate::net::connections::Connections;
use crate::net::listeners::Sockets;
use crate::net::tls;
use crate::net::workers::Workers;
use crate::shared::Shared;

/// Sockets at which HTTP is spoken.
pub(crate) struct Endpoint {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
}

impl Endpoint {
    pub(crate) fn open(config: &Http, sockets: &mut Sockets) -> Result<Self, String> {
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        Ok(Self { listeners: sockets.open(&config.listen)?, tls })
    }

    /// Reads the files that the configuration names, and opens no socket.
    pub(crate) fn check(config: &Http) -> Result<(), String> {
        config.tls.as_ref().map(tls::acceptor).transpose().map(drop)
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
    ) -> Result<(), String> {
        let open = Arc::new(Connections::new(shared.config().http.max_connections));
        let pool = Pool { open, workers: Arc::clone(workers) };
        for listener in self.listeners {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|error| error.to_string())?;
            let (tls, shared) = (self.tls.clone(), Arc::clone(shared));
            tasks.spawn(connection::accept(listener, tls, shared, pool.clone()));
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
