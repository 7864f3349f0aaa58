//! The end of a connection, and its cause.

use core::fmt;

use crate::packet::{Fault, PacketError, Reason};

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The side whose bytes or silence are the cause.
    pub side: Side,
    /// The cause.
    pub cause: Cause,
    /// The reason code of 5.0.
    pub reason: Reason,
    /// The offset of the byte that is wrong, or of its packet, among all bytes of the side.
    pub offset: u64,
}

/// A side of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Side {
    Client,
    Server,
    /// The gate itself: policies, time and its host.
    Gate,
}

/// An action that is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the judge")]
pub enum Action {
    Connect,
    Will,
    Publish,
    Subscribe,
}

/// A cause for the end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A packet is wrong by itself.
    Packet(Fault),
    /// The first packet of the client is not CONNECT [MQTT-3.1.0-1].
    NotConnect,
    /// A second CONNECT [MQTT-3.1.0-2].
    SecondConnect,
    /// The first packet of the server is neither CONNACK nor AUTH [MQTT-3.2.0-1].
    NotConnack,
    /// A second CONNACK [MQTT-3.2.0-2].
    SecondConnack,
    /// A packet that only the other side sends.
    WrongSide,
    /// AUTH without an authentication method in CONNECT [MQTT-4.12.0-6] [MQTT-4.12.0-7].
    NoMethod,
    /// A packet other than AUTH before the end of an authentication [MQTT-3.1.2-30].
    Unauthenticated,
    /// A subscription identifier in the PUBLISH of a client [MQTT-3.3.4-6].
    SubscriptionIdentifier,
    /// An alias above the Topic Alias Maximum of the receiver [MQTT-3.3.2-9].
    AliasTooLarge,
    /// An alias that stands for no topic.
    UnknownAlias,
    /// More unacknowledged messages than the Receive Maximum [MQTT-3.3.4-7].
    ReceiveMaximum,
    /// A packet identifier that is in use [MQTT-2.2.1-3].
    IdentifierInUse,
    /// An acknowledgement of nothing that was sent.
    Unasked,
    /// A SUBACK or UNSUBACK has more or fewer reason codes than there were filters.
    ReasonCount,
    /// A packet is larger than its receiver allows.
    TooLarge,
    /// More filters wait for an answer of the broker than may, or more answers for its CONNACK.
    TooManyWaiting,
    /// An action is not allowed.
    Denied(Action),
    /// An action is no longer allowed.
    Withdrawn(Action),
    /// CONNECT did not come in time.
    ConnectTimeout,
    /// The broker did not answer CONNECT in time.
    ConnackTimeout,
    /// The client was silent for one and a half times its keep-alive [MQTT-3.1.2-22].
    KeepAlive,
    /// DISCONNECT.
    Disconnect,
    /// The broker refused the client by its CONNACK.
    Refused,
    /// The network connection has ended, or could not be made.
    Lost,
    /// The host ended it.
    Host,
}

/// A cause with its place in a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub(super) cause: Cause,
    pub(super) reason: Reason,
    /// The offset in the packet.
    pub(super) at: usize,
}

impl Stop {
    pub(super) const fn new(cause: Cause, reason: Reason) -> Self {
        Self { cause, reason, at: 0 }
    }

    /// A protocol error (5.0, section 4.13).
    pub(super) const fn protocol(cause: Cause) -> Self {
        Self::new(cause, Reason::PROTOCOL_ERROR)
    }

    pub(super) const fn denied(action: Action) -> Self {
        Self::new(Cause::Denied(action), Reason::NOT_AUTHORIZED)
    }
}

impl From<PacketError> for Stop {
    fn from(error: PacketError) -> Self {
        Self { cause: Cause::Packet(error.fault), reason: error.reason(), at: error.offset }
    }
}

impl Close {
    /// Returns true if a side ended the connection as the standards foresee.
    #[must_use]
    pub const fn is_regular(&self) -> bool {
        matches!(self.cause, Cause::Disconnect | Cause::Refused | Cause::Lost | Cause::Host)
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Client => "client",
            Side::Server => "broker",
            Side::Gate => return self.cause.fmt(f),
        };
        write!(f, "{side}: {} at byte {}", self.cause, self.offset)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Packet(fault) => return fault.fmt(f),
            Self::NotConnect => "a first packet other than CONNECT",
            Self::SecondConnect => "a second CONNECT",
            Self::NotConnack => "a first packet other than CONNACK and AUTH",
            Self::SecondConnack => "a second CONNACK",
            Self::WrongSide => "a packet that only the other side sends",
            Self::NoMethod => "AUTH without an authentication method",
            Self::Unauthenticated => "a packet before the end of an authentication",
            Self::SubscriptionIdentifier => "a subscription identifier in PUBLISH",
            Self::AliasTooLarge => "a topic alias above the maximum",
            Self::UnknownAlias => "a topic alias that stands for no topic",
            Self::ReceiveMaximum => "more unacknowledged messages than the maximum",
            Self::IdentifierInUse => "a packet identifier that is in use",
            Self::Unasked => "an acknowledgement of nothing",
            Self::ReasonCount => "an acknowledgement with a wrong number of reason codes",
            Self::TooLarge => "a packet larger than its receiver allows",
            Self::TooManyWaiting => "too much that waits for an answer of the broker",
            Self::Denied(action) => return write!(f, "{action} is not allowed"),
            Self::Withdrawn(action) => return write!(f, "{action} is no longer allowed"),
            Self::ConnectTimeout => "no CONNECT in time",
            Self::ConnackTimeout => "no CONNACK in time",
            Self::KeepAlive => "silence for longer than the keep-alive",
            Self::Disconnect => "DISCONNECT",
            Self::Refused => "CONNACK refuses",
            Self::Lost => "the network connection has ended",
            Self::Host => "the gate was told to close",
        };
        f.write_str(text)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::Will => "will",
            Self::Publish => "publish",
            Self::Subscribe => "subscribe",
        })
    }
}
