//! The signal that the server begins to stop.

use tokio::sync::watch;

/// Says when the server begins to stop.
#[derive(Clone, Debug)]
pub struct Stopping(pub(crate) watch::Receiver<bool>);

impl Stopping {
    /// Returns once the server begins to stop, at every call.
    pub async fn begun(&mut self) {
        // It also returns when the sender is gone.
        let _ = self.0.wait_for(|stopping| *stopping).await;
    }
}
