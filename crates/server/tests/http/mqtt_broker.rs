//! The broker over real sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::mqtt::{End, policy};
use crate::notation::packet;
use crate::publisher::{set, token_of};
use crate::reload::block_on;
use crate::running::{OPEN, Running, compiled};

/// A server that is a broker.
pub(crate) struct Broker(Running);

impl Broker {
    pub(crate) fn start(policy: &str, mqtt: &str) -> Self {
        let config = format!(
            "{OPEN}[auth.jwt]\nkeys = \"keys\"\nissuer = \"https://issuer.example\"\naudience = \"pdp\"\n\
             [[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n\
             [mqtt]\nlisten = \"127.0.0.1:0\"\nanonymous = true\n{mqtt}\n"
        );
        let keys = String::from_utf8(set(&[1])).unwrap();
        Self(Running::with_files(policy, &config, &[("keys", &keys)]))
    }

    pub(crate) fn open(&self) -> End<TcpStream> {
        let stream = TcpStream::connect(self.0.mqtt.unwrap()).unwrap();
        stream.set_nodelay(true).unwrap();
        End::of(stream)
    }

    /// Connects a client of 3.1.1.
    pub(crate) fn client(&self, id: &str) -> End<TcpStream> {
        let mut client = self.open();
        client.send(&format!("10: 'MQTT' 04 02 003C '{id}'"));
        client.expect("20: 00 00");
        client
    }

    /// Connects a client of 5.0 with these flags and what comes behind its id.
    pub(crate) fn client5(&self, id: &str, flags: &str, rest: &str) -> End<TcpStream> {
        let mut client = self.open();
        client.send(&format!("10: 'MQTT' 05 {flags} 003C 00 '{id}' {rest}"));
        client.expect("20: 00 00 0D 24 01 22 0010 21 0040 27 00040000");
        client
    }

    pub(crate) fn reload(&self, policy: &str) {
        self.0.bundle.lock().unwrap().clone_from(&compiled(policy));
        block_on(self.0.shared.reload()).unwrap();
    }

    /// Returns how many sockets of clients the server holds, where the system tells it.
    pub(crate) fn sockets(&self) -> usize {
        let here = format!(":{:04X}", self.0.mqtt.unwrap().port());
        let all = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
        let is_held = |line: &&str| {
            let mut fields = line.split_whitespace().skip(1);
            let (local, state) = (fields.next().unwrap_or_default(), fields.nth(1));
            // What waits to be accepted, or was closed, belongs to no process.
            local.ends_with(&here) && state != Some(LISTENING) && fields.nth(5) != Some("0")
        };
        all.lines().filter(is_held).count()
    }

    pub(crate) fn metric(&self, name: &str) -> u64 {
        let metrics = self.0.get("/metrics", "").1;
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} in {metrics}")).parse().unwrap()
    }
}

/// The state of a socket that accepts others.
const LISTENING: &str = "0A";

/// Everything is allowed but what is under `secret`.
pub(crate) fn open() -> String {
    let most = "R.attr.topic.matchesTopic([\"a/#\", \"b\", \"w\"])";
    policy("true", &[("publish, subscribe, unsubscribe, receive, will", most)])
}

#[test]
fn messages_are_delivered_and_denied_ones_are_not() {
    let broker = Broker::start(&open(), "");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 'a/#' 02 'secret' 00 '$share/g/b' 01");
    ada.expect("90: 0001 00 80 00");
    let mut bob = broker.client5("bob", "02", "");
    bob.send("32: 'a/b' 0001 00 2A");
    bob.expect("40: 0001");
    ada.expect("30: 'a/b' 2A");
    bob.send("32: 'secret' 0002 00 2A");
    bob.expect("40: 0002 87");
    bob.send("32: '$SYS/x' 0003 00 2A");
    bob.expect("40: 0003 87");
    bob.send("30: 'b' 00 2B");
    ada.expect("30: 'b' 2B");
    ada.send("C0:");
    ada.expect("D0:");
    bob.send("34: 'a/b' 0004 00 2A");
    bob.expect("E0: 9B");
    bob.ends();
    ada.send("E0:");
    ada.ends();
    assert_eq!(broker.metric("wardgate_mqtt_received_total"), 2);
    assert_eq!(broker.metric("wardgate_mqtt_delivered_total"), 2);
}

#[test]
fn messages_of_one_publisher_come_in_order_and_all_of_them() {
    let broker = Broker::start(&open(), "");
    let mut readers: Vec<_> = (0..3).map(|n| broker.client(&format!("r{n}"))).collect();
    for reader in &mut readers {
        reader.send("82: 0001 'a/b' 00");
        reader.expect("90: 0001 00");
    }
    let messages: Vec<u8> =
        (0..100_000_u32).flat_map(|n| packet(&format!("30: 'a/b' {n:08X}"))).collect();
    let mut publisher = broker.client("p").0;
    std::thread::scope(|scope| {
        scope.spawn(|| publisher.write_all(&messages).unwrap());
        for reader in &mut readers {
            let messages = &messages;
            scope.spawn(move || {
                let mut found = vec![0; messages.len()];
                reader.0.read_exact(&mut found).unwrap();
                assert!(found == *messages);
            });
        }
    });
    assert_eq!(broker.metric("wardgate_mqtt_delivered_total"), 300_000);
    assert_eq!(broker.metric("wardgate_mqtt_dropped_total{reason=\"full\"}"), 0);
}

#[test]
fn wills_retained_messages_and_takeover() {
    let broker = Broker::start(&open(), "");
    let mut bob = broker.client("bob");
    bob.send("82: 0001 'w' 00");
    bob.expect("90: 0001 00");
    // A retained will, whose connection just ends.
    let ada = broker.client5("ada", "26", "00 'w' 'bye'");
    drop(ada);
    bob.expect("30: 'w' 627965");
    let mut cyd = broker.client("cyd");
    cyd.send("82: 0001 'w' 00");
    cyd.expect("90: 0001 00");
    cyd.expect("31: 'w' 627965");
    // A client that is pushed out by its successor, and its will.
    let mut old = broker.client5("ada", "06", "00 'w' 'old'");
    let mut new = broker.client5("ada", "06", "00 'w' 'new'");
    old.expect("E0: 8E");
    old.ends();
    bob.expect("30: 'w' 6F6C64");
    new.send("E0:");
    new.ends();
    bob.send("C0:");
    bob.expect("D0:");
    assert_eq!(broker.metric("wardgate_mqtt_ended_total{cause=\"taken-over\"}"), 1);
}

#[test]
fn who_may_not_connect_takes_nothing_over() {
    let broker =
        Broker::start(&policy("P.attr.clientId != \"ada\" || !R.attr.cleanStart", &[]), "");
    let mut ada = broker.open();
    ada.send("10: 'MQTT' 04 00 003C 'ada'");
    ada.expect("20: 00 00");
    let mut eve = broker.open();
    eve.send("10: 'MQTT' 04 02 003C 'ada'");
    eve.expect("20: 00 05");
    eve.ends();
    ada.send("C0:");
    ada.expect("D0:");
}

#[test]
fn a_thousand_connections_with_one_id() {
    let broker = Broker::start(&open(), "");
    let mut last = broker.client("id");
    for _ in 0..1000 {
        let mut next = broker.client("id");
        last.ends();
        next.send("82: 0001 '$share/g/a/b' 00");
        next.expect("90: 0001 00");
        last = next;
    }
    last.send("30: 'a/b' 01");
    last.expect("30: 'a/b' 01");
    while broker.metric("wardgate_mqtt_clients") > 1 {}
    assert_eq!(broker.metric("wardgate_mqtt_ended_total{cause=\"taken-over\"}"), 1000);
}

#[test]
fn beginnings_of_packets_hang_nobody() {
    let broker = Broker::start(&open(), "connect-seconds = 1");
    // 14 bytes that announce 64 KiB, and fewer.
    let mut half: Vec<_> = (0..200).map(|_| broker.open()).collect();
    for (n, client) in half.iter_mut().enumerate() {
        let bytes = b"\x10\x80\x80\x04\x00\x04MQTT\x04\x02\x00\x3c";
        client.0.write_all(&bytes[..n % 14 + 1]).unwrap();
    }
    let mut ada = broker.client("ada");
    ada.send("C0:");
    ada.expect("D0:");
    half.iter_mut().for_each(End::ends);
    ada.send("C0:");
    ada.expect("D0:");
}

#[test]
fn a_slow_reader_is_closed_and_what_it_lost_is_counted() {
    let broker = Broker::start(&open(), "");
    let (sent, received) = flood(&broker);
    while broker.metric("wardgate_mqtt_ended_total{cause=\"slow\"}") < 1 {}
    assert_all_are_counted(&broker, sent, received);
}

#[test]
fn messages_for_a_slow_reader_are_dropped_and_counted_where_that_is_configured() {
    let broker = Broker::start(&open(), "[mqtt.broker]\nslow = \"drop\"");
    let (sent, received) = flood(&broker);
    assert_eq!(broker.metric("wardgate_mqtt_ended_total{cause=\"slow\"}"), 0);
    assert_all_are_counted(&broker, sent, received);
}

/// Publishes to a client that reads nothing and to one that reads, until something is lost.
/// Returns how many messages were sent, and how many the other one got.
fn flood(broker: &Broker) -> (u64, u64) {
    let mut slow = broker.client("slow");
    slow.send("82: 0001 'a/b' 00");
    slow.expect("90: 0001 00");
    let mut quick = broker.client("quick");
    quick.send("82: 0001 'a/b' 00");
    quick.expect("90: 0001 00");
    let mut publisher = broker.client("publisher");
    let message = packet(&format!("30: 'a/b' {}", "00".repeat(60_000)));
    let mut found = vec![0; message.len()];
    let mut sent = 0;
    while broker.metric("wardgate_mqtt_dropped_total{reason=\"full\"}") == 0 {
        assert!(sent < 20_000);
        for _ in 0..10 {
            publisher.0.write_all(&message).unwrap();
            quick.0.read_exact(&mut found).unwrap();
            sent += 1;
        }
    }
    drop(slow);
    (sent, sent)
}

fn assert_all_are_counted(broker: &Broker, sent: u64, received: u64) {
    let dropped = |reason: &str| {
        broker.metric(&format!("wardgate_mqtt_dropped_total{{reason=\"{reason}\"}}"))
    };
    // The reader may have been closed while messages for it waited, or after them.
    while broker.metric("wardgate_mqtt_clients") > 2 {}
    assert_eq!(broker.metric("wardgate_mqtt_received_total"), sent);
    let all = broker.metric("wardgate_mqtt_delivered_total") + dropped("full") + dropped("gone");
    // After it was closed, messages have one reader.
    assert!(all > received && all <= 2 * sent, "{all} {sent}");
}

#[test]
fn rights_that_are_gone_end_subscriptions_and_retained_messages() {
    let broker = Broker::start(&open(), "");
    let mut ada = broker.client5("ada", "02", "");
    ada.send("31: 'a/b' 00 2A");
    ada.send("31: 'b' 00 2B");
    // The answer comes once both messages are there.
    ada.send("C0:");
    ada.expect("D0:");
    let mut bob = broker.client5("bob", "02", "");
    bob.send("82: 0001 00 'a/#' 00");
    bob.expect("90: 0001 00 00");
    bob.expect("31: 'a/b' 00 2A");
    // The gauge is from the past half second, and must have seen both messages before it can sink.
    while broker.metric("wardgate_mqtt_retained") < 2 {}
    broker.reload(&policy(
        "true",
        &[
            ("publish", "R.attr.topic.matchesTopic(\"b\")"),
            ("subscribe", "R.attr.topic.matchesTopic([\"a/b\", \"b\"])"),
        ],
    ));
    bob.expect("E0: 87");
    bob.ends();
    while broker.metric("wardgate_mqtt_retained") > 1 {}
    let mut cyd = broker.client("cyd");
    cyd.send("82: 0001 'a/b' 00 'b' 00");
    cyd.expect("90: 0001 00 00");
    cyd.expect("31: 'b' 2B");
    ada.send("C0:");
    ada.expect("D0:");
}

#[test]
fn retained_messages_end_with_the_token_of_their_publisher() {
    let broker = Broker::start(&open(), "");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let end = now + 2;
    let token = token_of(
        1,
        &format!(r#"{{"iss":"https://issuer.example","aud":"pdp","sub":"dora","exp":{end}}}"#),
    );
    let mut dora = broker.client5("dora", "C2", &format!("'x' '{token}'"));
    dora.send("33: 'a/b' 0001 00 2A");
    dora.expect("40: 0001");
    while broker.metric("wardgate_mqtt_retained") == 0 {}
    dora.expect("E0: 87");
    while broker.metric("wardgate_mqtt_retained") > 0 {}
}

#[test]
fn deliveries_are_judged_one_by_one_where_that_is_configured() {
    let rules = [
        ("publish, subscribe", "R.attr.topic.matchesTopic(\"a/#\")"),
        ("receive", "R.attr.topic.matchesTopic(\"a/b\")"),
    ];
    let broker = Broker::start(&policy("true", &rules), "[mqtt.broker]\ndeliver = \"each\"");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 'a/#' 00");
    ada.expect("90: 0001 00");
    ada.send("30: 'a/c' 01");
    ada.send("30: 'a/b' 02");
    ada.expect("30: 'a/b' 02");
}

#[test]
fn last_words_are_taken() {
    let broker = Broker::start(&open(), "");
    let mut ada = broker.client("ada");
    ada.send("82: 0001 'a/b' 00");
    ada.expect("90: 0001 00");
    let all = ["10: 'MQTT' 04 02 003C 'bob'", "30: 'a/b' 01", "30: 'a/b' 02", "E0:"];
    let bytes: Vec<u8> = all.iter().flat_map(|text| packet(text)).collect();
    let mut bob = broker.open();
    bob.0.write_all(&bytes).unwrap();
    ada.expect("30: 'a/b' 01");
    ada.expect("30: 'a/b' 02");
    bob.ends();
}

#[test]
fn a_broker_that_stops_says_so() {
    let broker = Broker::start(&open(), "");
    let mut ada = broker.client5("ada", "02", "");
    broker.0.shared.stop();
    ada.expect("E0: 8B");
    ada.ends();
    let mut late = [0; 1];
    if let Ok(mut stream) = TcpStream::connect(broker.0.mqtt.unwrap()) {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The system may not tell a client that waits of a socket that closed before it was accepted, but it answers what
        // a client sends there.
        let _ = stream.write_all(b"\xc0\x00");
        match stream.read(&mut late) {
            Ok(read) => assert_eq!(read, 0),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
}
