//! A carrier: takes the checks that wait and brings their outcomes, one call after another.

use core::time::Duration;
use std::sync::Arc;

use redis::{Client, Script};
use tokio::sync::{Mutex, mpsc};
use tokio::task::yield_now;
use tokio::time::timeout;
use wardgate_ratelimit::{CHARGE_SCRIPT, Outcome};

use super::batch::{self, Batch};
use super::connection::Connection;
use super::{Check, Shared};
use crate::limits::MAX_BATCH;
use crate::store::Away;

/// A task with a connection of its own.
pub(super) struct Carrier {
    client: Client,
    waiting: Arc<Mutex<mpsc::Receiver<Check>>>,
    shared: Arc<Shared>,
    deadline: Duration,
    digest: String,
    connection: Option<Connection>,
    batch: Batch,
}

impl Carrier {
    pub(super) fn new(
        client: Client,
        waiting: Arc<Mutex<mpsc::Receiver<Check>>>,
        shared: Arc<Shared>,
        deadline: Duration,
    ) -> Self {
        let digest = Script::new(CHARGE_SCRIPT).get_hash().to_owned();
        let batch = Batch::default();
        Self { client, waiting, shared, deadline, digest, connection: None, batch }
    }

    /// Carries checks until their senders are gone.
    pub(super) async fn run(mut self) {
        let mut checks = Vec::with_capacity(MAX_BATCH);
        while self.take(&mut checks).await {
            // Whoever waits no more is not charged.
            checks.retain(|check| !check.reply.is_closed());
            if checks.is_empty() {
                continue;
            }
            let found = timeout(self.deadline, self.carry(&checks)).await;
            match found.unwrap_or(Err(Away::Late)) {
                Ok(outcomes) => self.deliver(&mut checks, outcomes),
                Err(away) => self.fail(&mut checks, &away),
            }
        }
    }

    /// Takes the checks that wait. Returns false if none will come.
    async fn take(&self, checks: &mut Vec<Check>) -> bool {
        let mut waiting = self.waiting.lock().await;
        if waiting.recv_many(checks, MAX_BATCH).await == 0 {
            return false;
        }
        // Callers that were woken together come together, if they may run first.
        yield_now().await;
        while checks.len() < MAX_BATCH {
            let Ok(check) = waiting.try_recv() else { break };
            checks.push(check);
        }
        true
    }

    async fn carry(&mut self, checks: &[Check]) -> Result<Vec<Outcome>, Away> {
        // It comes back below if all went well: a reply that is late must meet no other call.
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.client).await?,
        };
        let cmd = self.batch.call(&self.digest, checks);
        let reply = connection.call(&cmd).await?;
        let outcomes = batch::outcomes(reply, checks)?;
        self.connection = Some(connection);
        Ok(outcomes)
    }

    fn deliver(&self, checks: &mut Vec<Check>, outcomes: Vec<Outcome>) {
        self.shared.succeeded(checks.len());
        let mut outcomes = outcomes.into_iter();
        for check in checks.drain(..) {
            let own = outcomes.by_ref().take(check.demands.each().len()).collect();
            // A caller that has left misses nothing.
            let _ = check.reply.send(Ok(own));
        }
    }

    fn fail(&self, checks: &mut Vec<Check>, away: &Away) {
        self.shared.failed();
        for check in checks.drain(..) {
            let _ = check.reply.send(Err(away.clone()));
        }
    }
}
