//! The sockets at which MQTT is spoken, and the places of clients.

use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;
use wardgate_mqtt::Limits;
use wardgate_mqtt::broker;
use wardgate_mqtt::gate::{Password, Settings};

use super::answers::AnswerRoom;
use super::judge::{Client, PolicyJudge};
use super::local::Local;
use super::relay::Relay;
use super::websocket::WebSocket;
use crate::config::{Behind, Mqtt};
use crate::identity::token::Digest;
use crate::limits::MQTT_HALF_OPEN;
use crate::net::accept::Pool;
use crate::net::connections::{Connections, OpenConnection};
use crate::net::tls;
use crate::net::workers::Workers;
use crate::shared::Shared;

/// Sockets at which MQTT is spoken.
pub(crate) struct Endpoint {
    listeners: Vec<TcpListener>,
    hub: Hub,
}

/// The way in for clients that speak WebSocket, which have been accepted by another listener.
pub(crate) struct Door {
    hub: Arc<Hub>,
    shared: Arc<Shared>,
    /// The clients that were not accepted yet, of all listeners.
    open: Arc<Connections>,
}

/// What all clients share.
pub(super) struct Hub {
    pub(super) config: Mqtt,
    pub(super) settings: Settings,
    /// The broker of this server, unless another one is used. It is there once the server starts.
    pub(super) local: Option<Arc<Local>>,
    /// The begin of the grid of looks at the clock.
    pub(super) begin: Instant,
    /// The room for answers about messages.
    pub(super) answers: AnswerRoom,
    tls: Option<TlsAcceptor>,
    clients: AtomicUsize,
}

/// A place among the clients, given back when it is dropped.
pub(super) struct Place {
    hub: Arc<Hub>,
    shared: Arc<Shared>,
}

impl Endpoint {
    pub(crate) fn new(config: &Mqtt, listeners: Vec<TcpListener>) -> Result<Self, String> {
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let settings = settings(config);
        let (begin, clients) = (Instant::now(), AtomicUsize::new(0));
        let (config, answers) = (config.clone(), AnswerRoom::default());
        let hub = Hub { config, settings, local: None, begin, answers, tls, clients };
        Ok(Self { listeners, hub })
    }

    /// Reads the files that the configuration names, and opens no socket.
    pub(crate) fn check(config: &Mqtt) -> Result<(), String> {
        config.tls.as_ref().map(tls::acceptor).transpose().map(drop)
    }

    pub(crate) fn listeners(&self) -> &[TcpListener] {
        &self.listeners
    }

    /// Starts to accept, within a runtime. Returns the door for WebSocket, if it is configured.
    pub(crate) fn start(
        self,
        shared: &Arc<Shared>,
        workers: &Arc<Workers>,
        tasks: &mut JoinSet<()>,
    ) -> Result<Option<Arc<Door>>, String> {
        // Clients leave this list once they are accepted: strangers push out strangers only.
        let open = Arc::new(Connections::new(MQTT_HALF_OPEN));
        let pool = Pool { open: Arc::clone(&open), workers: Arc::clone(workers) };
        let mut hub = self.hub;
        if let Some(settings) = broker_settings(&hub.config, hub.settings.limits) {
            let local = Arc::new(Local::new(settings, Arc::clone(shared)));
            tasks.spawn(Arc::clone(&local).keep());
            hub.local = Some(local);
        }
        let hub = Arc::new(hub);
        for listener in self.listeners {
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|error| error.to_string())?;
            let (hub, shared) = (Arc::clone(&hub), Arc::clone(shared));
            tasks.spawn(accept(listener, hub, shared, pool.clone()));
        }
        let shared = Arc::clone(shared);
        Ok(hub.config.websocket.is_some().then(|| Arc::new(Door { hub, shared, open })))
    }
}

impl Door {
    /// Serves a client whose handshake is done. `early` came right behind its request.
    pub(crate) async fn serve<S>(&self, stream: S, early: Vec<u8>, client: Client)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = WebSocket::new(stream, early, self.hub.config.max_packet_bytes);
        speak(stream, client, &self.hub, &self.shared, self.open.enter()).await;
    }
}

impl Hub {
    /// Gives a place to a client; `None` if all are taken.
    pub(super) fn enter(self: &Arc<Self>, shared: &Arc<Shared>) -> Option<Place> {
        let more = |clients: usize| (clients < self.config.max_clients).then(|| clients + 1);
        self.clients.try_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        shared.metrics().mqtt().entered();
        Some(Place { hub: Arc::clone(self), shared: Arc::clone(shared) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.hub.clients.fetch_sub(1, Ordering::Relaxed);
        self.shared.metrics().mqtt().left();
    }
}

fn settings(config: &Mqtt) -> Settings {
    let packet_bytes = config.max_packet_bytes;
    Settings {
        limits: Limits { packet_bytes, ..Limits::DEFAULT },
        denied: config.denied,
        deliver: config.deliver,
        password: match config.broker {
            Behind::Other { pass_password: false, .. } => Password::Remove,
            _ => Password::Pass,
        },
        connect_millis: u64::try_from(config.connect.as_millis()).unwrap_or(u64::MAX),
        ..Settings::DEFAULT
    }
}

/// Returns the bounds of the broker of this server, if it is used.
const fn broker_settings(config: &Mqtt, limits: Limits) -> Option<broker::Settings> {
    let Behind::Own { slow, retained_messages, retained_bytes, keep_alive } = config.broker else {
        return None;
    };
    let usual = broker::Settings { limits, slow, keep_alive, ..broker::Settings::DEFAULT };
    Some(broker::Settings { retained_messages, retained_bytes, ..usual })
}

/// Accepts connections until the server stops, and then waits for those that are open.
async fn accept(listener: tokio::net::TcpListener, hub: Arc<Hub>, shared: Arc<Shared>, pool: Pool) {
    let state = Arc::clone(&shared);
    let serve = move |stream, opened| serve(stream, Arc::clone(&hub), Arc::clone(&state), opened);
    crate::net::accept::accept(listener, shared.stopping(), pool, serve).await;
}

async fn serve(stream: TcpStream, hub: Arc<Hub>, shared: Arc<Shared>, opened: OpenConnection) {
    // Packets are small and are not batched.
    let _ = stream.set_nodelay(true);
    let Ok(address) = stream.peer_addr() else { return };
    // A condition should not have to know that a socket of IPv6 takes IPv4 too.
    let address = address.ip().to_canonical();
    let Some(acceptor) = &hub.tls else {
        let client = Client { address, certificate: None, is_tls: false };
        return speak(stream, client, &hub, &shared, opened).await;
    };
    // Apart, so that a plain connection does not carry the room for a handshake.
    let encrypted = async {
        let closing = Arc::clone(&opened.connection);
        let stream = tokio::select! {
            stream = tls::encrypted(acceptor, stream) => stream,
            () = closing.closing() => None,
        };
        let Some(stream) = stream else { return };
        let certificates = stream.get_ref().1.peer_certificates();
        let certificate = certificates
            .and_then(<[_]>::first)
            .map(|der| (shared.authenticator().by_certificate(der), Digest::of(der).hex()));
        let client = Client { address, certificate, is_tls: true };
        speak(stream, client, &hub, &shared, opened).await;
    };
    Box::pin(encrypted).await;
}

async fn speak<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    client: Client,
    hub: &Arc<Hub>,
    shared: &Arc<Shared>,
    opened: OpenConnection,
) {
    let judge = PolicyJudge::new(client, Arc::clone(hub), Arc::clone(shared));
    let mut relay = Relay::new(stream, judge, hub, opened);
    relay.run(shared).await;
}

/// Returns true if bytes from there cross no network.
pub(super) const fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => address.is_loopback(),
    }
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint").field("listeners", &self.listeners).finish_non_exhaustive()
    }
}
