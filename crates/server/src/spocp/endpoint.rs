//! The sockets at which SPOCP is spoken, and the configuration of their connections.

use std::net::TcpListener;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConnection;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::server::ParsedCertificate;

use super::access::{Access, Administrator};
use super::connection::{End, Service, converse};
use super::session::Session;
use crate::config::{Bounds, Spocp};
use crate::files::secret;
use crate::net::accept::Pool;
use crate::net::connections::{Connections, OpenConnection};
use crate::net::tls;
use crate::net::workers::Workers;
use crate::shared::Shared;

/// Sockets at which SPOCP is spoken.
pub(crate) struct Endpoint {
    listeners: Vec<TcpListener>,
    hub: Arc<Hub>,
}

/// The configuration of connections.
struct Hub {
    access: Access,
    bounds: Bounds,
    tls: Option<TlsAcceptor>,
    tls_from_start: bool,
    /// Names in certificates of administrators. Without them every certificate of the root is one.
    names: Vec<ServerName<'static>>,
}

impl Endpoint {
    pub(crate) fn new(config: &Spocp, listeners: Vec<TcpListener>) -> Result<Self, String> {
        let (access, tls, names) = read(config)?;
        let hub = Hub {
            access,
            bounds: config.bounds,
            tls,
            tls_from_start: config.tls_from_start,
            names,
        };
        Ok(Self { listeners, hub: Arc::new(hub) })
    }

    /// Reads the files that the configuration names, and opens no socket or journal of changes.
    pub(crate) fn check(config: &Spocp) -> Result<(), String> {
        read(config).map(drop)
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
        let most = shared.config().spocp.as_ref().map_or(0, |spocp| spocp.max_connections);
        let open = Arc::new(Connections::new(most));
        let pool = Pool { open, workers: Arc::clone(workers) };
        for listener in self.listeners {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|error| error.to_string())?;
            let (hub, shared) = (Arc::clone(&self.hub), Arc::clone(shared));
            tasks.spawn(accept(listener, hub, shared, pool.clone()));
        }
        Ok(())
    }
}

/// Reads the access rules.
fn read(config: &Spocp) -> Result<(Access, Option<TlsAcceptor>, Vec<ServerName<'static>>), String> {
    let administrators = config.admin_tokens.as_deref().map(administrators).transpose()?;
    let access = Access {
        anonymous_queries: config.anonymous_queries,
        auth_without_tls: config.auth_without_tls,
        administrators: administrators.unwrap_or_default(),
    };
    let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
    let name = |name: &String| {
        ServerName::try_from(name.clone())
            .map_err(|_| format!("`{name}` is not a DNS name or an IP address"))
    };
    Ok((access, tls, config.admin_names.iter().map(name).collect::<Result<_, _>>()?))
}

fn administrators(path: &Path) -> Result<Vec<Administrator>, String> {
    let wrong = |error: String| format!("`{}`: {error}", path.display());
    let text = String::from_utf8(secret(path)?).map_err(|error| wrong(error.to_string()))?;
    Administrator::read_all(&text).map_err(wrong)
}

/// Accepts connections until the server stops, and then waits for those that are open.
async fn accept(listener: tokio::net::TcpListener, hub: Arc<Hub>, shared: Arc<Shared>, pool: Pool) {
    let state = Arc::clone(&shared);
    let serve = move |stream, opened| serve(stream, Arc::clone(&hub), Arc::clone(&state), opened);
    crate::net::accept::accept(listener, shared.stopping(), pool, serve).await;
}

async fn serve(mut stream: TcpStream, hub: Arc<Hub>, shared: Arc<Shared>, opened: OpenConnection) {
    // Answers are small and are not batched.
    let _ = stream.set_nodelay(true);
    let Some(rules) = shared.rules() else { return };
    let mut session = Session::new(hub.bounds.message_bytes);
    let plain = Service {
        rules,
        shared: Some(&shared),
        access: &hub.access,
        bounds: &hub.bounds,
        offers_tls: hub.tls.is_some(),
        connection: &opened.connection,
    };
    if !hub.tls_from_start
        && until_closing(&mut stream, &mut session, plain, &shared).await != End::StartTls
    {
        return;
    }
    // Input before the handshake went with the conversation: none of it counts as encrypted.
    let Some(tls) = &hub.tls else { return };
    let encrypted = Service { offers_tls: false, ..plain };
    let rest = async {
        let Some(mut stream) = tls::encrypted(tls, stream).await else { return };
        session.encrypted(administrator(stream.get_ref().1, &hub.names));
        until_closing(&mut stream, &mut session, encrypted, &shared).await;
        let _ = timeout(hub.bounds.write, stream.shutdown()).await;
    };
    // Apart, so that a plain connection does not carry the room for a handshake.
    Box::pin(rest).await;
}

/// Talks until one of both ends it, or the place is needed for another client.
async fn until_closing<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    session: &mut Session,
    service: Service<'_>,
    shared: &Shared,
) -> End {
    let mut stopping = shared.stopping();
    let stopping = pin!(stopping.begun());
    let ended = tokio::select! {
        biased;
        ended = converse(stream, session, service, stopping) => ended,
        () = service.connection.closing() => Ok(End::Closed),
    };
    ended.unwrap_or_else(|error| {
        tracing::debug!(%error, "a connection ended early");
        End::Closed
    })
}

/// Returns the name of the administrator whose certificate the client has shown; an empty one where any will do.
fn administrator(connection: &ServerConnection, names: &[ServerName<'static>]) -> Option<String> {
    let certificate = connection.peer_certificates()?.first()?;
    // The verifier has seen to the root, the dates and the signature already.
    if names.is_empty() {
        return Some(String::new());
    }
    let certificate = ParsedCertificate::try_from(certificate).ok()?;
    let found = names.iter().find(|name| verify_server_name(&certificate, name).is_ok())?;
    Some(found.to_str().into_owned())
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("listeners", &self.listeners).finish_non_exhaustive()
    }
}
