//! Packets of MQTT 3.1.1 and 5.0: borrowed from the bytes that hold them, and written to bytes.
//!
//! Decoding allocates nothing and copies nothing. A packet that was decoded is valid by itself:
//! every statement of the standards that concerns one packet holds for it. What depends on the
//! connection (order, direction, aliases, numbers in use) is for the protocol machine.
//!
//! Lists (properties, filters) are checked once and read again from the bytes when they are
//! iterated over; a program that makes a packet gives a slice instead.

mod decode;
mod encode;
mod error;
mod list;
mod property;
mod read;
mod reason;
mod short;
mod write;

use core::num::NonZeroU16;

use crate::topic::{Filter, Name};
pub use decode::decode;
pub use encode::{EncodeError, encode};
pub use error::{Fault, PacketError};
pub use list::{Iter, List};
pub use property::Property;
pub use reason::Reason;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// MQTT 3.1.1, protocol level 4.
    V311,
    /// MQTT 5.0, protocol level 5.
    V5,
}

/// The result of decoding the front of some bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decoded<'p> {
    /// A packet, and the number of bytes that it has.
    Whole(Packet<'p>, usize),
    /// The bytes are the beginning of a packet that has at least that many bytes.
    More(usize),
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the standards")]
pub enum Packet<'p> {
    Connect(Connect<'p>),
    Connack(Connack<'p>),
    Publish(Publish<'p>),
    Puback(Ack<'p>),
    Pubrec(Ack<'p>),
    Pubrel(Ack<'p>),
    Pubcomp(Ack<'p>),
    Subscribe(Subscribe<'p>),
    Suback(Suback<'p>),
    Unsubscribe(Unsubscribe<'p>),
    Unsuback(Suback<'p>),
    Pingreq,
    Pingresp,
    Disconnect(End<'p>),
    Auth(End<'p>),
}

/// The properties of a packet; empty in 3.1.1.
pub type Properties<'p> = List<'p, Property<'p>>;

/// CONNECT: section 3.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connect<'p> {
    /// The version that the client speaks.
    pub version: Version,
    /// Clean Start, in 3.1.1 Clean Session.
    pub clean_start: bool,
    /// The keep-alive in seconds; zero for none.
    pub keep_alive: u16,
    /// The properties.
    pub properties: Properties<'p>,
    /// The client id, which may be empty.
    pub client_id: &'p str,
    /// The will.
    pub will: Option<Will<'p>>,
    /// The user name.
    pub user_name: Option<&'p str>,
    /// The password.
    pub password: Option<&'p [u8]>,
}

/// The message that a server publishes when a client is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Will<'p> {
    /// The topic.
    pub topic: Name<'p>,
    /// The payload.
    pub payload: &'p [u8],
    /// The quality of service.
    pub qos: Qos,
    /// The message is to be retained.
    pub retain: bool,
    /// The properties.
    pub properties: Properties<'p>,
}

/// CONNACK: section 3.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connack<'p> {
    /// The server has a session of the client.
    pub session_present: bool,
    /// The reason code, in 3.1.1 the return code.
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'p>,
}

/// PUBLISH: section 3.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Publish<'p> {
    /// The topic; in 5.0 it may be absent where a topic alias is among the properties.
    pub topic: Option<Name<'p>>,
    /// The quality of service, with what belongs to it.
    pub delivery: Delivery,
    /// The message is to be retained, or was.
    pub retain: bool,
    /// The properties.
    pub properties: Properties<'p>,
    /// The payload.
    pub payload: &'p [u8],
}

/// The quality of service of a message, with its packet identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// QoS 0.
    AtMostOnce,
    /// QoS 1.
    AtLeastOnce {
        /// The packet identifier.
        id: NonZeroU16,
        /// The packet was sent before.
        dup: bool,
    },
    /// QoS 2.
    ExactlyOnce {
        /// The packet identifier.
        id: NonZeroU16,
        /// The packet was sent before.
        dup: bool,
    },
}

/// PUBACK, PUBREC, PUBREL or PUBCOMP: sections 3.4 to 3.7.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack<'p> {
    /// The packet identifier.
    pub id: NonZeroU16,
    /// The reason code; success in 3.1.1.
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'p>,
}

/// SUBSCRIBE: section 3.8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subscribe<'p> {
    /// The packet identifier.
    pub id: NonZeroU16,
    /// The properties.
    pub properties: Properties<'p>,
    /// The subscriptions, of which there is at least one.
    pub subscriptions: List<'p, Subscription<'p>>,
}

/// A filter of a SUBSCRIBE with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription<'p> {
    /// The filter.
    pub filter: Filter<'p>,
    /// The highest quality of service of deliveries.
    pub qos: Qos,
    /// Messages of the same client are not delivered; false in 3.1.1.
    pub no_local: bool,
    /// Deliveries have the retain flag of the publisher; false in 3.1.1.
    pub retain_as_published: bool,
    /// What happens to retained messages.
    pub retain_handling: RetainHandling,
}

/// The choice when retained messages are sent for a subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetainHandling {
    /// At each SUBSCRIBE; always so in 3.1.1.
    #[default]
    Send,
    /// Only if the subscription is new.
    SendIfNew,
    /// Never.
    DoNotSend,
}

/// SUBACK or UNSUBACK: sections 3.9 and 3.11.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suback<'p> {
    /// The packet identifier.
    pub id: NonZeroU16,
    /// The properties.
    pub properties: Properties<'p>,
    /// A reason code for each filter; an UNSUBACK of 3.1.1 has none.
    pub reasons: List<'p, Reason>,
}

/// UNSUBSCRIBE: section 3.10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unsubscribe<'p> {
    /// The packet identifier.
    pub id: NonZeroU16,
    /// The properties.
    pub properties: Properties<'p>,
    /// The filters, of which there is at least one.
    pub filters: List<'p, Filter<'p>>,
}

/// DISCONNECT or AUTH: sections 3.14 and 3.15.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End<'p> {
    /// The reason code; success in 3.1.1.
    pub reason: Reason,
    /// The properties.
    pub properties: Properties<'p>,
}

/// A quality of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Qos {
    /// QoS 0.
    #[default]
    AtMostOnce,
    /// QoS 1.
    AtLeastOnce,
    /// QoS 2.
    ExactlyOnce,
}

impl Ack<'_> {
    /// Makes an acknowledgement without properties.
    pub(crate) const fn of(id: NonZeroU16, reason: Reason) -> Self {
        Self { id, reason, properties: Properties::EMPTY }
    }
}

impl Version {
    /// Returns the protocol level of CONNECT.
    #[must_use]
    pub const fn level(self) -> u8 {
        match self {
            Self::V311 => 4,
            Self::V5 => 5,
        }
    }
}

impl Delivery {
    /// Returns the quality of service.
    #[must_use]
    pub const fn qos(self) -> Qos {
        match self {
            Self::AtMostOnce => Qos::AtMostOnce,
            Self::AtLeastOnce { .. } => Qos::AtLeastOnce,
            Self::ExactlyOnce { .. } => Qos::ExactlyOnce,
        }
    }

    /// Returns true if the packet was sent before.
    #[must_use]
    pub const fn is_dup(self) -> bool {
        match self {
            Self::AtMostOnce => false,
            Self::AtLeastOnce { dup, .. } | Self::ExactlyOnce { dup, .. } => dup,
        }
    }

    /// Returns the packet identifier.
    #[must_use]
    pub const fn id(self) -> Option<NonZeroU16> {
        match self {
            Self::AtMostOnce => None,
            Self::AtLeastOnce { id, .. } | Self::ExactlyOnce { id, .. } => Some(id),
        }
    }
}

impl Qos {
    /// Returns the quality of service with that number.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::AtMostOnce),
            1 => Some(Self::AtLeastOnce),
            2 => Some(Self::ExactlyOnce),
            _ => None,
        }
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::AtMostOnce => 0,
            Self::AtLeastOnce => 1,
            Self::ExactlyOnce => 2,
        }
    }
}

/// The types of packets, as in the upper half of the first byte.
mod kind {
    pub(super) const CONNECT: u8 = 1;
    pub(super) const CONNACK: u8 = 2;
    pub(super) const PUBLISH: u8 = 3;
    pub(super) const PUBACK: u8 = 4;
    pub(super) const PUBREC: u8 = 5;
    pub(super) const PUBREL: u8 = 6;
    pub(super) const PUBCOMP: u8 = 7;
    pub(super) const SUBSCRIBE: u8 = 8;
    pub(super) const SUBACK: u8 = 9;
    pub(super) const UNSUBSCRIBE: u8 = 10;
    pub(super) const UNSUBACK: u8 = 11;
    pub(super) const PINGREQ: u8 = 12;
    pub(super) const PINGRESP: u8 = 13;
    pub(super) const DISCONNECT: u8 = 14;
    pub(super) const AUTH: u8 = 15;
}
