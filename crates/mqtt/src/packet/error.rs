//! The reasons why bytes are no packet.

use core::fmt;

use super::reason::Reason;
use crate::topic::TopicError;

/// The first fault of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketError {
    /// The kind of the fault.
    pub fault: Fault,
    /// The offset of the byte where it was noticed, from the beginning of the packet; for a topic,
    /// the offset of its first byte.
    pub offset: usize,
}

/// A kind of fault. Statements are those of 5.0 where the numbers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The type of the packet is 0, or 15 in 3.1.1.
    Type,
    /// The flags of the fixed header are reserved [MQTT-2.1.3-1].
    HeaderFlags,
    /// A length has more bytes than four, or than it needs [MQTT-1.5.5-1].
    Length,
    /// The packet is larger than the limit.
    TooLarge,
    /// A field runs past the end of the packet, or of the properties.
    Short,
    /// Bytes follow the last field.
    Trailing,
    /// A text is not UTF-8 [MQTT-1.5.4-1].
    Utf8,
    /// A text has U+0000 [MQTT-1.5.4-2].
    Nul,
    /// A packet identifier is zero [MQTT-2.2.1-3].
    PacketId,
    /// A quality of service is 3 [MQTT-3.3.1-4].
    Qos,
    /// A PUBLISH of QoS 0 has the DUP flag [MQTT-3.3.1-2].
    Dup,
    /// The name of the protocol is not `MQTT` [MQTT-3.1.2-1].
    ProtocolName,
    /// The protocol level is not 4 or 5 [MQTT-3.1.2-2].
    ProtocolLevel,
    /// The reserved flag of CONNECT is set [MQTT-3.1.2-3].
    ConnectFlags,
    /// Will QoS or will retain are set without a will [MQTT-3.1.2-11].
    WillFlags,
    /// A password without user name, in 3.1.1 [MQTT-3.1.2-22].
    PasswordAlone,
    /// An empty client id without clean session, in 3.1.1 [MQTT-3.1.3-7].
    ClientId,
    /// Reserved flags of CONNACK are set, or a session is present with a refusal [MQTT-3.2.2-6].
    ConnackFlags,
    /// A reason code is not one of the packet.
    ReasonCode(u8),
    /// A topic name is wrong.
    Name(TopicError),
    /// A topic filter is wrong.
    Filter(TopicError),
    /// A PUBLISH has neither topic nor alias.
    NoTopic,
    /// A property is unknown.
    UnknownProperty(u8),
    /// A property is not one of the packet.
    MisplacedProperty(u8),
    /// A property occurs twice.
    RepeatedProperty(u8),
    /// The value of a property is not one of those allowed.
    PropertyValue(u8),
    /// A topic alias is zero [MQTT-3.3.2-8].
    Alias,
    /// The authentication method is missing.
    NoMethod,
    /// More user properties, or larger ones, than the limit.
    UserProperties,
    /// A SUBSCRIBE or UNSUBSCRIBE has no filter, or a SUBACK no reason code [MQTT-3.8.3-2].
    Empty,
    /// More filters than the limit.
    TooManyFilters,
    /// The options of a subscription have reserved bits [MQTT-3.8.3-5].
    Options,
    /// The retain handling of a subscription is 3 (section 3.8.3.1).
    RetainHandling,
    /// No Local for a shared subscription [MQTT-3.8.3-4].
    NoLocalShared,
}

impl PacketError {
    /// Returns the reason code of 5.0 to close the connection with. For a CONNECT of 3.1.1, 0x84
    /// and 0x85 stand for the return codes 1 and 2, and others for closing without one.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self.fault {
            Fault::TooLarge => Reason::PACKET_TOO_LARGE,
            Fault::ProtocolName | Fault::ProtocolLevel => Reason::UNSUPPORTED_PROTOCOL_VERSION,
            Fault::ClientId => Reason::CLIENT_ID_NOT_VALID,
            Fault::Name(_) => Reason::TOPIC_NAME_INVALID,
            Fault::Filter(_) => Reason::TOPIC_FILTER_INVALID,
            Fault::Alias => Reason::TOPIC_ALIAS_INVALID,
            Fault::UserProperties | Fault::TooManyFilters => Reason::QUOTA_EXCEEDED,
            Fault::PacketId
            | Fault::NoTopic
            | Fault::RepeatedProperty(_)
            | Fault::PropertyValue(_)
            | Fault::NoMethod
            | Fault::Empty
            | Fault::NoLocalShared
            | Fault::RetainHandling
            | Fault::ReasonCode(_)
            | Fault::ConnackFlags => Reason::PROTOCOL_ERROR,
            Fault::Type
            | Fault::HeaderFlags
            | Fault::Length
            | Fault::Short
            | Fault::Trailing
            | Fault::Utf8
            | Fault::Nul
            | Fault::Qos
            | Fault::Dup
            | Fault::ConnectFlags
            | Fault::WillFlags
            | Fault::PasswordAlone
            | Fault::UnknownProperty(_)
            | Fault::MisplacedProperty(_)
            | Fault::Options => Reason::MALFORMED_PACKET,
        }
    }
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Name(error) => write!(f, "topic name from byte {} on: {error}", self.offset),
            Fault::Filter(error) => write!(f, "topic filter from byte {} on: {error}", self.offset),
            fault => write!(f, "{fault} at byte {}", self.offset),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Type => "unknown type of packet",
            Self::HeaderFlags => "reserved flags in the fixed header",
            Self::Length => "a length that is too long or not in its shortest form",
            Self::TooLarge => "a packet larger than the limit",
            Self::Short => "a field that runs past the end",
            Self::Trailing => "bytes after the last field",
            Self::Utf8 => "a text that is not UTF-8",
            Self::Nul => "U+0000 in a text",
            Self::PacketId => "packet identifier 0",
            Self::Qos => "QoS 3",
            Self::Dup => "DUP with QoS 0",
            Self::ProtocolName => "a protocol other than `MQTT`",
            Self::ProtocolLevel => "a protocol level other than 4 and 5",
            Self::ConnectFlags => "the reserved flag of CONNECT",
            Self::WillFlags => "flags of a will without a will",
            Self::PasswordAlone => "a password without user name",
            Self::ClientId => "an empty client id without clean session",
            Self::ConnackFlags => "reserved flags of CONNACK, or a session in a refusal",
            Self::ReasonCode(code) => return write!(f, "reason code 0x{code:02x}"),
            Self::Name(error) | Self::Filter(error) => return error.fmt(f),
            Self::NoTopic => "neither topic nor topic alias",
            Self::UnknownProperty(id) => return write!(f, "unknown property 0x{id:02x}"),
            Self::MisplacedProperty(id) => return write!(f, "misplaced property 0x{id:02x}"),
            Self::RepeatedProperty(id) => return write!(f, "property 0x{id:02x} a second time"),
            Self::PropertyValue(id) => return write!(f, "wrong value of property 0x{id:02x}"),
            Self::Alias => "topic alias 0",
            Self::NoMethod => "no authentication method",
            Self::UserProperties => "more user properties than the limit",
            Self::Empty => "an empty list",
            Self::TooManyFilters => "more filters than the limit",
            Self::Options => "reserved options of a subscription",
            Self::RetainHandling => "retain handling 3",
            Self::NoLocalShared => "No Local for a shared subscription",
        };
        f.write_str(text)
    }
}

impl core::error::Error for PacketError {}
