//! Waits, by the clock that is handed in.

use super::script::script;

#[test]
fn connect_comes_in_time() {
    script("tick 4999\ntick 5000\nx 8d no CONNECT in time");
    // Half a packet is none.
    script("c* 10 0D 00 04\ntick 5000\nx 8d no CONNECT in time");
    script("c> 10: 'MQTT' 04 02 0000 'c'\ntick 5000\ns< 20: 00 00\ntick 99999999");
}

#[test]
fn the_broker_answers_connect_in_time() {
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        tick 1000
        tick 10999
        tick 11000
        < 20: 00 03
        x 88 no CONNACK in time",
    );
}

#[test]
fn silence_for_longer_than_the_keep_alive_closes() {
    script(
        "connect5
        tick 1000
        tick 90999
        tick 91000
        < E0: 8D
        x 8d silence for longer than the keep-alive",
    );
    // Whole packets count, those of the broker do not.
    script(
        "connect4
        tick 1000
        c> C0:
        tick 60000
        s< D0:
        s< 30: 'a'
        c* 30 05
        tick 149999
        tick 150000
        x 8d silence for longer than the keep-alive",
    );
}

#[test]
fn the_broker_may_set_the_keep_alive() {
    script(
        "c> 10: 'MQTT' 05 02 003C 05 27 00000400 'c'
        s< 20: 00 00 0B 21 0003 27 00000010 13 0001
        tick 1000
        tick 2499
        tick 2500
        < E0: 8D
        x 8d silence for longer than the keep-alive",
    );
}

#[test]
fn the_longest_keep_alive_does_not_overflow() {
    script(
        "c> 10: 'MQTT' 04 02 FFFF 'c'
        s< 20: 00 00
        tick 1000
        tick 98303499
        tick 98303500
        x 8d silence for longer than the keep-alive",
    );
    script(
        "c> 10: 'MQTT' 04 02 FFFF 'c'
        s< 20: 00 00
        tick 1
        tick 18446744073709551615
        x 8d silence for longer than the keep-alive",
    );
}

#[test]
fn the_broker_hears_of_a_client_whose_packets_are_all_refused() {
    script(
        "deny publish b
        connect4
        tick 1000
        c 30: 'b'
        tick 40000
        > C0:
        c> C0:
        s D0:
        s< D0:
        tick 41000
        c 30: 'b'
        tick 80000
        > C0:
        s D0:",
    );
    // The client asked first, so the first answer is its own.
    script(
        "deny publish b
        connect4
        c> C0:
        tick 1000
        c 30: 'b'
        tick 40000
        > C0:
        s< D0:
        s D0:
        c> C0:
        s< D0:",
    );
}
