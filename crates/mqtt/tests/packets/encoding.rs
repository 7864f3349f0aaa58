//! What is written for packets that a program makes.

use std::num::NonZeroU16;

use wardgate_mqtt::Name;
use wardgate_mqtt::packet::{
    Ack, Connack, Delivery, EncodeError, End, List, Packet, Properties, Property, Publish, Reason,
    Suback, Version, encode,
};

use super::encoded;

fn publish<'p>(topic: Option<Name<'p>>, payload: &'p [u8]) -> Packet<'p> {
    Packet::Publish(Publish {
        topic,
        delivery: Delivery::AtMostOnce,
        retain: false,
        properties: Properties::EMPTY,
        payload,
    })
}

#[test]
fn a_buffer_with_room_is_not_moved() {
    let packet = publish(Some(Name::new("a/b").unwrap()), &[7; 100]);
    for version in [Version::V311, Version::V5] {
        let bytes = encoded(version, &packet);
        let mut out = Vec::with_capacity(1 + bytes.len() + 5);
        out.push(0xAA);
        let (place, capacity) = (out.as_ptr(), out.capacity());
        encode(&packet, version, &mut out).unwrap();
        assert_eq!((out.as_ptr(), out.capacity()), (place, capacity));
        assert_eq!((out[0], &out[1..]), (0xAA, &*bytes));
    }
}

#[test]
fn what_has_no_form_is_not_written() {
    let check = |packet: &Packet<'_>, version, expected| {
        let mut out = vec![1, 2, 3];
        assert_eq!(encode(packet, version, &mut out), Err(expected), "{packet:?}");
        assert_eq!(out, [1, 2, 3]);
    };
    let auth = |reason, properties| Packet::Auth(End { reason, properties });
    check(&auth(Reason::SUCCESS, List::EMPTY), Version::V311, EncodeError::NotInVersion);
    let alone = auth(Reason::CONTINUE_AUTHENTICATION, List::EMPTY);
    check(&alone, Version::V5, EncodeError::NotInVersion);
    check(&publish(None, b""), Version::V311, EncodeError::NotInVersion);
    let long = "a".repeat(65_536);
    let connack = |property: &[Property<'_>], expected: Option<EncodeError>| {
        let (reason, properties) = (Reason::NOT_AUTHORIZED, List::of(property));
        let packet = Packet::Connack(Connack { session_present: false, reason, properties });
        match expected {
            Some(expected) => check(&packet, Version::V5, expected),
            None => assert!(encoded(Version::V5, &packet).len() > 65_535),
        }
        // 3.1.1 has no properties, so that they are not too long there.
        assert_eq!(encoded(Version::V311, &packet), [0x20, 2, 0, 0x87]);
    };
    let too_long = Some(EncodeError::TooLong);
    connack(&[Property::ReasonString(&long)], too_long);
    connack(&[Property::ReasonString(&long[1..])], None);
    connack(&[Property::UserProperty("a", &long)], too_long);
    connack(&[Property::AuthenticationData(long.as_bytes())], too_long);
    connack(&[Property::SubscriptionIdentifier(268_435_456)], too_long);
}

#[test]
fn lengths_take_as_many_bytes_as_they_need() {
    let topic = Some(Name::new("a").unwrap());
    for (payload, header) in [(124, 2), (125, 3), (16_380, 3), (16_381, 4), (2_097_149, 5)] {
        let payload = vec![7; payload];
        let bytes = encoded(Version::V311, &publish(topic, &payload));
        assert_eq!(bytes.len(), header + 3 + payload.len());
        assert_eq!(&bytes[header..header + 3], b"\0\x01a");
    }
}

#[test]
fn what_the_old_version_lacks_is_left_out() {
    let id = NonZeroU16::MIN;
    let properties = List::of(&[Property::ReasonString("why")]);
    let reasons = List::of(&[Reason::SUCCESS]);
    let ack = Ack { id, reason: Reason::NOT_AUTHORIZED, properties };
    let check = |packet, expected: &[u8]| assert_eq!(encoded(Version::V311, &packet), expected);
    check(Packet::Puback(ack), &[0x40, 2, 0, 1]);
    check(Packet::Pubcomp(ack), &[0x70, 2, 0, 1]);
    check(Packet::Unsuback(Suback { id, properties, reasons }), &[0xB0, 2, 0, 1]);
    check(Packet::Suback(Suback { id, properties, reasons }), &[0x90, 3, 0, 1, 0]);
    check(Packet::Disconnect(End { reason: Reason::NOT_AUTHORIZED, properties }), &[0xE0, 0]);
}
