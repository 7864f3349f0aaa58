//! Deliveries that are decided one by one, and filters of which a part is allowed.

use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::mqtt::{Gated, policy};
use crate::mqtt_broker::Broker;
use crate::notation::packet;
use crate::running::ASKER;

/// Everything under `a` but `a/secret`; publishers may publish everything.
fn part() -> String {
    let rules = [
        ("publish, will", "true"),
        ("subscribe, unsubscribe, receive", "R.attr.topic.matchesTopic(\"a/#\")"),
    ];
    let deny = "    - { actions: [subscribe, receive], effect: EFFECT_DENY, roles: ['*'], condition: { match: { expr: 'R.attr.topic.matchesTopic(\"a/secret/#\")' } } }\n";
    format!("{}{deny}", policy("true", &rules))
}

#[test]
fn a_filter_of_which_a_part_is_allowed_brings_that_part() {
    let broker = Broker::start(&part(), "[mqtt.broker]\nsubscribe = \"part\"");
    let mut bob = broker.client("bob");
    bob.send("31: 'a/r' 01");
    bob.send("31: 'b/r' 02");
    bob.send("C0:");
    bob.expect("D0:");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 '#' 00 'b/#' 00 'a/secret/#' 00 '+/secret' 00 '$share/g/+/x' 01");
    // The deny is met for all of `+/secret` that the allow is met for: nothing comes, and nothing is told.
    ada.expect("90: 0001 00 80 80 00 00");
    ada.expect("31: 'a/r' 01");
    for (topic, is_delivered) in
        [("a/b", true), ("a", true), ("b", false), ("a/secret", false), ("a/secret/x", false)]
    {
        bob.send(&format!("30: '{topic}' 2A"));
        if is_delivered {
            ada.expect(&format!("30: '{topic}' 2A"));
        }
    }
    bob.send("30: 'b/x' 2B");
    bob.send("30: 'a/y' 2C");
    ada.expect("30: 'a/y' 2C");
    // As a whole the filter is denied.
    let broker = Broker::start(&part(), "[mqtt.broker]\ndeliver = \"each\"");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 '#' 00 'a/b' 00");
    ada.expect("90: 0001 80 00");
}

#[test]
fn a_part_that_is_gone_ends_the_subscription() {
    let broker = Broker::start(&part(), "[mqtt.broker]\nsubscribe = \"part\"");
    let (mut ada, mut bob) = (broker.client5("ada", "02", ""), broker.client5("bob", "02", ""));
    ada.send("82: 0001 00 '#' 00");
    ada.expect("90: 0001 00 00");
    bob.send("82: 0001 00 'a/b' 00");
    bob.expect("90: 0001 00 00");
    // `b` is a part of `#`, and not of `a/b`.
    let rules = [("subscribe, publish, receive", "R.attr.topic.matchesTopic(\"b\")")];
    broker.reload(&policy("true", &rules));
    bob.expect("E0: 87");
    ada.send("30: 'b' 00 01");
    ada.expect("30: 'b' 00 01");
    broker.reload(&policy("true", &[("subscribe", "false")]));
    ada.expect("E0: 87");
}

#[test]
fn what_cannot_be_decided_is_no_part() {
    let subscribe = "subscribe = \"part\"";
    let broken = [
        ("subscribe", "R.attr.topic.matchesTopic(\"a/#\") && R.attr.missing"),
        ("receive", "true"),
    ];
    let beside = [
        ("subscribe", "R.attr.topic.matchesTopic(\"a/#\")"),
        ("subscribe", "R.attr.missing == 1"),
        ("receive", "true"),
    ];
    for rules in [&broken[..], &beside] {
        let broker = Broker::start(&policy("true", rules), &format!("[mqtt.broker]\n{subscribe}"));
        let mut ada = broker.client("ada");
        ada.send("82: 0001 '#' 00 'a/b' 00");
        ada.expect("90: 0001 80 80");
    }
}

#[test]
fn the_gate_grants_parts_and_decides_each_message() {
    let gated = Gated::start(&part(), "", "subscribe = \"part\"");
    let (mut client, mut broker) = gated.client(ASKER);
    client.send("82: 0001 00 '#' 02 'b/#' 00");
    broker.expect("82: 0001 00 '#' 02");
    broker.send("90: 0001 00 02");
    client.expect("90: 0001 00 02 87");
    broker.send("32: 'b' 0001 00 01");
    broker.expect("40: 0001 87");
    broker.send("32: 'a/b' 0002 00 01");
    client.expect("32: 'a/b' 0002 00 01");
}

/// Messages under `plain` depend on their topic, others on more.
fn reading(until: u64) -> String {
    let rules = [
        ("subscribe", "true"),
        ("receive", "R.attr.topic.matchesTopic(\"plain\")"),
        ("receive", "R.attr.topic.matchesTopic(\"qos\") && R.attr.qos == 0"),
        ("receive", "R.attr.topic.matchesTopic(\"size\") && R.attr.size < 3"),
        ("receive", "R.attr.topic.matchesTopic(\"retain\") && !R.attr.retain"),
        ("receive", "R.attr.topic.matchesTopic(\"property\") && has(R.attr.properties.user.x)"),
        ("receive", "R.attr.topic.matchesTopic(\"id\") && P.attr.clientId == \"c1\""),
        ("receive", &format!("R.attr.topic.matchesTopic(\"timed\") && now() < timestamp({until})")),
    ];
    policy("true", &rules)
}

#[test]
fn answers_are_kept_for_topics_and_for_nothing_else() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let gated = Gated::start(&reading(now + 2), "", "deliver = \"each\"");
    let (mut client, mut broker) = gated.client(ASKER);
    // Each twice, so that the second time an answer to the first could be taken.
    for _ in 0..2 {
        for (message, is_delivered) in [
            ("30: 'plain' 00 01", true),
            ("31: 'plain' 00 01020304", true),
            ("30: 'other' 00 01", false),
            ("30: 'qos' 00 01", true),
            ("32: 'qos' 0001 00 01", false),
            ("30: 'qos' 00 01", true),
            ("30: 'size' 00 01", true),
            ("30: 'size' 00 010203", false),
            ("30: 'size' 00 0102", true),
            ("31: 'retain' 00 01", false),
            ("30: 'retain' 00 01", true),
            ("31: 'retain' 00 01", false),
            ("30: 'property' 00 01", false),
            ("30: 'property' 06 26 'x' '' 01", true),
            ("30: 'property' 06 26 'y' '' 01", false),
            ("30: 'id' 00 01", true),
        ] {
            broker.send(message);
            if is_delivered {
                client.expect(message);
            } else if message.starts_with("32") {
                broker.expect("40: 0001 87");
            }
        }
    }
    // A condition about the time changes its answer without a reload.
    let (timed, plain) = ("30: 'timed' 00 01", "30: 'plain' 00 01");
    let mut delivered = 0;
    loop {
        broker.send(timed);
        broker.send(plain);
        let mut found = vec![0; packet(timed).len()];
        client.0.read_exact(&mut found).unwrap();
        if found == packet(plain) {
            break;
        }
        assert_eq!(found, packet(timed));
        client.expect(plain);
        delivered += 1;
    }
    assert!(delivered > 0);
    // New policies give new answers.
    gated.reload(&policy(
        "true",
        &[("subscribe", "true"), ("receive", "R.attr.topic.matchesTopic(\"other\")")],
    ));
    for message in ["30: 'plain' 00 01", "30: 'other' 00 02"] {
        broker.send(message);
    }
    client.expect("30: 'other' 00 02");
}

#[test]
fn answers_for_many_topics_stay_right() {
    let rules = [("publish, subscribe", "true"), ("receive", "R.attr.topic.matchesTopic(\"a/+\")")];
    let broker = Broker::start(&policy("true", &rules), "[mqtt.broker]\ndeliver = \"each\"");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 '#' 00");
    ada.expect("90: 0001 00");
    for n in (0..3000).chain(0..3000) {
        ada.send(&format!("30: 'a/{n}' 01"));
        ada.send(&format!("30: 'b/{n}' 02"));
        ada.expect(&format!("30: 'a/{n}' 01"));
    }
}
