//! The server: sockets, threads, signals, and how it all ends.

mod reload;

use std::cell::Cell;
use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};

use tokio::runtime::{Builder, Handle};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::config::{Config, Spocp};
use crate::deciders::Deciders;
use crate::decision_log::exporting::Exporter;
use crate::decision_log::shipping::Shipper;
use crate::decision_log::witnessing::Witnessing;
use crate::decision_log::{Recorder, by_rules, recording};
use crate::http::bodies::Bodies;
use crate::net::busy_poll;
use crate::net::listeners::{ListenError, Sockets};
use crate::net::notify::{Phase, notify};
use crate::net::workers::Workers;
use crate::policies::state::{Origin, State};
use crate::rules::Rules;
use crate::shared::Shared;
use crate::telemetry::log;
use crate::{http, mqtt, spocp};

/// A server that listens, and answers once it runs.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    http: http::Endpoint,
    spocp: Option<spocp::Endpoint>,
    mqtt: Option<mqtt::Endpoint>,
    workers: Arc<Workers>,
    signals: Signals,
}

/// The reason for a failed start, in words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    message: String,
    is_about_address: bool,
}

impl Server {
    /// Reads the policies, opens the sockets, and starts the threads that will answer.
    ///
    /// # Errors
    /// The policies or rules cannot be used, an address cannot be listened at, or the system has no
    /// threads.
    pub fn bind(config: Config, mut origin: Origin) -> Result<Self, ServerError> {
        log::start(config.log, config.log_format);
        let first = reload::first(&mut origin)?;
        let mut sockets = Sockets::from_environment();
        let http = http::Endpoint::new(&config, sockets.open(&config.http.listen)?)?;
        let spocp = config.spocp.as_ref();
        let is_recorded = config.decision_log.is_some();
        let rules = spocp.map(|spocp| rules(spocp, &first, is_recorded)).transpose()?;
        let (rules, root) = rules.unzip();
        let spocp = match spocp {
            Some(spocp) => Some(spocp::Endpoint::new(spocp, sockets.open(&spocp.listen)?)?),
            None => None,
        };
        let mqtt = match &config.mqtt {
            Some(mqtt) => Some(mqtt::Endpoint::new(mqtt, sockets.open(&mqtt.listen)?)?),
            None => None,
        };
        let busy_poll = config.busy_poll.unwrap_or_else(busy_poll::window);
        let workers =
            Workers::start(config.threads, busy_poll).map_err(|error| error.to_string())?;
        let signals = within(workers.handles().first(), caught);
        let deciders = Deciders::start(workers.len()).map_err(|error| error.to_string())?;
        let (reloads, requests) = mpsc::channel();
        let shared = within(workers.handles().first(), || Shared::new(config, first, reloads))?;
        let shared = shared.with_rules(rules).with_recorder(root)?.with_witnesses()?;
        let shared = Arc::new(shared.with_deciders(deciders));
        // Without these keys the server still answers callers that need none. The log has the
        // reason.
        let _ = shared.first_keys();
        if let Some(tracer) = shared.tracer() {
            tracer.start().map_err(|error| error.to_string())?;
        }
        reload::start(origin, &shared, requests).map_err(|error| error.to_string())?;
        Ok(Self { shared, http, spocp, mqtt, workers: Arc::new(workers), signals })
    }

    /// Checks that a server could be made, and opens no sockets. Keys of other servers must arrive.
    ///
    /// # Errors
    /// The policies, or a file that the configuration names, cannot be used.
    pub fn check(config: Config, mut origin: Origin) -> Result<(), ServerError> {
        let first = reload::first(&mut origin)?;
        http::Endpoint::check(&config)?;
        if let Some(spocp) = &config.spocp {
            spocp::Endpoint::check(spocp)?;
            reload::base(spocp, &first)?;
        }
        if let Some(mqtt) = &config.mqtt {
            mqtt::Endpoint::check(mqtt)?;
        }
        if let Some(log) = &config.decision_log {
            recording::key(log)?;
            if let Some(shipping) = &log.shipping {
                Shipper::new(&log.folder, shipping)?;
            }
            if let Some(export) = &log.export {
                Exporter::new(&log.folder, export)?;
            }
            Witnessing::new(log)?;
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let make = || Shared::new(config, first, mpsc::channel().0);
        within(Some(runtime.handle()), make)?.first_keys()?;
        Ok(())
    }

    /// The addresses at which HTTP is spoken.
    #[must_use]
    pub fn http_addresses(&self) -> Vec<SocketAddr> {
        addresses(self.http.listeners())
    }

    /// The addresses at which SPOCP is spoken.
    #[must_use]
    pub fn spocp_addresses(&self) -> Vec<SocketAddr> {
        self.spocp.as_ref().map_or_else(Vec::new, |spocp| addresses(spocp.listeners()))
    }

    /// The addresses at which MQTT is spoken.
    #[must_use]
    pub fn mqtt_addresses(&self) -> Vec<SocketAddr> {
        self.mqtt.as_ref().map_or_else(Vec::new, |mqtt| addresses(mqtt.listeners()))
    }

    /// Returns the state shared by connections, with which another thread stops the server or
    /// reloads.
    #[must_use]
    pub fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Returns the handles of the threads that answer, in the order in which they get connections
    /// while there are none. A caller runs clients on them that must wake no other thread.
    #[must_use]
    pub fn threads(&self) -> Vec<Handle> {
        self.workers.handles()
    }

    /// Answers until a signal or [`Shared::stop`] stops it. Running answers may take the drain time
    /// of the configuration.
    ///
    /// # Errors
    /// The system has no threads for it.
    pub fn run(self) -> Result<(), ServerError> {
        // This thread accepts connections and receives signals; the others answer.
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let drain = self.shared.config().drain;
        let limits = self.shared.limits().cloned();
        let ended = runtime.block_on(async {
            let mut tasks = JoinSet::new();
            if let Some(limits) = limits.clone() {
                tasks.spawn(async move { limits.try_store().await });
            }
            tasks.spawn(obey(self.signals, Arc::clone(&self.shared)));
            if let Some(spocp) = self.spocp {
                spocp.start(&self.shared, &self.workers, &mut tasks)?;
            }
            let door = match self.mqtt {
                Some(mqtt) => mqtt.start(&self.shared, &self.workers, &mut tasks)?,
                None => None,
            };
            self.http.start(&self.shared, &self.workers, &mut tasks, door)?;
            notify(Phase::Ready);
            let mut stopping = self.shared.stopping();
            // It cannot fail: the other end is in `shared`, which is here.
            let () = stopping.begun().await;
            notify(Phase::Stopping);
            tracing::info!("stopping");
            let all = async { while tasks.join_next().await.is_some() {} };
            if timeout(drain, all).await.is_err() {
                tracing::warn!("some answers were cut off");
            }
            if let Some(limits) = limits {
                limits.close().await;
            }
            Ok(())
        });
        // Waiting changes are answered first.
        if let Some(rules) = self.shared.rules() {
            rules.close();
        }
        runtime.shutdown_background();
        if let Some(tracer) = self.shared.tracer() {
            tracer.close();
        }
        if let Some(Err(error)) = self.shared.recorder().map(Recorder::close) {
            tracing::error!(code = error.code(), "{error}");
        }
        if let Some(exporter) = self.shared.exporter() {
            exporter.close();
        }
        if let Some(shipper) = self.shared.shipper() {
            shipper.close();
        }
        if let Some(witnessing) = self.shared.witnessing() {
            witnessing.close();
        }
        ended
    }
}

impl Bodies {
    /// Reads the policies.
    ///
    /// # Errors
    /// They, or something that the configuration names, cannot be used.
    pub fn new(config: Config, mut origin: Origin) -> Result<Self, ServerError> {
        if config.decision_log.is_some() {
            let message = "`[decision-log]` records the answers of a server, and this is none";
            return Err(ServerError::from(message.to_owned()));
        }
        let first = reload::first(&mut origin)?;
        Ok(Self::of(Shared::new(config, first, mpsc::channel().0)?))
    }
}

/// Opens the rules that go with a state, and their changes. Returns the digest of the base rules, too, if it is recorded.
fn rules(config: &Spocp, state: &State, is_recorded: bool) -> Result<(Rules, [u8; 32]), String> {
    let root = Cell::new([0; 32]);
    let base = || {
        let base = reload::base(config, state)?;
        if is_recorded {
            root.set(by_rules::root(&base));
        }
        Ok(base)
    };
    let rules = match &config.changes {
        Some(path) => Rules::open(path, config.durability, base),
        None => Rules::fixed(&base()?),
    };
    let rules = rules.map_err(|error| format!("{}: {error}", error.code()))?;
    Ok((rules, root.get()))
}

/// Calls `make` within a runtime, where tasks of what it makes will run.
fn within<T>(runtime: Option<&Handle>, make: impl FnOnce() -> T) -> T {
    let _entered = runtime.map(Handle::enter);
    make()
}

/// SIGTERM, SIGINT and SIGHUP, caught from the moment this is made: who has read the addresses may stop the server at
/// once. `None` if they cannot be caught.
#[cfg(unix)]
type Signals = Option<[tokio::signal::unix::Signal; 3]>;

#[cfg(unix)]
fn caught() -> Signals {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [Ok(terminate), Ok(interrupt), Ok(hangup)] = kinds.map(signal) else {
        tracing::warn!("signals cannot be received");
        return None;
    };
    Some([terminate, interrupt, hangup])
}

/// Stops at SIGTERM and SIGINT, reloads at SIGHUP.
#[cfg(unix)]
async fn obey(signals: Signals, shared: Arc<Shared>) {
    let Some([mut terminate, mut interrupt, mut hangup]) = signals else { return };
    let mut stopping = shared.stopping();
    loop {
        tokio::select! {
            _ = terminate.recv() => return shared.stop(),
            _ = interrupt.recv() => return shared.stop(),
            () = stopping.begun() => return,
            _ = hangup.recv() => drop(shared.reload().await),
        }
    }
}

#[cfg(not(unix))]
type Signals = ();

#[cfg(not(unix))]
const fn caught() -> Signals {}

#[cfg(not(unix))]
async fn obey((): Signals, shared: Arc<Shared>) {
    let mut stopping = shared.stopping();
    tokio::select! {
        _ = tokio::signal::ctrl_c() => shared.stop(),
        () = stopping.begun() => {}
    }
}

fn addresses(listeners: &[TcpListener]) -> Vec<SocketAddr> {
    listeners.iter().filter_map(|listener| listener.local_addr().ok()).collect()
}

impl ServerError {
    /// Returns true if an address cannot be listened at.
    #[must_use]
    pub const fn is_about_address(&self) -> bool {
        self.is_about_address
    }
}

impl From<String> for ServerError {
    fn from(message: String) -> Self {
        Self { message, is_about_address: false }
    }
}

impl From<ListenError> for ServerError {
    fn from(error: ListenError) -> Self {
        Self { message: error.to_string(), is_about_address: true }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ServerError {}
