//! What every connection of every protocol shares.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::{oneshot, watch};

use crate::config::Config;
use crate::state::State;

/// The state in use, the configuration, and the way to stop and to reload.
#[derive(Debug)]
pub struct Shared {
    config: Config,
    state: ArcSwap<State>,
    stopping: watch::Sender<bool>,
    reloads: Sender<Reload>,
}

/// A wish for new policies.
#[derive(Debug)]
pub(crate) struct Reload {
    /// Is told the serial number of the state in use afterwards, or why there is no new one.
    pub(crate) done: oneshot::Sender<Result<u64, String>>,
}

impl Shared {
    pub(crate) fn new(config: Config, state: State, reloads: Sender<Reload>) -> Self {
        let state = ArcSwap::from_pointee(state);
        Self { config, state, stopping: watch::Sender::new(false), reloads }
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The state of this moment. Whoever answers takes it once, and answers from it to the end.
    pub fn state(&self) -> Guard<Arc<State>> {
        self.state.load()
    }

    pub(crate) fn replace(&self, state: State) {
        self.state.store(Arc::new(state));
    }

    /// Looks for new policies now, and tells the serial number of the state in use afterwards.
    ///
    /// # Errors
    /// There are none that can be used; then the state is what it was.
    pub async fn reload(&self) -> Result<u64, String> {
        let (done, answer) = oneshot::channel();
        self.reloads.send(Reload { done }).map_err(|_| STOPPED.to_owned())?;
        answer.await.map_err(|_| STOPPED.to_owned())?
    }

    /// Tells every listener and connection to come to an end.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Says when the server begins to stop.
    #[must_use]
    pub fn stopping(&self) -> Stopping {
        Stopping(self.stopping.subscribe())
    }
}

/// Says when the server begins to stop.
#[derive(Clone, Debug)]
pub struct Stopping(watch::Receiver<bool>);

impl Stopping {
    /// Ends once the server is told to stop, however often it is called.
    pub async fn begun(&mut self) {
        // It ends also when nobody can tell any more.
        let _ = self.0.wait_for(|stopping| *stopping).await;
    }
}

const STOPPED: &str = "the server is stopping";
