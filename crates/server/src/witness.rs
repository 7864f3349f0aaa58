//! A witness of logs: it cosigns a checkpoint only if it goes on from the one that it cosigned before (C2SP, tlog-witness).
//!
//! What it has cosigned is on the disk before the cosignature leaves. A witness without its state would cosign the past
//! anew, so the folder is made once, and only when asked for.

mod service;
mod states;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Builder, Runtime};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use wardgate_decision_log::checkpoint::{LogKey, is_origin};
use wardgate_decision_log::signer::LogSigner;

use crate::config::{Level, LogFormat};
use crate::limits::MAX_WITNESSED_LOGS;
use crate::net::listeners::Sockets;
use crate::server::ServerError;
use crate::telemetry::log;
use states::States;

/// The settings of a witness.
#[derive(Debug)]
pub struct WitnessSettings {
    /// The folder of what it has cosigned.
    pub folder: PathBuf,
    /// True if the folder is to be made: it must have no state yet.
    pub is_new: bool,
    /// The key of its cosignatures.
    pub signer: LogSigner,
    /// The keys of the logs that it trusts.
    pub logs: Vec<LogKey>,
    /// The address to listen at.
    pub listen: String,
}

/// A witness that listens, and answers once it runs.
#[derive(Debug)]
pub struct Witness {
    runtime: Runtime,
    signals: Signals,
    listener: TcpListener,
    states: Arc<Mutex<States>>,
}

impl Witness {
    /// Opens the socket, and reads what was cosigned.
    ///
    /// # Errors
    /// Another process uses the folder, it is none of this witness or damaged, a key cannot be trusted, the address
    /// cannot be listened at, or the system has no threads; in words for the operator.
    pub fn bind(settings: WitnessSettings) -> Result<Self, ServerError> {
        log::start(Level::Info, LogFormat::Json);
        must_suit(&settings)?;
        let mut listeners = Sockets::from_environment().open(&[settings.listen])?;
        let listener = listeners.pop().ok_or_else(|| "there is no address".to_owned())?;
        let states =
            States::open(settings.folder, settings.is_new, settings.signer, settings.logs)?;
        // One thread answers, and one waits for the disk: the requests of a moment follow each other.
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let signals = Signals::new(&runtime).map_err(|error| error.to_string())?;
        Ok(Self { runtime, signals, listener, states: Arc::new(Mutex::new(states)) })
    }

    /// Returns the address at which it listens.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Returns the size of the newest checkpoint of a log that was cosigned, or `None` if there is none.
    #[must_use]
    pub fn cosigned(&self, origin: &str) -> Option<u64> {
        let states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        states.latest(origin).map(|head| head.size)
    }

    /// Answers until SIGTERM or SIGINT, which may have come since it was bound, or until `stop` ends.
    ///
    /// # Errors
    /// The system does not take the socket.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let Self { runtime, signals, listener, states } = self;
        let done = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            tokio::select! {
                () = service::accept(listener, states) => {}
                ended = signals.ended() => ended?,
                () = stop => {}
            }
            Ok(())
        });
        runtime.shutdown_background();
        done.map_err(|error: std::io::Error| ServerError::from(error.to_string()))
    }
}

fn must_suit(settings: &WitnessSettings) -> Result<(), String> {
    if settings.logs.is_empty() || settings.logs.len() > MAX_WITNESSED_LOGS {
        return Err(format!("a witness trusts 1 to {MAX_WITNESSED_LOGS} logs"));
    }
    for key in &settings.logs {
        let name = key.name();
        if !is_origin(name) {
            return Err(format!("`{name}` is too long for the origin of a log"));
        }
        if name == settings.signer.origin() {
            return Err(format!(
                "the witness has the name of the log `{name}`: a log that witnesses itself proves nothing"
            ));
        }
    }
    Ok(())
}

/// The signals that end a witness, caught from the moment this is made.
#[derive(Debug)]
struct Signals {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl Signals {
    #[cfg(unix)]
    fn new(runtime: &Runtime) -> std::io::Result<Self> {
        let _entered = runtime.enter();
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Self { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    fn new(_: &Runtime) -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Returns at SIGTERM or SIGINT.
    async fn ended(self) -> std::io::Result<()> {
        #[cfg(unix)]
        {
            let Self { mut terminate, mut interrupt } = self;
            tokio::select! {
                _ = terminate.recv() => Ok(()),
                _ = interrupt.recv() => Ok(()),
            }
        }
        #[cfg(not(unix))]
        tokio::signal::ctrl_c().await
    }
}

#[cfg(test)]
mod tests;
