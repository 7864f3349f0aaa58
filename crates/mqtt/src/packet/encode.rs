//! Packets to bytes, in the shortest form.

use alloc::vec::Vec;
use core::fmt;

use super::list::{self, Coded, List};
use super::short;
use super::write::{Counter, Sink};
use super::{
    Ack, Connack, Connect, End, Packet, Properties, Publish, Reason, Suback, Subscribe,
    Unsubscribe, Version, Will, kind,
};

/// The reason why a packet was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A text has more than 65,535 bytes, or the packet more than 268,435,455 behind its header.
    TooLong,
    /// The version has no such packet: AUTH or a PUBLISH without topic in 3.1.1, an AUTH with a
    /// reason code and without properties in 5.0.
    NotInVersion,
}

/// Writes a packet behind the bytes of `out`; allocates nothing where these have room.
///
/// Writes what it is given: texts with U+0000, misplaced properties and codes of other packets are
/// for the caller to avoid. A packet that was decoded has none. In 3.1.1, properties, reason codes
/// of acknowledgements and options other than QoS are left out. A CONNECT is written in the version
/// that it states.
///
/// # Errors
/// The packet has no form in the version; `out` is then unchanged.
///
/// # Examples
/// ```
/// use wardgate_mqtt::packet::{Packet, Version, encode};
///
/// let mut out = Vec::with_capacity(2);
/// encode(&Packet::Pingresp, Version::V5, &mut out)?;
/// assert_eq!(out, [0xD0, 0]);
/// # Ok::<(), wardgate_mqtt::packet::EncodeError>(())
/// ```
pub fn encode(packet: &Packet<'_>, version: Version, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    if let Packet::Publish(publish) = packet
        && (version == Version::V5 || publish.topic.is_some())
        && short::publish(publish, version, out)
    {
        return Ok(());
    }
    if !is_in(packet, version) {
        return Err(EncodeError::NotInVersion);
    }
    let mut counter = Counter::default();
    body(packet, version, &mut counter);
    let length = counter.bytes().ok_or(EncodeError::TooLong)?;
    out.reserve(usize::try_from(length).unwrap_or(0).saturating_add(5));
    out.byte(first(packet));
    out.number(length);
    body(packet, version, out);
    Ok(())
}

fn is_in(packet: &Packet<'_>, version: Version) -> bool {
    match packet {
        Packet::Auth(auth) => {
            version == Version::V5
                && (!auth.properties.is_empty() || auth.reason == Reason::SUCCESS)
        }
        Packet::Publish(publish) => version == Version::V5 || publish.topic.is_some(),
        _ => true,
    }
}

/// Returns the first byte of a packet.
#[inline]
fn first(packet: &Packet<'_>) -> u8 {
    let (kind, flags) = match packet {
        Packet::Publish(publish) => (kind::PUBLISH, publish_flags(publish)),
        Packet::Connect(_) => (kind::CONNECT, 0),
        Packet::Connack(_) => (kind::CONNACK, 0),
        Packet::Puback(_) => (kind::PUBACK, 0),
        Packet::Pubrec(_) => (kind::PUBREC, 0),
        Packet::Pubrel(_) => (kind::PUBREL, 2),
        Packet::Pubcomp(_) => (kind::PUBCOMP, 0),
        Packet::Subscribe(_) => (kind::SUBSCRIBE, 2),
        Packet::Suback(_) => (kind::SUBACK, 0),
        Packet::Unsubscribe(_) => (kind::UNSUBSCRIBE, 2),
        Packet::Unsuback(_) => (kind::UNSUBACK, 0),
        Packet::Pingreq => (kind::PINGREQ, 0),
        Packet::Pingresp => (kind::PINGRESP, 0),
        Packet::Disconnect(_) => (kind::DISCONNECT, 0),
        Packet::Auth(_) => (kind::AUTH, 0),
    };
    kind << 4 | flags
}

pub(super) fn publish_flags(publish: &Publish<'_>) -> u8 {
    let qos = publish.delivery.qos().number();
    u8::from(publish.retain) | qos << 1 | u8::from(publish.delivery.is_dup()) << 3
}

#[inline]
fn body(packet: &Packet<'_>, version: Version, sink: &mut impl Sink) {
    match packet {
        Packet::Publish(publish) => put_publish(publish, version, sink),
        Packet::Connect(connect) => put_connect(connect, sink),
        Packet::Connack(connack) => put_connack(connack, version, sink),
        Packet::Puback(ack) | Packet::Pubrec(ack) | Packet::Pubrel(ack) | Packet::Pubcomp(ack) => {
            put_ack(ack, version, sink);
        }
        Packet::Subscribe(subscribe) => put_subscribe(subscribe, version, sink),
        Packet::Unsubscribe(unsubscribe) => put_unsubscribe(unsubscribe, version, sink),
        Packet::Suback(suback) => put_suback(suback, version, sink),
        Packet::Unsuback(unsuback) => {
            let reasons = if version == Version::V5 { unsuback.reasons } else { List::EMPTY };
            put_suback(&Suback { reasons, ..*unsuback }, version, sink);
        }
        Packet::Pingreq | Packet::Pingresp => {}
        Packet::Disconnect(end) if version == Version::V5 => put_end(end, sink),
        Packet::Disconnect(_) => {}
        Packet::Auth(end) => put_end(end, sink),
    }
}

#[inline]
fn put_publish(publish: &Publish<'_>, version: Version, sink: &mut impl Sink) {
    sink.text(publish.topic.map_or("", |topic| topic.text()));
    if let Some(id) = publish.delivery.id() {
        sink.two(id.get());
    }
    put_properties(&publish.properties, version, sink);
    sink.bytes(publish.payload);
}

fn put_connect(connect: &Connect<'_>, sink: &mut impl Sink) {
    sink.text("MQTT");
    sink.byte(connect.version.level());
    let will =
        connect.will.map_or(0, |will| 4 | will.qos.number() << 3 | u8::from(will.retain) << 5);
    let names =
        u8::from(connect.password.is_some()) << 6 | u8::from(connect.user_name.is_some()) << 7;
    sink.byte(u8::from(connect.clean_start) << 1 | will | names);
    sink.two(connect.keep_alive);
    put_properties(&connect.properties, connect.version, sink);
    sink.text(connect.client_id);
    if let Some(Will { topic, payload, properties, .. }) = &connect.will {
        put_properties(properties, connect.version, sink);
        sink.text(topic.text());
        sink.binary(payload);
    }
    connect.user_name.into_iter().for_each(|name| sink.text(name));
    connect.password.into_iter().for_each(|password| sink.binary(password));
}

fn put_connack(connack: &Connack<'_>, version: Version, sink: &mut impl Sink) {
    sink.byte(u8::from(connack.session_present));
    connack.reason.write(sink);
    put_properties(&connack.properties, version, sink);
}

fn put_ack(ack: &Ack<'_>, version: Version, sink: &mut impl Sink) {
    sink.two(ack.id.get());
    if version == Version::V5 {
        put_end(&End { reason: ack.reason, properties: ack.properties }, sink);
    }
}

/// Writes a reason code and properties, without those at the end that may be left out.
fn put_end(end: &End<'_>, sink: &mut impl Sink) {
    let has_properties = !end.properties.is_empty();
    if has_properties || end.reason != Reason::SUCCESS {
        end.reason.write(sink);
        if has_properties {
            put_properties(&end.properties, Version::V5, sink);
        }
    }
}

fn put_subscribe(subscribe: &Subscribe<'_>, version: Version, sink: &mut impl Sink) {
    sink.two(subscribe.id.get());
    put_properties(&subscribe.properties, version, sink);
    match version {
        Version::V5 => list::write(&subscribe.subscriptions, sink),
        Version::V311 => subscribe.subscriptions.iter().for_each(|subscription| {
            subscription.filter.write(sink);
            sink.byte(subscription.qos.number());
        }),
    }
}

fn put_unsubscribe(unsubscribe: &Unsubscribe<'_>, version: Version, sink: &mut impl Sink) {
    sink.two(unsubscribe.id.get());
    put_properties(&unsubscribe.properties, version, sink);
    list::write(&unsubscribe.filters, sink);
}

fn put_suback(suback: &Suback<'_>, version: Version, sink: &mut impl Sink) {
    sink.two(suback.id.get());
    put_properties(&suback.properties, version, sink);
    list::write(&suback.reasons, sink);
}

#[inline]
fn put_properties(properties: &Properties<'_>, version: Version, sink: &mut impl Sink) {
    if version == Version::V311 {
        return;
    }
    if properties.is_empty() {
        return sink.byte(0);
    }
    put_list(properties, sink);
}

/// Writes a list with its length before it.
fn put_list<'p, T: Coded<'p>>(items: &List<'p, T>, sink: &mut impl Sink) {
    let mut counter = Counter::default();
    list::write(items, &mut counter);
    match counter.bytes() {
        Some(bytes) => {
            sink.number(bytes);
            list::write(items, sink);
        }
        None => sink.too_long(),
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "the packet or a text of it is too long",
            Self::NotInVersion => "the version of the protocol has no such packet",
        })
    }
}

impl core::error::Error for EncodeError {}
