//! Defects of others that a gate can see, each by its name.

use super::script::script;

#[test]
fn a_connect_of_14_bytes_that_announces_more_does_not_hang() {
    // 256 MB are announced, and 14 bytes come.
    script(
        "c* 10 FF FF FF 7F 0004 \"MQTT\" 04 02 00
        x 95 client: a packet larger than the limit at byte 1",
    );
    script("c* 10 FF 3F 0004 \"MQTT\" 04 02 003C 00\ntick 5000\nx 8d no CONNECT in time");
}

#[test]
fn acknowledgements_of_qos_1_reach_the_client() {
    script("connect4\nc> 32: 'a' 0001\ns< 40: 0001");
}

#[test]
fn queue_and_nested_share_do_not_pass_by_the_rules() {
    script(
        "deny subscribe $share/any/$share/h/x
        deny subscribe $queue/x
        deny subscribe x
        connect5
        c 82: 0001 00 '$share/g/$share/h/x' 00 '$queue/x' 00 '$share/g/x' 00
        < 90: 0001 00 87 87 87",
    );
}

#[test]
fn a_queue_subscription_after_a_new_connection_is_like_any() {
    for _ in 0..2 {
        script(
            "connect4\nc> 82: 0001 '$queue/x' 00\ns< 90: 0001 00\nc> E0:\nx 00 client: DISCONNECT at byte 30",
        );
    }
}

#[test]
fn invalid_filters_are_refused() {
    script(
        "connect4
        c 82: 0001 'a/#/b' 00
        x 8f client: `#` is not the whole of the last level, at byte 2 at byte 21",
    );
}

#[test]
fn the_parent_of_a_hash_is_part_of_it() {
    script("deny publish sensor/#\nconnect5\nc 32: 'sensor' 0001 00\n< 40: 0001 87");
}

#[test]
fn client_ids_with_wildcards_are_texts() {
    // CVE-2017-7650: the judge sees the client id as it is, and makes no filter of it.
    script(
        "deny connect #
        c 10: 'MQTT' 04 02 003C '#'
        < 20: 00 05
        x 87 client: connect is not allowed at byte 0",
    );
    script("deny connect #\nc> 10: 'MQTT' 04 02 003C 'a'");
}

#[test]
fn invalid_texts_are_not_passed_on() {
    // CVE-2017-7653.
    script("connect4\nc 30: 0001 C0\nx 81 client: a text that is not UTF-8 at byte 19");
    script("connect4\nc 82: 0001 0003 EDA080 00\nx 81 client: a text that is not UTF-8 at byte 21");
}

#[test]
fn internal_topics_are_ordinary_input() {
    // CVE-2018-12543.
    script(
        "connect4\nc> 30: '$'\nc> 30: '$SYSTEM'\nc 30: '$SYS/'\nc> 82: 0001 '$SYS/#' 00 '$/+' 00",
    );
}

#[test]
fn a_rule_about_everything_is_not_one_about_internal_topics() {
    // The judge decides them; the gate asks for each of them.
    script("deny subscribe $x/#\nconnect5\nc 82: 0001 00 '$x/#' 00\n< 90: 0001 00 87");
}

#[test]
fn a_withdrawn_right_ends_the_subscription() {
    // CVE-2021-34434.
    script(
        "connect5
        c> 82: 0001 00 'a' 00
        s< 90: 0001 00 00
        s< 30: 'a' 00
        deny subscribe a
        reconsider
        < E0: 87
        x 87 subscribe is no longer allowed
        s 30: 'a' 00",
    );
    // And one of a session that was there before is judged message by message.
    script("deny receive a\nc> 10: 'MQTT' 04 00 003C 'c'\ns< 20: 01 00\ns 30: 'a'");
}

#[test]
fn a_judge_without_rules_decides_and_the_gate_adds_nothing() {
    // CVE-2018-12550: no list is not a list of everything. Each action is asked for.
    for (denied, packet, answer) in [
        ("publish #", "32: 'a' 0001 00", "40: 0001 87"),
        ("subscribe #", "82: 0001 00 'a' 00", "90: 0001 00 87"),
        ("unsubscribe #", "A2: 0001 00 'a'", "B0: 0001 00 87"),
    ] {
        script(&format!("deny {denied}\nconnect5\nc {packet}\n< {answer}"));
    }
}

#[test]
fn a_retained_message_is_judged_at_each_delivery_where_that_is_asked_for() {
    // CVE-2018-12546: the retained message outlives the right to publish it.
    script("set deliver each\ndeny receive a\nconnect4\ns 31: 'a' \"old\"\ns< 31: 'b' \"old\"");
}
