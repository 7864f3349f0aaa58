//! Rights that are gone while the client is there.

use super::script::script;

#[test]
fn a_lost_subscription_closes() {
    script(
        "connect5
        c> 82: 0001 00 'a' 00 'b/+' 00
        s< 90: 0001 00 00 00
        deny subscribe c
        reconsider
        deny subscribe b/1
        reconsider
        < E0: 87
        x 87 subscribe is no longer allowed",
    );
    script(
        "connect4
        c> 82: 0001 'a' 00
        deny subscribe a
        reconsider
        x 87 subscribe is no longer allowed",
    );
    // A shared one is that of its filter.
    script(
        "connect4
        c> 82: 0001 '$share/g/a' 00
        deny subscribe a
        reconsider
        x 87 subscribe is no longer allowed",
    );
}

#[test]
fn subscriptions_that_ended_or_were_refused_do_not_matter() {
    script(
        "connect5
        c> 82: 0001 00 'a' 00 'b' 00
        s< 90: 0001 00 00 80
        c> A2: 0002 00 'a'
        s< B0: 0002 00 00
        deny subscribe #
        reconsider",
    );
    script(
        "connect4
        c> 82: 0001 'a' 00
        s< 90: 0001 00
        c> A2: 0002 'a'
        s< B0: 0002
        deny subscribe #
        reconsider",
    );
    // Its end was refused, so it goes on.
    script(
        "connect5
        c> 82: 0001 00 'a' 00
        s< 90: 0001 00 00
        c> A2: 0002 00 'a'
        s< B0: 0002 00 80
        deny subscribe a
        reconsider
        < E0: 87
        x 87 subscribe is no longer allowed",
    );
    // New options were refused, so the subscription goes on with the old ones.
    script(
        "connect5
        c> 82: 0001 00 'a' 00
        s< 90: 0001 00 00
        c> 82: 0002 00 'a' 02
        s< 90: 0002 00 80
        deny subscribe a
        reconsider
        < E0: 87
        x 87 subscribe is no longer allowed",
    );
}

#[test]
fn a_lost_will_is_not_published() {
    script(
        "c> 10: 'MQTT' 04 06 003C 'c' 'w' 'bye'
        s< 20: 00 00
        reconsider
        deny will w
        reconsider
        > E0:
        x 87 will is no longer allowed",
    );
    // The client goes before anything is judged anew.
    script(
        "c> 10: 'MQTT' 04 06 003C 'c' 'w' 'bye'
        s< 20: 00 00
        deny will w
        lost client
        > E0:
        x 00 client: the network connection has ended at byte 0",
    );
    // A will that is allowed is left to the broker.
    script(
        "c> 10: 'MQTT' 04 06 003C 'c' 'w' 'bye'
        s< 20: 00 00
        lost client
        x 00 client: the network connection has ended at byte 0",
    );
    script(
        "c> 10: 'MQTT' 04 06 003C 'c' 'w' 'bye'
        s< 20: 00 00
        deny stay
        reconsider
        x 87 connect is no longer allowed",
    );
}

#[test]
fn a_client_that_may_not_stay_goes() {
    script("connect5\ndeny stay\nreconsider\n< E0: 87\nx 87 connect is no longer allowed");
    script("connect4\ndeny stay\nreconsider\nx 87 connect is no longer allowed");
    // Before CONNACK it is refused.
    script(
        "c> 10: 'MQTT' 04 02 003C 'c'
        deny stay
        reconsider
        < 20: 00 05
        x 87 connect is no longer allowed",
    );
}

#[test]
fn the_host_closes() {
    script("connect5\nclose 97\n< E0: 97\nx 97 the gate was told to close");
    script("connect4\nclose 8B\nx 8b the gate was told to close");
}

#[test]
fn nothing_follows_the_end() {
    script(
        "connect5
        c> E0:
        x 00 client: DISCONNECT at byte 19
        c 30: 'a' 00
        s 30: 'a' 00
        tick 100000
        reconsider
        lost server
        lost client
        close 80",
    );
}
