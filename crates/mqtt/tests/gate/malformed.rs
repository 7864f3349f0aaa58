//! Bytes that are no packets: the reason code of the standard, and the offset.

use super::script::script;

#[test]
fn faults_of_the_client_close_with_their_codes() {
    let cases = [
        ("30: 'a/+' 00", "90 client: a topic name has no wildcard, at byte 2 at byte 23"),
        ("36: 'a' 0001 00", "81 client: QoS 3 at byte 19"),
        ("32: 'a' 0000 00", "82 client: packet identifier 0 at byte 24"),
        ("30: '' 00", "82 client: neither topic nor topic alias at byte 21"),
        (
            "82: 0001 00 'a#' 00",
            "8f client: `#` is not the whole of the last level, at byte 1 at byte 26",
        ),
        ("82: 0001 00", "82 client: an empty list at byte 24"),
        ("80: 0001 00 'a' 00", "81 client: reserved flags in the fixed header at byte 19"),
        ("00:", "81 client: unknown type of packet at byte 19"),
        ("C0: 00", "81 client: bytes after the last field at byte 21"),
        ("30: 0002 FF FE 00", "81 client: a text that is not UTF-8 at byte 23"),
        ("30: 0001 00 00", "81 client: U+0000 in a text at byte 23"),
    ];
    for (packet, end) in cases {
        let code = &end[..2];
        script(&format!("connect5\nc {packet}\n< E0: {code}\nx {end}"));
    }
    script(
        "connect4\nc* 30 80 00\nx 81 client: a length that is too long or not in its shortest form at byte 16",
    );
    // What came before was passed on.
    script("connect4\nc> 30: 'a'\nc 00:\nx 81 client: unknown type of packet at byte 20");
}

#[test]
fn faults_of_connect_are_told_in_their_version() {
    // A level that neither version has.
    script(
        "c 10: 'MQTT' 03 02 003C 'c'
        < 20: 00 01
        x 84 client: a protocol level other than 4 and 5 at byte 8",
    );
    script(
        "c 10: 'MQTT' 06 02 003C 00 'c'
        < 20: 00 84 00
        x 84 client: a protocol level other than 4 and 5 at byte 8",
    );
    script("c 10: 'MQIsdp' 03 02 003C 'c'\nx 84 client: a protocol other than `MQTT` at byte 2");
    // 5.0 has codes for all, 3.1.1 for few.
    script(
        "c 10: 'MQTT' 05 03 003C 00 'c'
        < 20: 00 81 00
        x 81 client: the reserved flag of CONNECT at byte 9",
    );
    script("c 10: 'MQTT' 04 03 003C 'c'\nx 81 client: the reserved flag of CONNECT at byte 9");
    script(
        "c 10: 'MQTT' 04 00 003C ''
        < 20: 00 02
        x 85 client: an empty client id without clean session at byte 12",
    );
    // What is behind a CONNECT that is too short is none of it.
    script(
        "c* 10 02 00 04 \"MQTT\" 05 02 00 3C 00\nx 81 client: a field that runs past the end at byte 4",
    );
    // A fixed header that is wrong is refused before the version is there.
    script(
        "c 12: 'MQTT' 05 02 003C 00 'c'\nx 81 client: reserved flags in the fixed header at byte 0",
    );
    script(
        "set packet 10
        c 10: 'MQTT' 05 02 003C 00 'c'
        x 95 client: a packet larger than the limit at byte 1",
    );
    script(
        "c 10: 'MQTT' 05 06 003C 00 'c' 00 'w/+' 'x'
        < 20: 00 90 00
        x 90 client: a topic name has no wildcard, at byte 2 at byte 19",
    );
}

#[test]
fn faults_of_the_broker_close_both_sides() {
    script(
        "connect5
        s 36: 'a' 0001 00
        > E0: 81
        < E0: 80
        x 81 broker: QoS 3 at byte 8",
    );
    script("connect4\ns 36: 'a' 0001\nx 81 broker: QoS 3 at byte 4");
    script("s 20: 00 00\nx 82 broker: a first packet other than CONNACK and AUTH at byte 0");
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        s 20: 00 09
        x 82 broker: reason code 0x09 at byte 3",
    );
}
