//! The subscriptions of a client, and the SUBSCRIBE and UNSUBSCRIBE that wait for an answer.

use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU16;

use crate::limits::Limits;
use crate::packet::{Qos, Reason, RetainHandling, Subscription};
use crate::topic::Filter;

/// At least the subscriptions that the broker has for this connection.
#[derive(Debug)]
pub(super) struct Subscriptions {
    live: BTreeMap<Arc<str>, Live>,
    bytes: usize,
    waiting: BTreeMap<NonZeroU16, Waiting>,
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
        Self {
            live: BTreeMap::new(),
            bytes: 0,
            waiting: BTreeMap::new(),
            waiting_slots: 0,
            serial: 0,
        }
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
        if let Some((filter, _)) = self.live.get_key_value(text.as_str()) {
            let filter = Arc::clone(filter);
            self.live.insert(Arc::clone(&filter), options);
            return Some(Entry { filter, serial, is_new: false });
        }
        let bytes = self.bytes.saturating_add(text.len());
        let has_room = self.live.len() < usize::from(limits.subscriptions)
            && u32::try_from(bytes).is_ok_and(|bytes| bytes <= limits.subscription_bytes);
        if !has_room {
            return None;
        }
        self.bytes = bytes;
        let filter: Arc<str> = text.into();
        self.live.insert(Arc::clone(&filter), options);
        Some(Entry { filter, serial, is_new: true })
    }

    /// Returns the entry of a filter.
    pub(super) fn entry(&self, filter: Filter<'_>) -> Option<Entry> {
        let (filter, live) = self.live.get_key_value(filter.to_string().as_str())?;
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
        if self.live.get(&entry.filter).is_some_and(|live| live.serial == entry.serial) {
            self.live.remove(&entry.filter);
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
        self.waiting.contains_key(&id)
    }

    /// Returns true if so many more filters may wait.
    pub(super) fn may_wait(&self, more: usize, limits: &Limits) -> bool {
        self.waiting_slots.saturating_add(more) <= usize::from(limits.subscriptions)
    }

    /// Lets a packet wait for its answer.
    pub(super) fn wait(&mut self, id: NonZeroU16, waiting: Waiting) {
        self.waiting_slots = self.waiting_slots.saturating_add(waiting.slots.len());
        self.waiting.insert(id, waiting);
    }

    /// Takes the packet that an answer is for.
    pub(super) fn answered(&mut self, id: NonZeroU16, is_subscribe: bool) -> Option<Waiting> {
        if self.waiting.get(&id)?.is_subscribe != is_subscribe {
            return None;
        }
        let waiting = self.waiting.remove(&id)?;
        self.waiting_slots = self.waiting_slots.saturating_sub(waiting.slots.len());
        Some(waiting)
    }

    pub(super) fn bytes(&self) -> usize {
        let live = self.live.len().saturating_mul(size_of::<(Arc<str>, Live)>());
        // Filters that wait may have left the list; a slot keeps each at most once.
        let waiting: usize = self.waiting.values().map(Waiting::bytes).sum();
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
