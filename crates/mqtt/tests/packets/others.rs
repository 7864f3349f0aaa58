//! Packets beside the codec of others, `mqttbytes`: what both read must be the same, and each other
//! difference is listed with the statement that decides it.

use std::collections::BTreeMap;
use std::panic;

use bytes::BytesMut;
use fastrand::Rng;
use mqttbytes::{v4, v5};
use wardgate_mqtt::Limits;
use wardgate_mqtt::packet::{Decoded, List, Packet, Property, Version, decode};

use super::{VERSIONS, encoded, generate};

#[test]
fn others_read_the_same() {
    let mut differences = BTreeMap::new();
    for (version, seed) in VERSIONS.into_iter().zip(11..) {
        let mut random = Rng::with_seed(seed);
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            generate::packet(&mut random, version, &mut |packet| bytes = encoded(version, &packet));
            compare(version, &bytes, &mut differences);
            super::random::change(&mut random, &mut bytes);
            compare(version, &bytes, &mut differences);
        }
    }
    for (difference, example) in &differences {
        let is_listed = LISTED.iter().any(|(listed, _)| listed == difference);
        assert!(is_listed, "{difference} {example}");
    }
    for (listed, _) in LISTED {
        assert!(differences.contains_key(*listed), "{listed} does not occur any more");
    }
}

fn compare(version: Version, bytes: &[u8], differences: &mut BTreeMap<String, String>) {
    let ours = decode(version, bytes, &Limits::WIDEST);
    let theirs = panic::catch_unwind(|| again(version, bytes)).unwrap_or(Err("panic".to_owned()));
    let difference = match (ours, theirs) {
        (Ok(Decoded::Whole(packet, _)), Ok(back)) => {
            let same = matches!(
                decode(version, &back, &Limits::WIDEST),
                Ok(Decoded::Whole(again, _)) if unordered(again) == unordered(packet)
            );
            if same { return } else { format!("{version:?} {} otherwise", kind(&packet)) }
        }
        (Ok(Decoded::Whole(packet, _)), Err(error)) => {
            format!("{version:?} {} theirs: {error}", kind(&packet))
        }
        (Err(error), Ok(_)) => format!("{version:?} ours: {}", name(&error.fault)),
        (Ok(Decoded::More(_)), Ok(_)) => format!("{version:?} ours: more"),
        _ => return,
    };
    differences.entry(difference).or_insert_with(|| format!("{bytes:02x?}"));
}

fn kind(packet: &Packet<'_>) -> String {
    name(packet)
}

/// Returns the name of a variant.
fn name(variant: &impl std::fmt::Debug) -> String {
    let text = format!("{variant:?}");
    text.split(['(', ' ']).next().unwrap().to_owned()
}

/// Returns a packet without its properties, and these in an order of their own: the others write
/// them in the order of the standard.
fn unordered(packet: Packet<'_>) -> (String, Vec<String>, Vec<String>) {
    let mut packet = packet;
    let mut of_will = List::EMPTY;
    let properties = match &mut packet {
        Packet::Connect(it) => {
            if let Some(will) = &mut it.will {
                of_will = std::mem::replace(&mut will.properties, List::EMPTY);
            }
            &mut it.properties
        }
        Packet::Connack(it) => &mut it.properties,
        Packet::Publish(it) => &mut it.properties,
        Packet::Puback(it) | Packet::Pubrec(it) | Packet::Pubrel(it) | Packet::Pubcomp(it) => {
            &mut it.properties
        }
        Packet::Subscribe(it) => &mut it.properties,
        Packet::Suback(it) | Packet::Unsuback(it) => &mut it.properties,
        Packet::Unsubscribe(it) => &mut it.properties,
        Packet::Disconnect(it) | Packet::Auth(it) => &mut it.properties,
        Packet::Pingreq | Packet::Pingresp => return (name(&packet), Vec::new(), Vec::new()),
    };
    let properties = std::mem::replace(properties, List::EMPTY);
    let sorted = |properties: List<'_, Property<'_>>| {
        let mut texts: Vec<_> = properties.iter().map(|it| format!("{it:?}")).collect();
        texts.sort();
        texts
    };
    (format!("{packet:?}"), sorted(properties), sorted(of_will))
}

/// Reads a packet by the codec of others and writes it by that.
fn again(version: Version, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut stream = BytesMut::from(bytes);
    let mut out = BytesMut::new();
    let said = |error: mqttbytes::Error| format!("{error:?}");
    match version {
        Version::V311 => match v4::read(&mut stream, MOST).map_err(said)? {
            v4::Packet::Connect(packet) => packet.write(&mut out),
            v4::Packet::ConnAck(packet) => packet.write(&mut out),
            v4::Packet::Publish(packet) => packet.write(&mut out),
            v4::Packet::PubAck(packet) => packet.write(&mut out),
            v4::Packet::PubRec(packet) => packet.write(&mut out),
            v4::Packet::PubRel(packet) => packet.write(&mut out),
            v4::Packet::PubComp(packet) => packet.write(&mut out),
            v4::Packet::Subscribe(packet) => packet.write(&mut out),
            v4::Packet::SubAck(packet) => packet.write(&mut out),
            v4::Packet::Unsubscribe(packet) => packet.write(&mut out),
            v4::Packet::UnsubAck(packet) => packet.write(&mut out),
            v4::Packet::PingReq => v4::PingReq.write(&mut out),
            v4::Packet::PingResp => v4::PingResp.write(&mut out),
            v4::Packet::Disconnect => v4::Disconnect.write(&mut out),
        },
        Version::V5 => match v5::read(&mut stream, MOST).map_err(said)? {
            v5::Packet::Connect(packet) => packet.write(&mut out),
            v5::Packet::ConnAck(packet) => packet.write(&mut out),
            v5::Packet::Publish(packet) => packet.write(&mut out),
            v5::Packet::PubAck(packet) => packet.write(&mut out),
            v5::Packet::PubRec(packet) => packet.write(&mut out),
            v5::Packet::PubRel(packet) => packet.write(&mut out),
            v5::Packet::PubComp(packet) => packet.write(&mut out),
            v5::Packet::Subscribe(packet) => packet.write(&mut out),
            v5::Packet::SubAck(packet) => packet.write(&mut out),
            v5::Packet::Unsubscribe(packet) => packet.write(&mut out),
            v5::Packet::UnsubAck(packet) => packet.write(&mut out),
            v5::Packet::PingReq => v5::PingReq.write(&mut out),
            v5::Packet::PingResp => v5::PingResp.write(&mut out),
            v5::Packet::Disconnect(packet) => packet.write(&mut out),
        },
    }
    .map_err(said)?;
    Ok(out.to_vec())
}

/// The differences, and what decides them.
const LISTED: &[(&str, &str)] = &[
    // They refuse, or read something else.
    ("V311 Connect otherwise", "3.1.3.5: a password may be empty, and is then there"),
    ("V5 Connect otherwise", "3.1.3.6: a password may be alone or empty, and is then there"),
    ("V311 Connect theirs: TopicNotUtf8", "3.1.3.5: a password is binary data"),
    ("V5 Connect theirs: TopicNotUtf8", "3.1.3.6: a password is binary data"),
    ("V5 Auth theirs: InvalidPacketType(15)", "3.15: AUTH is a packet"),
    ("V5 Connack otherwise", "3.2.2.3.1: they count no byte for the length of no properties"),
    ("V5 Disconnect theirs: InsufficientBytes(1)", "3.14.2.2.1: no length of properties is needed"),
    ("V5 Disconnect theirs: PayloadRequired", "3.14.2.1: no reason code is needed"),
    ("V5 Publish otherwise", "2.2.2.2: properties end where their length says"),
    // They accept.
    ("V311 ours: ClientId", "MQTT-3.1.3-7"),
    ("V311 ours: ConnackFlags", "MQTT-3.2.2-4"),
    ("V311 ours: Dup", "MQTT-3.3.1-2"),
    ("V311 ours: Empty", "MQTT-3.8.3-3"),
    ("V311 ours: Filter", "MQTT-4.7.1-2, MQTT-4.7.1-3"),
    ("V311 ours: HeaderFlags", "MQTT-2.2.2-1, MQTT-2.2.2-2"),
    ("V311 ours: Length", "2.2.3; the shortest form is a bound of ours in 3.1.1"),
    ("V311 ours: Name", "MQTT-3.3.2-2, MQTT-4.7.3-1"),
    ("V311 ours: Nul", "MQTT-1.5.3-2"),
    ("V311 ours: Options", "MQTT-3-8.3-4"),
    ("V311 ours: PacketId", "MQTT-2.3.1-1"),
    ("V311 ours: Trailing", "2.2.3: the remaining length is that of the fields"),
    ("V5 ours: ConnackFlags", "MQTT-3.2.2-1, MQTT-3.2.2-6"),
    ("V5 ours: ConnectFlags", "MQTT-3.1.2-3"),
    ("V5 ours: Filter", "MQTT-4.7.1-2"),
    ("V5 ours: HeaderFlags", "MQTT-2.1.3-1"),
    ("V5 ours: Length", "MQTT-1.5.5-1"),
    ("V5 ours: NoTopic", "3.3.2.1: a topic of no length needs an alias"),
    ("V5 ours: Nul", "MQTT-1.5.4-2"),
    ("V5 ours: Options", "MQTT-3.8.3-5"),
    ("V5 ours: PacketId", "MQTT-2.2.1-3"),
    ("V5 ours: PropertyValue", "3.2.2.3: a flag is 0 or 1"),
    ("V5 ours: Short", "2.2.2.2: properties end where their length says"),
    ("V5 ours: Trailing", "2.1.4: the remaining length is that of the fields"),
];

const MOST: usize = 1 << 20;
