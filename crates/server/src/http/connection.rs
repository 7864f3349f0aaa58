//! One connection: TLS, requests one after the other, and a limit on every wait for the client.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use super::answer::answer;
use super::peer::{Peer, Way};
use crate::config::Http;
use crate::identity::token::Digest;
use crate::limits::{MAX_HEAD_BYTES, MAX_HEADERS};
use crate::mqtt::Door;
use crate::net::accept::Pool;
use crate::net::busy_poll;
use crate::net::connections::{Connection, OpenConnection, Phase};
use crate::net::peek;
use crate::net::rewind::Rewind;
use crate::net::stopping::Stopping;
use crate::net::tls;
use crate::shared::Shared;

/// Accepts connections until the server stops, and then waits for those that are open.
pub(crate) async fn accept(listener: TcpListener, ways: Ways, shared: Arc<Shared>, pool: Pool) {
    let state = Arc::clone(&shared);
    let socket = Socket { ways, local: listener.local_addr().ok() };
    let serve = move |stream, opened| serve(stream, socket.clone(), Arc::clone(&state), opened);
    crate::net::accept::accept(listener, shared.stopping(), pool, serve).await;
}

/// What is spoken below and behind HTTP.
#[derive(Clone)]
pub(crate) struct Ways {
    pub(crate) tls: Option<TlsAcceptor>,
    /// The way to MQTT, where that is spoken over WebSocket.
    pub(crate) door: Option<Arc<Door>>,
}

/// A socket at which HTTP is spoken.
#[derive(Clone)]
struct Socket {
    ways: Ways,
    local: Option<SocketAddr>,
}

async fn serve(
    stream: TcpStream,
    Socket { ways: Ways { tls, door }, local }: Socket,
    shared: Arc<Shared>,
    opened: OpenConnection,
) {
    // Answers are small and are not batched.
    let _ = stream.set_nodelay(true);
    let (connection, open) = (Arc::clone(&opened.connection), Arc::clone(&opened.connections));
    let address = door.as_ref().and_then(|_| stream.peer_addr().ok()).map(|address| address.ip());
    let way = |door| Way { door, address, certificate: None, upgrade: Mutex::default() };
    let way = door.map(way);
    let mut peer = Peer { connection, open, local, is_tls: tls.is_some(), caller: None, way };
    let Some(acceptor) = tls else { return speak(stream, &shared, peer, opened).await };
    let encrypted = async {
        let Some(stream) = tls::encrypted(&acceptor, stream).await else { return };
        let certificates = stream.get_ref().1.peer_certificates();
        let certificate = certificates.and_then(<[_]>::first);
        peer.caller = certificate.map(|der| shared.authenticator().by_certificate(der));
        if let Some(way) = &mut peer.way {
            way.certificate = certificate.map(|der| Digest::of(der).hex());
        }
        speak(stream, &shared, peer, opened).await;
    };
    // Apart, so that a plain connection does not carry the room for a handshake.
    Box::pin(encrypted).await;
}

/// Speaks HTTP, and MQTT where the client changes to it.
async fn speak<S>(stream: S, shared: &Arc<Shared>, peer: Peer, opened: OpenConnection)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Some((stream, early)) = speak_http(stream, shared, &peer).await else { return };
    let Some((client, door)) = peer.into_client() else { return };
    // It is no connection of HTTP any more.
    drop(opened);
    // Apart, so that a connection of HTTP does not carry the memory of one of MQTT.
    Box::pin(door.serve(stream, early, client)).await;
}

/// Speaks HTTP to its end. Returns the connection, and what has come behind the last request, if
/// it becomes one of WebSocket.
async fn speak_http<S>(stream: S, shared: &Arc<Shared>, peer: &Peer) -> Option<(S, Vec<u8>)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = &peer.connection;
    let mut stream = Rewind::new(stream, Arc::clone(connection));
    let mut stopping = shared.stopping();
    let mut bytes = Vec::new();
    tokio::select! {
        biased;
        rewind = peek::peek(&mut stream, &mut bytes) => {
            if let Err(error) = rewind {
                tracing::debug!(%error, "a connection ended early");
                return None;
            }
        }
        () = connection.closing() => return cut(connection),
        () = too_long(connection, &shared.config().http) => return cut(connection),
        // A request that has begun is answered.
        () = stopping.begun() => {}
    }
    if bytes.is_empty() {
        return None;
    }
    stream.rewind(bytes);
    // Apart, so that a connection before its first request does not carry the memory of one.
    Box::pin(converse(stream, shared, peer, stopping)).await
}

async fn converse<S>(
    stream: Rewind<S>,
    shared: &Arc<Shared>,
    peer: &Peer,
    mut stopping: Stopping,
) -> Option<(S, Vec<u8>)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = &peer.connection;
    let service = service_fn(|request| async {
        let response = answer(request, shared, peer).await;
        connection.enter_phase(Phase::Idle);
        busy_poll::note_answer();
        Ok::<_, Infallible>(response)
    });
    let speaking = builder().serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut speaking = pin!(speaking);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            biased;
            ended = speaking.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return upgraded(peer.way.as_ref()?.take()?).await;
            }
            () = connection.closing() => return cut(connection),
            () = too_long(connection, &shared.config().http) => return cut(connection),
            () = stopping.begun(), if !is_stopping => {
                is_stopping = true;
                speaking.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Returns a connection that HTTP has left, and what has come behind its last request.
async fn upgraded<S>(upgrade: OnUpgrade) -> Option<(S, Vec<u8>)>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let parts = upgrade.await.ok()?.downcast::<TokioIo<Rewind<S>>>().ok()?;
    let (stream, prefix) = parts.io.into_inner().into_inner()?;
    Some((stream, [parts.read_buf, prefix].concat()))
}

/// Notes that the server ends the connection.
fn cut<T>(connection: &Connection) -> Option<T> {
    connection.cut();
    None
}

fn builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    // All phases are timed here, so that hyper sets no timer of its own for each request.
    builder.header_read_timeout(None).max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD_BYTES);
    builder
}

/// Ends when the client has taken too long. It looks from time to time and not at every request, so
/// it may be late by half of the shortest time.
async fn too_long(connection: &Connection, config: &Http) {
    let shortest = config.header_timeout.min(config.body_timeout).min(config.idle_timeout);
    let pace = (shortest / 2).max(Duration::from_millis(100));
    loop {
        let (phase, waited) = connection.waited();
        let most = match phase {
            Phase::Idle => config.idle_timeout,
            Phase::Head => config.header_timeout,
            Phase::Body => config.body_timeout,
            Phase::Answer => Duration::MAX,
        };
        if waited >= most {
            return;
        }
        sleep((most - waited).min(pace)).await;
    }
}
