//! The statements of the standards that concern one packet, as bytes.

use wardgate_mqtt::packet::Version::{V5, V311};
use wardgate_mqtt::packet::{Decoded, Fault, Packet, PacketError, Property, Version, decode};
use wardgate_mqtt::{Limits, TopicError};

use super::notation::{packet, plain};
use super::{VERSIONS, encoded, whole};

/// Makes a packet of its first byte and what follows the length.
fn bytes(first: u8, body: &str) -> Vec<u8> {
    packet(&format!("{first:02x}: {body}"))
}

/// Checks that a packet is decoded, and comes back as the same bytes.
fn accept(version: Version, first: u8, body: &str) {
    let bytes = bytes(first, body);
    let packet =
        whole(version, &bytes).unwrap_or_else(|error| panic!("{first:02x} {body}: {error}"));
    assert_eq!(encoded(version, &packet), bytes, "{first:02x} {body}");
}

/// Checks the fault of a packet, and the reason code that it is answered with.
fn refuse(version: Version, first: u8, body: &str, fault: Fault, reason: u8) {
    let bytes = bytes(first, body);
    let error = whole(version, &bytes).expect_err(body);
    assert_eq!((error.fault, error.reason().0), (fault, reason), "{first:02x} {body}");
}

fn refuse_both(first: u8, body: &str, fault: Fault, reason: u8) {
    VERSIONS.into_iter().for_each(|version| refuse(version, first, body, fault, reason));
}

#[test]
fn types_and_flags_of_the_header() {
    // [MQTT-2.1.3-1]: reserved flags have the listed values.
    for (kind, right) in [
        (1, 0),
        (2, 0),
        (4, 0),
        (5, 0),
        (6, 2),
        (7, 0),
        (8, 2),
        (9, 0),
        (10, 2),
        (11, 0),
        (12, 0),
        (13, 0),
        (14, 0),
    ] {
        for flags in (0..16).filter(|flags| *flags != right) {
            refuse_both(kind << 4 | flags, "", Fault::HeaderFlags, 0x81);
        }
    }
    (1..16).for_each(|flags| refuse(V5, 0xF0 | flags, "", Fault::HeaderFlags, 0x81));
    (0..16).for_each(|flags| refuse_both(flags, "", Fault::Type, 0x81));
    refuse(V311, 0xF0, "", Fault::Type, 0x81);
    accept(V5, 0xF0, "");
}

#[test]
fn lengths_are_short_and_bounded() {
    let check = |bytes: &[u8], expected: Result<usize, Fault>| {
        for version in VERSIONS {
            let found = match decode(version, bytes, &Limits::WIDEST) {
                Ok(Decoded::More(least)) => Ok(least),
                Ok(Decoded::Whole(..)) => panic!("{bytes:02x?}"),
                Err(error) => Err(error.fault),
            };
            assert_eq!(found, expected, "{bytes:02x?}");
        }
    };
    check(&[], Ok(2));
    check(&[0x30], Ok(2));
    check(&[0x30, 0x80], Ok(3));
    check(&[0x30, 0xFF, 0xFF, 0xFF], Ok(5));
    check(&[0x30, 0xFF, 0xFF, 0xFF, 0x7F], Ok(268_435_460));
    // [MQTT-1.5.5-1]: the shortest form; and four bytes at most.
    check(&[0x30, 0x80, 0x00], Err(Fault::Length));
    check(&[0x30, 0xFF, 0x80, 0x00], Err(Fault::Length));
    check(&[0x30, 0x85, 0x80, 0x80, 0x00], Err(Fault::Length));
    check(&[0x30, 0xFF, 0xFF, 0xFF, 0xFF], Err(Fault::Length));
    check(&[0x30, 0xFF, 0xFF, 0xFF, 0x80], Err(Fault::Length));
    // The length of properties, and a subscription identifier, are such numbers too.
    refuse(V5, 0x30, "'a' 80 00", Fault::Length, 0x81);
    refuse(V5, 0x30, "'a' 03 0B 81 00", Fault::Length, 0x81);
    refuse(V5, 0x30, "'a' 03 8B 00 01", Fault::Length, 0x81);
}

#[test]
fn large_packets_are_refused_before_they_are_there() {
    let limits = Limits { packet_bytes: 100, connect_bytes: 50, ..Limits::default() };
    let check = |bytes: &[u8], expected: Result<Decoded<'_>, PacketError>| {
        assert_eq!(decode(V5, bytes, &limits), expected);
    };
    let too_large = Err(PacketError { fault: Fault::TooLarge, offset: 1 });
    check(&[0x30, 98], Ok(Decoded::More(100)));
    check(&[0x30, 99], too_large);
    check(&[0x10, 48], Ok(Decoded::More(50)));
    check(&[0x10, 49], too_large);
    assert_eq!(too_large.map_err(|error| error.reason().0), Err(0x95));
    // A CONNECT of fourteen bytes that announces more waits, and does not hang what reads it.
    let connect = bytes(0x10, "'MQTT' 04 02 00 3C 00 02");
    assert_eq!(connect.len(), 14);
    refuse_both(0x10, "'MQTT' 04 02 00 3C 00 02", Fault::Short, 0x81);
}

#[test]
fn texts_are_utf8_without_nul() {
    // [MQTT-1.5.4-1]: also no surrogates, no overlong forms, nothing above U+10FFFF.
    for wrong in ["80", "C0 80", "ED A0 80", "F4 90 80 80", "E2 82", "FF", "F8 88 80 80 80"] {
        let count = wrong.split_whitespace().count();
        refuse(V5, 0x30, &format!("00 0{count} {wrong} 00"), Fault::Utf8, 0x81);
        refuse(V311, 0x30, &format!("00 0{count} {wrong}"), Fault::Utf8, 0x81);
        refuse(V311, 0x82, &format!("00 01 00 0{count} {wrong} 00"), Fault::Utf8, 0x81);
        refuse(V5, 0x30, &format!("'a' 0{} 03 00 0{count} {wrong}", count + 3), Fault::Utf8, 0x81);
    }
    // [MQTT-1.5.4-2]
    refuse_both(0x30, "00 03 61 00 62 00", Fault::Nul, 0x81);
    refuse_both(0x10, "'MQTT' 04 02 00 00 00 01 00", Fault::Nul, 0x81);
    refuse(V311, 0x82, "00 01 00 01 00 00", Fault::Nul, 0x81);
    // [MQTT-1.5.4-3]: U+FEFF is a character like others.
    accept(V311, 0x30, "00 03 EF BB BF");
    accept(V311, 0x30, "'\u{1F600}/é'");
}

#[test]
fn connect_states_protocol_and_version() {
    accept(V5, 0x10, "'MQTT' 05 02 00 3C 00 ''");
    accept(V311, 0x10, "'MQTT' 04 02 00 3C ''");
    // A CONNECT is read by its own version, whatever the decoder is set to.
    assert!(whole(V5, &bytes(0x10, "'MQTT' 04 02 00 3C ''")).is_ok());
    // [MQTT-3.1.2-1], [MQTT-3.1.2-2]; 3.1.1: return code 1.
    refuse_both(0x10, "'MQIsdp' 03 02 00 3C ''", Fault::ProtocolName, 0x84);
    refuse_both(0x10, "'mqtt' 04 02 00 3C ''", Fault::ProtocolName, 0x84);
    refuse_both(0x10, "00 04 FF FF FF FF 04 02 00 3C ''", Fault::ProtocolName, 0x84);
    for level in ["00", "03", "06", "84"] {
        refuse_both(0x10, &format!("'MQTT' {level} 02 00 3C ''"), Fault::ProtocolLevel, 0x84);
    }
}

#[test]
fn connect_flags_agree_with_the_payload() {
    // [MQTT-3.1.2-3]
    refuse_both(0x10, "'MQTT' 04 03 00 00 ''", Fault::ConnectFlags, 0x81);
    // [MQTT-3.1.2-11], [MQTT-3.1.2-13]; 3.1.1 [MQTT-3.1.2-13], [MQTT-3.1.2-15]
    for flags in ["0A", "12", "22", "3A"] {
        let fault = if flags == "3A" { Fault::Qos } else { Fault::WillFlags };
        refuse_both(0x10, &format!("'MQTT' 04 {flags} 00 00 ''"), fault, 0x81);
    }
    // [MQTT-3.1.2-12], 3.1.1 [MQTT-3.1.2-14]
    refuse_both(0x10, "'MQTT' 04 1E 00 00 '' 'w' ''", Fault::Qos, 0x81);
    accept(V311, 0x10, "'MQTT' 04 36 00 00 '' 'w' 00 01 FF");
    accept(V5, 0x10, "'MQTT' 05 36 00 00 00 '' 05 18 00 00 00 01 'w' ''");
    // 3.1.1 [MQTT-3.1.2-22]; 5.0 allows a password alone.
    refuse_both(0x10, "'MQTT' 04 42 00 00 '' 'p'", Fault::PasswordAlone, 0x81);
    accept(V5, 0x10, "'MQTT' 05 42 00 00 00 '' 'p'");
    accept(V311, 0x10, "'MQTT' 04 C2 00 00 '' 'u' 00 02 00 FF");
    // [MQTT-3.1.3-1]: the fields that the flags announce, and no others.
    refuse_both(0x10, "'MQTT' 04 C2 00 00 '' 'u'", Fault::Short, 0x81);
    refuse_both(0x10, "'MQTT' 04 02 00 00 '' 'u'", Fault::Trailing, 0x81);
    refuse_both(0x10, "'MQTT' 04 06 00 00 ''", Fault::Short, 0x81);
    // 3.1.1 [MQTT-3.1.3-7]; 5.0 [MQTT-3.1.3-6] allows it.
    refuse_both(0x10, "'MQTT' 04 00 00 00 ''", Fault::ClientId, 0x85);
    accept(V5, 0x10, "'MQTT' 05 00 00 00 00 ''");
}

#[test]
fn topics_of_wills_are_names() {
    for body in ["'MQTT' 04 06 00 00 '' 'a/#' ''", "'MQTT' 05 06 00 00 00 '' 00 'a/+' ''"] {
        let error = whole(V5, &bytes(0x10, body)).unwrap_err();
        assert!(matches!(error.fault, Fault::Name(TopicError::WildcardInName { .. })), "{body}");
        assert_eq!(error.reason().0, 0x90);
    }
    refuse_both(0x10, "'MQTT' 04 06 00 00 '' '' ''", Fault::Name(TopicError::Empty), 0x90);
}

#[test]
fn connack_tells_of_sessions_and_codes() {
    accept(V311, 0x20, "01 00");
    accept(V311, 0x20, "00 05");
    accept(V5, 0x20, "00 87 00");
    // [MQTT-3.2.2-1]
    refuse(V311, 0x20, "02 00", Fault::ConnackFlags, 0x82);
    refuse(V5, 0x20, "80 00 00", Fault::ConnackFlags, 0x82);
    // [MQTT-3.2.2-6], 3.1.1 [MQTT-3.2.2-4]
    refuse(V311, 0x20, "01 05", Fault::ConnackFlags, 0x82);
    refuse(V5, 0x20, "01 87 00", Fault::ConnackFlags, 0x82);
    // [MQTT-3.2.2-8]; 3.1.1: codes above 5 are reserved.
    refuse(V311, 0x20, "00 06", Fault::ReasonCode(6), 0x82);
    refuse(V5, 0x20, "00 01 00", Fault::ReasonCode(1), 0x82);
    refuse(V311, 0x20, "00", Fault::Short, 0x81);
    refuse(V311, 0x20, "00 00 00", Fault::Trailing, 0x81);
}

#[test]
fn publish_has_flags_topic_and_identifier() {
    accept(V311, 0x3D, "'a' 00 01 FF");
    accept(V5, 0x33, "'a' FF FF 00");
    // [MQTT-3.3.1-4]
    refuse_both(0x36, "'a' 00 01 00", Fault::Qos, 0x81);
    refuse_both(0x3E, "'a' 00 01 00", Fault::Qos, 0x81);
    // [MQTT-3.3.1-2]
    refuse_both(0x38, "'a' 00", Fault::Dup, 0x81);
    // [MQTT-2.2.1-3], [MQTT-2.2.1-4]; 3.1.1 [MQTT-2.3.1-1]
    refuse_both(0x32, "'a' 00 00 00", Fault::PacketId, 0x82);
    refuse_both(0x34, "'a' 00", Fault::Short, 0x81);
    // [MQTT-3.3.2-2], [MQTT-4.7.3-1]
    let wildcard = |at| Fault::Name(TopicError::WildcardInName { at });
    refuse_both(0x30, "'a/+' 00", wildcard(2), 0x90);
    refuse_both(0x30, "'#' 00", wildcard(0), 0x90);
    refuse(V311, 0x30, "''", Fault::Name(TopicError::Empty), 0x90);
    // [MQTT-3.3.2-8], section 3.3.2.1: an empty topic needs an alias.
    accept(V5, 0x30, "'' 03 23 00 01 70");
    refuse(V5, 0x30, "'' 00", Fault::NoTopic, 0x82);
    refuse(V5, 0x30, "'a' 03 23 00 00", Fault::Alias, 0x94);
    // [MQTT-3.3.2-14]
    refuse(V5, 0x30, "'a' 06 08 'b/#'", wildcard(2), 0x90);
    refuse(V5, 0x30, "'a' 03 08 ''", Fault::Name(TopicError::Empty), 0x90);
    refuse_both(0x30, "", Fault::Short, 0x81);
}

#[test]
fn topics_are_bounded() {
    let limits = Limits { topic_bytes: 5, topic_levels: 2, filters: 2, ..Limits::default() };
    let check = |first: u8, body: &str, expected: Option<Fault>| {
        let bytes = bytes(first, body);
        let found = decode(V311, &bytes, &limits).err().map(|error| error.fault);
        assert_eq!(found, expected, "{body}");
    };
    let too_long = TopicError::TooLong { bytes: 6, most: 5 };
    let too_deep = TopicError::TooManyLevels { levels: 3, most: 2 };
    check(0x30, "'abcde'", None);
    check(0x30, "'abcdef'", Some(Fault::Name(too_long)));
    check(0x30, "'a/b/c'", Some(Fault::Name(too_deep)));
    check(0x82, "00 01 'abcde' 00", None);
    check(0x82, "00 01 'abcdef' 00", Some(Fault::Filter(too_long)));
    check(0x82, "00 01 'a/b/c' 00", Some(Fault::Filter(too_deep)));
    check(0xA2, "00 01 'a/b/c'", Some(Fault::Filter(too_deep)));
    let shared = TopicError::TooLong { bytes: 10, most: 5 };
    check(0x82, "00 01 '$share/g/a' 00", Some(Fault::Filter(shared)));
    check(0x82, "00 01 'a' 00 'b' 00", None);
    check(0x82, "00 01 'a' 00 'b' 00 'c' 00", Some(Fault::TooManyFilters));
    check(0xA2, "00 01 'a' 'b' 'c'", Some(Fault::TooManyFilters));
}

#[test]
fn acknowledgements_have_identifiers_and_codes() {
    for first in [0x40, 0x50, 0x62, 0x70] {
        accept(V311, first, "00 01");
        accept(V5, first, "00 01");
        refuse(V311, first, "00 00", Fault::PacketId, 0x82);
        refuse(V5, first, "00 00", Fault::PacketId, 0x82);
        refuse(V311, first, "00 01 00", Fault::Trailing, 0x81);
        refuse_both(first, "00", Fault::Short, 0x81);
        refuse(V5, first, "00 01 01", Fault::ReasonCode(1), 0x82);
        // Code and length may be left out, and are then written in the shortest form.
        for body in ["00 01 00", "00 01 00 00"] {
            let bytes = bytes(first, body);
            let packet = whole(V5, &bytes).unwrap();
            assert_eq!(encoded(V5, &packet), [first, 2, 0, 1]);
        }
    }
    // [MQTT-3.4.2-1] to [MQTT-3.7.2-1]
    for first in [0x40, 0x50] {
        accept(V5, first, "00 01 10");
        accept(V5, first, "00 01 87 04 1F 'x'");
        refuse(V5, first, "00 01 92", Fault::ReasonCode(0x92), 0x82);
    }
    for first in [0x62, 0x70] {
        accept(V5, first, "00 01 92");
        refuse(V5, first, "00 01 10", Fault::ReasonCode(0x10), 0x82);
    }
}

#[test]
fn subscribe_has_filters_with_options() {
    accept(V311, 0x82, "00 01 'a/+' 02");
    accept(V5, 0x82, "00 01 00 'a/#' 2E '$share/g/b' 01");
    accept(V5, 0x82, "00 01 02 0B 05 'a' 00");
    refuse_both(0x82, "00 00", Fault::PacketId, 0x82);
    // [MQTT-3.8.3-2], 3.1.1 [MQTT-3.8.3-3]
    refuse(V311, 0x82, "00 01", Fault::Empty, 0x82);
    refuse(V5, 0x82, "00 01 00", Fault::Empty, 0x82);
    // [MQTT-3.8.3-5], 3.1.1 [MQTT-3-8.3-4]
    for options in ["40", "80", "F0"] {
        refuse(V5, 0x82, &format!("00 01 00 'a' {options}"), Fault::Options, 0x81);
        refuse(V311, 0x82, &format!("00 01 'a' {options}"), Fault::Options, 0x81);
    }
    for options in ["04", "08", "10", "20", "30"] {
        refuse(V311, 0x82, &format!("00 01 'a' {options}"), Fault::Options, 0x81);
    }
    refuse(V5, 0x82, "00 01 00 'a' 30", Fault::RetainHandling, 0x82);
    refuse(V311, 0x82, "00 01 '$share/g/a' 04", Fault::Options, 0x81);
    refuse(V5, 0x82, "00 01 00 'a' 03", Fault::Qos, 0x81);
    refuse(V311, 0x82, "00 01 'a' 03", Fault::Qos, 0x81);
    // [MQTT-3.8.3-4]
    refuse(V5, 0x82, "00 01 00 '$share/g/a' 04", Fault::NoLocalShared, 0x82);
    // [MQTT-4.7.1-1], [MQTT-4.7.1-2], [MQTT-4.8.2-1], [MQTT-4.8.2-2]
    let hash = Fault::Filter(TopicError::HashNotLast { at: 1 });
    refuse(V311, 0x82, "00 01 'a#' 00", hash, 0x8F);
    let plus = Fault::Filter(TopicError::PlusInWord { at: 2 });
    refuse(V5, 0x82, "00 01 00 'a/+b' 00", plus, 0x8F);
    let group = Fault::Filter(TopicError::EmptyGroup);
    refuse(V5, 0x82, "00 01 00 '$share//a' 00", group, 0x8F);
    refuse(V311, 0x82, "00 01 '' 00", Fault::Filter(TopicError::Empty), 0x8F);
    refuse(V311, 0x82, "00 01 'a'", Fault::Short, 0x81);
    // Section 3.8.2.1.2: the identifier is not 0, and occurs once.
    refuse(V5, 0x82, "00 01 02 0B 00 'a' 00", Fault::PropertyValue(0x0B), 0x82);
    refuse(V5, 0x82, "00 01 04 0B 01 0B 02 'a' 00", Fault::RepeatedProperty(0x0B), 0x82);
}

#[test]
fn subscriptions_of_queues_and_nested_groups_are_what_they_say() {
    let bytes = bytes(0x82, "00 01 '$queue/x' 00 '$share/g/$share/h/x' 00");
    let Ok(Packet::Subscribe(subscribe)) = whole(V311, &bytes) else { panic!() };
    let filters: Vec<_> = subscribe
        .subscriptions
        .iter()
        .map(|subscription| (subscription.filter.group(), subscription.filter.text()))
        .collect();
    assert_eq!(filters, [(None, "$queue/x"), (Some("g"), "$share/h/x")]);
}

#[test]
fn answers_to_subscriptions_have_codes() {
    accept(V311, 0x90, "00 01 00 01 02 80");
    accept(V5, 0x90, "00 01 00 02 87 8F");
    // [MQTT-3.9.3-2], and 3.1.1 [MQTT-3.9.3-2]
    refuse(V311, 0x90, "00 01 03", Fault::ReasonCode(3), 0x82);
    refuse(V311, 0x90, "00 01 87", Fault::ReasonCode(0x87), 0x82);
    refuse(V5, 0x90, "00 01 00 03", Fault::ReasonCode(3), 0x82);
    refuse(V311, 0x90, "00 01", Fault::Empty, 0x82);
    refuse(V5, 0x90, "00 01 00", Fault::Empty, 0x82);
    accept(V311, 0xB0, "00 01");
    accept(V5, 0xB0, "00 01 00 00 11 87");
    refuse(V311, 0xB0, "00 01 00", Fault::Trailing, 0x81);
    refuse(V5, 0xB0, "00 01 00 01", Fault::ReasonCode(1), 0x82);
    refuse(V5, 0xB0, "00 01 00", Fault::Empty, 0x82);
}

#[test]
fn unsubscribe_has_filters() {
    accept(V311, 0xA2, "00 01 'a' '$share/g/b/#'");
    accept(V5, 0xA2, "00 01 00 'a'");
    // [MQTT-3.10.3-2]
    refuse(V311, 0xA2, "00 01", Fault::Empty, 0x82);
    refuse(V5, 0xA2, "00 01 00", Fault::Empty, 0x82);
    refuse_both(0xA2, "00 00", Fault::PacketId, 0x82);
    let plus = Fault::Filter(TopicError::PlusInWord { at: 1 });
    refuse(V311, 0xA2, "00 01 'a+'", plus, 0x8F);
}

#[test]
fn the_rest_of_the_packets() {
    for first in [0xC0, 0xD0, 0xE0] {
        VERSIONS.into_iter().for_each(|version| accept(version, first, ""));
    }
    refuse_both(0xC0, "00", Fault::Trailing, 0x81);
    refuse_both(0xD0, "00", Fault::Trailing, 0x81);
    refuse(V311, 0xE0, "00", Fault::Trailing, 0x81);
    accept(V5, 0xE0, "04");
    accept(V5, 0xE0, "87 04 1F 'x'");
    // [MQTT-3.14.2-1], [MQTT-3.15.2-1]
    refuse(V5, 0xE0, "01", Fault::ReasonCode(1), 0x82);
    refuse(V5, 0xE0, "84", Fault::ReasonCode(0x84), 0x82);
    accept(V5, 0xF0, "18 04 15 'm'");
    accept(V5, 0xF0, "19 08 15 'm' 16 'd'");
    refuse(V5, 0xF0, "01 04 15 'm'", Fault::ReasonCode(1), 0x82);
    refuse(V5, 0xF0, "18 00", Fault::NoMethod, 0x82);
    refuse(V5, 0xF0, "18", Fault::Short, 0x81);
}

/// Puts properties with their length into the body of a packet.
type Body = Box<dyn Fn(&str) -> String>;

#[test]
fn properties_are_where_the_table_has_them() {
    // Section 2.2.2.2, table 2-4: for each property, the places that may have it.
    let connect = |properties: &str| format!("'MQTT' 05 02 00 00 {properties} ''");
    let will = |properties: &str| format!("'MQTT' 05 06 00 00 00 '' {properties} 'w' ''");
    let after = |front: &'static str, back: &'static str| {
        move |properties: &str| format!("{front} {properties} {back}")
    };
    let places: [(&str, u8, Body); 14] = [
        ("connect", 0x10, Box::new(connect)),
        ("will", 0x10, Box::new(will)),
        ("connack", 0x20, Box::new(after("00 00", ""))),
        ("publish", 0x30, Box::new(after("'a'", ""))),
        ("puback", 0x40, Box::new(after("00 01 00", ""))),
        ("pubrec", 0x50, Box::new(after("00 01 00", ""))),
        ("pubrel", 0x62, Box::new(after("00 01 00", ""))),
        ("pubcomp", 0x70, Box::new(after("00 01 00", ""))),
        ("subscribe", 0x82, Box::new(after("00 01", "'a' 00"))),
        ("suback", 0x90, Box::new(after("00 01", "00"))),
        ("unsubscribe", 0xA2, Box::new(after("00 01", "'a'"))),
        ("unsuback", 0xB0, Box::new(after("00 01", "00"))),
        ("disconnect", 0xE0, Box::new(after("00", ""))),
        ("auth", 0xF0, Box::new(after("18", ""))),
    ];
    let mut count = 0;
    for (id, value, owners) in PROPERTIES {
        for (place, first, body) in &places {
            let method = if *place == "auth" && id != 0x15 { "15 'm'" } else { "" };
            let data = if id == 0x16 && *place != "auth" { "15 'm'" } else { "" };
            let one = format!("{id:02x} {value}");
            let fits = owners == "all" || owners.split(' ').any(|owner| owner == *place);
            let with = |properties: &str| {
                let length = plain(properties).len();
                bytes(*first, &body(&format!("{length:02x} {properties}")))
            };
            let right = with(&format!("{method} {data} {one}"));
            let found = whole(V5, &right);
            let is_method = !data.is_empty() && !["connect", "connack"].contains(place);
            match fits {
                true => {
                    let packet = found.unwrap_or_else(|error| panic!("{id:02x} {place}: {error}"));
                    assert_eq!(encoded(V5, &packet), right, "{id:02x} {place}");
                }
                false => {
                    let wrong = if is_method { 0x15 } else { id };
                    let error = found.expect_err(place);
                    assert_eq!(error.fault, Fault::MisplacedProperty(wrong), "{place}");
                    assert_eq!(error.reason().0, 0x81);
                }
            }
            // Twice, where it fits once.
            if fits {
                let twice = with(&format!("{method} {data} {one} {one}"));
                let may = id == 0x26 || id == 0x0B && *place == "publish";
                let fault = whole(V5, &twice).err().map(|error| (error.fault, error.reason().0));
                let expected = (!may).then_some((Fault::RepeatedProperty(id), 0x82));
                assert_eq!(fault, expected, "{id:02x} {place}");
            }
            count += 1;
        }
    }
    assert_eq!(count, 27 * 14);
}

#[test]
fn properties_have_allowed_values() {
    for id in ["17", "19"] {
        let body = format!("'MQTT' 05 02 00 00 02 {id} 02 ''");
        let fault = Fault::PropertyValue(u8::from_str_radix(id, 16).unwrap());
        refuse_both(0x10, &body, fault, 0x82);
    }
    for id in ["24", "25", "28", "29", "2A"] {
        let fault = Fault::PropertyValue(u8::from_str_radix(id, 16).unwrap());
        refuse(V5, 0x20, &format!("00 00 02 {id} 02"), fault, 0x82);
    }
    refuse(V5, 0x30, "'a' 02 01 02", Fault::PropertyValue(1), 0x82);
    refuse(V5, 0x20, "00 00 03 21 00 00", Fault::PropertyValue(0x21), 0x82);
    refuse(V5, 0x20, "00 00 05 27 00 00 00 00", Fault::PropertyValue(0x27), 0x82);
    // Section 3.1.2.11.10: data without a method.
    refuse_both(0x10, "'MQTT' 05 02 00 00 04 16 'd' ''", Fault::NoMethod, 0x82);
    for id in ["00", "04", "0A", "14", "1B", "20", "2B", "7F"] {
        let fault = Fault::UnknownProperty(u8::from_str_radix(id, 16).unwrap());
        refuse(V5, 0x30, &format!("'a' 02 {id} 00"), fault, 0x81);
    }
    // A property ends within the properties, and they within the packet.
    refuse(V5, 0x30, "'a' 02 23 00 01", Fault::Short, 0x81);
    refuse(V5, 0x30, "'a' 04 23 00 01", Fault::Short, 0x81);
    refuse(V5, 0x30, "'a'", Fault::Short, 0x81);
}

#[test]
fn user_properties_are_bounded_and_in_order() {
    let limits = Limits { user_properties: 2, user_property_bytes: 6, ..Limits::default() };
    let check = |body: &str, expected: Option<Fault>| {
        let bytes = bytes(0x30, body);
        let found = decode(V5, &bytes, &limits).err().map(|error| error.fault);
        assert_eq!(found, expected, "{body}");
    };
    check("'a' 0E 26 'b' 'c' 26 'b' 'd'", None);
    check("'a' 15 26 'b' 'c' 26 'b' 'd' 26 'b' 'e'", Some(Fault::UserProperties));
    check("'a' 0B 26 'bbb' 'ccc'", None);
    check("'a' 0C 26 'bbb' 'cccc'", Some(Fault::UserProperties));
    // [MQTT-3.3.2-18]: the order is that of the sender.
    let bytes = bytes(0x30, "'a' 0E 26 'b' 'c' 26 'b' 'd'");
    let Ok(Packet::Publish(publish)) = whole(V5, &bytes) else { panic!() };
    let found: Vec<_> = publish.properties.iter().collect();
    assert_eq!(found, [Property::UserProperty("b", "c"), Property::UserProperty("b", "d")]);
}

#[test]
fn errors_tell_where_they_are() {
    let check = |version, first, body: &str, text: &str| {
        assert_eq!(whole(version, &bytes(first, body)).unwrap_err().to_string(), text);
    };
    check(V311, 0x32, "'a' 00 00", "packet identifier 0 at byte 5");
    check(
        V311,
        0x30,
        "'a/+'",
        "topic name from byte 4 on: a topic name has no wildcard, at byte 2",
    );
    check(V5, 0x30, "'a' 02 04 00", "unknown property 0x04 at byte 6");
    check(V311, 0x30, "00 05 61", "a field that runs past the end at byte 4");
}

/// Each property of table 2-4, a value, and the places that may have it.
const PROPERTIES: [(u8, &str, &str); 27] = [
    (0x01, "01", "publish will"),
    (0x02, "00 00 00 01", "publish will"),
    (0x03, "'t'", "publish will"),
    (0x08, "'r'", "publish will"),
    (0x09, "'c'", "publish will"),
    (0x0B, "80 01", "publish subscribe"),
    (0x11, "FF FF FF FF", "connect connack disconnect"),
    (0x12, "'i'", "connack"),
    (0x13, "00 00", "connack"),
    (0x15, "'m'", "connect connack auth"),
    (0x16, "00 01 FF", "connect connack auth"),
    (0x17, "00", "connect"),
    (0x18, "00 00 00 00", "will"),
    (0x19, "01", "connect"),
    (0x1A, "''", "connack"),
    (0x1C, "'s'", "connack disconnect"),
    (0x1F, "'why'", "connack puback pubrec pubrel pubcomp suback unsuback disconnect auth"),
    (0x21, "00 01", "connect connack"),
    (0x22, "00 00", "connect connack"),
    (0x23, "00 01", "publish"),
    (0x24, "01", "connack"),
    (0x25, "00", "connack"),
    (0x26, "'k' ''", "all"),
    (0x27, "00 00 00 01", "connect connack"),
    (0x28, "00", "connack"),
    (0x29, "01", "connack"),
    (0x2A, "00", "connack"),
];
