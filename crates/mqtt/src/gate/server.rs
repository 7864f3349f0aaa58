//! Packets of the broker.

use alloc::vec::Vec;

use super::Steps;
use super::close::{Cause, Side, Stop};
use super::inbox::Parsed;
use super::judge::{Judge, Message};
use super::machine::{Machine, State};
use super::subscriptions::{Slot, Waiting};
use crate::packet::{
    Ack, Decoded, Delivery, List, Packet, Publish, Reason, Suback, Version, decode, encode,
};

impl Machine {
    /// Deals with the packet at the front of some bytes.
    pub(super) fn take_server(
        &mut self,
        bytes: &[u8],
        offset: u64,
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Parsed {
        if self.state == State::Closed {
            return Parsed::Over;
        }
        if self.state == State::Begun {
            self.end(Side::Server, Stop::protocol(Cause::NotConnack), offset, steps);
            return Parsed::Over;
        }
        let taken = match decode(self.version, bytes, &self.server_limits()) {
            Ok(Decoded::More(least)) => return Parsed::More(least),
            Ok(Decoded::Whole(packet, used)) => {
                let raw = bytes.get(..used).unwrap_or(bytes);
                self.server_packet(&packet, raw, judge, steps).map(|()| used)
            }
            Err(error) => Err(Stop::from(error)),
        };
        match taken {
            Ok(used) => Parsed::Used(used),
            Err(stop) => {
                self.stop(Side::Server, stop, offset, steps);
                Parsed::Over
            }
        }
    }

    fn server_packet(
        &mut self,
        packet: &Packet<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let begins = matches!(packet, Packet::Connack(_) | Packet::Auth(_));
        if self.state == State::Asked && !begins {
            return Err(Stop::protocol(Cause::NotConnack));
        }
        match packet {
            Packet::Publish(publish) => return self.delivery(publish, raw, judge, steps),
            Packet::Connack(connack) => return self.connack(connack, raw, judge, steps),
            Packet::Suback(suback) => return self.suback(suback, true, raw, steps),
            Packet::Unsuback(unsuback) => return self.suback(unsuback, false, raw, steps),
            Packet::Puback(ack) => drop(self.flows.sent.remove(ack.id)),
            Packet::Pubrec(ack) if ack.reason.is_failure() => self.is_acknowledged(ack),
            Packet::Pubcomp(ack) => self.is_acknowledged(ack),
            Packet::Pubrel(ack) if self.flows.withheld.remove(ack.id) => {
                let answer = Packet::Pubcomp(Ack::of(ack.id, Reason::SUCCESS));
                self.put(Side::Server, &answer, steps);
                return Ok(());
            }
            Packet::Pingresp => match self.own_ping {
                Some(0) => {
                    self.own_ping = None;
                    return Ok(());
                }
                before => {
                    self.own_ping = before.map(|before| before.saturating_sub(1));
                    self.pings = self.pings.saturating_sub(1);
                }
            },
            Packet::Auth(_) if !self.has_method => return Err(Stop::protocol(Cause::NoMethod)),
            Packet::Pubrec(_) | Packet::Pubrel(_) | Packet::Auth(_) => {}
            Packet::Disconnect(end) if self.version == Version::V5 => {
                match raw.len() > self.client_takes {
                    true => self.disconnect(Side::Client, end.reason, steps),
                    false => self.pass(Side::Client, raw, steps),
                }
                return Err(Stop::new(Cause::Disconnect, end.reason));
            }
            Packet::Connect(_)
            | Packet::Subscribe(_)
            | Packet::Unsubscribe(_)
            | Packet::Pingreq
            | Packet::Disconnect(_) => return Err(Stop::protocol(Cause::WrongSide)),
        }
        self.pass_to_client(raw, steps)
    }

    fn is_acknowledged(&mut self, ack: &Ack<'_>) {
        self.flows.sent.remove(ack.id);
        self.flows.sent_twice.remove(ack.id);
    }

    /// Passes on a packet that the client must get.
    fn pass_to_client(&mut self, raw: &[u8], steps: &mut Steps) -> Result<(), Stop> {
        if raw.len() > self.client_takes {
            return Err(Stop::new(Cause::TooLarge, Reason::PACKET_TOO_LARGE));
        }
        self.pass(Side::Client, raw, steps);
        Ok(())
    }

    fn delivery(
        &mut self,
        publish: &Publish<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let resolved = self.server_aliases.resolve(publish)?;
        let is = |ids: &super::ids::Ids| match publish.delivery {
            Delivery::ExactlyOnce { id, .. } => ids.contains(id),
            _ => false,
        };
        let is_withheld = is(&self.flows.withheld);
        // Only a copy, which says so [MQTT-3.3.1-1], was decided before.
        let was_delivered = publish.delivery.is_dup() && is(&self.flows.delivered);
        if is_withheld {
            self.withhold(publish, steps);
            return Ok(());
        }
        if self.judges_deliveries && !was_delivered {
            let message = Message::of_publish(publish, resolved.topic);
            if !judge.receive(&message).is_allowed() {
                self.withhold(publish, steps);
                return Ok(());
            }
        }
        let start = steps.to_client.len();
        if resolved.lacks_topic {
            let whole = Publish { topic: Some(resolved.topic), ..*publish };
            // What has no form is too large, and is left out like it.
            let _ = encode(&Packet::Publish(whole), self.version, &mut steps.to_client);
        } else {
            steps.to_client.extend_from_slice(raw);
        }
        let written = steps.to_client.len().saturating_sub(start);
        // What is too large for the client counts as delivered [MQTT-3.1.2-25].
        if written == 0 || written > self.client_takes {
            steps.to_client.truncate(start);
            self.withhold(publish, steps);
            return Ok(());
        }
        self.server_aliases.passed_on(publish);
        if let (Delivery::ExactlyOnce { id, .. }, true) = (publish.delivery, self.judges_deliveries)
        {
            self.flows.delivered.insert(id);
        }
        Ok(())
    }

    /// Acknowledges a delivery that the client does not get. In 5.0 the code of a failure ends the
    /// flow of QoS 2 at once [MQTT-4.4.0-2].
    fn withhold(&mut self, publish: &Publish<'_>, steps: &mut Steps) {
        let reason = match self.version {
            Version::V5 => Reason::NOT_AUTHORIZED,
            Version::V311 => Reason::SUCCESS,
        };
        match publish.delivery {
            Delivery::AtMostOnce => {}
            Delivery::AtLeastOnce { id, .. } => {
                self.put(Side::Server, &Packet::Puback(Ack::of(id, reason)), steps);
            }
            Delivery::ExactlyOnce { id, .. } => {
                if self.version == Version::V311 {
                    self.flows.withheld.insert(id);
                }
                self.put(Side::Server, &Packet::Pubrec(Ack::of(id, reason)), steps);
            }
        }
    }

    /// Joins the answer of the broker with those of the gate, at the positions of the filters.
    fn suback(
        &mut self,
        suback: &Suback<'_>,
        is_subscribe: bool,
        raw: &[u8],
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        let waiting = self.subscriptions.answered(suback.id, is_subscribe);
        let waiting = waiting.ok_or(Stop::protocol(Cause::Unasked))?;
        let asked = waiting.asked();
        let has_codes = is_subscribe || self.version == Version::V5;
        if has_codes && suback.reasons.iter().count() != asked {
            return Err(Stop::protocol(Cause::ReasonCount));
        }
        let reasons = self.joined(&waiting, suback);
        if asked == waiting.slots.len() {
            return self.pass_to_client(raw, steps);
        }
        let merged = Suback { reasons: List::of(&reasons), ..*suback };
        let packet = if is_subscribe { Packet::Suback(merged) } else { Packet::Unsuback(merged) };
        let start = steps.to_client.len();
        self.put(Side::Client, &packet, steps);
        if steps.to_client.len().saturating_sub(start) > self.client_takes {
            steps.to_client.truncate(start);
            return Err(Stop::new(Cause::TooLarge, Reason::PACKET_TOO_LARGE));
        }
        Ok(())
    }

    /// Returns the reason codes at the positions of the filters, and updates the list of
    /// subscriptions by those of the broker.
    fn joined(&mut self, waiting: &Waiting, suback: &Suback<'_>) -> Vec<Reason> {
        let mut answers = suback.reasons.iter();
        let mut reason = |slot: &Slot| match slot {
            Slot::Answered(reason) => *reason,
            Slot::Asked(entry) => {
                // UNSUBACK of 3.1.1 has no codes.
                let reason = answers.next().unwrap_or(Reason::SUCCESS);
                match (entry, waiting.is_subscribe, reason.is_failure()) {
                    (Some(entry), true, true) => self.subscriptions.refused(entry),
                    (Some(entry), false, false) => self.subscriptions.ended(entry),
                    _ => {}
                }
                reason
            }
        };
        waiting.slots.iter().map(&mut reason).collect()
    }
}
