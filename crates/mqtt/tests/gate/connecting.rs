//! CONNECT, CONNACK and AUTH.

use super::script::script;

#[test]
fn what_is_allowed_is_passed_on_as_it_came() {
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        s< 20: 00 00
        c> 30: 'a/b' \"payload\"
        c> 32: 'a/b' 0001 \"payload\"
        s< 40: 0001
        c> 34: 'a/b' 0002 \"payload\"
        s< 50: 0002
        c> 62: 0002
        s< 70: 0002
        c> 82: 0003 'a/#' 01
        s< 90: 0003 01
        s< 32: 'a/x' 0001 \"message\"
        c> 40: 0001
        s< 34: 'a/x' 0002 \"message\"
        c> 50: 0002
        s< 62: 0002
        c> 70: 0002
        c> A2: 0004 'a/#'
        s< B0: 0004
        c> C0:
        s< D0:
        c> E0:
        x 00 client: DISCONNECT at byte 98",
    );
}

#[test]
fn packets_of_5_are_passed_on_with_their_properties() {
    script(
        "connect5
        c> 32: 'a' 0001 13 26 'k' 'v' 01 01 02 0000000A 09 'xy' \"p\"
        s< 40: 0001 10 00
        c> 82: 0002 02 0B07 'a/+' 2D
        s< 90: 0002 04 1F 'r' 00
        s< 30: 'a/b' 02 0B07 \"p\"
        c> A2: 0003 00 'a/+'
        s< B0: 0003 00 00
        c> E0: 04
        x 04 client: DISCONNECT at byte 70",
    );
}

#[test]
fn the_bounds_of_the_gate_are_announced() {
    // Maximum Packet Size to the broker, and Receive Maximum and Maximum Packet Size to the client.
    script(
        "c 10: 'MQTT' 05 02 003C 00 'c'
        > 10: 'MQTT' 05 02 003C 05 27 00041000 'c'
        s 20: 00 00 00
        < 20: 00 00 08 21 0040 27 00040000",
    );
    // Aliases that are more than the gate remembers.
    script(
        "c 10: 'MQTT' 05 02 003C 0B 22 0020 21 0005 11 00000000 'c'
        > 10: 'MQTT' 05 02 003C 10 11 00000000 22 0010 21 0005 27 00041000 'c'
        s 20: 00 00 07 22 FFFF 25 00 24 00
        < 20: 00 00 0F 25 00 24 00 22 0010 21 0040 27 00040000",
    );
    // Narrower ones stay as they are, byte for byte.
    script(
        "c> 10: 'MQTT' 05 02 003C 08 27 00000400 22 0002 'c'
        s< 20: 00 00 0B 21 0003 22 0001 27 00000100",
    );
}

#[test]
fn a_password_may_stay_with_the_gate() {
    script("c> 10: 'MQTT' 04 C2 003C 'c' 'u' 'p'");
    script(
        "set password remove
        c 10: 'MQTT' 04 C6 003C 'c' 'w' 'bye' 'u' 'p'
        > 10: 'MQTT' 04 86 003C 'c' 'w' 'bye' 'u'",
    );
    script(
        "set password remove
        c 10: 'MQTT' 05 42 003C 00 'c' 'p'
        > 10: 'MQTT' 05 02 003C 05 27 00041000 'c'",
    );
    script("set password remove\nc> 10: 'MQTT' 04 82 003C 'c' 'u'");
}

#[test]
fn a_denied_connect_is_told() {
    script(
        "deny connect c
        c 10: 'MQTT' 05 02 003C 00 'c'
        < 20: 00 87 00
        x 87 client: connect is not allowed at byte 0
        c 30: 'a' 00",
    );
    script(
        "deny connect c
        c 10: 'MQTT' 04 02 003C 'c'
        < 20: 00 05
        x 87 client: connect is not allowed at byte 0",
    );
    script(
        "c 10: 'MQTT' 04 C2 003C 'c' 'u' 'wrong'
        < 20: 00 04
        x 86 client: connect is not allowed at byte 0",
    );
}

#[test]
fn a_denied_will_refuses_the_connection() {
    script(
        "deny will w/#
        c 10: 'MQTT' 05 06 003C 00 'c' 00 'w/1' 'bye'
        < 20: 00 87 00
        x 87 client: will is not allowed at byte 0",
    );
    script(
        "deny will w/#
        c 10: 'MQTT' 04 06 003C 'c' 'w' 'bye'
        < 20: 00 05
        x 87 client: will is not allowed at byte 0",
    );
    script("deny will w/#\nc> 10: 'MQTT' 04 06 003C 'c' 'v' 'bye'");
    script(
        "c 10: 'MQTT' 04 06 003C 'c' '$SYS/x' 'bye'
        < 20: 00 05
        x 87 client: will is not allowed at byte 0",
    );
}

#[test]
fn connect_comes_first_and_once() {
    script("c 30: 'a'\nx 82 client: a first packet other than CONNECT at byte 0");
    script("c C0:\nx 82 client: a first packet other than CONNECT at byte 0");
    script("c* F0\nx 82 client: a first packet other than CONNECT at byte 0");
    script(
        "connect4
        c 10: 'MQTT' 04 02 003C 'c'
        x 82 client: a second CONNECT at byte 15",
    );
    script(
        "connect5
        c 10: 'MQTT' 05 02 003C 00 'c'
        < E0: 82
        x 82 client: a second CONNECT at byte 19",
    );
}

#[test]
fn the_broker_refuses_by_its_own_words() {
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        s< 20: 00 03
        x 03 broker: CONNACK refuses at byte 0",
    );
    script(
        "c 10: 'MQTT' 05 02 003C 00 'c'
        > 10: 'MQTT' 05 02 003C 05 27 00041000 'c'
        s< 20: 00 8A 04 1F 'x'
        x 8a broker: CONNACK refuses at byte 0",
    );
}

#[test]
fn a_broker_that_is_away_is_told() {
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        lost server
        < 20: 00 03
        x 88 broker: the network connection has ended at byte 0",
    );
    script(
        "c 10: 'MQTT' 05 02 003C 00 'c'
        > 10: 'MQTT' 05 02 003C 05 27 00041000 'c'
        lost server
        < 20: 00 88 00
        x 88 broker: the network connection has ended at byte 0",
    );
    // A broker that leaves without a word takes its client along without one.
    for connect in ["connect4", "connect5"] {
        script(&format!(
            "{connect}\nlost server\nx 88 broker: the network connection has ended at byte 0"
        ));
    }
}

#[test]
fn authentication_goes_through() {
    script(
        "c 10: 'MQTT' 05 02 003C 04 15 'M' 'c'
        > 10: 'MQTT' 05 02 003C 09 15 'M' 27 00041000 'c'
        s< F0: 18 08 15 'M' 16 'x'
        c> F0: 18 08 15 'M' 16 'y'
        s 20: 00 00 04 15 'M'
        < 20: 00 00 0C 15 'M' 21 0040 27 00040000
        c> F0: 19 04 15 'M'
        s< F0: 00 04 15 'M'",
    );
    script(
        "c 10: 'MQTT' 05 02 003C 04 15 'M' 'c'
        > 10: 'MQTT' 05 02 003C 09 15 'M' 27 00041000 'c'
        c 30: 'a' 00
        < 20: 00 82 00
        x 82 client: a packet before the end of an authentication at byte 20",
    );
    script(
        "connect5
        c F0: 18 04 15 'M'
        < E0: 82
        x 82 client: AUTH without an authentication method at byte 19",
    );
}

#[test]
fn packets_may_follow_connect_at_once() {
    script(
        "deny publish b
        c> 10: 'MQTT' 04 02 003C 'c'
        c> 30: 'a'
        c 30: 'b'
        c> 82: 0001 'a' 00
        s< 20: 00 00
        s< 90: 0001 00",
    );
}

#[test]
fn answers_to_packets_that_follow_connect_at_once_come_after_connack() {
    let early = "deny publish b
        deny subscribe b
        deny unsubscribe b
        c> 10: 'MQTT' 05 02 003C 05 27 00041000 'c'
        c 32: 'b' 0001 00
        c 34: 'b' 0002 00
        c 82: 0003 00 'b' 00
        c A2: 0004 00 'b'\n";
    script(&format!(
        "{early}s 20: 00 00 00
        < 20: 00 00 08 21 0040 27 00040000
        < 40: 0001 87
        < 50: 0002 87
        < 90: 0003 00 87
        < B0: 0004 00 87"
    ));
    script(&format!("{early}s< 20: 00 87 00\nx 87 broker: CONNACK refuses at byte 0"));
    script(
        "set denied drop
        deny publish b
        c> 10: 'MQTT' 04 02 003C 'c'
        c 34: 'b' 0001
        c 62: 0001
        s 20: 00 00
        < 20: 00 00
        < 50: 0001
        < 70: 0001",
    );
}

#[test]
fn answers_that_wait_for_connack_are_bounded() {
    let denied = "c 32: 'b' 0001 00\n".repeat(4096 / 5 + 1);
    script(&format!(
        "deny publish b
        c> 10: 'MQTT' 05 02 003C 05 27 00041000 'c'
        {denied}< 20: 00 97 00
        x 97 client: too much that waits for an answer of the broker at byte 6573"
    ));
}

#[test]
fn an_assigned_client_id_reaches_the_judge() {
    script(
        "c 10: 'MQTT' 05 02 003C 00 ''
        > 10: 'MQTT' 05 02 003C 05 27 00041000 ''
        s 20: 00 00 06 12 'c-7'
        < 20: 00 00 0E 12 'c-7' 21 0040 27 00040000
        assigned c-7",
    );
}

#[test]
fn each_side_sends_its_own_packets() {
    let wrong = "a packet that only the other side sends";
    for packet in ["20: 00 00 00", "90: 0001 00 00", "B0: 0001 00 00", "D0:"] {
        script(&format!("connect5\nc {packet}\n< E0: 82\nx 82 client: {wrong} at byte 19"));
    }
    for packet in ["10: 'MQTT' 05 02 003C 00 'c'", "82: 0001 00 'a' 00", "A2: 0001 00 'a'", "C0:"] {
        script(&format!(
            "connect5\ns {packet}\n> E0: 82\n< E0: 80\nx 82 broker: {wrong} at byte 8"
        ));
    }
    script(&format!("connect4\ns E0:\nx 82 broker: {wrong} at byte 4"));
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        s D0:
        x 82 broker: a first packet other than CONNACK and AUTH at byte 0",
    );
    script("connect4\ns 20: 00 00\nx 82 broker: a second CONNACK at byte 4");
}
