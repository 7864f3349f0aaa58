//! The carrier: takes the checks that wait and brings their outcomes, a few calls at once.

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use redis::{Client, Cmd, Script};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::timeout;
use wardgate_ratelimit::{CHARGE_SCRIPT, Outcome};

use super::batch::{self, Batch};
use super::connection::Connection;
use super::{Check, Options, Shared};
use crate::limits::MAX_BATCH;
use crate::store::Away;

/// The task between the callers of a store and its server.
pub(super) struct Carrier {
    client: Arc<Client>,
    shared: Arc<Shared>,
    deadline: Duration,
    /// The most calls under way.
    calls: usize,
    digest: String,
    /// The connections without a call.
    idle: Vec<Connection>,
    batch: Batch,
    /// The checks of the last call.
    last: usize,
}

/// A call that has ended, with its checks.
struct Landed {
    checks: Vec<Check>,
    found: Result<(Connection, Vec<Outcome>), Away>,
}

impl Carrier {
    pub(super) fn new(client: Client, shared: Arc<Shared>, options: Options) -> Self {
        Self {
            client: Arc::new(client),
            shared,
            deadline: options.deadline,
            calls: options.connections.max(1),
            digest: Script::new(CHARGE_SCRIPT).get_hash().to_owned(),
            idle: Vec::new(),
            batch: Batch::default(),
            last: 0,
        }
    }

    /// Carries checks until their senders are gone.
    pub(super) async fn run(mut self, mut waiting: mpsc::Receiver<Check>) {
        let mut under_way = FuturesUnordered::new();
        let mut checks = Vec::with_capacity(MAX_BATCH);
        loop {
            tokio::select! {
                Some(landed) = under_way.next() => self.land(landed),
                taken = waiting.recv_many(&mut checks, MAX_BATCH), if under_way.len() < self.calls => {
                    if taken == 0 {
                        break;
                    }
                    self.gather(&mut waiting, &mut checks).await;
                    if !checks.is_empty() {
                        let next = Vec::with_capacity(MAX_BATCH);
                        under_way.push(self.send(core::mem::replace(&mut checks, next)));
                    }
                }
            }
        }
        while let Some(landed) = under_way.next().await {
            self.land(landed);
        }
    }

    /// Adds the checks of callers that were woken together with the first one, which come at once if
    /// they may run before this task.
    async fn gather(&mut self, waiting: &mut mpsc::Receiver<Check>, checks: &mut Vec<Check>) {
        if self.last.max(checks.len()) > 1 {
            yield_now().await;
        }
        while checks.len() < MAX_BATCH {
            let Ok(check) = waiting.try_recv() else { break };
            checks.push(check);
        }
        self.last = checks.len();
        // Whoever waits no more is not charged.
        checks.retain(|check| !check.reply.is_closed());
    }

    /// Returns a call of these checks, which ends within the deadline.
    fn send(&mut self, checks: Vec<Check>) -> impl Future<Output = Landed> + use<> {
        let cmd = self.batch.call(&self.digest, &checks);
        let (client, connection) = (Arc::clone(&self.client), self.idle.pop());
        let deadline = self.deadline;
        async move {
            let call = call(&client, connection, &cmd, &checks);
            let found = timeout(deadline, call).await.unwrap_or(Err(Away::Late));
            Landed { checks, found }
        }
    }

    fn land(&mut self, Landed { checks, found }: Landed) {
        match found {
            Ok((connection, outcomes)) => {
                self.idle.push(connection);
                self.shared.succeeded(checks.len());
                deliver(checks, outcomes);
            }
            Err(away) => {
                self.shared.failed();
                // A caller that has left misses nothing, here and below.
                checks.into_iter().for_each(|check| drop(check.reply.send(Err(away.clone()))));
            }
        }
    }
}

/// Makes a call. The connection comes back if all went well: a late reply must meet no other call.
async fn call(
    client: &Client,
    connection: Option<Connection>,
    cmd: &Cmd,
    checks: &[Check],
) -> Result<(Connection, Vec<Outcome>), Away> {
    let mut connection = match connection {
        Some(connection) => connection,
        None => Connection::open(client).await?,
    };
    let reply = connection.call(cmd).await?;
    let outcomes = batch::outcomes(reply, checks)?;
    Ok((connection, outcomes))
}

fn deliver(checks: Vec<Check>, outcomes: Vec<Outcome>) {
    let mut outcomes = outcomes.into_iter();
    for check in checks {
        let own = outcomes.by_ref().take(check.demands.each().len()).collect();
        drop(check.reply.send(Ok(own)));
    }
}
