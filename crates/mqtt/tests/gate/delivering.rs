//! PUBLISH of the broker.

use super::script::script;

#[test]
fn deliveries_are_not_judged_where_subscriptions_were() {
    script("deny receive a\nconnect4\ns< 30: 'a'\ns< 32: 'a' 0001\nc> 40: 0001");
}

#[test]
fn withheld_deliveries_are_acknowledged_by_the_gate() {
    script(
        "set deliver each
        deny receive b
        connect4
        s< 30: 'a'
        s 30: 'b'
        s 32: 'b' 0001
        > 40: 0001
        s 34: 'b' 0002
        > 50: 0002
        s 3C: 'b' 0002
        > 50: 0002
        s 62: 0002
        > 70: 0002
        s< 62: 0002",
    );
    script(
        "set deliver each
        deny receive b
        connect5
        s 30: 'b' 00
        s 32: 'b' 0001 00
        > 40: 0001 87
        s 34: 'b' 0002 00
        > 50: 0002 87
        s< 34: 'a' 0002 00",
    );
}

#[test]
fn a_message_that_was_passed_on_is_passed_on_again() {
    script(
        "set deliver each
        connect4
        s< 34: 'a' 0002
        deny receive a
        s< 3C: 'a' 0002
        c> 50: 0002
        s< 62: 0002
        c> 70: 0002
        s 34: 'a' 0002
        > 50: 0002",
    );
}

#[test]
fn another_message_with_an_identifier_under_way_is_judged() {
    script(
        "set deliver each
        deny receive b
        connect5
        s< 34: 'a' 0002 00
        s 34: 'b' 0002 00
        > 50: 0002 87",
    );
}

#[test]
fn deliveries_of_resumed_sessions_are_judged() {
    script(
        "deny receive b
        c> 10: 'MQTT' 04 00 003C 'c'
        s< 20: 01 00
        s< 30: 'a'
        s 30: 'b'
        s 32: 'b' 0001
        > 40: 0001",
    );
}

#[test]
fn what_is_too_large_for_the_client_counts_as_delivered() {
    // [MQTT-3.1.2-25]; the broker should not have sent it.
    script(
        "c> 10: 'MQTT' 05 02 003C 05 27 00000010 'c'
        s< 20: 00 00 08 21 0003 27 00000010
        s< 30: 'a' 00 \"1234567890\"
        s 32: 'a' 0001 00 \"123456789\"
        > 40: 0001 87
        c> C0:
        s< D0:",
    );
    script(
        "c> 10: 'MQTT' 05 02 003C 05 27 00000010 'c'
        s< 20: 00 00 08 21 0003 27 00000010
        s E0: 8B 0D 1F '1234567890'
        < E0: 8B
        x 8b broker: DISCONNECT at byte 13",
    );
}

#[test]
fn the_broker_leaves() {
    script("connect5\ns< E0: 8E 00\nx 8e broker: DISCONNECT at byte 8");
}

#[test]
fn a_packet_of_the_broker_has_a_bound() {
    script(
        "set packet 20
        connect4
        s* 30 8C 20
        s* 00 01 \"a\"",
    );
    script(
        "set packet 20
        connect4
        s* 30 93 20
        x 95 broker: a packet larger than the limit at byte 5",
    );
}
