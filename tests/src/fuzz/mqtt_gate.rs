//! Traffic of a client and its broker through a gate.
//!
//! The input is a list of events: bytes of either side, time, and changes of what is allowed. The output is the
//! same for every division of the bytes; it consists of whole packets, in order, and names nothing that the
//! judge has not allowed; and the gate holds no more than its bounds.

use std::collections::{BTreeMap, BTreeSet};

use wardgate_mqtt::gate::{
    Deliver, Denied, Gate, Judge, Message, Password, Settings, Steps, Verdict,
};
use wardgate_mqtt::packet::{
    Connect, Decoded, Packet, Property, Publish, Reason, Subscription, Version, decode,
};
use wardgate_mqtt::{Filter, Limits};

use super::mqtt_notation::packet;

/// Runs the events with the bytes as they are, in pieces, and byte by byte.
pub fn mqtt_gate(input: &[u8]) {
    let mut reader = Reader(input);
    let (bits, piece, denied) = (reader.byte(), reader.byte(), reader.byte());
    let settings = settings(bits);
    let whole = run(settings, denied, reader, usize::MAX);
    for piece in [usize::from(piece).max(2), 1] {
        let pieces = run(settings, denied, reader, piece);
        assert_eq!(whole.steps, pieces.steps, "the output depends on where the bytes are cut");
    }
    to_server(&whole);
    to_client(&whole, settings);
}

fn settings(bits: u8) -> Settings {
    Settings {
        limits: limits(),
        denied: if bits & 1 == 0 { Denied::Close } else { Denied::Drop },
        deliver: if bits & 2 == 0 { Deliver::Subscribed } else { Deliver::Each },
        password: if bits & 4 == 0 { Password::Pass } else { Password::Remove },
        ..Settings::DEFAULT
    }
}

const fn limits() -> Limits {
    Limits {
        packet_bytes: 1024,
        connect_bytes: 512,
        subscriptions: 8,
        subscription_bytes: 100,
        aliases: 4,
        receive_maximum: 4,
        ..Limits::DEFAULT
    }
}

/// The most bytes that a gate may hold: buffers that grow by doubling, those of the server with the
/// room for aliases; idle ones; two lists of subscriptions; aliases of both sides; five sets of
/// identifiers; answers that wait for CONNACK; a will.
const MOST_BYTES: usize = {
    let buffers = 2 * 1024 + 2 * (1024 + 4096) + 2 * 4096;
    let subscriptions = 2 * 8 * 1024;
    let aliases = 2 * 4 * (1024 + 64);
    let early = 2 * (4096 + 128);
    buffers + subscriptions + aliases + early + 5 * 2 * 8192 + 1024
};

struct Ran {
    steps: Steps,
    allowed: Allowed,
}

/// Feeds all events, the bytes in pieces of that size.
fn run(settings: Settings, denied: u8, mut events: Reader<'_>, piece: usize) -> Ran {
    let mut gate = Gate::new(settings, 0);
    let mut rules = Rules { denied, allowed: Allowed::default() };
    let (mut steps, mut now) = (Steps::default(), 0_u64);
    while let Some(event) = events.event() {
        match event {
            Event::Client(bytes) => bytes.chunks(piece).for_each(|bytes| {
                gate.from_client(bytes, &mut rules, &mut steps);
                assert!(gate.bytes() <= MOST_BYTES, "{} bytes are held", gate.bytes());
            }),
            Event::Server(bytes) => bytes.chunks(piece).for_each(|bytes| {
                gate.from_server(bytes, &mut rules, &mut steps);
                assert!(gate.bytes() <= MOST_BYTES, "{} bytes are held", gate.bytes());
            }),
            Event::Time(seconds) => {
                now = now.saturating_add(u64::from(seconds) * 1000);
                gate.tick(now, &mut steps);
            }
            Event::Denied(denied) => rules.denied = denied,
            Event::Reconsider => gate.reconsider(&mut rules, &mut steps),
            Event::ClientLost => gate.client_lost(&mut rules, &mut steps),
            Event::ServerLost => gate.server_lost(&mut steps),
            Event::Close(code) => gate.close(Reason(code | 0x80), &mut steps),
        }
    }
    Ran { steps, allowed: rules.allowed }
}

/// What happens.
enum Event<'i> {
    Client(&'i [u8]),
    Server(&'i [u8]),
    Time(u8),
    Denied(u8),
    Reconsider,
    ClientLost,
    ServerLost,
    Close(u8),
}

/// Input that was not read yet.
#[derive(Clone, Copy)]
struct Reader<'i>(&'i [u8]);

impl<'i> Reader<'i> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// Reads bytes with their length in two bytes before them.
    fn bytes(&mut self) -> &'i [u8] {
        let length = usize::from(u16::from_be_bytes([self.byte(), self.byte()]));
        let (bytes, rest) = self.0.split_at_checked(length).unwrap_or((self.0, &[]));
        self.0 = rest;
        bytes
    }

    fn event(&mut self) -> Option<Event<'i>> {
        if self.0.is_empty() {
            return None;
        }
        Some(match self.byte() % 16 {
            0..=5 => Event::Client(self.bytes()),
            6..=10 => Event::Server(self.bytes()),
            11 => Event::Time(self.byte()),
            12 => Event::Denied(self.byte()),
            13 => Event::Reconsider,
            14 => Event::Close(self.byte()),
            _ if self.byte().is_multiple_of(2) => Event::ClientLost,
            _ => Event::ServerLost,
        })
    }
}

/// A judge that denies by the sum of the bytes of a topic, filter or client id, and notes what it
/// has allowed.
struct Rules {
    /// A bit for each remainder of the sum; the last one denies the client to stay.
    denied: u8,
    allowed: Allowed,
}

/// The texts that were allowed, by action.
#[derive(Default)]
struct Allowed {
    wills: BTreeSet<String>,
    published: BTreeSet<String>,
    received: BTreeSet<String>,
    subscribed: BTreeSet<String>,
    unsubscribed: BTreeSet<String>,
}

impl Rules {
    fn verdict(&mut self, list: fn(&mut Allowed) -> &mut BTreeSet<String>, text: &str) -> Verdict {
        let sum = text.bytes().fold(0_u8, u8::wrapping_add) % 7;
        if self.denied >> sum & 1 == 1 {
            return Verdict::Deny;
        }
        let list = list(&mut self.allowed);
        if !list.contains(text) {
            list.insert(text.to_owned());
        }
        Verdict::Allow
    }
}

impl Judge for Rules {
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason> {
        let sum = connect.client_id.bytes().fold(0_u8, u8::wrapping_add) % 7;
        if self.denied >> sum & 1 == 1 { Err(Reason::NOT_AUTHORIZED) } else { Ok(()) }
    }

    fn stay(&mut self) -> Verdict {
        if self.denied & 0x80 == 0 { Verdict::Allow } else { Verdict::Deny }
    }

    fn will(&mut self, will: &Message<'_>) -> Verdict {
        self.verdict(|allowed| &mut allowed.wills, will.topic.text())
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        self.verdict(|allowed| &mut allowed.published, message.topic.text())
    }

    fn receive(&mut self, message: &Message<'_>) -> Verdict {
        self.verdict(|allowed| &mut allowed.received, message.topic.text())
    }

    fn subscribe(&mut self, subscription: &Subscription<'_>) -> Verdict {
        self.verdict(|allowed| &mut allowed.subscribed, &subscription.filter.to_string())
    }

    fn unsubscribe(&mut self, filter: Filter<'_>) -> Verdict {
        self.verdict(|allowed| &mut allowed.unsubscribed, &filter.to_string())
    }
}

/// Proves that the broker got packets of a client, and nothing that was not allowed.
fn to_server(ran: &Ran) {
    let (allowed, mut topics) = (&ran.allowed, Topics::default());
    packets(&ran.steps.to_server, version(ran), |place, packet| match packet {
        Packet::Connect(connect) => {
            assert!(place == 0, "a second CONNECT for the broker");
            let will = connect.will.map(|will| will.topic.text());
            assert!(will.is_none_or(|topic| allowed.wills.contains(topic)), "{will:?}");
        }
        _ if place == 0 => assert!(place > 0, "{packet:?} before CONNECT"),
        Packet::Publish(publish) => {
            let topic = topics.of(publish);
            assert!(allowed.published.contains(&topic), "{topic} was published");
            assert!(topic != "$SYS" && !topic.starts_with("$SYS/"), "{topic} was published");
        }
        Packet::Subscribe(subscribe) => subscribe.subscriptions.iter().for_each(|one| {
            let filter = one.filter.to_string();
            assert!(allowed.subscribed.contains(&filter), "{filter} was subscribed to");
        }),
        Packet::Unsubscribe(unsubscribe) => unsubscribe.filters.iter().for_each(|filter| {
            let filter = filter.to_string();
            assert!(allowed.unsubscribed.contains(&filter), "{filter} was unsubscribed from");
        }),
        Packet::Connack(_) | Packet::Suback(_) | Packet::Unsuback(_) | Packet::Pingresp => {
            assert!(place == 0, "{packet:?} for the broker");
        }
        _ => {}
    });
}

/// Proves that the client got packets of a broker, and no delivery that was not allowed where each
/// is decided.
fn to_client(ran: &Ran, settings: Settings) {
    let mut topics = Topics::default();
    let mut judges = settings.deliver == Deliver::Each;
    let mut is_open = false;
    packets(&ran.steps.to_client, version(ran), |_, packet| match packet {
        Packet::Connack(connack) => {
            assert!(!is_open, "a second CONNACK for the client");
            is_open = true;
            judges |= connack.session_present;
        }
        Packet::Auth(_) => {}
        _ if !is_open => assert!(is_open, "{packet:?} before CONNACK"),
        Packet::Publish(publish) => {
            let topic = topics.of(publish);
            // A copy of a message that was delivered is not decided once more.
            let is_decided = judges && !publish.delivery.is_dup();
            let is_allowed = ran.allowed.received.contains(&topic);
            assert!(!is_decided || is_allowed, "{topic} was delivered");
        }
        Packet::Connect(_) | Packet::Subscribe(_) | Packet::Unsubscribe(_) | Packet::Pingreq => {
            assert!(!is_open, "{packet:?} for the client");
        }
        _ => {}
    });
}

/// Returns the version that the client speaks; without CONNECT nothing of it is in the output but
/// CONNACK, which both versions read.
fn version(ran: &Ran) -> Option<Version> {
    match decode(Version::V5, &ran.steps.to_server, &Limits::WIDEST) {
        Ok(Decoded::Whole(Packet::Connect(connect), _)) => Some(connect.version),
        _ => None,
    }
}

/// Calls `each` with the place of every packet, and the packet.
fn packets(bytes: &[u8], version: Option<Version>, mut each: impl FnMut(usize, &Packet<'_>)) {
    let (mut rest, mut place) = (bytes, 0);
    while !rest.is_empty() {
        let versions = version.map_or(vec![Version::V311, Version::V5], |version| vec![version]);
        let found =
            versions.iter().find_map(|version| match decode(*version, rest, &Limits::WIDEST) {
                Ok(Decoded::Whole(packet, used)) => Some((packet, used)),
                _ => None,
            });
        assert!(found.is_some(), "{rest:02x?} is no packet");
        let Some((packet, used)) = found else { return };
        each(place, &packet);
        place += 1;
        rest = rest.get(used..).unwrap_or_default();
    }
}

/// The topics that the receiver knows by their aliases.
#[derive(Default)]
struct Topics(BTreeMap<u16, String>);

impl Topics {
    fn of(&mut self, publish: &Publish<'_>) -> String {
        let alias = publish.properties.iter().find_map(|property| match property {
            Property::TopicAlias(alias) => Some(alias),
            _ => None,
        });
        if let Some(topic) = publish.topic {
            alias.map(|alias| self.0.insert(alias, topic.text().to_owned()));
            return topic.text().to_owned();
        }
        let topic = alias.and_then(|alias| self.0.get(&alias)).cloned();
        assert!(topic.is_some(), "an alias that the receiver does not know");
        topic.unwrap_or_default()
    }
}

/// Returns conversations.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    CONVERSATIONS.iter().map(|text| conversation(text)).collect()
}

/// Makes a conversation of three numbers and a line for each event.
fn conversation(text: &str) -> Vec<u8> {
    let mut all = vec![0, 7, 0];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = || rest.parse().unwrap_or(0);
        let tag = match word {
            "c" => 0,
            "s" => 6,
            "time" => 11,
            "deny" => 12,
            "reconsider" => 13,
            "close" => 14,
            "lost" => 15,
            _ => {
                all.splice(..3, [word, rest, "0"].map(|number| number.parse().unwrap_or(0)));
                continue;
            }
        };
        all.push(tag);
        match word {
            "c" | "s" => {
                let bytes = packet(rest);
                all.extend(u16::try_from(bytes.len()).unwrap_or(0).to_be_bytes());
                all.extend(bytes);
            }
            "reconsider" => {}
            _ => all.push(number()),
        }
    }
    all
}

const CONVERSATIONS: [&str; 6] = [
    "c 10: 'MQTT' 04 02 003C 'c'
     s 20: 00 00
     c 82: 0001 'a' 00 'b/#' 01
     s 90: 0001 00 01
     s 30: 'a' \"x\"
     c 32: 'b' 0002 \"y\"
     s 40: 0002
     c A2: 0003 'a'
     s B0: 0003
     c C0:
     s D0:
     c E0:",
    "2 3
     c 10: 'MQTT' 05 06 003C 03 220004 'c' 00 'w' 'bye'
     s 20: 00 00 06 220004 210003
     c 82: 0001 00 'a' 00 'b' 01 'c/+' 02
     deny 4
     c 82: 0002 00 'b' 00 'd' 00
     s 90: 0001 00 00 01 02
     s 90: 0002 00 00
     s 30: 'a' 03 230001 \"x\"
     s 32: '' 0001 03 230001 \"y\"
     s 34: 'b' 0002 00 \"z\"
     c 40: 0001
     c 50: 0002
     s 62: 0002
     c 70: 0002
     lost 0",
    "1 5
     c 10: 'MQTT' 04 00 000A 'd'
     s 20: 01 00
     deny 2
     c 34: 'b' 0001 \"x\"
     c 62: 0001
     c 34: 'a' 0002 \"x\"
     s 50: 0002
     c 62: 0002
     s 70: 0002
     s 34: 'b' 0001 \"x\"
     s 62: 0001
     time 14
     time 16",
    "6 2
     c 10: 'MQTT' 05 C2 0000 00 'd' 'name' 'secret'
     s 20: 00 00 06 220004 130005
     c 32: 'a' 0001 03 230001 \"x\"
     c 32: '' 0002 03 230001 \"y\"
     s 40: 0001 00 00
     deny 64
     c 32: 'b' 0003 03 230002
     deny 0
     c 34: '' 0003 03 230002
     s 50: 0003 10
     reconsider
     s E0: 8B 00",
    "c 10: 'MQTT' 05 02 003C 09 15 'method' 'c'
     s F0: 18 09 15 'method'
     c F0: 18 09 15 'method'
     s 20: 00 00 09 15 'method'
     c 30: '$SYS/x' 00
     deny 255
     reconsider",
    "c 10: 'MQTT' 03 02 003C 'c'",
];

#[cfg(test)]
mod tests {
    use super::{Reader, run, seeds, settings};

    #[test]
    fn conversations_reach_both_sides() {
        let mut reached = [0_usize; 2];
        for seed in seeds() {
            let ran = run(settings(0), 0, Reader(seed.get(3..).unwrap_or_default()), usize::MAX);
            reached = [
                reached[0] + usize::from(ran.steps.to_server.len() > 30),
                reached[1] + usize::from(ran.steps.to_client.len() > 8),
            ];
        }
        assert_eq!(reached, [5, 5]);
    }
}
