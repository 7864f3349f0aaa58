//! Running scripts. Each line has a client, a sign and a packet:
//!
//! - `ada > 30: ...` gives a packet to the broker. `ada >> ...` gives one that is held, and `ada again` gives
//!   it once more.
//! - `ada < 30: ...` is the next packet that ada gets, and `ada .` says that there is none.
//! - `ada x 8E` says that her connection is to be closed, and for which reason.
//! - `ada connect4`, `ada connect5 21 000A`: a session, with these properties.
//! - `ada leaves`: her connection is gone, and her will may be published; `ada is gone`: it may not.
//! - `time 500` sets the clock, in milliseconds. `forget a`: the retained message of `a` is dropped.

use std::collections::BTreeMap;

use wardgate_mqtt::broker::{Broker, Counts, SessionId, Settings};
use wardgate_mqtt::packet::Reason;

use super::notation::{packet, plain};

#[derive(Default)]
struct Client {
    id: Option<SessionId>,
    found: Vec<u8>,
    end: Option<Reason>,
    held: Vec<u8>,
}

/// Runs a script and returns what was counted.
pub(crate) fn script(text: &str) -> Counts {
    run(Settings::DEFAULT, text)
}

pub(crate) fn run(settings: Settings, text: &str) -> Counts {
    let mut broker: Broker<String, String> = Broker::new(settings, 1);
    let mut clients: BTreeMap<String, Client> = BTreeMap::new();
    let mut now = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, rest) = line.split_once(' ').unwrap();
        let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        if name == "time" {
            now = verb.parse().unwrap();
            broker.tick(now);
            continue;
        }
        if name == "forget" {
            let all = broker.retained();
            let found = all.iter().find(|it| it.message().topic.text() == verb).unwrap();
            broker.forget(found);
            continue;
        }
        let client = clients.entry(name.to_owned()).or_default();
        match verb {
            "connect4" => {
                let connect = packet(&format!("10: 'MQTT' 04 02 0000 '{name}'"));
                give(&mut broker, client, name, &connect, now);
                expect(&mut broker, client, "20: 00 00", now, line);
            }
            "connect5" => {
                let properties = plain(rest).len();
                let connect = format!("10: 'MQTT' 05 02 0000 {:02X} {rest} '{name}'", properties);
                give(&mut broker, client, name, &packet(&connect), now);
                expect(&mut broker, client, "20: 00 00 05 24 01 22 0010", now, line);
            }
            ">" => {
                let is_held = give(&mut broker, client, name, &packet(rest), now);
                assert!(!is_held, "held: {line}");
            }
            ">>" => assert!(give(&mut broker, client, name, &packet(rest), now), "{line}"),
            "again" => {
                let held = std::mem::take(&mut client.held);
                assert!(!give(&mut broker, client, name, &held, now), "held: {line}");
            }
            "<" => expect(&mut broker, client, rest, now, line),
            "." => {
                output(&mut broker, client, now);
                assert_eq!(client.found, b"", "{line}");
            }
            "x" => {
                output(&mut broker, client, now);
                let reason = Reason(u8::from_str_radix(rest, 16).unwrap());
                assert_eq!(client.end, Some(reason), "{line}");
            }
            "leaves" => broker.leave(client.id.take().unwrap(), Some(name.to_owned()), now),
            "is" => broker.leave(client.id.take().unwrap(), None, now),
            _ => panic!("{line}"),
        }
    }
    broker.take_counts()
}

fn give(
    broker: &mut Broker<String, String>,
    client: &mut Client,
    name: &str,
    bytes: &[u8],
    now: u64,
) -> bool {
    if client.id.is_none() {
        *client = Client { id: Some(broker.enter(name.to_owned())), ..Client::default() };
    }
    let taken = broker.take(client.id.unwrap(), bytes, now, &mut || name.to_owned());
    client.held = bytes[taken.used..].to_vec();
    taken.is_held
}

fn output(broker: &mut Broker<String, String>, client: &mut Client, now: u64) {
    let Some(id) = client.id else { return };
    client.end = client.end.or(broker.output(id, &mut client.found, now));
}

fn expect(
    broker: &mut Broker<String, String>,
    client: &mut Client,
    text: &str,
    now: u64,
    line: &str,
) {
    output(broker, client, now);
    let expected = packet(text);
    let found: Vec<_> = client.found.drain(..expected.len().min(client.found.len())).collect();
    assert_eq!(found, expected, "{line}");
}
