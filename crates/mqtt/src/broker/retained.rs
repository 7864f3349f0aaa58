//! Retained messages, each with its publisher.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Bound;

use super::route::{Options, Route, Target, goes_along};
use super::{Broker, SessionId};
use crate::gate::Message;
use crate::limits::Limits;
use crate::packet::{Delivery, Properties, Property, Publish, Qos, Version};
use crate::topic::{Filter, Name};

/// A message that the broker stores: a retained one, or a will.
#[derive(Debug)]
pub struct Stored<O> {
    topic: Arc<str>,
    payload: Box<[u8]>,
    properties: Box<[u8]>,
    qos: Qos,
    retain: bool,
    version: Version,
    /// The time after which it is not sent.
    expires: Option<u64>,
    publisher: O,
}

/// The retained messages, by topic.
#[derive(Debug)]
pub(super) struct Retained<O> {
    messages: BTreeMap<Arc<str>, Arc<Stored<O>>>,
    bytes: usize,
    /// The messages that expire.
    mortal: usize,
}

/// A subscription whose retained messages are being sent.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) filter: Box<str>,
    pub(super) target: Target,
    /// The last topic that was looked at.
    after: Option<Arc<str>>,
}

impl<O> Stored<O> {
    pub(super) fn new(
        message: &Message<'_>,
        payload: &[u8],
        version: Version,
        now: u64,
        publisher: O,
    ) -> Self {
        let seconds = message.properties.iter().find_map(|property| match property {
            Property::MessageExpiryInterval(seconds) => Some(u64::from(seconds)),
            _ => None,
        });
        Self {
            topic: message.topic.text().into(),
            payload: payload.into(),
            properties: message.properties.bytes().into(),
            qos: message.qos,
            retain: message.retain,
            version,
            expires: seconds.map(|seconds| now.saturating_add(seconds.saturating_mul(1000))),
            publisher,
        }
    }

    /// Returns what a judge sees.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        Message {
            topic: Name::of_checked(&self.topic),
            qos: self.qos,
            retain: self.retain,
            dup: false,
            size: self.payload.len(),
            properties: Properties::of_checked(&self.properties),
        }
    }

    /// Returns who published it.
    #[must_use]
    pub const fn publisher(&self) -> &O {
        &self.publisher
    }

    /// Returns the version in which it was published.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    pub(super) fn publish(&self) -> Publish<'_> {
        let message = self.message();
        Publish {
            topic: Some(message.topic),
            delivery: Delivery::AtMostOnce,
            retain: self.retain,
            properties: message.properties,
            payload: &self.payload,
        }
    }

    fn bytes(&self) -> usize {
        let texts = self.topic.len().saturating_add(self.properties.len());
        texts.saturating_add(self.payload.len()).saturating_add(OVERHEAD_BYTES)
    }

    fn is_over(&self, now: u64) -> bool {
        self.expires.is_some_and(|at| at <= now)
    }
}

impl<O> Retained<O> {
    pub(super) const fn new() -> Self {
        Self { messages: BTreeMap::new(), bytes: 0, mortal: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn all(&self) -> Vec<Arc<Stored<O>>> {
        self.messages.values().cloned().collect()
    }

    pub(super) fn forget(&mut self, message: &Arc<Stored<O>>) {
        if self.messages.get(&message.topic).is_some_and(|known| Arc::ptr_eq(known, message)) {
            self.remove(&message.topic);
        }
    }

    /// Removes the message of a topic.
    pub(super) fn remove(&mut self, topic: &str) {
        let Some(old) = self.messages.remove(topic) else { return };
        self.bytes = self.bytes.saturating_sub(old.bytes());
        self.mortal = self.mortal.saturating_sub(usize::from(old.expires.is_some()));
    }

    /// Replaces the message of its topic. Returns false if there is no room; the old one, which is
    /// no longer true, is removed all the same.
    pub(super) fn set(&mut self, message: Stored<O>, messages: usize, bytes: usize) -> bool {
        self.remove(&message.topic);
        let more = self.bytes.saturating_add(message.bytes());
        if self.messages.len() >= messages || more > bytes {
            return false;
        }
        self.bytes = more;
        self.mortal = self.mortal.saturating_add(usize::from(message.expires.is_some()));
        self.messages.insert(Arc::clone(&message.topic), Arc::new(message));
        true
    }

    pub(super) fn expire(&mut self, now: u64) {
        if self.mortal == 0 {
            return;
        }
        let over = self.messages.values().filter(|message| message.is_over(now));
        let over: Vec<_> = over.map(|message| Arc::clone(&message.topic)).collect();
        for topic in over {
            self.remove(&topic);
        }
    }

    /// Returns the first message behind a topic that a filter matches.
    fn next(&self, filter: Filter<'_>, after: Option<&str>) -> Option<&Arc<Stored<O>>> {
        let text = filter.text();
        if !filter.has_wildcard() {
            return self.messages.get(text).filter(|_| after.is_none());
        }
        // All topics of the filter begin with what is before its first wildcard; `a/#` has `a` too.
        let at = text.find(['+', '#']).unwrap_or(text.len());
        let prefix = text.get(..at).unwrap_or("");
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let from = match after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Included(prefix),
        };
        let behind = self.messages.range::<str, _>((from, Bound::Unbounded));
        let mut near = behind.take_while(|(topic, _)| topic.starts_with(prefix));
        near.find(|(topic, _)| filter.matches(Name::of_checked(topic))).map(|(_, message)| message)
    }
}

impl Replay {
    pub(super) fn new(filter: &str, target: Target) -> Self {
        Self { filter: filter.into(), target, after: None }
    }
}

impl<P: Clone, O> Broker<P, O> {
    /// Sends retained messages while there is room for them.
    pub(super) fn replay(&mut self, to: SessionId, now: u64) {
        while let Some(session) = self.sessions.at_mut(to) {
            if session.queue.len() >= self.settings.queue_bytes / 2 {
                return;
            }
            let Some(mut replay) = session.replays.pop_front() else {
                session.replays.shrink_to_fit();
                return;
            };
            let filter = Filter::within(&replay.filter, &Limits::WIDEST).ok();
            let next =
                filter.and_then(|filter| self.retained.next(filter, replay.after.as_deref()));
            let Some(message) = next.cloned() else { continue };
            if !message.is_over(now) {
                self.send_retained(&replay.target, &message, now);
            }
            replay.after = Some(Arc::clone(&message.topic));
            if let Some(session) = self.sessions.at_mut(to) {
                session.replays.push_front(replay);
            }
        }
    }

    fn send_retained(&mut self, target: &Target, message: &Stored<O>, now: u64) {
        let left = message.expires.map(|at| at.saturating_sub(now).div_ceil(1000));
        let properties = Properties::of_checked(&message.properties);
        let properties: Vec<_> = properties
            .iter()
            .filter(goes_along)
            .map(|property| match (property, left) {
                (Property::MessageExpiryInterval(_), Some(left)) => {
                    Property::MessageExpiryInterval(u32::try_from(left).unwrap_or(u32::MAX))
                }
                (property, _) => property,
            })
            .collect();
        let publish = Publish { retain: true, ..message.publish() };
        let target = Target { options: target.options | Options::RETAIN_AS_PUBLISHED, ..*target };
        self.send_apart(&target, &publish, &properties, &[target.identifier]);
    }

    /// Stores a retained message, or removes that of its topic if it is empty. Returns false if
    /// there is no room.
    pub(super) fn retain(&mut self, message: Stored<O>) -> bool {
        if message.payload.is_empty() {
            self.retained.remove(&message.topic);
            return true;
        }
        let (messages, bytes) = (self.settings.retained_messages, self.settings.retained_bytes);
        let is_stored = self.retained.set(message, messages, bytes);
        let refused = u64::from(!is_stored);
        self.counts.not_retained = self.counts.not_retained.saturating_add(refused);
        is_stored
    }

    pub(super) fn publish_will(&mut self, will: &Stored<()>, publisher: O, now: u64) {
        let publish = will.publish();
        let _ = self.route(&publish, Name::of_checked(&will.topic), None, now);
        if will.retain {
            self.retain(Stored::new(&will.message(), &will.payload, will.version, now, publisher));
        }
    }

    /// Removes a subscription from the tables of all.
    pub(super) fn drop_place(&mut self, of: SessionId, place: super::session::Place) {
        match place {
            super::session::Place::Alone(id) => drop::<Option<Route>>(self.filters.remove(id)),
            super::session::Place::Group(number) => {
                if let Some(id) = self.groups.part(number, of) {
                    self.filters.remove(id);
                }
            }
        }
    }
}

/// An estimate of the bytes that a stored message takes beside its texts.
const OVERHEAD_BYTES: usize = 192;
