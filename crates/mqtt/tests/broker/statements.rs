//! Statements of the standards that no other script of the broker is about.

use super::script::script;

#[test]
fn wills_are_retained_where_they_say_so() {
    for (flags, expected) in [("06", "."), ("26", "< 31: 'w' 21")] {
        script(&format!(
            "ada > 10: 'MQTT' 04 {flags} 0000 'ada' 'w' '!'
            ada < 20: 00 00
            ada leaves
            bob connect4
            bob > 82: 0001 'w' 00
            bob < 90: 0001 00
            bob {expected}"
        ));
    }
    // Without will, nothing is published.
    script(
        "bob connect4
        bob > 82: 0001 '#' 00
        bob < 90: 0001 00
        ada connect4
        ada leaves
        bob .",
    );
}

#[test]
fn a_retained_message_outlives_the_session_of_its_publisher() {
    script(
        "ada connect4
        ada > 31: 'a' 01
        ada leaves
        bob connect4
        bob > 82: 0001 'a' 00
        bob < 90: 0001 00
        bob < 31: 'a' 01",
    );
}

#[test]
fn a_message_that_is_not_retained_leaves_the_retained_one() {
    script(
        "ada connect4
        ada > 31: 'a' 01
        ada > 30: 'a' 02
        ada > 30: 'a'
        ada > 30: 'b' 03
        bob connect4
        bob > 82: 0001 '#' 00
        bob < 90: 0001 00
        bob < 31: 'a' 01
        bob .",
    );
}

#[test]
fn retained_messages_come_again_with_the_same_filter() {
    script(
        "ada connect4
        ada > 31: 'a' 01
        ada > 82: 0001 'a' 00
        ada < 90: 0001 00
        ada < 31: 'a' 01
        ada > 82: 0002 'a' 01
        ada < 90: 0002 00
        ada < 31: 'a' 01
        ada > 30: 'a' 02
        ada < 30: 'a' 02
        ada .",
    );
}

#[test]
fn the_dup_flag_stays_behind() {
    script(
        "ada connect4
        ada > 82: 0001 'a' 01
        ada < 90: 0001 00
        ada > 3A: 'a' 0007 01
        ada < 30: 'a' 01
        ada < 40: 0007",
    );
}

#[test]
fn an_identifier_is_free_after_its_acknowledgement() {
    script(
        "ada connect5
        ada > 82: 0001 00 'a' 00
        ada < 90: 0001 00 00
        bob connect5
        bob > 32: 'a' 0007 00 01
        bob < 40: 0007
        bob > 3A: 'a' 0007 00 02
        bob < 40: 0007
        ada < 30: 'a' 00 01
        ada < 30: 'a' 00 02
        ada .",
    );
}

#[test]
fn all_subscription_identifiers_are_in_one_message() {
    script(
        "ada connect5
        ada > 82: 0001 02 0B01 'a' 00
        ada < 90: 0001 00 00
        ada > 82: 0002 02 0B02 '+' 00
        ada < 90: 0002 00 00
        ada > 82: 0003 00 '#' 00
        ada < 90: 0003 00 00
        bob connect5
        bob > 30: 'a' 00 01
        ada < 30: 'a' 04 0B02 0B01 01
        ada .",
    );
}

#[test]
fn user_properties_keep_their_order() {
    script(
        "bob connect5
        bob > 82: 0001 00 '#' 00
        bob < 90: 0001 00 00
        ada > 10: 'MQTT' 05 06 0000 00 'ada' 15 26 'b' '1' 26 'a' '2' 26 'b' '0' 'w' '!'
        ada < 20: 00 00 05 24 01 22 0010
        ada > 30: 'a' 15 26 'b' '1' 26 'a' '2' 26 'b' '0' 01
        bob < 30: 'a' 15 26 'b' '1' 26 'a' '2' 26 'b' '0' 01
        ada leaves
        bob < 30: 'w' 15 26 'b' '1' 26 'a' '2' 26 'b' '0' 21",
    );
}

#[test]
fn answers_have_no_words_beyond_their_codes() {
    // The client asks for Response Information and for no Problem Information.
    script(
        "ada > 10: 'MQTT' 05 02 0000 04 1901 1700 'ada'
        ada < 20: 00 00 05 24 01 22 0010
        ada > 82: 0001 00 'a' 00
        ada < 90: 0001 00 00
        ada > A2: 0002 00 'b'
        ada < B0: 0002 00 11
        ada > 32: 'b' 0003 00 01
        ada < 40: 0003
        ada > 62: 0004
        ada < 70: 0004 92
        ada .",
    );
}

#[test]
fn client_ids_of_the_standard_are_taken() {
    let letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for id in ["a", &letters[..23], &letters[23..46], &letters[39..]] {
        script(&format!("ada > 10: 'MQTT' 04 02 0000 '{id}'\nada < 20: 00 00"));
    }
}

#[test]
fn messages_that_wait_for_a_slow_reader_keep_their_expiry() {
    // Deviation 8: the interval is that of the publisher, and what is over is sent all the same.
    script(
        "ada connect5
        ada > 82: 0001 00 'a' 00
        ada < 90: 0001 00 00
        bob connect5
        bob > 30: 'a' 05 0200000002 01
        time 9000
        ada < 30: 'a' 05 0200000002 01",
    );
}
