//! What clients may do.

use crate::running::{Broker, PASSWORDS, rule};

/// Clients share `news` and `shared`, publish under their own name, and read what the broker tells.
fn rules() -> String {
    rule(
        "publish, receive, subscribe, unsubscribe",
        "client",
        r#"R.attr.topic.matchesTopic(["news/#", "shared/+"])"#,
    ) + &rule("receive, subscribe", "client", r#"R.attr.topic.matchesTopic("devices/#")"#)
        + &rule(
            "publish",
            "client",
            r#"R.attr.topic.matchesTopic("devices/{}/x", [P.attr.clientId])"#,
        )
}

#[test]
fn filters_are_decided_one_by_one_and_as_a_whole() {
    let test = "filters_are_decided_one_by_one_and_as_a_whole";
    let Some(broker) = Broker::start(test, &rules(), PASSWORDS) else { return };
    let mut ada = broker.client("a", "ada", "secret");
    ada.send("82: 0001 'news/#' 00 '#' 00 'shared/+' 01 'shared/#' 00 '+/a' 00");
    ada.expect("90: 0001 00 80 01 80 80");
    ada.send(
        "82: 0002 '$share/g/news/+' 00 '$share/g/#' 00 '$share/g/$share/h/news/a' 00 '$SYS/#' 00",
    );
    ada.expect("90: 0002 00 80 80 80");
    let mut bob = broker.connect();
    bob.send("10: 'MQTT' 05 C2 003C 00 'b' 'bob' 'secret'");
    bob.expect_within(0x20, "00 00");
    bob.send("82: 0001 00 'news/#' 00 '#' 00");
    bob.expect("90: 0001 00 00 87");
    bob.send("A2: 0002 00 '#' 'news/#'");
    bob.expect("B0: 0002 00 87 00");
}

#[test]
fn messages_are_decided_when_they_come_and_when_they_go() {
    let test = "messages_are_decided_when_they_come_and_when_they_go";
    let Some(broker) = Broker::start(test, &rules(), PASSWORDS) else { return };
    let mut ada = broker.client("a", "ada", "secret");
    ada.send("82: 0001 'news/#' 00 'shared/+' 00 'devices/#' 00");
    ada.expect("90: 0001 00 00 00");
    let mut bob = broker.client("b", "bob", "secret");
    bob.send("30: 'news/today' 01");
    // A topic of another client.
    bob.send("30: 'devices/a/x' 02");
    bob.send("32: '$SYS/broker/connection/b/state' 0001 03");
    bob.expect("40: 0001");
    bob.send("30: 'shared/a' 04");
    ada.expect("30: 'news/today' 01");
    ada.expect("30: 'shared/a' 04");
}

#[test]
fn a_client_id_with_wildcards_publishes_nothing() {
    let test = "a_client_id_with_wildcards_publishes_nothing";
    let Some(broker) = Broker::start(test, &rules(), PASSWORDS) else { return };
    let mut ada = broker.client("reader", "ada", "secret");
    ada.send("82: 0001 'devices/#' 00");
    ada.expect("90: 0001 00");
    for id in ["#", "+", "own/+"] {
        let mut bob = broker.client(id, "bob", "secret");
        bob.send("32: 'devices/own/x' 0001 01");
        bob.expect("40: 0001");
    }
    let mut bob = broker.client("own", "bob", "secret");
    bob.send("32: 'devices/own/x' 0001 02");
    bob.expect("40: 0001");
    ada.expect("30: 'devices/own/x' 02");
}

#[test]
fn a_will_is_decided_when_it_is_sent() {
    let test = "a_will_is_decided_when_it_is_sent";
    let Some(broker) = Broker::start(test, &rules(), PASSWORDS) else { return };
    let mut ada = broker.client("reader", "ada", "secret");
    ada.send("82: 0001 'devices/#' 00 'news/#' 00");
    ada.expect("90: 0001 00 00");
    for topic in ["devices/other/x", "secret", "news/will"] {
        let mut bob = broker.connect();
        bob.send(&format!("10: 'MQTT' 04 C6 003C 'b' '{topic}' '{topic}' 'bob' 'secret'"));
        bob.expect("20: 00 00");
        // A connection that just ends, and not by a DISCONNECT.
        drop(bob);
    }
    ada.expect("30: 'news/will' \"news/will\"");
}
