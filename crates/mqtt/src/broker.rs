//! The broker: sessions, subscriptions and retained messages, without I/O.
//!
//! It stands behind a [`Gate`](crate::gate::Gate) for each client, which keeps the protocol and
//! decides. So the packets that come in are whole, valid, in order and allowed, and the packets
//! that go out pass the gate of their reader. Time is an argument, and so is the seed that makes
//! hashing and assigned client ids unpredictable.
//!
//! Messages are delivered at QoS 0, in the order in which they came. A message is lost only
//! where [`Counts`] counts it: what a reader cannot take makes its publishers wait, for a while.

mod groups;
mod packets;
mod retained;
mod route;
mod session;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU16;

use crate::limits::Limits;
use crate::packet::Reason;
use crate::set::Filters;
use groups::Groups;
use retained::Retained;
pub use retained::Stored;
use route::{Route, Scratch};
use session::{Session, Sessions};

/// The sessions of one broker. `P` wakes a client, `O` is the publisher of a retained message.
///
/// # Examples
/// ```
/// use wardgate_mqtt::broker::{Broker, Settings};
///
/// let mut broker = Broker::new(Settings::DEFAULT, 7);
/// let (ada, mut out) = (broker.enter("ada"), Vec::new());
/// let mut owner = || "ada";
/// broker.take(ada, b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a", 0, &mut owner);
/// broker.take(ada, b"\x82\x06\x00\x01\x00\x01t\x00", 0, &mut owner);
/// broker.take(ada, b"\x30\x05\x00\x01t42", 0, &mut owner);
/// assert_eq!(broker.output(ada, &mut out, 0), None);
/// assert_eq!(out, b"\x20\x02\0\0\x90\x03\0\x01\0\x30\x05\0\x01t42");
/// ```
#[derive(Debug)]
pub struct Broker<P, O> {
    settings: Settings,
    sessions: Sessions<P>,
    /// The sessions that are connected, by client id.
    clients: BTreeMap<Arc<str>, SessionId>,
    filters: Filters<Route>,
    groups: Groups,
    retained: Retained<O>,
    woken: Vec<P>,
    counts: Counts,
    seed: u64,
    assigned: u64,
    scratch: Scratch,
}

/// The bounds of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The bounds of the gates.
    pub limits: Limits,
    /// The bytes that may wait for a reader before its publishers are held.
    pub queue_bytes: usize,
    /// The milliseconds for which a reader may hold its publishers.
    pub patience_millis: u64,
    /// The treatment of a reader that has held its publishers for so long.
    pub slow: Slow,
    /// The number of retained messages.
    pub retained_messages: usize,
    /// The bytes of all retained messages.
    pub retained_bytes: usize,
    /// The subscriptions of all clients.
    pub subscriptions: usize,
    /// The longest keep-alive of a client of 5.0, in seconds; `None` if each client has its own, or
    /// none.
    pub keep_alive: Option<NonZeroU16>,
}

/// The treatment of a reader that does not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slow {
    /// It is closed with 0x97.
    #[default]
    Close,
    /// Messages for it are dropped until it reads.
    Drop,
}

/// The number of a session. It never stands for another one later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    index: u32,
    generation: u32,
}

/// The result of giving bytes to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The bytes that were dealt with.
    pub used: usize,
    /// The next message waits for a reader: the rest is to be given again when the client is woken,
    /// and at the latest after [`Settings::patience_millis`].
    pub is_held: bool,
}

/// The counts since the last time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that came in.
    pub received: u64,
    /// Messages that were handed to readers.
    pub delivered: u64,
    /// Messages that were dropped because their reader was slow.
    pub dropped_full: u64,
    /// Messages that waited for a reader when it left or was closed.
    pub dropped_gone: u64,
    /// Messages that were larger than their reader takes.
    pub dropped_large: u64,
    /// Messages that were not retained because there was no room.
    pub not_retained: u64,
    /// Readers that were closed because they were slow.
    pub closed_slow: u64,
}

impl<P: Clone, O> Broker<P, O> {
    /// Makes a broker without sessions.
    #[must_use]
    pub fn new(settings: Settings, seed: u64) -> Self {
        Self {
            settings,
            sessions: Sessions::new(),
            clients: BTreeMap::new(),
            filters: Filters::seeded(seed),
            groups: Groups::new(),
            retained: Retained::new(),
            woken: Vec::new(),
            counts: Counts::default(),
            seed,
            assigned: 0,
            scratch: Scratch::default(),
        }
    }

    /// Makes the session of a client whose CONNECT is about to be given.
    pub fn enter(&mut self, peer: P) -> SessionId {
        self.sessions.add(Session::new(peer))
    }

    /// Moves what waits for a client behind the bytes of `out`, and returns the reason code if its
    /// connection is to be closed after them.
    pub fn output(&mut self, of: SessionId, out: &mut Vec<u8>, now: u64) -> Option<Reason> {
        self.replay(of, now);
        let session = self.sessions.at_mut(of)?;
        session.is_woken = false;
        session.full_since = None;
        let queue = core::mem::take(&mut session.queue);
        let delivered = core::mem::take(&mut session.queued);
        self.counts.delivered = self.counts.delivered.saturating_add(delivered);
        let (end, has_more) = (session.end, !session.replays.is_empty());
        let waiters = core::mem::take(&mut session.waiters);
        if out.is_empty() {
            *out = queue
        } else {
            out.extend_from_slice(&queue)
        }
        for waiter in waiters {
            self.wake(waiter);
        }
        if has_more {
            self.wake(of);
        }
        end
    }

    /// Returns the reason code if the connection of a client is to be closed.
    #[must_use]
    pub fn end_of(&self, session: SessionId) -> Option<Reason> {
        self.sessions.at(session)?.end
    }

    /// Ends a session whose connection has ended. Its will is published for this publisher; without
    /// one it is not.
    pub fn leave(&mut self, of: SessionId, publisher: Option<O>, now: u64) {
        self.detach(of);
        let Some(session) = self.sessions.remove(of) else { return };
        self.counts.dropped_gone = self.counts.dropped_gone.saturating_add(session.queued);
        for waiter in &session.waiters {
            self.wake(*waiter);
        }
        if let (Some(will), Some(publisher)) = (session.will, publisher) {
            self.publish_will(&will, publisher, now);
        }
    }

    /// Returns the will of a session that would be published if it left.
    #[must_use]
    pub fn will(&self, of: SessionId) -> Option<Arc<Stored<()>>> {
        self.sessions.at(of)?.will.clone()
    }

    /// Lets time pass: retained messages expire.
    pub fn tick(&mut self, now: u64) {
        self.retained.expire(now);
    }

    /// Moves the peers that have something new to do to `out`: there is output, or what it was held
    /// for is over.
    pub fn woken(&mut self, out: &mut Vec<P>) {
        out.append(&mut self.woken);
    }

    /// Returns what was counted since the last call.
    pub const fn take_counts(&mut self) -> Counts {
        core::mem::replace(&mut self.counts, Counts::NONE)
    }

    /// Returns the retained messages, to be judged anew.
    #[must_use]
    pub fn retained(&self) -> Vec<Arc<Stored<O>>> {
        self.retained.all()
    }

    /// Drops a retained message, unless another took its place.
    pub fn forget(&mut self, message: &Arc<Stored<O>>) {
        self.retained.forget(message);
    }

    /// Returns the number of retained messages and their bytes.
    #[must_use]
    pub fn retained_size(&self) -> (usize, usize) {
        (self.retained.len(), self.retained.bytes())
    }

    /// Returns the number of subscriptions.
    #[must_use]
    pub fn subscriptions(&self) -> usize {
        // A group has one filter in the set, which is not a subscription of its own.
        let alone = self.filters.len().saturating_sub(self.groups.len());
        alone.saturating_add(self.groups.members())
    }

    /// Closes a session: it gets no more messages, and its client is free for another one.
    fn end(&mut self, of: SessionId, reason: Reason) {
        self.detach(of);
        let Some(session) = self.sessions.at_mut(of) else { return };
        if session.end.is_none() {
            session.end = Some(reason);
            // Also one that was woken for output which it cannot take yet.
            session.is_woken = false;
            self.wake(of);
        }
    }

    /// Takes a session out of all tables but that of the sessions.
    fn detach(&mut self, of: SessionId) {
        let Some(session) = self.sessions.at_mut(of) else { return };
        let subscriptions = core::mem::take(&mut session.subscriptions);
        session.replays.clear();
        let client = session.client_id.take();
        for place in subscriptions.all() {
            self.drop_place(of, place);
        }
        if let Some(client) = client.filter(|client| self.clients.get(client) == Some(&of)) {
            self.clients.remove(&client);
        }
    }

    fn wake(&mut self, who: SessionId) {
        let Some(session) = self.sessions.at_mut(who) else { return };
        if !core::mem::replace(&mut session.is_woken, true) {
            self.woken.push(session.peer.clone());
        }
    }
}

impl Settings {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        limits: Limits::DEFAULT,
        queue_bytes: 256 << 10,
        patience_millis: 100,
        slow: Slow::Close,
        retained_messages: 10_000,
        retained_bytes: 64 << 20,
        subscriptions: 1_000_000,
        keep_alive: None,
    };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Counts {
    const NONE: Self = Self {
        received: 0,
        delivered: 0,
        dropped_full: 0,
        dropped_gone: 0,
        dropped_large: 0,
        not_retained: 0,
        closed_slow: 0,
    };
}
