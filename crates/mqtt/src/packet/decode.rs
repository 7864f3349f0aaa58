//! Bytes to packets.

use super::error::{Fault, PacketError};
use super::list::Coded;
use super::property::{self, Property, WILL};
use super::read::{Number, Reader, number};
use super::reason::Reason;
use super::{
    Ack, Connack, Connect, Decoded, Delivery, End, List, Packet, Properties, Publish, Qos, Suback,
    Subscribe, Subscription, Unsubscribe, Version, Will, kind,
};
use crate::limits::Limits;
use crate::topic::{Filter, Name, TopicError};

/// Decodes the packet at the front of some bytes.
///
/// A CONNECT is decoded by the version that it states. Faults of the first bytes are found before
/// the packet is there as a whole.
///
/// # Errors
/// The first fault of the packet; nothing that follows it can be decoded.
///
/// # Examples
/// ```
/// use wardgate_mqtt::Limits;
/// use wardgate_mqtt::packet::{Decoded, Packet, Version, decode};
///
/// let limits = Limits::default();
/// let ping = decode(Version::V5, &[0xC0, 0], &limits)?;
/// assert_eq!(ping, Decoded::Whole(Packet::Pingreq, 2));
/// assert_eq!(decode(Version::V5, &[0x30, 9, 0], &limits)?, Decoded::More(11));
/// # Ok::<(), wardgate_mqtt::packet::PacketError>(())
/// ```
pub fn decode<'p>(
    version: Version,
    bytes: &'p [u8],
    limits: &Limits,
) -> Result<Decoded<'p>, PacketError> {
    let Some((first, rest)) = bytes.split_first() else { return Ok(Decoded::More(2)) };
    let (kind, flags) = (first >> 4, first & 0xF);
    check_first(kind, flags, version)?;
    let (length, header) = match number(rest) {
        Number::Is(length, bytes) => (length, bytes.saturating_add(1)),
        Number::Short => return Ok(Decoded::More(bytes.len().saturating_add(1))),
        Number::Wrong => return Err(PacketError { fault: Fault::Length, offset: 1 }),
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let total = length.saturating_add(header);
    check_size(kind, total, limits)?;
    let Some(body) = bytes.get(header..total) else { return Ok(Decoded::More(total)) };
    let mut body = Body { reader: Reader::new(body, total), version, limits, kind };
    if kind == kind::PUBLISH {
        // Apart, so that the packet that comes most often is not moved about; its payload is the
        // rest of the bytes.
        let publish = body.publish(flags)?;
        return Ok(Decoded::Whole(Packet::Publish(publish), total));
    }
    let packet = body.packet()?;
    match body.reader.is_empty() {
        true => Ok(Decoded::Whole(packet, total)),
        false => body.reader.fault(Fault::Trailing),
    }
}

/// Checks type and flags of the fixed header (5.0, sections 2.1.2 and 2.1.3).
fn check_first(kind: u8, flags: u8, version: Version) -> Result<(), PacketError> {
    let error = |fault| Err(PacketError { fault, offset: 0 });
    let expected = match kind {
        0 => return error(Fault::Type),
        kind::AUTH if version == Version::V311 => return error(Fault::Type),
        kind::PUBLISH if flags & 6 == 6 => return error(Fault::Qos),
        kind::PUBLISH if flags & 0xE == 8 => return error(Fault::Dup),
        kind::PUBLISH => flags,
        kind::PUBREL | kind::SUBSCRIBE | kind::UNSUBSCRIBE => 2,
        _ => 0,
    };
    if flags == expected { Ok(()) } else { error(Fault::HeaderFlags) }
}

fn check_size(kind: u8, total: usize, limits: &Limits) -> Result<(), PacketError> {
    let most = match kind {
        kind::CONNECT => limits.connect_bytes.min(limits.packet_bytes),
        _ => limits.packet_bytes,
    };
    match u32::try_from(total).is_ok_and(|total| total <= most) {
        true => Ok(()),
        false => Err(PacketError { fault: Fault::TooLarge, offset: 1 }),
    }
}

/// What follows the fixed header.
struct Body<'p, 'l> {
    reader: Reader<'p>,
    version: Version,
    limits: &'l Limits,
    kind: u8,
}

type Part<T> = Result<T, PacketError>;

impl<'p> Body<'p, '_> {
    /// Reads a packet of any type but PUBLISH.
    fn packet(&mut self) -> Part<Packet<'p>> {
        Ok(match self.kind {
            kind::CONNECT => Packet::Connect(self.connect()?),
            kind::CONNACK => Packet::Connack(self.connack()?),
            kind::PUBACK => Packet::Puback(self.ack()?),
            kind::PUBREC => Packet::Pubrec(self.ack()?),
            kind::PUBREL => Packet::Pubrel(self.ack()?),
            kind::PUBCOMP => Packet::Pubcomp(self.ack()?),
            kind::SUBSCRIBE => Packet::Subscribe(self.subscribe()?),
            kind::SUBACK => Packet::Suback(self.suback()?),
            kind::UNSUBSCRIBE => Packet::Unsubscribe(self.unsubscribe()?),
            kind::UNSUBACK => Packet::Unsuback(self.suback()?),
            kind::PINGREQ => Packet::Pingreq,
            kind::PINGRESP => Packet::Pingresp,
            kind::DISCONNECT => Packet::Disconnect(self.end()?),
            _ => Packet::Auth(self.end()?),
        })
    }

    #[inline]
    fn publish(&mut self, flags: u8) -> Part<Publish<'p>> {
        let before = self.reader;
        let topic = match self.reader.any_text()? {
            "" if self.version == Version::V5 => None,
            text => Some(self.name(before, text)?),
        };
        let dup = flags & 8 != 0;
        let delivery = match flags >> 1 & 3 {
            0 => Delivery::AtMostOnce,
            1 => Delivery::AtLeastOnce { id: self.reader.id()?, dup },
            _ => Delivery::ExactlyOnce { id: self.reader.id()?, dup },
        };
        let properties = self.properties()?;
        let is_alias = |property| matches!(property, Property::TopicAlias(_));
        if topic.is_none() && !properties.iter().any(is_alias) {
            return before.fault(Fault::NoTopic);
        }
        let payload = self.reader.take_rest();
        Ok(Publish { topic, delivery, retain: flags & 1 != 0, properties, payload })
    }

    fn connect(&mut self) -> Part<Connect<'p>> {
        self.protocol()?;
        let before = self.reader;
        let flags = self.reader.byte()?;
        self.check_flags(before, flags)?;
        let clean_start = flags & 2 != 0;
        let keep_alive = self.reader.two()?;
        let properties = self.properties()?;
        let before = self.reader;
        let client_id = self.reader.text()?;
        if client_id.is_empty() && !clean_start && self.version == Version::V311 {
            return before.fault(Fault::ClientId);
        }
        let will = if flags & 4 != 0 { Some(self.will(flags)?) } else { None };
        let user_name = if flags & 0x80 != 0 { Some(self.reader.text()?) } else { None };
        let password = if flags & 0x40 != 0 { Some(self.reader.binary()?) } else { None };
        let version = self.version;
        Ok(Connect {
            version,
            clean_start,
            keep_alive,
            properties,
            client_id,
            will,
            user_name,
            password,
        })
    }

    /// Reads name and level of the protocol; from here on, the version is the one of the client.
    fn protocol(&mut self) -> Part<()> {
        let before = self.reader;
        if self.reader.binary()? != b"MQTT" {
            return before.fault(Fault::ProtocolName);
        }
        let before = self.reader;
        self.version = match self.reader.byte()? {
            4 => Version::V311,
            5 => Version::V5,
            _ => return before.fault(Fault::ProtocolLevel),
        };
        Ok(())
    }

    /// Checks the flags of CONNECT (section 3.1.2.3 and those after it).
    fn check_flags(&self, at: Reader<'p>, flags: u8) -> Part<()> {
        let (will_qos, has_will) = (flags >> 3 & 3, flags & 4 != 0);
        let has_password_alone = flags & 0xC0 == 0x40;
        match flags {
            _ if flags & 1 != 0 => at.fault(Fault::ConnectFlags),
            _ if will_qos == 3 => at.fault(Fault::Qos),
            _ if !has_will && flags & 0x38 != 0 => at.fault(Fault::WillFlags),
            _ if has_password_alone && self.version == Version::V311 => {
                at.fault(Fault::PasswordAlone)
            }
            _ => Ok(()),
        }
    }

    fn will(&mut self, flags: u8) -> Part<Will<'p>> {
        let properties = match self.version {
            Version::V5 => property::read(&mut self.reader, WILL, self.limits)?,
            Version::V311 => Properties::EMPTY,
        };
        let before = self.reader;
        let text = self.reader.any_text()?;
        let topic = self.name(before, text)?;
        let payload = self.reader.binary()?;
        let qos = Qos::of(flags >> 3 & 3).unwrap_or_default();
        Ok(Will { topic, payload, qos, retain: flags & 0x20 != 0, properties })
    }

    fn connack(&mut self) -> Part<Connack<'p>> {
        let before = self.reader;
        let flags = self.reader.byte()?;
        let reason = self.reason()?;
        // A refusal tells of no session [MQTT-3.2.2-6].
        if flags > 1 || flags == 1 && reason != Reason::SUCCESS {
            return before.fault(Fault::ConnackFlags);
        }
        let properties = self.properties()?;
        Ok(Connack { session_present: flags == 1, reason, properties })
    }

    fn ack(&mut self) -> Part<Ack<'p>> {
        let id = self.reader.id()?;
        let End { reason, properties } = self.end()?;
        Ok(Ack { id, reason, properties })
    }

    /// Reads a reason code and properties, which may be left out from the end.
    fn end(&mut self) -> Part<End<'p>> {
        if self.reader.is_empty() || self.version == Version::V311 {
            return Ok(End { reason: Reason::SUCCESS, properties: Properties::EMPTY });
        }
        let reason = self.reason()?;
        let is_short = self.reader.is_empty() && self.kind != kind::AUTH;
        let properties = if is_short { Properties::EMPTY } else { self.properties()? };
        Ok(End { reason, properties })
    }

    fn subscribe(&mut self) -> Part<Subscribe<'p>> {
        let (id, properties) = (self.reader.id()?, self.properties()?);
        let subscriptions = self.list(|body| {
            let before = body.reader;
            let mut ahead = before;
            ahead.binary()?;
            let options = ahead;
            // The upper six bits of 3.1.1 are reserved [MQTT-3-8.3-4].
            if body.version == Version::V311 && ahead.byte()? & 0xFC != 0 {
                return options.fault(Fault::Options);
            }
            Ok((before, Subscription::read(&mut body.reader)?.filter))
        })?;
        Ok(Subscribe { id, properties, subscriptions })
    }

    fn unsubscribe(&mut self) -> Part<Unsubscribe<'p>> {
        let (id, properties) = (self.reader.id()?, self.properties()?);
        let filters = self.list(|body| {
            let before = body.reader;
            Ok((before, Filter::read(&mut body.reader)?))
        })?;
        Ok(Unsubscribe { id, properties, filters })
    }

    /// Reads a list up to the end, whose items have the filters that `item` returns.
    fn list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Part<(Reader<'p>, Filter<'p>)>,
    ) -> Part<List<'p, T>> {
        let bytes = self.reader.take_rest();
        let end = self.reader.offset();
        self.reader = Reader::new(bytes, end);
        if bytes.is_empty() {
            return self.reader.fault(Fault::Empty);
        }
        let mut count = 0_u16;
        while !self.reader.is_empty() {
            count = count.saturating_add(1);
            if count > self.limits.filters {
                return self.reader.fault(Fault::TooManyFilters);
            }
            let (at, filter) = item(self)?;
            self.check_filter(at, filter)?;
        }
        Ok(List::of_checked(bytes))
    }

    /// Checks a filter, which is one within the widest limits, against the limits.
    fn check_filter(&self, at: Reader<'p>, filter: Filter<'p>) -> Part<()> {
        let whole = filter.group().map_or(0, |group| group.len().saturating_add("$share//".len()));
        let bytes = whole.saturating_add(filter.text().len());
        let most = self.limits.topic_bytes;
        if bytes > usize::from(most) {
            return at.topic_fault(Fault::Filter(TopicError::TooLong { bytes, most }));
        }
        match Filter::within(filter.text(), self.limits) {
            Err(error @ TopicError::TooManyLevels { .. }) => at.topic_fault(Fault::Filter(error)),
            _ => Ok(()),
        }
    }

    fn suback(&mut self) -> Part<Suback<'p>> {
        let (id, properties) = (self.reader.id()?, self.properties()?);
        if self.kind == kind::UNSUBACK && self.version == Version::V311 {
            return Ok(Suback { id, properties, reasons: List::EMPTY });
        }
        if self.reader.is_empty() {
            return self.reader.fault(Fault::Empty);
        }
        let start = self.reader;
        while !self.reader.is_empty() {
            self.reason()?;
        }
        let mut all = start;
        Ok(Suback { id, properties, reasons: List::of_checked(all.take_rest()) })
    }

    fn reason(&mut self) -> Part<Reason> {
        let before = self.reader;
        let reason = Reason(self.reader.byte()?);
        match reason.is_of(self.kind, self.version) {
            true => Ok(reason),
            false => before.fault(Fault::ReasonCode(reason.0)),
        }
    }

    #[inline]
    fn properties(&mut self) -> Part<Properties<'p>> {
        match self.version {
            Version::V311 => Ok(Properties::EMPTY),
            Version::V5 => property::read(&mut self.reader, property::of(self.kind), self.limits),
        }
    }

    /// Checks a text that was read after `at` as a topic name.
    #[inline]
    fn name(&self, at: Reader<'p>, text: &'p str) -> Part<Name<'p>> {
        Name::within(text, self.limits).map_err(|error| {
            let start = at.offset().saturating_add(2);
            let (fault, inside) = match error {
                TopicError::Nul { at } => (Fault::Nul, at),
                _ => (Fault::Name(error), 0),
            };
            PacketError { fault, offset: start.saturating_add(inside) }
        })
    }
}
