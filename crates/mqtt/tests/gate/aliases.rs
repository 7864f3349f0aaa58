//! Topic aliases, in both directions.

use super::script::script;

#[test]
fn aliases_of_the_client_are_resolved() {
    script(
        "deny publish b
        connect5
        c> 30: 'a' 03 230001 \"1\"
        c> 30: '' 03 230001 \"2\"
        c> 30: 'c' 03 230001 \"3\"
        deny publish c
        c 32: '' 0007 03 230001 \"4\"
        < 40: 0007 87",
    );
}

#[test]
fn an_alias_set_by_a_denied_message_is_told_to_the_broker_later() {
    script(
        "deny publish a
        connect5
        c 30: 'a' 03 230001 \"1\"
        allow publish a
        c 30: '' 03 230001 \"2\"
        > 30: 'a' 03 230001 \"2\"
        c> 30: '' 03 230001 \"3\"",
    );
}

#[test]
fn an_alias_changed_by_a_denied_message_does_not_mean_the_old_topic() {
    script(
        "deny publish b
        connect5
        c> 30: 'a' 03 230001 \"1\"
        c 30: 'b' 03 230001 \"2\"
        c 32: '' 0001 03 230001 \"3\"
        < 40: 0001 87
        allow publish b
        c 32: '' 0002 06 230001 230001
        < E0: 82
        x 82 client: property 0x23 a second time at byte 60",
    );
    script(
        "deny publish b
        connect5
        c> 30: 'a' 03 230001 \"1\"
        c 30: 'b' 03 230001 \"2\"
        allow publish b
        c 32: '' 0002 03 230001 \"3\"
        > 32: 'b' 0002 03 230001 \"3\"
        c> 32: '' 0003 03 230001 \"4\"",
    );
}

#[test]
fn aliases_are_within_the_maximum_of_the_broker() {
    script(
        "connect5
        c> 30: 'a' 03 230004
        c 30: 'a' 03 230005
        < E0: 94
        x 94 client: a topic alias above the maximum at byte 28",
    );
    script(
        "c> 10: 'MQTT' 05 02 003C 05 27 00000400 'c'
        s< 20: 00 00 08 21 0003 27 00000010
        c 30: 'a' 03 230001
        < E0: 94
        x 94 client: a topic alias above the maximum at byte 21",
    );
    // Zero is none.
    script(
        "connect5
        c 30: 'a' 03 230000
        < E0: 94
        x 94 client: topic alias 0 at byte 25",
    );
}

#[test]
fn an_alias_that_stands_for_nothing_is_an_error() {
    script(
        "connect5
        c 30: '' 03 230002
        < E0: 82
        x 82 client: a topic alias that stands for no topic at byte 19",
    );
    script(
        "connect5
        s 30: '' 03 230002
        > E0: 82
        < E0: 80
        x 82 broker: a topic alias that stands for no topic at byte 8",
    );
}

#[test]
fn aliases_of_the_broker_are_resolved() {
    script(
        "set deliver each
        deny receive b
        connect5
        s< 30: 'a' 03 230001 \"1\"
        s< 30: '' 03 230001 \"2\"
        s 30: 'b' 03 230001 \"3\"
        s 32: '' 0001 03 230001 \"4\"
        > 40: 0001 87
        allow receive b
        s 30: '' 03 230001 \"5\"
        < 30: 'b' 03 230001 \"5\"
        s< 30: '' 03 230001 \"6\"",
    );
    script(
        "connect5
        s 30: 'a' 03 230005
        > E0: 94
        < E0: 80
        x 94 broker: a topic alias above the maximum at byte 8",
    );
}

#[test]
fn a_message_that_grows_beyond_the_bound_by_its_topic_is_refused() {
    script(
        "deny large
        c> 10: 'MQTT' 05 02 003C 05 27 00000400 'c'
        s< 20: 00 00 0B 21 0003 22 0001 27 0000001E
        c 30: 'long/topic' 03 230001 \"1234567890\"
        allow large
        c 32: '' 0001 03 230001 \"123456789012345\"
        < 40: 0001 97
        c 32: '' 0001 03 230001 \"1\"
        > 32: 'long/topic' 0001 03 230001 \"1\"",
    );
}
