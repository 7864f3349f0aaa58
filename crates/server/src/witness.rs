//! A witness of logs: it cosigns a checkpoint only if it goes on from the one that it cosigned before (C2SP, tlog-witness).
//!
//! What it has cosigned is on the disk before the cosignature leaves. A witness without its state would cosign the past
//! anew, so the folder is made once, and only when asked for.

mod service;
mod states;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::Builder;
use wardgate_decision_log::checkpoint::{LogKey, is_origin};
use wardgate_decision_log::signer::LogSigner;

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
    listener: TcpListener,
    states: Arc<Mutex<States>>,
}

impl Witness {
    /// Opens the socket, and reads what was cosigned.
    ///
    /// # Errors
    /// Another process uses the folder, it is none of this witness or damaged, a key cannot be trusted, or the address
    /// cannot be listened at; in words for the operator.
    pub fn bind(settings: WitnessSettings) -> Result<Self, ServerError> {
        log::start(crate::config::Level::Info);
        must_suit(&settings)?;
        let mut listeners = Sockets::from_environment().open(&[settings.listen])?;
        let listener = listeners.pop().ok_or_else(|| "there is no address".to_owned())?;
        let states =
            States::open(settings.folder, settings.is_new, settings.signer, settings.logs)?;
        Ok(Self { listener, states: Arc::new(Mutex::new(states)) })
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

    /// Answers until SIGTERM or SIGINT, or until `stop` ends.
    ///
    /// # Errors
    /// The system has no threads for it.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        // One thread answers, and one waits for the disk: the requests of a moment follow each other.
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let done = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            tokio::select! {
                () = service::accept(listener, self.states) => {}
                ended = ended() => ended?,
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

/// Returns at SIGTERM or SIGINT.
async fn ended() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

#[cfg(test)]
mod tests;
