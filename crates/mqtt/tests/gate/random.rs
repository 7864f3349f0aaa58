//! Bytes at random: no panic, no memory beyond the bound, and no answer that depends on pieces.

use fastrand::Rng;
use wardgate_mqtt::Limits;
use wardgate_mqtt::gate::{Deliver, Denied, Gate, Settings, Steps};

use super::notation::packet;
use super::script::Rules;

#[test]
fn random_traffic_stays_within_bounds() {
    let mut ends = 0_usize;
    let mut most = 0;
    let connections = if std::env::var_os("SLOW_TESTS").is_some() { MANY } else { CONNECTIONS };
    for seed in 0..connections {
        let mut random = Rng::with_seed(seed);
        let settings = settings(&mut random);
        let events = events(&mut random);
        let whole = run(settings, &events, &mut |bytes| bytes);
        let bytewise = run(settings, &events, &mut |_| 1);
        assert_eq!(whole.steps, bytewise.steps, "{seed}");
        most = most.max(whole.most).max(bytewise.most);
        ends += usize::from(whole.steps.close.is_some());
    }
    let bound = bound(&limits());
    assert!(most <= bound, "{most} of {bound}");
    // Many connections end by a fault, and many live through all their events.
    let count = usize::try_from(connections).unwrap();
    assert!(ends > count / 4 && ends < count, "{ends} of {count}");
}

struct Ran {
    steps: Steps,
    most: usize,
}

enum Event {
    Client(Vec<u8>),
    Server(Vec<u8>),
    Tick(u64),
    Deny(&'static str, &'static str),
    Reconsider,
}

fn run(settings: Settings, events: &[Event], piece: &mut dyn FnMut(usize) -> usize) -> Ran {
    let (mut gate, mut rules, mut steps) =
        (Gate::new(settings, 0), Rules::default(), Steps::default());
    rules.deny("publish", "b");
    rules.deny("subscribe", "b/#");
    rules.deny("receive", "b");
    let mut most = 0;
    for event in events {
        match event {
            Event::Client(bytes) | Event::Server(bytes) => {
                for bytes in bytes.chunks(piece(bytes.len()).max(1)) {
                    match event {
                        Event::Client(_) => gate.from_client(bytes, &mut rules, &mut steps),
                        _ => gate.from_server(bytes, &mut rules, &mut steps),
                    }
                    most = most.max(gate.bytes());
                }
            }
            Event::Tick(now) => gate.tick(*now, &mut steps),
            Event::Deny(action, filter) => rules.deny(action, filter),
            Event::Reconsider => gate.reconsider(&mut rules, &mut steps),
        }
        most = most.max(gate.bytes());
    }
    if steps.close.is_some() {
        assert!(gate.bytes() <= 2 * 4096, "{}", gate.bytes());
    }
    Ran { steps, most }
}

fn settings(random: &mut Rng) -> Settings {
    Settings {
        limits: limits(),
        denied: if random.bool() { Denied::Drop } else { Denied::Close },
        deliver: if random.bool() { Deliver::Each } else { Deliver::Subscribed },
        ..Settings::default()
    }
}

fn limits() -> Limits {
    Limits { packet_bytes: 4096, subscriptions: 8, subscription_bytes: 100, ..Limits::default() }
}

/// Returns the most bytes that a gate may hold: buffers that grow by doubling, two lists of
/// subscriptions, five sets of identifiers, aliases and a will.
fn bound(limits: &Limits) -> usize {
    let packet = usize::try_from(limits.packet_bytes).unwrap();
    let buffers = 2 * packet + 2 * (packet + 4096);
    let subscriptions = 2 * usize::from(limits.subscriptions) * 1024;
    let aliases = usize::from(limits.aliases) * (1024 + 4096);
    buffers + subscriptions + aliases + 5 * 2 * 8192 + packet
}

fn events(random: &mut Rng) -> Vec<Event> {
    let is_5 = random.bool();
    let mut events = Vec::new();
    if random.u8(0..20) > 0 {
        let will = if random.bool() { "06" } else { "02" };
        let rest = match (is_5, will) {
            (true, "06") => "003C 03 220010 'c' 00 'w' 'x'",
            (true, _) => "003C 03 220010 'c'",
            (false, "06") => "003C 'c' 'w' 'x'",
            _ => "003C 'c'",
        };
        let level = if is_5 { "05" } else { "04" };
        events.push(Event::Client(packet(&format!("10: 'MQTT' {level} {will} {rest}"))));
        if random.u8(0..10) > 0 {
            let connack = if is_5 { "20: 00 00 03 220010" } else { "20: 00 00" };
            events.push(Event::Server(packet(connack)));
        }
    }
    for number in 0..random.u64(1..60) {
        let mut bytes = self::bytes(random, is_5);
        if random.u8(0..30) == 0 && !bytes.is_empty() {
            let at = random.usize(..bytes.len());
            bytes[at] ^= 1 << random.u8(0..8);
        }
        events.push(match random.u8(0..40) {
            0 => Event::Tick(number * 1000),
            1 => Event::Deny("subscribe", ["a", "c/#", "x"][random.usize(..3)]),
            2 => Event::Reconsider,
            3..20 => Event::Server(bytes),
            _ => Event::Client(bytes),
        });
    }
    events
}

/// Makes a packet, mostly a valid one.
fn bytes(random: &mut Rng, is_5: bool) -> Vec<u8> {
    let topic = ["'a'", "'b'", "'c/d'", "'$SYS'", "''"][random.usize(..5)];
    let id = format!("{:04x}", random.u16(0..6));
    let empty = if is_5 { "00" } else { "" };
    let properties = match (is_5, random.u8(0..3)) {
        (false, _) => String::new(),
        (true, 0) => format!("03 23{:04x}", random.u16(0..6)),
        (true, _) => "00".to_owned(),
    };
    let code = if is_5 && random.bool() { "87" } else { "" };
    let size = random.usize(0..40);
    let payload = "ab".repeat(if random.u8(0..20) == 0 { size * 100 } else { size });
    packet(&match random.u8(0..16) {
        0 => format!("30: {topic} {properties} {payload}"),
        1 => format!("32: {topic} {id} {properties} {payload}"),
        2 => format!("34: {topic} {id} {properties} {payload}"),
        3 => format!("3C: {topic} {id} {properties} {payload}"),
        4 => format!("40: {id} {code}"),
        5 => format!("50: {id} {code}"),
        6 => format!("62: {id}"),
        7 => format!("70: {id}"),
        8 | 9 => format!("82: {id} {empty} {topic} 00 'c/#' 01"),
        10 => format!("A2: {id} {empty} {topic} 'c/#'"),
        11 => format!("90: {id} {empty} 00 01"),
        12 => format!("90: {id} {empty} 00"),
        13 => match is_5 {
            true => format!("B0: {id} 00 00"),
            false => format!("B0: {id}"),
        },
        14 => "C0:".to_owned(),
        _ => "D0:".to_owned(),
    })
}

/// The connections of the test.
const CONNECTIONS: u64 = 20_000;

/// Those of the slow test.
const MANY: u64 = 1_000_000;
