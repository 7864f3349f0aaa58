//! Generated traffic, compared with the obvious broker: a list of subscriptions.

use std::collections::BTreeSet;

use fastrand::Rng;
use wardgate_mqtt::broker::{Broker, SessionId, Settings};
use wardgate_mqtt::packet::{Decoded, Packet, Version, decode};
use wardgate_mqtt::{Filter, Limits, Name};

use super::notation::packet;

#[test]
fn everybody_gets_what_a_list_says_in_order() {
    for seed in 0..200 {
        traffic(seed);
    }
}

fn traffic(seed: u64) {
    let mut random = Rng::with_seed(seed);
    let mut broker: Broker<usize, usize> = Broker::new(Settings::DEFAULT, seed);
    let clients: Vec<SessionId> = (0..5).map(|at| broker.enter(at)).collect();
    let mut subscriptions: Vec<BTreeSet<String>> = vec![BTreeSet::new(); clients.len()];
    let mut expected: Vec<Vec<(String, Vec<u8>)>> = vec![Vec::new(); clients.len()];
    let give = |broker: &mut Broker<usize, usize>, at: usize, text: &str| {
        let bytes = packet(text);
        let taken = broker.take(clients[at], &bytes, 0, &mut || at);
        assert_eq!((taken.used, taken.is_held), (bytes.len(), false));
    };
    for at in 0..clients.len() {
        give(&mut broker, at, &format!("10: 'MQTT' 04 02 0000 'c{at}'"));
    }
    for number in 0..300_u32 {
        let at = random.usize(0..clients.len());
        match random.u8(0..10) {
            0 | 1 => {
                let filter = text(&mut random, &["a", "b", "+", "#", "$x"]);
                let Ok(_) = Filter::new(&filter) else { continue };
                give(&mut broker, at, &format!("82: 0001 '{filter}' 00"));
                subscriptions[at].insert(filter);
            }
            2 => {
                let Some(filter) = random.choice(&subscriptions[at]).cloned() else { continue };
                give(&mut broker, at, &format!("A2: 0001 '{filter}'"));
                subscriptions[at].remove(&filter);
            }
            _ => {
                let topic = text(&mut random, &["a", "b", "$x"]);
                let name = Name::new(&topic).unwrap();
                give(&mut broker, at, &format!("30: '{topic}' {number:08X}"));
                for (reader, filters) in subscriptions.iter().enumerate() {
                    if filters.iter().any(|filter| Filter::new(filter).unwrap().matches(name)) {
                        expected[reader].push((topic.clone(), number.to_be_bytes().to_vec()));
                    }
                }
            }
        }
    }
    for (client, expected) in clients.iter().zip(expected) {
        let mut out = Vec::new();
        assert_eq!(broker.output(*client, &mut out, 0), None);
        assert_eq!(messages(&out), expected, "{seed}");
        broker.leave(*client, None, 0);
    }
    assert_eq!(broker.subscriptions(), 0);
}

fn text(random: &mut Rng, words: &[&str]) -> String {
    let levels: Vec<_> = (0..random.usize(1..4)).map(|_| *random.choice(words).unwrap()).collect();
    levels.join("/")
}

fn messages(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (mut rest, mut all) = (bytes, Vec::new());
    while !rest.is_empty() {
        let Ok(Decoded::Whole(packet, used)) = decode(Version::V311, rest, &Limits::WIDEST) else {
            panic!("{rest:?}")
        };
        if let Packet::Publish(publish) = packet {
            all.push((publish.topic.unwrap().text().to_owned(), publish.payload.to_vec()));
        }
        rest = &rest[used..];
    }
    all
}
