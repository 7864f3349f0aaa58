//! The store on Redis, Valkey or Dragonfly: one call of one script for all checks that wait.
//!
//! A carrier is a task with a few connections and at most one call on each. It takes the checks that
//! wait, up to a bound, and sends them as one batch; while all connections are busy, others gather
//! for the next one. So a check alone goes at once, and many share a call. The script is atomic and
//! the server's clock is the only one.
//!
//! **Nothing is sent twice that may have charged.** After an error or a missing reply the connection
//! is given up, the checks of the call fail, and the next call opens a new connection. Only
//! `NOSCRIPT`, which comes before anything ran, is answered by loading the script and sending
//! again.
//!
//! **Every check ends within the deadline**, whatever the server, the connection or the carrier does:
//! its caller waits no longer. A check whose caller has gone before it is sent is not sent.

mod batch;
mod carrier;
mod cluster;
mod connection;
mod slots;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::Client;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use wardgate_ratelimit::Outcome;

use crate::breaker::Breaker;
use crate::demand::Demands;
use crate::limits::MAX_WAITING;
use crate::memory::Clock;
use crate::store::{Action, Away, Store};
use carrier::Carrier;
pub use cluster::RedisCluster;

/// A store on a server that speaks the protocol of Redis.
#[derive(Debug)]
pub struct Redis {
    checks: mpsc::Sender<Check>,
    shared: Arc<Shared>,
    deadline: Duration,
}

/// The options of a store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The longest time that a check takes.
    pub deadline: Duration,
    /// The connections, and so the calls under way at once.
    pub connections: usize,
}

/// The events of a store since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Checks that got outcomes.
    pub answered: u64,
    /// Calls that brought these.
    pub calls: u64,
    /// Calls that failed, and connections that could not be made.
    pub failures: u64,
    /// Checks that were not sent, since the breaker was open or too many waited.
    pub turned_away: u64,
    /// Times that the breaker opened.
    pub opened: u64,
}

/// The reason for which a store cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectError {
    /// The address has no such form, or there is none. Its text may hold a password, and is not
    /// repeated.
    Address,
    /// The caller is not on a runtime of tokio, which the store needs.
    NoRuntime,
}

/// One check on its way.
struct Check {
    action: Action,
    /// The slot of all its keys, in a cluster.
    slot: Option<u16>,
    demands: Demands,
    reply: oneshot::Sender<Result<Vec<Outcome>, Away>>,
}

/// The words that callers and the carrier share.
#[derive(Debug)]
struct Shared {
    breaker: Breaker,
    clock: Clock,
    answered: AtomicU64,
    calls: AtomicU64,
    failures: AtomicU64,
    turned_away: AtomicU64,
}

impl Default for Options {
    /// Returns 50 milliseconds and two connections: the server works on one call while another is
    /// read and written.
    fn default() -> Self {
        Self { deadline: Duration::from_millis(50), connections: 2 }
    }
}

impl Redis {
    /// Makes a store of an address: `redis://user:password@host:port/database` or `unix:path`.
    /// Connections are made when checks come, and again when they broke. Its task runs on the
    /// runtime that calls this and ends with the store.
    ///
    /// # Errors
    /// Returns an error if the address has another form, or if there is no runtime.
    pub fn new(address: &str, options: Options) -> Result<Self, ConnectError> {
        Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        let client = Client::open(address).map_err(|_| ConnectError::Address)?;
        Ok(Self::of(client, options))
    }

    fn of(client: Client, options: Options) -> Self {
        let (checks, waiting) = mpsc::channel(MAX_WAITING);
        let shared = Arc::new(Shared::new());
        tokio::spawn(Carrier::new(client, Arc::clone(&shared), options).run(waiting));
        Self { checks, shared, deadline: options.deadline }
    }

    /// Returns the events since the store was made.
    pub fn counts(&self) -> Counts {
        let read = |word: &AtomicU64| word.load(Ordering::Relaxed);
        Counts {
            answered: read(&self.shared.answered),
            calls: read(&self.shared.calls),
            failures: read(&self.shared.failures),
            turned_away: read(&self.shared.turned_away),
            opened: self.shared.breaker.opened(),
        }
    }

    /// Returns true if the store failed in a row and is tried once a second.
    pub fn is_open(&self) -> bool {
        self.shared.breaker.is_open()
    }

    fn turned_away(&self, why: Away) -> Away {
        self.shared.turned_away.fetch_add(1, Ordering::Relaxed);
        why
    }
}

impl Redis {
    /// Does one thing for demands whose keys are all of that slot, if this is a node of a cluster.
    async fn run_in(
        &self,
        slot: Option<u16>,
        action: Action,
        demands: &Demands,
    ) -> Result<Vec<Outcome>, Away> {
        if !self.shared.breaker.admits(self.shared.clock.now()) {
            return Err(self.turned_away(Away::Open));
        }
        let (reply, outcomes) = oneshot::channel();
        let check = Check { action, slot, demands: demands.clone(), reply };
        self.checks.try_send(check).map_err(|_| self.turned_away(Away::Crowded))?;
        match tokio::time::timeout(self.deadline, outcomes).await {
            Ok(Ok(found)) => found,
            // The carrier ended with its runtime.
            Ok(Err(_)) => Err(Away::Lost),
            Err(_) => Err(Away::Late),
        }
    }
}

impl Store for Redis {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        self.run_in(None, action, demands).await
    }
}

impl Shared {
    fn new() -> Self {
        let [answered, calls, failures, turned_away] = [const { AtomicU64::new(0) }; 4];
        let (breaker, clock) = (Breaker::default(), Clock::new());
        Self { breaker, clock, answered, calls, failures, turned_away }
    }

    fn succeeded(&self, checks: usize) {
        self.breaker.succeeded();
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.answered.fetch_add(u64::try_from(checks).unwrap_or(0), Ordering::Relaxed);
    }

    fn failed(&self) {
        self.breaker.failed(self.clock.now());
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Address => "expected an address like `redis://host:6379` for the store of limits",
            Self::NoRuntime => "expected a runtime of tokio for the store of limits, found none",
        })
    }
}

impl core::error::Error for ConnectError {}
