//! The store on Redis, Valkey or Dragonfly: one call of one script for all checks that wait.
//!
//! **A check that finds nobody else under way is sent by its caller**, over a connection for such
//! checks. All others go to the carrier, a task with a few connections and at most one call on each. It
//! takes the checks that wait, up to a bound, and sends them as one batch; while all connections are
//! busy, others gather for the next one. So a check alone costs no other task, and many share a call.
//! The script is atomic and the server's clock is the only one.
//!
//! **Nothing is sent twice that may have charged.** After an error or a missing reply the connection
//! is given up, the checks of the call fail, and the next call opens a new connection. Only
//! `NOSCRIPT`, which comes before anything ran, is answered by loading the script and sending
//! again.
//!
//! **Every check ends within the deadline**, whatever the server, the connection or the carrier does:
//! its caller waits no longer. A check whose caller has gone before it is sent is not sent.

mod address;
mod alone;
mod batch;
mod carrier;
mod cluster;
mod connection;
mod fault;
mod reply;
#[cfg(feature = "tls")]
mod roots;
mod slots;

use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use redis::Script;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use wardgate_ratelimit::{CHARGE_SCRIPT, Outcome};

use crate::breaker::Breaker;
use crate::demand::Demands;
use crate::few::Few;
use crate::limits::{MAX_CALL_KEYS, MAX_WAITING};
use crate::memory::Clock;
use crate::store::{Action, Away, Store};
use address::Address;
use alone::Alone;
use carrier::Carrier;
pub use cluster::RedisCluster;
use fault::Fault;
#[cfg(feature = "tls")]
pub use roots::{NoRoots, Roots};

/// A store on a server that speaks the protocol of Redis.
#[derive(Debug)]
pub struct Redis {
    address: Arc<Address>,
    checks: mpsc::Sender<Waiting>,
    alone: Alone,
    shared: Arc<Shared>,
    deadline: Duration,
}

/// The options of a store.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The longest time that a check takes.
    pub deadline: Duration,
    /// The connections for checks that came together, and so their calls under way at once. There is one
    /// more for a check that comes alone.
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
    /// The system trusts no authority that could vouch for the server.
    #[cfg(feature = "tls")]
    Roots,
}

/// One check.
#[derive(Clone, Debug)]
struct Check {
    action: Action,
    /// The slot of all its keys, in a cluster.
    slot: Option<u16>,
    demands: Demands,
    /// The times of the server from which refunds do nothing, one for each demand, or none at all.
    ends: Vec<u64>,
}

/// The outcomes of a check, and the time of the server at which it was done.
#[derive(Clone, Debug)]
struct Answer {
    outcomes: Vec<Outcome>,
    time: u64,
}

/// Checks of one slot on their way, which are done in one call.
struct Waiting {
    checks: Few<Check>,
    reply: oneshot::Sender<Result<Few<Answer>, Fault>>,
}

/// The words that callers and the carrier share.
#[derive(Debug)]
struct Shared {
    breaker: Breaker,
    clock: Clock,
    /// The name of the script on a server.
    digest: String,
    /// The calls of the carrier that are under way.
    under_way: AtomicUsize,
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
    /// Makes a store of an address: `redis://user:password@host:port/database` or `unix:path`, and with
    /// the feature `tls` also `rediss://`, for whose server an authority of the system must vouch.
    /// Connections are made when checks come, and again when they broke. Its task runs on the
    /// runtime that calls this and ends with the store.
    ///
    /// # Errors
    /// Returns an error if the address has another form, or if there is no runtime.
    pub fn new(address: &str, options: Options) -> Result<Self, ConnectError> {
        Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        Ok(Self::of(Address::read(address)?, options))
    }

    /// Makes a store of an address with `rediss://`, for whose server one of these authorities must vouch.
    ///
    /// # Errors
    /// Returns an error if the address has another form, or if there is no runtime.
    #[cfg(feature = "tls")]
    pub fn with_roots(
        address: &str,
        roots: &Roots,
        options: Options,
    ) -> Result<Self, ConnectError> {
        Handle::try_current().map_err(|_| ConnectError::NoRuntime)?;
        Ok(Self::of(Address::read_with(address, roots.clone())?, options))
    }

    fn of(address: Address, options: Options) -> Self {
        let (checks, waiting) = mpsc::channel(MAX_WAITING);
        let (address, shared) = (Arc::new(address), Arc::new(Shared::new()));
        let carrier = Carrier::new(Arc::clone(&address), Arc::clone(&shared), options);
        tokio::spawn(carrier.run(waiting));
        let deadline = options.deadline;
        Self { address, checks, alone: Alone::default(), shared, deadline }
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
    /// Does one check, together with others that wait.
    async fn run_check(&self, check: Check) -> Result<Answer, Fault> {
        first(self.run_checks(Few::One(check)).await)
    }

    /// Does checks of one slot one after another, in one call together with others that wait. They have at
    /// most [`MAX_CALL_KEYS`] keys.
    async fn run_checks(&self, checks: Few<Check>) -> Result<Few<Answer>, Fault> {
        if !self.shared.breaker.admits(self.shared.clock.now()) {
            return Err(self.turned_away(Away::Open).into());
        }
        if self.is_idle()
            && let Some(turn) = self.alone.turn()
        {
            return turn.run(self, &checks, false).await;
        }
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting { checks, reply };
        self.checks.try_send(waiting).map_err(|_| self.turned_away(Away::Crowded))?;
        match timeout(self.deadline, answer).await {
            Ok(Ok(found)) => found,
            // The carrier ended with its runtime.
            Ok(Err(_)) => Err(Away::Lost.into()),
            Err(_) => Err(Away::Late.into()),
        }
    }

    /// Does one check by itself, on a slot that is on its way to this node if `is_asking`.
    async fn run_alone(&self, check: &Check, is_asking: bool) -> Result<Answer, Fault> {
        if !self.shared.breaker.admits(self.shared.clock.now()) {
            return Err(self.turned_away(Away::Open).into());
        }
        let turn = self.alone.turn().unwrap_or_default();
        first(turn.run(self, core::slice::from_ref(check), is_asking).await)
    }

    /// Returns true if no check waits for the carrier, or is carried.
    fn is_idle(&self) -> bool {
        self.shared.under_way.load(Ordering::Relaxed) == 0
            && self.checks.capacity() == self.checks.max_capacity()
    }
}

/// Returns the answer to the only check.
fn first(answers: Result<Few<Answer>, Fault>) -> Result<Answer, Fault> {
    answers?.into_iter().next().ok_or(Fault::Away(Away::Garbled))
}

impl Store for Redis {
    async fn run(&self, action: Action, demands: &Demands) -> Result<Vec<Outcome>, Away> {
        let check = Check { action, slot: None, demands: demands.clone(), ends: Vec::new() };
        Ok(self.run_check(check).await?.outcomes)
    }

    async fn run_each(&self, checks: &[(Action, Demands)]) -> Vec<Result<Vec<Outcome>, Away>> {
        let check = |(action, demands): &(Action, Demands)| Check {
            action: *action,
            slot: None,
            demands: demands.clone(),
            ends: Vec::new(),
        };
        let mut all = Vec::with_capacity(checks.len());
        for part in parts(checks, |(_, demands)| demands.each().len()) {
            let found = self.run_checks(part.iter().map(check).collect()).await;
            all.extend(each(part.len(), found.map_err(Away::from)));
        }
        all
    }
}

/// Returns the items in runs that fit into a call.
fn parts<T>(mut rest: &[T], keys: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let mut sum = 0_usize;
        let fits = |item: &T| {
            sum = sum.saturating_add(keys(item));
            sum <= MAX_CALL_KEYS
        };
        // One that is too long alone is sent alone.
        let count = rest.iter().map(fits).take_while(|fits| *fits).count().max(1);
        let (part, others) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        parts.push(part);
        rest = others;
    }
    parts
}

/// Returns an outcome for each of `count` checks that were done in one call.
fn each(count: usize, found: Result<Few<Answer>, Away>) -> Vec<Result<Vec<Outcome>, Away>> {
    match found {
        Ok(answers) => answers.into_iter().map(|answer| Ok(answer.outcomes)).collect(),
        Err(away) => vec![Err(away); count],
    }
}

impl Shared {
    fn new() -> Self {
        let [answered, calls, failures, turned_away] = [const { AtomicU64::new(0) }; 4];
        let (breaker, clock) = (Breaker::default(), Clock::new());
        let digest = Script::new(CHARGE_SCRIPT).get_hash().to_owned();
        let under_way = AtomicUsize::new(0);
        Self { breaker, clock, digest, under_way, answered, calls, failures, turned_away }
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
            #[cfg(feature = "tls")]
            Self::Roots => "expected certificates of authorities in the system, found none",
        })
    }
}

impl core::error::Error for ConnectError {}
