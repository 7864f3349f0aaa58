//! The signal that the server begins to stop.

use tokio::sync::watch;

/// Says when the server begins to stop.
#[derive(Clone, Debug)]
pub struct Stopping(pub(crate) watch::Receiver<bool>);

impl Stopping {
    /// Ends once the server is told to stop, however often it is called.
    pub async fn begun(&mut self) {
        // It ends also when nobody can tell any more.
        let _ = self.0.wait_for(|stopping| *stopping).await;
    }
}
