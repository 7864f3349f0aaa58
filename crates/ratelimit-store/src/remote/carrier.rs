//! The carrier: takes the checks that wait and brings their outcomes, a few calls at once.

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::timeout;

use super::address::Address;
use super::batch::{self, Batch};
use super::connection::{Commands, Connection};
use super::fault::Fault;
use super::{Answer, Check, Options, Shared, Waiting, parts};
use crate::few::Few;
use crate::limits::MAX_BATCH;
use crate::store::Away;

/// The task between the callers of a store and its server.
pub(super) struct Carrier {
    address: Arc<Address>,
    shared: Arc<Shared>,
    deadline: Duration,
    /// The most calls under way.
    calls: usize,
    /// The connections without a call.
    idle: Vec<Connection>,
    batch: Batch,
    /// The checks of the last call.
    last: usize,
}

/// A call that has ended, with its checks.
struct Landed {
    checks: Vec<Waiting>,
    /// The answers to each group of checks with the number of callers, or why there are none for any.
    found: Result<Vec<(usize, Found)>, Away>,
    /// The connection, if all went well.
    connection: Option<Connection>,
}

/// The answers to the checks of one call.
type Found = Result<Few<Answer>, Fault>;

impl Carrier {
    pub(super) fn new(address: Arc<Address>, shared: Arc<Shared>, options: Options) -> Self {
        Self {
            address,
            shared,
            deadline: options.deadline,
            calls: options.connections.max(1),
            idle: Vec::new(),
            batch: Batch::default(),
            last: 0,
        }
    }

    /// Carries checks until their senders are gone.
    pub(super) async fn run(mut self, mut waiting: mpsc::Receiver<Waiting>) {
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
                        self.shared.under_way.fetch_add(1, Ordering::Relaxed);
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
    async fn gather(&mut self, waiting: &mut mpsc::Receiver<Waiting>, checks: &mut Vec<Waiting>) {
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
        if checks.iter().any(|one| slot(one).is_some()) {
            checks.sort_by_key(slot);
        }
    }

    /// Returns a call for each slot of these checks, in one write, which ends within the deadline.
    fn send(&mut self, checks: Vec<Waiting>) -> impl Future<Output = Landed> + use<> {
        let Self { batch, shared, .. } = self;
        let call = |group: &[Waiting]| batch.call(&shared.digest, each_check(group));
        let calls: Vec<Commands> = groups(&checks).into_iter().map(call).collect();
        let (address, mut connection) = (Arc::clone(&self.address), self.idle.pop());
        let deadline = self.deadline;
        async move {
            let call = call_all(&address, &mut connection, &calls, &checks);
            let found = timeout(deadline, call).await.unwrap_or(Err(Away::Late));
            // A late reply must meet no other call, and a server that refuses may be the wrong one.
            let is_well =
                found.as_ref().is_ok_and(|found| !found.iter().any(|(_, it)| is_failure(it)));
            Landed { checks, found, connection: connection.filter(|_| is_well) }
        }
    }

    fn land(&mut self, Landed { checks, found, connection }: Landed) {
        self.shared.under_way.fetch_sub(1, Ordering::Relaxed);
        match connection {
            Some(_) => self.shared.succeeded(each_check(&checks).count()),
            None => self.shared.failed(),
        }
        self.idle.extend(connection);
        let mut rest = checks.into_iter();
        match found {
            Ok(found) => {
                let groups = found.into_iter();
                groups.for_each(|(count, found)| deliver(rest.by_ref().take(count), found));
            }
            Err(away) => rest.for_each(|check| answer(check, Err(away.clone().into()))),
        }
    }
}

/// Makes calls, over a new connection if there is none.
async fn call_all(
    address: &Address,
    connection: &mut Option<Connection>,
    calls: &[Commands],
    checks: &[Waiting],
) -> Result<Vec<(usize, Found)>, Away> {
    let connection = match connection {
        Some(connection) => connection,
        none => none.insert(Connection::open(address).await?),
    };
    let replies = connection.call(calls).await?.into_iter().zip(groups(checks));
    let found = |(reply, group): (Result<_, _>, &[Waiting])| {
        let counts = each_check(group).map(|check| check.demands.each().len());
        let answers = |reply| Ok(batch::answers(&reply, counts)?);
        (group.len(), reply.and_then(answers))
    };
    Ok(replies.map(found).collect())
}

/// Returns the checks of each call: those of one slot, as far as they fit.
fn groups(checks: &[Waiting]) -> Vec<&[Waiting]> {
    let of_slot = checks.chunk_by(|one, next| slot(one) == slot(next));
    let keys = |one: &Waiting| one.checks.iter().map(|check| check.demands.each().len()).sum();
    of_slot.flat_map(|group| parts(group, keys)).collect()
}

fn each_check(group: &[Waiting]) -> impl Iterator<Item = &Check> + Clone {
    group.iter().flat_map(|one| one.checks.iter())
}

/// Returns the slot of the checks of a caller.
fn slot(waiting: &Waiting) -> Option<u16> {
    waiting.checks.first()?.slot
}

/// Returns true if a call failed. A slot that is elsewhere is no failure of the server that says so.
fn is_failure(found: &Found) -> bool {
    found.as_ref().is_err_and(|fault| !fault.is_of_slot())
}

/// Answers the callers whose checks were in one call.
fn deliver(group: impl Iterator<Item = Waiting>, found: Found) {
    let mut answers = found.map(Few::into_iter);
    for one in group {
        let count = one.checks.len();
        let own = match &mut answers {
            Ok(answers) => Ok(answers.by_ref().take(count).collect()),
            Err(fault) => Err(fault.clone()),
        };
        answer(one, own);
    }
}

/// A caller that has left misses nothing.
fn answer(waiting: Waiting, found: Found) {
    drop(waiting.reply.send(found));
}
