//! Generated packets, valid in a version.

use std::num::NonZeroU16;

use fastrand::Rng;
use wardgate_mqtt::packet::{
    Ack, Connack, Connect, Delivery, End, List, Packet, Property, Publish, Qos, Reason,
    RetainHandling, Suback, Subscribe, Subscription, Unsubscribe, Version, Will,
};
use wardgate_mqtt::{Filter, Name};

/// Calls `each` with a random packet.
pub(crate) fn packet(random: &mut Rng, version: Version, each: &mut dyn FnMut(Packet<'_>)) {
    let kinds = if version == Version::V5 { 15 } else { 14 };
    let kind = random.u8(1..=kinds);
    let properties = properties(random, kind, version);
    let will_properties = self::properties(random, 16, version);
    let count = random.usize(1..6);
    let subscriptions: Vec<_> = (0..count).map(|_| subscription(random, version)).collect();
    let filters: Vec<_> = (0..count).map(|_| filter(random)).collect();
    let reasons: Vec<_> = (0..count).map(|_| reason(random, kind, version)).collect();
    let id = NonZeroU16::new(random.u16(1..)).unwrap();
    let reason = reason(random, kind, version);
    let properties = List::of(&properties);
    let ack = Ack { id, reason, properties };
    let reasons = if kind == 11 && version == Version::V311 { &[] } else { &*reasons };
    let suback = Suback { id, properties, reasons: List::of(reasons) };
    let end = End { reason, properties };
    each(match kind {
        1 => Packet::Connect(connect(random, version, properties, List::of(&will_properties))),
        2 => {
            let session_present = reason == Reason::SUCCESS && random.bool();
            Packet::Connack(Connack { session_present, reason, properties })
        }
        3 => Packet::Publish(publish(random, id, properties)),
        4 => Packet::Puback(ack),
        5 => Packet::Pubrec(ack),
        6 => Packet::Pubrel(ack),
        7 => Packet::Pubcomp(ack),
        8 => {
            Packet::Subscribe(Subscribe { id, properties, subscriptions: List::of(&subscriptions) })
        }
        9 => Packet::Suback(suback),
        10 => Packet::Unsubscribe(Unsubscribe { id, properties, filters: List::of(&filters) }),
        11 => Packet::Unsuback(suback),
        12 => Packet::Pingreq,
        13 => Packet::Pingresp,
        14 => Packet::Disconnect(end),
        _ => Packet::Auth(end),
    });
}

fn connect<'p>(
    random: &mut Rng,
    version: Version,
    properties: List<'p, Property<'p>>,
    will_properties: List<'p, Property<'p>>,
) -> Connect<'p> {
    let clean_start = random.bool();
    let user_name = random.bool().then(|| text(random));
    let may_have_password = version == Version::V5 || user_name.is_some();
    Connect {
        version,
        clean_start,
        keep_alive: random.u16(..),
        properties,
        client_id: if clean_start || version == Version::V5 { text(random) } else { "client" },
        will: random.bool().then(|| Will {
            topic: name(random),
            payload: bytes(random),
            qos: qos(random),
            retain: random.bool(),
            properties: will_properties,
        }),
        user_name,
        password: (may_have_password && random.bool()).then(|| bytes(random)),
    }
}

fn publish<'p>(
    random: &mut Rng,
    id: NonZeroU16,
    properties: List<'p, Property<'p>>,
) -> Publish<'p> {
    let dup = random.bool();
    let has_alias = properties.iter().any(|property| matches!(property, Property::TopicAlias(_)));
    Publish {
        topic: (!has_alias || random.bool()).then(|| name(random)),
        delivery: match qos(random) {
            Qos::AtMostOnce => Delivery::AtMostOnce,
            Qos::AtLeastOnce => Delivery::AtLeastOnce { id, dup },
            Qos::ExactlyOnce => Delivery::ExactlyOnce { id, dup },
        },
        retain: random.bool(),
        properties,
        payload: bytes(random),
    }
}

fn subscription(random: &mut Rng, version: Version) -> Subscription<'static> {
    let (filter, qos) = (filter(random), qos(random));
    let plain = Subscription {
        filter,
        qos,
        no_local: false,
        retain_as_published: false,
        retain_handling: RetainHandling::Send,
    };
    if version == Version::V311 {
        return plain;
    }
    let handlings = [RetainHandling::Send, RetainHandling::SendIfNew, RetainHandling::DoNotSend];
    Subscription {
        no_local: filter.group().is_none() && random.bool(),
        retain_as_published: random.bool(),
        retain_handling: handlings[random.usize(..3)],
        ..plain
    }
}

/// Makes properties for a type of packet, and for a will where it is 16.
fn properties(random: &mut Rng, kind: u8, version: Version) -> Vec<Property<'static>> {
    let mut chosen = Vec::new();
    if version == Version::V311 {
        return chosen;
    }
    let places = |ids: &[u8]| ids.contains(&kind);
    let all = [
        (places(&[3, 16]), Property::PayloadFormatIndicator(random.bool())),
        (places(&[3, 16]), Property::MessageExpiryInterval(random.u32(..))),
        (places(&[3, 16]), Property::ContentType(text(random))),
        (places(&[3, 16]), Property::ResponseTopic(name(random).text())),
        (places(&[3, 16]), Property::CorrelationData(bytes(random))),
        (places(&[3, 8]), Property::SubscriptionIdentifier(random.u32(1..=268_435_455))),
        (places(&[3]), Property::SubscriptionIdentifier(random.u32(1..=300))),
        (places(&[1, 2, 14]), Property::SessionExpiryInterval(random.u32(..))),
        (places(&[2]), Property::AssignedClientIdentifier(text(random))),
        (places(&[2]), Property::ServerKeepAlive(random.u16(..))),
        (places(&[1]), Property::RequestProblemInformation(random.bool())),
        (places(&[16]), Property::WillDelayInterval(random.u32(..))),
        (places(&[1]), Property::RequestResponseInformation(random.bool())),
        (places(&[2]), Property::ResponseInformation(text(random))),
        (places(&[2, 14]), Property::ServerReference(text(random))),
        (places(&[2, 4, 5, 6, 7, 9, 11, 14, 15]), Property::ReasonString(text(random))),
        (places(&[1, 2]), Property::ReceiveMaximum(random.u16(1..))),
        (places(&[1, 2]), Property::TopicAliasMaximum(random.u16(..))),
        (places(&[3]), Property::TopicAlias(random.u16(1..))),
        (places(&[2]), Property::MaximumQos(random.bool())),
        (places(&[2]), Property::RetainAvailable(random.bool())),
        (true, Property::UserProperty(text(random), text(random))),
        (true, Property::UserProperty(text(random), text(random))),
        (places(&[1, 2]), Property::MaximumPacketSize(random.u32(1..))),
        (places(&[2]), Property::WildcardSubscriptionAvailable(random.bool())),
        (places(&[2]), Property::SubscriptionIdentifierAvailable(random.bool())),
        (places(&[2]), Property::SharedSubscriptionAvailable(random.bool())),
    ];
    let rate = random.u32(0..4);
    for (_, property) in all.into_iter().filter(|(has_place, _)| *has_place) {
        if random.u32(0..3) < rate {
            chosen.push(property);
        }
    }
    let may_have_method = places(&[1, 2]) && random.bool();
    if may_have_method || kind == 15 {
        chosen.push(Property::AuthenticationMethod(text(random)));
        if random.bool() {
            chosen.push(Property::AuthenticationData(bytes(random)));
        }
    }
    random.shuffle(&mut chosen);
    chosen
}

fn reason(random: &mut Rng, kind: u8, version: Version) -> Reason {
    let codes: &[u8] = match (kind, version) {
        (2, Version::V311) => &[0, 1, 2, 3, 4, 5],
        (9, Version::V311) => &[0, 1, 2, 0x80],
        (_, Version::V311) => &[0],
        (2, _) => &[0, 0x80, 0x81, 0x84, 0x87, 0x8A, 0x8C, 0x90, 0x97, 0x99, 0x9D, 0x9F],
        (4 | 5, _) => &[0, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99],
        (6 | 7, _) => &[0, 0x92],
        (9, _) => &[0, 1, 2, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2],
        (11, _) => &[0, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91],
        (14, _) => &[0, 4, 0x80, 0x82, 0x87, 0x8B, 0x8D, 0x93, 0x98, 0xA2],
        (15, _) => &[0, 0x18, 0x19],
        _ => &[0],
    };
    Reason(codes[random.usize(..codes.len())])
}

fn qos(random: &mut Rng) -> Qos {
    Qos::of(random.u8(0..3)).unwrap()
}

fn text(random: &mut Rng) -> &'static str {
    ["", "a", "client-7", "é\u{1F600}", "a longer text with some words in it"][random.usize(..5)]
}

fn bytes(random: &mut Rng) -> &'static [u8] {
    [b"".as_slice(), b"\0", b"\xff\xfe", &[7; 130], b"payload"][random.usize(..5)]
}

fn name(random: &mut Rng) -> Name<'static> {
    Name::new(["a", "/", "a/b/c", "$SYS/x", "é/\u{1F600}"][random.usize(..5)]).unwrap()
}

fn filter(random: &mut Rng) -> Filter<'static> {
    let texts = ["a", "+", "#", "a/+/#", "$share/group/a/#", "$SYS/+", "$share/g/$queue/x"];
    Filter::new(texts[random.usize(..texts.len())]).unwrap()
}
