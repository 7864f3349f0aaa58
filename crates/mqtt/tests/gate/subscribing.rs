//! SUBSCRIBE and UNSUBSCRIBE.

use super::script::script;

#[test]
fn denied_filters_alone_are_denied() {
    script(
        "deny subscribe b/#
        connect5
        c 82: 0001 02 0B05 'a' 02 'b/1' 00 'c/#' 29 '+/x' 00
        > 82: 0001 02 0B05 'a' 02 'c/#' 29
        s 90: 0001 04 1F 'r' 02 8F
        < 90: 0001 04 1F 'r' 02 87 8F 87",
    );
    script(
        "deny subscribe b/#
        connect4
        c 82: 0001 'b' 00 'a' 02
        > 82: 0001 'a' 02
        s 90: 0001 01
        < 90: 0001 80 01",
    );
}

#[test]
fn the_gate_alone_answers_when_all_are_denied() {
    script(
        "deny subscribe b/#
        connect5
        c 82: 0001 00 'b' 02 'b/+' 00
        < 90: 0001 00 87 87
        c> 82: 0001 00 'a' 02
        s< 90: 0001 00 02",
    );
    script("deny subscribe #\nconnect4\nc 82: 0001 'b' 02\n< 90: 0001 80");
}

#[test]
fn answers_come_in_any_order() {
    script(
        "deny subscribe b
        connect5
        c 82: 0001 00 'a' 00 'b' 00
        > 82: 0001 00 'a' 00
        c 82: 0002 00 'b' 00 'c' 00
        > 82: 0002 00 'c' 00
        c> 82: 0003 00 'd' 00
        s 90: 0002 00 01
        < 90: 0002 00 87 01
        s< 90: 0003 00 02
        s 90: 0001 00 00
        < 90: 0001 00 00 87",
    );
}

#[test]
fn denied_ends_of_subscriptions_are_told_in_5() {
    script(
        "deny unsubscribe b
        connect5
        c 82: 0001 00 'a' 00 'b' 00 'c' 00
        > 82: 0001 00 'a' 00 'b' 00 'c' 00
        s< 90: 0001 00 00 00 00
        c A2: 0002 00 'a' 'b' 'c'
        > A2: 0002 00 'a' 'c'
        s B0: 0002 00 00 11
        < B0: 0002 00 00 87 11
        c A2: 0003 00 'b'
        < B0: 0003 00 87",
    );
    script(
        "deny unsubscribe b
        connect4
        c A2: 0002 'a' 'b'
        > A2: 0002 'a'
        s< B0: 0002
        c A2: 0003 'b'
        < B0: 0003",
    );
}

#[test]
fn an_answer_has_a_question_and_as_many_codes() {
    script(
        "connect5
        s 90: 0001 00 00
        > E0: 82
        < E0: 80
        x 82 broker: an acknowledgement of nothing at byte 8",
    );
    script(
        "connect5
        c> 82: 0001 00 'a' 00
        s B0: 0001 00 00
        > E0: 82
        < E0: 80
        x 82 broker: an acknowledgement of nothing at byte 8",
    );
    for codes in ["00", "00 00 00"] {
        script(&format!(
            "connect4
            c> 82: 0001 'a' 00 'b' 00
            s 90: 0001 {codes}
            x 82 broker: an acknowledgement with a wrong number of reason codes at byte 4"
        ));
    }
}

#[test]
fn an_identifier_that_waits_is_not_used_again() {
    script(
        "connect4
        c> 82: 0001 'a' 00
        c 82: 0001 'b' 00
        x 82 client: a packet identifier that is in use at byte 23",
    );
    script(
        "connect5
        c> 82: 0001 00 'a' 00
        c A2: 0001 00 'b'
        < E0: 82
        x 82 client: a packet identifier that is in use at byte 28",
    );
}

#[test]
fn subscriptions_are_bounded() {
    script(
        "set subscriptions 2
        connect5
        c 82: 0001 00 'a' 00 'b' 00 'c' 00
        > 82: 0001 00 'a' 00 'b' 00
        s 90: 0001 00 00 8F
        < 90: 0001 00 00 8F 97
        c> 82: 0002 00 'c' 00
        s< 90: 0002 00 00
        c 82: 0003 00 'b' 00
        < 90: 0003 00 97
        c> 82: 0004 00 'c' 01
        s< 90: 0004 00 01
        c> A2: 0005 00 'a'
        s< B0: 0005 00 00
        c> 82: 0006 00 'b' 00",
    );
    script(
        "set subscriptions 1
        connect4
        c> 82: 0001 'a' 00
        c A2: 0002 'a'
        x 97 client: too much that waits for an answer of the broker at byte 23",
    );
}

#[test]
fn a_filter_that_is_asked_for_again_before_its_end_is_told_stays() {
    script(
        "connect5
        c> 82: 0001 00 'a' 00
        s< 90: 0001 00 00
        c> A2: 0002 00 'a'
        c> 82: 0003 00 'a' 00
        s< B0: 0002 00 00
        s< 90: 0003 00 00
        deny subscribe a
        reconsider
        < E0: 87
        x 87 subscribe is no longer allowed",
    );
}

#[test]
fn groups_are_taken_apart_once() {
    script(
        "deny subscribe secret/#
        connect5
        c 82: 0001 00 '$share/g/secret/x' 00 '$share/g/a' 00
        > 82: 0001 00 '$share/g/a' 00
        s 90: 0001 00 00
        < 90: 0001 00 87 00",
    );
}
