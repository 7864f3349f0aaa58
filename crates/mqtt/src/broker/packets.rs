//! Packets of clients, as their gates pass them on.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroU16;

use super::retained::{Replay, Stored};
use super::route::{Held, Options, Route, Target};
use super::session::Place;
use super::{Broker, SessionId, Taken};
use crate::gate::Message;
use crate::limits::Limits;
use crate::packet::{
    Ack, Connack, Connect, Decoded, Delivery, End, List, Packet, Properties, Property, Publish,
    Qos, Reason, RetainHandling, Suback, Subscribe, Subscription, Unsubscribe, Version, decode,
    encode,
};
use crate::topic::{Filter, Name};

impl<P: Clone, O> Broker<P, O> {
    /// Takes packets that the gate of a client has passed on; all of them are there in full.
    /// `publisher` names the client for messages that are retained.
    pub fn take(
        &mut self,
        from: SessionId,
        bytes: &[u8],
        now: u64,
        publisher: &mut dyn FnMut() -> O,
    ) -> Taken {
        let mut used = 0_usize;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            let Some(session) = self.sessions.at(from).filter(|it| it.end.is_none()) else { break };
            // The gate has checked the bounds, and may have written a packet anew.
            match decode(session.version, rest, &Limits::WIDEST) {
                Ok(Decoded::Whole(packet, len)) => {
                    if self.packet(from, &packet, now, publisher).is_err() {
                        return Taken { used, is_held: true };
                    }
                    used = used.saturating_add(len);
                }
                Ok(Decoded::More(_)) => self.end(from, Reason::MALFORMED_PACKET),
                Err(error) => self.end(from, error.reason()),
            }
        }
        Taken { used: bytes.len(), is_held: false }
    }

    /// Takes packets as [`take`](Self::take) does, and waits for no reader: those that are full
    /// are given up. For the last packets of a client.
    pub fn take_at_once(
        &mut self,
        from: SessionId,
        bytes: &[u8],
        now: u64,
        publisher: &mut dyn FnMut() -> O,
    ) {
        let patience = core::mem::take(&mut self.settings.patience_millis);
        self.take(from, bytes, now, publisher);
        self.settings.patience_millis = patience;
    }

    fn packet(
        &mut self,
        from: SessionId,
        packet: &Packet<'_>,
        now: u64,
        publisher: &mut dyn FnMut() -> O,
    ) -> Result<(), Held> {
        match packet {
            Packet::Publish(publish) => return self.publish(from, publish, now, publisher),
            Packet::Connect(connect) => self.connect(from, connect, now),
            Packet::Subscribe(subscribe) => self.subscribe(from, subscribe),
            Packet::Unsubscribe(unsubscribe) => self.unsubscribe(from, unsubscribe),
            Packet::Pingreq => self.put(from, &Packet::Pingresp),
            Packet::Disconnect(end) => self.disconnect(from, end),
            // No message has QoS 2, so there is none to be released.
            Packet::Pubrel(ack) => {
                let reason = Reason::PACKET_IDENTIFIER_NOT_FOUND;
                let (id, properties) = (ack.id, Properties::EMPTY);
                self.put(from, &Packet::Pubcomp(Ack { id, reason, properties }));
            }
            // No delivery waits for them.
            Packet::Puback(_) | Packet::Pubrec(_) | Packet::Pubcomp(_) => {}
            _ => self.end(from, Reason::PROTOCOL_ERROR),
        }
        Ok(())
    }

    fn connect(&mut self, from: SessionId, connect: &Connect<'_>, now: u64) {
        let Some(session) = self.sessions.at_mut(from) else { return };
        session.version = connect.version;
        let (mut has_method, mut expiry) = (false, 0);
        for property in connect.properties {
            match property {
                Property::AuthenticationMethod(_) => has_method = true,
                Property::SessionExpiryInterval(seconds) => expiry = seconds,
                Property::MaximumPacketSize(most) => {
                    session.takes = usize::try_from(most).unwrap_or(usize::MAX);
                }
                _ => {}
            }
        }
        let is_v5 = connect.version == Version::V5;
        if has_method {
            return self.end(from, Reason::BAD_AUTHENTICATION_METHOD);
        }
        // 3.1.1 has no bound on the QoS of a will, and it is delivered at QoS 0 like all others.
        if is_v5 && connect.will.is_some_and(|will| will.qos == Qos::ExactlyOnce) {
            return self.end(from, Reason::QOS_NOT_SUPPORTED);
        }
        session.will = connect.will.as_ref().map(|will| {
            let message = Message::of_will(will);
            Arc::new(Stored::new(&message, will.payload, connect.version, now, ()))
        });
        let client = self.client_id(connect.client_id);
        if let Some(old) = self.clients.insert(Arc::clone(&client), from) {
            self.end(old, Reason::SESSION_TAKEN_OVER);
            self.clients.insert(Arc::clone(&client), from);
        }
        if let Some(session) = self.sessions.at_mut(from) {
            session.client_id = Some(Arc::clone(&client));
        }
        let mut properties: Vec<Property<'_>> = Vec::new();
        if is_v5 {
            properties.push(Property::MaximumQos(true));
            properties.push(Property::TopicAliasMaximum(self.settings.limits.aliases));
            if expiry > 0 {
                properties.push(Property::SessionExpiryInterval(0));
            }
            // The gate keeps the time [MQTT-3.2.2-21]. Without a keep-alive of its own a client has none.
            let most = self.settings.keep_alive.map(NonZeroU16::get);
            let is_longer = |most: &u16| connect.keep_alive == 0 || connect.keep_alive > *most;
            properties.extend(most.filter(is_longer).map(Property::ServerKeepAlive));
            if connect.client_id.is_empty() {
                properties.push(Property::AssignedClientIdentifier(&client));
            }
        }
        let properties = List::of(&properties);
        let (session_present, reason) = (false, Reason::SUCCESS);
        self.put(from, &Packet::Connack(Connack { session_present, reason, properties }));
    }

    /// Returns the client id, or assigns one that nobody has and nobody can guess.
    fn client_id(&mut self, given: &str) -> Arc<str> {
        if !given.is_empty() {
            return given.into();
        }
        loop {
            self.assigned = self.assigned.wrapping_add(1);
            let (one, two) = (self.assigned, self.assigned.rotate_left(32));
            let assigned = format!("auto-{:016x}{:016x}", self.mix(one), self.mix(!two));
            if !self.clients.contains_key(assigned.as_str()) {
                return assigned.into();
            }
        }
    }

    /// splitmix64 of a number and the seed.
    const fn mix(&self, number: u64) -> u64 {
        let mut mixed = self.seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    fn publish(
        &mut self,
        from: SessionId,
        publish: &Publish<'_>,
        now: u64,
        publisher: &mut dyn FnMut() -> O,
    ) -> Result<(), Held> {
        if let Delivery::ExactlyOnce { .. } = publish.delivery {
            self.end(from, Reason::QOS_NOT_SUPPORTED);
            return Ok(());
        }
        let known = self.alias(from, publish);
        let Some(topic) = publish.topic.or(known.as_deref().map(Name::of_checked)) else {
            self.end(from, Reason::TOPIC_ALIAS_INVALID);
            return Ok(());
        };
        self.route(publish, topic, Some(from), now)?;
        self.counts.received = self.counts.received.saturating_add(1);
        let version = self.sessions.at(from).map_or(Version::V5, |session| session.version);
        let mut reason = Reason::SUCCESS;
        if publish.retain {
            let message = Message::of_publish(publish, topic);
            let stored = Stored::new(&message, publish.payload, version, now, publisher());
            if !self.retain(stored) {
                reason = Reason::QUOTA_EXCEEDED;
            }
        }
        if let Delivery::AtLeastOnce { id, .. } = publish.delivery {
            let properties = Properties::EMPTY;
            self.put(from, &Packet::Puback(Ack { id, reason, properties }));
        }
        Ok(())
    }

    /// Notes what an alias stands for. Returns the topic of a message that has the alias alone.
    fn alias(&mut self, from: SessionId, publish: &Publish<'_>) -> Option<Box<str>> {
        let alias = publish.properties.iter().find_map(|property| match property {
            Property::TopicAlias(alias) => Some(alias),
            _ => None,
        });
        let at = usize::from(alias?.checked_sub(1)?);
        if at >= usize::from(self.settings.limits.aliases) {
            return None;
        }
        let session = self.sessions.at_mut(from)?;
        match publish.topic {
            Some(topic) => {
                if session.aliases.len() <= at {
                    session.aliases.resize_with(at.saturating_add(1), || None);
                }
                if let Some(place) = session.aliases.get_mut(at) {
                    *place = Some(topic.text().into());
                }
                None
            }
            None => session.aliases.get(at).cloned().flatten(),
        }
    }

    fn subscribe(&mut self, from: SessionId, subscribe: &Subscribe<'_>) {
        let identifier = subscribe.properties.iter().find_map(|property| match property {
            Property::SubscriptionIdentifier(identifier) => Some(identifier),
            _ => None,
        });
        let identifier = identifier.unwrap_or(0);
        let mut reasons = Vec::new();
        for asked in subscribe.subscriptions {
            reasons.push(self.add(from, &asked, identifier));
        }
        let (id, properties) = (subscribe.id, Properties::EMPTY);
        self.put(from, &Packet::Suback(Suback { id, properties, reasons: List::of(&reasons) }));
    }

    fn add(&mut self, from: SessionId, asked: &Subscription<'_>, identifier: u32) -> Reason {
        let text = asked.filter.to_string();
        let Some(session) = self.sessions.at_mut(from) else { return Reason::UNSPECIFIED_ERROR };
        let version = session.version;
        let full = match version {
            Version::V5 => Reason::QUOTA_EXCEEDED,
            Version::V311 => Reason::UNSPECIFIED_ERROR,
        };
        let known = session.subscriptions.find(&text);
        if known.is_none() && self.subscriptions() >= self.settings.subscriptions {
            return full;
        }
        let mut options = Options::NONE;
        if asked.no_local {
            options = options | Options::NO_LOCAL;
        }
        if asked.retain_as_published {
            options = options | Options::RETAIN_AS_PUBLISHED;
        }
        let target = Target { session: from, identifier, options };
        if let Some(Place::Alone(id)) = known {
            self.filters.remove(id);
        }
        let Some(place) = self.place(asked.filter, &text, target) else { return full };
        let Some(session) = self.sessions.at_mut(from) else { return full };
        session.subscriptions.insert(&text, place);
        let wants_retained = match asked.retain_handling {
            RetainHandling::Send => true,
            RetainHandling::SendIfNew => known.is_none(),
            RetainHandling::DoNotSend => false,
        };
        if wants_retained && asked.filter.group().is_none() {
            session.replays.retain(|replay| *replay.filter != *text);
            session.replays.push_back(Replay::new(&text, target));
        }
        Reason::SUCCESS
    }

    /// Inserts a subscription into the set, or joins its group.
    fn place(&mut self, filter: Filter<'_>, text: &str, target: Target) -> Option<Place> {
        if filter.group().is_none() {
            return self.filters.insert(filter, Route::One(target)).ok().map(Place::Alone);
        }
        let number = match self.groups.find(text) {
            Some(number) => number,
            None => {
                let number = self.groups.unused();
                let id = self.filters.insert(filter, Route::Group(number)).ok()?;
                self.groups.add(number, text, id);
                number
            }
        };
        self.groups.join(number, target);
        Some(Place::Group(number))
    }

    fn unsubscribe(&mut self, from: SessionId, unsubscribe: &Unsubscribe<'_>) {
        let mut reasons = Vec::new();
        for filter in unsubscribe.filters {
            let text = filter.to_string();
            let Some(session) = self.sessions.at_mut(from) else { return };
            session.replays.retain(|replay| *replay.filter != *text);
            reasons.push(match session.subscriptions.remove(&text) {
                None => Reason::NO_SUBSCRIPTION_EXISTED,
                Some(place) => {
                    self.drop_place(from, place);
                    Reason::SUCCESS
                }
            });
        }
        let (id, properties) = (unsubscribe.id, Properties::EMPTY);
        self.put(from, &Packet::Unsuback(Suback { id, properties, reasons: List::of(&reasons) }));
    }

    fn disconnect(&mut self, from: SessionId, end: &End<'_>) {
        let Some(session) = self.sessions.at_mut(from) else { return };
        if end.reason == Reason::SUCCESS {
            session.will = None;
        }
        self.detach(from);
    }

    /// Appends a packet for a client.
    fn put(&mut self, to: SessionId, packet: &Packet<'_>) {
        let Some(session) = self.sessions.at_mut(to) else { return };
        // A packet that the broker makes has a form; one that had none would be left out.
        let _ = encode(packet, session.version, &mut session.queue);
        self.wake(to);
    }
}
