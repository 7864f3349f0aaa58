//! PUBLISH of the client.

use super::script::script;

#[test]
fn a_denied_publish_of_5_is_told() {
    script(
        "deny publish b/#
        connect5
        c 30: 'b' 00 \"x\"
        c 32: 'b/1' 0001 00 \"x\"
        < 40: 0001 87
        c 34: 'b/2' 0002 00 \"x\"
        < 50: 0002 87
        c> 34: 'a' 0002 00 \"x\"",
    );
}

#[test]
fn a_denied_publish_of_3_closes_or_is_dropped() {
    script("deny publish b\nconnect4\nc 30: 'b'\nc> 30: 'a'");
    script(
        "deny publish b
        connect4
        c 32: 'b' 0001
        x 87 client: publish is not allowed at byte 15",
    );
    script(
        "set denied drop
        deny publish b
        connect4
        c 32: 'b' 0001 \"x\"
        < 40: 0001
        c> 32: 'a' 0001
        c 34: 'b' 0002 \"x\"
        < 50: 0002
        c 3C: 'b' 0002 \"x\"
        < 50: 0002
        c 62: 0002
        < 70: 0002
        c> 62: 0002",
    );
}

#[test]
fn an_identifier_of_a_dropped_message_stays_with_the_gate() {
    // The client does not wait for PUBCOMP: what has the identifier is the same message.
    script(
        "set denied drop
        deny publish b
        connect4
        c 34: 'b' 0002
        < 50: 0002
        c 3C: 'a' 0002
        < 50: 0002
        c 62: 0002
        < 70: 0002
        c> 34: 'a' 0002",
    );
}

#[test]
fn a_denied_message_with_an_identifier_that_the_broker_uses_closes() {
    script(
        "set denied drop
        connect4
        c> 34: 'a' 0002
        deny publish a
        c 3C: 'a' 0002
        x 87 client: publish is not allowed at byte 22",
    );
    script(
        "connect5
        c> 34: 'a' 0002 00
        s< 50: 0002
        c 34: '$SYS' 0002 00
        < E0: 87
        x 87 client: publish is not allowed at byte 27",
    );
    // Once the broker has refused it, the identifier is free.
    script(
        "deny publish b
        connect5
        c> 34: 'a' 0002 00
        s< 50: 0002 97
        c 34: 'b' 0002 00
        < 50: 0002 87",
    );
}

#[test]
fn only_the_broker_publishes_to_sys() {
    script("connect4\nc 30: '$SYS/broker'\nc 30: '$SYS'\nc> 30: '$SYSTEM'\nc> 30: 'a/$SYS'");
    script("connect5\nc 32: '$SYS/x' 0001 00\n< 40: 0001 87");
}

#[test]
fn unacknowledged_messages_are_bounded_in_5() {
    script(
        "set receive-maximum 2
        connect5
        c> 32: 'a' 0001 00
        c> 34: 'a' 0002 00
        s< 40: 0001
        c> 32: 'a' 0003 00
        c> 3A: 'a' 0003 00
        s< 50: 0002
        c> 62: 0002
        s< 70: 0002
        c> 34: 'a' 0004 00
        s< 50: 0004 80
        c> 32: 'a' 0005 00
        c 32: 'a' 0006 00
        < E0: 93
        x 93 client: more unacknowledged messages than the maximum at byte 71",
    );
    // Refused ones are acknowledged at once, and 3.1.1 has no such bound.
    script(
        "set receive-maximum 1
        deny publish b
        connect5
        c> 32: 'a' 0001 00
        s< 40: 0001
        c 32: 'b' 0002 00
        < 40: 0002 87
        c> 32: 'a' 0003 00",
    );
    script("set receive-maximum 1\nconnect4\nc> 32: 'a' 0001\nc> 32: 'a' 0002");
}

#[test]
fn clients_send_no_subscription_identifiers() {
    script(
        "connect5
        c 30: 'a' 02 0B01
        < E0: 82
        x 82 client: a subscription identifier in PUBLISH at byte 19",
    );
}

#[test]
fn packets_are_no_larger_than_announced() {
    script(
        "set packet 20
        connect4
        c> 30: 'a' \"123456789012345\"
        c 30: 'a' \"1234567890123456\"
        x 95 client: a packet larger than the limit at byte 36",
    );
    // The maximum of the broker.
    script(
        "c> 10: 'MQTT' 05 02 003C 05 27 00000400 'c'
        s< 20: 00 00 08 21 0003 27 00000010
        c> 30: 'a' 00 \"1234567890\"
        c 30: 'a' 00 \"12345678901\"
        < E0: 95
        x 95 client: a packet larger than the limit at byte 38",
    );
}

#[test]
fn sizes_are_those_of_payloads() {
    script(
        "deny large
        connect5
        c> 32: 'topic/of/some/length' 0001 00 \"123456789\"
        c 32: 'a' 0002 00 \"1234567890\"
        < 40: 0002 87",
    );
}
