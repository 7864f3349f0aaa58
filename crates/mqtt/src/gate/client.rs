//! Packets of the client.

use alloc::vec::Vec;

use super::Denied;
use super::Steps;
use super::close::{Action, Cause, Side, Stop};
use super::inbox::Parsed;
use super::judge::{Judge, Message};
use super::machine::{Machine, State};
use super::subscriptions::{Slot, Waiting};
use crate::limits::EARLY_BYTES;
use crate::packet::{
    Ack, Decoded, Delivery, List, Packet, Properties, Property, Publish, Reason, Suback, Subscribe,
    Unsubscribe, Version, decode, encode,
};

impl Machine {
    /// Deals with the packet at the front of some bytes.
    pub(super) fn take_client(
        &mut self,
        bytes: &[u8],
        offset: u64,
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Parsed {
        if self.state == State::Closed {
            return Parsed::Over;
        }
        if self.state == State::Begun && bytes.first().is_some_and(|first| first >> 4 != CONNECT) {
            self.end(Side::Client, Stop::protocol(Cause::NotConnect), offset, steps);
            return Parsed::Over;
        }
        let taken = match decode(self.version, bytes, &self.client_limits) {
            Ok(Decoded::More(least)) => return Parsed::More(least),
            Ok(Decoded::Whole(packet, used)) => {
                self.clock.was_heard = true;
                let raw = bytes.get(..used).unwrap_or(bytes);
                self.client_packet(&packet, raw, judge, steps).map(|()| used)
            }
            Err(error) => {
                if self.state == State::Begun {
                    self.refuse_malformed(&error, bytes, steps);
                }
                Err(Stop::from(error))
            }
        };
        match taken {
            Ok(used) => Parsed::Used(used),
            Err(stop) => {
                self.stop(Side::Client, stop, offset, steps);
                Parsed::Over
            }
        }
    }

    fn client_packet(
        &mut self,
        packet: &Packet<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let is_authenticating = self.state == State::Asked && self.has_method;
        if is_authenticating && !matches!(packet, Packet::Auth(_) | Packet::Disconnect(_)) {
            return Err(Stop::protocol(match packet {
                Packet::Connect(_) => Cause::SecondConnect,
                _ => Cause::Unauthenticated,
            }));
        }
        match packet {
            Packet::Publish(publish) => return self.publish(publish, raw, judge, steps),
            Packet::Connect(connect) => return self.connect(connect, raw, judge, steps),
            Packet::Subscribe(subscribe) => return self.subscribe(subscribe, raw, judge, steps),
            Packet::Unsubscribe(unsubscribe) => {
                return self.unsubscribe(unsubscribe, raw, judge, steps);
            }
            Packet::Pubrel(ack) if self.flows.refused.remove(ack.id) => {
                let answer = Packet::Pubcomp(Ack::of(ack.id, Reason::SUCCESS));
                return self.answer(&answer, steps);
            }
            Packet::Pubcomp(ack) => drop(self.flows.delivered.remove(ack.id)),
            Packet::Pubrec(ack) if ack.reason.is_failure() => {
                self.flows.delivered.remove(ack.id);
            }
            Packet::Pingreq => self.pings = self.pings.saturating_add(1),
            Packet::Auth(_) if !self.has_method => return Err(Stop::protocol(Cause::NoMethod)),
            Packet::Puback(_) | Packet::Pubrec(_) | Packet::Pubrel(_) | Packet::Auth(_) => {}
            Packet::Disconnect(end) => {
                self.pass(Side::Server, raw, steps);
                return Err(Stop::new(Cause::Disconnect, end.reason));
            }
            Packet::Connack(_) | Packet::Suback(_) | Packet::Unsuback(_) | Packet::Pingresp => {
                return Err(Stop::protocol(Cause::WrongSide));
            }
        }
        self.pass(Side::Server, raw, steps);
        Ok(())
    }

    fn publish(
        &mut self,
        publish: &Publish<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        self.check_publish(publish)?;
        let resolved = self.client_aliases.resolve(publish)?;
        let message = Message::of_publish(publish, resolved.topic);
        // The same message once more, or a client that does not wait for PUBCOMP.
        let was_refused = publish.delivery.id().is_some_and(|id| self.flows.refused.contains(id));
        if was_refused || message.is_of_broker() || !judge.publish(&message).is_allowed() {
            return self.refuse_publish(publish, Reason::NOT_AUTHORIZED, steps);
        }
        if resolved.lacks_topic {
            let whole = Publish { topic: Some(resolved.topic), ..*publish };
            let start = steps.to_server.len();
            let written = encode(&Packet::Publish(whole), self.version, &mut steps.to_server);
            let most = usize::try_from(self.client_limits.packet_bytes).unwrap_or(usize::MAX);
            if written.is_err() || steps.to_server.len().saturating_sub(start) > most {
                steps.to_server.truncate(start);
                return self.refuse_publish(publish, Reason::QUOTA_EXCEEDED, steps);
            }
            self.clock.was_passed_on = true;
        } else {
            self.pass(Side::Server, raw, steps);
        }
        self.client_aliases.passed_on(publish);
        self.note_sent(publish.delivery);
        Ok(())
    }

    /// Checks what the standard forbids a client alone.
    fn check_publish(&self, publish: &Publish<'_>) -> Result<(), Stop> {
        let is_identifier = |property| matches!(property, Property::SubscriptionIdentifier(_));
        if publish.properties.iter().any(is_identifier) {
            return Err(Stop::protocol(Cause::SubscriptionIdentifier));
        }
        let sent = &self.flows.sent;
        let is_new = publish.delivery.id().is_some_and(|id| !sent.contains(id));
        if self.version == Version::V5 && is_new && sent.len() >= self.receive_maximum {
            return Err(Stop::new(Cause::ReceiveMaximum, Reason::RECEIVE_MAXIMUM_EXCEEDED));
        }
        Ok(())
    }

    /// Notes a message that the broker will acknowledge.
    fn note_sent(&mut self, delivery: Delivery) {
        if let (Version::V5, Some(id)) = (self.version, delivery.id()) {
            self.flows.sent.insert(id);
        }
        if let Delivery::ExactlyOnce { id, .. } = delivery {
            self.flows.sent_twice.insert(id);
        }
    }

    /// Answers a PUBLISH that is not passed on.
    fn refuse_publish(
        &mut self,
        publish: &Publish<'_>,
        reason: Reason,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let denied = Err(Stop::new(Cause::Denied(Action::Publish), reason));
        let Some(id) = publish.delivery.id() else { return Ok(()) };
        let is_twice = matches!(publish.delivery, Delivery::ExactlyOnce { .. });
        // The broker waits for the end of another message with that identifier. An answer of
        // the gate would end it for the client alone.
        if is_twice && self.flows.sent_twice.contains(id) {
            return denied;
        }
        let acknowledge = if is_twice { Packet::Pubrec } else { Packet::Puback };
        match (self.version, self.settings.denied) {
            (Version::V5, _) => self.answer(&acknowledge(Ack::of(id, reason)), steps),
            (Version::V311, Denied::Close) => denied,
            (Version::V311, Denied::Drop) => {
                if is_twice {
                    self.flows.refused.insert(id);
                }
                self.answer(&acknowledge(Ack::of(id, Reason::SUCCESS)), steps)
            }
        }
    }

    fn subscribe(
        &mut self,
        subscribe: &Subscribe<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let id = subscribe.id;
        if self.subscriptions.is_waiting(id) {
            return Err(Stop::protocol(Cause::IdentifierInUse));
        }
        let (mut slots, mut asked) = (Vec::new(), Vec::new());
        for subscription in subscribe.subscriptions {
            let limits = &self.settings.limits;
            let may_wait = self.subscriptions.may_wait(slots.len().saturating_add(1), limits);
            if !judge.subscribe(&subscription).is_allowed() {
                slots.push(Slot::Answered(self.code(Reason::NOT_AUTHORIZED)));
                continue;
            }
            let entry = may_wait.then(|| self.subscriptions.add(&subscription, limits)).flatten();
            slots.push(match entry {
                None => Slot::Answered(self.code(Reason::QUOTA_EXCEEDED)),
                Some(entry) => {
                    asked.push(subscription);
                    Slot::Asked(Some(entry))
                }
            });
        }
        if asked.is_empty() {
            let reasons: Vec<_> = slots.iter().filter_map(Slot::answer).collect();
            let (properties, reasons) = (Properties::EMPTY, List::of(&reasons));
            return self.answer(&Packet::Suback(Suback { id, properties, reasons }), steps);
        }
        if asked.len() == slots.len() {
            self.pass(Side::Server, raw, steps);
        } else {
            let narrowed = Subscribe { subscriptions: List::of(&asked), ..*subscribe };
            self.put(Side::Server, &Packet::Subscribe(narrowed), steps);
        }
        self.subscriptions.wait(id, Waiting { is_subscribe: true, slots });
        Ok(())
    }

    fn unsubscribe(
        &mut self,
        unsubscribe: &Unsubscribe<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let id = unsubscribe.id;
        if self.subscriptions.is_waiting(id) {
            return Err(Stop::protocol(Cause::IdentifierInUse));
        }
        let (mut slots, mut asked) = (Vec::new(), Vec::new());
        for filter in unsubscribe.filters {
            slots.push(match judge.unsubscribe(filter).is_allowed() {
                false => Slot::Answered(Reason::NOT_AUTHORIZED),
                true => {
                    asked.push(filter);
                    Slot::Asked(self.subscriptions.entry(filter))
                }
            });
        }
        if asked.is_empty() {
            let reasons: Vec<_> = slots.iter().filter_map(Slot::answer).collect();
            let (properties, reasons) = (Properties::EMPTY, List::of(&reasons));
            return self.answer(&Packet::Unsuback(Suback { id, properties, reasons }), steps);
        }
        if !self.subscriptions.may_wait(slots.len(), &self.settings.limits) {
            return Err(Stop::new(Cause::TooManyWaiting, Reason::QUOTA_EXCEEDED));
        }
        if asked.len() == slots.len() {
            self.pass(Side::Server, raw, steps);
        } else {
            let narrowed = Unsubscribe { filters: List::of(&asked), ..*unsubscribe };
            self.put(Side::Server, &Packet::Unsubscribe(narrowed), steps);
        }
        self.subscriptions.wait(id, Waiting { is_subscribe: false, slots });
        Ok(())
    }

    /// Answers a packet of the client that is not passed on. CONNACK comes before all answers
    /// [MQTT-3.2.0-1], so those to packets that follow CONNECT at once wait for it.
    fn answer(&mut self, packet: &Packet<'_>, steps: &mut Steps) -> Result<(), Stop> {
        if self.state == State::Open {
            self.put(Side::Client, packet, steps);
            return Ok(());
        }
        // An answer of the gate has a form.
        let _ = encode(packet, self.version, &mut self.early);
        match self.early.len() <= EARLY_BYTES {
            true => Ok(()),
            false => Err(Stop::new(Cause::TooManyWaiting, Reason::QUOTA_EXCEEDED)),
        }
    }

    /// Returns a reason code for SUBACK in the version of the client.
    const fn code(&self, reason: Reason) -> Reason {
        match self.version {
            Version::V5 => reason,
            Version::V311 => Reason::UNSPECIFIED_ERROR,
        }
    }
}

impl Slot {
    pub(super) const fn answer(&self) -> Option<Reason> {
        match self {
            Self::Answered(reason) => Some(*reason),
            Self::Asked(_) => None,
        }
    }
}

/// The type of CONNECT.
const CONNECT: u8 = 1;
