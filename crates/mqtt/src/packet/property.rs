//! Properties of 5.0: what they hold, which packets may have them, and which values they may have.

use super::error::{Fault, PacketError};
use super::list::Coded;
use super::read::Reader;
use super::write::Sink;
use super::{Properties, kind};
use crate::limits::Limits;
use crate::topic::Name;

/// A property (5.0, section 2.2.2.2). Numbers of time are seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the standard")]
pub enum Property<'p> {
    PayloadFormatIndicator(bool),
    MessageExpiryInterval(u32),
    ContentType(&'p str),
    ResponseTopic(&'p str),
    CorrelationData(&'p [u8]),
    SubscriptionIdentifier(u32),
    SessionExpiryInterval(u32),
    AssignedClientIdentifier(&'p str),
    ServerKeepAlive(u16),
    AuthenticationMethod(&'p str),
    AuthenticationData(&'p [u8]),
    RequestProblemInformation(bool),
    WillDelayInterval(u32),
    RequestResponseInformation(bool),
    ResponseInformation(&'p str),
    ServerReference(&'p str),
    ReasonString(&'p str),
    ReceiveMaximum(u16),
    TopicAliasMaximum(u16),
    TopicAlias(u16),
    /// True for QoS 1, false for QoS 0.
    MaximumQos(bool),
    RetainAvailable(bool),
    UserProperty(&'p str, &'p str),
    MaximumPacketSize(u32),
    WildcardSubscriptionAvailable(bool),
    SubscriptionIdentifierAvailable(bool),
    SharedSubscriptionAvailable(bool),
}

/// The places of properties: a bit for each type of packet, and one for wills.
pub(super) type Place = u32;

/// The place of the properties of a packet.
pub(super) const fn of(kind: u8) -> Place {
    match kind {
        kind::CONNECT => CONNECT,
        kind::CONNACK => CONNACK,
        kind::PUBLISH => PUBLISH,
        kind::PUBACK => PUBACK,
        kind::PUBREC => PUBREC,
        kind::PUBREL => PUBREL,
        kind::PUBCOMP => PUBCOMP,
        kind::SUBSCRIBE => SUBSCRIBE,
        kind::SUBACK => SUBACK,
        kind::UNSUBSCRIBE => UNSUBSCRIBE,
        kind::UNSUBACK => UNSUBACK,
        kind::DISCONNECT => DISCONNECT,
        kind::AUTH => AUTH,
        _ => 0,
    }
}

/// Reads and checks the properties of a place.
pub(super) fn read<'p>(
    reader: &mut Reader<'p>,
    place: Place,
    limits: &Limits,
) -> Result<Properties<'p>, PacketError> {
    let bytes = usize::try_from(reader.number()?).unwrap_or(usize::MAX);
    let at = reader.offset();
    let bytes = reader.take(bytes)?;
    if bytes.is_empty() && place != AUTH {
        return Ok(Properties::EMPTY);
    }
    check(Reader::new(bytes, at.saturating_add(bytes.len())), place, limits)?;
    Ok(Properties::of_checked(bytes))
}

fn check(reader: Reader<'_>, place: Place, limits: &Limits) -> Result<(), PacketError> {
    let mut reader = reader;
    let mut seen = 0_u64;
    let (mut users, mut user_bytes) = (0_u16, 0_u32);
    while !reader.is_empty() {
        let before = reader;
        let property = Property::read(&mut reader)?;
        let id = property.id();
        if place & property.places() == 0 {
            return before.fault(Fault::MisplacedProperty(id));
        }
        if let Property::UserProperty(name, value) = property {
            let bytes = u32::try_from(name.len().saturating_add(value.len())).unwrap_or(u32::MAX);
            users = users.saturating_add(1);
            user_bytes = user_bytes.saturating_add(bytes);
            if users > limits.user_properties || user_bytes > limits.user_property_bytes {
                return before.fault(Fault::UserProperties);
            }
            continue;
        }
        let bit = 1_u64.unbounded_shl(u32::from(id));
        let may_repeat = id == SUBSCRIPTION_IDENTIFIER && place == PUBLISH;
        if seen & bit != 0 && !may_repeat {
            return before.fault(Fault::RepeatedProperty(id));
        }
        seen |= bit;
    }
    let has = |id: u8| seen & 1_u64.unbounded_shl(u32::from(id)) != 0;
    // 3.1.2.11.10: data without a method is a protocol error; 3.15.2.2.2: AUTH has a method.
    let needs_method = has(AUTHENTICATION_DATA) || place == AUTH;
    if needs_method && !has(AUTHENTICATION_METHOD) {
        return reader.fault(Fault::NoMethod);
    }
    Ok(())
}

impl Property<'_> {
    /// Returns the identifier.
    #[must_use]
    pub const fn id(&self) -> u8 {
        match self {
            Self::PayloadFormatIndicator(_) => 0x01,
            Self::MessageExpiryInterval(_) => 0x02,
            Self::ContentType(_) => 0x03,
            Self::ResponseTopic(_) => 0x08,
            Self::CorrelationData(_) => 0x09,
            Self::SubscriptionIdentifier(_) => SUBSCRIPTION_IDENTIFIER,
            Self::SessionExpiryInterval(_) => 0x11,
            Self::AssignedClientIdentifier(_) => 0x12,
            Self::ServerKeepAlive(_) => 0x13,
            Self::AuthenticationMethod(_) => AUTHENTICATION_METHOD,
            Self::AuthenticationData(_) => AUTHENTICATION_DATA,
            Self::RequestProblemInformation(_) => 0x17,
            Self::WillDelayInterval(_) => 0x18,
            Self::RequestResponseInformation(_) => 0x19,
            Self::ResponseInformation(_) => 0x1A,
            Self::ServerReference(_) => 0x1C,
            Self::ReasonString(_) => 0x1F,
            Self::ReceiveMaximum(_) => 0x21,
            Self::TopicAliasMaximum(_) => 0x22,
            Self::TopicAlias(_) => 0x23,
            Self::MaximumQos(_) => 0x24,
            Self::RetainAvailable(_) => 0x25,
            Self::UserProperty(..) => 0x26,
            Self::MaximumPacketSize(_) => 0x27,
            Self::WildcardSubscriptionAvailable(_) => 0x28,
            Self::SubscriptionIdentifierAvailable(_) => 0x29,
            Self::SharedSubscriptionAvailable(_) => 0x2A,
        }
    }

    /// Returns the places that may have the property (table 2-4).
    const fn places(&self) -> Place {
        match self {
            Self::PayloadFormatIndicator(_)
            | Self::MessageExpiryInterval(_)
            | Self::ContentType(_)
            | Self::ResponseTopic(_)
            | Self::CorrelationData(_) => PUBLISH | WILL,
            Self::SubscriptionIdentifier(_) => PUBLISH | SUBSCRIBE,
            Self::SessionExpiryInterval(_) => CONNECT | CONNACK | DISCONNECT,
            Self::AuthenticationMethod(_) | Self::AuthenticationData(_) => CONNECT | CONNACK | AUTH,
            Self::RequestProblemInformation(_) | Self::RequestResponseInformation(_) => CONNECT,
            Self::WillDelayInterval(_) => WILL,
            Self::ServerReference(_) => CONNACK | DISCONNECT,
            Self::ReasonString(_) => {
                CONNACK | PUBACK | PUBREC | PUBREL | PUBCOMP | SUBACK | UNSUBACK | DISCONNECT | AUTH
            }
            Self::ReceiveMaximum(_) | Self::TopicAliasMaximum(_) | Self::MaximumPacketSize(_) => {
                CONNECT | CONNACK
            }
            Self::TopicAlias(_) => PUBLISH,
            Self::UserProperty(..) => u32::MAX,
            Self::AssignedClientIdentifier(_)
            | Self::ServerKeepAlive(_)
            | Self::ResponseInformation(_)
            | Self::MaximumQos(_)
            | Self::RetainAvailable(_)
            | Self::WildcardSubscriptionAvailable(_)
            | Self::SubscriptionIdentifierAvailable(_)
            | Self::SharedSubscriptionAvailable(_) => CONNACK,
        }
    }
}

impl<'p> Coded<'p> for Property<'p> {
    fn read(reader: &mut Reader<'p>) -> Result<Self, PacketError> {
        let before = *reader;
        let id = reader.number()?;
        let id = u8::try_from(id).unwrap_or(u8::MAX);
        let property = match id {
            0x01 => Self::PayloadFormatIndicator(flag(reader, id)?),
            0x02 => Self::MessageExpiryInterval(reader.four()?),
            0x03 => Self::ContentType(reader.text()?),
            0x08 => Self::ResponseTopic(topic(reader)?),
            0x09 => Self::CorrelationData(reader.binary()?),
            0x0B => match reader.number()? {
                0 => return before.fault(Fault::PropertyValue(id)),
                number => Self::SubscriptionIdentifier(number),
            },
            0x11 => Self::SessionExpiryInterval(reader.four()?),
            0x12 => Self::AssignedClientIdentifier(reader.text()?),
            0x13 => Self::ServerKeepAlive(reader.two()?),
            0x15 => Self::AuthenticationMethod(reader.text()?),
            0x16 => Self::AuthenticationData(reader.binary()?),
            0x17 => Self::RequestProblemInformation(flag(reader, id)?),
            0x18 => Self::WillDelayInterval(reader.four()?),
            0x19 => Self::RequestResponseInformation(flag(reader, id)?),
            0x1A => Self::ResponseInformation(reader.text()?),
            0x1C => Self::ServerReference(reader.text()?),
            0x1F => Self::ReasonString(reader.text()?),
            0x21 => match reader.two()? {
                0 => return before.fault(Fault::PropertyValue(id)),
                number => Self::ReceiveMaximum(number),
            },
            0x22 => Self::TopicAliasMaximum(reader.two()?),
            0x23 => match reader.two()? {
                0 => return before.fault(Fault::Alias),
                alias => Self::TopicAlias(alias),
            },
            0x24 => Self::MaximumQos(flag(reader, id)?),
            0x25 => Self::RetainAvailable(flag(reader, id)?),
            0x26 => Self::UserProperty(reader.text()?, reader.text()?),
            0x27 => match reader.four()? {
                0 => return before.fault(Fault::PropertyValue(id)),
                bytes => Self::MaximumPacketSize(bytes),
            },
            0x28 => Self::WildcardSubscriptionAvailable(flag(reader, id)?),
            0x29 => Self::SubscriptionIdentifierAvailable(flag(reader, id)?),
            0x2A => Self::SharedSubscriptionAvailable(flag(reader, id)?),
            _ => return before.fault(Fault::UnknownProperty(id)),
        };
        Ok(property)
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.byte(self.id());
        match *self {
            Self::PayloadFormatIndicator(flag)
            | Self::RequestProblemInformation(flag)
            | Self::RequestResponseInformation(flag)
            | Self::MaximumQos(flag)
            | Self::RetainAvailable(flag)
            | Self::WildcardSubscriptionAvailable(flag)
            | Self::SubscriptionIdentifierAvailable(flag)
            | Self::SharedSubscriptionAvailable(flag) => sink.byte(u8::from(flag)),
            Self::ServerKeepAlive(number)
            | Self::ReceiveMaximum(number)
            | Self::TopicAliasMaximum(number)
            | Self::TopicAlias(number) => sink.two(number),
            Self::MessageExpiryInterval(number)
            | Self::SessionExpiryInterval(number)
            | Self::WillDelayInterval(number)
            | Self::MaximumPacketSize(number) => sink.four(number),
            Self::SubscriptionIdentifier(number) => sink.number(number),
            Self::ContentType(text)
            | Self::ResponseTopic(text)
            | Self::AssignedClientIdentifier(text)
            | Self::AuthenticationMethod(text)
            | Self::ResponseInformation(text)
            | Self::ServerReference(text)
            | Self::ReasonString(text) => sink.text(text),
            Self::CorrelationData(bytes) | Self::AuthenticationData(bytes) => sink.binary(bytes),
            Self::UserProperty(name, value) => {
                sink.text(name);
                sink.text(value);
            }
        }
    }
}

fn flag(reader: &mut Reader<'_>, id: u8) -> Result<bool, PacketError> {
    let before = *reader;
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => before.fault(Fault::PropertyValue(id)),
    }
}

/// Reads a response topic, which has no wildcards [MQTT-3.3.2-14].
fn topic<'p>(reader: &mut Reader<'p>) -> Result<&'p str, PacketError> {
    let before = *reader;
    let text = reader.text()?;
    match Name::within(text, &Limits::WIDEST) {
        Ok(_) => Ok(text),
        Err(error) => before.topic_fault(Fault::Name(error)),
    }
}

const SUBSCRIPTION_IDENTIFIER: u8 = 0x0B;
const AUTHENTICATION_METHOD: u8 = 0x15;
const AUTHENTICATION_DATA: u8 = 0x16;

const CONNECT: Place = 1;
const CONNACK: Place = 1 << 1;
const PUBLISH: Place = 1 << 2;
const PUBACK: Place = 1 << 3;
const PUBREC: Place = 1 << 4;
const PUBREL: Place = 1 << 5;
const PUBCOMP: Place = 1 << 6;
const SUBSCRIBE: Place = 1 << 7;
const SUBACK: Place = 1 << 8;
const UNSUBSCRIBE: Place = 1 << 9;
const UNSUBACK: Place = 1 << 10;
const DISCONNECT: Place = 1 << 11;
const AUTH: Place = 1 << 12;
pub(super) const WILL: Place = 1 << 13;
