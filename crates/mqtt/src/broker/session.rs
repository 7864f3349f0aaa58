//! Sessions, each as long as its connection.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::SessionId;
use super::retained::{Replay, Stored};
use crate::lists::make_room;
use crate::packet::{Reason, Version};
use crate::set::Id;

/// A client and what waits for it.
#[derive(Debug)]
pub(super) struct Session<P> {
    pub(super) peer: P,
    pub(super) client_id: Option<Arc<str>>,
    pub(super) version: Version,
    /// The largest packet that the client takes.
    pub(super) takes: usize,
    /// Packets that wait.
    pub(super) queue: Vec<u8>,
    /// The messages among them.
    pub(super) queued: u64,
    /// The reason why the connection is to be closed.
    pub(super) end: Option<Reason>,
    /// The client was woken and has not come yet.
    pub(super) is_woken: bool,
    /// When the queue was first found to be full.
    pub(super) full_since: Option<u64>,
    /// The publishers that wait until the queue is emptied.
    pub(super) waiters: Vec<SessionId>,
    pub(super) aliases: Vec<Option<Box<str>>>,
    pub(super) subscriptions: Places,
    /// The subscriptions whose retained messages are not all sent.
    pub(super) replays: VecDeque<Replay>,
    pub(super) will: Option<Arc<Stored<()>>>,
    /// The number of the last message that had a subscription of this client.
    pub(super) mark: u64,
}

/// The places of the subscriptions of a client, by their filters with `$share`.
///
/// A sorted list without room to spare: most clients have one subscription, for which a map of the library takes 332
/// bytes.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<(Box<str>, Place)>);

/// The place of a subscription.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// A filter of the set.
    Alone(Id),
    /// A group of a shared subscription.
    Group(u32),
}

/// All sessions, by their numbers.
#[derive(Debug)]
pub(super) struct Sessions<P> {
    slots: Vec<Slot<P>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<P> {
    generation: u32,
    session: Option<Box<Session<P>>>,
}

impl<P> Session<P> {
    pub(super) const fn new(peer: P) -> Self {
        Self {
            peer,
            client_id: None,
            version: Version::V5,
            takes: usize::MAX,
            queue: Vec::new(),
            queued: 0,
            end: None,
            is_woken: false,
            full_since: None,
            waiters: Vec::new(),
            aliases: Vec::new(),
            subscriptions: Places(Vec::new()),
            replays: VecDeque::new(),
            will: None,
            mark: 0,
        }
    }
}

impl Places {
    pub(super) fn find(&self, filter: &str) -> Option<Place> {
        let at = self.place(filter).ok()?;
        self.0.get(at).map(|(_, place)| *place)
    }

    /// Adds a subscription, or replaces its place.
    pub(super) fn insert(&mut self, filter: &str, place: Place) {
        match self.place(filter) {
            Ok(at) => drop(self.0.get_mut(at).map(|(_, known)| *known = place)),
            Err(at) => {
                make_room(&mut self.0);
                self.0.insert(at, (filter.into(), place));
            }
        }
    }

    pub(super) fn remove(&mut self, filter: &str) -> Option<Place> {
        let at = self.place(filter).ok()?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Place> {
        self.0.iter().map(|(_, place)| *place)
    }

    fn place(&self, filter: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| (**other).cmp(filter))
    }
}

impl<P> Sessions<P> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    pub(super) fn add(&mut self, session: Session<P>) -> SessionId {
        let session = Some(Box::new(session));
        if let Some(index) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(place(index))
        {
            slot.session = session;
            return SessionId { index, generation: slot.generation };
        }
        // A process has fewer connections than 32 bits can count.
        let index = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        self.slots.push(Slot { generation: 0, session });
        SessionId { index, generation: 0 }
    }

    pub(super) fn at(&self, id: SessionId) -> Option<&Session<P>> {
        let slot = self.slots.get(place(id.index))?;
        slot.session.as_deref().filter(|_| slot.generation == id.generation)
    }

    pub(super) fn at_mut(&mut self, id: SessionId) -> Option<&mut Session<P>> {
        let slot = self.slots.get_mut(place(id.index))?;
        slot.session.as_deref_mut().filter(|_| slot.generation == id.generation)
    }

    pub(super) fn remove(&mut self, id: SessionId) -> Option<Session<P>> {
        let slot = self.slots.get_mut(place(id.index))?;
        if slot.generation != id.generation {
            return None;
        }
        let session = slot.session.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(id.index);
        Some(*session)
    }
}

fn place(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
