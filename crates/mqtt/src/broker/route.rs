//! A message on its way to its readers.

use alloc::vec::Vec;
use core::ops::BitOr;

use super::session::Session;
use super::{Broker, SessionId, Slow};
use crate::packet::{Delivery, List, Packet, Property, Publish, Reason, Version, encode};
use crate::topic::Name;

/// The value of a filter in the set.
#[derive(Clone, Copy, Debug)]
pub(super) enum Route {
    One(Target),
    Group(u32),
}

/// A subscription of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) session: SessionId,
    /// The subscription identifier; zero for none.
    pub(super) identifier: u32,
    pub(super) options: Options,
}

/// The options of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Options(u8);

/// A reader makes the message wait.
pub(super) struct Held;

/// Buffers that are used again for each message.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    targets: Vec<Target>,
    groups: Vec<u32>,
    /// The packet for readers of 3.1.1 and 5.0, without and with the retain flag.
    packets: [Vec<u8>; 4],
    serial: u64,
}

impl Options {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NO_LOCAL: Self = Self(1);
    pub(super) const RETAIN_AS_PUBLISHED: Self = Self(2);

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Options {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl<P: Clone, O> Broker<P, O> {
    /// Gives a message to all who have subscribed to it, or to nobody yet if a reader makes its
    /// publisher wait. A message without publisher does not wait.
    pub(super) fn route(
        &mut self,
        publish: &Publish<'_>,
        topic: Name<'_>,
        from: Option<SessionId>,
        now: u64,
    ) -> Result<(), Held> {
        let mut targets = core::mem::take(&mut self.scratch.targets);
        let routed = self.find(topic, from, &mut targets).and_then(|shared| {
            self.wait(&mut targets, from, now)?;
            self.send(&mut targets, shared, &Publish { topic: Some(topic), ..*publish });
            Ok(())
        });
        targets.clear();
        targets.shrink_to(SCRATCH_TARGETS);
        self.scratch.targets = targets;
        routed
    }

    /// Finds the subscriptions of a topic. Returns the number of the shared ones, which are last.
    fn find(
        &mut self,
        topic: Name<'_>,
        from: Option<SessionId>,
        targets: &mut Vec<Target>,
    ) -> Result<usize, Held> {
        let mut groups = core::mem::take(&mut self.scratch.groups);
        self.filters.matches(topic, &mut |route| match route {
            Route::One(target) => {
                let is_own = from == Some(target.session);
                if !(is_own && target.options.has(Options::NO_LOCAL)) {
                    targets.push(*target);
                }
            }
            Route::Group(number) => groups.push(*number),
        });
        let alone = targets.len();
        let (sessions, most) = (&self.sessions, self.settings.queue_bytes);
        let can_take = |id| sessions.at(id).is_some_and(|reader| reader.queue.len() < most);
        for number in groups.drain(..) {
            targets.extend(self.groups.pick(number, can_take));
        }
        self.scratch.groups = groups;
        Ok(targets.len().saturating_sub(alone))
    }

    /// Lets a publisher wait for readers whose queues are full, and gives up those that it waited
    /// for long enough.
    fn wait(
        &mut self,
        targets: &mut Vec<Target>,
        from: Option<SessionId>,
        now: u64,
    ) -> Result<(), Held> {
        let most = self.settings.queue_bytes;
        let mut is_held = false;
        let mut slow = Vec::new();
        for target in targets.iter() {
            let Some(reader) = self.sessions.at_mut(target.session) else { continue };
            if reader.queue.len() < most {
                continue;
            }
            let since = *reader.full_since.get_or_insert(now);
            let is_patient = now.saturating_sub(since) < self.settings.patience_millis;
            match from.filter(|_| is_patient) {
                Some(from) => {
                    is_held = true;
                    if !reader.waiters.contains(&from) {
                        reader.waiters.push(from);
                    }
                }
                None => slow.push(target.session),
            }
        }
        if is_held {
            return Err(Held);
        }
        if slow.is_empty() {
            return Ok(());
        }
        targets.retain(|target| !slow.contains(&target.session));
        for reader in slow {
            self.give_up(reader);
        }
        Ok(())
    }

    fn give_up(&mut self, reader: SessionId) {
        self.counts.dropped_full = self.counts.dropped_full.saturating_add(1);
        let Some(session) = self.sessions.at_mut(reader) else { return };
        if self.settings.slow == Slow::Close && session.end.is_none() {
            session.queue = Vec::new();
            let queued = core::mem::take(&mut session.queued);
            self.counts.dropped_gone = self.counts.dropped_gone.saturating_add(queued);
            self.counts.closed_slow = self.counts.closed_slow.saturating_add(1);
            self.end(reader, Reason::QUOTA_EXCEEDED);
        }
    }

    /// Writes a message into the queues of its readers. A client gets it once for all its
    /// subscriptions, and once for each that is shared.
    fn send(&mut self, targets: &mut [Target], shared: usize, publish: &Publish<'_>) {
        self.scratch.serial = self.scratch.serial.wrapping_add(1);
        self.scratch.packets.iter_mut().for_each(Vec::clear);
        let properties: Vec<_> = publish.properties.iter().filter(goes_along).collect();
        let alone = targets.len().saturating_sub(shared);
        let (alone, shared) = targets.split_at_mut_checked(alone).unwrap_or_default();
        match self.overlap(alone) {
            false => alone.iter().for_each(|target| self.send_one(target, publish, &properties)),
            true => self.send_merged(alone, publish, &properties),
        }
        shared.iter().for_each(|target| self.send_one(target, publish, &properties));
        for packet in &mut self.scratch.packets {
            packet.shrink_to(SCRATCH_PACKET);
        }
    }

    /// Returns true if two of the subscriptions are of one client.
    fn overlap(&mut self, targets: &[Target]) -> bool {
        if targets.len() < 2 {
            return false;
        }
        let serial = self.scratch.serial;
        targets.iter().any(|target| {
            let reader = self.sessions.at_mut(target.session);
            reader.is_some_and(|reader| core::mem::replace(&mut reader.mark, serial) == serial)
        })
    }

    fn send_merged(&mut self, targets: &mut [Target], publish: &Publish<'_>, of: &[Property<'_>]) {
        targets.sort_by_key(|target| target.session);
        for same in targets.chunk_by(|one, other| one.session == other.session) {
            for some in same.chunks(MERGED_IDENTIFIERS) {
                let Some(first) = some.first() else { continue };
                let options = some.iter().fold(Options::NONE, |all, one| all | one.options);
                let identifiers: Vec<_> = some.iter().map(|one| one.identifier).collect();
                self.send_apart(&Target { options, ..*first }, publish, of, &identifiers);
            }
        }
    }

    fn send_one(&mut self, target: &Target, publish: &Publish<'_>, properties: &[Property<'_>]) {
        if target.identifier != 0 {
            return self.send_apart(target, publish, properties, &[target.identifier]);
        }
        let Some(reader) = self.sessions.at_mut(target.session) else { return };
        let retain = publish.retain && target.options.has(Options::RETAIN_AS_PUBLISHED);
        let kind = usize::from(reader.version == Version::V5) << 1 | usize::from(retain);
        let Some(packet) = self.scratch.packets.get_mut(kind) else { return };
        if packet.is_empty() {
            // A message that was decoded can be encoded, also without its alias.
            let _ = encode(&outgoing(publish, retain, properties), reader.version, packet);
        }
        if packet.len() > reader.takes {
            self.counts.dropped_large = self.counts.dropped_large.saturating_add(1);
            return;
        }
        reader.queue.extend_from_slice(packet);
        self.queued(target.session);
    }

    /// Writes a message for one reader that gets it in a form of its own.
    pub(super) fn send_apart(
        &mut self,
        target: &Target,
        publish: &Publish<'_>,
        properties: &[Property<'_>],
        identifiers: &[u32],
    ) {
        let Some(reader) = self.sessions.at_mut(target.session) else { return };
        let retain = publish.retain && target.options.has(Options::RETAIN_AS_PUBLISHED);
        let mut properties = properties.to_vec();
        let given = identifiers.iter().filter(|identifier| **identifier != 0);
        properties.extend(given.map(|identifier| Property::SubscriptionIdentifier(*identifier)));
        let Session { queue, version, takes, .. } = reader;
        let start = queue.len();
        let written = encode(&outgoing(publish, retain, &properties), *version, queue);
        if written.is_err() || queue.len().saturating_sub(start) > *takes {
            queue.truncate(start);
            self.counts.dropped_large = self.counts.dropped_large.saturating_add(1);
            return;
        }
        self.queued(target.session);
    }

    fn queued(&mut self, reader: SessionId) {
        let Some(session) = self.sessions.at_mut(reader) else { return };
        session.queued = session.queued.saturating_add(1);
        if !session.is_woken {
            self.wake(reader);
        }
    }
}

/// Returns true if a property of a message or will goes to its readers.
pub(super) const fn goes_along(property: &Property<'_>) -> bool {
    !matches!(
        property,
        Property::TopicAlias(_)
            | Property::SubscriptionIdentifier(_)
            | Property::WillDelayInterval(_)
    )
}

fn outgoing<'p>(publish: &Publish<'p>, retain: bool, properties: &'p [Property<'p>]) -> Packet<'p> {
    let (delivery, properties) = (Delivery::AtMostOnce, List::of(properties));
    Packet::Publish(Publish { delivery, retain, properties, ..*publish })
}

/// Subscription identifiers of one message, so that it stays within what the gate takes.
const MERGED_IDENTIFIERS: usize = 128;

/// The room that stays between two messages.
const SCRATCH_TARGETS: usize = 1024;
const SCRATCH_PACKET: usize = 4096;
