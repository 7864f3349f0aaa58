//! The subscriptions of a client, and the SUBSCRIBE and UNSUBSCRIBE that wait for an answer.

use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU16;

use crate::limits::Limits;
use crate::lists::make_room;
use crate::packet::{Qos, Reason, RetainHandling, Subscription};
use crate::topic::Filter;

/// At least the subscriptions that the broker has for this connection.
#[derive(Debug)]
pub(super) struct Subscriptions {
    /// By filter. A sorted list suffices for so few, and the maps of the library would make the
    /// WebAssembly module 5,685 bytes larger after gzip.
    live: Vec<(Arc<str>, Live)>,
    bytes: usize,
    /// By packet identifier.
    waiting: Vec<(NonZeroU16, Waiting)>,
    waiting_slots: usize,
    serial: u64,
}

/// A subscription with the options that it was asked for last.
#[derive(Clone, Copy, Debug)]
struct Live {
    qos: Qos,
    no_local: bool,
    retain_as_published: bool,
    retain_handling: RetainHandling,
    /// The number of the last request for it.
    serial: u64,
}

/// A packet that waits for its answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) is_subscribe: bool,
    /// What becomes of each filter, as the client gave them.
    pub(super) slots: Vec<Slot>,
}

/// What becomes of a filter.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// The gate answers.
    Answered(Reason),
    /// The broker answers.
    Asked(Option<Entry>),
}

/// An entry of the list as it was when the broker was asked.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    filter: Arc<str>,
    serial: u64,
    /// It joined the list with this request.
    is_new: bool,
}

impl Subscriptions {
    pub(super) const fn new() -> Self {
        Self { live: Vec::new(), bytes: 0, waiting: Vec::new(), waiting_slots: 0, serial: 0 }
    }

    /// Adds a subscription or its new options; returns `None` if there is no room.
    pub(super) fn add(&mut self, asked: &Subscription<'_>, limits: &Limits) -> Option<Entry> {
        self.serial = self.serial.saturating_add(1);
        let serial = self.serial;
        let options = Live {
            qos: asked.qos,
            no_local: asked.no_local,
            retain_as_published: asked.retain_as_published,
            retain_handling: asked.retain_handling,
            serial,
        };
        let text = asked.filter.to_string();
        let place = self.place(&text);
        if let Some((filter, live)) = place.ok().and_then(|at| self.live.get_mut(at)) {
            *live = options;
            return Some(Entry { filter: Arc::clone(filter), serial, is_new: false });
        }
        let bytes = self.bytes.saturating_add(text.len());
        let has_room = self.live.len() < usize::from(limits.subscriptions)
            && u32::try_from(bytes).is_ok_and(|bytes| bytes <= limits.subscription_bytes);
        if !has_room {
            return None;
        }
        self.bytes = bytes;
        let filter: Arc<str> = text.into();
        let at = place.unwrap_or_else(|at| at);
        make_room(&mut self.live);
        self.live.insert(at, (Arc::clone(&filter), options));
        Some(Entry { filter, serial, is_new: true })
    }

    /// Returns the entry of a filter.
    pub(super) fn entry(&self, filter: Filter<'_>) -> Option<Entry> {
        let (filter, live) = self.live.get(self.place(&filter.to_string()).ok()?)?;
        Some(Entry { filter: Arc::clone(filter), serial: live.serial, is_new: false })
    }

    /// Takes a filter out that the broker refused, unless it was there before.
    pub(super) fn refused(&mut self, entry: &Entry) {
        if entry.is_new {
            self.ended(entry);
        }
    }

    /// Takes a filter out that the broker has ended, unless it was asked for again meanwhile.
    pub(super) fn ended(&mut self, entry: &Entry) {
        let Ok(at) = self.place(&entry.filter) else { return };
        if self.live.get(at).is_some_and(|(_, live)| live.serial == entry.serial) {
            self.live.remove(at);
            self.bytes = self.bytes.saturating_sub(entry.filter.len());
        }
    }

    /// Calls `holds` with each subscription until it returns false; returns true if it never did.
    pub(super) fn all(&self, mut holds: impl FnMut(&Subscription<'_>) -> bool) -> bool {
        self.live.iter().all(|(filter, live)| {
            Filter::within(filter, &Limits::WIDEST).is_ok_and(|filter| {
                holds(&Subscription {
                    filter,
                    qos: live.qos,
                    no_local: live.no_local,
                    retain_as_published: live.retain_as_published,
                    retain_handling: live.retain_handling,
                })
            })
        })
    }

    /// Returns true if a packet with that identifier waits for an answer.
    pub(super) fn is_waiting(&self, id: NonZeroU16) -> bool {
        self.waiting_place(id).is_ok()
    }

    /// Returns the place of a filter, or the one where it would be.
    fn place(&self, filter: &str) -> Result<usize, usize> {
        self.live.binary_search_by(|(other, _)| (**other).cmp(filter))
    }

    fn waiting_place(&self, id: NonZeroU16) -> Result<usize, usize> {
        self.waiting.binary_search_by_key(&id, |(other, _)| *other)
    }

    /// Returns true if so many more filters may wait.
    pub(super) fn may_wait(&self, more: usize, limits: &Limits) -> bool {
        self.waiting_slots.saturating_add(more) <= usize::from(limits.subscriptions)
    }

    /// Lets a packet wait for its answer.
    pub(super) fn wait(&mut self, id: NonZeroU16, waiting: Waiting) {
        self.waiting_slots = self.waiting_slots.saturating_add(waiting.slots.len());
        match self.waiting_place(id) {
            Ok(at) => drop(self.waiting.get_mut(at).map(|place| place.1 = waiting)),
            Err(at) => self.waiting.insert(at, (id, waiting)),
        }
    }

    /// Takes the packet that an answer is for.
    pub(super) fn answered(&mut self, id: NonZeroU16, is_subscribe: bool) -> Option<Waiting> {
        let at = self.waiting_place(id).ok()?;
        if self.waiting.get(at)?.1.is_subscribe != is_subscribe {
            return None;
        }
        let (_, waiting) = self.waiting.remove(at);
        if self.waiting.is_empty() {
            self.waiting = Vec::new();
        }
        self.waiting_slots = self.waiting_slots.saturating_sub(waiting.slots.len());
        Some(waiting)
    }

    pub(super) fn bytes(&self) -> usize {
        let live = self.live.len().saturating_mul(size_of::<(Arc<str>, Live)>());
        // Filters that wait may have left the list; a slot keeps each at most once.
        let waiting: usize = self.waiting.iter().map(|(_, waiting)| waiting.bytes()).sum();
        self.bytes.saturating_add(live).saturating_add(waiting)
    }
}

impl Waiting {
    /// Returns the number of filters that the broker answers.
    pub(super) fn asked(&self) -> usize {
        self.slots.iter().filter(|slot| matches!(slot, Slot::Asked(_))).count()
    }

    fn bytes(&self) -> usize {
        let texts: usize = self.slots.iter().map(Slot::bytes).sum();
        texts.saturating_add(self.slots.capacity().saturating_mul(size_of::<Slot>()))
    }
}

impl Slot {
    fn bytes(&self) -> usize {
        match self {
            Self::Asked(Some(entry)) => entry.filter.len(),
            _ => 0,
        }
    }
}
