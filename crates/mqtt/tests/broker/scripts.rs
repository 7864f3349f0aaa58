//! What a broker owes its clients.

use std::num::NonZeroU16;

use wardgate_mqtt::broker::{Counts, Settings, Slow};

use super::script::{run, script};

#[test]
fn messages_reach_all_subscribers_at_qos_0() {
    let counts = script(
        "ada connect4
        ada > 82: 0001 'a/#' 02 'b' 01
        ada < 90: 0001 00 00
        bob connect5
        bob > 82: 0001 00 'a/+' 02
        bob < 90: 0001 00 00
        cyd connect5
        cyd > 32: 'a/b' 0007 00 01
        cyd < 40: 0007
        cyd .
        ada < 30: 'a/b' 01
        ada .
        bob < 30: 'a/b' 00 01
        cyd > 30: 'a' 00 02
        ada < 30: 'a' 02
        bob .",
    );
    assert_eq!(counts, Counts { received: 2, delivered: 3, ..Counts::default() });
}

#[test]
fn a_client_gets_a_message_once_for_all_its_subscriptions() {
    script(
        "ada connect5
        ada > 82: 0001 02 0B01 'a' 00
        ada < 90: 0001 00 00
        ada > 82: 0002 02 0B02 '+' 00
        ada < 90: 0002 00 00
        ada > 82: 0003 00 '#' 00
        ada < 90: 0003 00 00
        ada > 30: 'b' 00 01
        ada < 30: 'b' 02 0B02 01
        ada .
        bob connect4
        bob > 82: 0001 '#' 00 'a' 00
        bob < 90: 0001 00 00
        bob > 30: 'a' 01
        bob < 30: 'a' 01
        bob .",
    );
}

#[test]
fn subscriptions_end_and_are_replaced() {
    script(
        "ada connect5
        ada > 82: 0001 02 0B01 'a' 00
        ada < 90: 0001 00 00
        ada > 82: 0001 02 0B02 'a' 00
        ada < 90: 0001 00 00
        ada > 30: 'a' 00 01
        ada < 30: 'a' 02 0B02 01
        ada > A2: 0002 00 'a' 'b'
        ada < B0: 0002 00 00 11
        ada > 30: 'a' 00 01
        ada .
        bob connect4
        bob > 82: 0001 'a' 00
        bob < 90: 0001 00
        bob > A2: 0002 'a' 'b'
        bob < B0: 0002
        ada > 30: 'a' 00 01
        bob .",
    );
}

#[test]
fn own_messages_do_not_come_back_where_that_is_asked_for() {
    script(
        "ada connect5
        ada > 82: 0001 00 'a' 04
        ada < 90: 0001 00 00
        bob connect5
        bob > 82: 0001 00 'a' 04
        bob < 90: 0001 00 00
        ada > 30: 'a' 00 01
        ada .
        bob < 30: 'a' 00 01",
    );
}

#[test]
fn retained_messages_wait_for_subscribers() {
    script(
        "ada connect5
        ada > 31: 'a/1' 00 01
        ada > 31: 'a/2' 00 02
        ada > 31: 'a/2' 00 03
        ada > 31: 'b' 00 04
        ada > 31: 'a' 00 05
        bob connect4
        bob > 82: 0001 'a/#' 00
        bob < 90: 0001 00
        bob < 31: 'a' 05
        bob < 31: 'a/1' 01
        bob < 31: 'a/2' 03
        bob .
        ada > 31: 'a/1' 00
        bob < 30: 'a/1'
        cyd connect5
        cyd > 82: 0001 00 '+/1' 00 'a/2' 00 '$share/g/a/2' 00 '#' 20
        cyd < 90: 0001 00 00 00 00 00
        cyd < 31: 'a/2' 00 03
        cyd .",
    );
}

#[test]
fn retain_options_of_5_are_kept() {
    script(
        "ada connect5
        ada > 31: 'a' 00 01
        bob connect5
        bob > 82: 0001 00 'a' 18
        bob < 90: 0001 00 00
        bob < 31: 'a' 00 01
        bob > 82: 0001 00 'a' 18
        bob < 90: 0001 00 00
        bob .
        bob > 82: 0001 00 'a' 08
        bob < 90: 0001 00 00
        bob < 31: 'a' 00 01
        ada > 31: 'a' 00 02
        bob < 31: 'a' 00 02
        bob > 82: 0001 00 'a' 20
        bob < 90: 0001 00 00
        bob .
        ada > 31: 'a' 00 03
        bob < 30: 'a' 00 03",
    );
}

#[test]
fn retained_messages_expire() {
    script(
        "ada connect5
        ada > 31: 'a' 05 02 0000000A 01
        ada > 31: 'b' 00 02
        time 4500
        bob connect5
        bob > 82: 0001 00 '#' 00
        bob < 90: 0001 00 00
        bob < 31: 'a' 05 02 00000006 01
        bob < 31: 'b' 00 02
        time 10000
        bob > 82: 0001 00 '#' 00
        bob < 90: 0001 00 00
        bob < 31: 'b' 00 02
        bob .",
    );
}

#[test]
fn retained_messages_are_bounded_and_counted() {
    let settings = Settings { retained_messages: 1, ..Settings::DEFAULT };
    let text = "ada connect5
        ada > 33: 'a' 0001 00 01
        ada < 40: 0001
        ada > 33: 'b' 0001 00 01
        ada < 40: 0001 97
        ada > 33: 'a' 0001 00 02
        ada < 40: 0001
        ada > 82: 0001 00 '#' 00
        ada < 90: 0001 00 00
        ada < 31: 'a' 00 02
        ada .";
    assert_eq!(run(settings, text).not_retained, 1);
    let settings = Settings { retained_bytes: 250, ..Settings::DEFAULT };
    assert_eq!(run(settings, text).not_retained, 1);
}

#[test]
fn a_retained_message_whose_publisher_lost_its_right_is_gone() {
    script(
        "ada connect5
        ada > 31: 'a' 00 01
        forget a
        ada > 82: 0001 00 '#' 00
        ada < 90: 0001 00 00
        ada .",
    );
}

#[test]
fn many_retained_messages_come_as_the_client_reads() {
    let payload = "00".repeat(50_000);
    let mut text = "ada connect4\n".to_owned();
    (10..40).for_each(|n| text += &format!("ada > 31: 'r/{n}' {payload}\n"));
    text += "bob connect4\nbob > 82: 0001 'r/+' 00 'r/39' 00\nbob < 90: 0001 00 00\n";
    (10..40).for_each(|n| text += &format!("bob < 31: 'r/{n}' {payload}\n"));
    text += &format!("bob < 31: 'r/39' {payload}\nbob .\n");
    assert_eq!(script(&text).delivered, 31);
}

#[test]
fn wildcards_match_no_internal_topics() {
    script(
        "ada connect4
        ada > 31: '$x/a' 01
        ada > 82: 0001 '#' 00 '+/a' 00
        ada < 90: 0001 00 00
        ada > 30: '$x/a' 01
        ada .
        ada > 82: 0002 '$x/#' 00
        ada < 90: 0002 00
        ada < 31: '$x/a' 01",
    );
}

#[test]
fn shared_subscriptions_take_turns() {
    script(
        "ada connect5
        bob connect5
        ada > 82: 0001 02 0B07 '$share/g/a' 00
        ada < 90: 0001 00 00
        bob > 82: 0001 00 '$share/g/a' 00 '$share/h/a' 00
        bob < 90: 0001 00 00 00
        ada > 30: 'a' 00 01
        bob < 30: 'a' 00 01
        ada < 30: 'a' 02 0B07 01
        ada > 30: 'a' 00 02
        ada .
        bob < 30: 'a' 00 02
        bob < 30: 'a' 00 02
        ada > A2: 0001 00 '$share/g/a' 'a'
        ada < B0: 0001 00 00 11
        ada > 30: 'a' 00 03
        bob < 30: 'a' 00 03
        bob < 30: 'a' 00 03
        bob .
        bob leaves
        ada > 30: 'a' 00 04
        ada > 82: 0001 00 '$share/g/a' 00
        ada < 90: 0001 00 00
        ada > 30: 'a' 00 05
        ada < 30: 'a' 00 05",
    );
}

#[test]
fn shared_messages_go_to_those_who_can_take_them() {
    let settings = Settings { queue_bytes: 10, ..Settings::DEFAULT };
    let counts = run(
        settings,
        "ada connect4
        bob connect4
        ada > 82: 0001 '$share/g/a' 00
        ada < 90: 0001 00
        bob > 82: 0001 '$share/g/a' 00
        bob < 90: 0001 00
        cyd connect4
        cyd > 30: 'a' 0000000000000001
        cyd > 30: 'a' 0000000000000002
        bob < 30: 'a' 0000000000000002
        cyd > 30: 'a' 0000000000000003
        bob < 30: 'a' 0000000000000003
        ada < 30: 'a' 0000000000000001
        ada .",
    );
    assert_eq!(counts, Counts { received: 3, delivered: 3, ..Counts::default() });
}

#[test]
fn wills_are_published_unless_the_client_says_goodbye() {
    let connect = "ada > 10: 'MQTT' 04 26 0000 'ada' 'w' '!'\nada < 20: 00 00\n";
    let bob = "bob connect4\nbob > 82: 0001 'w' 00\nbob < 90: 0001 00\n";
    script(&format!(
        "{bob}{connect}ada leaves\nbob < 30: 'w' 21\ncyd connect4\ncyd > 82: 0001 'w' 00\ncyd < 90: 0001 00\ncyd < 31: 'w' 21"
    ));
    script(&format!("{bob}{connect}ada is gone\nbob ."));
    script(&format!("{bob}{connect}ada > E0:\nada leaves\nbob ."));
    // With the reason code 4 it is published all the same.
    script(&format!(
        "{bob}ada > 10: 'MQTT' 05 06 0000 00 'ada' 05 18 0000000A 'w' '!'\n\
         ada < 20: 00 00 05 24 01 22 0010\nada > E0: 04 00\nada leaves\nbob < 30: 'w' 21\nbob ."
    ));
}

#[test]
fn a_client_id_is_taken_over() {
    script(
        "bob connect4
        bob > 82: 0001 'w' 00
        bob < 90: 0001 00
        ada > 10: 'MQTT' 04 06 0000 'id' 'w' '!'
        ada < 20: 00 00
        ada > 82: 0001 'a' 00
        ada < 90: 0001 00
        cyd > 10: 'MQTT' 04 02 0000 'id'
        cyd < 20: 00 00
        ada x 8E
        bob > 30: 'a' 01
        ada .
        cyd .
        ada leaves
        bob < 30: 'w' 21
        cyd > 82: 0001 'a' 00
        cyd < 90: 0001 00
        bob > 30: 'a' 02
        cyd < 30: 'a' 02
        ada > 10: 'MQTT' 04 02 0000 'id'
        ada < 20: 00 00
        cyd x 8E",
    );
}

#[test]
fn a_thousand_connections_with_one_id_leave_one() {
    let mut text = String::new();
    for n in 0..1000 {
        text += &format!("c{n} > 10: 'MQTT' 04 02 0000 'id'\nc{n} < 20: 00 00\n");
        text += &format!("c{n} > 82: 0001 '$share/g/a' 00 '$queue/a' 00\nc{n} < 90: 0001 00 00\n");
    }
    text += "x connect4\nx > 30: 'a' 01\nc999 < 30: 'a' 01\nc998 x 8E\nc998 leaves\nc0 x 8E\n";
    assert_eq!(script(&text).delivered, 1);
}

#[test]
fn sessions_end_with_their_connection() {
    script(
        "ada > 10: 'MQTT' 04 00 0000 'ada'
        ada < 20: 00 00
        ada > 82: 0001 'a' 01
        ada < 90: 0001 00
        ada leaves
        ada > 10: 'MQTT' 04 00 0000 'ada'
        ada < 20: 00 00
        ada > 30: 'a' 01
        ada .
        bob > 10: 'MQTT' 05 00 0000 05 11 0000000A 'bob'
        bob < 20: 00 00 0A 24 01 22 0010 11 00000000",
    );
}

#[test]
fn qos_2_and_authentication_are_refused() {
    script("ada connect5\nada > 34: 'a' 0001 00 01\nada x 9B");
    script("ada connect4\nada > 34: 'a' 0001 01\nada x 9B");
    script("ada > 10: 'MQTT' 05 16 0000 00 'ada' 00 'w' '!'\nada x 9B");
    script("ada > 10: 'MQTT' 04 16 0000 'ada' 'w' '!'\nada < 20: 00 00");
    script("ada > 10: 'MQTT' 05 02 0000 04 15 'm' 'ada'\nada x 8C");
    script("ada connect5\nada > 62: 0001\nada < 70: 0001 92");
}

#[test]
fn aliases_stand_for_topics() {
    script(
        "ada connect5
        ada > 82: 0001 00 '#' 00
        ada < 90: 0001 00 00
        ada > 30: 'a' 03 23 0001 01
        ada < 30: 'a' 00 01
        ada > 30: '' 03 23 0001 02
        ada < 30: 'a' 00 02
        ada > 30: '' 03 23 0002 02
        ada x 94",
    );
}

#[test]
fn properties_go_along() {
    script(
        "ada connect5
        bob connect4
        ada > 82: 0001 02 0B09 'a' 00
        ada < 90: 0001 00 00
        bob > 82: 0001 'a' 00
        bob < 90: 0001 00
        ada > 30: 'a' 10 01 01 08 'r' 23 0001 26 'k' 'v' 61
        ada < 30: 'a' 0F 01 01 08 'r' 26 'k' 'v' 0B09 61
        bob < 30: 'a' 61",
    );
}

#[test]
fn properties_of_the_publisher_alone_stay_behind() {
    script(
        "bob connect5
        bob > 82: 0001 00 'w' 00
        bob < 90: 0001 00 00
        ada > 10: 'MQTT' 05 26 0000 00 'ada' 0C 18 0000000A 26 'k' 'v' 'w' '!'
        ada < 20: 00 00 05 24 01 22 0010
        ada > 31: 'a' 03 23 0001 01
        ada leaves
        bob < 30: 'w' 07 26 'k' 'v' 21
        bob > 82: 0001 00 '#' 00
        bob < 90: 0001 00 00
        bob < 31: 'a' 00 01
        bob < 31: 'w' 07 26 'k' 'v' 21",
    );
}

#[test]
fn what_is_too_large_for_a_reader_is_counted() {
    let counts = script(
        "ada connect5 27 00000014
        ada > 82: 0001 00 'a' 00
        ada < 90: 0001 00 00
        bob connect4
        bob > 30: 'a' 0102030405060708090A0B0C0D0E0F10
        bob > 30: 'a' 01
        ada < 30: 'a' 00 01
        ada .",
    );
    assert_eq!((counts.dropped_large, counts.delivered), (1, 1));
}

#[test]
fn pings_are_answered_and_ids_assigned() {
    script("ada connect4\nada > C0:\nada < D0:\nada .");
    script(
        "ada > 10: 'MQTT' 05 02 0000 00 ''
        ada < 20: 00 00 2D 24 01 22 0010 12 'auto-910a2dec89025cc1f558ec41d5aed81f'",
    );
}

#[test]
fn long_keep_alives_are_shortened_in_5() {
    let settings = Settings { keep_alive: NonZeroU16::new(60), ..Settings::DEFAULT };
    for (asked, told) in [
        ("0078", "08 24 01 22 0010 13 003C"),
        ("FFFF", "08 24 01 22 0010 13 003C"),
        ("0000", "08 24 01 22 0010 13 003C"),
        ("003D", "08 24 01 22 0010 13 003C"),
        ("003C", "05 24 01 22 0010"),
        ("0001", "05 24 01 22 0010"),
    ] {
        let script = format!("ada > 10: 'MQTT' 05 02 {asked} 00 'ada'\nada < 20: 00 00 {told}");
        run(settings, &script);
    }
    // 3.1.1 has no word for it.
    run(settings, "ada > 10: 'MQTT' 04 02 0000 'ada'\nada < 20: 00 00");
}

#[test]
fn a_slow_reader_holds_its_publishers_for_a_while() {
    let small = Settings { queue_bytes: 10, ..Settings::DEFAULT };
    let begin = "ada connect4
        ada > 82: 0001 'a' 00
        ada < 90: 0001 00
        bob connect4
        bob > 30: 'a' 0000000000000001
        time 1000
        bob >> 30: 'a' 02
        time 1099\n";
    let read = run(
        small,
        &format!(
            "{begin}ada < 30: 'a' 0000000000000001
            ada .
            bob again
            ada < 30: 'a' 02
            bob > 30: 'a' 0000000000000003
            time 5000
            bob >> 30: 'a' 04
            time 5099
            ada < 30: 'a' 0000000000000003
            bob again
            ada < 30: 'a' 04"
        ),
    );
    assert_eq!(read, Counts { received: 4, delivered: 4, ..Counts::default() });
    let closed = run(small, &format!("{begin}time 1100\nbob again\nada x 97\nbob > 30: 'a' 05"));
    let expected = Counts {
        received: 3,
        dropped_full: 1,
        dropped_gone: 1,
        closed_slow: 1,
        ..Counts::default()
    };
    assert_eq!(closed, expected);
    let dropped = run(
        Settings { slow: Slow::Drop, ..small },
        &format!(
            "{begin}time 1100
            bob again
            bob > 30: 'a' 03
            ada < 30: 'a' 0000000000000001
            ada .
            bob > 30: 'a' 04
            ada < 30: 'a' 04"
        ),
    );
    let expected = Counts { received: 4, delivered: 2, dropped_full: 2, ..Counts::default() };
    assert_eq!(dropped, expected);
}

#[test]
fn a_held_message_has_reached_nobody() {
    let small = Settings { queue_bytes: 10, ..Settings::DEFAULT };
    run(
        small,
        "ada connect4
        ada > 82: 0001 'a' 00
        ada < 90: 0001 00
        cyd connect4
        cyd > 82: 0001 '#' 00
        cyd < 90: 0001 00
        bob connect4
        bob > 30: 'a' 0000000000000001
        cyd < 30: 'a' 0000000000000001
        bob >> 32: 'a' 0001 02
        cyd .
        bob .
        ada leaves
        bob again
        bob < 40: 0001
        cyd < 30: 'a' 02
        cyd .",
    );
}

#[test]
fn what_waits_for_a_reader_that_leaves_is_counted() {
    let counts = script(
        "ada connect4
        ada > 82: 0001 'a' 00
        ada < 90: 0001 00
        bob connect4
        bob > 30: 'a' 01
        bob > 30: 'a' 02
        ada leaves",
    );
    assert_eq!((counts.received, counts.delivered, counts.dropped_gone), (2, 0, 2));
}
