//! CONNECT and CONNACK.
//!
//! The gate passes them on as they came, but where they promise more than its own bounds: it
//! lowers Topic Alias Maximum, Receive Maximum and Maximum Packet Size, so that both sides keep
//! to what the gate can take.

use alloc::vec::Vec;

use super::close::{Action, Cause, Side, Stop};
use super::judge::{Judge, Message};
use super::machine::{KeptWill, Machine, State, server_bytes};
use super::{Password, Steps};
use crate::packet::{
    Connack, Connect, Fault, List, Packet, PacketError, Properties, Property, Reason, Version,
};

/// The properties that bound what the other side may send.
#[derive(Clone, Copy)]
struct Promises {
    aliases: Option<u16>,
    receive_maximum: Option<u16>,
    packet_bytes: Option<u32>,
}

impl Machine {
    pub(super) fn connect(
        &mut self,
        connect: &Connect<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        if self.state != State::Begun {
            return Err(Stop::protocol(Cause::SecondConnect));
        }
        self.state = State::Asked;
        self.version = connect.version;
        self.clock.set_keep_alive(connect.keep_alive);
        let is_method = |property| matches!(property, Property::AuthenticationMethod(_));
        self.has_method = connect.properties.iter().any(is_method);
        judge
            .connect(connect)
            .map_err(|reason| Stop::new(Cause::Denied(Action::Connect), reason))?;
        if let Some(will) = connect.will.as_ref().map(Message::of_will) {
            if will.is_of_broker() || !judge.will(&will).is_allowed() {
                return Err(Stop::denied(Action::Will));
            }
            self.will = Some(KeptWill::of(&will));
        }
        let passes = self.settings.password == Password::Pass;
        let password = connect.password.filter(|_| passes);
        let promises = self.client_promises(connect);
        if promises.is_none() && password == connect.password {
            self.pass(Side::Server, raw, steps);
            return Ok(());
        }
        let properties = promises.as_deref().map_or(connect.properties, List::of);
        let connect = Connect { properties, password, ..*connect };
        self.put(Side::Server, &Packet::Connect(connect), steps);
        Ok(())
    }

    /// Takes the bounds of a client of 5.0, and returns the properties of its CONNECT where they
    /// must become others.
    fn client_promises<'p>(&mut self, connect: &Connect<'p>) -> Option<Vec<Property<'p>>> {
        if connect.version == Version::V311 {
            return None;
        }
        let given = Promises::of(connect.properties);
        let limits = &self.settings.limits;
        let lowered = Promises {
            aliases: given.aliases.map(|most| most.min(limits.aliases)),
            receive_maximum: given.receive_maximum,
            packet_bytes: Some(least(given.packet_bytes, server_bytes(limits))),
        };
        self.client_takes = given.packet_bytes.map_or(usize::MAX, bytes);
        self.server_aliases.allow(lowered.aliases.unwrap_or(0));
        given.lowered(lowered, connect.properties)
    }

    pub(super) fn connack(
        &mut self,
        connack: &Connack<'_>,
        raw: &[u8],
        judge: &mut dyn Judge,
        steps: &mut Steps,
    ) -> Result<(), Stop> {
        if self.state != State::Asked {
            return Err(Stop::protocol(Cause::SecondConnack));
        }
        if connack.reason != Reason::SUCCESS {
            self.pass(Side::Client, raw, steps);
            return Err(Stop::new(Cause::Refused, connack.reason));
        }
        self.state = State::Open;
        // The subscriptions of the session were decided by nobody here.
        self.judges_deliveries |= connack.session_present;
        match self.server_promises(connack, judge) {
            None => self.pass(Side::Client, raw, steps),
            Some(properties) => {
                let connack = Connack { properties: List::of(&properties), ..*connack };
                self.put(Side::Client, &Packet::Connack(connack), steps);
            }
        }
        let early = core::mem::take(&mut self.early);
        self.pass(Side::Client, &early, steps);
        Ok(())
    }

    /// Takes what a broker of 5.0 says, and returns the properties of its CONNACK where they must
    /// become others.
    fn server_promises<'p>(
        &mut self,
        connack: &Connack<'p>,
        judge: &mut dyn Judge,
    ) -> Option<Vec<Property<'p>>> {
        if self.version == Version::V311 {
            return None;
        }
        for property in connack.properties {
            match property {
                Property::ServerKeepAlive(seconds) => self.clock.set_keep_alive(seconds),
                Property::AssignedClientIdentifier(client_id) => judge.assigned(client_id),
                _ => {}
            }
        }
        let given = Promises::of(connack.properties);
        let limits = &self.settings.limits;
        let receive_maximum = least(given.receive_maximum, limits.receive_maximum);
        let packet_bytes = least(given.packet_bytes, limits.packet_bytes);
        let aliases = given.aliases.map(|most| most.min(limits.aliases));
        self.client_aliases.allow(aliases.unwrap_or(0));
        self.receive_maximum = usize::from(receive_maximum);
        self.client_limits.packet_bytes = packet_bytes;
        let lowered = Promises {
            aliases,
            receive_maximum: Some(receive_maximum),
            packet_bytes: Some(packet_bytes),
        };
        given.lowered(lowered, connack.properties)
    }

    /// Answers a CONNECT that cannot be decoded, in the version that it states. One whose fixed
    /// header is wrong is refused before its version is there, wherever reads end.
    pub(super) fn refuse_malformed(
        &mut self,
        error: &PacketError,
        bytes: &[u8],
        steps: &mut Steps,
    ) {
        if matches!(error.fault, Fault::HeaderFlags | Fault::Length | Fault::TooLarge) {
            return;
        }
        let Some(level) = stated_level(bytes) else { return };
        let is_known = matches!(level, 4 | 5);
        if is_known || error.fault == Fault::ProtocolLevel {
            self.version = if level >= 5 { Version::V5 } else { Version::V311 };
            self.refuse(error.reason(), steps);
        }
    }
}

impl Promises {
    fn of(properties: Properties<'_>) -> Self {
        let mut promises = Self { aliases: None, receive_maximum: None, packet_bytes: None };
        for property in properties {
            match property {
                Property::TopicAliasMaximum(most) => promises.aliases = Some(most),
                Property::ReceiveMaximum(most) => promises.receive_maximum = Some(most),
                Property::MaximumPacketSize(most) => promises.packet_bytes = Some(most),
                _ => {}
            }
        }
        promises
    }

    /// Returns properties with other promises, where these are others.
    fn lowered<'p>(self, to: Self, properties: Properties<'p>) -> Option<Vec<Property<'p>>> {
        let is_same = self.aliases == to.aliases
            && self.receive_maximum == to.receive_maximum
            && self.packet_bytes == to.packet_bytes;
        if is_same {
            return None;
        }
        let is_promise = |property: &Property<'_>| {
            matches!(
                property,
                Property::TopicAliasMaximum(_)
                    | Property::ReceiveMaximum(_)
                    | Property::MaximumPacketSize(_)
            )
        };
        let mut all: Vec<_> =
            properties.into_iter().filter(|property| !is_promise(property)).collect();
        all.extend(to.aliases.map(Property::TopicAliasMaximum));
        all.extend(to.receive_maximum.map(Property::ReceiveMaximum));
        all.extend(to.packet_bytes.map(Property::MaximumPacketSize));
        Some(all)
    }
}

/// Returns the protocol level of a CONNECT; bytes behind its end are none of it.
fn stated_level(bytes: &[u8]) -> Option<u8> {
    // The fixed header has two to five bytes.
    let header = bytes.iter().skip(1).take(4).position(|byte| *byte < 0x80)?.saturating_add(2);
    let digits = bytes.get(1..header)?.iter().rev();
    let length = digits.fold(0, |length, digit| length << 7 | usize::from(digit & 0x7F));
    let rest = bytes.get(header..)?;
    let (name, rest) = rest.get(..length).unwrap_or(rest).split_at_checked(6)?;
    if name == b"\x00\x04MQTT" { rest.first().copied() } else { None }
}

fn least<T: Ord + Copy>(given: Option<T>, most: T) -> T {
    given.map_or(most, |given| given.min(most))
}

fn bytes(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
